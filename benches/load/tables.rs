//! The items of a benchmark in; a DynamoDB-compatible server that has them out.

use super::cases::{CASES, System};
use super::process::Process;
use dynoxide::Database;
use keyfold::schema::{self, model::Model};
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::Command;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Builder;
use tokio::time::Instant;

/// Serves a system's items in this process until it ends, and says the address.
///
/// A store has a lock that each call waits for, and DynamoDB has none. So there may be several stores. Each has every
/// item, a thread, and a share of the connections. What is written to one store, the others do not have.
pub fn serve(system: &str, stores: usize) {
    let system = CASES.iter().map(|case| case.system).find(|known| format!("{known:?}") == system).unwrap();
    let mut address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let start = |_| {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let (listener, database) = runtime.block_on(store(system, address));
        address = listener.local_addr().unwrap();
        std::thread::spawn(move || runtime.block_on(dynoxide::server::serve_on(listener, database)))
    };
    let threads: Vec<_> = (0..stores).map(start).collect();
    eprintln!("{address}");
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A store with a system's items, and where it listens, beside the other stores of the same address.
async fn store(system: System, address: SocketAddr) -> (TcpListener, Database) {
    let database = Database::memory().unwrap();
    // It is filled at an address of its own: the common one leads to any store.
    let own = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let endpoint = format!("http://{}", own.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(own, database.clone()));
    fill(&endpoint, system).await;
    let common = TcpSocket::new_v4().unwrap();
    common.set_reuseport(true).unwrap();
    common.bind(address).unwrap();
    (common.listen(1024).unwrap(), database)
}

/// A server of some stores with the items of a system, as a process of its own, and its URL.
pub fn filled(system: System, stores: usize) -> (Process, String) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--tables", &format!("{system:?}"), &stores.to_string()]);
    let tables = Process::start(&mut command);
    let endpoint = format!("http://{}", tables.address);
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
    let store = TableStore::connect(Some(endpoint), None).await.unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let items = system.lines().iter().map(|line| parse_line(line).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
}
