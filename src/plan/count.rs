//! A key condition in, whether it lets in items of other types out: if it does not, items are counted unseen. Must not read the operation.

use crate::schema::model::{Access, AccessPath, ItemKeys, Range, SortAccess};
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::{Part, Template};
use crate::schema::value_type::ValueType;

/// Whether a key condition lets in no item but those that a type's marks recognise: of each attribute of the primary key, it demands the
/// whole value, or all but a rest that may be any text.
pub(super) fn all_are_meant(table: &Table, keys: &ItemKeys, path: &AccessPath) -> bool {
    let Access::Query { sort, .. } = &path.access else { return false };
    let (partition_key, sort_key) = table.keys_of(path.index);
    let sort_template = |position: usize| keys.keys.get(&sort_key?.name)?.get(position);
    let exact = match sort {
        SortAccess::All | SortAccess::Equal { .. } => true,
        SortAccess::Prefix { template, parts } => sort_template(*template).is_some_and(|template| !template.runs_on(*parts)),
        SortAccess::Range { template, parts, range } => {
            let kind = sort_key.map_or(KeyType::S, |key| key.kind);
            sort_template(*template).is_some_and(|template| !template.runs_on(*parts) && is_exact(template, (*parts, range), kind))
        }
    };
    if !exact {
        return false;
    }
    let any_text = |template: &Template, parts: usize| match template.parts.get(parts..) {
        Some([]) => false,
        Some([Part::Placeholder { value: ValueType::Id | ValueType::String, .. }]) => true,
        _ => false,
    };
    let meant = |key: &KeyAttribute| {
        let templates = keys.keys.get(&key.name).map(Vec::as_slice).unwrap_or_default();
        if key.name == partition_key.name {
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

/// Whether a key condition lets in nothing but the range of the placeholder at a position, whatever its bounds are: BETWEEN takes in both of
/// its ends, and text that is escaped where it is cut off begins other keys, too.
fn is_exact(template: &Template, (position, range): (usize, &Range), kind: KeyType) -> bool {
    let is_last = template.parts.len() == position + 1;
    match range {
        Range::BeginsWith(_) => {
            is_last && matches!(template.parts.last(), Some(Part::Placeholder { value: ValueType::Id | ValueType::String, .. }))
        }
        Range::Between { lower, upper } => {
            let all_in = [lower, upper].into_iter().flatten().all(|(_, inclusive)| *inclusive);
            all_in || (kind == KeyType::S && !is_last) || (kind == KeyType::N && (lower.is_none() || upper.is_none()))
        }
    }
}
