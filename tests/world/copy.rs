//! One copy of the gateway: what a server of Keyfold has between its requests and its store, without the sockets.

use crate::bus::Wires;
use crate::gates::TakenGate;
use crate::network::{Network, STEP};
use crate::seams;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::model::Model;
use keyfold::serve::admission::Quotas;
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::backend::request_summary::RequestSummary;
use keyfold::serve::backend::{Backend, Execution, Invocation, MayNotWrite, OperationAnswer};
use keyfold::serve::client::ClientAddress;
use keyfold::serve::documents::lookup::Documents;
use keyfold::serve::endpoint::Endpoint;
use keyfold::serve::settings::{RequestLimits, SharedLimits};
use keyfold::serve::sign_in::authenticator::Authenticator;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a request may take.
pub const REQUEST_LIMIT: Duration = Duration::from_secs(10);
/// How long it may take at a copy that does without retries until the deadline.
const IMPATIENT_LIMIT: Duration = Duration::from_millis(50);
/// The memory of a copy's cache, in bytes.
const CACHE_BYTES: u64 = 1 << 20;

/// What a world's copies are made of.
#[derive(Clone)]
pub struct Parts {
    pub network: Arc<Network>,
    pub model: Arc<Model>,
    /// Whether they keep what they read.
    pub caches: bool,
    /// Whether streams tell their caches what others write.
    pub follows: bool,
    /// The bus over which they share streams. If there is none, each reads them itself.
    pub wires: Option<Arc<Wires>>,
}

/// A copy of the gateway.
#[derive(Clone)]
pub struct Copy {
    /// Which one of all that ever began.
    pub number: usize,
    pub gateway: Gateway,
    endpoint: Arc<Endpoint>,
    /// Its subscriptions.
    pub hub: Hub,
    is_dead: Arc<AtomicBool>,
    /// Says that it dies.
    death: Arc<Notify>,
    mutations: Arc<Mutations>,
    impatient: bool,
}

/// The mutations of a copy, by the numbers of their steps.
#[derive(Default)]
struct Mutations {
    begun: Mutex<BTreeSet<usize>>,
    /// What they answered, whoever was still there.
    ended: Mutex<BTreeMap<usize, Value>>,
}

/// What runs a copy's operations.
struct CopyBackend {
    parts: Parts,
    current: CurrentGateway,
    /// A store without anything that requests share, for a copy that does without.
    alone: Box<dyn Fn() -> CurrentGateway + Send + Sync>,
    /// Makes mutations, for a copy whose writes leave its cache as it is.
    apart: CurrentGateway,
    /// By how many milliseconds the copy's clock is ahead.
    skew: i64,
    mutations: Arc<Mutations>,
}

impl Copy {
    /// Begins at a place: the copy with this number.
    pub fn start(parts: &Parts, (place, number): (usize, usize)) -> Self {
        let (is_dead, mutations) = (Arc::new(AtomicBool::new(false)), Arc::<Mutations>::default());
        let link = parts.network.link((place, number), is_dead.clone());
        let model = parts.model.clone();
        let shared = parts.wires.as_ref().map(|wires| wires.share(place, (link.clone(), is_dead.clone())));
        let gateway = move |caches| {
            let cache_bytes = if caches { CACHE_BYTES } else { 0 };
            let settings = Settings { cursor_key: b"a key for tests".to_vec(), cache_bytes, ..Settings::default() };
            Gateway::new(model.clone(), TableStore::over(link.clone()), settings)
        };
        let caches = parts.caches;
        let (serving, apart) = (gateway(caches), gateway(caches));
        let hub = if parts.follows { Hub::sharing(&serving, shared) } else { Hub::sharing(&gateway(false), shared) };
        let backend = CopyBackend {
            parts: parts.clone(),
            current: CurrentGateway::with_hub(serving.clone(), hub.clone()),
            apart: CurrentGateway::with_hub(apart, hub.clone()),
            alone: Box::new({
                let hub = hub.clone();
                move || CurrentGateway::with_hub(gateway(caches), hub.clone())
            }),
            skew: if place == 1 { parts.network.weather.skew } else { 0 },
            mutations: mutations.clone(),
        };
        Self {
            number,
            gateway: serving,
            endpoint: Arc::new(endpoint(Arc::new(backend))),
            hub,
            is_dead,
            death: Arc::default(),
            mutations,
            impatient: parts.network.taken == Some(TakenGate::Retries),
        }
    }

