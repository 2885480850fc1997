//! The streams of a gateway's tables in, the responses of its subscriptions out. It follows each table that has subscribers, finds the groups that a
//! change concerns, and keeps the subscriptions when the schema is replaced.

use super::delivery::watched;
use super::event_id::EventPosition;
use super::group::{Group, WatchedOperation};
use super::interest::{BoundValues, ImageMatcher, Interest, values_of};
use super::log::ChangeLog;
use super::subscriber::{Seen, Subscriber, SubscriptionEnd, WaitingBytes};
use super::{initial, resume};
use crate::execute::auth::refusals;
use crate::execute::error::{ErrorCode, Failure, GraphqlError};
use crate::execute::gateway::{Gateway, PreparedOperation, Response};
use crate::execute::key::values::key_of;
use crate::execute::read::state::ReadState;
use crate::execute::request::Request;
use crate::plan::tree::PlannedWatch;
use crate::schema::model::watch::AFTER;
use crate::schema::table::{StreamView, Table};
use crate::table::cache::change::{Image, ItemChange};
use crate::table::cache::table_cache::TableCache;
use crate::table::stream::reader::{ChangeSink, StreamReader};
use crate::table::stream::record::ChangeRecord;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout};

/// How long a subscription waits until the stream of its table is followed.
const BEGIN_LIMIT: Duration = Duration::from_secs(10);
/// How long the check of a subscription may take, which reads nothing.
const CHECK_LIMIT: Duration = Duration::from_secs(1);
/// How many subscribers that come back may read a stream again at a time. At most two readers should share a shard (DynamoDB developer
/// guide, "Change data capture for DynamoDB Streams"), and the gateway is one.
const CATCHING_UP: usize = 1;

/// The subscriptions of a gateway.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<HubInner>,
}

struct HubInner {
    state: Mutex<HubState>,
    next: AtomicU64,
    catching_up: Semaphore,
    waiting: Arc<WaitingBytes>,
}

#[derive(Default)]
struct HubState {
    feeds: HashMap<Arc<str>, Feed>,
    groups: HashMap<GroupKey, Arc<Group>>,
    by_values: HashMap<ValuesKey, Vec<Arc<Group>>>,
    /// For each table, which fields its subscriptions bind.
    shapes: HashMap<Arc<str>, Vec<BoundShape>>,
    /// What the gateway keeps of reads. The changes of other copies drop what they touch.
    cache: Option<Arc<TableCache>>,
    is_closed: bool,
}

/// What subscribers of one group have in common: the operation's text and name, its variables, and its caller.
type GroupKey = (String, Option<String>, String, String);
/// A field of `Subscription`, and values of its bound fields.
type ValuesKey = (String, BoundValues);

/// The fields that some groups of one field of `Subscription` bind.
struct BoundShape {
    field: String,
    shape: Vec<bool>,
    groups: usize,
    /// Any of the groups' operations: all have the same bindings.
    operation: Arc<WatchedOperation>,
}

/// A table that is followed.
struct Feed {
    table: Table,
    log: ChangeLog,
    begun: watch::Sender<bool>,
    task: AbortHandle,
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The place of a subscriber, which it leaves when its responses are dropped.
struct Membership {
    hub: Hub,
    key: GroupKey,
    group: Arc<Group>,
    number: u64,
    subscriber: Arc<Subscriber>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut state = self.hub.state();
        if self.group.leave(self.number) && state.groups.get(&self.key).is_some_and(|known| Arc::ptr_eq(known, &self.group)) {
            state.groups.remove(&self.key);
            let operation = self.group.operation();
            state.unregister(&self.group, &operation);
        }
    }
}

impl Hub {
    /// The subscriptions of a gateway. If it caches anything, this must be called inside a Tokio runtime.
    pub fn new(gateway: &Gateway) -> Self {
        let (state, next, waiting) = (Mutex::default(), AtomicU64::new(0), Arc::default());
        let hub = Self { inner: Arc::new(HubInner { state, next, catching_up: Semaphore::new(CATCHING_UP), waiting }) };
        hub.follow(gateway);
        hub
    }

