//! Where the tables are in, a store over the AWS SDK out: DynamoDB, a compatible server, or the embedded engine, which takes the calls of
//! requests itself.

use super::client::{self, ConfiguredClient};
use crate::table::attempt::attempts::{Attempts, CallMeans};
use crate::table::attempt::maker::CallMaker;
use crate::table::call_scope::CallScope;
use crate::table::client::connection::DynamoConnection;
use crate::table::client::maker::DirectMaker;
use crate::table::data::error::TableError;
use crate::table::embedded::connector::Connector;
use crate::table::embedded::engine::{EmbeddedEngine, Sweeper};
use crate::table::embedded::maker::EmbeddedMaker;
use crate::table::embedded::observer::CallObserver;
use crate::table::hedge::late_reads::LateReads;
use crate::table::retry::budget::RetryBudget;
use crate::table::retry::table_health::TableHealth;
use crate::table::stream::sdk_source::SdkChangeSource;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::HttpClient;
use aws_sdk_dynamodbstreams::Client as Streams;
use aws_smithy_runtime_api::client::http::HttpConnector;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;
use tokio::time::Instant;

/// A store over the AWS SDK or the embedded engine; cheap to clone. The embedded store closes when its last clone is dropped.
#[derive(Clone)]
pub struct SdkStore {
    inner: Arc<Inner>,
    /// `None` is the embedded engine itself where there is one, and otherwise the default.
    client: Option<ClientKind>,
    late_reads: Option<Arc<LateReads>>,
}

/// What makes the calls of requests. Everything about tables is called by the AWS SDK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientKind {
    /// The AWS SDK.
    Sdk,
    /// Keyfold's own client, which needs a fraction of the SDK's time.
    #[default]
    Direct,
}

impl ClientKind {
    /// The environment variable that names the client of every store.
    pub const VARIABLE: &str = "KEYFOLD_CLIENT";

    /// The client that the environment names.
    fn of_environment() -> Option<Self> {
        std::env::var(Self::VARIABLE).ok()?.parse().ok()
    }
}

impl FromStr for ClientKind {
    type Err = UnknownClient;

    fn from_str(name: &str) -> Result<Self, UnknownClient> {
        match name {
            "sdk" => Ok(Self::Sdk),
            "direct" => Ok(Self::Direct),
            _ => Err(UnknownClient),
        }
    }
}

/// A name that no client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the clients are \"sdk\" and \"direct\"")]
pub struct UnknownClient;

struct Inner {
    sdk: Client,
    streams: Streams,
    direct: DirectMaker,
    retries: RetryBudget,
    health: TableHealth,
    embedded: Option<Embedded>,
}

struct Embedded {
    maker: EmbeddedMaker,
    _sweeper: Option<Sweeper>,
}

