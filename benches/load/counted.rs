//! A store in; a server of DynamoDB's reads out that delays each call by a time, and counts calls, read units and bytes
//! the same way for whoever makes them. `GET /counts` gives the counts.

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, routing::get};
use dynoxide::actions::{batch_get_item, describe_table, get_item, query};
use dynoxide::types::ConsumedCapacity;
use dynoxide::{Database, DynoxideError};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;

/// What has been read.
#[derive(Clone, Copy, Default, Deserialize, Serialize)]
pub struct Counts {
    /// GetItem calls.
    pub gets: f64,
    /// BatchGetItem calls.
    pub batches: f64,
    /// Query calls.
    pub queries: f64,
    /// Read units, as the table bills them.
    pub units: f64,
    /// Bytes of the answers' bodies.
    pub bytes: f64,
}

impl Counts {
    /// What a request has read since then.
    pub fn a_request_since(&self, then: &Self, requests: u64) -> Self {
        let each = |now: f64, then: f64| (now - then) / requests as f64;
        Self {
            gets: each(self.gets, then.gets),
            batches: each(self.batches, then.batches),
            queries: each(self.queries, then.queries),
            units: each(self.units, then.units),
            bytes: each(self.bytes, then.bytes),
        }
    }

    /// All calls.
    pub fn calls(&self) -> f64 {
        self.gets + self.batches + self.queries
    }
}

#[derive(Clone)]
struct Counted {
    database: Database,
    counts: Arc<Mutex<Counts>>,
    delay: Duration,
}

/// Serves a store. Several stores of one address share the counts.
pub async fn serve(listener: TcpListener, database: Database, (counts, delay): (Arc<Mutex<Counts>>, Duration)) {
    let counted = Counted { database, counts, delay };
    let app = Router::new().route("/counts", get(counts_so_far)).fallback(answer).with_state(counted);
    axum::serve(listener, app).await.unwrap();
}

async fn counts_so_far(State(counted): State<Counted>) -> Json<Counts> {
    Json(*counted.counts.lock().unwrap())
}

async fn answer(State(counted): State<Counted>, headers: HeaderMap, body: Bytes) -> Response {
    if !counted.delay.is_zero() {
        tokio::time::sleep(counted.delay).await;
    }
    let operation = headers["x-amz-target"].to_str().unwrap().rsplit('.').next().unwrap();
    let mut of_call = Counts::default();
    let (status, text) = match called(&counted.database, operation, &body, &mut of_call) {
        Ok(text) => (StatusCode::OK, text),
        Err(error) => (StatusCode::from_u16(error.status_code()).unwrap(), error.to_json()),
    };
    {
        let mut counts = counted.counts.lock().unwrap();
        counts.gets += of_call.gets;
        counts.batches += of_call.batches;
        counts.queries += of_call.queries;
        counts.units += of_call.units;
        counts.bytes += text.len() as f64;
    }
    let checksum = crc32fast::hash(text.as_bytes()).to_string();
    (status, [("content-type", "application/x-amz-json-1.0"), ("x-amz-crc32", &checksum)], text).into_response()
}

/// Makes a call. The store always says what it takes, and the caller hears it if it asks.
fn called(database: &Database, operation: &str, body: &[u8], counts: &mut Counts) -> Result<String, DynoxideError> {
    let total = || Some("TOTAL".to_owned());
    match operation {
        "GetItem" => {
            let mut request: get_item::GetItemRequest = read(body);
            let asked = request.return_consumed_capacity.replace("TOTAL".to_owned());
            let mut response = database.get_item(request)?;
            counts.gets += 1.0;
            counts.units += units(response.consumed_capacity.iter());
            response.consumed_capacity = response.consumed_capacity.filter(|_| is_wanted(asked));
            Ok(written(&response))
        }
        "BatchGetItem" => {
            let mut request: batch_get_item::BatchGetItemRequest = read(body);
            let asked = std::mem::replace(&mut request.return_consumed_capacity, total());
            let mut response = database.batch_get_item(request)?;
            counts.batches += 1.0;
            counts.units += units(response.consumed_capacity.iter().flatten());
            response.consumed_capacity = response.consumed_capacity.filter(|_| is_wanted(asked));
            Ok(written(&response))
        }
        "Query" => {
            let mut request: query::QueryRequest = read(body);
            let asked = std::mem::replace(&mut request.return_consumed_capacity, total());
            let mut response = database.query(request)?;
            counts.queries += 1.0;
            counts.units += units(response.consumed_capacity.iter());
            response.consumed_capacity = response.consumed_capacity.filter(|_| is_wanted(asked));
            Ok(written(&response))
        }
        "DescribeTable" => Ok(written(&database.describe_table(read::<describe_table::DescribeTableRequest>(body))?)),
        other => panic!("{other} is no read"),
    }
}

fn read<'b, R: Deserialize<'b>>(body: &'b [u8]) -> R {
    serde_json::from_slice(body).unwrap()
}

fn written(response: &impl Serialize) -> String {
    serde_json::to_string(response).unwrap()
}

fn units<'c>(consumed: impl Iterator<Item = &'c ConsumedCapacity>) -> f64 {
    consumed.map(|consumed| consumed.capacity_units).sum()
}

fn is_wanted(asked: Option<String>) -> bool {
    asked.is_some_and(|asked| asked != "NONE")
}