    /// The responses of a subscription. One that is refused has one response.
    pub fn subscribe(&self, gateway: &Gateway, prepared: PreparedOperation, request: Request) -> BoxStream<'static, Response> {
        match self.join(gateway, prepared, request) {
            Ok((membership, after)) => responses(membership, after),
            Err(error) => stream::once(std::future::ready(Response::refused(&[error]))).boxed(),
        }
    }

    /// Keeps the subscriptions on another gateway, and ends those that do not fit its schema.
    pub async fn replace(&self, gateway: &Gateway) {
        let groups: Vec<(GroupKey, Arc<Group>)> = self.state().groups.iter().map(|(key, group)| (key.clone(), group.clone())).collect();
        self.follow(gateway);
        for (key, group) in groups {
            let before = group.operation();
            let planned = gateway.prepare(&group.request).await.ok().filter(PreparedOperation::watches);
            let operation = planned.and_then(|prepared| bind(gateway, prepared).ok());
            let mut state = self.state();
            state.unregister(&group, &before);
            match operation {
                Some((operation, _)) => {
                    group.replace(operation.clone());
                    if state.groups.contains_key(&key) {
                        state.register(&group, &operation);
                    }
                }
                None => {
                    // Whoever subscribes again begins another group.
                    state.groups.remove(&key);
                    group.end(&SubscriptionEnd::SchemaChanged);
                }
            }
        }
    }

    /// Ends all subscriptions, and begins no more.
    pub fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        state.feeds.clear();
        state.groups.values().for_each(|group| group.end(&SubscriptionEnd::Closing));
    }

    /// Goes on with the tables of another gateway. If anything is cached, it follows those that tell both images. A table that is only watched
    /// is followed from its first subscriber on.
    fn follow(&self, gateway: &Gateway) {
        let (model, watched) = (gateway.model(), gateway.model().watched_tables());
        let tells = |table: &Table| gateway.cache().is_some() && table.stream == Some(StreamView::NewAndOldImages);
        let mut state = self.state();
        state.cache = gateway.cache().cloned();
        let is_wanted = |name: &str| {
            model.tables.iter().enumerate().any(|(position, table)| table.name == name && (watched.contains(&position) || tells(table)))
        };
        state.feeds.retain(|name, _| is_wanted(name));
        for table in model.tables.iter().filter(|table| tells(table)) {
            self.begin_feed(&mut state, gateway, table);
        }
    }

    /// Follows a table, unless it is followed already. False if the store does not tell of changes.
    fn begin_feed(&self, state: &mut HubState, gateway: &Gateway, table: &Table) -> bool {
        let name: Arc<str> = table.name.as_str().into();
        if state.feeds.contains_key(&name) {
            return true;
        }
        let Some(source) = gateway.store().changes().filter(|_| !state.is_closed) else { return false };
        let sink = Arc::new(FeedSink { hub: Arc::downgrade(&self.inner), table: name.clone() });
        let reader = StreamReader::new(source, name.clone(), sink);
        let task = tokio::spawn(async move { reader.follow().await }).abort_handle();
        let feed = Feed { table: table.clone(), log: ChangeLog::new(now()), begun: watch::Sender::new(false), task };
        state.feeds.insert(name, feed);
        true
    }

    /// Adds a subscriber. Gives its place, and the position after which it goes on.
    fn join(
        &self,
        gateway: &Gateway,
        prepared: PreparedOperation,
        request: Request,
    ) -> Result<(Membership, Option<EventPosition>), GraphqlError> {
        let key = group_key(&prepared, &request);
        let (operation, after) = bind(gateway, prepared)?;
        let mut state = self.state();
        let unavailable = |message: &str| GraphqlError::new(ErrorCode::Unavailable, message);
        if state.is_closed {
            return Err(unavailable("The server is shutting down."));
        }
        let table = watched(&operation.prepared).and_then(|(_, watch)| gateway.model().tables.get(watch.table));
        if !table.is_some_and(|table| self.begin_feed(&mut state, gateway, table)) {
            return Err(unavailable("The store does not tell the changes of this table."));
        }
        let group = match state.groups.get(&key) {
            Some(group) => group.clone(),
            None => {
                let group = Group::new(request, operation.clone());
                state.groups.insert(key.clone(), group.clone());
                state.register(&group, &operation);
                group
            }
        };
        let (number, subscriber) = (self.inner.next.fetch_add(1, Ordering::Relaxed), Subscriber::holding(self.inner.waiting.clone()));
        group.join(number, subscriber.clone());
        drop(state);
        Ok((Membership { hub: self.clone(), key, group, number, subscriber }, after))
    }

    fn state(&self) -> MutexGuard<'_, HubState> {
        self.inner.state()
    }
}

