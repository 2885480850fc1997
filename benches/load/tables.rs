//! The items of a benchmark in; a DynamoDB-compatible server that has them out.

use super::cases::{CASES, System};
use super::counted::{self, Counts};
use super::process::Process;
use super::workloads::WORKLOADS;
use dynoxide::Database;
use keyfold::schema::{self, model::Model};
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Builder;
use tokio::time::Instant;

/// What a table holds, and the schema that says which table it is.
pub struct Stock {
    /// The name of the schema's file.
    pub file: &'static str,
    /// The schema.
    pub schema: String,
    /// The items, as lines of an export.
    pub lines: Vec<String>,
}

impl From<System> for Stock {
    fn from(system: System) -> Self {
        let (file, schema) = system.schema();
        Self { file, schema, lines: system.lines() }
    }
}

/// Serves the items of a system or of a workload in this process until it ends, and says the address.
///
/// A store has a lock that each call waits for, and DynamoDB has none. So there may be several stores. Each has every
/// item, a thread, and a share of the connections. What is written to one store, the others do not have.
///
/// With a delay, each call waits for so long, and calls and read units are counted.
pub fn serve(name: &str, stores: usize, delay: Option<Duration>) {
    let workload = WORKLOADS.iter().find(|workload| workload.name == name).map(|workload| workload.stock());
    let system = || CASES.iter().map(|case| case.system).find(|known| format!("{known:?}") == name);
    let stock = workload.unwrap_or_else(|| system().unwrap().into());
    let counts = Arc::new(Mutex::new(Counts::default()));
    let mut address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let start = |_| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (listener, database) = runtime.block_on(store(&stock, address));
        address = listener.local_addr().unwrap();
        let counts = counts.clone();
        std::thread::spawn(move || match delay {
            Some(delay) => runtime.block_on(counted::serve(listener, database, (counts, delay))),
            None => runtime.block_on(dynoxide::server::serve_on(listener, database)),
        })
    };
    let threads: Vec<_> = (0..stores).map(start).collect();
    eprintln!("{address}");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A store with some items, and where it listens, beside the other stores of the same address.
async fn store(stock: &Stock, address: SocketAddr) -> (TcpListener, Database) {
    let database = Database::memory().unwrap();
    // It is filled at an address of its own: the common one leads to any store.
    let own = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let endpoint = format!("http://{}", own.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(own, database.clone()));
    fill(&endpoint, stock).await;
    let common = TcpSocket::new_v4().unwrap();
    common.set_reuseport(true).unwrap();
    common.bind(address).unwrap();
    (common.listen(1024).unwrap(), database)
}

/// A server of some stores with the items of a system, as a process of its own, and its URL.
pub fn filled(system: System, stores: usize) -> (Process, String) {
    started(&["--tables", &format!("{system:?}"), &stores.to_string()])
}

/// The same with the items of a workload. It delays each call, and counts.
pub fn counting(workload: &str, stores: usize, delay: Duration) -> (Process, String) {
    started(&["--tables", workload, &stores.to_string(), &delay.as_millis().to_string()])
}

fn started(arguments: &[&str]) -> (Process, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(arguments);
    let tables = Process::start(&mut command);
    let endpoint = format!("http://{}", tables.address);
    (tables, endpoint)
}

/// What a schema says.
pub fn model(stock: &Stock) -> Model {
    schema::load(stock.file, &stock.schema, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false))).0
}

/// Creates the table and puts its items.
async fn fill(endpoint: &str, stock: &Stock) {
    let model = model(stock);
    let store = TableStore::connect(Some(endpoint), None).await.unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let items = stock.lines.iter().map(|line| parse_line(line).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
}
