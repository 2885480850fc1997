//! Events in, the responses of one subscriber out, in order. What its client has not taken is bounded in bytes.

use crate::execute::error::{ErrorCode, Failure, GraphqlError};
use crate::execute::gateway::Response;
use crate::table::data::attribute::Item;
use crate::table::stream::record::{ChangeRecord, StreamPosition, compare_sequences};
use serde_json::json;
use std::cmp;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The most bytes of events that wait for a subscriber, unless it is one event alone.
const QUEUE_BYTES: usize = 256 << 10;
/// The most bytes of events that wait for all subscribers together.
const ALL_BYTES: usize = 64 << 20;
/// The memory of a waiting event besides its response, in bytes.
const EVENT_BYTES: usize = 128;

/// The bytes of events that wait for all subscribers.
#[derive(Debug, Default)]
pub struct WaitingBytes(AtomicUsize);

/// A response to a change, which all subscribers of a group share.
#[derive(Debug)]
pub struct Event {
    /// What the subscriber gives as `after` to go on.
    pub id: Arc<str>,
    /// The response map, as JSON.
    pub body: Vec<u8>,
    /// The change; `None` for the item as it was when the subscription began.
    pub record: Option<Arc<ChangeRecord>>,
}

/// Why a subscription ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEnd {
    /// The client takes its events too slowly.
    TooSlow,
    /// Changes were lost before they could be read.
    Lost,
    /// The id in `after` is older than the stream.
    Past,
    /// The operation does not fit the schema any longer.
    SchemaChanged,
    /// The item as it is could not be read.
    Failed(Arc<Failure>),
    /// The server stops.
    Closing,
}

/// One subscriber.
#[derive(Debug)]
pub struct Subscriber {
    state: Mutex<SubscriberState>,
    arrived: Notify,
}

#[derive(Debug)]
struct SubscriberState {
    queue: VecDeque<Arc<Event>>,
    bytes: usize,
    all: Arc<WaitingBytes>,
    gate: Gate,
    /// The last event that the client has taken.
    last: Option<Arc<str>>,
    end: Option<SubscriptionEnd>,
}

/// Which events of the group a subscriber takes.
#[derive(Debug)]
enum Gate {
    /// They wait until the subscriber knows how it begins.
    Holding(Vec<Arc<Event>>),
    /// Those that it has not had yet.
    Open(Box<Seen>),
}

/// What a subscriber has had before it takes the events of its group.
#[derive(Debug, Default)]
pub struct Seen {
    /// The last change of each shard.
    pub replayed: HashMap<Arc<str>, Arc<str>>,
    /// The item as it was when the subscription began.
    pub initial: Option<SeenItem>,
}

/// An item as a subscriber has seen it.
#[derive(Debug)]
pub struct SeenItem {
    /// The item; `None` if there was none.
    pub item: Option<Arc<Item>>,
    /// The attributes that were read of it.
    pub attributes: Arc<[String]>,
}