impl HubInner {
    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HubState {
    /// Finds a group by its values from now on.
    fn register(&mut self, group: &Arc<Group>, operation: &Arc<WatchedOperation>) {
        let Some((_, watch)) = watched(&operation.prepared) else { return };
        for values in operation.interest.combinations() {
            self.by_values.entry((watch.field.clone(), values)).or_default().push(group.clone());
        }
        let shape = operation.interest.shape();
        let shapes = self.shapes.entry(table_of(operation)).or_default();
        match shapes.iter_mut().find(|known| known.field == watch.field && known.shape == shape) {
            Some(known) => {
                known.groups += 1;
                known.operation = operation.clone();
            }
            None => shapes.push(BoundShape { field: watch.field.clone(), shape, groups: 1, operation: operation.clone() }),
        }
    }

    fn unregister(&mut self, group: &Arc<Group>, operation: &Arc<WatchedOperation>) {
        let Some((_, watch)) = watched(&operation.prepared) else { return };
        let mut was_there = false;
        for values in operation.interest.combinations() {
            let key = (watch.field.clone(), values);
            if let Some(groups) = self.by_values.get_mut(&key) {
                was_there |= groups.iter().any(|known| Arc::ptr_eq(known, group));
                groups.retain(|known| !Arc::ptr_eq(known, group));
                if groups.is_empty() {
                    self.by_values.remove(&key);
                }
            }
        }
        let (table, shape) = (table_of(operation), operation.interest.shape());
        if let Some(shapes) = self.shapes.get_mut(&table).filter(|_| was_there) {
            shapes.iter_mut().filter(|known| known.field == watch.field && known.shape == shape).for_each(|known| known.groups -= 1);
            shapes.retain(|known| known.groups > 0);
        }
    }

    /// Drops what is cached and may be no longer right.
    fn invalidate(&self, record: &ChangeRecord) {
        let (Some(cache), Some(feed)) = (&self.cache, self.feeds.get(&record.table)) else { return };
        let image = record.new.as_ref().or(record.old.as_ref());
        if let Some(key) = image.and_then(|image| key_of(&feed.table, image)) {
            let (before, after) = (Image::of(record.old.as_deref()), Image::of(record.new.as_deref()));
            cache.invalidate(&ItemChange { table: &record.table, key: &key, before, after, attributes: None });
        }
    }

    /// The groups that a change concerns, each once.
    fn concerned(&self, record: &ChangeRecord) -> Vec<Arc<Group>> {
        let mut found: Vec<Arc<Group>> = Vec::new();
        for BoundShape { field, shape, operation, .. } in self.shapes.get(&record.table).into_iter().flatten() {
            let Some((_, watch)) = watched(&operation.prepared) else { continue };
            for image in record.new.iter().chain(&record.old).filter(|image| watch.discriminator.recognises(image)) {
                let groups = values_of(watch, shape, image).and_then(|values| self.by_values.get(&(field.clone(), values)));
                for group in groups.into_iter().flatten() {
                    if !found.iter().any(|known| Arc::ptr_eq(known, group)) {
                        found.push(group.clone());
                    }
                }
            }
        }
        found
    }
}

/// Takes the changes of a table.
struct FeedSink {
    hub: Weak<HubInner>,
    table: Arc<str>,
}

impl ChangeSink for FeedSink {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        if let Some(hub) = self.hub.upgrade() {
            let mut state = hub.state();
            for record in records.into_iter().map(Arc::new) {
                state.invalidate(&record);
                if let Some(feed) = state.feeds.get_mut(&self.table) {
                    feed.log.add(record.clone());
                }
                state.concerned(&record).iter().for_each(|group| group.push(record.clone()));
            }
        }
        std::future::ready(()).boxed()
    }

    fn begun(&self) {
        if let Some(hub) = self.hub.upgrade()
            && let Some(feed) = hub.state().feeds.get(&self.table)
        {
            feed.begun.send_replace(true);
        }
    }

    fn lost(&self) {
        tracing::error!(table = &*self.table, "changes were lost: the stream no longer has them");
        let Some(hub) = self.hub.upgrade() else { return };
        let mut state = hub.state();
        if let Some(feed) = state.feeds.get_mut(&self.table) {
            feed.log.break_off(now());
        }
        let groups = state.groups.values().filter(|group| *table_of(&group.operation()) == *self.table);
        groups.for_each(|group| group.end(&SubscriptionEnd::Lost));
    }
}

/// The responses of a subscriber, which begins when they are first polled.
fn responses(membership: Membership, after: Option<EventPosition>) -> BoxStream<'static, Response> {
    let (hub, group, subscriber) = (membership.hub.clone(), membership.group.clone(), membership.subscriber.clone());
    let beginning = async move {
        match begin(&hub, &group.operation(), &subscriber, after).await {
            Ok(seen) => subscriber.open(seen),
            Err(end) => subscriber.end(end),
        }
    };
    let next = |(membership, mut beginning): (Membership, Option<BoxFuture<'static, ()>>)| async move {
        loop {
            let subscriber = &membership.subscriber;
            let response = match &mut beginning {
                None => subscriber.next().await,
                // What it sends is taken at the same time.
                Some(running) => tokio::select! {
                    biased;
                    response = subscriber.next() => response,
                    () = running => {
                        beginning = None;
                        continue;
                    }
                },
            };
            return Some((response?, (membership, beginning)));
        }
    };
    stream::unfold((membership, Some(beginning.boxed())), next).boxed()
}

