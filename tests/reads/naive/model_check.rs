//! A model and the bindings of its text in; the finds that the model binds otherwise out.

use super::binding::{Bound, Rules};
use super::values::keys_of;
use keyfold::schema::expression::claim::ClaimPath;
use keyfold::schema::model::find::{Access, AccessPath, Find, Range, SortAccess, Via};
use keyfold::schema::model::source::Source;
use keyfold::schema::model::{FieldKind, Model};
use keyfold::schema::template::part::Part;

/// A sentence for each field of an access path with another binding.
pub fn disagreements(model: &Model, rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    for (owner, field) in model.types.values().flat_map(|ty| ty.fields.values().map(move |field| (ty, field))) {
        let FieldKind::Find(find) = &field.kind else { continue };
        let (members, paths) = match &find.via {
            Via::Keys(paths) => (std::slice::from_ref(&find.item), paths),
            Via::AbstractType(shared) => (shared.members.as_slice(), &shared.paths),
            Via::Through(_) => continue,
        };
        // The fields of several types have the names of the first type's fields.
        let bound = rules.bound((&owner.name, &field.name), &members[0]);
        for path in paths {
            // Claims in keys bind themselves.
            let is_field = |name: &str| !name.contains(':') && ClaimPath::parse(name).is_none();
            for (name, source) in path.bindings.iter().filter(|(name, _)| is_field(name)) {
                match bound.get(name) {
                    Some(Bound::Equal { source: own, .. }) if own == source => {}
                    own => found.push(format!(
                        "{}.{} binds {name} to {source:?}, the rules to {own:?}",
                        owner.name, field.name
                    )),
                }
            }
            if let Some((name, range)) = ranged(model, find, path)
                && !matches!(bound.get(&name), Some(Bound::Within(own)) if is_part(range, own))
            {
                found.push(format!(
                    "{}.{} ranges {name} by {range:?}, the rules by {:?}",
                    owner.name,
                    field.name,
                    bound.get(&name)
                ));
            }
        }
    }
    found
}

/// A sentence for each path that could go on with a part of the parent's key, where nothing says whether it should: the
/// author bound it by no other rule, and `where:` says neither its value nor null.
pub fn unsaid(model: &Model, rules: &Rules) -> Vec<String> {
    let mut found = Vec::new();
    for (owner, field) in model.types.values().flat_map(|ty| ty.fields.values().map(move |field| (ty, field))) {
        let FieldKind::Find(find) = &field.kind else { continue };
        let Via::Keys(paths) = &find.via else { continue };
        let bound = rules.bound((&owner.name, &field.name), &find.item);
        for path in paths {
            for part in next(model, find, path) {
                let is_bare = matches!(bound.get(&part), Some(Bound::Equal { is_bare: true, .. }));
                let own = rules.type_of(&owner.name, &part).filter(|own| *own != "ID");
                let fits = own.is_some() && own == rules.type_of(&find.item, &part);
                // With its only open part, an item of the parent's own type is the parent.
                let others = rules.primary(&find.item).filter(|other| *other != part);
                let itself =
                    owner.name == find.item && others.into_iter().all(|other| path.bindings.contains_key(other));
                if is_bare && fits && rules.is_in_primary(&owner.name, &part) && !itself {
                    found.push(format!("{}.{} does not say whether {part} binds", owner.name, field.name));
                }
            }
        }
    }
    found
}

/// The fields that come next in the sort key that a path reads.
fn next(model: &Model, find: &Find, path: &AccessPath) -> Vec<String> {
    let Access::Query { sort, .. } = &path.access else { return Vec::new() };
    let keys = keys_of(&model.types[&find.item]).unwrap();
    let Some(key) = path.keys(&model.tables[keys.table]).sort else { return Vec::new() };
    let templates = &keys.keys[&key.name];
    let first = |template: usize, parts: usize| {
        let mut rest = templates[template].parts.iter().skip(parts);
        rest.find_map(|part| match part {
            Part::Placeholder { field, .. } if !path.bindings.contains_key(field) => Some(field.clone()),
            _ => None,
        })
    };
    match sort {
        SortAccess::All => (0..templates.len()).filter_map(|template| first(template, 0)).collect(),
        SortAccess::Prefix { template, parts } => first(*template, *parts).into_iter().collect(),
        SortAccess::Equal { .. } | SortAccess::Range { .. } => Vec::new(),
    }
}

/// The field that a path ranges over, and its range.
fn ranged<'m>(model: &'m Model, find: &'m Find, path: &'m AccessPath) -> Option<(String, &'m Range)> {
    let Access::Query { sort: SortAccess::Range { template, parts, range }, .. } = &path.access else { return None };
    let keys = match &find.via {
        Via::AbstractType(shared) => &shared.keys,
        _ => keys_of(&model.types[&find.item])?,
    };
    let sort = path.keys(&model.tables[keys.table]).sort?;
    match keys.keys[&sort.name][*template].parts.get(*parts)? {
        Part::Placeholder { field, .. } => Some((field.clone(), range)),
        Part::Literal(_) => None,
    }
}

/// Whether two ranges have the same bounds. A missing argument leaves its bound out.
fn is_part(range: &Range, of: &Range) -> bool {
    let side = |one: &Option<(Source, bool)>, other: &Option<(Source, bool)>| one.is_none() || one == other;
    match (range, of) {
        (Range::BeginsWith(one), Range::BeginsWith(other)) => one == other,
        (Range::Between { lower, upper }, Range::Between { lower: low, upper: high }) => {
            side(lower, low) && side(upper, high)
        }
        _ => false,
    }
}
