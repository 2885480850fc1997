//! Groups of items, and types that a source describes without keys that items have, in; the names of the groups' types
//! out. A schema of AppSync says what its types are called and what they have, and nothing of where they are kept.

use crate::infer::draft::names;
use crate::infer::shape::groups::RowGroup;
use crate::sources::material::TypeHint;
use std::collections::BTreeSet;

/// From which likeness on a group is of a described type: twice what both have, of what each has.
const ALIKE: f64 = 0.5;

/// The name that a source has for the type of each group, where it has one. Those that are most alike meet first, and
/// each type is of one group.
pub fn names_of(groups: &[RowGroup<'_>], hints: &[&TypeHint]) -> Vec<Option<String>> {
    let mut pairs: Vec<(f64, usize, &TypeHint)> = Vec::new();
    for hint in hints.iter().copied().filter(|hint| !hint.attributes.is_empty()) {
        let described: BTreeSet<String> =
            hint.attributes.iter().map(|attribute| names::plain(&attribute.name)).collect();
        let likeness = |group: &RowGroup<'_>| likeness(group, hint, &described);
        pairs.extend(groups.iter().enumerate().map(|(at, group)| (likeness(group), at, hint)));
    }
    pairs.retain(|(likeness, ..)| *likeness >= ALIKE);
    pairs.sort_by(|(one, ..), (other, ..)| other.total_cmp(one));
    let mut found: Vec<Option<String>> = vec![None; groups.len()];
    let mut taken: BTreeSet<&str> = BTreeSet::new();
    for (_, at, hint) in pairs {
        if found[at].is_none() && taken.insert(&hint.name) {
            found[at] = Some(names::type_name(&hint.name));
        }
    }
    found
}

/// How alike a group and a described type are: 1 where both have the same attributes, more where the items say the
/// type's name, and 0 where they say another.
fn likeness(group: &RowGroup<'_>, hint: &TypeHint, described: &BTreeSet<String>) -> f64 {
    let own: BTreeSet<String> = group.names.iter().map(|name| names::plain(name)).collect();
    let shared = own.intersection(described).count();
    let share = 2.0 * shared as f64 / (own.len() + described.len()).max(1) as f64;
    match &group.signature.kind {
        Some(kind) if names::plain(kind) == names::plain(&hint.name) => 1.0 + share,
        // They say another.
        Some(_) => 0.0,
        None => share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::shape::groups::GroupShape;
    use crate::sources::material::AttributeHint;

    fn hint(name: &str, attributes: &[&str]) -> TypeHint {
        let attribute =
            |name: &&str| AttributeHint { name: (*name).to_owned(), field: None, kind: None, required: true };
        TypeHint {
            name: name.to_owned(),
            attributes: attributes.iter().map(attribute).collect(),
            ..TypeHint::default()
        }
    }

    fn group<'i>(kind: Option<&str>, names: &[&'i str]) -> RowGroup<'i> {
        let signature = GroupShape { kind: kind.map(str::to_owned), keys: Vec::new() };
        RowGroup { signature, rows: vec![0], names: names.iter().copied().collect() }
    }

    fn named(groups: &[RowGroup<'_>], hints: &[TypeHint]) -> Vec<Option<String>> {
        names_of(groups, &hints.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_group_has_the_name_of_the_type_that_is_most_like_it() {
        let hints = [hint("Author", &["id", "name", "email"]), hint("Book", &["id", "title", "year", "authorId"])];
        let groups = [group(None, &["title", "year", "authorId"]), group(None, &["name", "email"])];
        assert_eq!(named(&groups, &hints), [Some("Book".to_owned()), Some("Author".to_owned())]);
    }

    #[test]
    fn a_type_is_of_one_group_and_what_is_alike_by_chance_of_none() {
        let hints = [hint("Author", &["id", "name", "email"])];
        let groups = [
            group(None, &["name", "email"]),
            group(None, &["id", "name", "email"]),
            group(None, &["name", "size", "colour"]),
        ];
        assert_eq!(named(&groups, &hints), [None, Some("Author".to_owned()), None]);
    }

    #[test]
    fn what_items_say_themselves_comes_first() {
        let hints = [hint("Author", &["name", "email"]), hint("Editor", &["name", "email"])];
        let groups = [group(Some("EDITOR"), &["name", "email"]), group(Some("AUTHOR"), &["name", "email"])];
        assert_eq!(named(&groups, &hints), [Some("Editor".to_owned()), Some("Author".to_owned())]);
        assert_eq!(named(&groups, &hints[..1]), [None, Some("Author".to_owned())]);
    }
}