impl SeenItem {
    /// Whether an image is the item as it was seen.
    fn is(&self, image: Option<&Arc<Item>>) -> bool {
        match (&self.item, image) {
            (Some(item), Some(image)) => self.attributes.iter().all(|name| item.get(name) == image.get(name)),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Seen {
    /// Notes a change that the subscriber has had.
    pub fn note(&mut self, position: &StreamPosition) {
        self.replayed.insert(position.shard.clone(), position.sequence.clone());
    }

    /// Whether a change is new to the subscriber.
    fn is_new(&mut self, record: &ChangeRecord) -> bool {
        let StreamPosition { shard, sequence } = &record.position;
        if self.replayed.get(shard).is_some_and(|last| compare_sequences(sequence, last) != cmp::Ordering::Greater) {
            return false;
        }
        // The changes of an item follow each other. The first that is new changes the item as it was seen.
        if self.initial.as_ref().is_some_and(|seen| !seen.is(record.old.as_ref())) {
            return false;
        }
        self.initial = None;
        true
    }
}

impl Subscriber {
    /// A subscriber whose events wait until it is [opened](Self::open).
    pub fn holding(all: Arc<WaitingBytes>) -> Arc<Self> {
        let gate = Gate::Holding(Vec::new());
        let state = SubscriberState { queue: VecDeque::new(), bytes: 0, all, gate, last: None, end: None };
        Arc::new(Self { state: Mutex::new(state), arrived: Notify::new() })
    }

    /// Takes the events of its group from now on, but for those that it has had.
    pub fn open(&self, seen: Seen) {
        let mut state = self.state();
        let Gate::Holding(held) = std::mem::replace(&mut state.gate, Gate::Open(Box::new(seen))) else { return };
        state.give_back(held.iter().map(|event| size_of_event(event)).sum());
        for event in held {
            state.offer(event);
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// Hands over an event of its group.
    pub fn offer(&self, event: &Arc<Event>) {
        self.state().offer(event.clone());
        self.arrived.notify_one();
    }

    /// Hands over an event of its own, while those of the group wait.
    pub fn send(&self, event: Event) {
        self.state().push(Arc::new(event));
        self.arrived.notify_one();
    }

    /// Ends the subscription after the events that wait.
    pub fn end(&self, end: SubscriptionEnd) {
        self.state().end.get_or_insert(end);
        self.arrived.notify_one();
    }

    /// Whether it ends after the events that wait.
    pub fn has_ended(&self) -> bool {
        self.state().end.is_some()
    }

    /// The bytes that may still wait; a sender that has more waits first.
    pub async fn has_room(&self) {
        while self.state().bytes > QUEUE_BYTES / 2 && !self.has_ended() {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }

    /// The next response; `None` after the last.
    pub async fn next(&self) -> Option<Response> {
        loop {
            {
                let mut state = self.state();
                if let Some(event) = state.queue.pop_front() {
                    state.give_back(size_of_event(&event));
                    state.last = Some(event.id.clone());
                    return Some(Response { body: event.body.clone(), event: Some(event.id.clone()), ..Response::default() });
                }
                if let Some(end) = state.end.clone() {
                    // The error is the last response.
                    state.end = Some(SubscriptionEnd::Closing);
                    return end.error(state.last.as_deref()).map(|error| Response::refused(&[error]));
                }
            }
            self.arrived.notified().await;
        }
    }

    fn state(&self) -> MutexGuard<'_, SubscriberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubscriberState {
    fn offer(&mut self, event: Arc<Event>) {
        match &mut self.gate {
            Gate::Holding(held) => {
                let bytes = size_of_event(&event);
                held.push(event);
                self.take(bytes);
            }
            Gate::Open(seen) => {
                if event.record.as_ref().is_none_or(|record| seen.is_new(record)) {
                    self.push(event);
                }
            }
        }
    }

    fn push(&mut self, event: Arc<Event>) {
        if self.end.is_none() {
            let bytes = size_of_event(&event);
            self.queue.push_back(event);
            self.take(bytes);
        }
    }

    fn give_back(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.all.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Ends the subscription if too much waits. The client goes on after its last event, so nothing that waits is sent any longer.
    fn take(&mut self, bytes: usize) {
        self.bytes += bytes;
        let all = self.all.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let count = self.queue.len() + if let Gate::Holding(held) = &self.gate { held.len() } else { 0 };
        if (self.bytes > QUEUE_BYTES || all > ALL_BYTES) && count > 1 {
            self.end.get_or_insert(SubscriptionEnd::TooSlow);
            self.queue.clear();
            self.gate = Gate::Open(Box::default());
            self.give_back(self.bytes);
        }
    }
}

impl Drop for SubscriberState {
    fn drop(&mut self) {
        self.give_back(self.bytes);
    }
}

impl SubscriptionEnd {
    /// The error that the client gets last; `None` if it gets none. `last` is the id of the last event that it took.
    fn error(&self, last: Option<&str>) -> Option<GraphqlError> {
        let (code, message) = match self {
            Self::TooSlow => (ErrorCode::LimitExceeded, "The events were not taken fast enough. Go on after the last one."),
            Self::Lost => (ErrorCode::Unavailable, "Some changes were lost. Read the items again."),
            Self::Past => (ErrorCode::BadUserInput, "The changes after this id are no longer there. Read the items again."),
            Self::SchemaChanged => {
                (ErrorCode::GraphqlValidationFailed, "The schema has changed, and the subscription does not fit it any longer.")
            }
            Self::Failed(failure) => (failure.code, failure.message.as_str()),
            Self::Closing => return None,
        };
        let details = last.map(|id| ("after", json!(id))).into_iter().collect();
        Some(GraphqlError { details, ..GraphqlError::new(code, message) })
    }
}

/// The memory of an event that waits, in bytes.
fn size_of_event(event: &Event) -> usize {
    EVENT_BYTES + event.body.len()
}
