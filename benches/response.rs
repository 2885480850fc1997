//! Measures what a response of 1,000 objects costs the gateway beyond the AWS SDK's own time:
//! `cargo bench --bench response`.
//!
//! Prepared bytes answer the SDK in place of a server. The benchmark runs a whole request, then makes the same calls
//! again by the SDK alone; the difference is the gateway's share. It measures the CPU time of this process's only
//! thread, as Linux counts it, so other processes matter little. The harness is our own because the usual ones measure
//! elapsed time of one thing at a time. An argument of digits is the number of rounds; any other argument names the
//! case to run, for a profiler.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "response/replay.rs"]
mod replay;
#[path = "response/server.rs"]
mod server;

use keyfold::execute::context::ExecutionContext;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::item::strays::Strays;
use keyfold::execute::keyed_locks::KeyedLocks;
use keyfold::execute::operation_cache::{OperationCache, plan_once};
use keyfold::execute::page::cursor::CursorKey;
use keyfold::execute::page::yields::PageYields;
use keyfold::execute::read::state::ReadState;
use keyfold::execute::report::Preparation;
use keyfold::execute::request::{Request, Settings};
use keyfold::execute::response::body::{ResponseBody, ResponseLimits};
use keyfold::execute::response::writer::Writer;
use keyfold::execute::wave::executor::run_waves;
use keyfold::plan::tree::PlanStep;
use keyfold::schema::{self, model::Model};
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use replay::Replay;
use server::Server;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// Name, operation, and the number of objects with five scalars each in the response.
const CASES: [(&str, &str, usize); 3] = [
    ("one list", "{ shop(id: \"s\") { items(first: 1000) { nodes { id title stock price madeAt } } } }", 1000),
    (
        "links and batched Gets",
        "{ shop(id: \"s\") { linked(first: 1000) { nodes { id title stock price madeAt } } } }",
        1000,
    ),
    ("20 lists of 50", "{ shop(id: \"s\") { shelves { items { nodes { id title stock price madeAt } } } } }", 1000),
];

/// Requests of a round. Linux adds up CPU time every few milliseconds, so a round takes some hundred.
const REQUESTS: u32 = 40;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let rounds = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(15);
    let only = arguments.iter().find(|argument| argument.parse::<usize>().is_err());
    println!("CPU time of a request, the median of {rounds} rounds of {REQUESTS}\n");
    println!("{:24} {:>10} {:>10} {:>10} {:>10}", "", "whole", "SDK alone", "gateway", "of SDK");
    let mut phases = Vec::new();
    for case in CASES.iter().filter(|(name, ..)| only.is_none_or(|only| only == name)) {
        let bench = Bench::new(case);
        let [whole, sdk, cold, cached, waves, writing] = bench.measure(rounds);
        let gateway = whole.saturating_sub(sdk);
        let share = 100.0 * gateway.as_secs_f64() / sdk.as_secs_f64();
        println!("{:24} {:>10} {:>10} {:>10} {share:>8.0} %", case.0, shown(whole), shown(sdk), shown(gateway));
        phases.push((case.0, [cold, cached, waves.saturating_sub(sdk), writing]));
    }
    println!(
        "\n{:24} {:>10} {:>10} {:>10} {:>10}",
        "phases of the gateway", "plan, new", "plan, kept", "waves", "writing"
    );
    for (name, phases) in phases {
        let [cold, cached, waves, writing] = phases.map(shown);
        println!("{name:24} {cold:>10} {cached:>10} {waves:>10} {writing:>10}");
    }
}

/// A duration in milliseconds, or in microseconds if it is short.
fn shown(time: Duration) -> String {
    if time < Duration::from_micros(100) {
        format!("{:.1} µs", time.as_secs_f64() * 1e6)
    } else {
        format!("{:.3} ms", time.as_secs_f64() * 1e3)
    }
}

struct Bench {
    runtime: Runtime,
    model: Arc<Model>,
    gateway: Gateway,
    operations: OperationCache,
    request: Request,
    replay: Replay,
}

