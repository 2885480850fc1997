//! A `@find` field in, every way to get what it wants out, or why there is none. Must not know how requests are planned or run.
//!
//! The steps stand beside this file in the order in which they run: [`target`] tells what is wanted, [`where_clause`] and [`scope`] what
//! is bound, [`filter`] the condition, [`paging`] the orders, [`candidates`] what could be read, [`choose`] what is read, [`missing`]
//! why nothing can be, [`left_out`] what the paths leave out that there are; [`single`] and [`sorted`] judge what is read; [`through`] is for finds that follow relations instead of keys, [`mixed`] for those of several item types, whose
//! candidates [`together`] compares; [`apart`] says what does not fit.

mod apart;
pub(super) mod candidates;
mod choose;
pub(super) mod filter;
mod gaps;
mod left_out;
mod missing;
mod mixed;
mod paging;
pub(super) mod scope;
mod single;
mod sorted;
pub(super) mod target;
mod through;
mod together;
pub(super) mod wanted;
pub(super) mod where_clause;

use super::condition::Condition;
use super::diagnostic::Findings;
use super::directives::FindDirective;
use super::draft::{Draft, Kind};
use super::model::{Access, AccessPath, Find, Returns, Via};
use super::span;
use super::suggest::{list, suggest};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use choose::Given;
use indexmap::IndexMap;
use paging::Order;
use wanted::{Bindings, Need, Wanted};

/// The longest plain list where `max:` says nothing.
pub const MAX_DEFAULT: u32 = 1_000;

/// The greatest `max:`: a list is held in memory.
pub const MAX_LIMIT: u32 = 100_000;

/// Checks a find; `None` if it, or what it builds on, has a mistake.
pub fn read(draft: &Draft, parent: &str, field: &FieldDefinition, directive: &Node<Directive>, findings: &mut Findings) -> Option<Find> {
    let target = match target::of(draft, parent, field) {
        Ok(target) => target?,
        Err(refused) => {
            findings.error(refused.code, &refused.span, refused.message, refused.help);
            return None;
        }
    };
    if target::is_abstract(draft, &target.item) {
        return mixed::read(&mixed::Asked { draft, parent, field, directive, target }, findings);
    }
    let directive = FindDirective::read(directive);
    let max = max(&directive, findings)?;
    if let Some(written) = &directive.through {
        let route = through::Route { draft, parent, field, directive: &directive, target: &target };
        let hops = through::read(&route, written, findings)?;
        return Some(Find { item: target.item, returns: target.returns, via: Via::Through(hops), filter: None, max, consistent: false });
    }
    let (keys, record) = draft.item(&target.item)?;
    let table = draft.tables.get(keys.table)?;
    let parent_record = match draft.kind(parent) {
        Some(Kind::Root(_)) => None,
        _ => draft.records.get(parent),
    };
    let wanted = Wanted { draft, parent, parent_record, field, directive, target, keys, record, table };
    let (paths, filter) = by_keys(&wanted, findings)?;
    let consistent = wanted.directive.consistent;
    Some(Find { item: wanted.target.item, returns: wanted.target.returns, via: Via::Keys(paths), filter, max, consistent })
}

/// The ways to read the items of a write that serve, the best first. Unlike in a find, what arguments bind by their names need not be used:
/// an argument may be there to be written.
pub fn paths_of_write(
    wanted: &Wanted,
    bindings: &Bindings,
    filter: Option<&Condition>,
    serves: &dyn Fn(&candidates::Candidate) -> bool,
) -> Vec<AccessPath> {
    let order = wanted.directive.order_by.as_ref().map(|field| field.value.as_str());
    let ask = candidates::Ask { present: &|_| true, order, filter, weak: true, lax: false };
    let mut found: Vec<_> = candidates::candidates(wanted, bindings, &ask).into_iter().filter(|candidate| serves(candidate)).collect();
    found.sort_by_key(choose::rank);
    found.into_iter().map(|candidate| candidate.path).collect()
}

