//! Where the tables are in, their store out: DynamoDB, a compatible server, or the embedded engine, which takes the
//! calls of requests itself.

use crate::schema::table::Table;
use crate::table::attempt::attempts::Attempts;
use crate::table::call_scope::CallScope;
use crate::table::calls::batch_get_item::batch_get_items;
use crate::table::calls::batch_write::write_batch;
use crate::table::calls::call_means::CallMeans;
use crate::table::calls::get_item::get_item;
use crate::table::calls::page::read_page;
use crate::table::calls::transaction::write_all;
use crate::table::calls::write::write_one;
use crate::table::change_source::ChangeSource;
use crate::table::client::connection::DynamoConnection;
use crate::table::data::attribute::Item;
use crate::table::data::call::{Page, Query};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::{BatchWrite, WriteCall, WriteError};
use crate::table::data_store::{DataStore, GetResult, ItemRequest, Metered, usual_calls_in_flight};
use crate::table::embedded::connector::Connector;
use crate::table::embedded::engine::{EmbeddedEngine, Sweeper};
use crate::table::embedded::observer::CallObserver;
use crate::table::hedge::late_reads::LateReads;
use crate::table::makers::call_maker::CallMaker;
use crate::table::makers::direct::DirectMaker;
use crate::table::makers::embedded::EmbeddedMaker;
use crate::table::retry::budget::RetryBudget;
use crate::table::retry::table_health::TableHealth;
use crate::table::sdk::client::{self, ConfiguredClient};
use crate::table::sdk::table_state::usable;
use crate::table::stream::sdk_source::SdkChangeSource;
use crate::table::wire::Wire;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::HttpClient;
use aws_sdk_dynamodb::types::TableDescription;
use aws_sdk_dynamodbstreams::Client as Streams;
use aws_smithy_runtime_api::client::http::HttpConnector;
use futures_util::future::{BoxFuture, FutureExt, TryFutureExt};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// Longest time of a readiness check: a probe cannot wait.
const READY_LIMIT: Duration = Duration::from_millis(800);
/// Tables that are described side by side.
pub(in crate::table) const TABLES_AT_ONCE: usize = 8;
/// The usual number of calls in flight on the embedded store. Its engine makes one at a time, and an answer waits in
/// memory until its request goes on. Three quarters of them, those for many items, are more than the 32 of a request.
const EMBEDDED_CALLS: usize = 44;

