//! The copies of the gateway in a world: each with its way to the store. One that dies takes its requests with it, and
//! another begins in its place.

use crate::network::{Network, STEP};
use crate::program::COPIES;
use crate::seams;
use crate::weather::rng_for;
use crate::work::{Work, user};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::model::Model;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};

/// How long a request may take.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// A copy of the gateway.
#[derive(Clone)]
struct Copy {
    gateway: Gateway,
    is_dead: Arc<AtomicBool>,
    /// Says that it dies.
    death: Arc<Notify>,
    /// By how many milliseconds its clock is ahead.
    skew: i64,
    /// Its subscriptions.
    hub: Hub,
}

/// All copies.
pub struct Copies {
    network: Arc<Network>,
    model: Arc<Model>,
    places: [Mutex<Copy>; COPIES],
}

impl Copy {
    fn start(network: &Arc<Network>, model: &Arc<Model>, number: usize) -> Self {
        let is_dead = Arc::new(AtomicBool::new(false));
        let store = TableStore::over(network.link(number, is_dead.clone()));
        let settings = Settings { cursor_key: b"a key for tests".to_vec(), ..Settings::default() };
        let skew = if number == 1 { network.weather.skew } else { 0 };
        let gateway = Gateway::new(model.clone(), store, settings);
        Self { hub: Hub::new(&gateway), gateway, is_dead, death: Arc::default(), skew }
    }

    /// The answer to a request; `None` if the copy dies before it.
    async fn answer(&self, work: &Work) -> Option<Value> {
        let request = Request { caller: work.caller(), ..request(work.request()) };
        let run = async {
            let response = match self.gateway.prepare(&request).await {
                Ok(prepared) => self.gateway.run(&prepared, Instant::now() + REQUEST_LIMIT, false).await,
                Err(errors) => Response::refused(&errors),
            };
            serde_json::from_slice(&response.body).unwrap()
        };
        let mut run = pin!(run);
        let run = std::future::poll_fn(|context| seams::with_skew(self.skew, || run.as_mut().poll(context)));
        tokio::select! {
            biased;
            () = until(self.death.clone(), self.is_dead.clone()) => None,
            answer = run => Some(answer),
        }
    }
}

fn request((query, variables): (&str, Value)) -> Request {
    let variables = variables.as_object().cloned().unwrap_or_default();
    Request { query: query.to_owned(), variables, ..Request::default() }
}

/// Waits until a copy dies.
async fn until(death: Arc<Notify>, is_dead: Arc<AtomicBool>) {
    let notified = death.notified();
    if !is_dead.load(Ordering::Relaxed) {
        notified.await;
    }
}

impl Copies {
    pub fn start(network: &Arc<Network>, model: &Arc<Model>) -> Arc<Self> {
        let places = std::array::from_fn(|number| Mutex::new(Copy::start(network, model, number)));
        Arc::new(Self { network: network.clone(), model: model.clone(), places })
    }

    /// The answer of a copy to the request of a step; `None` if the copy dies before it.
    pub async fn answer(&self, number: usize, step: usize, work: &Work) -> Option<Value> {
        let copy = self.places[number].lock().unwrap().clone();
        STEP.scope(step, copy.answer(work)).await
    }

    /// The responses of a subscription at a copy, once it is acknowledged; `None` if the copy dies before. They end
    /// when the copy dies.
    pub async fn subscribe(
        &self,
        number: usize,
        query: &str,
        variables: Value,
    ) -> Option<BoxStream<'static, Response>> {
        let copy = self.places[number].lock().unwrap().clone();
        let request = Request { caller: user("ann"), ..request((query, variables)) };
        let prepared = copy.gateway.prepare(&request).await.ok()?;
        let responses = copy.hub.subscribe(&copy.gateway, prepared, request);
        let dies = || until(copy.death.clone(), copy.is_dead.clone());
        tokio::select! {
            biased;
            () = dies() => return None,
            () = copy.hub.begun() => {}
        }
        Some(responses.take_until(Box::pin(dies())).boxed())
    }

    /// Lets copies die and begin until the world is calm.
    pub async fn die_and_begin(self: Arc<Self>) {
        let (most, mut rng) = (self.network.weather.deaths, rng_for(self.network.seed, "deaths"));
        while most > 0 && !self.network.is_calm.load(Ordering::Relaxed) {
            sleep(Duration::from_micros(rng.u64(1..=most * 1000))).await;
            self.replace(rng.usize(..COPIES));
        }
    }

    /// Lets a copy die, and another one begin in its place.
    pub fn replace(&self, number: usize) {
        self.network.note(&format!("copy {number} dies, and another begins"));
        let next = Copy::start(&self.network, &self.model, number);
        let last = std::mem::replace(&mut *self.places[number].lock().unwrap(), next);
        last.is_dead.store(true, Ordering::Relaxed);
        last.death.notify_waiters();
    }
}
