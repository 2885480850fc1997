//! The items of a benchmark in; a DynamoDB-compatible server that has them out.

use super::cases::System;
use super::process::Process;
use keyfold::schema::{self, model::Model};
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::sdk::store::SdkStore;
use std::process::Command;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::time::Instant;

/// An empty server, in this process.
pub async fn serve() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("{}", listener.local_addr().unwrap());
    dynoxide::server::serve_on(listener, dynoxide::Database::memory().unwrap()).await;
}

/// A server with the items of a system, as a process of its own, and its URL.
pub fn filled(runtime: &Runtime, system: System) -> (Process, String) {
    let tables = Process::start(Command::new(std::env::current_exe().unwrap()).arg("--tables"));
    let endpoint = format!("http://{}", tables.address);
    runtime.block_on(fill(&endpoint, system));
    (tables, endpoint)
}

/// What a system's schema says.
pub fn model(system: System) -> Model {
    let (file, text) = system.schema();
    schema::load(file, &text, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false))).0
}

/// Creates the table and puts its items.
async fn fill(endpoint: &str, system: System) {
    let model = model(system);
    let store = SdkStore::connect(Some(endpoint), None).await.unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let items = system.lines().iter().map(|line| parse_line(line).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
}
