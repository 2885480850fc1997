//! A find in, its index, filter, bindings and orders out. Must not choose paths.

use super::best::{self, PathInputs};
use super::candidates;
use super::diagnosis::missing;
use super::diagnosis::new_index::sorted_index;
use super::diagnosis::sorted::unsorted;
use super::paging::{self, Order};
use super::wanted::{Bindings, FindContext, Need};
use super::{filter, scope, where_clause};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::{list, suggest};
use crate::schema::expression::condition::Condition;
use crate::schema::keys::text_limits::ONE_LENGTH;
use crate::schema::model::find::{Access, AccessPath, Returns};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::syntax::directives::FindDirective;
use crate::schema::table::Index;
use indexmap::IndexMap;

/// The longest plain list if there is no `max:`.
pub const MAX_DEFAULT: u32 = 1_000;

/// The greatest `max:`, because a list is held in memory.
pub const MAX_LIMIT: u32 = 100_000;

/// What the paths of a find are chosen from.
pub struct Prepared {
    pub index: Option<usize>,
    pub filter: Option<Condition>,
    pub bindings: Bindings,
    pub orders: Vec<Order>,
}

pub fn prepare(wanted: &FindContext, findings: &mut Findings) -> Option<Prepared> {
    let index = check_index(wanted, findings);
    let filter = filter::read_filter(wanted, findings);
    let bound = where_clause::read_where(wanted, findings);
    let filtered = filter.iter().flatten().flat_map(Condition::arguments).collect::<Vec<_>>();
    let bound = bound.and_then(|bindings| scope::bind(wanted, bindings, &filtered, findings));
    let (Ok(filter), Some(bindings)) = (filter, bound) else { return None };
    let paged = paging::check(wanted, &bindings, findings);
    let orders = paging::orders(wanted, &bindings, findings);
    let ordered = check_orders(wanted, orders.iter().flatten(), findings);
    let sound = check_lists(wanted, &bindings, findings) & check_ranges(wanted, &bindings, findings) & paged & ordered;
    let (true, Some(orders), Ok(index)) = (sound, orders, index) else { return None };
    Some(Prepared { index, filter, bindings, orders })
}

/// `max:` is between 1 and [`MAX_LIMIT`].
pub fn max(directive: &FindDirective, findings: &mut Findings) -> Option<u32> {
    let Some(written) = &directive.max else { return Some(MAX_DEFAULT) };
    let max = u32::try_from(written.value).ok().filter(|max| (1..=MAX_LIMIT).contains(max));
    if max.is_none() {
        let message = format!("`max: {}` is not a valid length of a list", written.value);
        findings.error(
            rules::KF0418,
            &written.span,
            message,
            Some(format!("write a number from 1 to {MAX_LIMIT}, or return a connection for longer lists").into()),
        );
    }
    max
}

/// `index:` names an index that the item type is in. With `consistent:`, the index is local, because a global index
/// cannot be read strongly.
pub fn check_index(wanted: &FindContext, findings: &mut Findings) -> Result<Option<usize>, ()> {
    let Some(written) = &wanted.directive.index else { return Ok(None) };
    let item = &wanted.target.item;
    let is_in = |index: &Index| index.keys().all().all(|key| wanted.keys.keys.contains_key(&key.name));
    let position = wanted.table.indexes.iter().position(|index| index.name == written.value);
    match position.and_then(|position| wanted.table.indexes.get(position)) {
        Some(index) if is_in(index) && (index.local || !wanted.directive.consistent) => Ok(position),
        Some(index) if is_in(index) => {
            let message = format!("the global index `{}` has no strongly consistent reads", index.name);
            findings.error(
                rules::KF0417,
                &written.span,
                message,
                Some("leave `consistent:` out, or read the table or a local index".into()),
            );
            Err(())
        }
        found => {
            let message = match found {
                Some(_) => {
                    format!("`{item}` is not in the index `{}`: `keys:` has no template for the index", written.value)
                }
                None => format!("the table `{}` has no index `{}`", wanted.table.name, written.value),
            };
            let choices = wanted.table.indexes.iter().filter(|index| is_in(index)).map(|index| index.name.as_str());
            findings.error(rules::KF0416, &written.span, message, suggest(&written.value, choices));
            Err(())
        }
    }
}

