//! A gateway and settings in, a server that runs until it is asked to stop out. `keyfold dev` and `keyfold serve` share
//! it.

use super::bind::{self, ListenOption};
use super::signals::StopSignals;
use crate::execute::report::RunObserver;
use crate::execute::request;
use crate::execute::service::call::ServiceConnector;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::backend::freed_memory;
use crate::serve::browsers::host::Hosts;
use crate::serve::browsers::origins::Origins;
use crate::serve::console::development::Development;
use crate::serve::console::page::{CallerChoice, Console, PageParts};
use crate::serve::console::schema_news::SchemaNews;
use crate::serve::console::starting_text::StartingTexts;
use crate::serve::documents::lookup::Documents;
use crate::serve::documents::settings::DocumentSettings;
use crate::serve::lambda::function;
use crate::serve::lambda::settings::LambdaSettings;
use crate::serve::listener::{self, Stopped};
use crate::serve::outbound::service::HttpServices;
use crate::serve::protocols::workers::Workers;
use crate::serve::router::{Parts, Routes, WaitingParts, router, waiting};
use crate::serve::settings::{Features, ServerSettings};
use crate::serve::sign_in::authenticator::Authenticator;
use crate::serve::telemetry::metrics::Metrics;
use crate::serve::telemetry::observer::Telemetry;
use crate::serve::telemetry::tracer::Tracer;
use anyhow::{Context, Result, bail};
use futures_util::FutureExt;
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::timeout;

/// How long the server without a schema has for its last answers.
const HAND_OVER: Duration = Duration::from_secs(1);

/// Where the requests of a server come from.
enum Entrance {
    Listener(Arc<TcpListener>),
    Lambda(LambdaSettings),
}

/// A server that is bound to its address, or to the runtime API of Lambda, and does not answer yet.
pub struct Server {
    entrance: Entrance,
    settings: ServerSettings,
    features: Features,
    hosts: Hosts,
    origins: Origins,
    documents: Documents,
    first: StopSignals,
    second: StopSignals,
    telemetry: Arc<Telemetry>,
    /// Where the metrics are served.
    metrics_listener: Option<TcpListener>,
    /// The address it listens on; none as a Lambda function.
    pub address: Option<SocketAddr>,
}

impl Server {
    /// Raises the limit of open files, and binds the address of the settings, or else `default`. `development` decides
    /// the features that are not set, and whether every host is served. From here on, a signal to stop is kept for
    /// [`run`](Self::run): whoever reads the address may send one at once.
    pub async fn bind(settings: ServerSettings, default: &str, development: bool) -> Result<Self> {
        // Each connection is an open file. Many systems allow a process 1,024 unless it asks for more.
        if let Err(error) = rlimit::increase_nofile_limit(u64::MAX) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
        let wanted = settings.listen.as_deref().unwrap_or(default);
        let listener = bind::bind(ListenOption::Requests, wanted).await?;
        let address = listener.local_addr().context("cannot read the local address")?;
        let metrics = match settings.telemetry.metrics_listen.as_deref() {
            Some(wanted) => Some(bind::bind(ListenOption::Metrics, wanted).await?),
            None => None,
        };
        if let Some(metrics) = &metrics {
            tracing::info!(address = %metrics.local_addr().context("cannot read the address of the metrics")?, "the metrics are at /metrics");
        }
        let server =
            Self::at((Entrance::Listener(listener.into()), metrics), settings.clone(), address.ip(), development)?;
        Ok(Self { address: Some(address), ..server })
    }

    /// A server that answers the invocations of a Lambda function. Of its hosts, only names matter.
    pub fn invoked(settings: ServerSettings, lambda: LambdaSettings) -> Result<Self> {
        Self::at((Entrance::Lambda(lambda), None), settings, Ipv4Addr::LOCALHOST.into(), false)
    }

    fn at(
        (entrance, metrics_listener): (Entrance, Option<TcpListener>),
        settings: ServerSettings,
        address: IpAddr,
        development: bool,
    ) -> Result<Self> {
        let local = settings.local_origins.unwrap_or(development);
        let origins = Origins::read(&settings.allow_origins, local).context("--allow-origin")?;
        let (first, second) = (StopSignals::new()?, StopSignals::new()?);
        let features = settings.features.or(development);
        let restricted = development || !settings.allow_hosts.is_empty();
        let hosts = if restricted { Hosts::at(address, &settings.allow_hosts) } else { Hosts::All };
        let documents = settings.documents.open()?;
        let metrics =
            metrics_listener.is_some().then(|| Metrics::new(documents.only_trusted()).map(Arc::new)).transpose();
        let metrics = metrics.context("the metrics cannot be made")?;
        let telemetry =
            Arc::new(Telemetry { metrics, tracer: Tracer::from_environment()?, slow: settings.telemetry.slow });
        Ok(Self {
            entrance,
            settings,
            features,
            hosts,
            origins,
            documents,
            first,
            second,
            telemetry,
            metrics_listener,
            address: None,
        })
    }

    /// The documents that requests may name, and where the trusted ones are read again.
    pub fn documents(&self) -> (DocumentSettings, Documents) {
        (self.settings.documents.clone(), self.documents.clone())
    }

    /// Whether browsers get GraphiQL.
    pub fn has_playground(&self) -> bool {
        self.features.playground == Some(true)
    }

    /// Whether clients may introspect the schema.
    pub fn introspection(&self) -> bool {
        self.features.introspection == Some(true)
    }

