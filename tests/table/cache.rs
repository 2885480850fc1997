//! The cache of reads: one call for all who ask at once, the ends of those who wait, what changes drop, and what is
//! kept how long. Time is paused, and the store answers after a second.

use crate::fixture::{expression, get, item, key, query, s, table};
use futures_util::future::{BoxFuture, FutureExt, join_all};
use keyfold::schema::table::Table;
use keyfold::table::cache::change::{Image, ItemChange};
use keyfold::table::cache::table_cache::TableCache;
use keyfold::table::call_scope::CallScope;
use keyfold::table::data::attribute::{Attribute, AttributeName, Item, Key};
use keyfold::table::data::call::{Get, Page, Query};
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::data::write::{BatchWrite, WriteAction, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::request::gate::CallGate;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::request::room::ReadRoom;
use keyfold::table::retry::budget::RetryBudget;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::{Instant, advance, sleep, sleep_until};

/// How long a call takes.
const CALL: Duration = Duration::from_secs(1);
/// For how long nothing is kept after a change.
const HOLD_OFF: Duration = Duration::from_secs(1);

/// What the store does with a call.
#[derive(Debug, Clone, Copy)]
enum Reply {
    /// The item, with the number of the call as its `n`.
    Item,
    /// The same, which expires in so many seconds.
    Expiring(u64),
    Missing,
    Fails,
    /// No answer until the caller's deadline.
    Never,
    /// Throttled until the caller's deadline.
    Throttled,
}

/// A store whose calls are counted, and answered as the script says.
struct Scripted {
    script: Box<dyn Fn(usize) -> Reply + Send + Sync>,
    /// The keys and the attributes of each call.
    asked: Mutex<Vec<(Vec<Key>, Vec<AttributeName>)>>,
    budget: RetryBudget,
}

impl Scripted {
    /// Notes a call, and gives its number and its reply.
    fn begin(&self, keys: Vec<Key>, attributes: &[AttributeName]) -> (usize, Reply) {
        let mut asked = self.asked.lock().unwrap();
        asked.push((keys, attributes.to_vec()));
        (asked.len(), (self.script)(asked.len() - 1))
    }
}

fn failure(kind: TableErrorKind) -> TableError {
    TableError { kind, detail: "as the script says".to_owned() }
}

fn numbered(key: &Key, call: usize, left: Option<u64>) -> Arc<Item> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let time = left.map(|left| ("ttl".into(), Attribute::N((now + left).to_string().into())));
    let parts = std::iter::once(&key.partition)
        .chain(&key.sort)
        .map(|(name, value)| (name.clone(), Attribute::from(value.clone())));
    Arc::new(parts.chain([("n".into(), Attribute::N(call.to_string().into()))]).chain(time).collect())
}

