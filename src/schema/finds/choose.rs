//! Bindings, filter and orders in, one access path for each combination of optional arguments and each order out, or
//! what is missing.

use super::paging::Order;
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::finds::best::{Miss, OPTIONAL, PathInputs, best, check_arguments, combinations, optional};
use crate::schema::finds::diagnosis::{gaps, missing, sorted};
use crate::schema::model::find::AccessPath;

/// Every access path; `None` if a path is missing that is not a gap, or if nothing uses an argument.
pub fn paths(given: &PathInputs, orders: &[Order], findings: &mut Findings) -> Option<Vec<AccessPath>> {
    let arguments_used = check_arguments(given, findings);
    let optional = optional(given);
    if optional.len() > OPTIONAL {
        let message = format!(
            "`{}` has {} optional arguments for its keys, which gives too many combinations",
            given.wanted.coordinate(),
            optional.len()
        );
        let help = format!("at most {OPTIONAL} are allowed: make some non-null, or use them in `filter:`");
        findings.error(rules::KF0412, &given.wanted.directive.span, message, Some(help.into()));
        return None;
    }
    let strong = combinations(&optional).any(|when| best(given, &when, None).is_some());
    let given = &PathInputs { fallback: !strong, ..*given };
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
    // A combination that is served without its order is not a gap: its order is missing.
    misses.retain(|miss| best(given, &miss.when, None).is_some() || !gaps::is_gap(miss, &paths));
    if misses.is_empty() {
        return Some(paths);
    }
    missing::report(given, &optional, &misses, findings);
    None
}