impl Bench {
    fn new((name, query, objects): &(&str, &str, usize)) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (model, _) = schema::load("shop.graphql", include_str!("shop.graphql"), &|_| None)
            .unwrap_or_else(|found| panic!("{}", found.render(false)));
        let model = Arc::new(model);
        let server = Server::default();
        let settings = Settings { max_nodes: 10_000, ..Settings::default() };
        let gateway = Gateway::new(model.clone(), TableStore::over(server.clone()), settings.clone());
        let request = Request { query: (*query).to_owned(), ..Request::default() };
        server.listen();
        let body = runtime.block_on(whole(&gateway, &request));
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(
            !body.contains("\"errors\"") && body.matches("\"title\"").count() == *objects,
            "{name} is answered wrongly: {body:.500}"
        );
        let replay = Replay::new(server.clone(), &server.heard());
        Self { runtime, model, gateway, operations: OperationCache::new(&settings, Arc::default()), request, replay }
    }

    /// Whole, SDK alone, planning a new operation, planning a cached one, waves including the SDK, writing.
    fn measure(&self, rounds: usize) -> [Duration; 6] {
        let mut times: [Vec<Duration>; 6] = Default::default();
        for round in 0..=rounds {
            let measured = self.round(round);
            // The first round fills caches.
            if round > 0 {
                times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
            }
        }
        times.map(|mut times| {
            times.sort_unstable();
            times.get(times.len() / 2).copied().unwrap_or_default()
        })
    }

    fn round(&self, round: usize) -> [Duration; 6] {
        let planned =
            self.runtime.block_on(self.operations.plan(&self.model, &self.request, &mut Preparation::begin())).unwrap();
        let [PlanStep { plan, .. }] = &planned.plan.steps[..] else { panic!("a query is one step") };
        let mut state = None;
        let settings = Settings::default();
        let new =
            |number: u32| Request { query: format!("{} # {round} {number}", self.request.query), ..Request::default() };
        [
            cpu_time(REQUESTS, |_| drop(black_box(self.runtime.block_on(whole(&self.gateway, &self.request))))),
            cpu_time(REQUESTS, |_| self.runtime.block_on(self.replay.run())),
            // These take microseconds, so they run more often.
            cpu_time(REQUESTS * 10, |number| drop(black_box(plan_once(&self.model, &new(number), &settings).unwrap()))),
            cpu_time(REQUESTS * 500, |_| {
                drop(black_box(
                    self.runtime
                        .block_on(self.operations.plan(&self.model, &self.request, &mut Preparation::begin()))
                        .unwrap(),
                ));
            }),
            cpu_time(REQUESTS, |_| {
                let store = self.gateway.store();
                self.runtime.block_on(async {
                    let loaders = Loaders::new(store.clone(), deadline());
                    let context = ExecutionContext {
                        model: &self.model,
                        loaders: &loaders,
                        variables: &planned.variables,
                        caller: &self.request.caller,
                        now: &Default::default(),
                        deadline: deadline(),
                        max_nodes: 10_000,
                        max_read_bytes: u64::MAX,
                        work: &Default::default(),
                        lost_races: &Default::default(),
                        trace: None,
                        services: None,
                        cursor_key: &CursorKey::from_secret(b""),
                        single_writes: Default::default(),
                        idempotency_key: None,
                        misses: &Default::default(),
                        left: &Default::default(),
                        keyed_locks: &KeyedLocks::default(),
                        yields: &PageYields::new(false),
                        strays: &Strays::new(&self.model),
                    };
                    run_waves(&context, state.insert(ReadState::new(plan, &context)), false).await;
                });
            }),
            cpu_time(REQUESTS * 10, |_| {
                let mut body =
                    ResponseBody::new(ResponseLimits { bytes: settings.max_response_bytes, objects: 10_000 });
                let written = Writer::new(state.as_ref().unwrap(), &Default::default(), &mut body).write();
                assert!(written.is_ok());
                drop(black_box(body));
            }),
        ]
    }
}

async fn whole(gateway: &Gateway, request: &Request) -> bytes::Bytes {
    let prepared = gateway.prepare(request).await.unwrap();
    gateway.run(&prepared, deadline(), false).await.body
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

/// The average CPU time of a piece of work.
fn cpu_time(times: u32, mut work: impl FnMut(u32)) -> Duration {
    let begun = used();
    (0..times).for_each(&mut work);
    (used() - begun) / times
}

/// The CPU time of this thread (Linux, `/proc/<pid>/schedstat`, first number); on other systems, elapsed time.
fn used() -> Duration {
    // Yielding the CPU makes Linux count the time used so far.
    std::thread::yield_now();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.as_deref().and_then(|told| told.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| std::time::UNIX_EPOCH.elapsed().unwrap(), Duration::from_nanos)
}
