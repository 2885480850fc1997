//! A DynamoDB-compatible server whose streams have an index, so that they can be written to fast, and writes straight
//! to it.

use crate::process::{repository, run};
use dynoxide::Database;
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::data::write::BatchWrite;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;

/// The most writes of one call.
pub const BATCH: usize = 25;

/// The server.
pub struct Store {
    address: SocketAddr,
    pub directory: TempDir,
}

impl Store {
    /// A server with the tables of the schema. It runs as long as the test.
    pub fn start() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("data.db").display().to_string();
        let database = Database::new(&path).unwrap();
        // Without an index, each write looks through all records of the stream.
        let index = "CREATE INDEX stream_order ON _stream_records (table_name, CAST(sequence_number AS INTEGER))";
        rusqlite::Connection::open(&path).unwrap().execute_batch(index).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        tokio::spawn(async move {
            dynoxide::server::serve_on(tokio::net::TcpListener::from_std(listener).unwrap(), database).await
        });
        let store = Self { address, directory };
        let schema = repository("tests/schemas/copies/feed.graphql");
        let options =
            ["--lease-table", "--create", "--schema", schema.to_str().unwrap(), "--endpoint-url", &store.url()];
        let made = run(store.directory.path(), &[&["tables"], &options[..]].concat()).well();
        assert!(made.contains("feed: created") && made.contains("keyfold-leases: created"), "{made}");
        store
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A client of it.
    pub async fn client(&self) -> TableStore {
        TableStore::connect(Some(&self.url()), Some("local")).await.unwrap()
    }
}

/// Writes a version of these notes.
pub async fn write(client: &TableStore, notes: std::ops::Range<usize>, version: u64) {
    let note = |number: usize| {
        let text = |text: String| Attribute::S(text.into());
        let members = [
            ("PK", text("ROOM#1".to_owned())),
            ("SK", text(format!("Note#{number}"))),
            ("room", text("1".to_owned())),
            ("id", text(number.to_string())),
            ("ownerId", text(owner(number).to_owned())),
            ("version", Attribute::N(version.to_string().into())),
        ];
        BatchWrite::Put(members.into_iter().collect::<Item>())
    };
    let notes: Vec<BatchWrite> = notes.map(note).collect();
    for batch in notes.chunks(BATCH) {
        client.write_batch("feed", batch.to_vec(), (Instant::now() + Duration::from_secs(60)).into()).await.unwrap();
    }
}

/// Every second note belongs to the caller of the tests.
pub fn owner(number: usize) -> &'static str {
    if number.is_multiple_of(2) { "11111111-1111-4111-8111-111111111111" } else { "somebody else" }
}
