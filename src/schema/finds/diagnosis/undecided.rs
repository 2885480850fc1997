//! The ways to read a find's items in; out: findings where a bare name decides unseen which items they are. Must not
//! choose paths.
//!
//! An access path may ignore a bare name (rule 7), so paths of one find can find different items. In two cases, the
//! author must say in `where:` which items are meant:
//!
//! - A way that uses all that the chosen one uses also uses a part of the parent's own key. The items of one parent, or
//!   those of several?
//! - Another way uses other names, or leaves out other items, and is no worse. Nobody should have to know which of them
//!   is preferred.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::best::{PathInputs, Rank, rank, serving};
use crate::schema::finds::candidates::{BareNames, Candidate};
use crate::schema::finds::diagnosis::left_out::said;
use crate::schema::finds::diagnosis::single;
use crate::schema::finds::paging::Order;
use crate::schema::finds::wanted::{Bindings, FindContext, Need};
use crate::schema::model::find::{AccessPath, Returns};
use indexmap::IndexSet;

/// A way to read the items.
pub struct Way {
    /// The path.
    pub path: AccessPath,
    /// Smaller is better.
    pub rank: Rank,
    /// The fields without which an item is not found.
    pub sparse: Vec<String>,
}

impl From<Candidate> for Way {
    fn from(candidate: Candidate) -> Self {
        Self { rank: rank(&candidate), path: candidate.path, sparse: candidate.sparse }
    }
}

/// Whether the names decide which items are found, whatever the optional arguments are; a finding if not.
pub fn check(given: &PathInputs, orders: &[Order], paths: &[AccessPath], findings: &mut Findings) -> bool {
    let ways = |path: &AccessPath, bare: BareNames| -> Vec<Way> {
        let order = orders.iter().find(|order| order.value == path.order_by).and_then(|order| order.field.as_deref());
        serving(given, &path.when, order, bare).into_iter().map(Way::from).collect()
    };
    paths.iter().all(|path| {
        let (now, then) = attempts(given.bindings, path);
        check_path((given.wanted, given.bindings), path, (&ways(path, now), &ways(path, then)), findings)
    })
}

/// The bare names that may bind where a path was chosen, and those that may with the parts of the parent's key.
pub fn attempts(bindings: &Bindings, path: &AccessPath) -> (BareNames, BareNames) {
    match path.bindings.keys().any(|field| bindings.equal.get(field).is_some_and(|bound| bound.fallback)) {
        true => (BareNames::All, BareNames::All),
        false => (BareNames::Ids, BareNames::KeyParts),
    }
}

/// Whether the names decide which items a path finds; a finding if not. The path is the best of the ways that serve.
/// The narrower ones are those that there would be if the parts of the parent's key were bound.
pub fn check_path(
    (wanted, bindings): (&FindContext, &Bindings),
    path: &AccessPath,
    (serving, narrower): (&[Way], &[Way]),
    findings: &mut Findings,
) -> bool {
    // The whole key of a single item says which one is meant.
    if is_single_item(wanted, path) {
        return true;
    }
    if let Some((one, other)) = tie(serving) {
        report_tie((wanted, bindings), (one, other), findings);
        return false;
    }
    let Some(ignored) = IgnoredParts::new((wanted, bindings), path, narrower) else { return true };
    ignored.report(wanted, findings);
    false
}

/// Whether a path binds the whole key of a single item.
fn is_single_item(wanted: &FindContext, path: &AccessPath) -> bool {
    matches!(wanted.target.returns, Returns::One | Returns::Exists | Returns::Count) && is_whole(wanted, path)
}

/// Whether a path binds the whole primary key.
fn is_whole(wanted: &FindContext, path: &AccessPath) -> bool {
    path.index.is_none()
        && wanted.keys.primary_fields(wanted.table).iter().all(|field| path.bindings.contains_key(*field))
}

/// The best way, and another that finds other items although the rules of the language prefer neither.
pub fn tie(ways: &[Way]) -> Option<(&Way, &Way)> {
    let best = ways.iter().min_by_key(|way| way.rank)?;
    let uses = |one: &Way, other: &Way| other.path.bindings.keys().all(|field| one.path.bindings.contains_key(field));
    // What an index holds and where it stands in the schema decides how items are read, and not which.
    let is_equal = |way: &Way| (way.rank.0, way.rank.1, way.rank.2) == (best.rank.0, best.rank.1, best.rank.2);
    let others = |way: &&Way| way.path.index != best.path.index;
    let rival = ways.iter().filter(others).find(|way| match (uses(best, way), uses(way, best)) {
        (false, false) => true,
        (true, true) => is_equal(way) && way.sparse != best.sparse,
        _ => is_equal(way),
    });
    rival.map(|rival| (best, rival))
}