impl DataStore for Scripted {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        let keys = requests.iter().map(|request| request.key.clone()).collect();
        let (call, reply) = self.begin(keys, requests[0].projection);
        async move {
            let result = |request: &ItemRequest<'_>| match reply {
                Reply::Item => Ok(Some(numbered(request.key, call, None))),
                Reply::Expiring(left) => Ok(Some(numbered(request.key, call, Some(left)))),
                Reply::Missing => Ok(None),
                Reply::Fails => Err(failure(TableErrorKind::Unavailable)),
                Reply::Never => Err(failure(TableErrorKind::Timeout)),
                Reply::Throttled => Err(failure(TableErrorKind::Throttled)),
            };
            sleep_until(if matches!(reply, Reply::Never | Reply::Throttled) {
                scope.deadline
            } else {
                Instant::now() + CALL
            })
            .await;
            (requests.iter().map(result).collect(), 0.5)
        }
        .boxed()
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        let (call, reply) = self.begin(Vec::new(), query.projection.as_deref().unwrap_or_default());
        async move {
            sleep_until(if matches!(reply, Reply::Never | Reply::Throttled) {
                scope.deadline
            } else {
                Instant::now() + CALL
            })
            .await;
            let items = match reply {
                Reply::Item => vec![numbered(&key("p", "a"), call, None)],
                Reply::Expiring(left) => vec![numbered(&key("p", "a"), call, Some(left))],
                Reply::Missing => Vec::new(),
                Reply::Fails => return Err(failure(TableErrorKind::Unavailable)),
                Reply::Never => return Err(failure(TableErrorKind::Timeout)),
                Reply::Throttled => return Err(failure(TableErrorKind::Throttled)),
            };
            Ok((Page { count: 1, scanned: 1, items, last_key: None }, 0.5))
        }
        .boxed()
    }

    fn write<'a>(
        &'a self,
        _: &'a WriteCall,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        async {
            sleep(CALL).await;
            match (self.script)(usize::MAX) {
                Reply::Fails => Err(WriteError::Failed(failure(TableErrorKind::Unavailable))),
                Reply::Never => Err(WriteError::Uncertain(failure(TableErrorKind::Timeout))),
                _ => Ok((None, 1.0)),
            }
        }
        .boxed()
    }

    fn transact<'a>(
        &'a self,
        _: &'a [WriteCall],
        _: &'a str,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async { Ok(((), 1.0)) }.boxed()
    }

    fn write_batch<'a>(
        &'a self,
        _: &'a str,
        _: Vec<BatchWrite>,
        _: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async { Ok(((), 1.0)) }.boxed()
    }

    fn ready<'a>(&'a self, _: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        async { Ok(()) }.boxed()
    }

    fn retries(&self) -> &RetryBudget {
        &self.budget
    }

    fn has_eventual_indexes(&self) -> bool {
        true
    }
}

/// A scripted store, the cache above it, and the gate of all calls.
struct World {
    store: Arc<Scripted>,
    cache: Arc<TableCache>,
    gate: Arc<CallGate>,
}

impl World {
    fn new(script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::of_bytes(1 << 20, script)
    }

    fn of_bytes(bytes: u64, script: impl Fn(usize) -> Reply + Send + Sync + 'static) -> Self {
        let store =
            Arc::new(Scripted { script: Box::new(script), asked: Mutex::default(), budget: RetryBudget::default() });
        let things = Table { time_to_live: Some("ttl".to_owned()), ..table("things") };
        let cache = Arc::new(TableCache::new(&[things], bytes, HOLD_OFF));
        Self { store, cache, gate: CallGate::new(256) }
    }

    /// The loaders of a request that lasts so long.
    fn request(&self, lasts: Duration) -> Loaders {
        let store: Arc<dyn DataStore> = self.store.clone();
        let share = ReadRoom::new(u64::MAX).share(None);
        Loaders::through((&self.gate, share), (store, Some(self.cache.clone())), Instant::now() + lasts)
    }

    /// The number of the call that answers a request for an item of up to this age; 0 if there is no item.
    async fn read(&self, max_age: u32) -> Result<usize, TableErrorKind> {
        self.read_within(Duration::from_secs(30), thing("a", max_age)).await
    }

    async fn read_within(&self, lasts: Duration, get: Get) -> Result<usize, TableErrorKind> {
        // Without other tasks to join, the call is made at once.
        let results = self.request(lasts).get_shared(vec![Arc::new(get)], false).await;
        results[0].as_ref().map(|item| item.as_deref().map_or(0, number)).map_err(|error| error.kind)
    }

    /// The same of a page of the partition `p`, or of an index.
    async fn page(&self, query: Query) -> usize {
        let page = self.request(Duration::from_secs(30)).query(&query).await.unwrap();
        page.items.first().map_or(0, |item| number(item))
    }

    fn calls(&self) -> usize {
        self.store.asked.lock().unwrap().len()
    }

    fn attributes(&self) -> Vec<String> {
        self.store.asked.lock().unwrap().iter().map(|(_, attributes)| attributes.join(" ")).collect()
    }

    /// A change of the item `a` by another copy.
    fn change(&self) {
        let (before, after) = (Image::Unknown, Image::Missing);
        self.cache.invalidate(&ItemChange { table: "things", key: &key("p", "a"), before, after, attributes: None });
    }
}

