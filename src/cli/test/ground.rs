//! A schema and its samples in; the outcomes of requests, each on the same items, out.

use crate::cli::goldens::made::GeneratedNames;
use crate::cli::goldens::outcome::{self, OperationOutcome};
use crate::cli::goldens::stock::{Stock, is_write};
use crate::cli::items::callers::{self, SampleCaller};
use crate::cli::items::samples::{self, Samples};
use crate::cli::server::file_services::FileServices;
use crate::cli::service_answers::WrittenServices;
use crate::cli::store_choice::explained;
use crate::execute::gateway::Gateway;
use crate::execute::request::Request;
use crate::execute::service::call::ServiceConnector;
use crate::schema::model::Model;
use crate::table::embedded::observer::Recorder;
use crate::table::store::TableStore;
use anyhow::{Result, ensure};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// One store in memory for all cases. After a case that writes, its items are put back.
pub struct CaseGround {
    model: Arc<Model>,
    store: TableStore,
    recorder: Arc<Recorder>,
    stocks: Vec<Stock>,
    services: Arc<dyn ServiceConnector>,
    /// The callers of the samples.
    pub callers: Vec<SampleCaller>,
    /// The items of the samples as text: their values are not generated.
    known: String,
}

impl CaseGround {
    /// Creates the tables and loads the samples.
    pub async fn fill(model: Model, schema: &Path, samples: &Samples) -> Result<Self> {
        samples.check(&model.tables)?;
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone());
        let store = store.map_err(|error| explained(error, "cannot create a store in memory"))?.without_client();
        store.create_missing(&model.tables).await.map_err(|error| explained(error, "cannot create the tables"))?;
        samples::load(&store, &model.tables, samples, Vec::new()).await?;
        let (mut stocks, mut known) = (Vec::new(), String::new());
        for table in &model.tables {
            let stock = Stock::take(&store, table).await?;
            known += &stock.text();
            stocks.push(stock);
        }
        let callers = samples.directory().map_or_else(|| Ok(Vec::new()), callers::read)?;
        let services = FileServices::beside(schema, Arc::new(WrittenServices::default()));
        Ok(Self { model: Arc::new(model), store, recorder, stocks, services, callers, known })
    }

    /// Runs a request on the samples, within this time.
    pub async fn run(&self, request: &Request, limit: Duration) -> Result<OperationOutcome> {
        // A gateway of its own: nothing that another case has read is known.
        let settings = outcome::settings(Some(self.services.clone()));
        let gateway = Gateway::new(self.model.clone(), self.store.clone(), settings);
        let began = Instant::now();
        let outcome = OperationOutcome::observe(&gateway, &self.recorder, request, began + limit).await;
        let (is_late, has_failed) = (began.elapsed() >= limit, outcome.is_err());
        let wrote = outcome.as_ref().is_ok_and(|outcome| outcome.calls().iter().any(|(call, _)| is_write(call)));
        if wrote || is_late || has_failed {
            for stock in &self.stocks {
                stock.restore(&self.store).await?;
            }
        }
        let outcome = outcome?;
        ensure!(!is_late, "it took longer than {limit:?}; --case-timeout TIME gives each more");
        Ok(outcome)
    }

    /// Names for the values that a case generates: those that neither the samples nor this text have.
    pub fn names(&self, written: &str) -> GeneratedNames {
        GeneratedNames::besides([written, &self.known].concat())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::schema;

    const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK")
type Note @item(keys: { PK: "{id}", SK: "Note" }) { id: ID! text: String }
type Query { note(id: ID!): Note @find(consistent: true) }
type Mutation { write(id: ID!, text: String): Note! @put }
"#;

    #[tokio::test]
    async fn values_of_the_samples_are_not_generated_whatever_their_file() {
        let id = "7b6d3a5e-90cf-4b41-8f60-4f7a64d1a3c2";
        let directory = tempfile::tempdir().unwrap();
        let item = serde_json::json!({ "PK": { "S": id }, "SK": { "S": "Note" } });
        std::fs::write(directory.path().join("notes.json"), format!("[{item}]")).unwrap();
        let (model, _) = schema::load("s", SCHEMA, &|_| None).map_err(|mistakes| mistakes.render(false)).unwrap();
        let samples = Samples::In(directory.path().to_owned());
        let ground = CaseGround::fill(model, Path::new("schema.graphql"), &samples).await.unwrap();
        assert_eq!(ground.names("").replace(id), id);
    }

    #[tokio::test]
    async fn what_a_late_case_wrote_is_put_back_and_it_has_no_outcome() {
        let (model, _) = schema::load("s", SCHEMA, &|_| None).map_err(|mistakes| mistakes.render(false)).unwrap();
        let ground = CaseGround::fill(model, Path::new("schema.graphql"), &Samples::None).await.unwrap();
        let write = Request::new(r#"mutation { write(id: "1", text: "a") { id } }"#);
        let read = Request::new(r#"{ note(id: "1") { text } }"#);
        let limit = Duration::from_secs(60);
        for limit in [limit, Duration::ZERO] {
            let said = ground.run(&write, limit).await.err().map(|error| error.to_string());
            let late = "it took longer than 0ns; --case-timeout TIME gives each more";
            assert_eq!(said.as_deref(), limit.is_zero().then_some(late));
        }
        let outcome = ground.run(&read, limit).await.unwrap();
        assert_eq!(outcome.response(), &serde_json::json!({ "data": { "note": null } }));
    }
}
