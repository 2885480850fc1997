//! A DynamoDB-compatible server on a port of this machine, which can be stopped and started again with its data.

use dynoxide::Database;
use dynoxide::actions::delete_table::DeleteTableRequest;
use dynoxide::actions::list_tables::ListTablesRequest;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// The server. Its connections end with it, because they run on its own runtime.
pub struct Dynamo {
    database: Database,
    address: SocketAddr,
    running: Option<Runtime>,
}

impl Dynamo {
    /// An empty server on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let database = Database::memory().unwrap();
        Self { address: listener.local_addr().unwrap(), running: Some(serve(listener, &database)), database }
    }

    /// Its URL, for `--endpoint-url`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What it has.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// The names of its tables, sorted. A server that has stopped keeps them.
    pub fn tables(&self) -> Vec<String> {
        self.database.list_tables(ListTablesRequest::default()).unwrap().table_names
    }

    /// Deletes a table.
    pub fn drop_table(&self, name: &str) {
        self.database.delete_table(DeleteTableRequest { table_name: name.to_owned() }).unwrap();
    }

    /// Stops it and closes its connections.
    pub fn stop(&mut self) {
        // A runtime cannot be shut down on the thread of another one, where a test may run.
        let running = self.running.take();
        std::thread::spawn(|| running.map(|runtime| runtime.shutdown_timeout(Duration::from_secs(10)))).join().unwrap();
    }

    /// Accepts connections on its port and never answers, until the returned value is dropped.
    pub fn hang(&self) -> TcpListener {
        TcpListener::bind(self.address).unwrap()
    }

    /// Starts it again, on the same port.
    pub fn start_again(&mut self) {
        self.running = Some(serve(TcpListener::bind(self.address).unwrap(), &self.database));
    }
}

impl Drop for Dynamo {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(listener: TcpListener, database: &Database) -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    listener.set_nonblocking(true).unwrap();
    let database = database.clone();
    runtime.spawn(async move {
        dynoxide::server::serve_on(tokio::net::TcpListener::from_std(listener).unwrap(), database).await
    });
    runtime
}
