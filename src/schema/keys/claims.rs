//! The keys of item types in, proof out that nobody can name the keys of other callers. Must not know finds.
//!
//! A claim in a key says whose items are meant. Every read and every write of the type takes it from the caller.
//! Nothing else must lead to these keys: no other template of the type, no index key of another caller's item, and no
//! type that spells them differently.

use crate::schema::diagnostics::diagnostic::Findings;
use crate::schema::diagnostics::rules;
use crate::schema::diagnostics::suggestion::list;
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::keys::ItemKeys;
use crate::schema::syntax::directives::named;
use crate::schema::table::Table;
use crate::schema::template::Template;
use crate::schema::template::part::{Part, claim_of};
use apollo_compiler::Node;
use apollo_compiler::ast::Directive;

/// Checks the claims of one type: all templates of a key have the same ones, and the primary key has those of every
/// index.
pub fn check(
    table: &Table,
    (name, directive): (&str, &Node<Directive>),
    keys: &ItemKeys,
    findings: &mut Findings,
) -> bool {
    let is_primary = |key: &str| table.is_primary_key(key);
    let primary: Vec<ClaimPath> = keys
        .keys
        .iter()
        .filter(|(key, _)| is_primary(key))
        .flat_map(|(_, all)| all)
        .flat_map(Template::claims)
        .collect();
    for (key, templates) in &keys.keys {
        let first: Vec<ClaimPath> = templates.iter().take(1).flat_map(Template::claims).collect();
        let differs = |template: &Template| {
            let own: Vec<ClaimPath> = template.claims().collect();
            !(own.iter().all(|claim| first.contains(claim)) && first.iter().all(|claim| own.contains(claim)))
        };
        let missing = first.iter().find(|claim| !primary.contains(claim));
        let (message, help) = match missing {
            Some(claim) => (
                format!("`{claim}` is in the key `{key}` of an index, but not in the primary key of `{name}`"),
                "put it into the primary key, too, or store the value in a field: `@default(value: \"{auth.…}\")`",
            ),
            None if templates.iter().any(differs) => (
                format!(
                    "the templates of `{key}` have different claims, so an item of `{name}` could be named without one"
                ),
                "use the same claims in each",
            ),
            None => continue,
        };
        findings.error(rules::KF0601, &named(directive), message, Some(help.into()));
        return false;
    }
    true
}

/// The claims of two types that do not stand in the same place, although an item of the one can have the primary key of
/// an item of the other. `None` if there are none.
pub fn apart(table: &Table, a: &ItemKeys, b: &ItemKeys) -> Option<String> {
    let templates = |keys: &'_ ItemKeys| {
        table.primary_key().filter_map(|key| keys.keys.get(&key.name)).cloned().collect::<Vec<_>>()
    };
    let (ours, theirs) = (templates(a), templates(b));
    let mut pairs = ours
        .iter()
        .zip(&theirs)
        .flat_map(|(ours, theirs)| ours.iter().flat_map(move |our| theirs.iter().map(move |their| (our, their))));
    let (one, other) = pairs.find(|(one, other)| one.overlaps(other) && !begin_alike(one, other))?;
    let claims: Vec<String> = one.claims().chain(other.claims()).map(|claim| claim.to_string()).collect();
    Some(list(&claims.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// Whether both templates have the same parts up to the last claim of either. A claim ends before any separator, so
/// texts that both read then have the same claims.
fn begin_alike(one: &Template, other: &Template) -> bool {
    let parts = |template: &Template| {
        template.parts.iter().rposition(|part| claim_of(part).is_some()).map_or(0, |last| last + 1)
    };
    let same = |position: usize| match (one.parts.get(position), other.parts.get(position)) {
        (Some(Part::Literal(one)), Some(Part::Literal(other))) => one == other,
        (Some(left @ Part::Placeholder { value: one, .. }), Some(right @ Part::Placeholder { value: other, .. })) => {
            claim_of(left) == claim_of(right) && one.name() == other.name()
        }
        _ => false,
    };
    (0..parts(one).max(parts(other))).all(same)
}
