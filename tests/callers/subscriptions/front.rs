//! A DynamoDB-compatible server in, a store on it out whose answers a test changes.

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use dynoxide::Database;
use keyfold::table::store::TableStore;
use serde_json::Value;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Changes the answer to an operation.
type Change = dyn Fn(&str, &mut (StatusCode, Value)) + Send + Sync;

/// A store on an empty server, whose answers this changes.
pub async fn store_behind(change: impl Fn(&str, &mut (StatusCode, Value)) + Send + Sync + 'static) -> TableStore {
    let ((server, behind), (front, address)) = (bound().await, bound().await);
    tokio::spawn(dynoxide::server::serve_on(server, Database::memory().unwrap()));
    let (client, change): (_, Arc<Change>) = (reqwest::Client::new(), Arc::new(change));
    let app = Router::new().fallback(move |headers: HeaderMap, body: Bytes| {
        carry((client.clone(), behind), change.clone(), headers, body)
    });
    tokio::spawn(async move { axum::serve(front, app).await });
    TableStore::connect(Some(&format!("http://{address}")), Some("local")).await.unwrap()
}

async fn bound() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn carry(
    (client, server): (reqwest::Client, SocketAddr),
    change: Arc<Change>,
    headers: HeaderMap,
    body: Bytes,
) -> (StatusCode, [(&'static str, &'static str); 1], String) {
    let operation = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap().to_owned();
    let answer = client.post(format!("http://{server}/")).headers(headers).body(body).send().await.unwrap();
    let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
    let mut answer = (status, serde_json::from_slice(&answer.bytes().await.unwrap()).unwrap());
    change(&operation, &mut answer);
    (answer.0, [("content-type", "application/x-amz-json-1.0")], answer.1.to_string())
}
