//! `@auth` in; out: who may read and write each type and field, or why a rule cannot be enforced. Must not know
//! callers.
//!
//! [`rule`] reads one directive, [`misplaced`] finds those that no rule can be made of, and [`checks`] judges the rules
//! of the whole schema. A form that Keyfold does not enforce is a mistake: no rule is ever ignored.

pub mod checks;
mod claims;
mod exists;
mod inherited;
mod misplaced;
mod names;
mod place;
mod rule;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::model::auth::AuthRules;
use crate::schema::model::{FieldKind, ObjectType};
use crate::schema::types::draft::{Kind, SchemaDraft};
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;
use checks::{length, nulls, unsigned, whole};
use indexmap::IndexMap;
use place::RulePlace;

/// Reads and checks the rules of every type and field.
pub fn read_rules(draft: &SchemaDraft, types: &mut IndexMap<String, ObjectType>, findings: &mut Findings) {
    misplaced::check(draft, findings);
    claims::check(draft, findings);
    for object in draft.objects() {
        let Some(ty) = types.get_mut(object.name.as_str()) else { continue };
        let kind = draft.kind(&object.name);
        let record = draft.records.get(object.name.as_str());
        if kind == Some(&Kind::Item) {
            let directives = inherited::type_rules(draft, object, findings);
            let of = object.name.to_string();
            let place = RulePlace { draft, parent: of.clone(), of, record, field: None, splits: true };
            ty.auth = read(&place, directives, findings);
        }
        if !matches!(kind, Some(Kind::Item | Kind::Root(_))) {
            continue;
        }
        for (name, definition) in &object.fields {
            let Some(field) = ty.fields.get_mut(name.as_str()) else { continue };
            let splits = matches!(field.kind, FieldKind::Stored(_));
            let (parent, of) = (object.name.to_string(), format!("{}.{name}", object.name));
            let place = RulePlace { draft, parent, of, record, field: Some(definition), splits };
            let directives = inherited::field_rules(draft, object, name, findings);
            field.auth = read(&place, directives, findings);
        }
    }
    whole::check(draft, types, findings);
    nulls::check(draft, types, findings);
    unsigned::check(draft, types, findings);
    length::check(draft, types, findings);
}

fn read(place: &RulePlace, written: Vec<&Node<Directive>>, findings: &mut Findings) -> AuthRules {
    let (mut rules, mut stand_ins) = (Vec::new(), Vec::new());
    for directive in written {
        match rule::read_rule(place, directive, findings) {
            Some(rule) => rules.push((directive, rule)),
            None => stand_ins.push(rule::stand_in(directive)),
        }
    }
    whole::check_together(place, &rules, findings);
    AuthRules::new(rules.into_iter().map(|(_, rule)| rule).chain(stand_ins).collect())
}
