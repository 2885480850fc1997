//! The stream of a table in; its records out, in the order of each item's changes, as long as somebody takes them. It
//! repeats what fails, follows shards that split, and says when records are lost.

use super::lineage::{Lineage, StreamStart};
use crate::table::change_source::{ChangeRecord, StreamPosition};
use crate::table::change_source::{ChangeSource, Shard, ShardStart, StreamError};
use crate::table::retry::backoff::{Backoff, Pace};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// How often the shards are listed. New ones are looked for as soon as a shard ends, too.
const LIST_EVERY: Duration = Duration::from_secs(15);
/// How soon they are listed again if what follows a shard is not there yet.
const LIST_SOON: Duration = Duration::from_millis(500);
/// After how many answers without records, one after the other, a shard counts as read for now. DynamoDB may give none
/// although there are more (API reference, `GetRecords`).
pub(in crate::table) const EMPTY_ANSWERS: u32 = 5;
/// The waits after a call that failed.
const FAILED: Pace = Pace { first: Duration::from_millis(100), longest: Duration::from_secs(5) };
/// How long who catches up waits for a shard that cannot be read.
const AWAY_LIMIT: Duration = Duration::from_secs(30);
/// One deadline of a backoff that never ends.
const FOREVER: Duration = Duration::from_secs(3600);

/// Who takes what a reader reads.
pub trait ChangeSink: Send + Sync {
    /// Takes records of one shard, in order. It may let the reader wait.
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()>;

    /// Whether what a shard has after this record arrives by another way. Who catches up reads no further in it.
    fn has_after(&self, _record: &ChangeRecord) -> bool {
        false
    }

    /// The stream lists these shards.
    fn listed(&self, _shards: &[Shard]) {}

    /// Every shard is read from where it should be: what changes from now on arrives.
    fn begun(&self);

    /// The reading of a shard is so many seconds behind its changes; 0 if it is read to its end.
    fn lag(&self, _shard: &Arc<str>, _seconds: i64) {}

    /// Records are gone that were not read.
    fn lost(&self);

    /// The stream was switched off, or the table has another one: some changes are in no stream. [`Self::begun`]
    /// follows as soon as there is a stream again.
    fn stopped(&self) {
        self.lost();
    }
}

/// Reads the stream of a table.
pub struct StreamReader {
    source: Arc<dyn ChangeSource>,
    table: Arc<str>,
    sink: Arc<dyn ChangeSink>,
}

/// What a shard's reading came to.
enum Step {
    /// The shard has ended.
    Ended(Arc<str>),
    /// The shard cannot be read for now, from there.
    Away(Arc<str>, ShardStart),
    /// All of its records so far are read.
    Current(Box<ShardReader>),
    /// What it has next arrives by another way.
    Passed,
}

impl StreamReader {
    /// A reader of a table's stream.
    pub fn new(source: Arc<dyn ChangeSource>, table: Arc<str>, sink: Arc<dyn ChangeSink>) -> Self {
        Self { source, table, sink }
    }

    /// Reads what changes from now on. It ends only when it is dropped.
    pub async fn follow(&self) {
        self.run(StreamStart::Latest, false).await;
    }

    /// Reads what changed after a position, until each shard is current or what it has next [arrives by another
    /// way](ChangeSink::has_after). True if all are current.
    pub async fn catch_up(&self, position: StreamPosition) -> bool {
        self.run(StreamStart::After(position), true).await
    }

