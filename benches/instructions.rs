//! Counts the instructions of a request, from the operation's text to the response's bytes, signing and reading of
//! answers included, with the AWS SDK and with the direct client, and of the same calls by the AWS SDK alone, whose
//! items are dropped: `cargo bench --bench instructions`. Needs valgrind.
//!
//! Prepared answers replace the network, and callgrind counts, so two runs differ by less than 1 %. The benchmark fails
//! where a case takes 3 % more than `benches/instructions/recorded.txt` says, if the compiler and the machine are like
//! those of the record. It fails anywhere if a case with rules, or with metrics and traces, takes 3 % more than the
//! same one without them, or if a service in Rust adds more than a read from the cache. `-- --record` writes that file
//! anew. Any other argument names a case to count. The profiles stay in `target/instructions/` for
//! `callgrind_annotate`.
//!
//! It also fails where loading a schema of many types takes more than its share of that of few. The name `load` counts
//! this alone.
//!
//! `cargo test --bench instructions` does the same without optimisation, for the direct client and the small cases
//! without metrics and traces, and compares with `benches/instructions/unoptimised.txt`: it takes a minute, so every
//! change can be checked.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "instructions/cases.rs"]
mod cases;
#[path = "instructions/environment.rs"]
mod environment;
#[path = "instructions/growth.rs"]
mod growth;
#[path = "instructions/observed.rs"]
mod observed;
#[path = "instructions/prepared.rs"]
mod prepared;
#[path = "response/replay.rs"]
mod replay;

use axum::http::HeaderMap;
use cases::{CASES, Case, System};
use keyfold::embed::services::OwnServices;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::report::RunObserver;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::{self, model::Model};
use keyfold::table::store::{ClientKind, TableStore};
use prepared::{Answer, PreparedServer, filled};
use replay::Replay;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// Whether this program is not optimised, as tests are.
const UNOPTIMISED: bool = cfg!(debug_assertions);
/// Counted requests. A few more come before them and fill caches.
const REQUESTS: u64 = if UNOPTIMISED { 5 } else { 20 };
const WARM_UP: u64 = 3;
/// How much more than recorded a case may take, and how much more with rules on keys and claims than without.
const TOLERANCE: f64 = 1.03;
/// What makes the calls: both clients of Keyfold, or the AWS SDK without Keyfold.
const CLIENTS: [&str; 3] = ["sdk", "direct", SDK_ALONE];
const SDK_ALONE: &str = "sdk-alone";
/// The cases in which code of the program gives what else an item in the cache has.
const PRICED: [&str; 2] = ["one-price", "100-prices"];
/// How the names of cases end that are compared with the same ones without that, before the client.
const ADDED: [(&str, &str); 2] = [("-ruled ", "rules"), ("-observed ", "metrics and traces")];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, case, client, answers] = arguments.as_slice()
        && mode == "--one"
    {
        let case = CASES.iter().find(|known| known.name == case).unwrap();
        let answers = serde_json::from_slice(&std::fs::read(answers).unwrap()).unwrap();
        if client == SDK_ALONE {
            run_sdk_alone(answers)
        } else {
            run_one(case, client.parse().unwrap(), answers)
        }
        return ExitCode::SUCCESS;
    }
    if let [mode, types] = arguments.as_slice()
        && mode == "--load"
    {
        growth::load(types.parse().unwrap());
        return ExitCode::SUCCESS;
    }
    let record = arguments.iter().any(|argument| argument == "--record");
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let is_named = |case: &Case| names.iter().any(|name| *name == case.name);
    let compared = compare(record, &|case, client| {
        is_named(case) || names.is_empty() && (!UNOPTIMISED || client == "direct" && !case.needs_optimisation())
    });
    let is_even = names.iter().all(|name| *name == "load") && growth::is_even(&directory());
    if is_even || names.iter().any(|name| *name != "load") { compared } else { ExitCode::FAILURE }
}

/// Where the profiles stay.
fn directory() -> PathBuf {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("instructions");
    std::fs::create_dir_all(&directory).unwrap();
    directory
}