fn number(item: &Item) -> usize {
    let Some(Attribute::N(number)) = item.get("n") else { panic!("{item:?}") };
    number.parse().unwrap()
}

fn thing(sk: &str, max_age: u32) -> Get {
    Get { max_age: Some(max_age), ..get("things", "p", sk) }
}

fn list(max_age: u32) -> Query {
    Query { max_age: Some(max_age), ..query("things", "p") }
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_requests_for_a_cold_item_make_one_call_a_max_age() {
    let world = World::new(|_| Reply::Item);
    let ask = || async { join_all((0..10_000).map(|_| world.read(60))).await };
    assert!(ask().await.into_iter().all(|call| call == Ok(1)));
    advance(Duration::from_secs(58)).await;
    assert!(ask().await.into_iter().all(|call| call == Ok(1)), "the answer is 59 seconds old");
    advance(Duration::from_secs(1)).await;
    assert!(ask().await.into_iter().all(|call| call == Ok(2)));
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn each_reader_says_how_old_an_answer_it_takes() {
    let world = World::new(|_| Reply::Item);
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(1), 2));
    advance(Duration::from_secs(10)).await;
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(1), 2));
    assert_eq!((world.read(5).await, world.page(list(5)).await), (Ok(3), 4));
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(3), 4));
    let strong = Get { consistent: true, ..thing("a", 60) };
    assert_eq!(world.read_within(Duration::from_secs(30), strong).await, Ok(5));
    let uncached = get("things", "p", "a");
    assert_eq!(world.read_within(Duration::from_secs(30), uncached).await, Ok(6));
    assert_eq!(world.page(query("things", "p")).await, 7);
}

#[tokio::test(start_paused = true)]
async fn what_expires_is_not_kept_beyond_its_time() {
    let world = World::new(|_| Reply::Expiring(40));
    assert_eq!((world.read(600).await, world.page(list(600)).await), (Ok(1), 2));
    advance(Duration::from_secs(30)).await;
    assert_eq!((world.read(600).await, world.page(list(600)).await), (Ok(1), 2));
    advance(Duration::from_secs(11)).await;
    assert_eq!((world.read(600).await, world.page(list(600)).await), (Ok(3), 4));
}

