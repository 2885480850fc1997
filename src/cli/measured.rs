//! An operation, and where its tables are, in; the calls that it makes there, by waves, out. What is expected of them
//! is not known here.

use super::items::samples::{self, Samples};
use super::output::counted;
use super::store_choice::{StoreChoice, explained, in_memory};
use super::token::{claim, claims_of};
use crate::execute::caller::Caller;
use crate::execute::gateway::Gateway;
use crate::execute::request::{Request, Settings};
use crate::plan::cost::price::{Dollars, UnitPrice};
use crate::schema::model::Model;
use crate::table::store::TableStore;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long the operation may take.
const BOUND: Duration = Duration::from_secs(30);

/// Whether and where to run an operation, and as whom.
#[derive(Debug, Args)]
pub struct RunChoice {
    /// Run the operation, too, and print the calls that it makes: on the samples in memory, or where --data,
    /// --endpoint-url or --region say
    #[arg(long)]
    pub run: bool,

    /// Directory of the sample items [default: samples, if it exists]
    #[arg(long, value_name = "DIR", requires = "run", conflicts_with_all = ["data", "endpoint_url", "region"])]
    sample: Option<PathBuf>,

    #[command(flatten)]
    store: StoreChoice,

    /// Run it as this subject, the claim `sub`
    #[arg(long, value_name = "ID", requires = "run")]
    sub: Option<String>,

    /// Another claim of the caller, as in `keyfold token`; repeat it for several
    #[arg(long = "claim", value_name = "NAME=VALUE", value_parser = claim, requires = "sub")]
    claims: Vec<(String, Value)>,
}

/// What an operation did.
#[derive(Debug, Serialize)]
pub struct Measurement {
    calls: Vec<MeasuredCall>,
    /// The request units.
    capacity: MeasuredUnits,
    /// From the first call until the response was written, in milliseconds.
    ms: f64,
    /// The bytes of the response, without what explains it.
    bytes: usize,
    errors: Vec<String>,
}

/// The request units of an operation.
#[derive(Debug, Default, Deserialize, Serialize)]
struct MeasuredUnits {
    read: f64,
    write: f64,
}

/// A call, as `extensions.keyfold` has it.
#[derive(Debug, Deserialize, Serialize)]
struct MeasuredCall {
    operation: String,
    table: String,
    index: Option<String>,
    keys: u64,
    items: u64,
    capacity: f64,
    ms: f64,
    start: f64,
    wave: u64,
}

impl RunChoice {
    /// Runs an operation.
    pub async fn measure(&self, model: Model, request: Request) -> Result<Measurement> {
        let elsewhere = self.store.is_given();
        let store = self.open(&model).await?;
        let gateway = Gateway::new(
            Arc::new(model),
            store,
            Settings { cursor_key: vec![0; 32], learned_pages: false, ..Settings::default() },
        );
        let request = Request { caller: self.caller(), ..request };
        let Ok(prepared) = gateway.prepare(&request).await else { bail!("the operation cannot be run") };
        if prepared.writes() && elsewhere {
            bail!("a mutation runs on the samples only: it would change the items of the store");
        }
        let begun = Instant::now();
        let response = gateway.run(&prepared, begun + BOUND, true).await;
        let ms = begun.elapsed().as_secs_f64() * 1_000.0;
        let mut body: Value = serde_json::from_slice(&response.body).context("the response is not JSON")?;
        let explained = body.as_object_mut().and_then(|members| members.remove("extensions")).unwrap_or_default();
        let calls = serde_json::from_value(explained["keyfold"]["calls"].clone()).unwrap_or_default();
        let capacity = serde_json::from_value(explained["keyfold"]["capacity"].clone()).unwrap_or_default();
        let errors = body["errors"].as_array().into_iter().flatten();
        let is_anonymous = self.sub.is_none();
        let message_for_terminal = |error: &Value| {
            let message = error["message"].as_str()?;
            let is_sign_in = is_anonymous && error["extensions"]["code"] == "UNAUTHENTICATED";
            Some(if is_sign_in {
                format!("{message} --sub ID runs the operation as a caller.")
            } else {
                message.to_owned()
            })
        };
        let errors = errors.filter_map(message_for_terminal).collect();
        Ok(Measurement { calls, capacity, ms, bytes: body.to_string().len(), errors })
    }

