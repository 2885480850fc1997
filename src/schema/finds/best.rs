//! Bindings, filter and order in, the best access path for one combination of optional arguments out. Must not know the
//! other combinations.
//!
//! These decide between the candidates that serve, in this order:
//!
//! 1. GetItem before Query;
//! 2. the table or an index with every item that is meant, before a sparse index that leaves some out;
//! 3. more bound fields of the sort key;
//! 4. the table before an index;
//! 5. an index that holds the whole item before others;
//! 6. the order of declaration.

use super::candidates::{Ask, BareNames, Candidate, candidates, sifts, tells_items};
use super::paging::{Order, is_paging};
use super::wanted::{Bindings, FindContext};
use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::help::Help;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::span;
use crate::schema::diagnostics::suggestion::{list, near, suggest};
use crate::schema::expression::condition::Condition;
use crate::schema::model::find::{Access, AccessPath};
use crate::schema::model::page::PageForm;
use crate::schema::types::computed;
use std::cmp::Reverse;

/// The most optional arguments that may take part in a find's keys. Each doubles the number of access paths.
pub const OPTIONAL: usize = 6;

/// What the paths of a find are made from.
pub struct PathInputs<'a> {
    /// The find.
    pub wanted: &'a FindContext<'a>,
    /// What is bound.
    pub bindings: &'a Bindings,
    /// The condition.
    pub filter: Option<&'a Condition>,
    /// Whether fallback bindings may be used: no combination is served without them.
    pub fallback: bool,
    /// Whether the find may read an index that does not distinguish the type's items from others, whatever the field
    /// returns.
    pub undiscriminated: bool,
    /// Whether a path may read fewer alternatives of a key than hold what it binds.
    pub some_alternatives: bool,
}

impl PathInputs<'_> {
    /// Whether an argument is given: it is required, or is in `when`.
    pub fn is_present(&self, when: &[String], name: &str) -> bool {
        self.wanted.argument(name).is_some_and(|argument| argument.ty.is_non_null())
            || when.iter().any(|there| there == name)
    }
}

/// A combination that nothing serves.
#[derive(Debug, Clone)]
pub struct Miss {
    /// The optional arguments that are given.
    pub when: Vec<String>,
    /// The order that is asked for.
    pub order: Order,
}

/// The arguments that may be null and take part in the keys, in the order of their declaration.
pub fn optional(given: &PathInputs) -> Vec<String> {
    let arguments = given.wanted.field.arguments.iter();
    arguments
        .filter(|argument| !argument.ty.is_non_null() && given.bindings.uses(&argument.name))
        .map(|argument| argument.name.to_string())
        .collect()
}

/// Every subset, from none to all.
pub fn combinations(optional: &[String]) -> impl Iterator<Item = Vec<String>> {
    (0..1_usize << optional.len()).map(|mask| {
        optional.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0).map(|(_, name)| name.clone()).collect()
    })
}

/// The best path if exactly these optional arguments are given. A second attempt uses fallback bindings, if they are
/// allowed.
pub fn best(given: &PathInputs, when: &[String], order: Option<&str>) -> Option<AccessPath> {
    best_candidate(given, when, order).map(|candidate| candidate.path)
}

/// The same, with what else is known of the path.
pub fn best_candidate(given: &PathInputs, when: &[String], order: Option<&str>) -> Option<Candidate> {
    let bare = [BareNames::Ids, BareNames::All];
    let mut attempts = bare.into_iter().take(if given.fallback { 2 } else { 1 });
    attempts.find_map(|bare| serving(given, when, order, bare).into_iter().min_by_key(rank))
}

/// Every path that serves if exactly these optional arguments are given, and if these bare names bind.
pub fn serving(given: &PathInputs, when: &[String], order: Option<&str>, bare: BareNames) -> Vec<Candidate> {
    let present = |name: &str| given.is_present(when, name);
    let ask = Ask {
        present: &present,
        order,
        filter: given.filter,
        bare,
        lax: false,
        some_alternatives: given.some_alternatives,
    };
    let mut found = candidates(given.wanted, given.bindings, &ask);
    found.retain(|candidate| {
        given.undiscriminated || sifts(given.wanted) || tells_items(given.wanted, candidate.path.index)
    });
    found
}

/// Smaller is better; `min_by_key` keeps the first of equals.
pub fn rank(candidate: &Candidate) -> Rank {
    let get = matches!(candidate.path.access, Access::Get { .. });
    (!get, !candidate.complete, Reverse(candidate.sort_fields), candidate.path.index.is_some(), !candidate.covers)
}

/// What candidates are compared by: no GetItem, not complete, the bound fields of the sort key, an index, not covering.
pub type Rank = (bool, bool, Reverse<usize>, bool, bool);

/// Checks that every argument pages, sorts, binds or filters.
pub fn check_arguments(given: &PathInputs, findings: &mut Findings) -> bool {
    let wanted = given.wanted;
    let filtering = given.filter.map(Condition::arguments).unwrap_or_default();
    let mut sound = true;
    for argument in &wanted.field.arguments {
        let name = argument.name.as_str();
        if !(is_paging(wanted, name, given.bindings) || given.bindings.uses(name) || filtering.contains(&name)) {
            let message = format!(
                "nothing uses the argument `{name}`: it is not a field of `{}`, and `where:` and `filter:` do not use it",
                wanted.target.item
            );
            findings.error(
                rules::KF0411,
                &span::from_location(argument.name.location()),
                message,
                unused(wanted, name),
            );
            sound = false;
        }
    }
    sound
}

/// What an argument that nothing uses may have been meant as.
fn unused(wanted: &FindContext, name: &str) -> Option<Help> {
    let of_connection = match name {
        "limit" | "pageSize" | "take" | "count" | "perPage" => Some("first"),
        "nextToken" | "cursor" | "startAfter" => Some("after"),
        _ => None,
    };
    let of_connection = of_connection.filter(|_| wanted.page_form() == Some(PageForm::Connection));
    match of_connection.filter(|right| wanted.argument(right).is_none()) {
        Some(right) => Some(Help::instead(
            format!("write `{right}`: the arguments of a connection are `first`, `after`, `last` and `before`"),
            name,
            right,
        )),
        None if PageForm::Items.arguments().contains(&name) => Some(
            "`limit` and `nextToken` page a type with `items` and `nextToken`; `first` and `after` page a connection"
                .into(),
        ),
        None => computed::help_beside(wanted.draft, wanted.record, name).or_else(|| by_name_or_use(wanted, name)),
    }
}

/// The field that a name is near to, or how else an argument has an effect.
fn by_name_or_use(wanted: &FindContext, name: &str) -> Option<Help> {
    let is_free = |field: &&str| wanted.in_keys(field) && wanted.argument(field).is_none();
    let names: Vec<&str> = wanted.record.keys().map(String::as_str).filter(is_free).collect();
    match near(name, &names) {
        Some(_) => suggest(name, names),
        None => {
            let fields = match names.as_slice() {
                [] => String::new(),
                names => format!("; the keys have {}, too", list(names)),
            };
            Some(format!("use it in `where:` or `filter:`, or leave it out{fields}").into())
        }
    }
}
