//! Copies that share a stream, over a bus that loses, repeats and delays messages and goes away, with a table of leases
//! that fails: each copy gets each change once, those of an item in order, and one copy reads for all.

use super::stream::{ITEMS, Stream, TABLE, Taken};
use bytes::Bytes;
use fastrand::Rng;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};
use keyfold::table::change_source::{ChangeSource, RecordPage, Shard, ShardStart, StreamError};
use keyfold::table::data::attribute::Attribute;
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::stream::reader::StreamReader;
use keyfold::table::stream::shared::bus::Bus;
use keyfold::table::stream::shared::lease::{Lease, LeaseTable, ShardName};
use keyfold::table::stream::shared::source::SharedStreams;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// Longer than anything takes, in the time of the test.
const LONG: Duration = Duration::from_secs(300);

/// What connects the copies.
struct Wire {
    rng: Mutex<Rng>,
    /// How many of ten messages are lost, repeated or late.
    trouble: AtomicUsize,
    is_up: AtomicBool,
    /// How many of ten calls to the table of leases fail.
    refusals: AtomicUsize,
    ears: Mutex<Vec<(usize, String, mpsc::UnboundedSender<Bytes>)>>,
    leases: Mutex<HashMap<ShardName, Lease>>,
}

impl Wire {
    fn new(seed: u64, trouble: usize) -> Arc<Self> {
        Arc::new(Self {
            rng: Mutex::new(Rng::with_seed(seed)),
            trouble: AtomicUsize::new(trouble),
            is_up: AtomicBool::new(true),
            refusals: AtomicUsize::new(0),
            ears: Mutex::default(),
            leases: Mutex::default(),
        })
    }

    fn happens(&self, of_ten: &AtomicUsize) -> bool {
        self.rng.lock().unwrap().usize(..10) < of_ten.load(Ordering::Relaxed)
    }
}

/// The bus as one copy sees it.
struct CopyBus(usize, Arc<Wire>);

impl Bus for CopyBus {
    fn publish<'a>(&'a self, topic: &'a str, message: Bytes) -> BoxFuture<'a, bool> {
        let Self(me, wire) = self;
        if !self.is_up() {
            return std::future::ready(false).boxed();
        }
        for (copy, of, ear) in wire.ears.lock().unwrap().iter() {
            if copy == me || of != topic || wire.happens(&wire.trouble) {
                continue;
            }
            let times = 1 + usize::from(wire.happens(&wire.trouble));
            for _ in 0..times {
                let late = if wire.happens(&wire.trouble) { wire.rng.lock().unwrap().u64(..3_000) } else { 0 };
                let (ear, message) = (ear.clone(), message.clone());
                if late == 0 {
                    let _ = ear.send(message);
                } else {
                    tokio::spawn(async move {
                        sleep(Duration::from_millis(late)).await;
                        let _ = ear.send(message);
                    });
                }
            }
        }
        std::future::ready(true).boxed()
    }

    fn listen(&self, topic: &str) -> BoxStream<'static, Bytes> {
        let (ear, heard) = mpsc::unbounded_channel();
        self.1.ears.lock().unwrap().push((self.0, topic.to_owned(), ear));
        futures_util::stream::unfold(heard, |mut heard| async move { Some((heard.recv().await?, heard)) }).boxed()
    }

    fn is_up(&self) -> bool {
        self.1.is_up.load(Ordering::Relaxed)
    }

    fn longest(&self) -> usize {
        600
    }
}

impl LeaseTable for Wire {
    fn read<'a>(&'a self, shards: &'a [ShardName]) -> BoxFuture<'a, Result<Vec<Option<Lease>>, TableError>> {
        async move {
            self.answers()?;
            let leases = self.leases.lock().unwrap();
            Ok(shards.iter().map(|shard| leases.get(shard).cloned()).collect())
        }
        .boxed()
    }

    fn replace<'a>(
        &'a self,
        shard: &'a ShardName,
        seen: Option<&'a Lease>,
        lease: &'a Lease,
    ) -> BoxFuture<'a, Result<bool, TableError>> {
        async move {
            self.answers()?;
            let is_still = {
                let mut leases = self.leases.lock().unwrap();
                let is_still = leases.get(shard) == seen;
                if is_still {
                    leases.insert(shard.clone(), lease.clone());
                }
                is_still
            };
            // The answer of a write may be lost.
            self.answers()?;
            Ok(is_still)
        }
        .boxed()
    }
}

impl Wire {
    fn answers(&self) -> Result<(), TableError> {
        match self.happens(&self.refusals) {
            true => Err(TableError { kind: TableErrorKind::Unavailable, detail: "away".into() }),
            false => Ok(()),
        }
    }
}