    /// The answer to a request; `None` if the copy dies before it. Whoever drops this has left.
    pub async fn answer(&self, request: Request) -> Option<Value> {
        let limit = if self.impatient { IMPATIENT_LIMIT } else { REQUEST_LIMIT };
        let invocation = Invocation {
            request,
            may_write: true,
            may_last: false,
            deadline: Instant::now() + limit,
            explain: false,
            summary: RequestSummary::default(),
        };
        let client = ClientAddress::new(Ipv4Addr::LOCALHOST.into());
        let quotas = &self.endpoint.quotas;
        let share = quotas.requests.take(client, 1).expect("memory for a request");
        let admission = quotas.admit(client, share).expect("a place for an operation");
        let run = async {
            match self.endpoint.run(invocation, admission).await {
                Ok(OperationAnswer::One(response)) => serde_json::from_slice(&response.await.body).unwrap(),
                _ => panic!("a query or a mutation has one response"),
            }
        };
        tokio::select! {
            biased;
            () = self.dies() => None,
            answer = run => Some(answer),
        }
    }

    /// Waits until it dies.
    pub fn dies(&self) -> impl Future<Output = ()> + use<> {
        let (death, is_dead) = (self.death.clone(), self.is_dead.clone());
        async move {
            let notified = death.notified();
            if !is_dead.load(Ordering::Relaxed) {
                notified.await;
            }
        }
    }

    pub fn die(&self) {
        self.is_dead.store(true, Ordering::Relaxed);
        self.death.notify_waiters();
    }

    /// What the mutation of a step answered, even if its client has left.
    pub fn answered(&self, step: usize) -> Option<Value> {
        self.mutations.ended.lock().unwrap().get(&step).cloned()
    }

    /// Whether it lives, and the mutation of a step has begun and will never end.
    pub fn has_dropped(&self, step: usize) -> bool {
        let (begun, ended) = (self.mutations.begun.lock().unwrap(), self.mutations.ended.lock().unwrap());
        !self.is_dead.load(Ordering::Relaxed) && begun.contains(&step) && !ended.contains_key(&step)
    }
}

fn endpoint(backend: Arc<dyn Backend>) -> Endpoint {
    let shared = SharedLimits::default();
    let quotas = Quotas::new(&shared, REQUEST_LIMIT);
    let limits = RequestLimits {
        body_limit: 100_000,
        max_batch: 1,
        header_timeout: REQUEST_LIMIT,
        keep_alive: REQUEST_LIMIT,
        body_timeout: REQUEST_LIMIT,
        request_timeout: REQUEST_LIMIT,
        write_timeout: REQUEST_LIMIT,
        shutdown_timeout: REQUEST_LIMIT,
        shared,
    };
    Endpoint {
        backend,
        limits,
        authenticator: Authenticator::off(),
        rate_limit: None,
        documents: Documents::default(),
        explain: false,
        quotas,
        telemetry: Arc::default(),
    }
}

impl Backend for CopyBackend {
    fn begin(&self, invocation: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
        let (skew, taken, mutations) = (self.skew, self.parts.network.taken, self.mutations.clone());
        let step = STEP.try_with(|step| *step).unwrap_or_default();
        let begun = match taken {
            Some(TakenGate::Budget) => (self.alone)().begin(invocation),
            Some(TakenGate::CacheDrops) if invocation.request.query.starts_with("mutation") => {
                self.apart.begin(invocation)
            }
            _ => self.current.begin(invocation),
        };
        async move {
            let Execution { writes, answer } = begun.await?;
            let OperationAnswer::One(response) = answer else { return Ok(Execution { writes, answer }) };
            // The response may be made by a task of its own.
            let response = STEP.scope(step, skewed(skew, response));
            if !writes {
                return Ok(Execution::single(false, response));
            }
            let noted = async move {
                mutations.begun.lock().unwrap().insert(step);
                let response = response.await;
                let answer = serde_json::from_slice(&response.body).unwrap();
                mutations.ended.lock().unwrap().insert(step, answer);
                response
            };
            Ok(Execution::single(taken != Some(TakenGate::Leaving), noted))
        }
        .boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        self.current.ready()
    }
}

/// Runs with a clock that is ahead by so many milliseconds.
async fn skewed(skew: i64, response: BoxFuture<'static, Response>) -> Response {
    let mut response = pin!(response);
    std::future::poll_fn(|context| seams::with_skew(skew, || response.as_mut().poll(context))).await
}
