//! Every golden's operation has the golden's response on the model, though only parts of batches are done.

use crate::store::ModelStore;
use crate::store::chance::Chance;
use crate::store::connector::Served;
use crate::support;
use crate::support::golden::{Case, cases};
use crate::support::golden_file::Section;
use keyfold::execute::gateway::Gateway;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};

/// When the goldens run, in milliseconds since the epoch.
const NOW: u64 = 1_800_000_000_000;

/// Half of the batches are done in parts.
struct Partly(fastrand::Rng);

impl Chance for Partly {
    fn processed(&mut self, parts: usize) -> usize {
        if self.0.bool() { parts } else { self.0.usize(1..=parts) }
    }
}

#[test]
fn every_golden_has_its_response_on_the_model() {
    let (mut wrong, mut count, mut filled) = (Vec::new(), 0, BTreeMap::new());
    for case in cases().into_iter().filter(|case| has_single_keys(&case.system)) {
        count += 1;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (expected, is) = runtime.block_on(async {
            let store = match filled.get(&case.system) {
                Some(store) => ModelStore::clone(store),
                None => fill(&case.system).await,
            };
            filled.entry(case.system.clone()).or_insert_with(|| store.clone());
            responses(&case, store).await
        });
        if expected != is {
            wrong.push(format!("{}::{}\nexpected {expected}\nis       {is}", case.system, case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 100, "only {count} goldens");
    println!("{count} goldens");
}

/// Whether each key of the system's indexes is one attribute: the model knows no others.
fn has_single_keys(system: &str) -> bool {
    let model = support::model(system);
    let mut indexes = model.tables.iter().flat_map(|table| &table.indexes);
    indexes.all(|index| index.partition.len() == 1 && index.sort.len() < 2)
}

fn served(store: ModelStore) -> Served {
    Served::new(store, Box::new(Partly(fastrand::Rng::with_seed(0))), NOW)
}

/// The model with the tables and the items of a system.
async fn fill(system: &str) -> ModelStore {
    let served = served(ModelStore::default());
    support::fill(&TableStore::over(served.clone()), &support::model(system), system).await;
    served.store()
}

/// A golden's response, and that on the model.
async fn responses(case: &Case, store: ModelStore) -> (Value, Value) {
    let request = case.request().unwrap();
    let store = TableStore::over(served(store));
    let gateway = Gateway::new(support::model(&case.system), store, support::settings_of(&case.system));
    let response = support::run(&gateway, &request, false).await;
    let made = case.names().unwrap().replace(&response.to_string());
    let expected = serde_json::from_str(&case.section(Section::Response).unwrap()).unwrap();
    let is = serde_json::from_str(&made).unwrap();
    (renumbered(expected, &mut HashMap::new()), renumbered(is, &mut HashMap::new()))
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