    async fn open(&self, model: &Model) -> Result<TableStore> {
        if self.store.is_given() {
            let first = model.tables.first().context("the schema has no table")?;
            return self.store.open(first).await;
        }
        let store = in_memory()?;
        store.create_missing(&model.tables).await.map_err(|error| explained(error, "cannot create the tables"))?;
        let samples = Samples::new(self.sample.as_deref());
        samples.check(&model.tables)?;
        samples::load(&store, &model.tables, &samples, Vec::new()).await?;
        Ok(store)
    }

    fn caller(&self) -> Caller {
        self.sub.as_deref().map_or_else(Caller::anonymous, |sub| Caller::signed_in(claims_of(sub, &self.claims)))
    }
}

impl Measurement {
    /// Dollars for a million such operations.
    pub fn dollars_a_million(&self, price: &UnitPrice) -> Dollars {
        price.dollars_a_million(self.capacity.read, self.capacity.write)
    }

    /// The calls as text, wave by wave, in the units of the plan's cost.
    pub fn to_text(&self, price: &UnitPrice) -> String {
        let mut text = String::from("measured\n");
        let waves = self.calls.iter().map(|call| call.wave).max().unwrap_or(0);
        for wave in 1..=waves {
            let _ = writeln!(text, "  wave {wave}");
            for call in self.calls.iter().filter(|call| call.wave == wave) {
                let place =
                    call.index.as_ref().map_or_else(|| call.table.clone(), |index| format!("{}.{index}", call.table));
                let keys = if call.operation.starts_with("Batch") {
                    format!("{} → ", counted(call.keys, "key"))
                } else {
                    String::new()
                };
                let (items, units) = (counted(call.items, "item"), units(call.capacity));
                let _ = writeln!(
                    text,
                    "    {} on {place}: {keys}{items}, {units}, {:.1} ms after {:.1} ms",
                    call.operation, call.ms, call.start
                );
            }
        }
        let capacity = self.calls.iter().map(|call| call.capacity).fold(0.0, |sum, units| sum + units);
        let (calls, waves) = (counted(self.calls.len() as u64, "call"), counted(waves, "wave"));
        let _ = writeln!(
            text,
            "  in all: {calls} in {waves}, {}, {:.1} ms, {} bytes",
            units(capacity),
            self.ms,
            self.bytes
        );
        let _ = writeln!(text, "  on demand: {} a million operations", self.dollars_a_million(price));
        text.extend(self.errors.iter().map(|message| format!("  error: {message}\n")));
        text
    }
}

fn units(capacity: f64) -> String {
    format!("{capacity} {}", if capacity == 1.0 { "unit" } else { "units" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_reported_by_waves() {
        let call = |operation: &str, index: Option<&str>, keys, items, wave| MeasuredCall {
            operation: operation.into(),
            table: "t".into(),
            index: index.map(str::to_owned),
            keys,
            items,
            capacity: items as f64 / 2.0,
            ms: 1.25,
            start: 0.05,
            wave,
        };
        let calls = vec![
            call("Query", Some("i"), 1, 2, 1),
            call("GetItem", None, 1, 1, 1),
            call("BatchGetItem", None, 3, 3, 2),
        ];
        let capacity = MeasuredUnits { read: 3.0, write: 0.0 };
        let measurement = Measurement { calls, capacity, ms: 4.0, bytes: 120, errors: vec!["no".into()] };
        let expected = "\
measured
  wave 1
    Query on t.i: 2 items, 1 unit, 1.2 ms after 0.1 ms
    GetItem on t: 1 item, 0.5 units, 1.2 ms after 0.1 ms
  wave 2
    BatchGetItem on t: 3 keys → 3 items, 1.5 units, 1.2 ms after 0.1 ms
  in all: 3 calls in 2 waves, 3 units, 4.0 ms, 120 bytes
  on demand: $0.3750 a million operations
  error: no
";
        assert_eq!(measurement.to_text(&UnitPrice::default()), expected);
    }
}