#[tokio::test(start_paused = true)]
async fn that_there_is_no_item_is_kept_for_a_second() {
    let world = World::new(|call| if call == 0 { Reply::Missing } else { Reply::Item });
    // The call takes a second, and the age counts from when it was asked.
    let (first, second) = tokio::join!(world.read(60), world.read(60));
    assert_eq!((first, second, world.calls()), (Ok(0), Ok(0), 1));
    assert_eq!(world.read(60).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn one_who_waits_ends_at_its_own_deadline() {
    let world = World::new(|call| if call == 0 { Reply::Never } else { Reply::Item });
    let begun = Instant::now();
    let reader = async |lasts: u64| {
        let result = world.read_within(Duration::from_secs(lasts), thing("a", 60)).await;
        (result, begun.elapsed().as_secs())
    };
    let (first, short, long) = tokio::join!(reader(10), reader(2), reader(30));
    assert_eq!(first, (Err(TableErrorKind::Timeout), 10));
    assert_eq!(short, (Err(TableErrorKind::Timeout), 2));
    assert_eq!(long, (Ok(2), 11), "it makes the call when the first has given up");
}

#[tokio::test(start_paused = true)]
async fn one_who_waits_has_its_own_time_while_the_table_is_busy() {
    let world = World::new(|call| if call < 2 { Reply::Throttled } else { Reply::Item });
    let begun = Instant::now();
    let reader = async |lasts: u64| {
        let result = world.read_within(Duration::from_secs(lasts), thing("a", 60)).await;
        (result, begun.elapsed().as_secs())
    };
    // Those who wait are asked in this order.
    let (first, second, third) = futures_util::future::join3(reader(3), reader(5), reader(30)).await;
    assert_eq!(first, (Err(TableErrorKind::Throttled), 3));
    assert_eq!(second, (Err(TableErrorKind::Throttled), 5));
    assert_eq!(third, (Ok(3), 6), "it makes the call when both have given up");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_fails_lets_another_try() {
    let world = World::new(|call| if call == 0 { Reply::Fails } else { Reply::Item });
    let found = join_all((0..100).map(|_| world.read(60))).await;
    assert_eq!(
        found.iter().filter(|result| **result == Err(TableErrorKind::Unavailable)).count(),
        1,
        "who made the call"
    );
    assert_eq!(found.iter().filter(|result| **result == Ok(2)).count(), 99);
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_table_that_always_fails_is_asked_twice_for_all_who_wait() {
    let world = World::new(|_| Reply::Fails);
    let found = join_all((0..1_000).map(|_| world.read(60))).await;
    assert!(found.into_iter().all(|result| result == Err(TableErrorKind::Unavailable)));
    assert_eq!(world.calls(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_lets_another_try() {
    let world = World::new(|_| Reply::Item);
    let (first, pages) = (world.read(60).boxed(), world.page(list(60)).boxed());
    let left = tokio::time::timeout(CALL / 2, futures_util::future::join(first, pages));
    let (left, item, page) = tokio::join!(left, world.read(60), world.page(list(60)));
    assert!(left.is_err(), "it left before its answer");
    assert!(item.is_ok_and(|call| call > 2) && page > 2 && world.calls() == 4, "{item:?} {page}");
}

#[tokio::test(start_paused = true)]
async fn what_was_asked_for_before_a_change_is_neither_kept_nor_joined() {
    let world = World::new(|_| Reply::Item);
    let changed = async {
        sleep(CALL / 2).await;
        world.change();
        tokio::join!(world.read(60), world.page(list(60)))
    };
    let (before, page_before, (after, page_after)) = tokio::join!(world.read(60), world.page(list(60)), changed);
    assert!(before.is_ok_and(|call| call <= 2) && page_before <= 2, "{before:?} {page_before}");
    assert!(after.is_ok_and(|call| call > 2) && page_after > 2, "{after:?} {page_after}");
    advance(HOLD_OFF).await;
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(5), 6), "these began within the hold-off");
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(5), 6));
}

#[tokio::test(start_paused = true)]
async fn when_changes_were_lost_nothing_is_kept_of_what_was_asked_for_before() {
    let world = World::new(|_| Reply::Item);
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(1), 2));
    let lost = async {
        sleep(CALL / 2).await;
        world.cache.invalidate_all();
    };
    let other = Get { projection: Vec::new().into(), ..thing("b", 60) };
    let (_, ()) = tokio::join!(world.read_within(Duration::from_secs(30), other.clone()), lost);
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(4), 5));
    advance(HOLD_OFF).await;
    assert_eq!(world.read_within(Duration::from_secs(30), other).await, Ok(6), "the answer came after the loss");
}

#[tokio::test(start_paused = true)]
async fn within_the_hold_off_nothing_is_kept_but_all_who_ask_at_once_share_a_call() {
    let world = World::new(|_| Reply::Item);
    world.change();
    let found = join_all((0..100).map(|_| world.read(60))).await;
    assert!(found.into_iter().all(|call| call == Ok(1)));
    advance(HOLD_OFF).await;
    assert_eq!((world.read(60).await, world.read(60).await), (Ok(2), Ok(2)));
}

#[tokio::test(start_paused = true)]
async fn an_index_page_hangs_on_the_items_that_it_shows() {
    let world = World::new(|_| Reply::Item);
    let partition = Some(("GroupId".to_owned(), keyfold::table::data::attribute::KeyValue::S("g".into())));
    let indexed = Query { index: Some("ByGroup".into()), partition, ..list(60) };
    assert_eq!(world.page(indexed.clone()).await, 1);
    let changed = async {
        sleep(CALL / 2).await;
        world.change();
    };
    let other = Query { limit: 7, ..indexed.clone() };
    let (found, ()) = tokio::join!(world.page(other.clone()), changed);
    assert_eq!(found, 2);
    advance(HOLD_OFF).await;
    assert_eq!(world.page(indexed).await, 3, "the item on it has changed");
    assert_eq!(world.page(other).await, 4, "the item on it changed while it was read");
}

