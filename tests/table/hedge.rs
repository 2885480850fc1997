//! Reads that take far longer than usual are made a second time. Time is paused.

use crate::fixture::{get, query, table};
use futures_util::future::{FutureExt, join_all};
use keyfold::table::data::call::{Page, Query};
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::data_store::{GetResult, ItemRequest, Metered};
use keyfold::table::hedge::late_reads::LateReads;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The outcome of a call: its time, and whether it is answered.
type Fate = (Duration, bool);

/// A store whose calls take the times of a script.
struct Slow {
    script: Mutex<Box<dyn FnMut() -> Fate + Send>>,
    calls: AtomicUsize,
    throttles: AtomicBool,
}

impl Slow {
    fn new(script: impl FnMut() -> Fate + Send + 'static) -> Arc<Self> {
        let (calls, throttles) = (AtomicUsize::new(0), AtomicBool::new(false));
        Arc::new(Self { script: Mutex::new(Box::new(script)), calls, throttles })
    }

    fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    async fn call(&self) -> Result<(), TableError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let (time, answered) = (self.script.lock().unwrap())();
        sleep(time).await;
        if answered { Ok(()) } else { Err(TableError { kind: TableErrorKind::Unavailable, detail: "failed".into() }) }
    }
}

/// A slow store whose late reads are made twice.
struct Hedged {
    slow: Arc<Slow>,
    late: LateReads,
}

impl Hedged {
    /// Second calls are at most this share.
    fn new(slow: &Arc<Slow>, share: f64) -> Self {
        Self { slow: slow.clone(), late: LateReads::new(&[table("things"), table("users")], share) }
    }

    fn throttles(&self) -> bool {
        self.slow.throttles.load(Ordering::SeqCst)
    }

    async fn get_items(&self, requests: &[ItemRequest<'_>]) -> Metered<Vec<GetResult>> {
        let answer = || async move {
            let called = self.slow.call().await;
            (requests.iter().map(|_| called.clone().map(|()| None)).collect(), 1.0)
        };
        self.late.get_items(requests, |_| self.throttles(), || answer().boxed()).await
    }

    async fn read_page(&self, query: &Query) -> Result<Metered<Page>, TableError> {
        let answer = || async { self.slow.call().await.map(|()| (Page::default(), 1.0)) };
        self.late.read_page(query, |_| self.throttles(), || answer().boxed()).await
    }
}

/// Late reads of a slow store, with the usual share.
fn hedged(slow: &Arc<Slow>) -> Hedged {
    Hedged::new(slow, 0.05)
}

/// The kinds of reads.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Get,
    Batch,
    Query,
}

const KINDS: [Kind; 3] = [Kind::Get, Kind::Batch, Kind::Query];

async fn read(store: &Hedged, kind: Kind, consistent: bool) -> Result<(), TableError> {
    let gets = [get("things", "p", "a"), get("things", "p", "b")];
    let requests =
        gets.each_ref().map(|get| ItemRequest { table: "things", key: &get.key, projection: &[], consistent });
    match kind {
        Kind::Get => store.get_items(&requests[..1]).await.0.pop().unwrap().map(drop),
        Kind::Batch => store.get_items(&requests).await.0.pop().unwrap().map(drop),
        Kind::Query => store.read_page(&Query { consistent, ..query("things", "p") }).await.map(drop),
    }
}

/// Mostly 8 to 20 milliseconds, and 4 seconds in `late` of a hundred calls.
fn usually_fast(late: u32) -> impl FnMut() -> Fate + Send {
    let mut random = fastrand::Rng::with_seed(9);
    move || {
        (if random.u32(..100) < late { Duration::from_secs(4) } else { Duration::from_millis(random.u64(8..20)) }, true)
    }
}

/// The times of this many reads, 20 at once, sorted.
async fn times(store: &Hedged, kind: Kind, reads: usize) -> Vec<Duration> {
    let mut times = Vec::with_capacity(reads);
    for _ in 0..reads / 20 {
        let timed = (0..20).map(|_| async {
            let begun = Instant::now();
            read(store, kind, false).await.unwrap();
            begun.elapsed()
        });
        times.extend(join_all(timed).await);
    }
    times.sort_unstable();
    times
}