    /// Serves until SIGINT or SIGTERM, then lets the requests that have begun finish; a second signal ends it at once.
    pub async fn run(
        self,
        current: Arc<CurrentGateway>,
        authenticator: Authenticator,
        development: Option<Development>,
    ) -> Result<ExitCode> {
        let explain = self.features.explain == Some(true);
        let console = self.has_playground().then(|| self.console(&current, &authenticator, development.as_ref()));
        let news = development.as_ref().map(|development| development.news.clone());
        let giving_back = tokio::spawn(freed_memory::give_back(current.clone()));
        let routes = router(Parts {
            backend: current,
            authenticator,
            limits: self.settings.limits.clone(),
            documents: self.documents,
            explain,
            console,
            development,
            origins: self.origins.clone(),
            hosts: self.hosts.clone(),
            telemetry: self.telemetry.clone(),
        });
        let routes = match self.entrance {
            Entrance::Listener(_) => {
                Routes { workers: Workers::start().context("cannot start the workers")?, ..routes }
            }
            // A function answers one request at a time.
            Entrance::Lambda(_) => routes,
        };
        let exposed = self.metrics_listener.zip(self.telemetry.metrics.clone());
        let exposition = exposed.map(|(listener, metrics)| {
            let (routes, limits) =
                (routes.metrics_routes(metrics, &self.settings.limits.shared), self.settings.limits.clone());
            tokio::spawn(async move { listener::serve(listener.into(), routes, &limits, std::future::pending()).await })
        });
        let (stop, at_once) = (wait_for_first_signal(self.first, news), wait_for_second_signal(self.second));
        let limits = &self.settings.limits;
        let served = async {
            match self.entrance {
                Entrance::Listener(listener) => Ok(listener::serve(listener, routes, limits, stop).await),
                Entrance::Lambda(lambda) => {
                    function::serve((routes, self.telemetry.clone()), &lambda, limits, stop).await
                }
            }
        };
        let stopped = until(served, at_once).await.transpose();
        exposition.inspect(JoinHandle::abort);
        giving_back.abort();
        let telemetry = self.telemetry;
        // It waits for the collector, on a thread of its own.
        let _ = spawn_blocking(move || telemetry.end()).await;
        match stopped? {
            Some(Stopped::Finished) => Ok(ExitCode::SUCCESS),
            Some(Stopped::CutOff) => bail!("some requests did not finish within --shutdown-timeout"),
            None => bail!("stopped without waiting for running requests"),
        }
    }

    /// Shows the mistakes of a schema in place of the API until there is one, and gives it. Gives none if the server is
    /// asked to stop.
    pub async fn wait_for<T>(&mut self, news: Arc<SchemaNews>, schema: impl Future<Output = T>) -> Option<T> {
        let limits = self.settings.limits.clone();
        let routes = waiting(WaitingParts {
            news,
            has_console: self.has_playground(),
            limits: limits.clone(),
            origins: self.origins.clone(),
            hosts: self.hosts.clone(),
            telemetry: self.telemetry.clone(),
        });
        let (right, is_right) = oneshot::channel::<()>();
        let Entrance::Listener(listener) = &self.entrance else { return Some(schema.await) };
        let mut serving = pin!(listener::serve(listener.clone(), routes, &limits, is_right.map(drop)).fuse());
        let schema = tokio::select! {
            schema = schema => Some(schema),
            _ = self.first.next() => None,
            _ = serving.as_mut() => None,
        };
        drop(right);
        // Its answers are short. A connection that is still busy then is slow, and has nothing to lose.
        drop(timeout(HAND_OVER, serving).await);
        schema
    }

    /// The page for browsers.
    fn console(
        &self,
        current: &Arc<CurrentGateway>,
        authenticator: &Authenticator,
        development: Option<&Development>,
    ) -> Console {
        let has_samples = development.is_some_and(|development| development.sample_callers.is_some());
        let callers = match (authenticator.is_on(), has_samples) {
            (false, _) => CallerChoice::None,
            (true, false) => CallerChoice::Token,
            (true, true) => CallerChoice::Samples,
        };
        let parts =
            PageParts { plan: self.features.explain == Some(true), development: development.is_some(), callers };
        let starting_texts: Arc<dyn StartingTexts> = match development {
            Some(development) => development.starting_texts.clone(),
            None => current.clone(),
        };
        Console::new(starting_texts, parts)
    }

    /// The gateway's settings.
    pub fn gateway_settings(&self, cursor_key: Vec<u8>) -> request::Settings {
        let observer = self.telemetry.is_on().then(|| self.telemetry.clone() as Arc<dyn RunObserver>);
        let services: Arc<dyn ServiceConnector> = Arc::new(HttpServices::default());
        request::Settings {
            observer,
            services: Some(services),
            ..self.settings.budgets.gateway(self.introspection(), cursor_key)
        }
    }
}

/// Waits for the signal that lets the running requests finish, and ends what would run on.
async fn wait_for_first_signal(mut signals: StopSignals, news: Option<Arc<SchemaNews>>) {
    let name = signals.next().await;
    news.inspect(|news| news.end());
    tracing::info!(signal = name, "stopping when the running requests have ended");
}

/// Waits for the signal that ends the server at once. These signals have the first one among them.
async fn wait_for_second_signal(mut signals: StopSignals) {
    signals.next().await;
    signals.next().await;
}

async fn until<T>(work: impl Future<Output = T>, end: impl Future<Output = ()>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        () = end => None,
    }
}
