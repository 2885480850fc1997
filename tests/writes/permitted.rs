//! Sixteen writers, and a table with troubles: every call that they lead to is in the policy that
//! `keyfold tables --format iam` prints for the schema. Reads before writes, repairs and sweeps are calls, too.

use crate::case::{Case, FIRST, WRITERS, begin, block_on, cases, law, load, together};
use crate::engine::Engine;
use crate::policy::allowed;
use crate::random_schema::Dimensions;
use keyfold::plan::tree::SingleWrites;
use std::process::Command;

/// How many operations each writer runs.
const EACH: usize = 2;
/// The most turns of others for which a call waits, before it is carried out and after.
const TURNS: usize = 4;
/// The percentage of calls that meet trouble.
const TROUBLES: u8 = 10;

#[test]
fn every_call_is_in_the_policy_of_its_schema() {
    law(cases(30), &Dimensions::default(), FIRST + WRITERS * EACH, &fails);
}

#[test]
fn every_call_of_requests_with_keys_is_in_the_policy_of_its_schema() {
    law(cases(15), &Dimensions { idempotent: true, ..Dimensions::default() }, FIRST + WRITERS * EACH, &fails);
}

/// The first call of a case that its policy does not allow, if there is one.
fn fails(case: &Case) -> Option<String> {
    let model = load(&case.schema)?;
    let engine = Engine::new(case.seed);
    block_on(async {
        begin(case, &engine, &model).await;
        engine.unsettle(TURNS, TROUBLES);
        together(case, &engine, &model, || ()).await;
    });
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("random.graphql");
    std::fs::write(&path, case.schema.sdl()).unwrap();
    let form = if engine.single_writes == SingleWrites::Call { "call" } else { "transaction" };
    let printed = Command::new(env!("CARGO_BIN_EXE_keyfold"))
        .args(["tables", "--format", "iam", "--single-writes", form, "--schema"])
        .arg(path)
        .current_dir(directory.path())
        .env_remove("KEYFOLD_CONFIG")
        .env_remove("KEYFOLD_LEASE_TABLE")
        .output()
        .unwrap();
    assert!(printed.status.success(), "{}", String::from_utf8_lossy(&printed.stderr));
    let policy = serde_json::from_slice(&printed.stdout).unwrap();
    let allowed = allowed(&policy);
    let log = engine.log(0);
    let mut needed = log.iter().flat_map(|call| &call.needs);
    needed
        .find(|right| !allowed.contains(right))
        .map(|right| format!("the policy does not allow {right:?}: {policy:#}"))
}