/// Counts the wanted cases and compares them with the record.
fn compare(record: bool, wanted: &dyn Fn(&Case, &str) -> bool) -> ExitCode {
    let directory = directory();
    let (environment, mut recorded) = read_record();
    let comparable = record || environment == environment::found();
    let mut failed = false;
    if !comparable {
        println!(
            "recorded elsewhere, so more instructions are no failure: {environment}\nhere: {}\n",
            environment::found()
        );
    }
    let mut all = BTreeMap::new();
    println!("instructions a request, in thousands\n\n{:24} {:>10} {:>10} {:>8}", "", "counted", "recorded", "ratio");
    for case in CASES.iter().filter(|case| wanted(case, "direct")) {
        let answers = directory.join(format!("{}.answers.json", case.name));
        std::fs::write(&answers, serde_json::to_vec(&prepare(case)).unwrap()).unwrap();
        // A replay knows no writes.
        let can_count = |client: &&str| *client != SDK_ALONE || !case.operation.starts_with("mutation");
        let clients = CLIENTS.into_iter().filter(|client| wanted(case, client) && can_count(client));
        for client in clients {
            let counted = count(case, client, &answers, &directory.join(format!("{}.{client}.out", case.name)));
            let name = format!("{} {client}", case.name);
            all.insert(name.clone(), counted);
            let known = recorded.insert(name.clone(), counted);
            let ratio = known.map_or(1.0, |known| counted as f64 / known as f64);
            let too_many = ratio > TOLERANCE && !record;
            failed |= too_many && comparable;
            let known = known.map_or_else(|| "none".to_owned(), |known| (known / 1000).to_string());
            println!(
                "{name:24} {:>10} {known:>10} {ratio:>8.3}{}",
                counted / 1000,
                if too_many { "  too many" } else { "" }
            );
        }
    }
    for (name, counted) in &all {
        let Some((ending, what)) = ADDED.into_iter().find(|(ending, _)| name.contains(ending)) else { continue };
        let Some(plain) = all.get(&name.replace(ending, " ")) else { continue };
        let ratio = *counted as f64 / *plain as f64;
        let too_many = ratio > TOLERANCE;
        failed |= too_many;
        println!(
            "{name:24} takes {ratio:.3} of what it takes without {what}{}",
            if too_many { "  too many" } else { "" }
        );
    }
    for case in PRICED {
        let counted = |ending: &str| all.get(&format!("{case}-{ending} direct"));
        let (Some(none), Some(kept), Some(by_code)) = (counted("none"), counted("kept"), counted("by-code")) else {
            continue;
        };
        let [read, call] = [kept, by_code].map(|counted| counted.saturating_sub(*none));
        let ratio = call as f64 / read as f64;
        let too_many = ratio > 1.0;
        failed |= too_many;
        let mark = if too_many { "  too many" } else { "" };
        println!("{case:24} a service in Rust adds {call}, a read from the cache {read}: {ratio:.2} of it{mark}");
    }
    if record {
        let lines = recorded.iter().fold(format!("{}\n", environment::found()), |mut lines, (name, counted)| {
            let _ = writeln!(lines, "{name} {counted}");
            lines
        });
        std::fs::write(record_file(), lines).unwrap();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn record_file() -> PathBuf {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions");
    directory.join(if UNOPTIMISED { "unoptimised.txt" } else { "recorded.txt" })
}

/// Where the record was made, and the recorded instructions of each case with each client.
fn read_record() -> (String, BTreeMap<String, u64>) {
    let text = std::fs::read_to_string(record_file()).unwrap_or_default();
    let (environment, lines) = text.split_once('\n').unwrap_or_default();
    let lines = lines.lines().filter_map(|line| line.rsplit_once(' '));
    (environment.to_owned(), lines.map(|(name, counted)| (name.to_owned(), counted.parse().unwrap())).collect())
}

/// Settings with the code of the services.
fn settings() -> Settings {
    let mut services = OwnServices::default();
    services.register("pricing".to_owned(), |request| async move {
        request.items.iter().map(|_| Ok(Value::String("12.5".to_owned()))).collect()
    });
    Settings { services: Some(Arc::new(services)), ..Settings::default() }
}

/// The answers to a case's calls.
fn prepare(case: &Case) -> Vec<Answer> {
    runtime().block_on(async {
        let model = model(case);
        let (store, tape) = filled(case.system, &model).await;
        let gateway = Gateway::new(model, store, settings());
        answered(&gateway, case).await;
        tape.take()
    })
}

/// Counts a case in a process under callgrind.
fn count(case: &Case, client: &str, answers: &Path, profile: &Path) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet", "--collect-atstart=no", "--toggle-collect=*counted_requests*"]);
    command.arg(format!("--callgrind-out-file={}", profile.display())).env(observed::COLLECTOR, observed::collector());
    command.arg(std::env::current_exe().unwrap()).args(["--one", case.name, client]).arg(answers);
    let ended = command.status().expect("valgrind cannot be started: install it (apt-get install valgrind)");
    assert!(ended.success(), "{} {client}: {ended}", case.name);
    let profile = std::fs::read_to_string(profile).unwrap();
    let total =
        profile.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: "))).unwrap();
    total.trim().parse::<u64>().unwrap() / REQUESTS
}

/// Runs a case against prepared answers, for callgrind.
fn run_one(case: &Case, client: ClientKind, answers: Vec<Answer>) {
    let server = PreparedServer::new(answers);
    let (runtime, mut request) = (runtime(), request(case));
    let _entered = runtime.enter();
    let telemetry = matches!(case.system, System::ObservedGroups).then(observed::telemetry);
    let observer = telemetry.clone().map(|telemetry| telemetry as Arc<dyn RunObserver>);
    let store = TableStore::over(server).with_client(client);
    let gateway = Gateway::new(model(case), store, Settings { observer, ..settings() });
    runtime.block_on(answered(&gateway, case));
    run_counted(|| {
        let span = telemetry.as_ref().and_then(|telemetry| telemetry.begin(&HeaderMap::new()));
        request.trace = span.map(|span| span.own);
        drop(black_box(runtime.block_on(respond(&gateway, &request))));
        telemetry.iter().for_each(|telemetry| observed::exchanged(telemetry, span));
    });
}

/// Makes the calls of the answers by the AWS SDK, without Keyfold, for callgrind.
fn run_sdk_alone(answers: Vec<Answer>) {
    let asked: Vec<_> = answers.iter().map(|answer| (answer.operation.clone(), answer.asked.clone())).collect();
    let (replay, runtime) = (Replay::new(PreparedServer::new(answers), &asked), runtime());
    run_counted(|| runtime.block_on(replay.run()));
}

fn run_counted(mut request: impl FnMut()) {
    (0..WARM_UP).for_each(|_| request());
    counted_requests(&mut request);
}

/// callgrind counts within this function, known by its name. A closure in it would have its name, too.
#[inline(never)]
fn counted_requests(request: &mut dyn FnMut()) {
    for _ in 0..REQUESTS {
        request();
    }
}

async fn respond(gateway: &Gateway, request: &Request) -> bytes::Bytes {
    let prepared = gateway.prepare(request).await.unwrap();
    gateway.run(&prepared, Instant::now() + Duration::from_secs(60), false).await.body
}

/// Runs a case once, and sees to it that the response is right.
async fn answered(gateway: &Gateway, case: &Case) {
    let body = String::from_utf8(respond(gateway, &request(case)).await.to_vec()).unwrap();
    let (key, times) = case.holds;
    let found = body.matches(&format!("\"{key}\":")).count();
    assert!(!body.contains("\"errors\"") && found == times, "{}: {found} of {key} in {body:.500}", case.name);
}

fn request(case: &Case) -> Request {
    let variables = (case.variables)().as_object().unwrap().clone();
    let caller = Caller::signed_in(cases::claims().as_object().unwrap().clone());
    Request { query: case.operation.to_owned(), variables, caller, ..Request::default() }
}

fn model(case: &Case) -> Arc<Model> {
    let (file, text) = case.system.schema();
    let (model, _) = schema::load(file, &text, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    Arc::new(model)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
