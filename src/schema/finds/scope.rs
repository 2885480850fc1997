//! Names bind to names: arguments and the parent's fields in, bindings of the target's fields out. Must not know which key uses them.
//!
//! For each field of the target the first of these binds:
//!
//! 1. its entry in `where:`;
//! 2. an argument of its name;
//! 3. an argument named `<target><Field>`: `userId` for `User.id`;
//! 4. a field of the parent as `<parent><Field>`: in `Post`, `id` is `postId` and `createdAt` is `postCreatedAt`;
//! 5. a field of the parent named `<target><Field>`: `Membership.userId` for `User.id`;
//! 6. a field of the parent of the same name, unless 4 has used it under its longer name.
//!
//! An argument that is there but null binds nothing: it hides the parent's field all the same, so that what a field reads does not
//! change its meaning with its arguments.
//!
//! Bindings of rule 6 are *strong* for fields of type `ID`, else *weak*. That two types have an `ID` of the same name means that both
//! refer to the same thing (`userId` in a tagging and in its tag); that two types have a `name` or a `createdAt` means nothing, and
//! `User.tags` must not look for tags that are called as their user is. Yet a hierarchy whose places are plain text (`country`, `state`,
//! `city`) is bound by nothing else. So weak bindings are used, all of them, only where no access path exists without. `User.id` does
//! not bind `Tag.id`, because rule 4 gives it to `Tag.userId`.
//!
//! The number of a shard and the choice of a replica are bound by rules 1 and 2 under the names `shard` and `replica`.

use super::wanted::{Bindings, Bound, PAGING, Wanted};
use crate::schema::diagnostic::Findings;
use crate::schema::draft::Declared;
use crate::schema::model::Source;
use crate::schema::span;
use crate::schema::spread::{Spread, SpreadKind};
use crate::schema::value_type::ValueType;
use crate::schema::values;
use apollo_compiler::ast::InputValueDefinition;
use std::collections::HashSet;

/// Adds to the bindings of `where:` those by name. Arguments that page and sort, and those of the filter, are there for that and bind
/// nothing by their names. `None` on a mistake.
pub fn bind(wanted: &Wanted, mut bindings: Bindings, filtered: &[&str], findings: &mut Findings) -> Option<Bindings> {
    let mut sound = true;
    let fields: Vec<(&String, &Declared)> = wanted
        .record
        .iter()
        .filter(|(name, declared)| !declared.ty.is_list() && !bindings.equal.contains_key(*name) && !bindings.ranges.contains_key(*name))
        .collect();
    let free = |name: &str| !bindings.uses(name) && !PAGING.contains(&name) && !filtered.contains(&name);
    let by_own_name: HashSet<&str> =
        fields.iter().map(|(name, _)| name.as_str()).filter(|name| free(name) && wanted.argument(name).is_some()).collect();
    let by_long_name: HashSet<String> = fields
        .iter()
        .flat_map(|(name, _)| wanted.parent_record.into_iter().flatten().map(move |(own, _)| (own, *name)))
        .filter(|(own, name)| prefixed(wanted.parent, own) == **name)
        .map(|(own, _)| own.clone())
        .collect();

    let mut found: Vec<(String, Bound)> = Vec::new();
    for (name, declared) in fields {
        let long = prefixed(&wanted.target.item, name);
        let argument = by_own_name
            .get(name.as_str())
            .copied()
            .or_else(|| Some(long.as_str()).filter(|long| free(long) && wanted.argument(long).is_some() && !by_own_name.contains(long)));
        let bound = match argument {
            Some(argument) => match of_argument(wanted, argument, (name, declared), findings) {
                Some(bound) => Some(bound),
                None => {
                    sound = false;
                    None
                }
            },
            None => of_parent(wanted, &by_long_name, (name, declared)),
        };
        found.extend(bound.map(|bound| (name.clone(), bound)));
    }
    if let Some((spread, argument)) = wanted.keys.spread().and_then(|spread| Some((spread, wanted.argument(spread.kind.word())?)))
        && wanted.spread(&argument.name) == Some(spread)
        && !bindings.equal.contains_key(&spread.placeholder())
        && free(&argument.name)
    {
        match of_spread(wanted, spread, argument, findings) {
            Some(bound) => found.push((spread.placeholder(), bound)),
            None => sound = false,
        }
    }
    bindings.equal.extend(found);
    sound.then_some(bindings)
}