/// Reports the paths by which the items of a write could be read and what each lacks; `None` if there are none.
pub fn left_out_of_write(wanted: &Wanted, bindings: &Bindings, findings: &mut Findings) -> Option<()> {
    let optional = |name: &String| wanted.argument(name).is_none_or(|argument| !argument.ty.is_non_null());
    let when = bindings.equal.values().flat_map(|bound| bound.arguments.clone()).filter(optional).collect();
    let order = Order { value: None, field: None, span: wanted.directive.span.clone() };
    let given = Given { wanted, bindings, filter: None, weak: true, untold: true };
    left_out::report(&given, &choose::Miss { when, order }, findings)
}

/// Each key and index that the items are in, with the fields that it is read by.
pub fn keys_of(wanted: &Wanted) -> String {
    missing::keys_of(wanted)
}

/// What a find is read by, before its paths are chosen.
pub struct Prepared {
    index: Option<usize>,
    filter: Option<Condition>,
    bindings: Bindings,
    orders: Vec<Order>,
}

fn prepare(wanted: &Wanted, findings: &mut Findings) -> Option<Prepared> {
    let index = check_index(wanted, findings);
    let filter = filter::read(wanted, findings);
    let bound = where_clause::read(wanted, findings);
    let filtered = filter.iter().flatten().flat_map(Condition::arguments).collect::<Vec<_>>();
    let bound = bound.and_then(|bindings| scope::bind(wanted, bindings, &filtered, findings));
    let (Ok(filter), Some(bindings)) = (filter, bound) else { return None };
    let paged = paging::check(wanted, &bindings, findings);
    let orders = paging::orders(wanted, &bindings, findings);
    let sound = check_lists(wanted, &bindings, findings) & check_ranges(wanted, &bindings, findings) & paged;
    let (true, Some(orders), Ok(index)) = (sound, orders, index) else { return None };
    Some(Prepared { index, filter, bindings, orders })
}

fn by_keys(wanted: &Wanted, findings: &mut Findings) -> Option<(Vec<AccessPath>, Option<Condition>)> {
    let Prepared { index, filter, bindings, orders } = prepare(wanted, findings)?;
    let given = Given { wanted, bindings: &bindings, filter: filter.as_ref(), weak: false, untold: false };
    let paths = match wanted.directive.scan {
        true => vec![scan(&given, index, findings)?],
        false => choose::paths(&given, &orders, findings)?,
    };
    single::check(wanted, &bindings, &paths, findings).then_some((paths, filter))
}

/// `max:` is between 1 and [`MAX_LIMIT`].
pub(super) fn max(directive: &FindDirective, findings: &mut Findings) -> Option<u32> {
    let Some(written) = &directive.max else { return Some(MAX_DEFAULT) };
    let max = u32::try_from(written.value).ok().filter(|max| (1..=MAX_LIMIT).contains(max));
    if max.is_none() {
        let message = format!("`max: {}` is no length of a list", written.value);
        findings.error("KF0418", &written.span, message, Some(format!("it is from 1 to {MAX_LIMIT}; page beyond that")));
    }
    max
}

/// `index:` names an index that the item type is in, and one that can be read as strongly as is asked for.
pub(super) fn check_index(wanted: &Wanted, findings: &mut Findings) -> Result<Option<usize>, ()> {
    let Some(written) = &wanted.directive.index else { return Ok(None) };
    let item = &wanted.target.item;
    let is_in = |index: &super::table::Index| {
        std::iter::once(&index.partition).chain(index.sort.as_ref()).all(|key| wanted.keys.keys.contains_key(&key.name))
    };
    let position = wanted.table.indexes.iter().position(|index| index.name == written.value);
    match position.and_then(|position| wanted.table.indexes.get(position)) {
        Some(index) if is_in(index) && (index.local || !wanted.directive.consistent) => Ok(position),
        Some(index) if is_in(index) => {
            let message = format!("the global index `{}` cannot be read strongly", index.name);
            findings.error("KF0417", &written.span, message, Some("leave `consistent:` out, or read the table or a local index".into()));
            Err(())
        }
        found => {
            let message = match found {
                Some(_) => format!("`{item}` is not in the index `{}`: its keys have no template for it", written.value),
                None => format!("the table `{}` has no index `{}`", wanted.table.name, written.value),
            };
            let choices = wanted.table.indexes.iter().filter(|index| is_in(index)).map(|index| index.name.as_str());
            findings.error("KF0416", &written.span, message, suggest(&written.value, choices));
            Err(())
        }
    }
}

