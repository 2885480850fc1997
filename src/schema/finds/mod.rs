//! A `@find` field in, every access path that serves it out, or why there is none. Must not know how requests are
//! planned or run.
//!
//! The steps run in this order. [`target`] reads what the find looks for. [`prepare`] runs [`filter`] for the
//! condition, [`where_clause`] and [`scope`] for the bindings, and [`paging`] for the orders. [`candidates`] lists
//! every way to read, [`best`] compares them, and [`choose`] takes a path for each combination of optional arguments.
//! [`diagnosis`] reports what is missing or unintended. [`through`] is for finds that follow relations,
//! [`abstract_type`] for finds of an interface or a union.

pub mod abstract_type;
pub mod alternatives;
pub mod best;
pub mod candidates;
pub mod choose;
pub mod diagnosis;
pub mod filter;
pub mod paging;
pub mod prepare;
pub mod scope;
pub mod target;
pub mod through;
pub mod wanted;
pub mod where_clause;

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::{rules, span};
use crate::schema::expression::condition::Condition;
use crate::schema::finds::best::PathInputs;
use crate::schema::model::find::{AccessPath, Find, Returns, Via};
use crate::schema::syntax::directives::{FindDirective, argument, named};
use crate::schema::types::draft::{Kind, SchemaDraft};
use abstract_type::{member::AbstractFind, reads};
use apollo_compiler::Node;
use apollo_compiler::ast::{Directive, FieldDefinition};
use diagnosis::undecided::Way;
use diagnosis::{counted, expiring, left_out, linked, missing, single, undecided};
use paging::Order;
use prepare::{Prepared, max, prepare, scan};
use wanted::{Bindings, FindContext};

/// A field that reads has one `@find`, without what is for the other directives of a mutation.
fn check_single(coordinate: &str, field: &FieldDefinition, findings: &mut Findings) -> Option<()> {
    let finds = || field.directives.get_all("find");
    let option =
        |name: &str| finds().find_map(|find| argument(find, name)).map(|value| span::from_location(value.location()));
    let (place, what) = match (finds().nth(1), option("as"), option("each")) {
        (Some(second), _, _) => (named(second), "a second `@find`"),
        (None, Some(place), _) => (place, "`as:`"),
        (None, None, Some(place)) => (place, "`each:`"),
        (None, None, None) => return Some(()),
    };
    let message = format!("`{coordinate}` reads, and {what} is for fields that write");
    findings.error(rules::KF0726, &place, message, Some("leave it out".into()));
    None
}

/// Checks a find; `None` if it, or what it builds on, has a mistake.
pub fn read_find(
    draft: &SchemaDraft,
    parent: &str,
    field: &FieldDefinition,
    directive: &Node<Directive>,
    findings: &mut Findings,
) -> Option<Find> {
    check_single(&format!("{parent}.{}", field.name), field, findings)?;
    let target = match target::target_of(draft, parent, field) {
        Ok(target) => target?,
        Err(refused) => {
            findings.error(refused.rule, &refused.span, refused.message, refused.help);
            return None;
        }
    };
    if target.returns == Returns::Connection {
        let through = FindDirective::from_directive(directive).through;
        if !linked::check(draft, (parent, field), through.as_ref().map(|at| at.value.as_str()), findings) {
            return None;
        }
    }
    if target::is_abstract(draft, &target.item) {
        return reads::read_abstract_type(&AbstractFind { draft, parent, field, directive, target }, findings);
    }
    let directive = FindDirective::from_directive(directive);
    let max = max(&directive, findings)?;
    if let Some(written) = &directive.through {
        let route = through::Route { draft, parent, field, directive: &directive, target: &target };
        let hops = through::read_path(&route, written, findings)?;
        return Some(Find {
            item: target.item,
            returns: target.returns,
            via: Via::Through(hops),
            filter: None,
            max,
            consistent: false,
        });
    }
    let (keys, record) = draft.item(&target.item)?;
    let table = draft.tables.get(keys.table)?;
    let parent_record = match draft.kind(parent) {
        Some(Kind::Root(_)) => None,
        _ => draft.records.get(parent),
    };
    let wanted =
        FindContext { draft, parent, parent_record, field, directive, target, keys, record, table, found: Vec::new() };
    let (paths, filter) = by_keys(&wanted, findings)?;
    let consistent = wanted.directive.consistent;
    Some(Find {
        item: wanted.target.item,
        returns: wanted.target.returns,
        via: Via::Keys(paths),
        filter,
        max,
        consistent,
    })
}