impl SdkStore {
    /// The embedded store in memory. Inside a Tokio runtime it deletes expired items every minute.
    pub fn in_memory() -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_memory()?, None))
    }

    /// The embedded store in memory, with an observer of its calls.
    pub fn in_memory_observed(observer: Arc<dyn CallObserver>) -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_memory()?, Some(observer)))
    }

    /// The embedded store in a directory, created if it is missing. A lock file keeps a second process out. A write that was answered is on
    /// disk. Inside a Tokio runtime the store deletes expired items every minute.
    pub fn in_directory(directory: &Path) -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_directory(directory)?, None))
    }

    /// DynamoDB, or a compatible server at `endpoint_url`; credentials and region from the environment, as AWS tools take them.
    /// Makes no call yet: [`SdkStore::ready`] says whether the tables can be used.
    pub async fn connect(endpoint_url: Option<&str>, region: Option<&str>) -> Result<Self, TableError> {
        Ok(Self::on(client::connect(endpoint_url, region).await?))
    }

    /// A store whose calls go through this HTTP client, with the settings of [`SdkStore::connect`]: for tests that play the server.
    pub fn over(http: impl HttpClient + HttpConnector + Clone + 'static) -> Self {
        Self::on(client::over(http))
    }

    /// The same store, whose calls this client makes. The embedded engine then answers in place of a server.
    pub fn with_client(self, client: ClientKind) -> Self {
        Self { client: Some(client), ..self }
    }

    /// The same store, whose calls the embedded engine takes itself, whatever the environment names.
    pub fn without_client(self) -> Self {
        Self { client: None, ..self }
    }

    /// The same store, which makes late reads twice.
    pub fn with_late_reads(self, late_reads: LateReads) -> Self {
        Self { late_reads: Some(Arc::new(late_reads)), ..self }
    }

    fn on(client: ConfiguredClient) -> Self {
        Self::of(client, None)
    }

    fn embedded(engine: Arc<EmbeddedEngine>, observer: Option<Arc<dyn CallObserver>>) -> Self {
        let client = client::embedded(Connector { engine: engine.clone(), observer: observer.clone() });
        Self::of(client, Some(Embedded { _sweeper: Sweeper::start(&engine), maker: EmbeddedMaker { engine, observer } }))
    }

    fn of(ConfiguredClient { sdk, streams, network, credentials }: ConfiguredClient, embedded: Option<Embedded>) -> Self {
        let direct = DirectMaker { connection: DynamoConnection::new(network, sdk.clone(), credentials) };
        let (retries, health) = (RetryBudget::default(), TableHealth::default());
        Self {
            inner: Arc::new(Inner { sdk, streams, direct, retries, health, embedded }),
            client: ClientKind::of_environment(),
            late_reads: None,
        }
    }

    pub(in crate::table) fn client(&self) -> &Client {
        &self.inner.sdk
    }

    /// The streams of the tables.
    pub(in crate::table) fn change_source(&self) -> SdkChangeSource {
        let Inner { sdk, streams, .. } = &*self.inner;
        SdkChangeSource { tables: sdk.clone(), streams: streams.clone(), engine: self.engine().cloned() }
    }

    /// What makes late reads twice, if anything does.
    pub(in crate::table) fn late_reads(&self) -> Option<&LateReads> {
        self.late_reads.as_deref()
    }

    /// What bounds the retries of all requests together.
    pub(in crate::table) fn retries(&self) -> &RetryBudget {
        &self.inner.retries
    }

    /// Whether each table answers, and whether it throttles.
    pub(in crate::table) fn health(&self) -> &TableHealth {
        &self.inner.health
    }

    /// What the store's calls need; from here on, this one is sent. The embedded engine always answers, so it has no circuit.
    pub(in crate::table) fn caller<'a>(&'a self, scope: CallScope<'a>) -> CallMeans<'a> {
        if let Some(tally) = scope.tally {
            tally.send();
        }
        let Inner { sdk, direct, retries, health, embedded, .. } = &*self.inner;
        let maker = match (self.client, embedded) {
            (None, Some(embedded)) => CallMaker::Embedded(&embedded.maker),
            (client, _) => match client.unwrap_or_default() {
                ClientKind::Sdk => CallMaker::Sdk(sdk),
                ClientKind::Direct => CallMaker::Direct(direct),
            },
        };
        CallMeans { maker, budget: retries, health, has_circuit: embedded.is_none(), tally: scope.tally }
    }

    /// The attempts of a call about tables rather than items: they open no circuit, and none ends them.
    pub(in crate::table) fn attempts_of_admin<'a>(&'a self, operation: &'static str, table: &'a str, deadline: Instant) -> Attempts<'a> {
        Attempts { health: None, ..self.caller(deadline.into()).attempts(operation, table, deadline) }
    }

    /// The embedded engine, if this is the embedded store.
    pub(in crate::table) fn engine(&self) -> Option<&Arc<EmbeddedEngine>> {
        self.inner.embedded.as_ref().map(|embedded| &embedded.maker.engine)
    }
}
