//! Bindings, filter and orders in, one access path for each combination of optional arguments and each order out, or what is missing.
//!
//! Of the candidates that serve, the first by these counts is taken: GetItem before Query where one item is wanted; what holds every item
//! that is meant before a sparse index, which leaves some out; most fields of the sort key bound; the table before an index; an index that holds the whole item before others; the order of declaration.

use super::candidates::{Ask, Candidate, candidates, sifts, tells};
use super::paging::{Order, is_paging};
use super::wanted::{Bindings, Wanted};
use super::{gaps, missing, sorted};
use crate::schema::condition::Condition;
use crate::schema::diagnostic::Findings;
use crate::schema::model::{Access, AccessPath};
use crate::schema::span;
use crate::schema::suggest::suggest;
use std::cmp::Reverse;

/// Optional arguments of a find that take part in its keys: each doubles the number of access paths.
pub const OPTIONAL: usize = 6;

/// What the paths of a find are made from.
pub struct Given<'a> {
    /// The find.
    pub wanted: &'a Wanted<'a>,
    /// What is bound.
    pub bindings: &'a Bindings,
    /// The condition.
    pub filter: Option<&'a Condition>,
    /// Whether weak bindings may be used: no combination is served without them.
    pub weak: bool,
    /// Whether an index may be read that does not tell the type's items from others, whatever comes back.
    pub untold: bool,
}

impl Given<'_> {
    /// Whether an argument is there: it is required, or one of these.
    pub fn is_present(&self, when: &[String], name: &str) -> bool {
        self.wanted.argument(name).is_some_and(|argument| argument.ty.is_non_null()) || when.iter().any(|there| there == name)
    }
}

/// A combination that nothing serves.
#[derive(Debug, Clone)]
pub struct Miss {
    /// The optional arguments that are there.
    pub when: Vec<String>,
    /// The order that is asked for.
    pub order: Order,
}

/// Every access path; `None` if one is missing that is no gap, or an argument is used by nothing.
pub fn paths(given: &Given, orders: &[Order], findings: &mut Findings) -> Option<Vec<AccessPath>> {
    let arguments_used = check_arguments(given, findings);
    let optional = optional(given);
    if optional.len() > OPTIONAL {
        let message = format!(
            "`{}` has {} optional arguments for its keys, which makes too many combinations",
            given.wanted.coordinate(),
            optional.len()
        );
        let help = format!("make some non-null, or move them into `filter:`; at most {OPTIONAL} are checked");
        findings.error("KF0412", &given.wanted.directive.span, message, Some(help));
        return None;
    }
    let strong = combinations(&optional).any(|when| best(given, &when, None).is_some());
    let given = &Given { weak: !strong, ..*given };
    let mut paths = Vec::new();
    let mut misses = Vec::new();
    for order in orders {
        for when in combinations(&optional) {
            match best(given, &when, order.field.as_deref()) {
                Some(path) => {
                    sorted::check(given.wanted, &path, order, findings);
                    paths.push(AccessPath { when, order_by: order.value.clone(), ..path });
                }
                None => misses.push(Miss { when, order: order.clone() }),
            }
        }
    }
    if !arguments_used {
        return None;
    }
    // What is not served only because it has another order is not a gap, but a missing order.
    misses.retain(|miss| best(given, &miss.when, None).is_some() || !gaps::is_gap(miss, &paths));
    if misses.is_empty() {
        return Some(paths);
    }
    missing::report(given, &optional, &misses, findings);
    None
}

/// The arguments that may be null and take part in the keys, in the order of their declaration.
pub fn optional(given: &Given) -> Vec<String> {
    let arguments = given.wanted.field.arguments.iter();
    arguments
        .filter(|argument| !argument.ty.is_non_null() && given.bindings.uses(&argument.name))
        .map(|argument| argument.name.to_string())
        .collect()
}

/// Every subset, from none to all.
pub fn combinations(optional: &[String]) -> impl Iterator<Item = Vec<String>> {
    (0..1_usize << optional.len())
        .map(|mask| optional.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, name)| name.clone()).collect())
}

/// The best path where exactly these optional arguments are there. Weak bindings are a second attempt, if any.
pub fn best(given: &Given, when: &[String], order: Option<&str>) -> Option<AccessPath> {
    let present = |name: &str| given.is_present(when, name);
    [false, given.weak].into_iter().find_map(|weak| {
        let ask = Ask { present: &present, order, filter: given.filter, weak, lax: false };
        let found = candidates(given.wanted, given.bindings, &ask).into_iter();
        let told = found.filter(|candidate| given.untold || sifts(given.wanted) || tells(given.wanted, candidate.path.index));
        told.min_by_key(rank).map(|candidate| candidate.path)
    })
}

/// Smaller is better; `min_by_key` keeps the first of equals.
pub fn rank(candidate: &Candidate) -> Rank {
    let get = matches!(candidate.path.access, Access::Get { .. });
    (!get, !candidate.complete, Reverse(candidate.sort_fields), candidate.path.index.is_some(), !candidate.covers)
}

/// What candidates are compared by: no GetItem, not every item, the fields of the sort key, an index, not all of an item.
pub type Rank = (bool, bool, Reverse<usize>, bool, bool);

/// Every argument pages, binds or filters.
pub fn check_arguments(given: &Given, findings: &mut Findings) -> bool {
    let wanted = given.wanted;
    let filtering = given.filter.map(Condition::arguments).unwrap_or_default();
    let mut sound = true;
    for argument in &wanted.field.arguments {
        let name = argument.name.as_str();
        if !(is_paging(name, given.bindings) || given.bindings.uses(name) || filtering.contains(&name)) {
            let message = format!(
                "nothing uses the argument `{name}`: it is no field of `{}`, and stands in no `where:` or `filter:`",
                wanted.target.item
            );
            findings.error("KF0411", &span::of(argument.name.location()), message, suggest(name, wanted.record.keys().map(String::as_str)));
            sound = false;
        }
    }
    sound
}