    async fn run(&self, start: StreamStart, is_catching_up: bool) -> bool {
        let mut lineage = Lineage::new(start);
        let mut reading: FuturesUnordered<BoxFuture<'static, Step>> = FuturesUnordered::new();
        let (mut open, mut is_begun, mut is_current) = (0_usize, false, true);
        let (mut list_at, mut away_since) = (Instant::now(), None);
        loop {
            if Instant::now() >= list_at {
                let Some(listed) = self.list(&lineage, is_catching_up).await else {
                    self.sink.stopped();
                    if is_catching_up {
                        return false;
                    }
                    (lineage, open, is_begun) = (Lineage::new(StreamStart::Latest), 0, false);
                    reading.clear();
                    continue;
                };
                self.sink.listed(&listed);
                for reader in self.begin_shards((&mut lineage, &listed), (is_begun, is_catching_up)).await {
                    open += 1;
                    reading.push(reader.read().boxed());
                }
                let is_waiting = lineage.is_waiting();
                // What follows a shard may be listed a moment after its end.
                list_at = Instant::now() + if reading.is_empty() || is_waiting { LIST_SOON } else { LIST_EVERY };
                if !is_begun && !is_waiting {
                    is_begun = true;
                    self.sink.begun();
                }
                away_since = if is_waiting { away_since.or(Some(Instant::now())) } else { None };
            }
            if is_catching_up && open == 0 && reading.is_empty() && self.has_caught_up(away_since) {
                return is_current;
            }
            tokio::select! {
                // The order of what happens does not depend on chance.
                biased;
                () = tokio::time::sleep_until(list_at) => {}
                Some(step) = reading.next(), if !reading.is_empty() => match step {
                    Step::Ended(shard) => {
                        open -= 1;
                        lineage.end(&shard);
                        list_at = Instant::now();
                    }
                    Step::Away(shard, start) => {
                        open -= 1;
                        lineage.leave(shard, start);
                        let now = Instant::now();
                        (list_at, away_since) = (list_at.min(now + LIST_SOON), away_since.or(Some(now)));
                    }
                    Step::Passed => {
                        open -= 1;
                        is_current = false;
                    }
                    Step::Current(shard) if is_catching_up && shard.empty >= EMPTY_ANSWERS => open -= 1,
                    Step::Current(shard) => reading.push(shard.read_later().boxed()),
                },
            }
        }
    }

    /// Whether nothing is left to catch up with. A shard that is away for too long is lost.
    fn has_caught_up(&self, away_since: Option<Instant>) -> bool {
        let is_lost = away_since.is_some_and(|since| since.elapsed() >= AWAY_LIMIT);
        if is_lost {
            self.sink.lost();
        }
        is_lost || away_since.is_none()
    }

    /// Begins the shards that are to be read now, of those that are listed. Says what is lost.
    async fn begin_shards(
        &self,
        (lineage, listed): (&mut Lineage, &[Shard]),
        (is_begun, is_catching_up): (bool, bool),
    ) -> Vec<ShardReader> {
        let mut is_lost = false;
        for (shard, start) in lineage.take_gone(listed) {
            self.sink.lag(&shard, 0);
            // Before the beginning, nothing was wanted of a shard that is read from its end on.
            is_lost |= is_begun || start != ShardStart::Latest;
        }
        let mut begun = Vec::new();
        for (shard, start) in lineage.update(listed) {
            match ShardReader::begin(self, shard.clone(), start.clone(), is_catching_up).await {
                Some(reader) => {
                    // Its place was known to an iterator alone, which is gone. Only now, what comes next is known to
                    // arrive.
                    is_lost |= is_begun && start == ShardStart::Latest;
                    begun.push(reader);
                }
                None => {
                    tracing::warn!(
                        table = &*self.table,
                        shard = &*shard,
                        "a shard of a stream is not there: it is tried again"
                    );
                    lineage.leave(shard, start);
                }
            }
        }
        if is_lost {
            self.sink.lost();
        }
        begun
    }

    /// The shards, as soon as the stream lists them. `None`: the stream whose shards are known is off, or the table has
    /// another one. Who catches up does not wait for a stream.
    async fn list(&self, lineage: &Lineage, is_catching_up: bool) -> Option<Vec<Shard>> {
        let mut backoff = Backoff::unbounded(FAILED);
        loop {
            match self.source.shards(&self.table).await {
                Ok(shards) => return (!lineage.is_of_another_stream(&shards)).then_some(shards),
                Err(StreamError::Missing(_)) if lineage.has_begun() || is_catching_up => return None,
                Err(error) => self.wait(&mut backoff, "list the shards", &error).await,
            }
        }
    }

    async fn wait(&self, backoff: &mut Backoff<'_>, what: &'static str, error: &StreamError) {
        tracing::warn!(table = &*self.table, %error, "could not {what} of a stream");
        backoff.pause(Instant::now() + FOREVER).await;
    }
}

