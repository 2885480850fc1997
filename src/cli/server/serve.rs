//! `keyfold serve`: a schema in, its API on existing tables out.

use super::bus::BusSettings;
use super::follow::reload::{Reload, StoreOfTables, Watching};
use super::follow::unfit_documents::DocumentCheck;
use super::run::Server;
use super::signals::Hangups;
use crate::cli::schema_file::{self, LoadedSchema, SchemaChoice};
use crate::cli::store_choice::{Remote, explained, reachable};
use crate::execute::gateway::Gateway;
use crate::execute::page::cursor::random_secret;
use crate::execute::watch::hub::Hub;
use crate::schema::table::Table;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::lambda::runtime_api::RuntimeApi;
use crate::serve::lambda::settings::LambdaSettings;
use crate::serve::logging;
use crate::serve::settings::ServerSettings;
use crate::serve::sign_in::authenticator::Authenticator;
use crate::table::store::{ClientKind, TableStore};
use crate::table::stream::shared::source::SharedStreams;
use anyhow::{Context, Result, bail};
use clap::{ArgAction, Args};
use std::collections::BTreeSet;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How long the comparison of the tables with the schema may take.
const DESCRIBE_BOUND: Duration = Duration::from_secs(30);

/// Serve the API from DynamoDB, on existing tables that match the schema
#[derive(Debug, Args)]
pub struct Serve {
    #[command(flatten)]
    choice: SchemaChoice,

    #[command(flatten)]
    remote: Remote,

    /// Client that calls the tables: "direct" is Keyfold's own, "sdk" is the AWS SDK, which needs more CPU time
    #[arg(long, env = ClientKind::VARIABLE, value_name = "NAME", default_value = "direct")]
    client: ClientKind,

    /// Most reads to make a second time because they take far longer than usual, in percent of all reads; 0 for none
    #[arg(long, env = "KEYFOLD_HEDGE", value_name = "PERCENT", default_value = "5", value_parser = share)]
    hedge: f64,

    #[command(flatten)]
    bus: BusSettings,

    /// Load the schema again when its file changes; SIGHUP does so in any case
    #[arg(long, env = "KEYFOLD_RELOAD", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          action = ArgAction::Set, default_value_t = true, default_missing_value = "true")]
    reload: bool,

    #[command(flatten)]
    lambda: LambdaSettings,

    #[command(flatten)]
    settings: ServerSettings,
}

/// All that is there before the first request.
struct Ready {
    server: Server,
    current: Arc<CurrentGateway>,
    authenticator: Authenticator,
    shared: Option<SharedStreams>,
    reload: Reload,
    watching: Watching,
}

impl Serve {
    /// Runs the command until it is asked to stop. Where the runtime API of Lambda is in the environment, requests are
    /// the invocations of a Lambda function.
    pub async fn run(self) -> Result<ExitCode> {
        logging::start(&self.settings.log)?;
        // From here on, a signal to reload is kept, and does not end the process.
        let hangups = Hangups::listen()?;
        let lambda = RuntimeApi::from_environment()?;
        let ready = self.ready(lambda.as_ref()).await;
        if let (Err(error), Some(lambda)) = (&ready, &lambda) {
            lambda.report(&format!("{error:#}")).await;
        }
        let Ready { server, current, authenticator, shared, reload, watching } = ready?;
        let following = tokio::spawn(reload.follow(watching, hangups));
        let ended = server.run(current, authenticator, None).await;
        following.abort();
        if let Some(shared) = shared {
            shared.close().await;
        }
        ended
    }