#[tokio::test(start_paused = true)]
async fn a_change_drops_the_pages_of_its_whole_partition_only() {
    let value = |text: &str| keyfold::table::data::attribute::KeyValue::S(text.into());
    let mut declared = table("things");
    declared.indexes[0].partition.push(crate::fixture::key_attribute("region", keyfold::schema::table::KeyType::S));
    let world =
        World { cache: Arc::new(TableCache::new(&[declared], 1 << 20, HOLD_OFF)), ..World::new(|_| Reply::Item) };
    let of = |region: &str, day: Option<&str>| Query {
        index: Some("ByGroup".into()),
        partition: Some(("GroupId".to_owned(), value("g"))),
        equal: [("region", Some(region)), ("day", day)]
            .into_iter()
            .filter_map(|(name, text)| Some((name.to_owned(), value(text?))))
            .collect(),
        ..list(60)
    };
    let (north, south, day) = (of("north", None), of("south", None), of("north", Some("monday")));
    assert_eq!((world.page(north.clone()).await, world.page(south.clone()).await), (1, 2));
    assert_eq!((world.page(day.clone()).await, world.page(north.clone()).await), (3, 1), "each is a page of its own");
    let image: Item =
        [("PK", s("q")), ("SK", s("z")), ("GroupId", s("g")), ("region", s("north"))].into_iter().collect();
    let (before, after) = (Image::Missing, Image::Item(&image));
    let (changed, lacking) = (key("q", "z"), [("PK", s("q")), ("SK", s("z")), ("GroupId", s("g"))]);
    let lacking: Item = lacking.into_iter().collect();
    let nowhere = Image::Item(&lacking);
    let change = |after| ItemChange { table: "things", key: &changed, before, after, attributes: None };
    world.cache.invalidate(&change(nowhere));
    advance(HOLD_OFF).await;
    assert_eq!(world.page(north.clone()).await, 1, "an item without one of the attributes is in no partition");
    world.cache.invalidate(&change(after));
    advance(HOLD_OFF).await;
    assert_eq!(world.page(south).await, 2, "another partition");
    assert_eq!((world.page(north).await, world.page(day).await), (4, 5));
}

