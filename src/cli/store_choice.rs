//! Options that say where the tables are in, a store out. Explains a store's errors to the user.

use crate::cli::config::file;
use crate::schema::table::Table;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::store::TableStore;
use anyhow::{Result, anyhow, ensure};
use clap::Args;
use std::path::{Path, PathBuf};

/// DynamoDB or a compatible server.
#[derive(Debug, Clone, Default, Args)]
pub struct Remote {
    /// Address of a DynamoDB-compatible server, such as http://localhost:8000 [env: KEYFOLD_ENDPOINT_URL] [default:
    /// DynamoDB of the region]
    #[arg(long, value_name = "URL")]
    pub endpoint_url: Option<String>,

    /// AWS region [env: KEYFOLD_REGION] [default: as for other AWS tools]
    #[arg(long, value_name = "REGION")]
    pub region: Option<String>,
}

/// DynamoDB, a compatible server, or the directory of an embedded store.
#[derive(Debug, Clone, Args)]
pub struct StoreChoice {
    /// Directory of an embedded store that `keyfold dev --data` created
    #[arg(long, value_name = "DIR", conflicts_with_all = ["endpoint_url", "region"])]
    pub data: Option<PathBuf>,

    #[command(flatten)]
    remote: Remote,
}

impl Remote {
    /// Connects, and describes one table to see that a server answers. Otherwise a long command would retry for
    /// minutes.
    pub async fn connect(&self, tables: &[Table]) -> Result<TableStore> {
        let store = self.store().await?;
        reachable(&store, tables).await?;
        Ok(store)
    }

    /// Whether an option, a variable or a setting says where the tables are.
    pub fn is_given(&self) -> bool {
        self.endpoint_url().is_some() || self.region().is_some()
    }

    fn endpoint_url(&self) -> Option<String> {
        self.endpoint_url.clone().or_else(|| variable("KEYFOLD_ENDPOINT_URL"))
    }

    fn region(&self) -> Option<String> {
        self.region.clone().or_else(|| variable("KEYFOLD_REGION"))
    }

    /// The store, whether or not a server answers.
    pub async fn store(&self) -> Result<TableStore> {
        let (endpoint_url, region) = (self.endpoint_url(), self.region());
        let connected = TableStore::connect(endpoint_url.as_deref(), region.as_deref()).await;
        connected.map_err(|error| explained(error, "cannot connect to DynamoDB"))
    }
}

/// Describes one of the tables to see that a server answers, within five seconds.
pub async fn reachable(store: &TableStore, tables: &[Table]) -> Result<()> {
    match tables.first() {
        Some(table) => store.reachable(table).await.map_err(|error| explained(error, "cannot reach DynamoDB")),
        None => Ok(()),
    }
}

impl StoreChoice {
    /// Whether an option says where the tables are.
    pub fn is_given(&self) -> bool {
        self.data.is_some() || self.remote.endpoint_url.is_some() || self.remote.region.is_some()
    }

    /// Opens the store to read from. A directory must exist.
    pub async fn open(&self, table: &Table) -> Result<TableStore> {
        match &self.data {
            Some(directory) => {
                ensure!(directory.is_dir(), "there is no data directory at {}", directory.display());
                embedded(directory)
            }
            None => self.remote.connect(std::slice::from_ref(table)).await,
        }
    }

    /// Opens the store to write to. It creates a missing directory and the table in it. It never creates a table
    /// elsewhere, because a table costs money.
    pub async fn open_for(&self, table: &Table) -> Result<TableStore> {
        let Some(directory) = &self.data else { return self.remote.connect(std::slice::from_ref(table)).await };
        let store = embedded(directory)?;
        let made = store.create_missing(std::slice::from_ref(table)).await;
        made.map_err(|error| explained(error, &format!("cannot create the table {}", table.name)))?;
        Ok(store)
    }
}

/// An environment variable that is not empty, or else the setting of its name in keyfold.toml. Options that exclude
/// each other read their variables here: the parser of arguments treats a variable like an option, so that one in the
/// environment would exclude the other on the command line.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty()).or_else(|| file::in_place_of(name))
}

/// The embedded store in memory, empty.
pub fn in_memory() -> Result<TableStore> {
    let store = TableStore::in_memory().map_err(|error| explained(error, "cannot create a store in memory"))?;
    Ok(store.without_client())
}

/// The embedded store in a directory.
pub fn embedded(directory: &Path) -> Result<TableStore> {
    ensure!(
        !directory.is_file(),
        "--data names a directory, and {0} is a file: write --data {0}.d, or leave the option out",
        directory.display()
    );
    Ok(TableStore::in_directory(directory).map_err(|error| anyhow!("{}", error.detail))?.without_client())
}

/// The error with what failed before it and what may help after it.
pub fn explained(error: TableError, tried: &str) -> anyhow::Error {
    let help = match error.kind {
        TableErrorKind::Denied => {
            "Set credentials as for other AWS tools: AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        }
        TableErrorKind::NoSuchTable => {
            "`keyfold tables` prints the tables of the schema, `keyfold tables --create` creates them"
        }
        TableErrorKind::Unavailable | TableErrorKind::Timeout => "Check the address, and whether the server is running",
        TableErrorKind::Storage => "Make room on the disk, or replace the data with a copy, and start again",
        TableErrorKind::Throttled => "DynamoDB is throttling requests. Try again later",
        TableErrorKind::Condition | TableErrorKind::TooMuch | TableErrorKind::Invalid => "",
    };
    let separator = if help.is_empty() { "" } else { "\n  " };
    anyhow!("{tried}: {}{separator}{help}", error.detail)
}

/// The schema's table of this name, or a message that lists its tables.
pub fn table_named<'a>(tables: &'a [Table], name: &str) -> Result<&'a Table> {
    tables.iter().find(|table| table.name == name).ok_or_else(|| {
        let known: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
        anyhow!("the schema has no table \"{name}\"; it has: {}", known.join(", "))
    })
}