/// The reading of one shard.
struct ShardReader {
    source: Arc<dyn ChangeSource>,
    sink: Arc<dyn ChangeSink>,
    table: Arc<str>,
    shard: Arc<str>,
    /// Where to go on if the iterator is lost.
    at: ShardStart,
    iterator: Option<String>,
    /// The answers without records since the last record.
    empty: u32,
    /// Whether no record is wanted that arrives by another way.
    is_catching_up: bool,
}

impl ShardReader {
    /// Begins to read a shard: once this is done, no later record is missed. `None` if the shard cannot be read for
    /// now.
    async fn begin(reader: &StreamReader, shard: Arc<str>, at: ShardStart, is_catching_up: bool) -> Option<Self> {
        let StreamReader { source, table, sink } = reader;
        let (source, sink, table) = (source.clone(), sink.clone(), table.clone());
        let mut begun = Self { source, sink, table, shard, at, iterator: None, empty: 0, is_catching_up };
        begun.renew().await.then_some(begun)
    }

    /// Gets an iterator. False if the shard cannot be read for now, as DynamoDB may say even of one that it has just
    /// listed.
    async fn renew(&mut self) -> bool {
        let mut backoff = Backoff::unbounded(FAILED);
        loop {
            match self.source.iterator(&self.table, &self.shard, &self.at).await {
                Ok(iterator) => {
                    self.iterator = Some(iterator);
                    return true;
                }
                Err(StreamError::Trimmed) if matches!(self.at, ShardStart::After(_)) => {
                    self.sink.lost();
                    self.at = ShardStart::TrimHorizon;
                }
                Err(StreamError::Trimmed | StreamError::Missing(_)) => return false,
                Err(error) => self.wait(&mut backoff, &error).await,
            }
        }
    }

    /// Reads until the shard ends, or until there is nothing more for now.
    async fn read(mut self) -> Step {
        let mut backoff = Backoff::unbounded(FAILED);
        loop {
            let Some(iterator) = self.iterator.clone() else {
                self.sink.lag(&self.shard, 0);
                return Step::Ended(self.shard);
            };
            match self.source.records((&self.table, &self.shard), &iterator).await {
                Ok((records, next)) => {
                    backoff = Backoff::unbounded(FAILED);
                    self.iterator = next;
                    let is_current = records.is_empty() && self.iterator.is_some();
                    self.empty = if records.is_empty() { self.empty.saturating_add(1) } else { 0 };
                    if let Some(last) = records.last() {
                        self.at = ShardStart::After(last.position.clone());
                        self.sink.lag(&self.shard, seconds_now() - last.created);
                        let has_passed = self.is_catching_up && self.sink.has_after(last);
                        self.sink.take(records).await;
                        if has_passed {
                            return Step::Passed;
                        }
                    }
                    if is_current {
                        self.sink.lag(&self.shard, 0);
                        return Step::Current(Box::new(self));
                    }
                }
                Err(StreamError::Trimmed) => {
                    self.sink.lost();
                    let is_horizon =
                        std::mem::replace(&mut self.at, ShardStart::TrimHorizon) == ShardStart::TrimHorizon;
                    if is_horizon || !self.renew().await {
                        return Step::Away(self.shard, self.at);
                    }
                }
                // After a record, another iterator goes on. Before the first one, none knows the place.
                Err(StreamError::Expired) if self.at != ShardStart::Latest => {
                    if !self.renew().await {
                        return Step::Away(self.shard, self.at);
                    }
                }
                Err(StreamError::Expired | StreamError::Missing(_)) => return Step::Away(self.shard, self.at),
                Err(error) => self.wait(&mut backoff, &error).await,
            }
        }
    }

    /// Reads on after a pause.
    async fn read_later(self) -> Step {
        self.source.pause().await;
        self.read().await
    }

    async fn wait(&self, backoff: &mut Backoff<'_>, error: &StreamError) {
        tracing::warn!(table = &*self.table, shard = &*self.shard, %error, "could not read a shard of a stream");
        backoff.pause(Instant::now() + FOREVER).await;
    }
}

/// Seconds since 1970.
fn seconds_now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
