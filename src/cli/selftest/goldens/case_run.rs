//! A ground's cases in; what differs from their goldens on scratch tables out.

use super::comparison::{Difference, difference, fields_of_sets, same_calls, with_ordered_sets};
use super::systems::{Case, Ground};
use crate::cli::goldens::golden_file::Section;
use crate::cli::goldens::outcome;
use crate::cli::goldens::stock::{Stock, is_write};
use crate::cli::selftest::renamed_store::RenamedStore;
use crate::cli::selftest::scratch::Scratch;
use crate::cli::selftest::tap::Tap;
use crate::execute::gateway::Gateway;
use crate::execute::request::Settings;
use crate::execute::service::call::ServiceConnector;
use crate::plan::passes::Passes;
use crate::schema::model::Model;
use crate::table::data_store::DataStore;
use crate::table::store::TableStore;
use anyhow::{Context, Result};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Longest time of a case.
const CASE_LIMIT: Duration = Duration::from_secs(60);
/// How often a case runs whose reads may be behind what was written.
const RUNS: u32 = 3;
/// The wait before it runs again.
const WAIT: Duration = Duration::from_secs(1);

/// A ground whose tables exist and have their items.
pub struct Stage {
    /// The cases.
    pub cases: Vec<Case>,
    known: String,
    model: Arc<Model>,
    store: TableStore,
    tap: Arc<Tap>,
    stocks: Vec<Stock>,
    before: String,
    sets: BTreeSet<String>,
    services: Arc<dyn ServiceConnector>,
}

/// What came of a case.
#[derive(Debug, Default)]
pub struct CaseResult {
    /// What differs, in the last run.
    pub differences: Vec<Difference>,
    /// How often it ran before that.
    pub repetitions: u32,
}

impl Stage {
    /// Creates a ground's tables and loads its items.
    pub async fn set_up(ground: Ground, scratch: &Scratch) -> Result<Self> {
        let tap = Arc::new(Tap::recording(scratch.meter.clone()));
        let store = scratch.tapped(0, &tap);
        let Ground { name, model, items, services, cases, known } = ground;
        let mut tables = model.tables.clone();
        scratch.rename(&name, &mut tables);
        scratch.create(&tables).await?;
        let mut stocks = Vec::new();
        for (table, items) in tables.iter().zip(items) {
            stocks.push(Stock::load(&store, table, items).await?);
        }
        tap.take();
        let (before, sets) = (scratch.before(&name), fields_of_sets(&model));
        Ok(Self { cases, known, model: Arc::new(model), store, tap, stocks, before, sets, services })
    }

    /// Runs a case, and compares calls and response with the golden's. Reads that need not be consistent may be behind
    /// what was written a moment ago: where a case has such reads and differs, it runs again.
    pub async fn check(&self, case: &Case) -> Result<CaseResult> {
        let mut result = CaseResult::default();
        loop {
            let (calls, response) = self.run(case, Passes::default()).await?;
            let may_be_late = self.store.has_eventual_indexes() && calls.iter().any(reads_eventually);
            if calls.iter().any(|(operation, _)| is_write(operation)) {
                for stock in &self.stocks {
                    stock.restore(&self.store).await?;
                }
                self.tap.take();
            }
            result.differences = self.compare(case, Some(calls), response)?;
            if result.differences.is_empty() || !may_be_late || result.repetitions + 1 >= RUNS {
                return Ok(result);
            }
            result.repetitions += 1;
            sleep(WAIT).await;
        }
    }

    /// Whether a case is a query, which passes change nothing of.
    pub fn is_query(case: &Case) -> bool {
        let calls = case.golden.get(Section::Calls).unwrap_or_default();
        !case.request.query.contains("mutation") && calls.trim() != "[]"
    }

    /// Runs a query with these savings of its plan. Its response is the golden's with any of them.
    pub async fn check_passes(&self, case: &Case, passes: Passes) -> Result<Vec<Difference>> {
        let (_, response) = self.run(case, passes).await?;
        let by_plan = |found: Difference| Difference { case: format!("{} with {passes:?}", found.case), ..found };
        Ok(self.compare(case, None, response)?.into_iter().map(by_plan).collect())
    }

    async fn run(&self, case: &Case, passes: Passes) -> Result<(Vec<(String, Value)>, Value)> {
        let settings = Settings { passes, ..outcome::settings(Some(self.services.clone())) };
        let store: Arc<dyn DataStore> = Arc::new(RenamedStore::new(self.store.clone(), &self.before));
        let gateway = Gateway::new(self.model.clone(), store, settings);
        let response = outcome::respond(&gateway, &case.request, Instant::now() + CASE_LIMIT, false).await?;
        Ok((self.tap.take(), response))
    }

    /// Compares what came of a case with its golden; without calls, the response only.
    fn compare(&self, case: &Case, calls: Option<Vec<(String, Value)>>, response: Value) -> Result<Vec<Difference>> {
        let (mut names, name) = (case.names(&self.known), case.full_name());
        let mut named = |value: &Value| -> Result<Value> {
            // Tables get the names back that the golden has.
            Ok(serde_json::from_str(&names.replace(&value.to_string().replace(&self.before, "")))?)
        };
        let expected = |section| -> Result<Value> {
            let text = case.golden.get(section).with_context(|| format!("{name} has no `{}`", section.name()))?;
            Ok(serde_json::from_str(text)?)
        };
        let mut found = Vec::new();
        if let Some(calls) = calls {
            let wrote = calls.iter().any(|(operation, _)| is_write(operation));
            let list = |(operation, body): (String, Value)| json!({ "operation": operation, "body": body });
            let calls = named(&calls.into_iter().map(list).collect())?;
            let expected = expected(Section::Calls)?;
            // Only a case that writes deletes anything.
            let behind = wrote && self.store.has_eventual_indexes();
            let (expected, is) = same_calls(expected, calls, behind);
            found.extend(difference(&name, Section::Calls, (&expected, &is)));
        }
        let is = with_ordered_sets(named(&response)?, &self.sets);
        let expected = with_ordered_sets(expected(Section::Response)?, &self.sets);
        found.extend(difference(&name, Section::Response, (&expected, &is)));
        Ok(found)
    }
}

/// Whether a call reads what may be behind what was written. A batch says of each table how it is read.
fn reads_eventually((operation, body): &(String, Value)) -> bool {
    let is_strong = |part: &Value| part["ConsistentRead"] == true;
    match operation.as_str() {
        "BatchGetItem" => !body["RequestItems"].as_object().is_some_and(|tables| tables.values().all(is_strong)),
        "GetItem" | "Query" | "Scan" => !is_strong(body),
        _ => false,
    }
}
