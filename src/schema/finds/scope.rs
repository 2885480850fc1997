//! Arguments and the parent's fields in, bindings of the target's fields by their names out. Must not know which key
//! uses them.
//!
//! For each field of the target, the first of these that exists binds:
//!
//! 1. its entry in `where:`;
//! 2. an argument of its name;
//! 3. an argument named `<target><Field>`: `userId` for `User.id`;
//! 4. a field of the parent named `<field><TargetField>`: beside `author`, `authorId` for `User.id`;
//! 5. a field of the parent as `<parent><Field>`: in `Post`, `id` is `postId` and `createdAt` is `postCreatedAt`;
//! 6. a field of the parent named `<target><Field>`: `Membership.userId` for `User.id`;
//! 7. a field of the parent of the same name, unless 4, 5 or 6 gives it to some field of the target. `id` binds only
//!    the same type's `id`.
//!
//! A field `userId` of `User` itself already names its type. Rules 4, 5 and 6 treat it as `User.id`.
//!
//! A null argument binds nothing, but it still hides the parent's field. So a field does not change its meaning with
//! its arguments. A null in `where:` does the same. A field of the parent that `where:` uses binds nothing by its name.
//!
//! The parent's fields bind only fields that are in a key of the target, and references: fields of type `ID` that rule
//! 4, 5 or 6 names. So a copy beside a reference, such as `userName` beside `userId`, binds nothing unless a key of the
//! target holds it.
//!
//! An access path must use what rules 1 to 6 bind ([`Need`]). These bindings say which items are meant, and a path that
//! leaves one out finds more. A binding by rule 7 may stay unused. It is *strong* for fields of type `ID`, else
//! *fallback*. Two types with an `ID` of the same name refer to the same thing (`userId` in a tagging and in its tag).
//! Two types that both have a `name` or a `createdAt` share nothing: `User.tags` must not look for tags with the user's
//! name. But nothing else binds a hierarchy of plain texts (`country`, `state`, `city`). So fallback bindings are used
//! only if no access path exists without them, and then all of them.
//!
//! Rules 1 and 2 also bind the number of a shard and the choice of a replica, under the names `shard` and `replica`.

use super::wanted::{Binding, Bindings, FindContext, Need};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::model::source::{BindingRule, Source};
use crate::schema::scalar::spread::{Spread, SpreadKind};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::types::draft::{Declared, StoredFields};
use crate::schema::types::values;
use apollo_compiler::ast::InputValueDefinition;
use std::collections::HashSet;

/// Adds the bindings by name to those of `where:`. Arguments that page, sort or filter bind nothing by their names.
/// `None` on a mistake.
pub fn bind(
    wanted: &FindContext,
    mut bindings: Bindings,
    filtered: &[&str],
    findings: &mut Findings,
) -> Option<Bindings> {
    let mut sound = true;
    let fields: Vec<(&String, &Declared)> = wanted
        .record
        .iter()
        .filter(|(name, declared)| !declared.ty.is_list() && !bindings.hidden.contains(*name))
        .filter(|(name, _)| !bindings.equal.contains_key(*name) && !bindings.ranges.contains_key(*name))
        .collect();
    let free = |name: &str| !bindings.uses(name) && !wanted.is_paging(name) && !filtered.contains(&name);
    let by_own_name: HashSet<&str> = fields
        .iter()
        .map(|(name, _)| name.as_str())
        .filter(|name| free(name) && wanted.argument(name).is_some())
        .collect();
    let parent = Parent::new(wanted, &bindings);

    let mut found: Vec<(String, Binding)> = Vec::new();
    for (name, declared) in fields {
        let long = prefixed(&wanted.target.item, name);
        let argument = by_own_name.get(name.as_str()).copied().or_else(|| {
            Some(long.as_str())
                .filter(|long| free(long) && wanted.argument(long).is_some() && !by_own_name.contains(long))
        });
        let bound = match argument {
            Some(argument) => match bind_argument(wanted, argument, (name, declared), findings) {
                Some(bound) => Some(bound),
                None => {
                    sound = false;
                    None
                }
            },
            None => parent.as_ref().and_then(|parent| parent.bound(name, declared)),
        };
        found.extend(bound.map(|bound| (name.clone(), bound)));
    }
    if let Some((spread, argument)) =
        wanted.keys.spread().and_then(|spread| Some((spread, wanted.argument(spread.kind.word())?)))
        && wanted.spread(&argument.name) == Some(spread)
        && !bindings.equal.contains_key(&spread.placeholder())
        && !bindings.hidden.contains(&spread.placeholder())
        && free(&argument.name)
    {
        match bind_spread(wanted, spread, argument, findings) {
            Some(bound) => found.push((spread.placeholder(), bound)),
            None => sound = false,
        }
    }
    bindings.equal.extend(found);
    sound.then_some(bindings)
}

