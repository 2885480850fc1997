//! `keyfold dev`: a schema in, its API on an embedded store with sample items out. A changed schema is reloaded.

use super::data::GatewayTables;
use super::data::starting::TextsOfItems;
use super::design::SchemaDesign;
use super::dev_store::{DevStore, FilledStore, Filling};
use super::file_services::FileServices;
use super::follow::first_schema::first_schema;
use super::follow::reload::{Reload, StoreOfTables, Watching};
use super::follow::unfit_documents::DocumentCheck;
use super::run::Server;
use super::signals::Hangups;
use crate::cli::items::callers::{self, SampleCaller};
use crate::cli::items::coverage;
use crate::cli::items::samples::Samples;
use crate::cli::output;
use crate::cli::schema_file::{self, LoadedSchema, SchemaChoice};
use crate::cli::store_choice::variable;
use crate::cli::token::{TokenSecret, claims_of};
use crate::execute::gateway::Gateway;
use crate::schema::ParsedSchema;
use crate::schema::model::Model;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::console::development::Development;
use crate::serve::console::sample_callers::SampleCallers;
use crate::serve::console::schema_news::SchemaNews;
use crate::serve::logging;
use crate::serve::settings::ServerSettings;
use crate::serve::sign_in::dev_issuer::DevIssuer;
use anyhow::Result;
use clap::Args;
use sha2::{Digest, Sha256};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the token of the banner is valid.
const TOKEN_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Serve the API from an embedded store, with nothing to set up
///
/// Creates the tables, loads sample items into the empty ones, and reloads the schema when its file changes.
#[derive(Debug, Args)]
pub struct Dev {
    #[command(flatten)]
    choice: SchemaChoice,

    /// Keep the items in memory until the process ends [default]
    #[arg(long, conflicts_with = "data")]
    memory: bool,

    /// Keep the items in this directory, created if it is missing [env: KEYFOLD_DATA]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Directory of the sample items, one <table>.jsonl, .json or .csv for each table [default: samples, if it exists]
    #[arg(long, value_name = "DIR", conflicts_with = "no_sample")]
    sample: Option<PathBuf>,

    /// Load no sample items
    #[arg(long)]
    no_sample: bool,

    #[command(flatten)]
    secret: TokenSecret,

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
        let issuer = self.dev_issuer();
        let authenticator = self.settings.sign_in.authenticator(issuer.as_ref().map(DevIssuer::issuer))?.explaining();
        let samples = self.samples();
        let Some((loaded, filling, server)) = self.begin(&samples).await? else { return Ok(ExitCode::SUCCESS) };
        schema_file::show(&loaded.warnings);
        schema_file::check_sign_in(&self.choice.schema, &loaded.model, authenticator.is_on())?;
        samples.check(&loaded.model.tables)?;
        let sample_directory = samples.directory().map(Path::to_owned);
        let callers = sample_directory.as_deref().map_or_else(|| Ok(Vec::new()), callers::read)?;
        let server = match server {
            Some(server) => server,
            None => self.bind().await?,
        };
        let filling = filling.await?;
        if self.data.is_some() {
            filling.check_streams(&loaded.model).await?;
        }
        let FilledStore { store, filled } = filling;