/// A store over the AWS SDK or the embedded engine; cheap to clone. The embedded store closes when its last clone is
/// dropped.
#[derive(Clone)]
pub struct TableStore {
    inner: Arc<Inner>,
    /// `None` is the embedded engine itself where there is one, and otherwise the default.
    client: Option<ClientKind>,
    late_reads: Option<Arc<LateReads>>,
    wire: Option<Arc<dyn Wire>>,
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
    fn from_environment() -> Option<Self> {
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

impl TableStore {
    /// The embedded store in memory. Inside a Tokio runtime it deletes expired items every minute.
    pub fn in_memory() -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_memory()?, None))
    }

    /// The embedded store in memory, with an observer of its calls.
    pub fn in_memory_observed(observer: Arc<dyn CallObserver>) -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_memory()?, Some(observer)))
    }

    /// The embedded store in a directory, created if it is missing. A lock file keeps a second process out. A write
    /// that was answered is on disk. Inside a Tokio runtime the store deletes expired items every minute.
    pub fn in_directory(directory: &Path) -> Result<Self, TableError> {
        Ok(Self::embedded(EmbeddedEngine::in_directory(directory)?, None))
    }

    /// DynamoDB, or a compatible server at `endpoint_url`; credentials and region from the environment, as AWS tools
    /// take them. Makes no call yet: [`TableStore::ready`] says whether the tables can be used.
    pub async fn connect(endpoint_url: Option<&str>, region: Option<&str>) -> Result<Self, TableError> {
        Ok(Self::on(client::connect(endpoint_url, region).await?))
    }

    /// A store whose calls go through this HTTP client, with the settings of [`TableStore::connect`]: for tests that
    /// play the server.
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

    /// The same store, the attempts of whose calls pass this wire. What is asked about tables and of streams does not.
    pub fn with_wire(self, wire: Arc<dyn Wire>) -> Self {
        Self { wire: Some(wire), ..self }
    }

    fn on(client: ConfiguredClient) -> Self {
        Self::new(client, None)
    }

    fn embedded(engine: Arc<EmbeddedEngine>, observer: Option<Arc<dyn CallObserver>>) -> Self {
        let client = client::embedded(Connector { engine: engine.clone(), observer: observer.clone() });
        Self::new(
            client,
            Some(Embedded { _sweeper: Sweeper::start(&engine), maker: EmbeddedMaker { engine, observer } }),
        )
    }

    fn new(
        ConfiguredClient { sdk, streams, network, credentials }: ConfiguredClient,
        embedded: Option<Embedded>,
    ) -> Self {
        let direct = DirectMaker { connection: DynamoConnection::new(network, sdk.clone(), credentials) };
        let (retries, health) = (RetryBudget::default(), TableHealth::default());
        Self {
            inner: Arc::new(Inner { sdk, streams, direct, retries, health, embedded }),
            client: ClientKind::from_environment(),
            late_reads: None,
            wire: None,
        }
    }

    /// Whether every table and its indexes can be used; the error names the first that cannot. Takes 800 ms at most.
    pub async fn ready(&self, tables: &[Table]) -> Result<(), TableError> {
        let deadline = Instant::now() + READY_LIMIT;
        if let Some(engine) = self.engine() {
            engine.ready().await?;
        }
        let asked: Vec<_> = tables.iter().map(|table| self.ready_one(table, deadline)).collect();
        stream::iter(asked).buffered(TABLES_AT_ONCE).try_collect().await
    }

    async fn ready_one(&self, table: &Table, deadline: Instant) -> Result<(), TableError> {
        if let Some(silence) = self.health().silence(&table.name) {
            return Err(silence.into());
        }
        usable(table, &self.describe(&table.name, deadline).await?)
    }

    /// Asks what a table is now.
    pub(in crate::table) async fn describe(
        &self,
        table: &str,
        deadline: Instant,
    ) -> Result<TableDescription, TableError> {
        let attempts = self.attempts_of_admin("DescribeTable", table, deadline);
        let output = attempts.send(|| self.client().describe_table().table_name(table).send()).await?;
        output.table.ok_or_else(|| {
            let detail = format!("DescribeTable {table}: the answer has no table");
            TableError { kind: TableErrorKind::Unavailable, detail }
        })
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

    /// What the store's calls need; from here on, this one is sent. The embedded engine always answers, so it has no
    /// circuit.
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
        let wire = self.wire.as_deref();
        CallMeans { maker, budget: retries, health, has_circuit: embedded.is_none(), tally: scope.tally, wire }
    }

    /// The attempts of a call about tables rather than items: they open no circuit, and none ends them.
    pub(in crate::table) fn attempts_of_admin<'a>(
        &'a self,
        operation: &'static str,
        table: &'a str,
        deadline: Instant,
    ) -> Attempts<'a> {
        Attempts { health: None, ..self.caller(deadline.into()).attempts(operation, table, deadline) }
    }

    /// The embedded engine, if this is the embedded store.
    pub(in crate::table) fn engine(&self) -> Option<&Arc<EmbeddedEngine>> {
        self.inner.embedded.as_ref().map(|embedded| &embedded.maker.engine)
    }
}

impl DataStore for TableStore {
    fn changes(&self) -> Option<Arc<dyn ChangeSource>> {
        Some(Arc::new(self.change_source()))
    }

    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let make = move || match requests {
            [only] => get_item(self.caller(scope), *only, scope.deadline)
                .map(|(result, capacity)| (vec![result], capacity))
                .boxed(),
            _ => batch_get_items(self.caller(scope), requests, scope.deadline).boxed(),
        };
        match self.late_reads() {
            Some(late) => late.get_items(requests, |table| self.health().throttles(table), make),
            None => make(),
        }
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let make = move || read_page(self.caller(scope), query, scope.deadline).boxed();
        match self.late_reads() {
            Some(late) => late.read_page(query, |table| self.health().throttles(table), make),
            None => make(),
        }
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        write_one(self.caller(scope), call, scope.deadline).boxed()
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        write_all(self.caller(scope), calls, token, scope.deadline).boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        write_batch(self.caller(scope), table, writes, scope.deadline).map_err(WriteError::from).boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        TableStore::ready(self, tables).boxed()
    }

    fn retries(&self) -> &RetryBudget {
        TableStore::retries(self)
    }

    fn has_eventual_indexes(&self) -> bool {
        self.engine().is_none()
    }

    fn usual_calls_in_flight(&self) -> usize {
        if self.engine().is_some() { EMBEDDED_CALLS } else { usual_calls_in_flight() }
    }
}

impl From<TableStore> for Arc<dyn DataStore> {
    fn from(store: TableStore) -> Self {
        Arc::new(store)
    }
}

impl From<&TableStore> for Arc<dyn DataStore> {
    fn from(store: &TableStore) -> Self {
        Arc::new(store.clone())
    }
}
