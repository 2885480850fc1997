//! A server between the copies and their store that delays calls and loses the answers to writes. A seed decides which.

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

/// What becomes of a write.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Answered,
    /// It never arrives, and the connection breaks.
    NotMade,
    /// It is made, and the connection breaks.
    Made,
    /// It is made, and the answer is that the server has failed.
    Failed,
    /// The connection breaks, and it is made later.
    Late,
}

/// Which answers are lost.
#[derive(Clone, Copy)]
pub struct Losses {
    pub seed: u64,
    /// Of a hundred writes.
    pub percent: u8,
    /// Whether a write may be made after its connection broke. A transaction is then sent again in the meantime.
    pub late: bool,
}

/// Starts the server in front of a store. It runs as long as the test.
pub async fn in_front_of(store: String, losses: Losses) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let rng = Arc::new(Mutex::new(fastrand::Rng::with_seed(losses.seed)));
    let client = reqwest::Client::new();
    let app = Router::new().fallback(move |headers: HeaderMap, body: Bytes| {
        carry(client.clone(), store.clone(), (losses, rng.clone()), headers, body)
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

/// Starts a server in front of a store that makes no transaction: others are always at work on an item of each.
pub async fn busy_in_front_of(store: String) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = reqwest::Client::new();
    let app = Router::new().fallback(move |headers: HeaderMap, body: Bytes| {
        let (client, store) = (client.clone(), store.clone());
        async move {
            if !headers["x-amz-target"].to_str().unwrap().ends_with(".TransactWriteItems") {
                let answer = client.post(&store).headers(headers).body(body).send().await.unwrap();
                let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
                return (status, [("content-type", "application/x-amz-json-1.0")], answer.bytes().await.unwrap())
                    .into_response();
            }
            let canceled = r#"{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"canceled",
                "CancellationReasons":[{"Code":"None"},{"Code":"None"},{"Code":"TransactionConflict","Message":"at work"}]}"#;
            (StatusCode::BAD_REQUEST, [("content-type", "application/x-amz-json-1.0")], canceled).into_response()
        }
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    address
}

async fn carry(
    client: reqwest::Client,
    store: String,
    (losses, rng): (Losses, Arc<Mutex<fastrand::Rng>>),
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let operation = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap().to_owned();
    let is_write = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"].contains(&&*operation);
    let (fate, before, after) = {
        let mut rng = rng.lock().unwrap();
        let lost = is_write && rng.u8(..100) < losses.percent;
        let kinds = [Fate::NotMade, Fate::Made, Fate::Failed, Fate::Late];
        let fate = if lost { kinds[rng.usize(..if losses.late { 4 } else { 3 })] } else { Fate::Answered };
        (fate, Duration::from_millis(rng.u64(..4)), Duration::from_millis(rng.u64(..4)))
    };
    let call = async move {
        tokio::time::sleep(before).await;
        client.post(&store).headers(headers).body(body).send().await.unwrap()
    };
    match fate {
        Fate::NotMade => return broken(),
        Fate::Late => {
            tokio::spawn(async move {
                tokio::time::sleep(Duration::from_millis(30)).await;
                call.await;
            });
            return broken();
        }
        _ => {}
    }
    let answer = call.await;
    let (status, body) = (answer.status(), answer.bytes().await.unwrap());
    tokio::time::sleep(after).await;
    match fate {
        Fate::Made => broken(),
        Fate::Failed => {
            let error = r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"lost"}"#;
            (StatusCode::INTERNAL_SERVER_ERROR, [("content-type", "application/x-amz-json-1.0")], error).into_response()
        }
        _ => (StatusCode::from_u16(status.as_u16()).unwrap(), [("content-type", "application/x-amz-json-1.0")], body)
            .into_response(),
    }
}

/// An answer whose body breaks off.
fn broken() -> Response {
    let error = || std::io::Error::other("lost");
    Body::from_stream(stream::iter([Err::<Bytes, _>(error())])).into_response()
}
