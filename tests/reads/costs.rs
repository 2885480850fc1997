//! What a query costs is never above what `atMost` says before it runs: its calls and its read units. On random items
//! of random schemas, with rules and without, and on the items of every system.

use crate::naive::pages::Cursors;
use crate::random::operations::Maker;
use crate::random::trial::Trial;
use crate::random_operations::{MOST, SYSTEMS, cases, on_system};
use crate::random_schema::{Rng, rules};
use crate::random_schemas::Made;
use crate::support;
use keyfold::execute::caller::Caller;
use std::collections::BTreeMap;

/// Runs random operations, each page by page. Gives the first that costs more than was said.
fn excess(
    trial: &Trial<'_>,
    maker: &mut Maker<'_>,
    operations: usize,
    codes: &mut BTreeMap<String, usize>,
) -> Option<String> {
    (0..operations).find_map(|_| {
        let mut set = maker.operation();
        let mut cursors = Cursors::default();
        (0..3).find_map(|_| {
            let excess = trial.costs_more(&set, &mut cursors, codes);
            set = trial.turned(&set, &cursors, &mut maker.rng);
            excess
        })
    })
}

fn none_of(failures: &[String]) {
    assert!(failures.is_empty(), "{} operations cost more:\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn a_query_on_any_schema_costs_at_most_what_is_said_before() {
    let made = cases(20).filter_map(|seed| Some((seed, Made::of(seed)?)));
    let failures = made.filter_map(|(seed, made)| {
        let excess =
            made.tried_by(seed, &Caller::anonymous(), |trial, maker| excess(trial, maker, 12, &mut BTreeMap::new()));
        Some(format!("seed {seed}: {}\n{}", excess?, made.sdl))
    });
    none_of(&failures.take(MOST).collect::<Vec<_>>());
}

#[test]
fn a_query_on_a_schema_with_rules_costs_at_most_what_is_said_before() {
    let mut failures: Vec<String> = Vec::new();
    let (mut codes, mut hiding, mut looking_up, mut schemas) = (BTreeMap::new(), 0, 0, 0);
    for seed in cases(20) {
        let Some(made) = Made::ruled(seed) else { continue };
        schemas += 1;
        hiding += made.sdl.lines().filter(|line| line.starts_with("type ") && line.contains("hide: true")).count();
        looking_up += made.sdl.matches("@auth(exists: ").count();
        for number in 0..4 {
            let claims = rules::claims(&mut Rng::with_seed(4 * seed + number));
            let excess = made.tried_by(seed ^ number << 32, &support::caller(claims.clone()), |trial, maker| {
                excess(trial, maker, 6, &mut codes)
            });
            failures.extend(excess.map(|excess| format!("seed {seed}, {claims}: {excess}\n{}", made.sdl)));
        }
        if failures.len() >= MOST {
            break;
        }
    }
    eprintln!("{schemas} schemas, {hiding} types with hidden items, {looking_up} look-ups, {codes:?}");
    none_of(&failures);
    assert!(
        hiding >= schemas && looking_up >= schemas,
        "few rules: {hiding} hide, {looking_up} look up, in {schemas} schemas"
    );
    assert!(codes.contains_key("FORBIDDEN") && codes.contains_key("UNAUTHENTICATED"), "{codes:?}");
}

#[test]
fn a_query_costs_at_most_what_is_said_before() {
    let mut failures: Vec<String> = Vec::new();
    for system in SYSTEMS {
        on_system(system, 60, &mut |seed, trial, maker| {
            let found = excess(trial, maker, 1, &mut BTreeMap::new());
            failures.extend(
                found.filter(|_| failures.len() < MOST).map(|excess| format!("{system}, seed {seed}: {excess}")),
            );
        });
    }
    none_of(&failures);
}
