//! Where the tables are in; a store that the loaders and the commands call out. The SDK's client underneath is the same in every case.

use super::client;
use super::connector::Connector;
use super::embedded::{Engine, Sweeper};
use super::error::TableError;
use super::retry::Attempts;
use super::retry_budget::RetryBudget;
use super::tap::CallTap;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::HttpClient;
use std::path::Path;
use std::sync::Arc;
use tokio::time::Instant;

/// A store of tables; cheap to clone. The embedded store closes when its last clone is gone.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    client: Client,
    retries: RetryBudget,
    embedded: Option<Embedded>,
}

struct Embedded {
    engine: Arc<Engine>,
    _sweeper: Option<Sweeper>,
}

impl Store {
    /// The embedded store in memory. Inside a Tokio run time it deletes expired items every minute.
    pub fn in_memory() -> Result<Self, TableError> {
        Ok(Self::embedded(Engine::in_memory()?, None))
    }

    /// The embedded store in memory, with somebody who is told of each call.
    pub fn in_memory_tapped(tap: Arc<dyn CallTap>) -> Result<Self, TableError> {
        Ok(Self::embedded(Engine::in_memory()?, Some(tap)))
    }

    /// The embedded store in a directory, made if it is missing; a lock file refuses a second process. What was answered is on disk.
    /// Inside a Tokio run time it deletes expired items every minute.
    pub fn in_directory(directory: &Path) -> Result<Self, TableError> {
        Ok(Self::embedded(Engine::in_directory(directory)?, None))
    }

    /// DynamoDB, or a compatible server at `endpoint_url`; credentials and region from the environment, as AWS tools take them.
    /// No call is made yet: whether it answers, [`Store::ready`] tells.
    pub async fn connect(endpoint_url: Option<&str>, region: Option<&str>) -> Result<Self, TableError> {
        Ok(Self::on(client::connect(endpoint_url, region).await?))
    }

    /// A store whose calls go through this HTTP client, with the settings of [`Store::connect`]: for tests that answer in a server's place.
    pub fn over(http: impl HttpClient + 'static) -> Self {
        Self::on(client::over(http))
    }

    fn on(client: Client) -> Self {
        Self { inner: Arc::new(Inner { client, retries: RetryBudget::new(), embedded: None }) }
    }

    fn embedded(engine: Arc<Engine>, tap: Option<Arc<dyn CallTap>>) -> Self {
        let client = client::embedded(Connector { engine: engine.clone(), tap });
        let embedded = Some(Embedded { _sweeper: Sweeper::start(&engine), engine });
        Self { inner: Arc::new(Inner { client, retries: RetryBudget::new(), embedded }) }
    }

    pub(super) fn client(&self) -> &Client {
        &self.inner.client
    }

    /// What bounds the retries of all requests together.
    pub(super) fn retries(&self) -> &RetryBudget {
        &self.inner.retries
    }

    /// A call that is attempted until it is answered or the deadline passes.
    pub(super) fn attempts<'a>(&'a self, operation: &'static str, table: &'a str, deadline: Instant) -> Attempts<'a> {
        Attempts { operation, table, deadline, budget: self.retries() }
    }

    /// The embedded engine, if this is the embedded store.
    pub(super) fn engine(&self) -> Option<&Arc<Engine>> {
        self.inner.embedded.as_ref().map(|embedded| &embedded.engine)
    }
}