        let cursor_key = self.settings.cursor_key.clone().map_or_else(|| key_of(&loaded.text), String::into_bytes);
        output::print(&self.banner(&server, &loaded.model, (&filled, &callers)))?;
        if let Some(line) = self.first_request(&server, issuer.as_ref(), callers.first()) {
            output::print(&line)?;
        }
        let mut settings = server.gateway_settings(cursor_key);
        settings.services = settings.services.map(|others| FileServices::beside(&self.choice.schema, others));
        let model = Arc::new(loaded.model);
        let surveying = tokio::spawn(coverage::warn_of_store(store.clone(), model.clone()));
        let current = Arc::new(CurrentGateway::new(Gateway::new(model, store.clone(), settings.clone())));
        let design = SchemaDesign::new(self.choice.schema.clone(), loaded.text.clone(), sample_directory);
        let (design, news) = (Arc::new(design), SchemaNews::served());
        let reload = Reload {
            path: self.choice.schema,
            tables: StoreOfTables::Own(store),
            documents: server.documents(),
            settings,
            can_sign_in: authenticator.is_on(),
            current: current.clone(),
            news: Some(news.clone()),
            check: DocumentCheck::default(),
        };
        reload.check_documents();
        let watching = tokio::spawn(reload.follow(Watching::at_once(loaded.text), Hangups::none()));
        let first = callers.first().map(SampleCaller::caller).unwrap_or_default();
        let starting_texts = Arc::new(TextsOfItems::new(current.clone(), first));
        let callers: Vec<_> = callers.into_iter().map(|caller| (caller.name, caller.claims)).collect();
        let sample_callers = issuer.filter(|_| !callers.is_empty()).map(|issuer| SampleCallers { issuer, callers });
        let data = Arc::new(GatewayTables { current: current.clone() });
        let writes = current.clone();
        let development = Development { sample_callers, design, data, writes, starting_texts, news };
        let ended = server.run(current, authenticator, Some(development)).await;
        watching.abort();
        surveying.abort();
        ended
    }

    /// The schema, the store that is being filled, and the server if it is bound: it is if the file had mistakes. None
    /// if it is asked to stop before they are mended.
    async fn begin(&self, samples: &Samples) -> Result<Option<(LoadedSchema, Filling, Option<Server>)>> {
        let path = &self.choice.schema;
        let fill =
            |parsed: &ParsedSchema<'_>| DevStore::begin(self.data.as_deref(), samples.clone()).fill(parsed.tables());
        let mistakes = match schema_file::checked(path, schema_file::read(path)?, fill) {
            Ok((loaded, filling)) => return Ok(Some((loaded, filling, None))),
            // What is no file cannot be read again.
            Err(mistakes) if !path.is_file() => return Err(schema_file::mistaken(path, &mistakes)),
            Err(mistakes) => mistakes,
        };
        let mut server = self.bind().await?;
        output::print(&self.waiting_banner(&server))?;
        let first = first_schema(path, mistakes, &mut server, fill).await;
        Ok(first.map(|(loaded, filling)| (loaded, filling, Some(server))))
    }

    async fn bind(&self) -> Result<Server> {
        Server::bind(self.settings.clone(), "127.0.0.1:4000", true).await
    }

    /// The issuer whose tokens `keyfold token` prints. Without a place for its secret, the server runs without it.
    fn dev_issuer(&self) -> Option<DevIssuer> {
        match self.secret.open() {
            Ok(issuer) => Some(issuer),
            Err(error) => {
                tracing::warn!(reason = format!("{error:#}"), "tokens of `keyfold token` are not accepted");
                None
            }
        }
    }

    /// A command that sends an operation as the first caller of the samples, or as nobody in particular.
    fn first_request(
        &self,
        server: &Server,
        issuer: Option<&DevIssuer>,
        caller: Option<&SampleCaller>,
    ) -> Option<String> {
        let address = browsable(server.address?);
        let claims = caller.map_or_else(|| claims_of("me", &[]), |caller| caller.claims.clone());
        let ends = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + TOKEN_LIFETIME;
        let token = issuer?.token(claims, i64::try_from(ends.as_secs()).unwrap_or(i64::MAX));
        let who = caller.map_or("me", |caller| caller.name.as_str());
        Some(format!(
            "  A request as {who}, whose token is valid for a day:\n\n  curl http://{address}/graphql -H 'Content-Type: application/json' \
             -H 'Authorization: Bearer {token}' -d '{{\"query\":\"{{ __typename }}\"}}'\n\n"
        ))
    }

    fn samples(&self) -> Samples {
        if self.no_sample { Samples::None } else { Samples::new(self.sample.as_deref()) }
    }

    fn waiting_banner(&self, server: &Server) -> String {
        let address = server.address.map_or_else(String::new, |address| browsable(address).to_string());
        let path = self.choice.schema.display();
        let lines = [
            ("Mistakes", format!("http://{address}/ shows those of {path}")),
            ("GraphQL", "begins as soon as the file has none".to_owned()),
        ];
        let rows: Vec<Vec<String>> = lines.map(|(name, text)| vec![format!("  {name}"), text]).into();
        format!("\n  Keyfold {}\n\n{}\n  Ctrl-C stops it.\n\n", env!("CARGO_PKG_VERSION"), output::aligned(&rows))
    }

    fn banner(
        &self,
        server: &Server,
        model: &Model,
        (samples, callers): (&[(String, u64)], &[SampleCaller]),
    ) -> String {
        let address = server.address.map_or_else(String::new, |address| browsable(address).to_string());
        let store = match &self.data {
            None => "in memory, until this process ends (--data DIR keeps it)".to_owned(),
            Some(directory) => directory.display().to_string(),
        };
        let tables = model.tables.iter().map(|table| match samples.iter().find(|(name, _)| *name == table.name) {
            Some((name, items)) => format!("{name} ({items} sample items)"),
            None => table.name.clone(),
        });
        let mut lines = vec![("GraphQL", format!("http://{address}/graphql"))];
        if server.has_playground() {
            lines.push(("GraphiQL", format!("http://{address}/")));
            lines.push(("Data", format!("http://{address}/data")));
            lines.push(("Design", format!("http://{address}/design")));
            lines.push(("Docs", format!("http://{address}/docs")));
        }
        lines.push(("Schema", format!("{}, reloaded when it changes", self.choice.schema.display())));
        lines.push(("Store", store));
        lines.push(("Tables", tables.collect::<Vec<_>>().join(", ")));
        if let [first, others @ ..] = callers {
            let others = match others.len() {
                0 => String::new(),
                1 => ", and one other to choose from".to_owned(),
                more => format!(", and {more} others to choose from"),
            };
            lines.push(("Callers", format!("GraphiQL starts as {}{others}", first.name)));
        }
        let rows: Vec<Vec<String>> = lines.into_iter().map(|(name, text)| vec![format!("  {name}"), text]).collect();
        format!("\n  Keyfold {}\n\n{}\n  Ctrl-C stops it.\n\n", env!("CARGO_PKG_VERSION"), output::aligned(&rows))
    }
}

/// The same key for the same schema, so that cursors survive a restart. Development needs no secret.
fn key_of(schema: &str) -> Vec<u8> {
    Sha256::new().chain_update("keyfold dev cursors\0").chain_update(schema).finalize().to_vec()
}

/// An address that a browser can open: that of this machine, if the server listens on all addresses.
fn browsable(address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
    } else {
        address
    }
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
