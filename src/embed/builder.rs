//! What a program says of a gateway in; the gateway, or what keeps it from answering, out.

use super::gateway::EmbeddedGateway;
use super::services::OwnServices;
use crate::execute::gateway::Gateway;
use crate::execute::page::cursor::random_secret;
use crate::execute::request::Settings;
use crate::execute::service::call::{ServiceRequest, ServiceResult};
use crate::schema;
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::serve::mounted::{self, MountedParts};
use crate::serve::settings::RequestLimits;
use crate::serve::sign_in::settings::{SignInSettings, SignInSettingsError};
use crate::table::bulk::export_lines::{LineError, parse_line};
use crate::table::data::error::TableError;
use crate::table::data_store::DataStore;
use crate::table::store::TableStore;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::Instant;

/// How long the items of a program may take to be loaded.
const LOAD_LIMIT: Duration = Duration::from_secs(60);

/// A gateway that is put together. It needs a schema and a store; the rest has defaults.
#[derive(Default)]
pub struct GatewayBuilder {
    schema: Option<SchemaPlace>,
    store: Option<StorePlace>,
    items: Vec<(String, String)>,
    sign_in: SignInSettings,
    settings: Option<Settings>,
    limits: RequestLimits,
    services: OwnServices,
}

/// Where the schema is.
enum SchemaPlace {
    Text(String),
    File(PathBuf),
}

/// Where the tables are.
enum StorePlace {
    Memory,
    Directory(PathBuf),
    DynamoDb { endpoint_url: Option<String>, region: Option<String> },
    Own(Arc<dyn DataStore>),
}

/// Why there is no gateway.
#[derive(Debug, Error)]
pub enum BuildError {
    /// Nothing says what the schema is.
    #[error("the gateway has no schema: give its text by `schema`, or its file by `schema_file`")]
    NoSchema,
    /// Nothing says where the tables are.
    #[error("the gateway has no store: call `in_memory`, `in_directory`, `dynamodb`, `dynamodb_at` or `store`")]
    NoStore,
    /// The file of the schema cannot be read.
    #[error("cannot read {0}")]
    File(PathBuf, #[source] std::io::Error),
    /// The schema has mistakes: the same text that `keyfold check` prints.
    #[error("the schema has mistakes\n{0}")]
    Schema(String),
    /// The tables cannot be reached or created.
    #[error("the tables cannot be used")]
    Tables(#[from] TableError),
    /// The tables in DynamoDB are not those of the schema.
    #[error("the tables do not match the schema\n  {}", .0.join("\n  "))]
    Differences(Vec<String>),
    /// Items are for a table that the schema does not have.
    #[error("the schema has no table {0}")]
    NoTable(String),
    /// Code is for a service that the schema does not have.
    #[error("the schema has no service {0}")]
    NoService(String),
    /// Items are given for tables that are not embedded.
    #[error("items are for embedded tables only")]
    ItemsElsewhere,
    /// A line is no item.
    #[error("line {1} of the items of {0} is no item")]
    Line(String, usize, #[source] LineError),
    /// Callers cannot be checked.
    #[error("callers cannot be checked")]
    SignIn(#[from] SignInSettingsError),
}

impl EmbeddedGateway {
    /// Begins a gateway: say its schema and its store, then build it.
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder::default()
    }
}

impl GatewayBuilder {
    /// The schema, as text. `${NAME}` in it is an environment variable.
    pub fn schema(self, text: impl Into<String>) -> Self {
        Self { schema: Some(SchemaPlace::Text(text.into())), ..self }
    }

    /// The file of the schema.
    pub fn schema_file(self, path: impl Into<PathBuf>) -> Self {
        Self { schema: Some(SchemaPlace::File(path.into())), ..self }
    }

    /// Tables in memory, which end with the process.
    pub fn in_memory(self) -> Self {
        Self { store: Some(StorePlace::Memory), ..self }
    }

    /// Tables in a directory, as `keyfold dev --data` has them.
    pub fn in_directory(self, path: impl Into<PathBuf>) -> Self {
        Self { store: Some(StorePlace::Directory(path.into())), ..self }
    }

    /// Tables in DynamoDB, with the region and the credentials that other AWS tools find.
    pub fn dynamodb(self) -> Self {
        Self { store: Some(StorePlace::DynamoDb { endpoint_url: None, region: None }), ..self }
    }

    /// Tables in DynamoDB of a region, or on a compatible server such as `http://localhost:8000`.
    pub fn dynamodb_at(self, endpoint_url: Option<&str>, region: Option<&str>) -> Self {
        let [endpoint_url, region] = [endpoint_url, region].map(|given| given.map(str::to_owned));
        Self { store: Some(StorePlace::DynamoDb { endpoint_url, region }), ..self }
    }

    /// Tables in a store of the program's own.
    pub fn store(self, store: Arc<dyn DataStore>) -> Self {
        Self { store: Some(StorePlace::Own(store)), ..self }
    }

    /// Items that an embedded table is to have: lines of DynamoDB's JSON, as an export has them. They replace items
    /// with their keys.
    pub fn items(mut self, table: impl Into<String>, lines: impl Into<String>) -> Self {
        self.items.push((table.into(), lines.into()));
        self
    }

    /// Who may sign in to the routes. Without it, every request is that of an anonymous caller, or of the caller that a
    /// middleware of the program finds.
    pub fn sign_in(self, sign_in: SignInSettings) -> Self {
        Self { sign_in, ..self }
    }

    /// The code of the schema's service of this name. It gets the inputs of all objects of a call, and gives a result
    /// for each, in their order. A service with `url:` is then not called at its address, which the log says.
    pub fn service<Code, Answer>(mut self, name: impl Into<String>, code: Code) -> Self
    where
        Code: Fn(ServiceRequest) -> Answer + Send + Sync + 'static,
        Answer: Future<Output = Vec<ServiceResult>> + Send + 'static,
    {
        self.services.register(name.into(), code);
        self
    }

    /// The bounds of operations, and the secret that encrypts cursors: all processes of a gateway must share it. By
    /// default, the bounds are those of `keyfold serve`, and the secret is random.
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings: Some(settings), ..self }
    }

    /// The most time of a query or a mutation; 30 seconds by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.request_timeout = timeout;
        self
    }