/// Several keys are several items.
fn check_lists(wanted: &Wanted, bindings: &Bindings, findings: &mut Findings) -> bool {
    let lists = wanted.field.arguments.iter().find(|argument| argument.ty.is_list() && bindings.uses(&argument.name));
    let Some(argument) = lists.filter(|_| wanted.target.returns == Returns::One) else { return true };
    let message = format!("the list `{}` reads several items, but `{}` returns one", argument.name, wanted.coordinate());
    findings.error("KF0408", &span::of(argument.name.location()), message, Some("return a list or a connection".into()));
    false
}

/// A ranged field stands in some sort key where a range of its values is a range of keys.
fn check_ranges(wanted: &Wanted, bindings: &Bindings, findings: &mut Findings) -> bool {
    let mut sound = true;
    for (field, bounds) in &bindings.ranges {
        let sorts =
            std::iter::once(None).chain((0..wanted.table.indexes.len()).map(Some)).filter_map(|place| wanted.table.keys_of(place).1);
        let allowed = sorts.filter_map(|key| Some((key, wanted.keys.keys.get(&key.name)?))).any(|(key, templates)| {
            templates.iter().any(|template| {
                let count = template.parts.len();
                template.parts.iter().enumerate().any(|(position, part)| {
                    placeholder_of(part) == Some(field.as_str()) && candidates::allows_range(part, position + 1 == count, key.kind, bounds)
                })
            })
        });
        if !allowed {
            let message = format!("no sort key of `{}` can be ranged by `{field}`", wanted.target.item);
            let help = "a range needs a DateTime, a Date, a padded number (`{score:08}`) or text at the end of a sort key's template; `beginsWith` any text";
            findings.error("KF0425", &bounds.span, message, Some(help.into()));
            sound = false;
        }
    }
    sound
}

fn placeholder_of(part: &super::template::Part) -> Option<&str> {
    match part {
        super::template::Part::Placeholder { field, .. } => Some(field),
        super::template::Part::Literal(_) => None,
    }
}

/// `scan: true` reads everything, so nothing may ask for less or for an order.
fn scan(given: &Given, index: Option<usize>, findings: &mut Findings) -> Option<AccessPath> {
    let wanted = given.wanted;
    let used = choose::check_arguments(given, findings);
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
        () if !bound.is_empty() => {
            Some((format!("a scan binds no key, but {} is bound", list(&bound)), "leave `scan:` out, or use `filter:`"))
        }
        () if sorted => Some(("a scan has no order".to_owned(), "leave the order out, or read an index that sorts")),
        () if !unheld.is_empty() => Some((
            format!("the filter reads {}, which `{}` does not hold", list(&unheld), wanted.place_name(index)),
            "scan the table, or include it in the index",
        )),
        () => None,
    };
    if let Some((message, help)) = refusal {
        findings.error("KF0424", &wanted.directive.span, message, Some(help.to_owned()));
        return None;
    }
    if !(candidates::sifts(wanted) || candidates::tells(wanted, index)) {
        missing::untold(wanted, index, findings);
        return None;
    }
    let path = AccessPath {
        when: Vec::new(),
        order_by: None,
        index,
        access: Access::Scan,
        bindings: IndexMap::new(),
        rules: IndexMap::new(),
        alike: vec![],
        descending: false,
    };
    used.then_some(path)
}
