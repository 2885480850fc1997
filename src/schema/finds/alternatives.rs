//! A path of a find in; out: an alternative of its key that it does not read, although items that are meant may stand
//! there. Must not choose paths.
//!
//! An item stands under the first alternative whose fields all have values. A path reads one alternative of each key.
//! If another one holds everything that the path binds of the key, a list would leave out the items there, and which
//! ones would depend on the order of the alternatives.

use super::wanted::FindContext;
use crate::schema::model::find::{Access, Returns, SortAccess};
use crate::schema::template::Template;

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

/// An alternative that the access does not read, although it holds everything that the access binds of its key: items
/// that are meant may stand there. A whole key means one item, which stands under the first alternative that is bound,
/// as for a write.
pub fn passed_over(
    wanted: &FindContext,
    access: &Access,
    (partitions, sorts): (&[Template], &[Template]),
    used: &[&str],
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
/// takes the first whose fields all have values: an earlier one is always possible, a later one only if this one may
/// lack a value.
fn beside<'t>(
    wanted: &'t FindContext,
    templates: &'t [Template],
    read: usize,
    used: &[&str],
) -> impl Iterator<Item = usize> + use<'t> {
    let own = templates.get(read).map(Template::fields).unwrap_or_default();
    let is_used = |field: &&str| used.contains(field);
    let may_lack = |field: &str| wanted.record.get(field).is_some_and(|declared| !declared.ty.is_non_null());
    let lacks = own.iter().any(|field| !is_used(field) && may_lack(field));
    let bound: Vec<&str> = own.into_iter().filter(is_used).collect();
    let may_hold = move |(other, template): &(usize, &Template)| {
        let is_possible = *other < read || *other > read && lacks;
        let fields = template.fields();
        is_possible && !bound.is_empty() && bound.iter().all(|field| fields.contains(field))
    };
    templates.iter().enumerate().filter(may_hold).map(|(other, _)| other)
}
