//! `keyfold serve`: a schema on tables that exist.

use super::schema_file::{self, SchemaChoice};
use super::server::{self, Server};
use super::store_choice::{Remote, explained};
use crate::execute::gateway::Gateway;
use crate::serve::logging;
use crate::serve::settings::ServerSettings;
use anyhow::{Context, Result};
use clap::Args;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use uuid::Uuid;

/// How long the tables may take to tell what they are.
const DESCRIBE_BOUND: Duration = Duration::from_secs(30);

/// Serve the API from DynamoDB; the tables must exist as the schema says
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    choice: SchemaChoice,

    #[command(flatten)]
    remote: Remote,

    #[command(flatten)]
    settings: ServerSettings,
}

impl Serve {
    /// Runs the command until it is asked to stop.
    pub async fn run(self) -> Result<ExitCode> {
        logging::start(&self.settings.log)?;
        let model = schema_file::load(&self.choice.schema)?.model;
        let store = self.remote.connect(&model.tables).await?;
        let differences = timeout(DESCRIBE_BOUND, store.differences(&model.tables))
            .await
            .with_context(|| format!("the tables did not tell what they are within {} seconds", DESCRIBE_BOUND.as_secs()))?
            .map_err(|error| explained(error, "cannot look at the tables"))?;
        if !differences.is_empty() {
            eprintln!("error: the tables are not as {} says", self.choice.schema.display());
            for difference in &differences {
                eprintln!("  {difference}");
            }
            eprintln!("`keyfold tables` prints the requests that make them as they should be.");
            return Ok(ExitCode::FAILURE);
        }
        let cursor_key = self.settings.cursor_key.clone().map_or_else(random_key, String::into_bytes);
        let server = Server::bind(self.settings, "0.0.0.0:4000", false).await?;
        let tables: Vec<_> = model.tables.iter().map(|table| table.name.as_str()).collect();
        tracing::info!(address = %server.address, schema = %self.choice.schema.display(), tables = tables.join(","), "serving");
        let gateway = Gateway::new(Arc::new(model), store, server.gateway_settings(cursor_key));
        server.run(server::current(gateway)).await
    }
}

/// A key of this process alone. Version 4 UUIDs come from the system's source of randomness; two of them have 244 random bits.
fn random_key() -> Vec<u8> {
    tracing::warn!("no --cursor-key is set: cursors are valid until this process ends, and in no other copy of it");
    [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat()
}