#[tokio::test(start_paused = true)]
async fn two_late_calls_in_a_hundred_do_not_show() {
    for kind in KINDS {
        let slow = Slow::new(usually_fast(2));
        let times = times(&hedged(&slow), kind, 10_000).await;
        assert!(
            times[9_900] < Duration::from_millis(100),
            "{kind:?}: {:?} of 100 take longer than {:?}",
            1,
            times[9_900]
        );
        assert!(times[9_980] < Duration::from_secs(4), "{kind:?}: two late calls one after the other are rare");
        assert!(slow.calls() > 10_150 && slow.calls() <= 10_500, "{kind:?}: {} calls", slow.calls());
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_slow_as_a_whole_gets_few_calls_more() {
    let spoilt = Arc::new(AtomicBool::new(false));
    let is_slow = spoilt.clone();
    let slow =
        Slow::new(move || (Duration::from_millis(if is_slow.load(Ordering::SeqCst) { 2_000 } else { 10 }), true));
    let store = hedged(&slow);
    times(&store, Kind::Query, 2_000).await;
    assert_eq!(slow.calls(), 2_000, "nothing is late");
    spoilt.store(true, Ordering::SeqCst);
    times(&store, Kind::Query, 4_000).await;
    assert!(slow.calls() <= 6_000 + 200 + 20, "{} calls", slow.calls());
}

#[tokio::test(start_paused = true)]
async fn what_may_not_be_read_twice_is_not() {
    let slow = Slow::new(usually_fast(2));
    let store = hedged(&slow);
    times(&store, Kind::Get, 1_000).await;
    let before = slow.calls();
    for kind in KINDS {
        join_all((0..300).map(|_| read(&store, kind, true))).await;
    }
    let scan = Query { partition: None, ..query("things", "p") };
    join_all((0..300).map(|_| store.read_page(&scan))).await;
    let elsewhere = query("not in the schema", "p");
    join_all((0..300).map(|_| store.read_page(&elsewhere))).await;
    assert_eq!(slow.calls(), before + 1_500);
}

#[tokio::test(start_paused = true)]
async fn a_table_that_throttles_and_a_share_of_zero_end_it() {
    let slow = Slow::new(usually_fast(2));
    slow.throttles.store(true, Ordering::SeqCst);
    times(&hedged(&slow), Kind::Query, 1_000).await;
    assert_eq!(slow.calls(), 1_000, "it throttles");
    let slow = Slow::new(usually_fast(2));
    times(&Hedged::new(&slow, 0.0), Kind::Query, 1_000).await;
    assert_eq!(slow.calls(), 1_000, "the share is zero");
}

#[tokio::test(start_paused = true)]
async fn the_first_good_answer_counts() {
    let second = Duration::from_secs(1);
    // The late call, the call that is made next to it, and the time of both together.
    for (first, other, time, well) in [
        ((4 * second, true), (second / 100, false), 4 * second, true),
        ((second, false), (4 * second, true), 4 * second, true),
        ((second, false), (4 * second, false), 4 * second, false),
        ((second / 100, false), (second, true), second / 100, false),
    ] {
        let fates = Arc::new(Mutex::new(vec![other, first]));
        let next = fates.clone();
        let usual = (Duration::from_millis(10), true);
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let slow = Slow::new(move || {
            if count.fetch_add(1, Ordering::SeqCst) < 100 { usual } else { next.lock().unwrap().pop().unwrap() }
        });
        let store = hedged(&slow);
        times(&store, Kind::Query, 100).await;
        let begun = Instant::now();
        assert_eq!(read(&store, Kind::Query, false).await.is_ok(), well);
        let took = begun.elapsed();
        assert!(took >= time && took <= time + Duration::from_millis(40), "{took:?}, not {time:?}");
    }
}
