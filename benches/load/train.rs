//! A binary that counts what it executes in; its counts, of requests of every kind, out: `.ci/release` builds by them.

use super::cases::{CASES, System};
use super::client;
use super::process::Process;
use super::tables::{self, Stock};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tokio::runtime::Runtime;

/// What a server is asked: the items of a benchmark, on tables of their own.
const SYSTEMS: [System; 3] = [System::Groups, System::KeptGroups, System::LargeShop];
/// How long each operation is repeated, and over how many connections.
const REPEATED: (usize, Duration) = (8, Duration::from_secs(2));
/// How often a server starts with the project's own schema and samples. Beside all requests, a few starts would count
/// as nothing.
const STARTS: usize = 30;

/// Lets the binary start, and serve each system from a server of tables and from its own store.
pub fn train(runtime: &Runtime, binary: &str) {
    for _ in 0..STARTS {
        let mut command = Command::new(binary);
        command.args(["dev", "--listen", "127.0.0.1:0"]).current_dir(env!("CARGO_MANIFEST_DIR"));
        let server = Process::start(&mut command);
        runtime.block_on(client::respond(&server.address, &json!({ "query": "{ __typename }" }).to_string(), 1));
        server.stop();
    }
    println!("dev: {STARTS} starts");
    for (number, system) in SYSTEMS.into_iter().enumerate() {
        let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("train-{number}"));
        let (schema, samples) = write(system, &directory);
        let (_tables, endpoint) = tables::filled(system, 1);
        for arguments in [["serve", "--endpoint-url", &endpoint], ["dev", "--sample", &samples]] {
            let mut command = Command::new(binary);
            command.args(arguments).args([
                "--schema",
                &schema,
                "--listen",
                "127.0.0.1:0",
                "--log",
                "keyfold::cli=info",
            ]);
            let server = Process::start(&mut command);
            for case in CASES.iter().filter(|case| case.system == system) {
                let body = json!({ "query": case.operation, "variables": (case.variables)() }).to_string();
                // A mutation answers the first request differently.
                let expected = runtime.block_on(client::respond(&server.address, &body, 2));
                let run = runtime.block_on(client::load(&server.address, &body, REPEATED, &expected));
                println!("{} {}: {} requests", arguments[0], case.name, run.requests);
            }
            server.stop();
        }
    }
}

/// Writes the schema and the items of a system into files. Gives the schema's path and that of the items' directory.
fn write(system: System, directory: &Path) -> (String, String) {
    let (stock, samples) = (Stock::from(system), directory.join("samples"));
    std::fs::create_dir_all(&samples).unwrap();
    let schema = directory.join(stock.file);
    std::fs::write(&schema, &stock.schema).unwrap();
    let items = samples.join(format!("{}.jsonl", tables::model(&stock).tables[0].name));
    std::fs::write(items, stock.lines.join("\n")).unwrap();
    (schema.display().to_string(), samples.display().to_string())
}
