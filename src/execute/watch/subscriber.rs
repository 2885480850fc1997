//! Events in, the responses of one subscriber out, in order. What its client has not taken is bounded in bytes.

use super::bounds::{DeliveryBounds, HeldChange};
use super::event::{Event, WaitingChange};
use super::seen::DeliveredChanges;
use crate::execute::error::{ErrorCode, Failure, GraphqlError};
use crate::execute::gateway::Response;
use crate::table::change_source::ChangeRecord;
use serde_json::json;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::time::Instant;

/// The bytes of events that may wait for a subscriber for as long as it likes, and what it must take in each
/// [`PATIENCE`] while more wait.
const QUEUE_BYTES: usize = 256 << 10;
/// The most bytes of events that wait for a subscriber, unless it is one event alone. A stream is read in bursts of a
/// megabyte.
const MAX_QUEUE_BYTES: usize = 4 << 20;
/// The time over which a subscriber must take its events while many wait.
const PATIENCE: Duration = Duration::from_secs(5);
/// The memory of an event's place in a queue, in bytes.
const PLACE_BYTES: usize = 16;
/// The bytes that an event counts for a subscriber, besides its response. Many small ones must not wait for long,
/// either.
const EVENT_BYTES: usize = 128;

/// Why a subscription ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubscriptionEnd {
    /// The client takes its events too slowly.
    TooSlow,
    /// Changes were lost before they could be read. None is missing after this id.
    Lost(Arc<str>),
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
}

#[derive(Debug)]
struct SubscriberState {
    queue: VecDeque<Arc<HeldChange<Event>>>,
    /// The bytes of the events in the queue, those that the gate holds, and how many events both are.
    queued: usize,
    held: usize,
    count: usize,
    /// Since when the client must take events, and the bytes that it has taken since; none while few wait.
    behind: Option<(Instant, usize)>,
    bounds: Arc<DeliveryBounds>,
    gate: Gate,
    /// The id to resume from.
    last: Option<Arc<str>>,
    end: Option<SubscriptionEnd>,
    /// Who waits for the next response.
    waker: Option<Waker>,
    /// Who waits for room in the queue.
    room: Option<Waker>,
}

/// What a group has for its subscribers.
#[derive(Debug, Clone)]
pub enum GroupOffer {
    /// An event.
    Event(Arc<HeldChange<Event>>),
    /// A change that makes no event.
    Silent(WaitingChange),
}

/// Which events of the group a subscriber takes.
#[derive(Debug)]
enum Gate {
    /// They wait until the subscriber knows how it begins.
    Holding(Vec<GroupOffer>),
    /// None: too many have waited.
    Missing,
    /// Those that it has not had yet.
    Open(Option<Box<DeliveredChanges>>),
}

impl Subscriber {
    /// A subscriber whose events wait until it is [opened](Self::open).
    pub fn holding(bounds: Arc<DeliveryBounds>) -> Arc<Self> {
        let (queue, gate) = (VecDeque::new(), Gate::Holding(Vec::new()));
        let (queued, held, count, behind) = (0, 0, 0, None);
        let (last, end, waker, room) = (None, None, None, None);
        let state = SubscriberState { queue, queued, held, count, behind, bounds, gate, last, end, waker, room };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Lets the events of its group wait from now on, until there are too many of them.
    pub fn hold(&self) {
        self.change(|state| {
            if let Gate::Holding(_) | Gate::Missing = state.gate {
                state.drop_held(Gate::Holding(Vec::new()));
            }
        });
    }

    /// Whether all events of its group wait since it began to hold them, or it has ended.
    pub fn is_holding(&self) -> bool {
        !matches!(self.state().gate, Gate::Missing)
    }

    /// Takes the events of its group from now on, but for those that it has had. It ends if some are missing.
    pub fn open(&self, seen: DeliveredChanges) {
        self.change(|state| {
            let gate = Gate::Open((!seen.is_nothing()).then(|| Box::new(seen)));
            match std::mem::replace(&mut state.gate, gate) {
                Gate::Holding(held) => {
                    state.give_back((0, state.held, held.len()));
                    held.into_iter().for_each(|offer| state.offer(offer));
                }
                Gate::Missing => state.end_too_slow(),
                Gate::Open(_) => {}
            }
        });
    }

    /// Hands over what its group has.
    pub fn offer(&self, offer: &GroupOffer) {
        self.change(|state| state.offer(offer.clone()));
    }

    /// Hands over an event of its own, while those of the group wait.
    pub fn send(&self, event: Arc<HeldChange<Event>>) {
        self.change(|state| state.push(event));
    }

    /// Ends the subscription after the events that wait.
    pub fn end(&self, end: SubscriptionEnd) {
        self.change(|state| {
            state.end.get_or_insert(end);
        });
    }

    /// Notes the id from which a subscriber goes on that has had no event.
    pub fn go_on_from(&self, id: Arc<str>) {
        self.state().last.get_or_insert(id);
    }

    /// Waits until the client has taken so many events that there is room for others. What the gate holds does not
    /// count: it leaves later.
    pub async fn has_room(&self) {
        let has_room = |context: &mut Context<'_>| {
            let mut state = self.state();
            if state.queued <= QUEUE_BYTES / 2 || state.end.is_some() {
                return Poll::Ready(());
            }
            state.room = Some(context.waker().clone());
            Poll::Pending
        };
        poll_fn(has_room).await;
    }

