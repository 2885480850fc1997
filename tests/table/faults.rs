//! Faults below the SDK: what is retried, until when, and the resulting error. Time is paused.

use crate::fixture::{deadline, get, item, query, sort_key, table};
use crate::scripted::{Reply, Server};
use keyfold::table::data::attribute::{Key, KeyValue};
use keyfold::table::data::call::{Get, Query};
use keyfold::table::data::error::TableErrorKind;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::request::session::CALLS_IN_FLIGHT;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

fn one_item() -> Value {
    json!({ "Items": [{ "SK": { "S": "a" } }], "Count": 1, "ScannedCount": 1, "ConsumedCapacity": { "TableName": "things", "CapacityUnits": 0.5 } })
}

/// Fails this many times, then answers a Query. Gives the number of requests.
async fn after(failures: usize, reply: fn() -> Reply) -> usize {
    let server = Server::new(move |before, _, _| if before < failures { reply() } else { Reply::ok(one_item()) });
    let loaders = Loaders::new(TableStore::over(server.clone()), deadline());
    let page = loaders.query(&query("things", "p")).await.unwrap();
    assert_eq!((page.items.len(), page.count), (1, 1));
    let calls = loaders.calls();
    assert_eq!((calls.len(), calls[0].capacity), (1, 0.5), "all attempts are one call: {calls:?}");
    server.requests()
}

#[tokio::test(start_paused = true)]
async fn throttling_is_outlasted() {
    for code in ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"] {
        let server =
            Server::new(move |before, _, _| if before < 10 { Reply::error(400, code) } else { Reply::ok(one_item()) });
        let loaders = Loaders::new(TableStore::over(server.clone()), deadline());
        assert_eq!(loaders.query(&query("things", "p")).await.unwrap().count, 1, "{code}");
        assert_eq!(server.requests(), 11, "{code}");
    }
}

/// Five hundred concurrent requests, five times in a row: a failing server gets few more calls than there are requests.
#[tokio::test(start_paused = true)]
async fn retries_of_all_requests_are_a_share_of_their_first_attempts() {
    for reply in
        [(|| Reply::error(500, "InternalServerError")) as fn() -> Reply, || Reply::error(400, "ThrottlingException")]
    {
        let server = Server::new(move |_, _, _| reply());
        let store = TableStore::over(server.clone());
        let begun = Instant::now();
        for _ in 0..5 {
            let requests = (0..500).map(|_| async {
                let limit = Instant::now() + Duration::from_secs(6);
                Loaders::new(&store, limit).query(&query("things", "p")).await.unwrap_err()
            });
            futures_util::future::join_all(requests).await;
        }
        let most = 2_500.0 * 1.2 + 100.0 + begun.elapsed().as_secs_f64() * 10.0;
        assert!(server.requests() as f64 <= most, "{} calls, {most} at most", server.requests());
        assert!(server.requests() > 2_600, "some are retried: {}", server.requests());
    }
}

