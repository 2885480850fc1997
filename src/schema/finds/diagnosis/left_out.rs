//! An unserved combination in, a finding out that lists the paths which serve it only by leaving out a binding. Must
//! not choose paths.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::finds::best::{Miss, PathInputs};
use crate::schema::finds::candidates::{Ask, BareNames, Candidate, candidates, is_determined, is_there, may_stay};
use crate::schema::finds::wanted::{Binding, Bounds, FindContext, Need};
use crate::schema::model::find::{Access, SortAccess};
use crate::schema::model::source::{BindingRule, Source};

/// An existing path, and the bound fields that it leaves out.
struct Partial {
    place: String,
    used: Vec<String>,
    left: Vec<String>,
}

/// Reports the paths and what each leaves out. `None` if there is no path, or if a path leaves out a field that the
/// author bound and no key holds.
pub fn report(given: &PathInputs, miss: &Miss, findings: &mut Findings) -> Option<()> {
    let wanted = given.wanted;
    let partials = partials(given, miss);
    let written = |field: &String| given.bindings.equal.get(field).is_none_or(|bound| bound.need == Need::Always);
    let strange = |field: &String| written(field) && !wanted.in_keys(field) && !field.contains(':');
    if partials.is_empty() || partials.iter().flat_map(|partial| &partial.left).any(strange) {
        return None;
    }
    let when = match miss.when.as_slice() {
        [] => String::new(),
        names => format!(" with {}", list(&names.iter().map(String::as_str).collect::<Vec<_>>())),
    };
    let asked: Vec<String> = asked(given, miss).map(|(field, bound)| said(wanted, field, bound)).collect();
    let message = format!(
        "no key or index of `{}` uses every binding of `{}`{when}: {}",
        wanted.target.item,
        wanted.coordinate(),
        asked.join(", ")
    );
    let paths: Vec<String> = partials.iter().map(|partial| partial.to_string()).collect();
    let advice = match named(given, &partials) {
        Some(field) => format!(
            "add an index that has them all, or write `where: {{ {field}: null }}` if `{field}` should not be bound"
        ),
        None => "add an index that has them all, or use `filter:`".to_owned(),
    };
    findings.error(
        rules::KF0431,
        &wanted.directive.span,
        message,
        Some(format!("{}; {advice}", paths.join("; ")).into()),
    );
    Some(())
}

/// Whether some path leaves out a binding by the name of a parent's field, and not only bindings that the author wrote.
pub fn by_names(given: &PathInputs, miss: &Miss) -> bool {
    named(given, &partials(given, miss)).is_some()
}

fn partials(given: &PathInputs, miss: &Miss) -> Vec<Partial> {
    let wanted = given.wanted;
    let present = |name: &str| given.is_present(&miss.when, name);
    let bare = if given.fallback { BareNames::All } else { BareNames::Ids };
    let ask = Ask {
        present: &present,
        order: miss.order.field.as_deref(),
        filter: given.filter,
        bare,
        lax: true,
        some_alternatives: false,
    };
    let found = candidates(wanted, given.bindings, &ask);
    let mut partials: Vec<Partial> = Vec::new();
    for partial in found.iter().map(|candidate| partial(given, &ask, candidate)) {
        if !partials.iter().any(|known| known.place == partial.place && known.left == partial.left) {
            partials.push(partial);
        }
    }
    partials
}

fn partial(given: &PathInputs, ask: &Ask, candidate: &Candidate) -> Partial {
    let (wanted, path) = (given.wanted, &candidate.path);
    let whole = match &path.access {
        Access::Get { .. } => true,
        Access::Query { sort, .. } => path.index.is_none() && matches!(sort, SortAccess::Equal { .. }),
        Access::Scan => false,
    };
    let determined =
        whole && is_determined(wanted, path.bindings.keys().filter_map(|field| given.bindings.equal.get(field)));
    let equal = given.bindings.equal.iter().filter(|(_, bound)| is_there(bound, ask) && !may_stay(bound, determined));
    let equal = equal.map(|(field, _)| field).filter(|field| !path.bindings.contains_key(*field));
    let ranged = matches!(path.access, Access::Query { sort: SortAccess::Range { .. }, .. });
    let there = |bounds: &Bounds| bounds.all().any(|bound| is_there(bound, ask));
    let ranges = given.bindings.ranges.iter().filter(|(_, bounds)| !ranged && there(bounds)).map(|(field, _)| field);
    let place = path.index.map_or_else(|| "the table".to_owned(), |_| format!("`{}`", wanted.place_name(path.index)));
    Partial { place, used: path.bindings.keys().cloned().collect(), left: equal.chain(ranges).cloned().collect() }
}

impl std::fmt::Display for Partial {
    /// ``the table by `boardId` leaves out `listId` ``
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names =
            |fields: &[String]| list(&fields.iter().filter_map(|field| field.split(':').next()).collect::<Vec<_>>());
        match self.used.as_slice() {
            [] => write!(f, "{} leaves out {}", self.place, names(&self.left)),
            used => write!(f, "{} by {} leaves out {}", self.place, names(used), names(&self.left)),
        }
    }
}

/// A field that only a name binds and that some path leaves out.
fn named(given: &PathInputs, partials: &[Partial]) -> Option<String> {
    let is_named = |field: &&String| given.bindings.equal.get(*field).is_some_and(|bound| bound.need == Need::Named);
    partials.iter().flat_map(|partial| &partial.left).find(is_named).cloned()
}

/// The bindings that must be used. A range counts too, with one of its bounds.
fn asked<'a>(given: &'a PathInputs, miss: &'a Miss) -> impl Iterator<Item = (&'a str, &'a Binding)> {
    let there = |bound: &&Binding| bound.arguments.iter().all(|name| given.is_present(&miss.when, name));
    let equal = given.bindings.equal.iter().filter(|(_, bound)| bound.need != Need::Free);
    let ranged = given.bindings.ranges.iter().filter_map(|(field, bounds)| Some((field, bounds.all().next()?)));
    equal.chain(ranged).filter(move |(_, bound)| there(bound)).map(|(field, bound)| (field.as_str(), bound))
}

/// A binding as the author knows it: `` `listId` from `List.id` ``.
pub fn said(wanted: &FindContext, field: &str, bound: &Binding) -> String {
    let field = field.split(':').next().unwrap_or(field);
    match &bound.source {
        Source::Argument(name) => format!("`{field}` from the argument `{name}`"),
        Source::Claim(claim) if bound.rule == BindingRule::Template => format!("the claim `{claim}`"),
        Source::Claim(claim) => format!("`{field}` from the claim `{claim}`"),
        Source::Parent(own) => format!("`{field}` from `{}.{own}`", wanted.parent),
        Source::Item(item, own) => format!("`{field}` from `{item}.{own}`"),
        Source::Text(_) => format!("`{field}` from `where:`"),
    }
}