/// The binding by an argument that gives shard numbers or chooses the replica.
fn bind_spread(
    wanted: &FindContext,
    spread: Spread,
    argument: &InputValueDefinition,
    findings: &mut Findings,
) -> Option<Binding> {
    // A list of shards reads different items. A list of replicas would read the same items again.
    let deep = argument.ty.is_list() && (argument.ty.item_type().is_list() || spread.kind == SpreadKind::Replica);
    let value = values::value_type(wanted.draft.schema, argument.ty.inner_named_type());
    if deep || !value.is_some_and(|value| values::fits(&value, &ValueType::Spread(spread))) {
        let message =
            format!("the argument `{}` of type `{}` cannot give a {}", argument.name, argument.ty, spread.kind.word());
        let help = match spread.kind {
            SpreadKind::Shard => "make it `Int`, or a list of it",
            SpreadKind::Replica => "use a type that keys can hold, such as a text or a number",
        };
        findings.error(rules::KF0408, &span::from_location(argument.name.location()), message, Some(help.into()));
        return None;
    }
    Some(by_argument(&argument.name, BindingRule::Argument))
}

/// `User` and `id` give `userId`.
pub fn prefixed(type_name: &str, field: &str) -> String {
    let mut letters = type_name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let mut field_letters = field.chars();
    let field_first = field_letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(field_first).chain(field_letters).collect()
}

/// Rules 2 and 3.
fn bind_argument(
    wanted: &FindContext,
    argument: &str,
    (name, declared): (&str, &Declared),
    findings: &mut Findings,
) -> Option<Binding> {
    let definition = wanted.argument(argument)?;
    let nested = definition.ty.is_list() && definition.ty.item_type().is_list();
    let value = values::value_type(wanted.draft.schema, definition.ty.inner_named_type());
    if nested || !value.is_some_and(|value| values::fits(&value, &declared.value)) {
        let message = format!(
            "the argument `{argument}` of type `{}` cannot bind `{}.{name}` of type `{}`",
            definition.ty, wanted.target.item, declared.ty
        );
        let right = declared.ty.inner_named_type();
        let right_type = if definition.ty.is_non_null() { format!("{right}!") } else { right.to_string() };
        let text = format!("make it `{right_type}`, or a list of it");
        let help = match nested {
            true => Help::from(text),
            false => Help::edit(text, span::from_type(&definition.ty), right.as_str()),
        };
        let field = format!("{}.{name}", wanted.target.item);
        let place = span::from_location(definition.name.location());
        findings.error_by_type(rules::KF0408, &place, (message, Some(help)), Some(field));
        return None;
    }
    Some(by_argument(argument, if argument == name { BindingRule::Argument } else { BindingRule::TargetArgument }))
}

fn by_argument(name: &str, rule: BindingRule) -> Binding {
    Binding {
        source: Source::Argument(name.to_owned()),
        arguments: vec![name.to_owned()],
        rule,
        fallback: false,
        need: Need::Always,
    }
}

