//! The subscriptions that clients ask for in, their responses out. It puts each subscriber into its group, and keeps
//! the subscriptions when the schema is replaced.

use super::beginning::begin::begin;
use super::delivery::watched;
use super::feeds::{Feeds, now};
use super::group::{Group, key_of_group};
use super::history::event_id::EventPosition;
use super::operation::WatchedOperation;
use super::subscriber::{Subscriber, SubscriptionEnd};
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::execute::gateway::{Gateway, PreparedOperation, Response};
use crate::execute::report::SubscriptionLoad;
use crate::execute::request::Request;
use crate::schema::table::{StreamView, Table};
use crate::table::stream::shared::source::SharedStreams;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, Stream, StreamExt};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use tokio::sync::Semaphore;

/// How many subscribers that come back may read a stream again at a time. At most two readers should share a shard
/// (DynamoDB developer guide, "Change data capture for DynamoDB Streams"), and the gateway is one.
const CATCHING_UP: usize = 1;

/// The subscriptions of a gateway.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<HubInner>,
}

struct HubInner {
    feeds: Arc<Feeds>,
    next: AtomicU64,
    catching_up: Semaphore,
}

/// What became of a subscriber that wanted to join a group.
enum Joining {
    /// Its place, and the position after which it goes on.
    Joined(Membership, Option<EventPosition>),
    /// Its gateway was replaced after it had prepared the operation. This is the new one.
    Replaced(Gateway),
}

/// The place of a subscriber, which it leaves when its responses are dropped.
struct Membership {
    hub: Hub,
    group: Arc<Group>,
    number: u64,
    subscriber: Arc<Subscriber>,
}

impl Drop for Membership {
    fn drop(&mut self) {
        let mut state = self.hub.inner.feeds.state();
        if self.group.leave(self.number) {
            state.registry.remove(&self.group);
        }
    }
}

impl Hub {
    /// The subscriptions of a gateway. If it caches anything, this must be called inside a Tokio runtime.
    pub fn new(gateway: &Gateway) -> Self {
        Self::sharing(gateway, None)
    }

    /// The same. The gateway may share the streams of its tables with other copies.
    pub fn sharing(gateway: &Gateway, shared: Option<SharedStreams>) -> Self {
        let (feeds, next, catching_up) = (Arc::new(Feeds::new(shared)), AtomicU64::new(0), Semaphore::new(CATCHING_UP));
        let hub = Self { inner: Arc::new(HubInner { feeds, next, catching_up }) };
        hub.follow(gateway);
        hub
    }