/// An argument that numbers the shards, or chooses the replica.
fn of_spread(wanted: &Wanted, spread: Spread, argument: &InputValueDefinition, findings: &mut Findings) -> Option<Bound> {
    // Several shards are other items; several replicas would be the same items again.
    let deep = argument.ty.is_list() && (argument.ty.item_type().is_list() || spread.kind == SpreadKind::Replica);
    let value = values::of_named(wanted.draft.schema, argument.ty.inner_named_type());
    if deep || !value.is_some_and(|value| values::fits(&value, &ValueType::Spread(spread))) {
        let message = format!("the argument `{}` of type `{}` cannot be a {}", argument.name, argument.ty, spread.kind.word());
        let help = match spread.kind {
            SpreadKind::Shard => "make it `Int`, or a list of it",
            SpreadKind::Replica => "make it a text, a number or another type of a key",
        };
        findings.error("KF0408", &span::of(argument.name.location()), message, Some(help.into()));
        return None;
    }
    let name = argument.name.to_string();
    Some(Bound { source: Source::Argument(name.clone()), arguments: vec![name], weak: false, binding: true })
}

/// `userId` of `User` and `id`.
pub fn prefixed(type_name: &str, field: &str) -> String {
    let mut letters = type_name.chars();
    let first = letters.next().map(|letter| letter.to_ascii_lowercase());
    let mut field_letters = field.chars();
    let field_first = field_letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(field_first).chain(field_letters).collect()
}

/// Rules 2 and 3.
fn of_argument(wanted: &Wanted, argument: &str, (name, declared): (&str, &Declared), findings: &mut Findings) -> Option<Bound> {
    let definition = wanted.argument(argument)?;
    let nested = definition.ty.is_list() && definition.ty.item_type().is_list();
    let value = values::of_named(wanted.draft.schema, definition.ty.inner_named_type());
    if nested || !value.is_some_and(|value| values::fits(&value, &declared.value)) {
        let message = format!(
            "the argument `{argument}` of type `{}` cannot be `{}.{name}` of type `{}`",
            definition.ty, wanted.target.item, declared.ty
        );
        let help = format!("make it `{}`, or a list of it", declared.ty.inner_named_type());
        findings.error("KF0408", &span::of(definition.name.location()), message, Some(help));
        return None;
    }
    Some(Bound { source: Source::Argument(argument.to_owned()), arguments: vec![argument.to_owned()], weak: false, binding: true })
}

/// Rules 4 to 6.
fn of_parent(wanted: &Wanted, by_long_name: &HashSet<String>, (name, declared): (&str, &Declared)) -> Option<Bound> {
    let record = wanted.parent_record?;
    let fits = |own: &&String| record.get(*own).is_some_and(|parent| !parent.ty.is_list() && values::fits(&parent.value, &declared.value));
    let long = prefixed(&wanted.target.item, name);
    let fourth = record.keys().filter(fits).find(|own| prefixed(wanted.parent, own) == name);
    let fifth = || record.keys().filter(fits).find(|own| **own == long);
    let sixth = || record.keys().filter(fits).find(|own| *own == name && !by_long_name.contains(*own));
    let (own, weak) = match fourth.or_else(fifth) {
        Some(own) => (own, false),
        None => {
            let own = sixth()?;
            (own, !matches!(record.get(own)?.value, ValueType::Id))
        }
    };
    Some(Bound { source: Source::Parent(own.clone()), arguments: Vec::new(), weak, binding: false })
}