/// A stream that counts how often a copy asks it.
struct Counted {
    stream: Arc<Stream>,
    asked: Arc<AtomicUsize>,
}

impl ChangeSource for Counted {
    fn shards<'a>(&'a self, table: &'a str) -> BoxFuture<'a, Result<Vec<Shard>, StreamError>> {
        self.stream.shards(table)
    }

    fn iterator<'a>(
        &'a self,
        table: &'a str,
        shard: &'a str,
        start: &'a ShardStart,
    ) -> BoxFuture<'a, Result<String, StreamError>> {
        self.stream.iterator(table, shard, start)
    }

    fn records<'a>(
        &'a self,
        of: (&'a Arc<str>, &'a Arc<str>),
        iterator: &'a str,
    ) -> BoxFuture<'a, Result<RecordPage, StreamError>> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.stream.records(of, iterator)
    }

    fn pause(&self) -> BoxFuture<'_, ()> {
        sleep(Duration::from_millis(200)).boxed()
    }
}

/// A stream in which item 0 has changed once.
fn stream(seed: u64, trouble: u8) -> Arc<Stream> {
    let stream = Stream::new(seed, trouble);
    stream.write(0, 1);
    stream
}

/// A copy of the gateway.
struct GatewayCopy {
    taken: Arc<Taken>,
    asked: Arc<AtomicUsize>,
    reading: AbortHandle,
    shared: Option<SharedStreams>,
}

impl GatewayCopy {
    /// Begins to follow the stream.
    async fn start(number: usize, wire: &Arc<Wire>, stream: &Arc<Stream>) -> Self {
        let shared = SharedStreams::new(Arc::new(CopyBus(number, wire.clone())), wire.clone());
        let asked = Arc::new(AtomicUsize::new(0));
        let source = shared.share(Arc::new(Counted { stream: stream.clone(), asked: asked.clone() }));
        let taken = Arc::new(Taken::default());
        let reader = StreamReader::new(source, TABLE.into(), taken.clone());
        let reading = tokio::spawn(async move { reader.follow().await }).abort_handle();
        taken.begun.notified().await;
        Self { taken, asked, reading, shared: Some(shared) }
    }

    /// It dies and gives nothing back.
    fn kill(&mut self) {
        self.reading.abort();
        self.shared = None;
    }