    /// The next response; `None` after the last.
    pub fn poll_next(&self, context: &mut Context<'_>) -> Poll<Option<Response>> {
        let mut state = self.state();
        if let Some(event) = state.queue.pop_front() {
            if state.queue.is_empty() {
                // Most subscribers wait for most of the time.
                state.queue = VecDeque::new();
            }
            state.give_back((size_of_event(&event), 0, 1));
            state.takes(size_of_event(&event));
            state.last = Some(event.id.clone());
            state.room.take().into_iter().for_each(Waker::wake);
            return Poll::Ready(Some(Response {
                body: event.body.clone(),
                event: Some(event.id.clone()),
                ..Response::default()
            }));
        }
        if let Some(end) = state.end.clone() {
            // The error is the last response.
            state.end = Some(SubscriptionEnd::Closing);
            // A browser that connects again goes on after the last id that it was sent.
            let event = if let SubscriptionEnd::Lost(after) = &end { Some(after.clone()) } else { None };
            let refused = |error: GraphqlError| Response { event, ..Response::refused(&[error]) };
            return Poll::Ready(end.error(state.last.as_deref()).map(refused));
        }
        if state.waker.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        Poll::Pending
    }

    /// Changes the state, and wakes who waits for a response.
    fn change(&self, change: impl FnOnce(&mut SubscriberState)) {
        let mut state = self.state();
        change(&mut state);
        let wakers = [state.waker.take(), state.room.take()];
        drop(state);
        wakers.into_iter().flatten().for_each(Waker::wake);
    }

    fn state(&self) -> MutexGuard<'_, SubscriberState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubscriberState {
    fn offer(&mut self, offer: GroupOffer) {
        match &mut self.gate {
            Gate::Holding(held) => {
                self.held += offer.size();
                held.push(offer);
                let is_full = held.len() > 1 && self.held > MAX_QUEUE_BYTES;
                self.take();
                if is_full {
                    self.drop_held(Gate::Missing);
                }
            }
            Gate::Missing => {}
            Gate::Open(seen) => {
                let is_new = match (seen.as_mut(), offer.record()) {
                    (Some(seen), Some(record)) => seen.is_new(record),
                    _ => true,
                };
                if seen.as_ref().is_some_and(|seen| seen.is_nothing()) {
                    *seen = None;
                }
                match offer {
                    GroupOffer::Event(event) if is_new => self.push(event),
                    GroupOffer::Event(_) | GroupOffer::Silent(_) => {}
                }
            }
        }
    }

    fn push(&mut self, event: Arc<HeldChange<Event>>) {
        if self.end.is_none() {
            self.queued += size_of_event(&event);
            self.queue.push_back(event);
            self.take();
        }
    }

    /// Events leave the queue, or what is held: their bytes in each, and how many they are.
    fn give_back(&mut self, (queued, held, count): (usize, usize, usize)) {
        self.queued -= queued;
        self.held -= held;
        self.count -= count;
        self.bounds.remove(PLACE_BYTES * count);
    }

    /// One more event waits. Ends the subscription if too much does.
    fn take(&mut self) {
        self.count += 1;
        self.bounds.add(PLACE_BYTES);
        let is_full = self.queue.len() > 1 && (self.queued > MAX_QUEUE_BYTES || self.is_too_slow());
        if is_full || (self.count > 1 && self.bounds.are_exceeded()) {
            self.end_too_slow();
        }
    }

    /// Whether much waits, and the client has not taken enough of it for some time. A client that takes its events all
    /// the time may have a burst of them.
    fn is_too_slow(&mut self) -> bool {
        if self.queued <= QUEUE_BYTES {
            return false;
        }
        let (since, taken) = *self.behind.get_or_insert_with(|| (Instant::now(), 0));
        if since.elapsed() < PATIENCE {
            return false;
        }
        self.behind = None;
        taken < QUEUE_BYTES
    }

    /// The client takes an event of this size.
    fn takes(&mut self, bytes: usize) {
        if self.queued <= QUEUE_BYTES {
            self.behind = None;
        }
        self.behind.iter_mut().for_each(|(_, taken)| *taken += bytes);
    }

    /// Ends the subscription. The client goes on after its last event, so nothing that waits is sent any longer.
    fn end_too_slow(&mut self) {
        self.end.get_or_insert(SubscriptionEnd::TooSlow);
        self.clear();
    }

    /// Drops what the gate holds, and replaces the gate.
    fn drop_held(&mut self, gate: Gate) {
        let before = std::mem::replace(&mut self.gate, gate);
        if let Gate::Holding(held) = before {
            self.give_back((0, self.held, held.len()));
        }
    }

    fn clear(&mut self) {
        self.queue = VecDeque::new();
        self.gate = Gate::Open(None);
        self.give_back((self.queued, self.held, self.count));
    }
}