    /// The responses of a subscription. One that is refused has one response.
    pub fn subscribe(
        &self,
        gateway: &Gateway,
        prepared: PreparedOperation,
        request: Request,
    ) -> BoxStream<'static, Response> {
        match self.join(gateway, prepared, &request) {
            Ok(Joining::Joined(membership, after)) => Responses::new(membership, after).boxed(),
            Ok(Joining::Replaced(current)) => self.clone().subscribe_on(current, request).flatten_stream().boxed(),
            Err(errors) => refused(&errors),
        }
    }

    /// The responses of a subscription that was prepared on a gateway which has been replaced since.
    async fn subscribe_on(self, current: Gateway, request: Request) -> BoxStream<'static, Response> {
        match current.prepare(&request).await {
            Ok(prepared) => self.subscribe(&current, prepared, request),
            Err(errors) => refused(&errors),
        }
    }

    /// What the subscriptions hold now.
    pub fn load(&self) -> SubscriptionLoad {
        let state = self.inner.feeds.state();
        let (groups, subscriptions) = state
            .registry
            .groups()
            .fold((0, 0), |(groups, subscriptions), group| (groups + 1, subscriptions + group.count_members()));
        let lags = state.feeds.iter().map(|(table, feed)| (table.to_string(), feed.lag())).collect();
        SubscriptionLoad { subscriptions, groups, waiting_bytes: self.inner.feeds.bounds.waiting(), lags }
    }

    /// Keeps the subscriptions on another gateway, and ends those that do not fit its schema.
    pub async fn replace(&self, gateway: &Gateway) {
        let feeds = &self.inner.feeds;
        for group in self.follow(gateway) {
            let planned = gateway.prepare(&group.request).await.ok().filter(PreparedOperation::watches);
            let operation =
                planned.and_then(|prepared| WatchedOperation::bind(gateway, prepared, (&feeds.bounds, None)).ok());
            let mut state = feeds.state();
            match operation {
                Some((operation, _)) => state.registry.replace(&group, operation),
                None => {
                    // Whoever subscribes again begins another group.
                    state.registry.remove(&group);
                    group.end(&SubscriptionEnd::SchemaChanged);
                }
            }
        }
    }

    /// Waits until the changes of every table that is followed arrive.
    pub async fn begun(&self) {
        let feeds: Vec<_> = self.inner.feeds.state().feeds.values().map(|feed| feed.begun.subscribe()).collect();
        for mut begun in feeds {
            // A table that is followed no longer need not begin.
            let _ = begun.wait_for(|begun| *begun).await;
        }
    }

    /// Ends all subscriptions, and begins no more.
    pub fn close(&self) {
        let mut state = self.inner.feeds.state();
        state.is_closed = true;
        state.feeds.clear();
        state.registry.groups().for_each(|group| group.end(&SubscriptionEnd::Closing));
    }

    /// Goes on with the tables of another gateway. If anything is cached, it follows those whose streams have both
    /// images. A table that is only watched is followed from its first subscriber on. Gives the groups that are still
    /// on the gateway before.
    fn follow(&self, gateway: &Gateway) -> Vec<Arc<Group>> {
        let (model, watched) = (gateway.model(), gateway.model().watched_tables());
        let tells = |table: &Table| gateway.cache().is_some() && table.stream == Some(StreamView::NewAndOldImages);
        let mut state = self.inner.feeds.state();
        state.cache = gateway.cache().cloned();
        let is_wanted = |name: &str| {
            model
                .tables
                .iter()
                .enumerate()
                .any(|(position, table)| table.name == name && (watched.contains(&position) || tells(table)))
        };
        state.feeds.retain(|name, _| is_wanted(name));
        for table in model.tables.iter().filter(|table| tells(table)) {
            self.inner.feeds.begin(&mut state, gateway, table);
        }
        state.gateway = Some(gateway.clone());
        state.registry.groups().cloned().collect()
    }

    /// Adds a subscriber, unless its gateway has been replaced.
    fn join(
        &self,
        gateway: &Gateway,
        prepared: PreparedOperation,
        request: &Request,
    ) -> Result<Joining, Vec<GraphqlError>> {
        let key = key_of_group(&prepared, request);
        let (operation, after) =
            WatchedOperation::bind(gateway, prepared, (&self.inner.feeds.bounds, request.after.as_deref()))?;
        let mut state = self.inner.feeds.state();
        let unavailable = |message: &str| vec![GraphqlError::new(ErrorCode::Unavailable, message)];
        if state.is_closed {
            return Err(unavailable("The server is shutting down."));
        }
        if let Some(current) = state.gateway.as_ref().filter(|current| !Arc::ptr_eq(current.model(), gateway.model())) {
            return Ok(Joining::Replaced(current.clone()));
        }
        let table = watched(&operation.prepared).and_then(|(_, watch)| gateway.model().tables.get(watch.table));
        if !table.is_some_and(|table| self.inner.feeds.begin(&mut state, gateway, table)) {
            return Err(unavailable("The store does not tell the changes of this table."));
        }
        let group = match state.registry.get(&key) {
            Some(group) => group.clone(),
            None => {
                let group = Group::new(key, request.clone(), operation);
                state.registry.add(&group);
                group
            }
        };
        let number = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let subscriber = Subscriber::holding(self.inner.feeds.bounds.clone());
        if let Some(feed) = state.feeds.get(&group.operation().table()).filter(|_| after.is_none()) {
            subscriber.go_on_from(feed.log.end(now()).id().into());
        }
        group.join(number, subscriber.clone());
        drop(state);
        Ok(Joining::Joined(Membership { hub: self.clone(), group, number, subscriber }, after))
    }
}

fn refused(errors: &[GraphqlError]) -> BoxStream<'static, Response> {
    stream::once(std::future::ready(Response::refused(errors))).boxed()
}

/// The responses of a subscriber, which begins when they are first polled.
struct Responses {
    membership: Membership,
    /// What sends the first of them, until it is done.
    beginning: Option<BoxFuture<'static, ()>>,
}

impl Responses {
    fn new(membership: Membership, after: Option<EventPosition>) -> Self {
        let (hub, group, subscriber) =
            (membership.hub.clone(), membership.group.clone(), membership.subscriber.clone());
        let beginning = async move {
            let HubInner { feeds, catching_up, .. } = &*hub.inner;
            match begin((feeds, catching_up), &group.operation(), &subscriber, after).await {
                Ok(seen) => subscriber.open(seen),
                Err(end) => subscriber.end(end),
            }
        };
        Self { membership, beginning: Some(beginning.boxed()) }
    }
}

impl Stream for Responses {
    type Item = Response;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Response>> {
        let Self { membership, beginning } = &mut *self;
        loop {
            // The client takes events while the beginning still sends them.
            if let Poll::Ready(response) = membership.subscriber.poll_next(context) {
                return Poll::Ready(response);
            }
            let Some(running) = beginning else { return Poll::Pending };
            ready!(running.poll_unpin(context));
            *beginning = None;
        }
    }
}
