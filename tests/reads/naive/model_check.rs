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
                    own => found.push(format!("{}.{} binds {name} to {source:?}, the rules to {own:?}", owner.name, field.name)),
                }
            }
            if let Some((name, range)) = ranged(model, find, path)
                && !matches!(bound.get(&name), Some(Bound::Within(own)) if is_part(range, own))
            {
                found.push(format!("{}.{} ranges {name} by {range:?}, the rules by {:?}", owner.name, field.name, bound.get(&name)));
            }
        }
    }
    found
}

/// The field that a path ranges over, and its range.
fn ranged<'m>(model: &'m Model, find: &'m Find, path: &'m AccessPath) -> Option<(String, &'m Range)> {
    let Access::Query { sort: SortAccess::Range { template, parts, range }, .. } = &path.access else { return None };
    let keys = match &find.via {
        Via::AbstractType(shared) => &shared.keys,
        _ => keys_of(&model.types[&find.item])?,
    };
    let sort = model.tables[keys.table].keys_of(path.index).1?;
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
        (Range::Between { lower, upper }, Range::Between { lower: low, upper: high }) => side(lower, low) && side(upper, high),
        _ => false,
    }
}
