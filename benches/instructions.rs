//! Counts the instructions of a request, from the operation's text to the response's bytes, signing and reading of answers included, with
//! the AWS SDK and with the direct client: `cargo bench --bench instructions`. Needs valgrind.
//!
//! Prepared answers replace the network, and callgrind counts, so two runs differ by less than 1 % on any machine. The benchmark fails where
//! a case takes 3 % more than `benches/instructions/recorded.txt` says. `-- --record` writes that file anew. Any other argument names the
//! cases to count. The profiles stay in `target/instructions/` for `callgrind_annotate`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "instructions/cases.rs"]
mod cases;
#[path = "instructions/prepared.rs"]
mod prepared;

use cases::{CASES, Case};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::{self, model::Model};
use keyfold::table::sdk::store::{ClientKind, SdkStore};
use prepared::{PreparedServer, filled};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// Counted requests. A few more come before them and fill caches.
const REQUESTS: u64 = 20;
const WARM_UP: u64 = 3;
/// How much more than recorded a case may take.
const TOLERANCE: f64 = 1.03;
const CLIENTS: [&str; 2] = ["sdk", "direct"];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [mode, case, client, answers] = arguments.as_slice()
        && mode == "--one"
    {
        let case = CASES.iter().find(|known| known.name == case).unwrap();
        run_one(case, client.parse().unwrap(), Path::new(answers));
        return ExitCode::SUCCESS;
    }
    let record = arguments.iter().any(|argument| argument == "--record");
    let names: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    compare(record, &|case| names.is_empty() || names.iter().any(|name| *name == case.name))
}

/// Counts the wanted cases and compares them with the record.
fn compare(record: bool, wanted: &dyn Fn(&Case) -> bool) -> ExitCode {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("instructions");
    std::fs::create_dir_all(&directory).unwrap();
    let mut recorded = read_record();
    let mut failed = false;
    println!("instructions a request, in thousands\n\n{:24} {:>10} {:>10} {:>8}", "", "counted", "recorded", "ratio");
    for case in CASES.iter().filter(|case| wanted(case)) {
        let answers = directory.join(format!("{}.answers.json", case.name));
        std::fs::write(&answers, serde_json::to_vec(&prepare(case)).unwrap()).unwrap();
        for client in CLIENTS {
            let counted = count(case, client, &answers, &directory.join(format!("{}.{client}.out", case.name)));
            let name = format!("{} {client}", case.name);
            let known = recorded.insert(name.clone(), counted);
            let ratio = known.map_or(1.0, |known| counted as f64 / known as f64);
            let too_many = ratio > TOLERANCE && !record;
            failed |= too_many;
            let known = known.map_or_else(|| "none".to_owned(), |known| (known / 1000).to_string());
            println!("{name:24} {:>10} {known:>10} {ratio:>8.3}{}", counted / 1000, if too_many { "  too many" } else { "" });
        }
    }
    if record {
        let lines = recorded.iter().fold(String::new(), |mut lines, (name, counted)| {
            let _ = writeln!(lines, "{name} {counted}");
            lines
        });
        std::fs::write(record_file(), lines).unwrap();
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn record_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/instructions/recorded.txt")
}

/// The recorded instructions of each case with each client.
fn read_record() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(record_file()).unwrap_or_default();
    text.lines().filter_map(|line| line.rsplit_once(' ')).map(|(name, counted)| (name.to_owned(), counted.parse().unwrap())).collect()
}

/// The answers to a case's calls.
fn prepare(case: &Case) -> Vec<prepared::Answer> {
    runtime().block_on(async {
        let model = model(case);
        let (store, tape) = filled(case.system, &model).await;
        let gateway = Gateway::new(model, store, Settings::default());
        answered(&gateway, case).await;
        tape.take()
    })
}

/// Counts a case in a process under callgrind.
fn count(case: &Case, client: &str, answers: &Path, profile: &Path) -> u64 {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--quiet", "--collect-atstart=no", "--toggle-collect=*counted_requests*"]);
    command.arg(format!("--callgrind-out-file={}", profile.display()));
    command.arg(std::env::current_exe().unwrap()).args(["--one", case.name, client]).arg(answers);
    let ended = command.status().expect("valgrind cannot be started: install it (apt-get install valgrind)");
    assert!(ended.success(), "{} {client}: {ended}", case.name);
    let profile = std::fs::read_to_string(profile).unwrap();
    let total = profile.lines().find_map(|line| line.strip_prefix("totals: ").or(line.strip_prefix("summary: "))).unwrap();
    total.trim().parse::<u64>().unwrap() / REQUESTS
}

/// Runs a case against prepared answers, for callgrind.
fn run_one(case: &Case, client: ClientKind, answers: &Path) {
    let server = PreparedServer::new(serde_json::from_slice(&std::fs::read(answers).unwrap()).unwrap());
    let gateway = Gateway::new(model(case), SdkStore::over(server).with_client(client), Settings::default());
    let (runtime, request) = (runtime(), request(case));
    runtime.block_on(answered(&gateway, case));
    for _ in 0..WARM_UP {
        runtime.block_on(respond(&gateway, &request));
    }
    counted_requests(&runtime, &gateway, &request);
}

#[inline(never)]
fn counted_requests(runtime: &Runtime, gateway: &Gateway, request: &Request) {
    for _ in 0..REQUESTS {
        drop(black_box(runtime.block_on(respond(gateway, request))));
    }
}

async fn respond(gateway: &Gateway, request: &Request) -> Vec<u8> {
    let prepared = gateway.prepare(request).await.unwrap();
    gateway.run(prepared, Instant::now() + Duration::from_secs(60), false).await.body
}

/// Runs a case once, and sees to it that the response is right.
async fn answered(gateway: &Gateway, case: &Case) {
    let body = String::from_utf8(respond(gateway, &request(case)).await).unwrap();
    let (key, times) = case.holds;
    let found = body.matches(&format!("\"{key}\":")).count();
    assert!(!body.contains("\"errors\"") && found == times, "{}: {found} of {key} in {body:.500}", case.name);
}

fn request(case: &Case) -> Request {
    let variables = (case.variables)().as_object().unwrap().clone();
    Request { query: case.operation.to_owned(), variables, ..Request::default() }
}

fn model(case: &Case) -> Arc<Model> {
    let (file, text) = case.system.schema();
    let (model, _) = schema::load(file, text, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    Arc::new(model)
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
