//! `keyfold dev`: a schema on an embedded store, with tables and samples made and the schema reloaded when it changes.

use super::reload::Reload;
use super::samples::{self, Samples};
use super::schema_file::{self, SchemaChoice};
use super::server::{self, Server};
use super::store_choice::{embedded, explained, variable};
use super::{output, reload};
use crate::execute::gateway::Gateway;
use crate::schema::model::Model;
use crate::serve::logging;
use crate::serve::settings::ServerSettings;
use crate::table::store::Store;
use anyhow::{Result, ensure};
use clap::Args;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Serve the API from an embedded store, with nothing to set up
///
/// The tables are made and sample items are loaded into empty ones; the schema is reloaded when its file changes.
#[derive(Debug, Args)]
pub struct Dev {
    #[command(flatten)]
    choice: SchemaChoice,

    /// Keep the items in memory, gone when the process ends [default]
    #[arg(long, conflicts_with = "data")]
    memory: bool,

    /// Keep the items in this directory, made if it is missing [env: KEYFOLD_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Directory of the sample items, one <table>.jsonl for each table [default: samples, if it is there]
    #[arg(long, value_name = "DIR", conflicts_with = "no_sample")]
    sample: Option<PathBuf>,

    /// Load no sample items
    #[arg(long)]
    no_sample: bool,

    #[command(flatten)]
    settings: ServerSettings,
}

impl Dev {
    /// Runs the command until it is asked to stop.
    pub async fn run(mut self) -> Result<ExitCode> {
        if !self.memory && self.data.is_none() {
            self.data = variable("KEYFOLD_DATA").map(PathBuf::from);
        }
        logging::start(&self.settings.log)?;
        let loaded = schema_file::load(&self.choice.schema)?;
        let store = self.open()?;
        store.create_missing(&loaded.model.tables).await.map_err(|error| explained(error, "the tables could not be made"))?;
        let differences = store.differences(&loaded.model.tables).await.map_err(|error| explained(error, "cannot look at the tables"))?;
        ensure!(
            differences.is_empty(),
            "the tables that are there are not as the schema says; name another directory with --data, or delete this one\n  {}",
            differences.join("\n  ")
        );
        let samples = samples::load(&store, &loaded.model.tables, &self.samples()).await?;

        let cursor_key = self.settings.cursor_key.clone().map_or_else(|| key_of(&loaded.text), String::into_bytes);
        let server = Server::bind(self.settings.clone(), "127.0.0.1:4000", true).await?;
        output::print(&self.banner(&server, &loaded.model, &samples))?;
        let settings = server.gateway_settings(cursor_key);
        let current = server::current(Gateway::new(Arc::new(loaded.model), store.clone(), settings.clone()));
        let reload = Reload { path: self.choice.schema, store, settings, current: current.clone() };
        let watching = tokio::spawn(reload::watch(reload, loaded.text));
        let ended = server.run(current).await;
        watching.abort();
        ended
    }

    fn open(&self) -> Result<Store> {
        match &self.data {
            None => Store::in_memory().map_err(|error| explained(error, "cannot make a store in memory")),
            Some(directory) => embedded(directory),
        }
    }

    fn samples(&self) -> Samples<'_> {
        match (&self.sample, self.no_sample) {
            (_, true) => Samples::None,
            (Some(directory), false) => Samples::In(directory),
            (None, false) => Samples::IfThere(Path::new("samples")),
        }
    }

    fn banner(&self, server: &Server, model: &Model, samples: &[(String, u64)]) -> String {
        let address = browsable(server.address);
        let store = match &self.data {
            None => "in memory, gone when this process ends (--data DIR keeps it)".to_owned(),
            Some(directory) => directory.display().to_string(),
        };
        let tables = model.tables.iter().map(|table| match samples.iter().find(|(name, _)| *name == table.name) {
            Some((name, items)) => format!("{name} ({items} sample items)"),
            None => table.name.clone(),
        });
        let mut lines = vec![("GraphQL", format!("http://{address}/graphql"))];
        if server.has_playground() {
            lines.push(("GraphiQL", format!("http://{address}/")));
        }
        lines.push(("Schema", format!("{}, reloaded when it changes", self.choice.schema.display())));
        lines.push(("Store", store));
        lines.push(("Tables", tables.collect::<Vec<_>>().join(", ")));
        let rows: Vec<Vec<String>> = lines.into_iter().map(|(name, text)| vec![format!("  {name}"), text]).collect();
        format!("\n  Keyfold {}\n\n{}\n  Ctrl-C stops it.\n\n", env!("CARGO_PKG_VERSION"), output::aligned(&rows))
    }
}

/// The same key whenever the same schema is served, so that cursors survive a restart. It guards nothing here that is worth a secret.
fn key_of(schema: &str) -> Vec<u8> {
    Sha256::new().chain_update("keyfold dev cursors\0").chain_update(schema).finalize().to_vec()
}

/// An address that a browser can open: where the server listens on all, this machine's own.
fn browsable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() { SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port()) } else { address }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_cursor_key_follows_from_the_schema() {
        assert_eq!(key_of("type Query { a: Int }"), key_of("type Query { a: Int }"));
        assert_ne!(key_of("type Query { a: Int }"), key_of("type Query { b: Int }"));
    }

    #[test]
    fn an_address_for_all_is_shown_as_this_machine() {
        assert_eq!(browsable("0.0.0.0:4000".parse().unwrap()).to_string(), "127.0.0.1:4000");
        assert_eq!(browsable("[::1]:4000".parse().unwrap()).to_string(), "[::1]:4000");
    }
}