    /// The versions of each item that it has taken, as soon as each item's last one is there.
    async fn versions(&self, written: &[u64], seed: u64) -> Vec<Vec<u64>> {
        let wait = async {
            loop {
                let versions = self.taken.versions(0).await;
                if versions
                    .iter()
                    .zip(written)
                    .all(|(versions, last)| versions.last().copied().unwrap_or_default() == *last)
                {
                    return versions;
                }
                self.taken.more.notified().await;
            }
        };
        match timeout(LONG, wait).await {
            Ok(versions) => versions,
            Err(_) => panic!("seed {seed}: {written:?} were written, {:?} arrived", self.taken.versions(0).await),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn every_copy_gets_each_change_once_and_those_of_an_item_in_order() {
    for seed in 0..24 {
        let mut rng = Rng::with_seed(seed);
        let stream = stream(seed, (seed % 3) as u8);
        let clocks: [fn(i64) -> i64; 3] = [|now| now, |now| now - 5, |now| now / 60 * 60];
        stream.state.lock().unwrap().clock = clocks[(seed / 3 % 3) as usize];
        let wire = Wire::new(seed, (seed % 4) as usize);
        wire.refusals.store((seed % 5) as usize / 2, Ordering::Relaxed);
        let mut written = vec![0_u64; ITEMS as usize];
        written[0] = 1;
        // One copy lives, the others come and go.
        let mut copies = vec![];
        for number in 0..3 {
            copies.push((GatewayCopy::start(number, &wire, &stream).await, written.clone()));
        }
        let mut next = copies.len();
        for _ in 0..400 {
            let item = rng.u64(..ITEMS);
            written[item as usize] += 1;
            stream.write(item, written[item as usize]);
            match rng.u8(..60) {
                0..3 => stream.split(item),
                3 => {
                    let dies = rng.usize(1..copies.len());
                    copies.remove(dies).0.kill();
                    copies.push((GatewayCopy::start(next, &wire, &stream).await, written.clone()));
                    next += 1;
                }
                4 => wire.is_up.store(rng.bool(), Ordering::Relaxed),
                5..7 => sleep(Duration::from_millis(rng.u64(..8_000))).await,
                7..40 => sleep(Duration::from_millis(rng.u64(..40))).await,
                _ => {}
            }
        }
        wire.is_up.store(true, Ordering::Relaxed);
        // The last change of each item comes after everything else.
        for item in 0..ITEMS {
            written[item as usize] += 1;
            stream.write(item, written[item as usize]);
        }
        for (copy, begun) in &copies {
            let versions = copy.versions(&written, seed).await;
            for (item, last) in written.iter().enumerate() {
                let first = begun[item] + 1;
                assert_eq!(versions[item], (first..=*last).collect::<Vec<_>>(), "item {item} of seed {seed}");
            }
            assert_eq!(*copy.taken.lost.lock().unwrap(), 0);
        }
        copies.into_iter().for_each(|(mut copy, _)| copy.kill());
    }
}

#[tokio::test(start_paused = true)]
async fn one_copy_reads_and_the_others_hear_it() {
    let (stream, wire) = (stream(1, 0), Wire::new(1, 0));
    let copies = started(3, &wire, &stream).await;
    // The first record gives each copy its place.
    stream.write(0, 2);
    sleep(Duration::from_secs(2)).await;
    let before: Vec<usize> = copies.iter().map(|copy| copy.asked.load(Ordering::Relaxed)).collect();
    for version in 3..1_000 {
        stream.write(0, version);
        sleep(Duration::from_millis(20)).await;
    }
    for copy in &copies {
        copy.versions(&[999, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0).await;
    }
    let mut asked: Vec<usize> =
        copies.iter().zip(before).map(|(copy, before)| copy.asked.load(Ordering::Relaxed) - before).collect();
    asked.sort_unstable();
    assert_eq!(asked[..2], [0, 0], "two copies only hear");
    assert!(asked[2] > 90, "one copy reads: {asked:?}");
}

/// Copies that follow the stream.
async fn started(count: usize, wire: &Arc<Wire>, stream: &Arc<Stream>) -> Vec<GatewayCopy> {
    let mut copies = Vec::new();
    for number in 0..count {
        copies.push(GatewayCopy::start(number, wire, stream).await);
    }
    copies
}

/// How long, in the time of the test, until a copy learns of a change.
async fn heard_after(copy: &GatewayCopy, stream: &Stream, version: u64) -> Duration {
    let began = Instant::now();
    stream.write(0, version);
    let is_it = |copy: &GatewayCopy| {
        copy.taken
            .records
            .lock()
            .unwrap()
            .iter()
            .any(|record| record.new.as_ref().unwrap()["version"] == Attribute::N(version.to_string().into()))
    };
    let hear = async {
        while !is_it(copy) {
            copy.taken.more.notified().await;
        }
    };
    timeout(LONG, hear).await.unwrap();
    began.elapsed()
}

#[tokio::test(start_paused = true)]
async fn another_copy_takes_over_within_five_seconds() {
    let (stream, wire) = (stream(2, 0), Wire::new(2, 0));
    let mut copies = started(2, &wire, &stream).await;
    assert!(heard_after(&copies[1], &stream, 2).await < Duration::from_secs(1));
    copies[0].kill();
    let waited = heard_after(&copies[1], &stream, 3).await;
    assert!(waited > Duration::from_secs(1) && waited <= Duration::from_secs(5), "{waited:?}");
    // Whoever leaves in peace gives its shards back.
    let third = GatewayCopy::start(2, &wire, &stream).await;
    sleep(Duration::from_secs(30)).await;
    copies[1].shared.as_ref().unwrap().close().await;
    copies[1].reading.abort();
    assert!(heard_after(&third, &stream, 4).await < Duration::from_secs(2));
}

/// Who begins to read a shard after its records knows nothing of them.
#[tokio::test(start_paused = true)]
async fn what_the_reader_of_a_shard_has_not_had_is_read_from_the_stream() {
    let (stream, wire) = (stream(4, 0), Wire::new(4, 0));
    let before = GatewayCopy::start(0, &wire, &stream).await;
    sleep(Duration::from_secs(2)).await;
    stream.split(0);
    stream.write(0, 2);
    let began = Instant::now();
    let _reader = GatewayCopy::start(1, &wire, &stream).await;
    before.versions(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0).await;
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn without_a_bus_or_leases_every_copy_reads_for_itself() {
    let (stream, wire) = (stream(3, 0), Wire::new(3, 0));
    let copies = started(2, &wire, &stream).await;
    let mut version = 1;
    for (is_up, refusals) in [(false, 0), (true, 0), (true, 10), (true, 0), (false, 10), (true, 0)] {
        wire.is_up.store(is_up, Ordering::Relaxed);
        wire.refusals.store(refusals, Ordering::Relaxed);
        sleep(Duration::from_secs(10)).await;
        for copy in &copies {
            version += 1;
            assert!(
                heard_after(copy, &stream, version).await < Duration::from_secs(2),
                "bus {is_up}, leases refused {refusals}"
            );
        }
    }
    for copy in &copies {
        copy.versions(&[version, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], 0).await;
    }
}