    /// The gateway. Embedded tables that are missing are created; tables in DynamoDB must be those of the schema.
    pub async fn build(self) -> Result<EmbeddedGateway, BuildError> {
        let Self { schema, store, items, sign_in, settings, limits, services } = self;
        let model = Arc::new(schema.ok_or(BuildError::NoSchema)?.load()?);
        let store = store.ok_or(BuildError::NoStore)?.open(&model, &items).await?;
        let authenticator = sign_in.authenticator(None)?;
        let mut settings = settings.unwrap_or_default();
        if settings.cursor_key.is_empty() {
            settings.cursor_key = random_secret();
        }
        if let Some(name) = services.names().find(|name| model.services.iter().all(|service| service.name != **name)) {
            return Err(BuildError::NoService(name.clone()));
        }
        let declared = |name: &&String| model.services.iter().find(|service| service.name == ***name);
        for service in services.names().filter(|name| declared(name).is_some_and(|service| service.url.is_some())) {
            tracing::warn!(service, "code of the program answers for the service, so its address gets no calls");
        }
        settings.services.get_or_insert_with(|| Arc::new(services));
        let timeout = limits.request_timeout;
        let routes = |backend| mounted::routes(MountedParts { backend, authenticator, limits });
        Ok(EmbeddedGateway::new(Gateway::new(model, store, settings), routes, timeout))
    }
}

impl SchemaPlace {
    fn load(self) -> Result<Model, BuildError> {
        let (name, text) = match self {
            Self::Text(text) => ("schema.graphql".to_owned(), text),
            Self::File(path) => match std::fs::read_to_string(&path) {
                Ok(text) => (path.display().to_string(), text),
                Err(error) => return Err(BuildError::File(path, error)),
            },
        };
        match schema::load(&name, &text, &|name| std::env::var(name).ok()) {
            Ok((model, warnings)) => {
                if !warnings.list.is_empty() {
                    tracing::warn!(schema = name, "the schema has warnings\n{}", warnings.render(false));
                }
                Ok(model)
            }
            Err(mistakes) => Err(BuildError::Schema(mistakes.render(false))),
        }
    }
}

impl StorePlace {
    async fn open(self, model: &Model, items: &[(String, String)]) -> Result<Arc<dyn DataStore>, BuildError> {
        let tables = &model.tables;
        match self {
            Self::Memory => embedded(TableStore::in_memory()?, tables, items).await,
            Self::Directory(path) => embedded(TableStore::in_directory(Path::new(&path))?, tables, items).await,
            Self::Own(_) | Self::DynamoDb { .. } if !items.is_empty() => Err(BuildError::ItemsElsewhere),
            Self::Own(store) => Ok(store),
            Self::DynamoDb { endpoint_url, region } => {
                let store = TableStore::connect(endpoint_url.as_deref(), region.as_deref()).await?;
                let differences = store.differences_and_streams(tables, &model.watched_tables()).await?;
                if differences.is_empty() { Ok(store.into()) } else { Err(BuildError::Differences(differences)) }
            }
        }
    }
}

/// An embedded store with these tables and items.
async fn embedded(
    store: TableStore,
    tables: &[Table],
    items: &[(String, String)],
) -> Result<Arc<dyn DataStore>, BuildError> {
    store.create_missing(tables).await?;
    for (name, lines) in items {
        let no_table = || BuildError::NoTable(name.clone());
        let table = tables.iter().find(|table| table.name == *name).ok_or_else(no_table)?;
        let mut read = Vec::new();
        for (at, line) in lines.lines().enumerate() {
            read.extend(parse_line(line).map_err(|error| BuildError::Line(name.clone(), at + 1, error))?);
        }
        store.load(table, read, Instant::now() + LOAD_LIMIT).await?;
    }
    Ok(store.into())
}
