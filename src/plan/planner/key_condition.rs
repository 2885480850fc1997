//! A key condition in; out: whether it admits items of other types. If not, DynamoDB can count the items by itself, and
//! a page reads no more than it shows. Must not read the operation.

use crate::plan::attributes;
use crate::plan::tree::{KeyBinding, TypeDiscriminator};
use crate::schema::model::Model;
use crate::schema::model::find::{Access, AccessPath, Range, SortAccess};
use crate::schema::model::keys::ItemKeys;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::Part;

/// Whether a key condition admits items of the type only. It does if it fixes each attribute of the primary key, or all
/// of it but an end that may be any text.
pub fn admits_only_own_type(table: &Table, keys: &ItemKeys, path: &AccessPath) -> bool {
    let Access::Query { sort, .. } = &path.access else { return false };
    let of_path = path.keys(table);
    let sort_key = of_path.sort;
    let sort_template = |position: usize| keys.keys.get(&sort_key?.name)?.get(position);
    let exact = match sort {
        SortAccess::All | SortAccess::Equal { .. } => true,
        SortAccess::Prefix { template, parts } => {
            sort_template(*template).is_some_and(|template| !template.runs_on(*parts))
        }
        SortAccess::Range { template, parts, range } => {
            let kind = sort_key.map_or(KeyType::S, |key| key.kind);
            sort_template(*template)
                .is_some_and(|template| !template.runs_on(*parts) && is_exact(template, (*parts, range), kind))
        }
    };
    if !exact {
        return false;
    }
    // A field that stands twice in the primary key has the same value in both places, which no key condition says.
    let is_single = |field: &str| {
        let templates = table.primary_key().filter_map(|key| keys.keys.get(&key.name)).flatten();
        templates.flat_map(Template::placeholders).filter(|other| *other == field).count() == 1
    };
    let any_text = |template: &Template, parts: usize| match template.parts.get(parts..) {
        Some([Part::Placeholder { field, value: ValueType::Id | ValueType::String, limits: None, .. }]) => {
            is_single(field)
        }
        _ => false,
    };
    let meant = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
        if of_path.one_valued().any(|bound| bound.name == key.name) {
            return true;
        }
        match sort {
            SortAccess::Equal { .. } if sort_key == Some(key) => true,
            SortAccess::Prefix { template, parts } if sort_key == Some(key) => {
                templates.get(*template).is_some_and(|template| any_text(template, *parts))
            }
            _ => key.kind == KeyType::S && templates.iter().any(|template| any_text(template, 0)),
        }
    };
    keys.constants.is_empty() && table.primary_key().all(meant)
}

/// Whether a key condition admits exactly the range of the placeholder at a position, whatever the bounds. BETWEEN
/// includes both ends, and a prefix of escaped text begins other keys too.
fn is_exact(template: &Template, (position, range): (usize, &Range), kind: KeyType) -> bool {
    let is_last = template.parts.len() == position + 1;
    match range {
        Range::BeginsWith(_) => {
            is_last
                && matches!(
                    template.parts.last(),
                    Some(Part::Placeholder { value: ValueType::Id | ValueType::String, .. })
                )
        }
        Range::Between { lower, upper } => {
            let all_in = [lower, upper].into_iter().flatten().all(|(_, inclusive)| *inclusive);
            // Before another value, which may be empty, an exclusive bound is a key.
            let before_literal = template.parts.get(position + 1).is_some_and(|next| next.literal().is_some());
            all_in
                || (kind == KeyType::S && before_literal)
                || (kind == KeyType::N && (lower.is_none() || upper.is_none()))
        }
    }
}

/// A condition on the keys of a table or an index.
pub struct KeyCondition<'c> {
    /// The table, by position in the model.
    pub table: usize,
    /// The index, by position in the table.
    pub index: Option<usize>,
    /// The key's templates.
    pub key: &'c KeyBinding,
    /// How it is used.
    pub access: &'c Access,
}

/// Whether the model has items of other types whose keys a condition admits.
pub fn admits_other_types(model: &Model, condition: &KeyCondition<'_>, discriminator: &TypeDiscriminator) -> bool {
    let KeyCondition { table, index, key, access } = *condition;
    let (Access::Query { sort, .. }, true) = (access, key.partition.is_some()) else { return true };
    let any_text = || Part::Placeholder { field: String::new(), value: ValueType::String, width: None, limits: None };
    let sort_range = key.sort.as_ref().map(|template| match sort {
        SortAccess::Equal { .. } => template.clone(),
        SortAccess::All => Template::made_of(vec![any_text()]),
        SortAccess::Prefix { parts, .. } | SortAccess::Range { parts, .. } => {
            // Types that escape the last part differently share a shorter prefix.
            let parts = if key.prefix_alternatives.is_empty() { *parts } else { parts.saturating_sub(1) };
            Template::made_of(template.parts.iter().take(parts).cloned().chain([any_text()]).collect())
        }
    });
    let meets = |keys: &ItemKeys, attribute: &str, range: Option<&Template>| {
        keys.keys
            .get(attribute)
            .is_some_and(|templates| range.is_none_or(|range| templates.iter().any(|other| other.overlaps(range))))
    };
    model
        .types
        .values()
        .filter(|ty| !discriminator.types.iter().any(|marks| marks.item == ty.name))
        .filter_map(attributes::keys)
        .any(|keys| {
            keys.table == table
                && key.whole().all(|(bound, template)| meets(keys, &bound.name, Some(template)))
                && key.sort_attribute.as_ref().is_none_or(|sort| meets(keys, &sort.name, sort_range.as_ref()))
                && model.tables[table].keys_of(index).all().all(|own| meets(keys, &own.name, None))
        })
}