    async fn ready(self, lambda: Option<&RuntimeApi>) -> Result<Ready> {
        // The root certificates are read meanwhile.
        let store = tokio::spawn({
            let remote = self.remote.clone();
            async move { remote.store().await }
        });
        let authenticator = self.settings.sign_in.authenticator(None)?;
        let LoadedSchema { text, model, .. } = schema_file::load(&self.choice.schema)?;
        schema_file::check_sign_in(&self.choice.schema, &model, authenticator.is_on())?;
        let store = store.await.context("the task that connects has ended")??.with_client(self.client);
        let needed: Vec<_> = model.tables.iter().cloned().chain(self.bus.table()).collect();
        let differences = differences(&store, (&needed, &model.watched_tables())).await?;
        if !differences.is_empty() {
            let option = if self.bus.table().is_some() { " --lease-table" } else { "" };
            let help = format!("`keyfold tables{option}` prints the requests that create them.");
            bail!("the tables do not match {}\n  {}\n{help}", self.choice.schema.display(), differences.join("\n  "));
        }
        let cursor_key = self.settings.cursor_key.clone().map_or_else(key_of_process, String::into_bytes);
        let tables: Vec<_> = model.tables.iter().map(|table| table.name.as_str()).collect();
        let (schema, tables) = (self.choice.schema.display(), tables.join(","));
        let server = match lambda {
            None => Server::bind(self.settings, "0.0.0.0:4000", false).await?,
            Some(RuntimeApi { function, .. }) => {
                if let Some(listen) = &self.settings.listen {
                    tracing::warn!(
                        listen,
                        "--listen has no effect: the requests of a Lambda function come from its runtime API"
                    );
                }
                if let Some(address) = &self.settings.telemetry.metrics_listen {
                    tracing::warn!(address, "--metrics-listen has no effect: nobody can reach a Lambda function there");
                }
                tracing::info!(function, streaming = self.lambda.lambda_streaming, %schema, tables, "serving as a Lambda function");
                Server::invoked(self.settings, self.lambda)?
            }
        };
        if let Some(address) = server.address {
            tracing::info!(%address, %schema, tables, "serving");
        }
        let shared = self.bus.connect(store.clone()).await?;
        let tables = StoreOfTables::Given { store, hedge: self.hedge };
        let (settings, gateway_store) = (server.gateway_settings(cursor_key), tables.store_for(&model));
        let gateway = Gateway::new(Arc::new(model), gateway_store, settings.clone());
        let hub = Hub::sharing(&gateway, shared.clone());
        let current = Arc::new(CurrentGateway::with_hub(gateway, hub));
        let reload = Reload {
            path: self.choice.schema,
            tables,
            documents: server.documents(),
            settings,
            can_sign_in: authenticator.is_on(),
            current: current.clone(),
            news: None,
            check: DocumentCheck::default(),
        };
        lambda.is_none().then(|| reload.check_documents());
        // The files of a Lambda function never change.
        let watching = if self.reload && lambda.is_none() { Watching::settled(text) } else { Watching::Off };
        Ok(Ready { server, current, authenticator, shared, reload, watching })
    }
}

/// What differs between the tables and the schema. That no server answers is known within five seconds, and is the
/// error then. The calls are made side by side, because a Lambda function waits for each round trip.
async fn differences(store: &TableStore, (tables, watched): (&[Table], &BTreeSet<usize>)) -> Result<Vec<String>> {
    let mut reached = pin!(reachable(store, tables));
    let mut compared = pin!(timeout(DESCRIBE_BOUND, store.differences_and_streams(tables, watched)));
    let compared = tokio::select! {
        biased;
        reached = reached.as_mut() => {
            reached?;
            compared.await
        }
        compared = compared.as_mut() => {
            reached.await?;
            compared
        }
    };
    compared
        .with_context(|| format!("the tables could not be described within {} seconds", DESCRIBE_BOUND.as_secs()))?
        .map_err(|error| explained(error, "cannot describe the tables"))
}

fn key_of_process() -> Vec<u8> {
    tracing::warn!("no --cursor-key is set: cursors are valid in this process only");
    random_secret()
}

/// Reads a percentage as a share of 1.
fn share(text: &str) -> Result<f64, String> {
    match text.trim_end_matches('%').parse::<f64>() {
        Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("write a percentage from 0 to 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_written_in_percent() {
        assert_eq!((share("5"), share("2.5%"), share("0"), share("100")), (Ok(0.05), Ok(0.025), Ok(0.0), Ok(1.0)));
        for wrong in ["", "-1", "101", "a", "NaN", "5 %"] {
            assert!(share(wrong).is_err(), "{wrong}");
        }
    }
}
