//! The model and other implementations of DynamoDB give the same answers to random calls. `KEYFOLD_LAW_CASES` and
//! `KEYFOLD_LAW_SEED` say how many cases are tried and which is the first.

mod compare;
mod differences;
mod peer;
mod random_calls;
mod random_expressions;
mod random_items;
mod refusals;
mod run;

use peer::{Engine, Peer, SecondStore};
use random_calls::Step;
use run::{Pair, random_steps};

fn cases(usual: u64) -> std::ops::Range<u64> {
    let set = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let first = set("KEYFOLD_LAW_SEED").unwrap_or(0);
    first..first + set("KEYFOLD_LAW_CASES").unwrap_or(usual)
}

/// Tries the cases, and fails with the fewest steps that still show a difference.
fn law(usual: u64, new_peer: &dyn Fn() -> Box<dyn Peer>) {
    let difference = |steps: &[Step]| {
        let mut peer = new_peer();
        let mut pair = Pair::new(&mut *peer);
        (pair.difference(steps), pair.calls, pair.answered)
    };
    let (mut calls, mut answered) = (0, 0);
    for seed in cases(usual) {
        let steps = random_steps(seed);
        let (found, made, not_refused) = difference(&steps);
        (calls, answered) = (calls + made, answered + not_refused);
        let Some(mut found) = found else { continue };
        if std::env::var("KEYFOLD_LAW_LIST").is_ok() {
            println!("seed {seed}: {found}\n");
            continue;
        }
        let mut steps = steps;
        let mut at = steps.len();
        while at > 0 {
            at -= 1;
            let mut fewer = steps.clone();
            fewer.remove(at);
            if let (Some(still), ..) = difference(&fewer) {
                (found, steps) = (still, fewer);
                at = at.min(steps.len());
            }
        }
        let steps: Vec<String> = steps.iter().map(|step| format!("{step:?}")).collect();
        panic!("seed {seed}: {found}\nafter\n{}", steps.join("\n"));
    }
    println!("{calls} calls, of which {answered} were answered");
    assert!(answered * 2 > calls, "the model answers {answered} of {calls} calls");
}

#[test]
fn the_embedded_engine_gives_the_same_answers() {
    law(120, &|| Box::new(Engine::new()));
}

#[test]
fn the_embedded_engine_refuses_the_same_requests() {
    let mut engine = Engine::new();
    let mut pair = Pair::new(&mut engine);
    let mut found = Vec::new();
    for (what, operation, body) in refusals::refusals() {
        let (ours, theirs) = pair.both(operation, &body);
        let is_same = compare::essence(operation, &ours) == compare::essence(operation, &theirs);
        if ours.0 == 200 || is_same == differences::TAKEN_BY_THE_ENGINE.contains(&what) {
            found.push(format!("{what}: {operation}\n  model: {}\n  engine: {}", ours.1, theirs.1));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_second_store_gives_the_same_answers() {
    if SecondStore::new().is_none() {
        println!("There is no second store: `.ci/second-store` installs it.");
        return;
    }
    law(40, &|| Box::new(SecondStore::new().unwrap()));
}
