//! A path of a find in; out: an alternative of its key that it does not read, although items that are meant may stand
//! there, and whether the conditions of its keys leave items out. Must not choose paths.
//!
//! An item stands under the first alternative whose fields all have values. A path reads one alternative of each key.
//! If another one holds everything that the path binds of the key, a list would leave out the items there, and which
//! ones would depend on the order of the alternatives.

use super::wanted::{Binding, FindContext};
use crate::schema::expression::condition::Condition;
use crate::schema::expression::key_condition::{GivenValues, equality};
use crate::schema::model::find::{Access, Returns, SortAccess};
use crate::schema::model::source::{Source, TextPart};
use crate::schema::template::Template;
use indexmap::IndexMap;
use serde_json::Value;

/// An alternative of a key under which items that are meant may stand, beside the one that is read.
#[derive(Debug, Clone, Copy)]
pub struct PassedOver {
    /// Whether it is one of the sort key.
    pub is_sort: bool,
    /// The position of the one that is read.
    pub read: usize,
    /// Its position.
    pub other: usize,
}

/// The fields that an access binds, and what is known of the items that are meant.
pub struct UsedFields<'a> {
    /// The fields of the key.
    pub fields: &'a [&'a str],
    /// The values that the items have, whether a key has them or not.
    pub known: GivenValues<'a>,
}

/// An alternative that the access does not read, although it holds everything that the access binds of its key: items
/// that are meant may stand there. A whole key means one item, which stands under the first alternative that is bound,
/// as for a write.
pub fn passed_over(
    wanted: &FindContext,
    access: &Access,
    (partitions, sorts): (&[Template], &[Template]),
    used: &UsedFields,
) -> Option<PassedOver> {
    let one = matches!(wanted.target.returns, Returns::One | Returns::Exists);
    let (partition, sort) = match access {
        Access::Get { .. } if one => return None,
        Access::Get { partition, sort } => (*partition, sort.map(|template| SortAccess::Equal { template })),
        Access::Query { partition, sort } => (*partition, Some(sort.clone())),
        Access::Scan => return None,
    };
    if let Some(other) = beside(wanted, partitions, partition, used).next() {
        return Some(PassedOver { is_sort: false, read: partition, other });
    }
    let (read, prefix) = match sort? {
        SortAccess::All => return None,
        SortAccess::Prefix { template, parts } => (template, Some(parts)),
        SortAccess::Equal { template } | SortAccess::Range { template, .. } => (template, None),
    };
    // The text of a longer alternative may begin with that of a shorter one.
    let template = sorts.get(read)?;
    let beginning = prefix.filter(|parts| !template.runs_on(*parts)).map(|parts| template.as_written(parts));
    let is_read = |other: &Template| {
        beginning.as_ref().is_some_and(|beginning| other.as_written(other.parts.len()).starts_with(beginning.as_str()))
    };
    let other = beside(wanted, sorts, read, used).find(|other| !sorts.get(*other).is_some_and(is_read))?;
    Some(PassedOver { is_sort: true, read, other })
}

/// The positions of other alternatives under which items with the values that one has of `used` may stand. A write
/// takes the first whose fields all have values and whose condition holds: an earlier one is always possible unless its
/// condition cannot hold, a later one only if this one may lack a value or its condition may not hold.
fn beside<'t>(
    wanted: &'t FindContext,
    templates: &'t [Template],
    read: usize,
    UsedFields { fields, known }: &UsedFields<'t>,
) -> impl Iterator<Item = usize> + use<'t> {
    let known = *known;
    let own = templates.get(read).map(Template::fields).unwrap_or_default();
    let is_used = |field: &&str| fields.contains(field);
    let is_sure = templates.get(read).and_then(|own| own.when.as_ref()).is_none_or(|when| when.follows_from(known));
    let may_lack = |field: &str| wanted.record.get(field).is_some_and(|declared| !declared.ty.is_non_null());
    let lacks = !is_sure || own.iter().any(|field| !is_used(field) && may_lack(field));
    let bound: Vec<&str> = own.into_iter().filter(is_used).collect();
    let may_hold = move |(other, template): &(usize, &Template)| {
        let is_possible = *other < read || *other > read && lacks;
        let is_possible = is_possible && !template.when.as_ref().is_some_and(|when| when.contradicts(known));
        let fields = template.fields();
        is_possible && !bound.is_empty() && bound.iter().all(|field| fields.contains(field))
    };
    templates.iter().enumerate().filter(may_hold).map(|(other, _)| other)
}

/// What is known of the items that are meant: the constants that bindings and the filter give to fields.
pub fn known_values<'a>(
    wanted: &FindContext<'a>,
    filter: Option<&Condition>,
    active: &IndexMap<&'a str, &Binding>,
) -> Vec<(&'a str, Value)> {
    let bound = active.iter().filter_map(|(field, bound)| Some((*field, constant(bound)?)));
    let filtered = filter.into_iter().flat_map(Condition::conjuncts).filter_map(|part| {
        let (attribute, value) = equality(part)?;
        let (field, _) = wanted.record.iter().find(|(_, declared)| declared.attribute == attribute)?;
        Some((field.as_str(), value.clone()))
    });
    bound.chain(filtered).collect()
}

/// The constant that a binding gives.
fn constant(bound: &Binding) -> Option<Value> {
    match &bound.source {
        Source::Text(parts) => match parts.as_slice() {
            [TextPart::Literal(text)] => Some(text.as_str().into()),
            _ => None,
        },
        _ => None,
    }
}

/// Whether all items that are meant have a key of these templates, which are read, and one of each of the `sorts`: what
/// is known of them says that the conditions hold.
pub fn has_all<'t>(
    mut read: impl Iterator<Item = &'t Template>,
    mut sorts: impl Iterator<Item = &'t [Template]>,
    known: GivenValues<'_>,
) -> bool {
    let holds = |template: &Template| template.when.as_ref().is_none_or(|when| when.follows_from(known));
    read.all(holds) && sorts.all(|templates| templates.iter().any(holds))
}

/// The fields whose bindings the conditions of these templates say.
pub fn said_fields<'a, 't>(
    read: impl Iterator<Item = &'t Template>,
    active: &IndexMap<&'a str, &Binding>,
) -> Vec<&'a str> {
    let conditions: Vec<_> = read.filter_map(|template| template.when.as_ref()).collect();
    let is_said = |field: &str, value: &Value| conditions.iter().any(|condition| condition.says(field, value));
    let said = active.iter().filter(|(field, bound)| constant(bound).is_some_and(|value| is_said(field, &value)));
    said.map(|(field, _)| *field).collect()
}