#[tokio::test(start_paused = true)]
async fn what_breaks_on_the_way_is_tried_again() {
    assert_eq!(after(3, || Reply::error(500, "InternalServerError")).await, 4);
    assert_eq!(after(3, || Reply::Body(503, "<html>busy</html>".into())).await, 4);
    assert_eq!(after(3, || Reply::Reset).await, 4, "reset");
    assert_eq!(after(3, || Reply::Body(200, one_item().to_string()[..40].to_owned())).await, 4, "truncated");
    assert_eq!(
        after(3, || Reply::Body(400, r#"{"__type":"com.amazonaws.dyn"#.into())).await,
        4,
        "a refusal, truncated"
    );
    let begun = Instant::now();
    assert_eq!(after(2, || Reply::Never).await, 3, "an attempt that is not answered");
    assert!(begun.elapsed() >= Duration::from_secs(10), "two attempts of 5 seconds: {:?}", begun.elapsed());
}

#[tokio::test(start_paused = true)]
async fn trouble_that_lasts_has_its_kind_at_the_deadline() {
    for (reply, kind) in [
        ((|| Reply::error(400, "ThrottlingException")) as fn() -> Reply, TableErrorKind::Throttled),
        (|| Reply::error(500, "InternalServerError"), TableErrorKind::Unavailable),
        (|| Reply::Reset, TableErrorKind::Unavailable),
        (|| Reply::Body(200, "{".into()), TableErrorKind::Unavailable),
        (|| Reply::Never, TableErrorKind::Timeout),
    ] {
        let server = Server::new(move |_, _, _| reply());
        let (begun, limit) = (Instant::now(), Duration::from_secs(12));
        let loaders = Loaders::new(TableStore::over(server.clone()), begun + limit);
        let error = loaders.query(&query("things", "p")).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.detail.starts_with("Query things: "), "{error}");
        assert!(begun.elapsed() <= limit + Duration::from_millis(1), "{kind:?} took {:?}", begun.elapsed());
        assert!((3..60).contains(&server.requests()), "{kind:?}: {} requests", server.requests());
    }
}

#[tokio::test(start_paused = true)]
async fn throttling_stays_throttling_where_the_deadline_cuts_an_attempt_short() {
    let server =
        Server::new(|before, _, _| if before == 0 { Reply::error(400, "ThrottlingException") } else { Reply::Never });
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_secs(2));
    assert_eq!(loaders.query(&query("things", "p")).await.unwrap_err().kind, TableErrorKind::Throttled);
    assert_eq!(server.requests(), 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_after_the_deadline() {
    let server = Server::new(|_, _, _| Reply::ok(one_item()));
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now());
    assert_eq!(loaders.query(&query("things", "p")).await.unwrap_err().kind, TableErrorKind::Timeout);
    assert_eq!(loaders.get(&[get("things", "p", "a")]).await[0].clone().unwrap_err().kind, TableErrorKind::Timeout);
    assert_eq!(server.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_reported_at_once() {
    for (status, code, kind) in [
        (400, "ResourceNotFoundException", TableErrorKind::NoSuchTable),
        (400, "AccessDeniedException", TableErrorKind::Denied),
        (400, "UnrecognizedClientException", TableErrorKind::Denied),
        (400, "ValidationException", TableErrorKind::Invalid),
        (501, "UnsupportedOperation", TableErrorKind::Invalid),
        (404, "", TableErrorKind::Unavailable),
    ] {
        let reply = move || {
            if code.is_empty() {
                Reply::Body(status, "<html>not here</html>".into())
            } else {
                Reply::error(status, code)
            }
        };
        let server = Server::new(move |_, _, _| reply());
        let loaders = Loaders::new(TableStore::over(server.clone()), deadline());
        let error = loaders.query(&query("things", "p")).await.unwrap_err();
        assert_eq!((error.kind, server.requests()), (kind, 1), "{code}");
        let all = loaders.get(&[get("things", "p", "a"), get("things", "p", "b")]).await;
        assert!(all.iter().all(|outcome| outcome.as_ref().is_err_and(|error| error.kind == kind)), "{code}: {all:?}");
        assert_eq!(server.requests(), 2, "{code}");
    }
}

/// Answers `take` of the keys of a BatchGetItem and leaves the rest unprocessed.
fn answer_some(body: &Value, take: usize) -> Reply {
    let keys = body["RequestItems"]["things"]["Keys"].as_array().unwrap();
    let (done, rest) = keys.split_at(take.min(keys.len()));
    let unprocessed = if rest.is_empty() { json!({}) } else { json!({ "things": { "Keys": rest } }) };
    // Items come back in any order.
    let items: Vec<&Value> = done.iter().rev().collect();
    let capacity = json!([{ "TableName": "things", "CapacityUnits": 0.5 }]);
    Reply::ok(json!({ "Responses": { "things": items }, "UnprocessedKeys": unprocessed, "ConsumedCapacity": capacity }))
}

#[tokio::test(start_paused = true)]
async fn unprocessed_keys_are_asked_for_again() {
    // Every other answer is throttled; the others process 30 of the keys.
    let server = Server::new(|before, _, body| match before % 2 {
        0 => answer_some(&body, 30),
        _ => Reply::error(400, "ProvisionedThroughputExceededException"),
    });
    let loaders = Loaders::new(TableStore::over(server.clone()), deadline());
    let gets: Vec<_> = (0..100).map(|i| get("things", "p", &sort_key(i))).collect();
    let found = loaders.get(&gets).await;
    for (i, outcome) in found.iter().enumerate() {
        let item = outcome.as_ref().unwrap().as_ref().unwrap();
        assert_eq!(item["SK"], crate::fixture::s(sort_key(i)));
    }
    assert_eq!(server.requests(), 7, "30, 30, 30 and 10 keys, with a refusal between each two");
    let calls = loaders.calls();
    assert_eq!((calls.len(), calls[0].keys, calls[0].items, calls[0].capacity), (1, 100, 100, 2.0));
}

#[tokio::test(start_paused = true)]
async fn keys_that_stay_unprocessed_fail_alone() {
    let server = Server::new(|before, _, body| answer_some(&body, if before == 0 { 2 } else { 0 }));
    let loaders = Loaders::new(TableStore::over(server), deadline());
    let found = loaders.get(&[get("things", "p", "a"), get("things", "p", "b"), get("things", "p", "c")]).await;
    assert!(found[0].as_ref().unwrap().is_some() && found[1].as_ref().unwrap().is_some());
    assert_eq!(found[2].as_ref().unwrap_err().kind, TableErrorKind::Throttled);
}

/// Unprocessed keys in another spelling, from a server that is not DynamoDB: none of them equals a requested key.
fn spelled_otherwise(keys: &[Value]) -> Value {
    let spelled = keys
        .iter()
        .map(|key| json!({ "PK": key["PK"], "n": { "N": format!(" {}", key["n"]["N"].as_str().unwrap()) } }));
    json!({ "Responses": {}, "UnprocessedKeys": { "numbers": { "Keys": spelled.collect::<Vec<_>>() } } })
}

fn of_number(number: usize) -> Get {
    Get {
        table: "numbers".into(),
        key: Key {
            partition: ("PK".into(), KeyValue::S("p".into())),
            sort: Some(("n".into(), KeyValue::N(number.to_string()))),
        },
        projection: Arc::new(["PK".into(), "n".into()]),
        consistent: false,
        max_age: None,
    }
}

#[tokio::test(start_paused = true)]
async fn an_unprocessed_key_that_nobody_asked_for_leaves_nothing_absent() {
    let keys = |body: &Value| body["RequestItems"]["numbers"]["Keys"].as_array().unwrap().clone();
    let gets: Vec<Get> = (0..3).map(of_number).collect();
    // The key is requested again.
    let server = Server::new(move |before, _, body| match (before, keys(&body)) {
        (0, keys) => {
            let mut answer = spelled_otherwise(&keys[1..]);
            answer["Responses"] = json!({ "numbers": [keys[0]] });
            Reply::ok(answer)
        }
        (_, keys) => Reply::ok(json!({ "Responses": { "numbers": keys } })),
    });
    let found = Loaders::new(TableStore::over(server.clone()), deadline()).get(&gets).await;
    assert!(found.iter().all(|outcome| outcome.as_ref().unwrap().is_some()), "{found:?}");
    assert_eq!(server.requests(), 2);
    // If it stays unprocessed, that is an error.
    let server = Server::new(move |_, _, body| Reply::ok(spelled_otherwise(&keys(&body))));
    let found = Loaders::new(TableStore::over(server), deadline()).get(&gets).await;
    assert!(
        found.iter().all(|outcome| outcome.as_ref().is_err_and(|error| error.kind == TableErrorKind::Throttled)),
        "{found:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_that_nobody_asked_for_leaves_nothing_absent() {
    let item = |number: &str| json!({ "PK": { "S": "p" }, "n": { "N": number } });
    let server =
        Server::new(move |_, _, _| Reply::ok(json!({ "Responses": { "numbers": [item("1.0"), item("17")] } })));
    let found = Loaders::new(TableStore::over(server), deadline()).get(&[of_number(1), of_number(2)]).await;
    assert!(found[0].as_ref().unwrap().is_some(), "{found:?}");
    assert_eq!(found[1].as_ref().unwrap_err().kind, TableErrorKind::Invalid);
}

#[tokio::test(start_paused = true)]
async fn unprocessed_items_are_written_again() {
    let written = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let log = written.clone();
    let server = Server::new(move |_, operation, body| {
        assert_eq!(operation, "BatchWriteItem");
        let requests = body["RequestItems"]["things"].as_array().unwrap().clone();
        assert!((1..=25).contains(&requests.len()));
        let (done, rest) = requests.split_at(requests.len().div_ceil(2));
        log.lock()
            .unwrap()
            .extend(done.iter().map(|request| request["PutRequest"]["Item"]["SK"]["S"].as_str().unwrap().to_owned()));
        Reply::ok(json!({ "UnprocessedItems": if rest.is_empty() { json!({}) } else { json!({ "things": rest }) } }))
    });
    let items = (0..60).map(|i| item("p", &sort_key(i))).collect();
    TableStore::over(server).put_batch(&table("things"), items, deadline()).await.unwrap();
    let mut written = written.lock().unwrap().clone();
    written.sort();
    assert_eq!(written, (0..60).map(sort_key).collect::<Vec<_>>(), "each once");
}

#[tokio::test(start_paused = true)]
async fn items_that_stay_unprocessed_are_an_error() {
    let server = Server::new(|_, _, body| Reply::ok(json!({ "UnprocessedItems": body["RequestItems"] })));
    let error =
        TableStore::over(server).put_batch(&table("things"), vec![item("p", "a")], deadline()).await.unwrap_err();
    assert_eq!(error.kind, TableErrorKind::Throttled, "{error}");
}

#[tokio::test(start_paused = true)]
async fn calls_of_one_request_are_bounded() {
    // Large calls never have all places.
    for (limit, most) in [(25, CALLS_IN_FLIGHT), (26, CALLS_IN_FLIGHT - CALLS_IN_FLIGHT / 4)] {
        let server = Server::new(|_, _, _| Reply::Never);
        let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_secs(1));
        let queries: Vec<_> = (0..100).map(|i| Query { limit, ..query("things", &format!("p{i}")) }).collect();
        let pages = futures_util::future::join_all(queries.iter().map(|query| loaders.query(query))).await;
        assert!(pages.iter().all(|page| page.as_ref().is_err_and(|error| error.kind == TableErrorKind::Timeout)));
        assert_eq!(server.requests(), most);
    }
}
