//! A stream that splits, forgets iterators, throttles and trims, and who takes what a reader reads of it.

use fastrand::Rng;
use futures_util::future::{BoxFuture, FutureExt};
use keyfold::table::change_source::{ChangeRecord, StreamPosition};
use keyfold::table::change_source::{ChangeSource, RecordPage, Shard, ShardStart, StreamError};
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::stream::reader::ChangeSink;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

/// The table that it is of.
pub const TABLE: &str = "things";
pub const ITEMS: u64 = 12;
/// Longer than any test takes, in the time of the test.
pub const LONG: Duration = Duration::from_secs(3_600);

/// A stream in memory.
pub struct Stream {
    pub state: Mutex<State>,
}

pub struct State {
    rng: Rng,
    /// How many of ten calls fail.
    pub trouble: u8,
    /// What the stream's clock shows at this second, since 1970.
    pub clock: fn(i64) -> i64,
    /// Whether every iterator has expired that was given until now.
    pub all_expired: bool,
    /// Whether the table has no stream.
    pub is_off: bool,
    /// How many iterators were given.
    pub iterators: usize,
    pub shards: Vec<Branch>,
    sequence: u64,
}

/// A shard: the items from one number up to another.
pub struct Branch {
    parent: Option<usize>,
    items: (u64, u64),
    pub records: Vec<ChangeRecord>,
    closed: bool,
    pub trimmed: usize,
    /// Whether the stream has forgotten it.
    pub is_gone: bool,
    /// Why the next iterators are refused, the last first.
    pub refusals: Vec<StreamError>,
    /// The answers without records, one after the other.
    empty: usize,
}

impl Branch {
    fn new(parent: Option<usize>, items: (u64, u64)) -> Self {
        Self {
            parent,
            items,
            records: Vec::new(),
            closed: false,
            trimmed: 0,
            is_gone: false,
            refusals: Vec::new(),
            empty: 0,
        }
    }
}

fn on_time(now: i64) -> i64 {
    now
}

impl Stream {
    pub fn new(seed: u64, trouble: u8) -> Arc<Self> {
        let (rng, clock, shards) =
            (Rng::with_seed(seed), on_time as fn(i64) -> i64, vec![Branch::new(None, (0, ITEMS))]);
        let (all_expired, is_off, iterators, sequence) = (false, false, 0, 0);
        let state = State { rng, trouble, clock, all_expired, is_off, iterators, shards, sequence };
        Arc::new(Self { state: Mutex::new(state) })
    }

    /// Changes an item.
    pub fn write(&self, item: u64, version: u64) {
        let mut state = self.state.lock().unwrap();
        state.sequence += 1;
        let sequence = format!("{:021}", state.sequence);
        let place = state
            .shards
            .iter()
            .position(|shard| !shard.closed && (shard.items.0..shard.items.1).contains(&item))
            .unwrap();
        let image = |version: u64| {
            let members =
                [("id", Attribute::N(item.to_string().into())), ("version", Attribute::N(version.to_string().into()))];
            Some(Arc::new(members.into_iter().collect::<Item>()))
        };
        let position = StreamPosition { shard: name(place), sequence: sequence.into() };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let created = (state.clock)(i64::try_from(now).unwrap());
        let old = if version > 1 { image(version - 1) } else { None };
        state.shards[place].records.push(ChangeRecord {
            table: TABLE.into(),
            position,
            created,
            old,
            new: image(version),
        });
    }

    /// Splits the shard of an item, or only ends it.
    pub fn split(&self, item: u64) {
        let mut state = self.state.lock().unwrap();
        let place = state
            .shards
            .iter()
            .position(|shard| !shard.closed && (shard.items.0..shard.items.1).contains(&item))
            .unwrap();
        let (low, high) = state.shards[place].items;
        state.shards[place].closed = true;
        let middle = (low + high) / 2;
        let parts = if middle > low { vec![(low, middle), (middle, high)] } else { vec![(low, high)] };
        for items in parts {
            state.shards.push(Branch::new(Some(place), items));
        }
    }

    /// Switches the stream off. What is written until [`Self::switch_on`] is in no stream.
    pub fn switch_off(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_off = true;
        state.shards.iter_mut().for_each(|shard| shard.closed = true);
    }

    /// Switches it on again: the table has another stream.
    pub fn switch_on(&self) {
        let mut state = self.state.lock().unwrap();
        state.is_off = false;
        state.shards.iter_mut().for_each(|shard| shard.is_gone = true);
        state.shards.push(Branch::new(None, (0, ITEMS)));
    }

    fn fails(&self) -> Result<(), StreamError> {
        let mut state = self.state.lock().unwrap();
        let trouble = state.trouble;
        match state.rng.u8(..10) < trouble {
            true => Err(StreamError::Unavailable("throttled".into())),
            false => Ok(()),
        }
    }
}

fn name(place: usize) -> Arc<str> {
    format!("shard-{place}").into()
}

fn place(shard: &str) -> usize {
    shard.strip_prefix("shard-").unwrap().parse().unwrap()
}

