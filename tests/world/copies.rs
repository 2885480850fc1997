//! The copies of the gateway in a world: each with its way to the store. One that dies takes its requests with it, and
//! another begins in its place.

use crate::copy::{Copy, Parts};
use crate::gates::TakenGate;
use crate::network::STEP;
use crate::program::{COPIES, Step};
use crate::weather::rng_for;
use crate::work::{Work, user};
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::BoxStream;
use keyfold::execute::gateway::Response;
use keyfold::execute::request::Request;
use serde_json::{Map, Value, json};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// All copies.
pub struct Copies {
    parts: Parts,
    places: [Mutex<Copy>; COPIES],
    /// All that ever began, in their order.
    all: Mutex<Vec<Copy>>,
}

impl Copies {
    pub fn start(parts: Parts) -> Arc<Self> {
        let all: Vec<Copy> = (0..COPIES).map(|number| Copy::start(&parts, (number, number))).collect();
        let places = std::array::from_fn(|number| Mutex::new(all[number].clone()));
        Arc::new(Self { parts, places, all: Mutex::new(all) })
    }

    /// The number of the copy that a step asks, and its answer; `None` if the copy dies or the client leaves before it.
    pub async fn answer(&self, step: &Step) -> (usize, Option<Value>) {
        let copy = self.places[step.copy].lock().unwrap().clone();
        let answer = STEP.scope(step.number, self.answer_of(&copy, &step.work));
        let answer = match step.patience {
            Some(patience) => timeout(patience, answer).await.ok().flatten(),
            None => answer.await,
        };
        (copy.number, answer)
    }

    async fn answer_of(&self, copy: &Copy, work: &Work) -> Option<Value> {
        let ask = |(query, variables)| Request { caller: work.caller(), ..request((query, variables)) };
        match self.parts.network.taken {
            // Each root field on its own, all at once.
            Some(TakenGate::RootFields) if work.root_fields().len() > 1 => {
                let parts = work.root_fields().into_iter().map(|part| copy.answer(ask(part)));
                Some(together(join_all(parts).await.into_iter().collect::<Option<Vec<_>>>()?))
            }
            _ => copy.answer(ask(work.request())).await,
        }
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
        let request = Request { caller: user("ann"), ..request((query.to_owned(), variables)) };
        let prepared = copy.gateway.prepare(&request).await.ok()?;
        let responses = copy.hub.subscribe(&copy.gateway, prepared, request);
        tokio::select! {
            biased;
            () = copy.dies() => return None,
            () = copy.hub.begun() => {}
        }
        Some(responses.take_until(Box::pin(copy.dies())).boxed())
    }

    /// Lets copies die and begin until the world is calm.
    pub async fn die_and_begin(self: Arc<Self>) {
        let network = &self.parts.network;
        let (most, mut rng) = (network.weather.deaths, rng_for(network.seed, "deaths"));
        while most > 0 && !network.is_calm.load(Ordering::Relaxed) {
            sleep(Duration::from_micros(rng.u64(1..=most * 1000))).await;
            self.replace(rng.usize(..COPIES));
        }
    }

    /// Lets a copy die, and another one begin in its place.
    pub fn replace(&self, number: usize) {
        self.parts.network.note(&format!("copy {number} dies, and another begins"));
        let mut all = self.all.lock().unwrap();
        let next = Copy::start(&self.parts, (number, all.len()));
        all.push(next.clone());
        std::mem::replace(&mut *self.places[number].lock().unwrap(), next).die();
    }

    /// Ends what follows changes.
    pub fn close_hubs(&self) {
        self.places.iter().for_each(|copy| copy.lock().unwrap().hub.close());
    }

    /// What the mutation of a step answered, even if its client has left. One that was made in parts has no answer.
    pub fn answered(&self, step: usize) -> Option<Value> {
        if self.parts.network.taken == Some(TakenGate::RootFields) {
            return None;
        }
        self.all.lock().unwrap().iter().find_map(|copy| copy.answered(step))
    }

    /// Mutations that broke off although their copies live.
    pub fn broken_off(&self, steps: &[Step]) -> Vec<String> {
        let all = self.all.lock().unwrap();
        let is_dropped = |step: &&Step| all.iter().any(|copy| copy.has_dropped(step.number));
        let dropped = steps.iter().filter(is_dropped);
        dropped.map(|step| format!("the mutation of step {} broke off", step.number)).collect()
    }
}

fn request((query, variables): (String, Value)) -> Request {
    let variables = variables.as_object().cloned().unwrap_or_default();
    Request { query, variables, ..Request::default() }
}

/// The answers of the root fields of an operation as one.
fn together(answers: Vec<Value>) -> Value {
    let (mut data, mut errors) = (Map::new(), Vec::new());
    for answer in answers {
        data.extend(answer["data"].as_object().cloned().unwrap_or_default());
        errors.extend(answer["errors"].as_array().cloned().unwrap_or_default());
    }
    match errors.is_empty() {
        true => json!({ "data": data }),
        false => json!({ "data": data, "errors": errors }),
    }
}
