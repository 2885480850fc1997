//! Subscribers who come back to a stream that has split: each gets what it has missed, and nothing that precedes what
//! it has had.

use super::listener::Listener;
use super::stream::Stream;
use crate::support;
use futures_util::future::{BoxFuture, FutureExt, ready};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use keyfold::execute::watch::hub::Hub;
use keyfold::schema::load;
use keyfold::schema::table::Table;
use keyfold::table::call_scope::CallScope;
use keyfold::table::change_source::ChangeSource;
use keyfold::table::data::attribute::Item;
use keyfold::table::data::call::{Page, Query};
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::data::write::{BatchWrite, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::retry::budget::RetryBudget;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

const SCHEMA: &str = r#"
extend schema @table(name: "things", partitionKey: "id", partitionKeyType: N, stream: NEW_AND_OLD_IMAGES)
type Thing @item(keys: { id: "{id}" }) { id: Int! version: Int! }
type Query { thing(id: Int!): Thing @find }
type Subscription { changes(id: Int!, after: ID): ThingChange @watch }
type ThingChange { id: ID! change: ChangeKind! node: Thing previous: Thing }
"#;

/// A store that has a stream and no items.
struct Streamed {
    stream: Arc<Stream>,
    budget: RetryBudget,
}

fn refused() -> TableError {
    TableError { kind: TableErrorKind::Invalid, detail: "there are only changes".to_owned() }
}

impl DataStore for Streamed {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        ready((requests.iter().map(|_| Err(refused())).collect(), 0.0)).boxed()
    }

    fn read_page<'a>(&'a self, _: &'a Query, _: CallScope<'a>) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        ready(Err(refused())).boxed()
    }

    fn write<'a>(
        &'a self,
        _: &'a WriteCall,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        ready(Err(WriteError::Failed(refused()))).boxed()
    }

    fn transact<'a>(
        &'a self,
        _: &'a [WriteCall],
        _: &'a str,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        ready(Err(WriteError::Failed(refused()))).boxed()
    }

    fn write_batch<'a>(
        &'a self,
        _: &'a str,
        _: Vec<BatchWrite>,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        ready(Err(WriteError::Failed(refused()))).boxed()
    }

    fn ready<'a>(&'a self, _: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        ready(Ok(())).boxed()
    }

    fn changes(&self) -> Option<Arc<dyn ChangeSource>> {
        Some(self.stream.clone())
    }

    fn retries(&self) -> &RetryBudget {
        &self.budget
    }

    fn has_eventual_indexes(&self) -> bool {
        false
    }
}

/// A copy of the gateway that has just begun.
struct StreamedCopy {
    gateway: Gateway,
    hub: Hub,
}

impl StreamedCopy {
    fn new(stream: &Arc<Stream>) -> Self {
        let (model, _) =
            load("things.graphql", SCHEMA, &|_| None).unwrap_or_else(|wrong| panic!("{}", wrong.render(false)));
        let store: Arc<dyn DataStore> = Arc::new(Streamed { stream: stream.clone(), budget: RetryBudget::default() });
        let gateway = Gateway::new(Arc::new(model), store, support::settings());
        let hub = Hub::new(&gateway);
        Self { gateway, hub }
    }

    /// A subscriber to the changes of an item.
    async fn subscriber(&self, (item, after): (u64, Option<&str>)) -> Listener {
        let after = after.map(|after| format!(", after: {after:?}")).unwrap_or_default();
        let query = format!("subscription {{ changes(id: {item}{after}) {{ id node {{ version }} }} }}");
        let request = Request { query, ..Request::default() };
        let prepared = self.gateway.prepare(&request).await.unwrap_or_else(|errors| panic!("{errors:?}"));
        Listener::new(self.hub.subscribe(&self.gateway, prepared, request), self.hub.clone())
    }
}

async fn version(listener: &mut Listener) -> u64 {
    listener.next().await["changes"]["node"]["version"].as_u64().unwrap()
}

/// Items 0 and 11 are in different shards after the first split.
#[tokio::test(start_paused = true)]
async fn what_precedes_the_last_event_does_not_come_again_after_what_follows_it() {
    for is_split_before in [false, true] {
        let stream = Stream::new(0, 0);
        let mut first = StreamedCopy::new(&stream).subscriber((0, None)).await;
        first.begin().await;
        stream.split(0);
        stream.write(0, 1);
        if is_split_before {
            stream.split(0);
        }
        stream.write(0, 2);
        assert_eq!(version(&mut first).await, 1);
        let (id, second) = first.next_with_id().await;
        assert_eq!(second["changes"]["node"]["version"], 2);
        stream.split(0);
        stream.write(0, 3);
        // A change of another item is the last one that is read, and is later than the copy that reads it.
        stream.split(11);
        stream.split(11);
        stream.split(11);
        stream.state.lock().unwrap().clock = |now| now + 10;
        stream.write(11, 1);
        stream.state.lock().unwrap().clock = |now| now;
        let mut again = StreamedCopy::new(&stream).subscriber((0, Some(&id))).await;
        assert_eq!(version(&mut again).await, 3);
        tokio::spawn(async move {
            sleep(Duration::from_secs(5)).await;
            stream.write(0, 4);
        });
        assert_eq!(version(&mut again).await, 4);
    }
}

/// Who comes back reads each shard as far as its copy has no changes of it, or to its end, and then no more. The copy
/// may have begun before any change that is missed, among them, or after them.
#[tokio::test(start_paused = true)]
async fn who_comes_back_misses_nothing_and_reads_the_stream_once_whatever_its_clock_shows() {
    let clocks: [fn(i64) -> i64; 4] = [|now| now, |now| now - 3_600, |now| now + 10, |now| now + 3_600];
    for (number, clock) in clocks.into_iter().enumerate() {
        for begins_at in [1, 5, 9] {
            let stream = Stream::new(0, 0);
            stream.state.lock().unwrap().clock = clock;
            let mut first = StreamedCopy::new(&stream).subscriber((0, None)).await;
            first.begin().await;
            stream.split(0);
            let mut other = None;
            for at in 1..=9 {
                stream.write(0, at);
                stream.write(11, at);
                if at == begins_at {
                    let copy = StreamedCopy::new(&stream);
                    let mut beside = copy.subscriber((11, None)).await;
                    beside.begin().await;
                    other = Some((copy, beside));
                }
            }
            let (id, _) = first.next_with_id().await;
            let (copy, _beside) = other.unwrap();
            let mut again = copy.subscriber((0, Some(&id))).await;
            for at in 2..=9 {
                assert_eq!(version(&mut again).await, at, "clock {number}, the copy begins at {begins_at}");
            }
            sleep(Duration::from_secs(2)).await;
            let iterators = stream.state.lock().unwrap().iterators;
            sleep(Duration::from_secs(2)).await;
            assert_eq!(stream.state.lock().unwrap().iterators, iterators, "clock {number}: it reads on and on");
            stream.write(0, 10);
            assert_eq!(version(&mut again).await, 10);
        }
    }
}
