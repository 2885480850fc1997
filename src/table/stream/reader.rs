//! The stream of a table in; its records out, in the order of each item's changes, as long as somebody takes them. It repeats what fails,
//! follows shards that split, and says when records are lost.

use super::lineage::{Lineage, StreamStart};
use super::record::{ChangeRecord, StreamPosition};
use super::source::{ChangeSource, ShardStart, StreamError};
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
/// After how many answers without records, one after the other, a shard counts as read for now. DynamoDB may give none although there are
/// more (API reference, `GetRecords`).
pub(in crate::table) const EMPTY_ANSWERS: u32 = 5;
/// The waits after a call that failed.
const FAILED: Pace = Pace { first: Duration::from_millis(100), longest: Duration::from_secs(5) };
/// One deadline of a backoff that never ends.
const FOREVER: Duration = Duration::from_secs(3600);

/// Who takes what a reader reads.
pub trait ChangeSink: Send + Sync {
    /// Takes records of one shard, in order. It may let the reader wait.
    fn take(&self, records: Vec<ChangeRecord>) -> BoxFuture<'_, ()>;

    /// Every shard is read from where it should be: what changes from now on arrives.
    fn begun(&self);

    /// The reading of a shard is so many seconds behind its changes; 0 if it is read to its end.
    fn lag(&self, _shard: &Arc<str>, _seconds: i64) {}

    /// Records are gone that were not read.
    fn lost(&self);
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
    /// All of its records so far are read.
    Current(Box<ShardReader>),
    /// Its records are read as far as is wanted.
    Passed,
}

impl StreamReader {
    /// A reader of a table's stream.
    pub fn new(source: Arc<dyn ChangeSource>, table: Arc<str>, sink: Arc<dyn ChangeSink>) -> Self {
        Self { source, table, sink }
    }

    /// Reads what changes from now on. It ends only when it is dropped.
    pub async fn follow(&self) {
        self.run(StreamStart::Latest, None).await;
    }

    /// Reads what changed after a position, until each shard is current or has a record of a later second than this one, since 1970. True if
    /// all are current.
    pub async fn catch_up(&self, position: StreamPosition, last: i64) -> bool {
        self.run(StreamStart::After(position), Some(last)).await
    }

    async fn run(&self, start: StreamStart, last: Option<i64>) -> bool {
        let mut lineage = Lineage::new(start);
        let mut reading: FuturesUnordered<BoxFuture<'static, Step>> = FuturesUnordered::new();
        let (mut open, mut is_begun, mut is_current) = (0_usize, false, true);
        let mut list_at = Instant::now();
        loop {
            if Instant::now() >= list_at {
                for (shard, start) in lineage.update(&self.list().await) {
                    open += 1;
                    let begun = ShardReader::begin(self, shard, start, last).await;
                    reading.push(begun.read().boxed());
                }
                // What follows a shard may be listed a moment after its end.
                list_at = Instant::now() + if reading.is_empty() { LIST_SOON } else { LIST_EVERY };
                if !std::mem::replace(&mut is_begun, true) {
                    self.sink.begun();
                }
            }
            if last.is_some() && open == 0 && reading.is_empty() {
                return is_current;
            }
            tokio::select! {
                Some(step) = reading.next(), if !reading.is_empty() => match step {
                    Step::Ended(shard) => {
                        open -= 1;
                        lineage.end(&shard);
                        list_at = Instant::now();
                    }
                    Step::Passed => {
                        open -= 1;
                        is_current = false;
                    }
                    Step::Current(shard) if last.is_some() && shard.empty >= EMPTY_ANSWERS => open -= 1,
                    Step::Current(shard) => reading.push(shard.read_later().boxed()),
                },
                () = tokio::time::sleep_until(list_at) => {}
            }
        }
    }

    /// The shards, as soon as the stream tells them.
    async fn list(&self) -> Vec<super::source::Shard> {
        let mut backoff = Backoff::unbounded(FAILED);
        loop {
            match self.source.shards(&self.table).await {
                Ok(shards) => return shards,
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
    /// The second in which the reading began. Older records do not count if the iterator is lost before the first record.
    begun: i64,
    /// The answers without records since the last record.
    empty: u32,
    /// The second after which no record is wanted.
    last: Option<i64>,
}

impl ShardReader {
    /// Begins to read a shard: once this is done, no later record is missed.
    async fn begin(reader: &StreamReader, shard: Arc<str>, at: ShardStart, last: Option<i64>) -> Self {
        let StreamReader { source, table, sink } = reader;
        let time = if at == ShardStart::Latest { seconds_now() } else { 0 };
        let (source, sink, table) = (source.clone(), sink.clone(), table.clone());
        let mut begun = Self { source, sink, table, shard, at, iterator: None, begun: time, empty: 0, last };
        begun.renew().await;
        begun
    }

    /// Gets an iterator; none if the shard is gone.
    async fn renew(&mut self) {
        let mut backoff = Backoff::unbounded(FAILED);
        self.iterator = loop {
            match self.source.iterator(&self.table, &self.shard, &self.at).await {
                Ok(iterator) => break Some(iterator),
                Err(StreamError::Trimmed) => {
                    self.sink.lost();
                    self.at = ShardStart::TrimHorizon;
                }
                Err(StreamError::Missing(_)) => {
                    if self.at != ShardStart::Latest {
                        self.sink.lost();
                    }
                    break None;
                }
                Err(error) => self.wait(&mut backoff, &error).await,
            }
        };
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
                        let (begun, has_passed) = (self.begun, self.last.is_some_and(|wanted| last.created > wanted));
                        self.sink.take(records.into_iter().filter(|record| record.created >= begun).collect()).await;
                        if has_passed {
                            return Step::Passed;
                        }
                    }
                    if is_current {
                        self.sink.lag(&self.shard, 0);
                        return Step::Current(Box::new(self));
                    }
                }
                Err(StreamError::Expired) => {
                    // What came since the lost iterator comes again with what was before it.
                    if self.at == ShardStart::Latest {
                        self.at = ShardStart::TrimHorizon;
                    }
                    self.renew().await;
                }
                Err(StreamError::Trimmed) => {
                    self.sink.lost();
                    self.at = ShardStart::TrimHorizon;
                    self.renew().await;
                }
                Err(StreamError::Missing(_)) => self.iterator = None,
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
