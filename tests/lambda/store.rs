//! The project's own tables with their sample items behind a DynamoDB-compatible server, which can be put back to how
//! it was.

use crate::support;
use dynoxide::Database;
use keyfold::table::store::TableStore;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

/// The file of an embedded store.
const FILE: &str = "keyfold.db";

/// The server. Its connections end with it, because they run on its own runtime.
pub struct Store {
    address: SocketAddr,
    directory: TempDir,
    running: Option<Runtime>,
}

/// A directory with the tables and the items, made once for all tests.
fn original() -> &'static Path {
    static ORIGINAL: OnceLock<TempDir> = OnceLock::new();
    let made = || {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        let filled = async move {
            let store = TableStore::in_directory(&path).unwrap();
            support::fill(&store, &support::model("pantry"), "pantry").await;
        };
        // A test has a runtime of its own, in which another one cannot wait.
        std::thread::spawn(|| Builder::new_current_thread().enable_all().build().unwrap().block_on(filled))
            .join()
            .unwrap();
        directory
    };
    ORIGINAL.get_or_init(made).path()
}

impl Store {
    /// The sample items on a free port.
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, directory) = (listener.local_addr().unwrap(), copied());
        Self { address, running: Some(serve(listener, directory.path())), directory }
    }

    /// Its URL, for `--endpoint-url`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client of it.
    pub async fn client(&self) -> TableStore {
        TableStore::connect(Some(&self.url()), Some("local")).await.unwrap()
    }

    /// Puts all items back to how they were, on the same port. All connections end.
    pub fn reset(&mut self) {
        self.stop();
        self.directory = copied();
        self.running = Some(serve(TcpListener::bind(self.address).unwrap(), self.directory.path()));
    }

    /// Accepts connections on its port from now on and never answers, until the returned value is dropped.
    pub fn hang(&mut self) -> TcpListener {
        self.stop();
        TcpListener::bind(self.address).unwrap()
    }

    fn stop(&mut self) {
        // A runtime cannot be shut down on the thread of another one, where a test may run.
        let running = self.running.take();
        std::thread::spawn(|| running.map(|runtime| runtime.shutdown_timeout(Duration::from_secs(10)))).join().unwrap();
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.stop();
    }
}

fn copied() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for file in std::fs::read_dir(original()).unwrap().map(|file| file.unwrap()) {
        if file.file_name().to_string_lossy().starts_with(FILE) {
            std::fs::copy(file.path(), directory.path().join(file.file_name())).unwrap();
        }
    }
    directory
}

fn serve(listener: TcpListener, directory: &Path) -> Runtime {
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    listener.set_nonblocking(true).unwrap();
    let database = Database::new(&directory.join(FILE).display().to_string()).unwrap();
    runtime.spawn(async move {
        dynoxide::server::serve_on(tokio::net::TcpListener::from_std(listener).unwrap(), database).await
    });
    runtime
}