impl Drop for SubscriberState {
    fn drop(&mut self) {
        self.clear();
    }
}

impl SubscriptionEnd {
    /// The error that the client gets last; `None` if it gets none. `last` is the id from which it goes on.
    fn error(&self, last: Option<&str>) -> Option<GraphqlError> {
        let (code, message) = match self {
            Self::TooSlow => {
                (ErrorCode::LimitExceeded, "The events were not taken fast enough. Go on after the last one.")
            }
            Self::Lost(_) => {
                (ErrorCode::Unavailable, "Some changes were lost. Read the items again, and go on after this id.")
            }
            Self::Past => {
                (ErrorCode::BadUserInput, "The changes after this id are no longer there. Read the items again.")
            }
            Self::SchemaChanged => (
                ErrorCode::GraphqlValidationFailed,
                "The schema has changed, and the subscription does not fit it any longer.",
            ),
            Self::Failed(failure) => (failure.code, failure.message.as_str()),
            Self::Closing => return None,
        };
        let after = match self {
            Self::Past => None,
            Self::Lost(after) => Some(&**after),
            _ => last,
        };
        let details = after.map(|id| ("after", json!(id))).into_iter().collect();
        Some(GraphqlError { details, ..GraphqlError::new(code, message) })
    }
}

impl GroupOffer {
    /// The change.
    fn record(&self) -> Option<&ChangeRecord> {
        match self {
            Self::Event(event) => event.record.as_deref(),
            Self::Silent(change) => Some(change),
        }
    }

    /// The bytes that it counts while the gate holds it.
    fn size(&self) -> usize {
        match self {
            Self::Event(event) => size_of_event(event),
            Self::Silent(_) => EVENT_BYTES,
        }
    }
}

/// The bytes that an event counts for a subscriber.
fn size_of_event(event: &Event) -> usize {
    EVENT_BYTES + event.body.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const SMALL: usize = 20_000;

    fn subscriber(bounds: &Arc<DeliveryBounds>) -> Arc<Subscriber> {
        let subscriber = Subscriber::holding(bounds.clone());
        subscriber.open(DeliveredChanges::default());
        subscriber
    }

    /// Offers events of this many bytes.
    fn offer(subscriber: &Subscriber, bounds: &Arc<DeliveryBounds>, count: usize, bytes: usize) {
        for _ in 0..count {
            let event = Event { id: "id".into(), body: vec![b'x'; bytes].into(), record: None };
            subscriber.offer(&GroupOffer::Event(event.held(bounds)));
        }
    }

    /// Takes this many events; false if there is an end among them.
    fn take(subscriber: &Subscriber, count: usize) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        (0..count).all(|_| match subscriber.poll_next(&mut context) {
            Poll::Ready(Some(response)) => response.event.is_some(),
            _ => true,
        })
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_all_the_time_may_have_bursts() {
        let bounds = Arc::default();
        let subscriber = subscriber(&bounds);
        for _ in 0..60 {
            // A stream that is read once a second, at 60 events a second.
            offer(&subscriber, &bounds, 60, SMALL);
            for _ in 0..10 {
                assert!(take(&subscriber, 6));
                advance(Duration::from_millis(100)).await;
            }
        }
        assert!(take(&subscriber, 1));
        assert_eq!(bounds.waiting(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_always_behind_and_takes_enough_goes_on() {
        let bounds = Arc::default();
        let subscriber = subscriber(&bounds);
        offer(&subscriber, &bounds, 60, SMALL);
        for _ in 0..600 {
            assert!(take(&subscriber, 1));
            offer(&subscriber, &bounds, 1, SMALL);
            advance(Duration::from_millis(200)).await;
        }
        assert!(take(&subscriber, 1));
    }

    #[tokio::test(start_paused = true)]
    async fn who_takes_nothing_or_too_little_ends() {
        for taken in [0, 1] {
            let bounds = Arc::default();
            let subscriber = subscriber(&bounds);
            offer(&subscriber, &bounds, 20, SMALL);
            advance(PATIENCE - Duration::from_millis(1)).await;
            assert!(take(&subscriber, taken));
            offer(&subscriber, &bounds, 1, SMALL);
            assert!(take(&subscriber, taken), "it has its time");
            advance(Duration::from_millis(1)).await;
            offer(&subscriber, &bounds, 1, SMALL);
            assert!(!take(&subscriber, 1), "{taken}");
            assert_eq!(bounds.waiting(), 0, "nothing waits for it any longer");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn few_events_wait_for_ever_and_too_many_not_at_all() {
        let bounds = Arc::default();
        let patient = subscriber(&bounds);
        for _ in 0..12 {
            offer(&patient, &bounds, 1, SMALL);
            advance(PATIENCE * 10).await;
        }
        assert!(take(&patient, 12));
        let flooded = subscriber(&bounds);
        offer(&flooded, &bounds, MAX_QUEUE_BYTES / SMALL + 1, SMALL);
        assert!(!take(&flooded, 1));
        let large = subscriber(&bounds);
        offer(&large, &bounds, 1, MAX_QUEUE_BYTES * 2);
        assert!(take(&large, 1), "one event is always sent");
    }
}
