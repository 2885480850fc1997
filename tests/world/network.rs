//! A copy's calls in; their answers out, after what the weather does to them. What a copy has sent is on its way, even
//! if the copy dies.

use crate::gates::TakenGate;
use crate::seams;
use crate::sent::Sent;
use crate::store::ModelStore;
use crate::store::chance::Calm;
use crate::store::connector::response;
use crate::store::error::ModelError;
use crate::weather::{CallChance, Course, Fate, Weather, rng_for};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

tokio::task_local! {
    /// The number of the step for which a call is made.
    pub static STEP: usize;
}

/// The store, and what is between it and the copies.
pub struct Network {
    pub seed: u64,
    pub weather: Weather,
    pub store: Mutex<ModelStore>,
    /// Whether nothing goes wrong any more.
    pub is_calm: AtomicBool,
    /// What this world's copies do without.
    pub taken: Option<TakenGate>,
    begun: Instant,
    /// How many calls each step of each operation has made.
    counts: Mutex<BTreeMap<(usize, String), u64>>,
    /// What happened to each call.
    pub log: Mutex<Vec<String>>,
    /// What was sent.
    pub sent: Sent,
}

/// The way of a copy to the store.
#[derive(Clone)]
pub struct Link {
    network: Arc<Network>,
    copy: usize,
    /// The number of the copy among all that ever began.
    number: usize,
    is_dead: Arc<AtomicBool>,
    /// When the copy began, by the clock of the store.
    begun: u64,
    /// How long an answer may take, as the SDK wants it.
    limit: Option<Duration>,
}

type HttpAnswer = Result<HttpResponse, ConnectorError>;

impl Network {
    pub fn new((seed, weather): (u64, Weather), store: ModelStore, taken: Option<TakenGate>) -> Arc<Self> {
        Arc::new(Self {
            seed,
            weather,
            store: Mutex::new(store),
            is_calm: AtomicBool::new(false),
            taken,
            begun: Instant::now(),
            counts: Mutex::default(),
            log: Mutex::default(),
            sent: Sent::default(),
        })
    }

    /// The way of a copy. It is cut once the copy `is_dead`.
    pub fn link(self: &Arc<Self>, (copy, number): (usize, usize), is_dead: Arc<AtomicBool>) -> Link {
        Link { network: self.clone(), copy, number, is_dead, begun: self.now(), limit: None }
    }

    /// The time of the store, in milliseconds since 1970.
    pub fn now(&self) -> u64 {
        seams::BEGIN * 1000 + self.begun.elapsed().as_millis() as u64
    }

    pub fn is_calm(&self) -> bool {
        self.is_calm.load(Ordering::Relaxed)
    }

    /// Notes what happened, with the time.
    pub fn note(&self, what: &str) {
        let seconds = self.begun.elapsed().as_secs_f64();
        self.log.lock().unwrap().push(format!("{seconds:10.4} {what}"));
    }

    /// Splits the stream until the world is calm.
    pub async fn split(self: Arc<Self>) {
        let (most, mut rng) = (self.weather.splits, rng_for(self.seed, "splits"));
        while most > 0 && !self.is_calm() {
            sleep(Duration::from_micros(rng.u64(1..=most * 1000))).await;
            let now = self.now();
            let mut store = self.store.lock().unwrap();
            if rng.bool() { store.split("world", now) } else { store.roll("world", now) }
        }
    }

    /// How many calls of this kind the step has made before.
    fn count(&self, step: usize, operation: &str) -> u64 {
        let mut counts = self.counts.lock().unwrap();
        let count = counts.entry((step, operation.to_owned())).or_default();
        *count += 1;
        *count - 1
    }

    /// Whether the table is too busy for any call.
    fn is_busy(&self) -> bool {
        !self.is_calm() && self.begun.elapsed().as_millis() < u128::from(self.weather.busy)
    }

    /// What a copy's call is without the gate that copies do without.
    fn without_gate(&self, target: &str, body: Value, attempt: u64) -> Value {
        match self.taken {
            Some(gate) if !self.is_calm() || gate == TakenGate::StreamPositions => gate.without(target, &body, attempt),
            _ => body,
        }
    }

    /// Makes a call on the store.
    fn make(&self, (target, body): (&str, &Value), begun: u64, rng: fastrand::Rng) -> HttpAnswer {
        let mut store = self.store.lock().unwrap();
        let taken = self.taken.filter(|gate| !self.is_calm() || *gate == TakenGate::StreamPositions);
        let answer = if self.is_calm() {
            store.call(target, body, self.now(), &mut Calm)
        } else {
            store.call(target, body, self.now(), &mut CallChance { weather: self.weather, rng })
        };
        let answer = match taken {
            Some(gate) => answer.map(|answer| gate.changed(target, begun, answer)),
            None => answer,
        };
        Ok(response(answer))
    }
}