#[tokio::test(start_paused = true)]
async fn a_write_drops_what_it_touches_unless_it_is_certainly_not_made() {
    for (reply, drops) in [(Reply::Item, true), (Reply::Never, true), (Reply::Fails, false)] {
        let world = World::new(move |call| if call == usize::MAX { reply } else { Reply::Item });
        assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(1), 2));
        let update = expression("SET #n0 = :v0", &[("#n0", "n")], &[(":v0", s("x"))]);
        let call = WriteCall {
            table: "things".into(),
            action: WriteAction::Update(key("p", "a"), Some(update)),
            condition: None,
        };
        let _ = world.request(Duration::from_secs(30)).write(&call).await;
        let expected = if drops { (Ok(3), 4) } else { (Ok(1), 2) };
        assert_eq!((world.read(60).await, world.page(list(60)).await), expected, "{reply:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn transactions_and_batches_drop_what_they_touch() {
    let world = World::new(|_| Reply::Item);
    let loaders = world.request(Duration::from_secs(30));
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(1), 2));
    loaders.delete_batch("things", vec![key("p", "a")]).await.unwrap();
    advance(2 * HOLD_OFF).await;
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(3), 4));
    let put = |sk: &str| WriteCall { table: "things".into(), action: WriteAction::Put(item("p", sk)), condition: None };
    loaders.transact(&[put("a"), put("b")], "token").await.unwrap();
    advance(2 * HOLD_OFF).await;
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(5), 6));
    loaders.put_batch("things", vec![item("p", "a")]).await.unwrap();
    assert_eq!((world.read(60).await, world.page(list(60)).await), (Ok(7), 8));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_is_dropped_drops_what_it_touches() {
    let world = World::new(|_| Reply::Item);
    assert_eq!(world.read(60).await, Ok(1));
    let loaders = world.request(Duration::from_secs(30));
    let call = WriteCall { table: "things".into(), action: WriteAction::Delete(key("p", "a")), condition: None };
    assert!(tokio::time::timeout(CALL / 2, loaders.write(&call)).await.is_err());
    assert_eq!(world.read(60).await, Ok(2));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_began_on_another_cache_drops_what_the_one_in_its_place_keeps() {
    let (old, new) = (World::new(|_| Reply::Item), World::new(|_| Reply::Item));
    let loaders = old.request(Duration::from_secs(30));
    let call = WriteCall { table: "things".into(), action: WriteAction::Delete(key("p", "a")), condition: None };
    let mut write = std::pin::pin!(loaders.write(&call));
    assert!(tokio::time::timeout(CALL / 2, &mut write).await.is_err());
    old.cache.hand_over(&new.cache);
    // What was changed just before counts as changed in the new cache.
    assert_eq!((new.read(60).await, new.read(60).await), (Ok(1), Ok(2)));
    advance(HOLD_OFF).await;
    assert_eq!((new.read(60).await, new.read(60).await), (Ok(3), Ok(3)), "it is kept");
    let _ = write.await;
    assert_eq!(new.read(60).await, Ok(4), "the write may have changed it");
}

#[tokio::test(start_paused = true)]
async fn more_attributes_serve_fewer_and_two_lists_become_one() {
    let world = World::new(|_| Reply::Item);
    let asked = |names: &[&str]| Get {
        projection: names.iter().map(|name| AttributeName::from(*name)).collect(),
        ..thing("a", 60)
    };
    let read = async |names: &[&str]| world.read_within(Duration::from_secs(30), asked(names)).await;
    let (wide, narrow) = tokio::join!(biased; read(&["PK", "SK", "a", "b"]), read(&["PK", "SK", "b"]));
    assert_eq!((wide, narrow), (Ok(1), Ok(1)), "under one call, too");
    assert_eq!(read(&["PK", "SK", "c"]).await, Ok(2));
    assert_eq!((read(&["PK", "SK", "a"]).await, read(&["PK", "SK", "b", "c"]).await), (Ok(2), Ok(2)));
    assert_eq!(read(&[]).await, Ok(3), "no list is all attributes");
    assert_eq!(read(&["PK", "SK", "d"]).await, Ok(3));
    assert_eq!(world.attributes(), ["PK SK a b", "PK SK a b c", ""]);
}

#[tokio::test(start_paused = true)]
async fn what_is_cached_leaves_the_batch_and_is_shown() {
    let world = World::new(|_| Reply::Item);
    assert_eq!(world.read(60).await, Ok(1));
    let loaders = world.request(Duration::from_secs(30));
    let found = loaders.get(vec![thing("a", 60), thing("b", 60), thing("c", 60)]).await;
    let numbers: Vec<usize> = found.iter().map(|item| number(item.as_ref().unwrap().as_ref().unwrap())).collect();
    assert_eq!(numbers, [1, 2, 2]);
    assert_eq!(world.store.asked.lock().unwrap()[1].0, [key("p", "b"), key("p", "c")]);
    let calls = loaders.calls();
    let shown: Vec<_> =
        calls.iter().map(|call| (call.operation, call.keys, call.items, call.cached, call.capacity)).collect();
    assert_eq!(shown, [("GetItem", 1, 1, true, 0.0), ("BatchGetItem", 2, 2, false, 0.5)]);
}

#[tokio::test(start_paused = true)]
async fn its_memory_is_bounded_in_bytes() {
    let most = 4 << 20;
    let world = World::of_bytes(most, |_| Reply::Item);
    for batch in 0..200 {
        let gets = (0..100).map(|n| thing(&format!("{batch}#{n}#{}", "x".repeat(500)), 60)).collect::<Vec<_>>();
        world.request(Duration::from_secs(30)).get(gets).await;
    }
    let kept = world.cache.bytes();
    assert!((most / 2..=most).contains(&kept), "{kept} bytes are kept");
}