/// A list argument gives several keys, so the field cannot return one item.
fn check_lists(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> bool {
    let lists = wanted.field.arguments.iter().find(|argument| argument.ty.is_list() && bindings.uses(&argument.name));
    let Some(argument) = lists.filter(|_| wanted.target.returns == Returns::One) else { return true };
    let message =
        format!("the list `{}` finds several items, but `{}` returns one", argument.name, wanted.coordinate());
    findings.error(
        rules::KF0408,
        &span::from_location(argument.name.location()),
        message,
        Some("return a list or a connection".into()),
    );
    false
}

/// Whether a field is a text that has no order, whatever its key.
fn is_unordered(wanted: &FindContext, field: &str) -> bool {
    wanted.record.get(field).and_then(|declared| declared.value.as_aws()).is_some_and(|scalar| !scalar.sorts())
}

/// A field whose text has no order is nothing to sort by.
fn check_orders<'o>(wanted: &FindContext, orders: impl Iterator<Item = &'o Order>, findings: &mut Findings) -> bool {
    let mut sound = true;
    for order in orders {
        let Some(field) = order.field.as_deref().filter(|field| is_unordered(wanted, field)) else { continue };
        let message = format!("no key of `{}` sorts by `{field}`", wanted.target.item);
        findings.error(rules::KF0413, &order.span, message, unsorted(wanted, field));
        sound = false;
    }
    sound
}

/// A ranged field is part of some sort key in which a range of its values is a range of keys.
fn check_ranges(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> bool {
    let mut sound = true;
    for (field, bounds) in &bindings.ranges {
        let sorts = std::iter::once(None)
            .chain((0..wanted.table.indexes.len()).map(Some))
            .flat_map(|place| wanted.table.keys_of(place).sort);
        let allowed = sorts.filter_map(|key| Some((key, wanted.keys.keys.get(&key.name)?))).any(|(key, templates)| {
            templates.iter().any(|template| {
                template.parts.iter().enumerate().any(|(position, part)| {
                    placeholder_of(part) == Some(field.as_str())
                        && candidates::allows_range(&template.parts[position..], key.kind, bounds)
                })
            })
        });
        let has_sides = bounds.lower.is_some() || bounds.upper.is_some();
        if !allowed || has_sides && is_unordered(wanted, field) {
            let message = format!("no sort key of `{}` supports a range of `{field}`", wanted.target.item);
            let mut help = "a range needs a DateTime, a Date, a padded number (`{score:08}`) or text at the end of a sort key's template; `beginsWith` works with any text".to_owned();
            let is_in_key =
                wanted.keys.keys.values().flatten().any(|template| template.fields().contains(&field.as_str()));
            let declared = wanted.record.get(field).filter(|_| is_in_key);
            if declared.is_some_and(|declared| matches!(declared.value.plain(), ValueType::Id | ValueType::String)) {
                help.push_str(&format!("; so does text of one length anywhere: {ONE_LENGTH}"));
            }
            if let Some(index) = sorted_index(wanted, bindings, field) {
                help.push_str(&format!("; {index}"));
            }
            let help = unsorted(wanted, field).unwrap_or(help.into());
            findings.error(rules::KF0425, &bounds.span, message, Some(help));
            sound = false;
        }
    }
    sound
}

fn placeholder_of(part: &crate::schema::template::part::Part) -> Option<&str> {
    match part {
        crate::schema::template::part::Part::Placeholder { field, .. } => Some(field),
        crate::schema::template::part::Part::Literal(_) => None,
    }
}

/// The path of `scan: true`. A scan reads everything, so nothing may bind a key or ask for an order.
pub fn scan(given: &PathInputs, index: Option<usize>, findings: &mut Findings) -> Option<AccessPath> {
    let wanted = given.wanted;
    let used = best::check_arguments(given, findings);
    let bound: Vec<&str> = given
        .bindings
        .equal
        .iter()
        .filter(|(_, bound)| bound.need != Need::Free)
        .map(|(name, _)| name.as_str())
        .chain(given.bindings.ranges.keys().map(String::as_str))
        .collect();
    let sorted = wanted.directive.order_by.is_some()
        || wanted.directive.descending
        || ["order", "orderBy"].iter().any(|name| wanted.argument(name).is_some());
    let unheld: Vec<&str> = given
        .filter
        .map(|filter| filter.attributes())
        .unwrap_or_default()
        .into_iter()
        .filter(|name| !wanted.table.holds(index, name))
        .collect();
    let refusal = match () {
        () if !bound.is_empty() => Some((
            format!("a scan binds no key, but this find binds {}", list(&bound)),
            "leave `scan:` out, or use `filter:`",
        )),
        () if sorted => Some(("a scan has no order".to_owned(), "leave the order out, or read an index that sorts")),
        () if !unheld.is_empty() => Some((
            format!("the filter reads {}, but `{}` does not hold it", list(&unheld), wanted.place_name(index)),
            "scan the table, or include it in the index",
        )),
        () => None,
    };
    if let Some((message, help)) = refusal {
        findings.error(rules::KF0424, &wanted.directive.span, message, Some(help.to_owned().into()));
        return None;
    }
    if !(candidates::sifts(wanted) || candidates::tells_items(wanted, index)) {
        missing::undiscriminated(wanted, index, findings);
        return None;
    }
    let path = AccessPath {
        when: Vec::new(),
        order_by: None,
        index,
        access: Access::Scan,
        equal: Vec::new(),
        bindings: IndexMap::new(),
        rules: IndexMap::new(),
        prefix_alternatives: vec![],
        descending: false,
    };
    used.then_some(path)
}