impl Link {
    async fn carry(self, target: String, body: Value, step: usize) -> Option<HttpAnswer> {
        let Self { network, copy, number, begun, .. } = self;
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        let count = network.count(step, &operation);
        let body = network.without_gate(&target, body, count);
        network.sent.note((number, step), &operation, &body);
        let mut rng = rng_for(network.seed, (step, &operation, count));
        let mut fate = network.weather.fate(&operation, &mut rng);
        if network.is_calm() {
            fate = Fate::CALM;
        } else if network.is_busy() {
            fate.course = Course::Busy;
        }
        let keys = keys_of(&body);
        let note = |what: &str| network.note(&format!("copy {copy}, step {step}: {operation} {keys}: {what}"));
        let reset = || Err(ConnectorError::io("connection reset by peer".into()));
        sleep(fate.before).await;
        let answer = match fate.course {
            Course::Busy => Ok(response(Err(ModelError::throttled()))),
            Course::Failing => Ok(response(Err(ModelError::failed()))),
            Course::NotMade => reset(),
            Course::Late(after) => {
                let (network, target, body) = (network.clone(), target.clone(), body.clone());
                let what = format!("copy {copy}, step {step}: {operation} {keys}: arrives late");
                tokio::spawn(async move {
                    sleep(after).await;
                    let answer = network.make((&target, &body), begun, rng);
                    network.note(&format!("{what}, {}", shown(&answer)));
                });
                reset()
            }
            Course::Answered | Course::Reset | Course::Failed | Course::Silent => {
                let mut answer = network.make((&target, &body), begun, rng.clone());
                let is_lost = fate.course != Course::Answered;
                if is_lost && network.taken == Some(TakenGate::LostAnswers) && is_single_write(&operation) {
                    note(&format!("made, the answer lost, {}, and made again", shown(&answer)));
                    answer = network.make((&target, &body), begun, rng);
                    fate.course = Course::Answered;
                }
                note(&format!("{:?}, {}", fate.course, shown(&answer)));
                match fate.course {
                    Course::Reset => reset(),
                    Course::Failed => Ok(response(Err(ModelError::failed()))),
                    Course::Silent => return None,
                    _ => answer,
                }
            }
        };
        if !matches!(fate.course, Course::Answered | Course::Reset | Course::Failed) {
            note(&format!("{:?}", fate.course));
        }
        sleep(fate.after).await;
        Some(answer)
    }
}

/// Whether the operation writes one item without a token.
fn is_single_write(operation: &str) -> bool {
    ["PutItem", "UpdateItem", "DeleteItem"].contains(&operation)
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Link({})", self.copy)
    }
}

impl HttpClient for Link {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Self { limit: settings.read_timeout(), ..self.clone() })
    }
}

impl HttpConnector for Link {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let body = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
        let step = STEP.try_with(|step| *step).unwrap_or_default();
        let (is_dead, (answers, answered)) = (self.is_dead.clone(), oneshot::channel());
        if is_dead.load(Ordering::Relaxed) {
            return HttpConnectorFuture::new(std::future::pending());
        }
        let carried = self.clone().carry(target, body, step);
        tokio::spawn(async move {
            let answer = carried.await;
            // Who is gone hears nothing.
            if let (Some(answer), false) = (answer, is_dead.load(Ordering::Relaxed)) {
                let _ = answers.send(answer);
            }
        });
        let answer = async move {
            match answered.await {
                Ok(answer) => answer,
                Err(_) => std::future::pending().await,
            }
        };
        match self.limit {
            Some(limit) => HttpConnectorFuture::new(async move {
                timeout(limit, answer).await.unwrap_or_else(|late| Err(ConnectorError::timeout(late.into())))
            }),
            None => HttpConnectorFuture::new(answer),
        }
    }
}

/// The keys of the items, or the place in a shard, that a call names.
fn keys_of(body: &Value) -> String {
    let mut found = Vec::new();
    add_keys(body, &mut found);
    let place = ["ShardIteratorType", "ShardId", "SequenceNumber", "ShardIterator"].map(|name| body[name].as_str());
    found.extend(place.into_iter().flatten().map(|part| part.rsplit('/').next().unwrap_or_default().to_owned()));
    found.join(" ")
}

fn add_keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if let (Some(partition), Some(sort)) = (members.get("PK"), members.get("SK")) {
                let text = |key: &Value| key["S"].as_str().unwrap_or_default().to_owned();
                found.push(format!("{}/{}", text(partition), text(sort)));
            }
            members.values().for_each(|member| add_keys(member, found));
        }
        Value::Array(elements) => elements.iter().for_each(|element| add_keys(element, found)),
        _ => {}
    }
}

/// An answer in a word: 200, or the code of a refusal.
fn shown(answer: &HttpAnswer) -> String {
    let Ok(answer) = answer else { return "broken".to_owned() };
    if answer.status().as_u16() == 200 {
        return "200".to_owned();
    }
    let body: Value = serde_json::from_slice(answer.body().bytes().unwrap_or_default()).unwrap_or_default();
    body["__type"].as_str().and_then(|name| name.rsplit('#').next()).unwrap_or("refused").to_owned()
}
