//! The parts of a server in; its routes out: which handler answers which path, and what happens around every request.

use super::admission::Quotas;
use super::backend::Backend;
use super::browsers::host::Hosts;
use super::browsers::origins::Origins;
use super::console::development::{Development, without_schema};
use super::console::files;
use super::console::page::{self, Console};
use super::console::schema_news::{self, SchemaNews};
use super::documents::lookup::Documents;
use super::endpoint::Endpoint;
use super::http::graphql::{self, HttpEndpoint, refuse};
use super::http::health::{self, Readiness};
use super::http::media_type::{MediaType, negotiate};
use super::http::request_log::RequestLine;
use super::http::status::HttpRefusal;
use super::protocols::workers::Workers;
use super::quota::Quota;
use super::settings::{RequestLimits, SharedLimits};
use super::shutdown::OpenConnections;
use super::sign_in::authenticator::Authenticator;
use super::sign_in::rate_limit::RateLimit;
use super::telemetry::exposition;
use super::telemetry::metrics::Metrics;
use super::telemetry::observer::Telemetry;
use super::telemetry::sources::MetricSources;
use super::websocket::connection::{self, Sockets};
use axum::Router;
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::{Route, any, get};
use futures_util::future::{BoxFuture, Either, FutureExt, ready};
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tower::Service;
use tower::layer::layer_fn;

/// The most connections of those who read the metrics. Others are closed.
const METRICS_CONNECTIONS: usize = 64;

/// What the routes are made of.
pub struct Parts {
    /// Runs the operations.
    pub backend: Arc<dyn Backend>,
    /// Checks who calls.
    pub authenticator: Authenticator,
    /// Bounds of one request.
    pub limits: RequestLimits,
    /// The documents that requests may name.
    pub documents: Documents,
    /// Whether clients may ask for explanations.
    pub explain: bool,
    /// The page for browsers at `/`.
    pub console: Option<Console>,
    /// What a server for development shows besides the API; only with the console.
    pub development: Option<Development>,
    /// The origins whose pages may call the API.
    pub origins: Origins,
    /// The hosts that requests may be for.
    pub hosts: Hosts,
    /// Observes requests.
    pub telemetry: Arc<Telemetry>,
}

/// Every route of the server, and what shows when its requests are done.
pub struct Routes {
    /// Answers the requests.
    pub router: Router,
    /// What all requests share. A server that stops waits until no operation runs.
    pub quotas: Quotas,
    /// The connections of each client.
    pub clients: Arc<Quota>,
    /// How often callers may begin operations.
    pub rate_limit: Option<RateLimit>,
    /// The open connections. A server that stops asks them to close, and waits for them.
    pub connections: OpenConnections,
    /// Runs the operations. A server that stops asks it to end its subscriptions.
    pub backend: Arc<dyn Backend>,
    /// Serve the connections.
    pub workers: Workers,
}

impl Routes {
    /// Where the metrics read what the server holds.
    pub fn sources(&self) -> MetricSources {
        let (backend, quotas) = (self.backend.clone(), self.quotas.clone());
        MetricSources { backend, quotas, connections: self.clients.clone(), rate_limit: self.rate_limit.clone() }
    }

    /// The routes of the metrics, on connections of their own.
    pub fn metrics_routes(&self, metrics: Arc<Metrics>, limits: &SharedLimits) -> Routes {
        Routes {
            router: exposition::router(metrics, self.sources()),
            quotas: Quotas::new(limits, Duration::ZERO),
            clients: Quota::new(METRICS_CONNECTIONS, METRICS_CONNECTIONS),
            rate_limit: None,
            connections: OpenConnections::default(),
            backend: self.backend.clone(),
            workers: Workers::default(),
        }
    }
}

/// What the routes of a server that has no schema yet are made of.
pub struct WaitingParts {
    /// The mistakes of the schema.
    pub news: Arc<SchemaNews>,
    /// Whether browsers may see them.
    pub has_console: bool,
    /// The bounds of all requests.
    pub limits: RequestLimits,
    /// The origins whose pages may call the API.
    pub origins: Origins,
    /// The hosts that requests may be for.
    pub hosts: Hosts,
    /// Observes requests.
    pub telemetry: Arc<Telemetry>,
}

