//! Writes and the rules that join their conditions in; out: those whose calls DynamoDB refuses, because an expression
//! is too long. Must not know how a rule is written.
//!
//! Reads evaluate rules here, so a rule for reads alone has no limit, and neither has the `filter:` of a subscription.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::expression::condition::Condition;
use crate::schema::expression::size::ExpressionSize;
use crate::schema::model::auth::{AuthAction, AuthRules};
use crate::schema::model::write::{Action, Write};
use crate::schema::model::{FieldKind, ObjectType, TypeKind};
use crate::schema::types::draft::SchemaDraft;
use indexmap::IndexMap;
use std::ops::Add;

/// Reports each mutation whose condition is too long together with the rules that it needs, or which needs a look-up
/// that is too long.
pub fn check(draft: &SchemaDraft, types: &IndexMap<String, ObjectType>, findings: &mut Findings) {
    for object in draft.objects() {
        let Some(ty) = types.get(object.name.as_str()) else { continue };
        for (name, definition) in &object.fields {
            let Some(field) = ty.fields.get(name.as_str()) else { continue };
            let FieldKind::Write(write) = &field.kind else { continue };
            let looked_up = looked_up(types, &field.auth, AuthAction::Write);
            let of_actions =
                write.actions.iter().filter_map(|action| types.get(&action.item).map(|item| (action, item)));
            let excess = of_actions.filter_map(|(action, item)| excess_of_action(types, write, (action, item))).next();
            if let Some(excess) = looked_up.or(excess) {
                let coordinate = format!("{}.{name}", object.name);
                let message = format!("the rules that `{coordinate}` needs make its condition too long: {excess}");
                let help = "make the rules shorter, or give those for writes fewer parts";
                findings.error(
                    rules::KF0439,
                    &span::from_location(definition.name.location()),
                    message,
                    Some(help.into()),
                );
            }
        }
    }
}

/// How a call of an action exceeds the limits by its rules. An action whose own condition does so is not here: it has
/// had its mistake.
fn excess_of_action(
    types: &IndexMap<String, ObjectType>,
    write: &Write,
    (action, item): (&Action, &ObjectType),
) -> Option<String> {
    let demanded = write.demanded(action, item);
    let of_rules = |(_, rules, asked): &(String, &AuthRules, AuthAction)| size(rules, *asked);
    let rules = demanded.iter().map(of_rules).fold(ExpressionSize::default(), Add::add);
    let own = action.condition.as_ref().map(Condition::size).unwrap_or_default();
    (own + rules + item_size(item))
        .excess()
        .or_else(|| demanded.iter().find_map(|(_, rules, asked)| looked_up(types, rules, *asked)))
}

/// The size of what rules demand of an item, joined to what else is demanded of it.
fn size(rules: &AuthRules, asked: AuthAction) -> ExpressionSize {
    let conditions = rules.each(asked).filter(|rule| rule.lookup().is_none()).filter_map(|rule| rule.condition());
    conditions.map(|condition| ExpressionSize::joined() + condition.size()).fold(ExpressionSize::default(), Add::add)
}

/// How the check of an item that rules look up exceeds the limits.
fn looked_up(types: &IndexMap<String, ObjectType>, rules: &AuthRules, asked: AuthAction) -> Option<String> {
    let lookups = rules.each(asked).filter_map(|rule| rule.lookup());
    let of_lookup = |(item, condition): (&ObjectType, &Condition)| (condition.size() + item_size(item)).excess();
    lookups.filter_map(|lookup| Some((types.get(&lookup.find.item)?, lookup.condition.as_ref()?))).find_map(of_lookup)
}

/// The size of what is demanded of each item of the type.
fn item_size(item: &ObjectType) -> ExpressionSize {
    if let TypeKind::Item(keys) = &item.kind {
        ExpressionSize::for_item(keys.telling().count())
    } else {
        ExpressionSize::default()
    }
}