/// The find of the one item that a field of `Subscription` watches.
pub fn read_watched(wanted: FindContext, findings: &mut Findings) -> Option<Find> {
    let (paths, filter) = by_keys(&wanted, findings)?;
    let consistent = paths.iter().all(|path| path.index.is_none());
    Some(Find {
        item: wanted.target.item,
        returns: wanted.target.returns,
        via: Via::Keys(paths),
        filter,
        max: prepare::MAX_DEFAULT,
        consistent,
    })
}

/// The access paths that serve to read the items of a write, the best first. Unlike in a find, a binding by an
/// argument's name may stay unused, because the argument may hold a value to write.
pub fn paths_of_write(
    wanted: &FindContext,
    bindings: &Bindings,
    filter: Option<&Condition>,
    serves: &dyn Fn(&candidates::Candidate) -> bool,
) -> Vec<AccessPath> {
    candidates_of_write(wanted, bindings, filter, serves).into_iter().map(|candidate| candidate.path).collect()
}

/// Whether the names say which items a write reads: of two indexes that serve as well, the order in the schema must not
/// decide. A finding if not.
pub fn are_decided(
    wanted: &FindContext,
    bindings: &Bindings,
    filter: Option<&Condition>,
    serves: &dyn Fn(&candidates::Candidate) -> bool,
    findings: &mut Findings,
) -> bool {
    let mut best: Vec<Way> = candidates_of_write(wanted, bindings, filter, serves).into_iter().map(Way::from).collect();
    let rank = best.first().map(|way| way.rank);
    best.retain(|way| Some(way.rank) == rank);
    let Some(ways) = undecided::tie(&best) else { return true };
    undecided::report_tie((wanted, bindings), ways, findings);
    false
}

fn candidates_of_write(
    wanted: &FindContext,
    bindings: &Bindings,
    filter: Option<&Condition>,
    serves: &dyn Fn(&candidates::Candidate) -> bool,
) -> Vec<candidates::Candidate> {
    let order = wanted.directive.order_by.as_ref().map(|field| field.value.as_str());
    let ask = candidates::Ask {
        present: &|_| true,
        order,
        filter,
        bare: candidates::BareNames::All,
        lax: false,
        some_alternatives: false,
    };
    let mut found: Vec<_> =
        candidates::candidates(wanted, bindings, &ask).into_iter().filter(|candidate| serves(candidate)).collect();
    found.sort_by_key(best::rank);
    found
}

/// Whether the path by which a write reads tells which items have expired, or leaves them out later; a finding if not.
pub fn tells_of_expiry(wanted: &FindContext, path: &AccessPath, findings: &mut Findings) -> bool {
    expiring::check(wanted, [path], findings)
}

/// Reports the paths that could read the items of a write and what each leaves out; `None` if there are none.
pub fn left_out_of_write(wanted: &FindContext, bindings: &Bindings, findings: &mut Findings) -> Option<()> {
    let optional = |name: &String| wanted.argument(name).is_none_or(|argument| !argument.ty.is_non_null());
    let when = bindings.equal.values().flat_map(|bound| bound.arguments.clone()).filter(optional).collect();
    let order = Order { value: None, field: None, span: wanted.directive.span.clone() };
    let given =
        PathInputs { wanted, bindings, filter: None, fallback: true, undiscriminated: true, some_alternatives: false };
    left_out::report(&given, &best::Miss { when, order }, findings)
}

/// The table and each index that the items are in, with the fields that it is read by.
pub fn keys_of(wanted: &FindContext) -> String {
    missing::keys_of(wanted)
}

fn by_keys(wanted: &FindContext, findings: &mut Findings) -> Option<(Vec<AccessPath>, Option<Condition>)> {
    let Prepared { index, filter, bindings, orders } = prepare(wanted, findings)?;
    let given = PathInputs {
        wanted,
        bindings: &bindings,
        filter: filter.as_ref(),
        fallback: false,
        undiscriminated: false,
        some_alternatives: false,
    };
    let paths = match wanted.directive.scan {
        true => vec![scan(&given, index, findings)?],
        false => choose::paths(&given, &orders, findings)?,
    };
    let sound = single::check(wanted, &bindings, &paths, findings)
        && single::check_order(wanted, &bindings, &paths, findings)
        && counted::check(std::iter::once(wanted), &paths, findings)
        && expiring::check(wanted, &paths, findings)
        && (wanted.directive.scan || undecided::check(&given, &orders, &paths, findings));
    sound.then_some((paths, filter))
}
