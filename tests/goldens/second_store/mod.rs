//! A second implementation of DynamoDB: every golden's operation runs over HTTP on moto, which shares no code with the
//! embedded store, and must get the golden's response. `.ci/second-store` installs moto and runs these tests; without
//! it, they are ignored.

mod disagreement;
mod moto;
mod selftest;

use crate::support;
use crate::support::golden::{Case, cases};
use crate::support::golden_file::Section;
use disagreement::DISAGREEMENTS;
use keyfold::execute::gateway::Gateway;
use keyfold::table::store::TableStore;
use libtest_mimic::{Failed, Trial};
use moto::{Account, Moto};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use tokio::sync::OnceCell;

/// The items of one system, which no case changes: the account that holds them. The first case that reads it fills it.
#[derive(Default)]
struct ReadOnly {
    account: OnceCell<Account>,
}

/// The second store, if `.ci/second-store` has set its interpreter. It ends when the last of its owners drops it.
pub fn moto() -> Option<Arc<Moto>> {
    let python = std::env::var_os("KEYFOLD_SECOND_STORE")?;
    Some(Arc::new(Moto::start(&python)))
}

/// A test a case; ignored without the second store.
pub fn trials(moto: Option<&Arc<Moto>>) -> Vec<Trial> {
    let mut shared: BTreeMap<String, Arc<ReadOnly>> = BTreeMap::new();
    let mut trials =
        vec![Trial::test("second_store::every_disagreement_is_of_a_case", every_disagreement_is_of_a_case)];
    let own = moto.cloned();
    let proof = move || selftest::check(own.as_deref().ok_or("there is no second store")?);
    trials.push(Trial::test("second_store::keyfold_selftest", proof).with_ignored_flag(moto.is_none()));
    for case in cases() {
        let name = format!("second_store::{}::{}", case.system, case.name);
        let (own, read_only) = (moto.cloned(), shared.entry(case.system.clone()).or_default().clone());
        let run = move || check(&case, own.as_deref().ok_or("there is no second store")?, &read_only);
        trials.push(Trial::test(name, run).with_ignored_flag(moto.is_none()));
    }
    trials
}

fn every_disagreement_is_of_a_case() -> Result<(), Failed> {
    let known: BTreeSet<(String, String)> = cases().into_iter().map(|case| (case.system, case.name)).collect();
    let gone = DISAGREEMENTS.iter().find(|one| !known.contains(&(one.system.to_owned(), one.case.to_owned())));
    gone.map_or(Ok(()), |one| Err(format!("there is no case {}::{}", one.system, one.case).into()))
}

/// Runs a case's operation on the second store and compares its response with the golden.
fn check(case: &Case, moto: &Moto, read_only: &ReadOnly) -> Result<(), Failed> {
    let request = case.request()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let response = runtime.block_on(async {
        let model = support::model(&case.system);
        let fill = || async {
            let account = moto.account();
            support::fill(&TableStore::over(account.client()), &model, &case.system).await;
            account
        };
        let account = if writes(&request.query) { &fill().await } else { read_only.account.get_or_init(fill).await };
        let settings = support::settings_of(&case.system);
        let gateway = Gateway::new(model, TableStore::over(account.client()), settings);
        support::run(&gateway, &request, false).await
    });
    let made = case.names()?.replace(&response.to_string());
    let is = renumbered(serde_json::from_str(&made)?, &mut HashMap::new());
    let expected = renumbered(serde_json::from_str(&case.section(Section::Response)?)?, &mut HashMap::new());
    disagreement::compare(case, expected, is)
}

/// Whether an operation may change the store. A query that only contains the word gets its own items, too, which does
/// no harm.
fn writes(operation: &str) -> bool {
    operation.contains("mutation")
}

/// The value with its generated names numbered in the order of their first use: goldens number them starting with their
/// calls.
fn renumbered(value: Value, given: &mut HashMap<String, String>) -> Value {
    match value {
        Value::String(text) if text.starts_with('<') => {
            let kind = text.split(' ').next().unwrap_or_default();
            let next = format!("{kind} {}>", given.len() + 1);
            Value::String(given.entry(text).or_insert(next).clone())
        }
        Value::Array(values) => values.into_iter().map(|value| renumbered(value, given)).collect(),
        Value::Object(members) => members.into_iter().map(|(name, value)| (name, renumbered(value, given))).collect(),
        other => other,
    }
}