/// The parent's fields, by the names under which they bind.
struct Parent<'a> {
    wanted: &'a FindContext<'a>,
    record: &'a StoredFields,
    /// The fields that `where:` uses.
    used: HashSet<&'a str>,
    /// The fields that rules 4 to 6 use for some field of the target.
    named: HashSet<&'a str>,
}

impl<'a> Parent<'a> {
    fn new(wanted: &'a FindContext<'a>, bindings: &Bindings) -> Option<Self> {
        let record = wanted.parent_record?;
        let names = || record.keys().map(String::as_str);
        let gives =
            |own: &str| wanted.record.keys().any(|name| NAMING.iter().any(|rule| is_by(wanted, *rule, own, name)));
        let used = names().filter(|own| bindings.uses_parent(own)).collect();
        Some(Self { wanted, record, used, named: names().filter(|own| gives(own)).collect() })
    }

    /// Rules 4 to 7.
    fn bound(&self, name: &str, declared: &Declared) -> Option<Binding> {
        let keyed = self.wanted.in_keys(name);
        if !(keyed || matches!(declared.value, ValueType::Id)) {
            return None;
        }
        let fits = |own: &Declared| !own.ty.is_list() && values::fits(&own.value, &declared.value);
        let free = || self.record.iter().filter(|(own, kept)| fits(kept) && !self.used.contains(own.as_str()));
        let named =
            NAMING.iter().find_map(|rule| Some((free().find(|(own, _)| is_by(self.wanted, *rule, own, name))?, *rule)));
        let same_item = || name != "id" || self.wanted.parent == self.wanted.target.item;
        let same =
            || free().find(|(own, _)| keyed && *own == name && !self.named.contains(own.as_str()) && same_item());
        let (own, rule, fallback, need) = match named {
            Some(((own, _), rule)) => (own, rule, false, Need::Named),
            None => {
                let (own, kept) = same()?;
                (own, BindingRule::SameName, !matches!(kept.value, ValueType::Id), Need::Free)
            }
        };
        Some(Binding { source: Source::Parent(own.clone()), arguments: Vec::new(), rule, fallback, need })
    }
}

/// The rules of names that say what is meant, in their order.
const NAMING: [BindingRule; 3] = [BindingRule::FieldName, BindingRule::ParentName, BindingRule::TargetName];

/// Whether a rule uses this field of the parent for this field of the target.
fn is_by(wanted: &FindContext, rule: BindingRule, own: &str, name: &str) -> bool {
    let target = &wanted.target.item;
    match rule {
        BindingRule::FieldName => {
            own == prefixed(&wanted.field.name, name)
                || beyond(target, name).is_some_and(|short| own == prefixed(&wanted.field.name, &short))
        }
        BindingRule::ParentName => long_name(wanted.parent, own) == name,
        BindingRule::TargetName => own == long_name(target, name),
        _ => false,
    }
}

/// `User` and `id` give `userId`, and so do `User` and `userId`.
fn long_name(type_name: &str, field: &str) -> String {
    match beyond(type_name, field) {
        Some(_) => field.to_owned(),
        None => prefixed(type_name, field),
    }
}

/// `User` and `userId` give `id`. `User` and `id`, or `User` and `users`, give nothing.
fn beyond(type_name: &str, field: &str) -> Option<String> {
    let whole = prefixed(type_name, "");
    let mut rest = field.strip_prefix(whole.as_str())?.chars();
    let first = rest.next().filter(char::is_ascii_uppercase)?;
    Some(std::iter::once(first.to_ascii_lowercase()).chain(rest).collect())
}

#[cfg(test)]
mod tests {
    use super::{beyond, long_name, prefixed};

    #[test]
    fn a_name_that_begins_with_its_type_is_long_already() {
        assert_eq!(prefixed("User", "id"), "userId");
        assert_eq!(beyond("User", "userId").as_deref(), Some("id"));
        for short in ["id", "user", "users", "userid"] {
            assert_eq!(beyond("User", short), None, "{short}");
        }
        assert_eq!((long_name("User", "id"), long_name("User", "userId")), ("userId".into(), "userId".into()));
    }
}