/// Every route of a server that has no schema yet. Each says what the schema's mistakes are.
pub fn waiting(parts: WaitingParts) -> Routes {
    let WaitingParts { news, has_console, limits, origins, hosts, telemetry } = parts;
    let backend: Arc<dyn Backend> = news.clone();
    let readiness = Arc::new(Readiness::new(backend.clone()));
    let mut routes = Router::new()
        .route("/graphql", any(schema_news::no_api).with_state(news.clone()))
        .route("/graphql/ws", any(schema_news::no_api).with_state(news.clone()))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready).with_state(readiness));
    if let Some(cors) = origins.cors() {
        routes = routes.layer(cors);
    }
    let routes = match has_console {
        true => routes.merge(without_schema(&news)),
        false => routes.fallback_service(any(schema_news::no_api).with_state(news)),
    };
    let around = Arc::new(Around { telemetry, hosts, origins });
    let most = limits.shared.max_connections;
    Routes {
        router: routes.layer(layer_fn(move |route| Surrounded { around: around.clone(), route })),
        quotas: Quotas::new(&limits.shared, limits.write_timeout),
        clients: Quota::new(most, most),
        rate_limit: None,
        connections: OpenConnections::default(),
        backend,
        workers: Workers::default(),
    }
}

/// Every route of the server.
pub fn router(parts: Parts) -> Routes {
    let Parts { backend, authenticator, limits, documents, explain, console, development, origins, hosts, telemetry } =
        parts;
    let readiness = Arc::new(Readiness::new(backend.clone()));
    let quotas = Quotas::new(&limits.shared, limits.write_timeout);
    let places = Quota::with_quarters(limits.shared.max_connections);
    let rate_limit = limits.shared.rate_limit.map(RateLimit::new);
    let most = limits.shared.max_connections;
    // The peer of a connection through a proxy is not a client.
    let clients = if limits.shared.trusted_proxies == 0 { Quota::with_quarters(most) } else { Quota::new(most, most) };
    let endpoint = Arc::new(Endpoint {
        backend: backend.clone(),
        limits,
        authenticator,
        rate_limit: rate_limit.clone(),
        documents,
        explain,
        quotas: quotas.clone(),
        telemetry: telemetry.clone(),
    });
    let open = OpenConnections::default();
    let sockets = Sockets { endpoint: endpoint.clone(), origins: origins.clone(), places, open: open.clone() };
    let http = HttpEndpoint { endpoint, compressor: Arc::default() };
    let has_console = console.is_some();
    let mut routes = route_paths(http, sockets, readiness, console);
    if let Some(cors) = origins.cors() {
        routes = routes.layer(cors);
    }
    if let Some(development) = development.filter(|_| has_console) {
        // Beyond the cross-origin rules: no page of another origin may read the tokens or the tables.
        routes = routes.merge(development.routes());
    }
    let routes = routes.method_not_allowed_fallback(async || refuse(MediaType::Json, &HttpRefusal::MethodOfPath));
    let around = Arc::new(Around { telemetry, hosts, origins });
    let router = routes.layer(layer_fn(move |route| Surrounded { around: around.clone(), route }));
    Routes { router, quotas, clients, rate_limit, connections: open, backend, workers: Workers::default() }
}

/// The handler of each path that every server has.
fn route_paths(http: HttpEndpoint, sockets: Sockets, readiness: Arc<Readiness>, console: Option<Console>) -> Router {
    let has_console = console.is_some();
    let routes = Router::new()
        .route("/graphql", any(graphql::handle).with_state(http))
        .route("/graphql/ws", get(connection::handle).with_state(sockets))
        .route("/health/live", get(health::live))
        .route("/health/ready", get(health::ready).with_state(readiness))
        .route("/", get(page::root).with_state(console.map(Arc::new)))
        .fallback(|headers: HeaderMap| async move {
            refuse(negotiate(&headers).unwrap_or(MediaType::Json), &HttpRefusal::NoSuchPath)
        });
    if has_console { routes.route("/console/{version}/{file}", get(files::file)) } else { routes }
}

/// What happens around every request.
struct Around {
    telemetry: Arc<Telemetry>,
    hosts: Hosts,
    origins: Origins,
}

/// A route with what happens around it. axum copies each layer, with all that it contains, for every request; a
/// middleware of functions would copy the route once more.
#[derive(Clone)]
struct Surrounded {
    around: Arc<Around>,
    route: Route,
}

impl Service<Request> for Surrounded {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Service::<Request>::poll_ready(&mut self.route, context)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let line = RequestLine::begin(self.around.telemetry.clone(), &mut request);
        self.around.origins.note_preflight(&request);
        let answer = match self.around.hosts.refusal(&request) {
            Some(refusal) => Either::Left(ready(refuse(MediaType::Json, &refusal))),
            None => Either::Right(self.route.call(request).map(|Ok(response)| response)),
        };
        line.finish(answer).map(Ok).boxed()
    }
}