impl ChangeSource for Stream {
    fn shards<'a>(&'a self, _: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>> {
        async move {
            self.fails()?;
            let state = self.state.lock().unwrap();
            if state.is_off {
                return Err(StreamError::Missing("switched off".into()));
            }
            let shards = state.shards.iter().enumerate().filter(|(_, shard)| !shard.is_gone);
            Ok(shards.map(|(place, shard)| Shard { id: name(place), parent: shard.parent.map(name) }).collect())
        }
        .boxed()
    }

    fn iterator<'a>(
        &'a self,
        _: &'a str,
        shard: &'a str,
        start: &'a ShardStart,
    ) -> BoxFuture<'a, Result<String, StreamError>> {
        async move {
            self.fails()?;
            let mut state = self.state.lock().unwrap();
            let branch = &mut state.shards[place(shard)];
            if branch.is_gone {
                return Err(StreamError::Missing("gone".into()));
            }
            if let Some(refusal) = branch.refusals.pop() {
                return Err(refusal);
            }
            let at = match start {
                ShardStart::TrimHorizon => branch.trimmed,
                ShardStart::Latest => branch.records.len(),
                ShardStart::After(position) => {
                    let at = branch.records.iter().position(|record| record.position == *position).unwrap() + 1;
                    if at < branch.trimmed {
                        return Err(StreamError::Trimmed);
                    }
                    at
                }
            };
            let is_new = if *start == ShardStart::Latest { " new" } else { "" };
            state.all_expired = false;
            state.iterators += 1;
            Ok(format!("{shard} {at}{is_new}"))
        }
        .boxed()
    }

    fn records<'a>(
        &'a self,
        _: (&'a Arc<str>, &'a Arc<str>),
        iterator: &'a str,
    ) -> BoxFuture<'a, Result<RecordPage, StreamError>> {
        async move {
            self.fails()?;
            let mut state = self.state.lock().unwrap();
            let (iterator, is_new) =
                iterator.strip_suffix(" new").map_or((iterator, ""), |iterator| (iterator, " new"));
            // Nobody can go on where only an iterator knew the place.
            if state.all_expired || is_new.is_empty() && state.trouble > 0 && state.rng.u8(..10) == 0 {
                return Err(StreamError::Expired);
            }
            // An answer may be empty although there is more, but not for ever.
            let most = state.rng.usize(..4);
            let (shard, at) = iterator.split_once(' ').unwrap();
            let branch = &mut state.shards[place(shard)];
            let most = if branch.empty < 2 { most } else { 3 };
            branch.empty = if most == 0 { branch.empty + 1 } else { 0 };
            let (branch, at) = (&state.shards[place(shard)], at.parse::<usize>().unwrap());
            if at < branch.trimmed {
                return Err(StreamError::Trimmed);
            }
            let records: Vec<ChangeRecord> = branch.records[at..].iter().take(most).cloned().collect();
            let after = at + records.len();
            let is_new = if records.is_empty() { is_new } else { "" };
            let next = (!branch.closed || after < branch.records.len()).then(|| format!("{shard} {after}{is_new}"));
            Ok((records, next))
        }
        .boxed()
    }

    fn pause(&self) -> BoxFuture<'_, ()> {
        sleep(Duration::from_millis(5)).boxed()
    }
}

/// What a reader has read.
#[derive(Default)]
pub struct Taken {
    pub records: Mutex<Vec<ChangeRecord>>,
    pub begun: Notify,
    pub lost: Mutex<usize>,
    pub more: Notify,
    /// The sequence number from which on changes arrive by another way, if they do.
    pub beside: Mutex<Option<Arc<str>>>,
}

impl ChangeSink for Taken {
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()> {
        self.records.lock().unwrap().extend(records);
        self.more.notify_one();
        std::future::ready(()).boxed()
    }

    fn has_after(&self, record: &ChangeRecord) -> bool {
        // All numbers have one length.
        self.beside.lock().unwrap().as_ref().is_some_and(|from| *from <= record.position.sequence)
    }

    fn begun(&self) {
        self.begun.notify_one();
    }

    fn lost(&self) {
        *self.lost.lock().unwrap() += 1;
        self.more.notify_one();
    }
}

impl Taken {
    /// Waits until this many changes are there. Gives the versions of each item in the order in which they came.
    pub async fn versions(&self, count: usize) -> Vec<Vec<u64>> {
        let wait = async {
            while self.records.lock().unwrap().len() < count {
                self.more.notified().await;
            }
        };
        if timeout(LONG, wait).await.is_err() {
            panic!("{} of {count} changes arrive", self.records.lock().unwrap().len());
        }
        let mut versions = vec![Vec::new(); ITEMS as usize];
        let number = |record: &ChangeRecord, name: &str| match &record.new.as_ref().unwrap()[name] {
            Attribute::N(text) => text.parse::<u64>().unwrap(),
            other => panic!("{other:?}"),
        };
        for record in self.records.lock().unwrap().iter() {
            versions[number(record, "id") as usize].push(number(record, "version"));
        }
        versions
    }
}