/// Begins a subscription: sends what comes before the changes of its group, and gives what the subscriber has had then.
async fn begin(
    hub: &Hub,
    operation: &Arc<WatchedOperation>,
    subscriber: &Arc<Subscriber>,
    after: Option<EventPosition>,
) -> Result<Seen, SubscriptionEnd> {
    let table = table_of(operation);
    let begun = hub.state().feeds.get(&table).map(|feed| feed.begun.subscribe());
    let Some(mut begun) = begun else { return Err(SubscriptionEnd::SchemaChanged) };
    let silent =
        || SubscriptionEnd::Failed(Failure::new(ErrorCode::Unavailable, "The stream of the table cannot be read. Try again later."));
    match timeout(BEGIN_LIMIT, begun.wait_for(|begun| *begun)).await {
        Ok(Ok(_)) => {}
        _ => return Err(silent()),
    }
    if let Some(from) = after {
        let logged = hub.state().feeds.get(&table).and_then(|feed| feed.log.after(&from));
        if let Some(records) = logged {
            return resume::replay(operation, subscriber, records).await;
        }
        let Some(source) = operation.gateway.store().changes() else { return Err(SubscriptionEnd::Past) };
        let Ok(_turn) = hub.inner.catching_up.acquire().await else { return Err(SubscriptionEnd::Past) };
        return resume::catch_up(operation.clone(), subscriber.clone(), (source, table), from).await;
    }
    let end = hub.state().feeds.get(&table).map(|feed| feed.log.end(now()));
    let id: Arc<str> = end.map(|position| position.id()).unwrap_or_default().into();
    let initial = match initial::begin(operation, id).await.map_err(SubscriptionEnd::Failed)? {
        None => None,
        Some((event, seen)) => {
            event.into_iter().for_each(|event| subscriber.send(event));
            Some(seen)
        }
    };
    Ok(Seen { initial, ..Seen::default() })
}

/// Checks who subscribes to what. Gives the operation, and the position after which it goes on.
fn bind(gateway: &Gateway, prepared: PreparedOperation) -> Result<(Arc<WatchedOperation>, Option<EventPosition>), GraphqlError> {
    let (interest, after) = {
        let run = gateway.begin(Instant::now() + CHECK_LIMIT);
        let context = gateway.context(&run, &prepared);
        let missing = || GraphqlError::new(ErrorCode::Internal, "The operation watches nothing.");
        let (step, watch) = watched(&prepared).ok_or_else(missing)?;
        let state = ReadState::new(&step.plan, &context);
        let of_failure = |failure: Arc<Failure>| error(watch, &prepared, failure.code, failure.message.clone());
        if let Some(code) = state.refusals.of(watch.guard) {
            return Err(error(watch, &prepared, code, refusals::message(code).to_owned()));
        }
        let interest = Interest::of(&state, watch).map_err(of_failure)?;
        ImageMatcher::new(&context, &state, watch, &interest).map_err(of_failure)?;
        let after = state.arguments.values(watch.arguments).map_err(of_failure)?.get(AFTER).and_then(|id| id.as_str());
        let parse = |id: &str| {
            let message = "The argument \"after\" is not the id of an event.".to_owned();
            EventPosition::parse(id).ok_or_else(|| error(watch, &prepared, ErrorCode::BadUserInput, message))
        };
        (interest, after.map(parse).transpose()?)
    };
    Ok((Arc::new(WatchedOperation { gateway: gateway.clone(), prepared, interest }), after))
}

/// An error of the subscription's field.
fn error(watch: &PlannedWatch, prepared: &PreparedOperation, code: ErrorCode, message: String) -> GraphqlError {
    let locations = watched(prepared).and_then(|(step, _)| step.plan.root.fields.first()).map(|output| output.location);
    tracing::debug!(field = watch.field, code = code.as_str(), "a subscription was refused");
    GraphqlError { locations: locations.into_iter().collect(), ..GraphqlError::new(code, message) }
}

fn group_key(prepared: &PreparedOperation, request: &Request) -> GroupKey {
    let caller = prepared.caller().identity();
    let variables = serde_json::to_string(prepared.variables()).unwrap_or_default();
    (request.query.clone(), request.operation_name.clone(), variables, caller)
}

fn table_of(operation: &WatchedOperation) -> Arc<str> {
    let table = watched(&operation.prepared).map(|(_, watch)| operation.gateway.model().tables[watch.table].name.as_str());
    table.unwrap_or_default().into()
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