/// Parts of the parent's key that a path ignores.
struct IgnoredParts {
    /// Their names.
    parts: IndexSet<String>,
    /// Whether a list would hold one item if all of them were bound.
    lone: bool,
}

impl IgnoredParts {
    /// The parts that a way uses in addition to all that the path uses.
    fn new((wanted, bindings): (&FindContext, &Bindings), path: &AccessPath, narrower: &[Way]) -> Option<Self> {
        let narrower =
            || narrower.iter().filter(|way| path.bindings.keys().all(|field| way.path.bindings.contains_key(field)));
        let more =
            narrower().flat_map(|way| way.path.bindings.keys()).filter(|field| !path.bindings.contains_key(*field));
        let is_part = |field: &&String| {
            bindings.equal.get(*field).is_some_and(|bound| bound.need == Need::Free && wanted.is_key_part(bound))
        };
        let parts: IndexSet<String> = more.filter(is_part).cloned().collect();
        let whole = narrower().any(|way| is_whole(wanted, &way.path));
        // Bound by its only part, a relation of a type to itself would find the parent itself, which nobody means.
        let itself = whole && parts.len() == 1 && wanted.parent == wanted.target.item;
        (!parts.is_empty() && !itself).then_some(Self { parts, lone: whole && single::is_plural(wanted) })
    }

    fn report(&self, wanted: &FindContext, findings: &mut Findings) {
        let names: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        let (item, parent) = (&wanted.target.item, wanted.parent);
        let message = format!(
            "`{}` does not say whether it finds by {}, which {} in the key of `{parent}` and in that of `{item}`",
            wanted.coordinate(),
            list(&names),
            if names.len() == 1 { "is" } else { "are" },
        );
        let each = |value: &dyn Fn(&str) -> String| {
            let entries: Vec<String> = names.iter().map(|name| format!("{name}: {}", value(name))).collect();
            format!("`where: {{ {} }}`", entries.join(", "))
        };
        let bound = each(&|name| format!("\"{{{name}}}\""));
        let open = each(&|_| "null".to_owned());
        let help = match self.lone {
            false => format!("write {bound} to find those of the `{parent}`, or {open} to find all of them"),
            true => {
                format!("write {open} to find all of them; {bound} finds at most one `{item}`, so return one with it")
            }
        };
        findings.error(rules::KF0436, &wanted.directive.span, message, Some(help.into()));
    }
}

/// Reports two ways of which the schema does not say which is meant.
pub fn report_tie<'w>(
    (wanted, bindings): (&FindContext, &Bindings),
    (one, other): (&'w Way, &'w Way),
    findings: &mut Findings,
) {
    let place = |way: &Way| {
        way.path.index.map_or_else(|| "the table".to_owned(), |_| format!("`{}`", wanted.place_name(way.path.index)))
    };
    let bound = |way: &Way| {
        let fields = way.path.bindings.keys().filter_map(|field| Some(said(wanted, field, bindings.equal.get(field)?)));
        fields.collect::<Vec<_>>().join(", ")
    };
    let lacking = |way: &Way| list(&way.sparse.iter().map(String::as_str).collect::<Vec<_>>());
    let more = |way: &'w Way, than: &Way| {
        way.path.bindings.keys().filter(|field| !than.path.bindings.contains_key(*field)).collect::<Vec<_>>()
    };
    let differing = [more(one, other), more(other, one)].concat();
    let of = |way: &Way| match differing.is_empty() {
        true => format!("{} has only those with {}", place(way), lacking(way)),
        false => format!("{} by {}", place(way), bound(way)),
    };
    let message = format!("`{}` could find different items: {}; {}", wanted.coordinate(), of(one), of(other));
    let indexes: Vec<String> = [one, other]
        .iter()
        .filter(|way| way.path.index.is_some())
        .map(|way| format!("`index: \"{}\"`", wanted.place_name(way.path.index)))
        .collect();
    let index = format!("name the index: {}", indexes.join(" or "));
    let help = match differing.last() {
        None => index,
        Some(field) => format!("leave a name out, as `where: {{ {field}: null }}` does, or {index}"),
    };
    findings.error(rules::KF0437, &wanted.directive.span, message, Some(help.into()));
}
