//! Law: over HTTP, on a DynamoDB-compatible server, the AWS SDK and the direct client get the same items, capacity and
//! refusals, and leave the same items behind.

use crate::embedded_maker::{calls, items};
use crate::fixture::table;
use crate::makers::{describe_result, seeds};
use dynoxide::Database;
use keyfold::table::store::{ClientKind, TableStore};
use tokio::net::TcpListener;

const CASES: u64 = 40;

/// A store on an empty server of its own.
async fn store(client: ClientKind) -> TableStore {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, Database::memory().unwrap()));
    let store = TableStore::connect(Some(&url), Some("eu-central-1")).await.unwrap().with_client(client);
    store.create_missing(&[table("things")]).await.unwrap();
    store
}

#[tokio::test]
async fn both_clients_get_the_same_from_a_server() {
    for seed in seeds(CASES) {
        let (direct, sdk) = (store(ClientKind::Direct).await, store(ClientKind::Sdk).await);
        for (number, (call, token, table)) in calls(seed).iter().enumerate() {
            let kind = |error: &keyfold::table::data::error::TableError| format!("{:?}", error.kind);
            let seen = [
                describe_result(&direct, call, (table, token), kind).await,
                describe_result(&sdk, call, (table, token), kind).await,
            ];
            assert_eq!(seen[0], seen[1], "seed {seed}, call {number}: {call:?}");
        }
        assert_eq!(items(&direct).await, items(&sdk).await, "seed {seed}");
    }
}
