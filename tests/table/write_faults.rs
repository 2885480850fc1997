//! Faults below the SDK while writing: each ends in the right result or the right error, and never in a double effect.
//! Time is paused.

use crate::applied::Applied;
use crate::fixture::{count_up, deadline, expression, item, key, sort_key, write};
use crate::scripted::{LOST, REFUSED, Reply, Server};
use keyfold::table::data::attribute::Key;
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::data::write::{ConditionFailure, WriteAction, WriteError};
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// A server that runs writes; `reply` replaces the first `times` answers.
fn losing(times: usize, reply: fn() -> Reply) -> (Arc<Applied>, Server) {
    let applied = Arc::new(Applied::new());
    let engine = applied.clone();
    let server = Server::new(move |before, operation, body| {
        let answer = engine.apply(operation, body);
        if before < times { reply() } else { answer }
    });
    (applied, server)
}

/// A server that runs writes, except the first `times`.
fn refusing(times: usize, reply: fn() -> Reply) -> (Arc<Applied>, Server) {
    let applied = Arc::new(Applied::new());
    let engine = applied.clone();
    let server = Server::new(
        move |before, operation, body| if before < times { reply() } else { engine.apply(operation, body) },
    );
    (applied, server)
}

fn loaders(server: &Server) -> Loaders {
    Loaders::new(TableStore::over(server.clone()), deadline())
}

fn canceled(codes: &[&str]) -> Reply {
    let reasons: Vec<Value> = codes.iter().map(|code| json!({ "Code": code, "Message": "said so" })).collect();
    let code = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
    Reply::Body(400, json!({ "__type": code, "Message": "canceled", "CancellationReasons": reasons }).to_string())
}

#[track_caller]
fn failed<T: std::fmt::Debug>(outcome: Result<T, WriteError>) -> TableError {
    match outcome {
        Err(WriteError::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn uncertain<T: std::fmt::Debug>(outcome: Result<T, WriteError>) -> TableError {
    match outcome {
        Err(WriteError::Uncertain(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_single_write_whose_answer_is_lost_is_uncertain_and_done_once() {
    for (name, reply) in LOST {
        let (applied, server) = losing(1, reply);
        let error = uncertain(loaders(&server).write(&count_up("a")).await);
        assert!(error.detail.starts_with("UpdateItem things: "), "{name}: {error}");
        assert_eq!((server.requests(), applied.count("a").as_deref()), (1, Some("1")), "{name}");

        let (applied, server) = losing(1, reply);
        uncertain(loaders(&server).write(&write(WriteAction::Put(item("p", "a")), None)).await);
        uncertain(loaders(&losing(1, reply).1).write(&write(WriteAction::Delete(key("p", "a")), None)).await);
        assert_eq!((server.requests(), applied.count("a").is_some()), (1, true), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_transaction_whose_answers_are_lost_is_repeated_and_done_once() {
    for (name, reply) in LOST {
        let applied = Arc::new(Applied::new());
        let tokens = Arc::new(Mutex::new(Vec::new()));
        let (engine, log) = (applied.clone(), tokens.clone());
        let server = Server::new(move |before, operation, body| {
            log.lock().unwrap().push(body["ClientRequestToken"].as_str().unwrap().to_owned());
            let answer = engine.apply(operation, body);
            if before < 3 { reply() } else { answer }
        });
        let loaders = loaders(&server);
        loaders.transact(&[count_up("a"), count_up("b")], "one and the same").await.unwrap();
        assert_eq!((applied.count("a").as_deref(), applied.count("b").as_deref()), (Some("1"), Some("1")), "{name}");
        assert_eq!(*tokens.lock().unwrap(), vec!["one and the same"; 4], "{name}");
        assert_eq!(loaders.calls().len(), 1, "all attempts are one call");
    }
}

#[tokio::test(start_paused = true)]
async fn what_certainly_was_not_done_is_tried_again() {
    for (name, reply) in REFUSED {
        let (applied, server) = refusing(6, reply);
        let now = loaders(&server).write(&count_up("a")).await.unwrap().unwrap();
        assert_eq!(now["n"], keyfold::table::data::attribute::Attribute::N("1".into()), "{name}");
        assert_eq!((server.requests(), applied.count("a").as_deref()), (7, Some("1")), "{name}");

        let (applied, server) = refusing(6, reply);
        loaders(&server).transact(&[count_up("a"), count_up("b")], "token").await.unwrap();
        assert_eq!((server.requests(), applied.count("b").as_deref()), (7, Some("1")), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn conflicts_and_throttling_of_a_transaction_are_outlasted() {
    let replies: [fn() -> Reply; 7] = [
        || canceled(&["None", "TransactionConflict"]),
        || canceled(&["ThrottlingError", "None"]),
        || canceled(&["ProvisionedThroughputExceeded", "TransactionConflict"]),
        || Reply::error(400, "TransactionInProgressException"),
        // The condition of the other item is not known, and may come first.
        || canceled(&["TransactionConflict", "ConditionalCheckFailed"]),
        || canceled(&["ConditionalCheckFailed", "ThrottlingError"]),
        || canceled(&["ConditionalCheckFailed", "ValidationError", "TransactionConflict"]),
    ];
    for (i, reply) in replies.into_iter().enumerate() {
        let begun = Instant::now();
        let (applied, server) = refusing(5, reply);
        loaders(&server).transact(&[count_up("a"), count_up("b")], "token").await.unwrap();
        assert_eq!((server.requests(), applied.count("a").as_deref()), (6, Some("1")));
        let patient = begun.elapsed() >= Duration::from_secs(5);
        assert_eq!(patient, i == 3, "one that is under way is given time: {:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn trouble_that_lasts_is_reported_at_the_deadline() {
    for (reply, kind) in [
        ((|| Reply::error(400, "ThrottlingException")) as fn() -> Reply, TableErrorKind::Throttled),
        (|| Reply::error(400, "TransactionConflictException"), TableErrorKind::Condition),
        (|| canceled(&["TransactionConflict"]), TableErrorKind::Condition),
        (|| canceled(&["ThrottlingError"]), TableErrorKind::Throttled),
    ] {
        let server = Server::new(move |_, _, _| reply());
        let begun = Instant::now();
        let error = failed(loaders(&server).transact(&[count_up("a")], "token").await);
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.detail.starts_with("TransactWriteItems things: "), "{error}");
        assert!(server.requests() > 10 && begun.elapsed() <= Duration::from_secs(30));
    }
    // If no server is there, the error comes sooner.
    let server = Server::new(|_, _, _| Reply::Refused);
    let begun = Instant::now();
    assert_eq!(failed(loaders(&server).transact(&[count_up("a")], "token").await).kind, TableErrorKind::Unavailable);
    assert_eq!(failed(loaders(&server).write(&count_up("a")).await).kind, TableErrorKind::Unavailable);
    assert!(server.requests() > 10 && begun.elapsed() <= Duration::from_secs(11), "{:?}", begun.elapsed());
    // A later failure to connect does not show the outcome of an earlier attempt.
    let server = Server::new(|before, _, _| if before == 0 { Reply::Reset } else { Reply::Refused });
    uncertain(loaders(&server).transact(&[count_up("a")], "token").await);
    let server = Server::new(|_, _, _| Reply::error(400, "ThrottlingException"));
    assert_eq!(failed(loaders(&server).write(&count_up("a")).await).kind, TableErrorKind::Throttled);
}

#[tokio::test(start_paused = true)]
async fn a_transaction_that_may_have_been_done_is_uncertain_at_the_deadline() {
    for (name, reply) in LOST {
        let (applied, server) = losing(usize::MAX, reply);
        uncertain(loaders(&server).transact(&[count_up("a")], "token").await);
        assert_eq!(applied.count("a").as_deref(), Some("1"), "{name}");
        assert!(server.requests() >= 5, "{name}: {}", server.requests());
    }
    // Later refusals do not show the outcome of the first attempt.
    for later in
        [(|| Reply::error(400, "ThrottlingException")) as fn() -> Reply, || Reply::error(400, "AccessDeniedException")]
    {
        let applied = Arc::new(Applied::new());
        let engine = applied.clone();
        let server = Server::new(move |before, operation, body| match before {
            0 => {
                engine.apply(operation, body);
                Reply::Reset
            }
            _ => later(),
        });
        uncertain(loaders(&server).transact(&[count_up("a")], "token").await);
        assert_eq!(applied.count("a").as_deref(), Some("1"));
    }
    let server = Server::new(|_, _, _| Reply::error(400, "TransactionInProgressException"));
    uncertain(loaders(&server).transact(&[count_up("a")], "token").await);
}

#[tokio::test(start_paused = true)]
async fn a_condition_that_fails_after_a_lost_attempt_has_failed() {
    let applied = Arc::new(Applied::new());
    let engine = applied.clone();
    // The first attempt never reached the table; then somebody else created the item.
    let server = Server::new(move |before, operation, body| match before {
        0 => {
            engine.apply(
                "PutItem",
                json!({ "TableName": "things", "Item": { "PK": { "S": "p" }, "SK": { "S": "a" }, "n": { "N": "7" } } }),
            );
            Reply::Never
        }
        _ => engine.apply(operation, body),
    });
    let absent = expression("attribute_not_exists(#k)", &[("#k", "PK")], &[]);
    let calls = [count_up("b"), write(WriteAction::Put(item("p", "a")), Some(absent))];
    match loaders(&server).transact(&calls, "token").await {
        Err(WriteError::Conditions(conditions)) => {
            let [ConditionFailure { position: 1, item: Some(item) }] = &conditions[..] else {
                panic!("{conditions:?}")
            };
            assert_eq!(item["n"], keyfold::table::data::attribute::Attribute::N("7".into()));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!((applied.count("a").as_deref(), applied.count("b")), (Some("7"), None));
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_reported_at_once() {
    for (reply, kind) in [
        ((|| Reply::error(400, "IdempotentParameterMismatchException")) as fn() -> Reply, TableErrorKind::Invalid),
        (|| Reply::error(400, "ValidationException"), TableErrorKind::Invalid),
        (|| Reply::error(400, "AccessDeniedException"), TableErrorKind::Denied),
        (|| Reply::error(400, "ResourceNotFoundException"), TableErrorKind::NoSuchTable),
        (|| canceled(&["ValidationError", "TransactionConflict"]), TableErrorKind::Invalid),
        (|| canceled(&[]), TableErrorKind::Invalid),
    ] {
        let server = Server::new(move |_, _, _| reply());
        let error = failed(loaders(&server).transact(&[count_up("a"), count_up("b")], "token").await);
        assert_eq!((error.kind, server.requests()), (kind, 1), "{error}");
    }
    // A full item collection has its own error.
    for reply in [(|| canceled(&["None", "ItemCollectionSizeLimitExceeded"])) as fn() -> Reply, || {
        Reply::error(400, "ItemCollectionSizeLimitExceededException")
    }] {
        let loaders = loaders(&Server::new(move |_, _, _| reply()));
        let outcome = loaders.transact(&[count_up("a"), count_up("b")], "token").await;
        assert!(matches!(&outcome, Err(WriteError::TooLarge(text)) if text.contains("10 GB")), "{outcome:?}");
    }
    for code in ["ValidationException", "AccessDeniedException"] {
        let server = Server::new(move |_, _, _| Reply::error(400, code));
        failed(loaders(&server).write(&count_up("a")).await);
        assert_eq!(server.requests(), 1, "{code}");
    }
    let size = r#"{"__type":"x#ValidationException","message":"the aggregate size of the items in the transaction exceeding the 4MB limit"}"#;
    let server = Server::new(move |_, _, _| Reply::Body(400, size.into()));
    let outcome = loaders(&server).transact(&[count_up("a")], "token").await;
    assert!(matches!(&outcome, Err(WriteError::TooLarge(text)) if text.contains("4 MB")), "{outcome:?}");

    // A mismatch shows that the token belongs to another transaction, even if an earlier attempt was lost.
    let mismatch = "IdempotentParameterMismatchException";
    let server = Server::new(move |before, _, _| if before == 0 { Reply::Reset } else { Reply::error(400, mismatch) });
    assert_eq!(failed(loaders(&server).transact(&[count_up("a")], "token").await).kind, TableErrorKind::Invalid);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_after_the_deadline() {
    let server = Server::new(|_, _, _| Reply::Never);
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now());
    assert_eq!(failed(loaders.write(&count_up("a")).await).kind, TableErrorKind::Timeout);
    assert_eq!(failed(loaders.transact(&[count_up("a")], "token").await).kind, TableErrorKind::Timeout);
    assert!(loaders.delete_batch("things", vec![key("p", "a")]).await.is_err());
    assert_eq!(server.requests(), 0);
    // A write that the deadline interrupts may have been sent.
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_millis(100));
    uncertain(loaders.write(&count_up("a")).await);
    assert_eq!(server.requests(), 1);
    // So may one that is interrupted after refusals.
    let server =
        Server::new(|before, _, _| if before < 2 { Reply::error(400, "ThrottlingException") } else { Reply::Never });
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_secs(2));
    uncertain(loaders.write(&count_up("a")).await);
    let server =
        Server::new(|before, _, _| if before < 2 { Reply::error(400, "ThrottlingException") } else { Reply::Never });
    let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_secs(2));
    uncertain(loaders.transact(&[count_up("a")], "token").await);
}

/// A server with `count` items that deletes 10 of those asked for and leaves the rest; every third call fails by
/// `reply` after that.
fn deleting(count: usize, reply: fn() -> Reply) -> (Arc<Applied>, Server) {
    let applied = Arc::new(Applied::new());
    for i in 0..count {
        let item = json!({ "PK": { "S": "p" }, "SK": { "S": sort_key(i) } });
        applied.apply("PutItem", json!({ "TableName": "things", "Item": item }));
    }
    let engine = applied.clone();
    let server = Server::new(move |before, operation, body| {
        let requests = body["RequestItems"]["things"].as_array().unwrap().clone();
        assert!((1..=25).contains(&requests.len()));
        let (done, rest) = requests.split_at(requests.len().min(10));
        engine.apply(operation, json!({ "RequestItems": { "things": done } }));
        match before % 3 {
            2 => reply(),
            _ => Reply::ok(
                json!({ "UnprocessedItems": if rest.is_empty() { json!({}) } else { json!({ "things": rest }) } }),
            ),
        }
    });
    (applied, server)
}

#[tokio::test(start_paused = true)]
async fn a_partial_batch_of_deletes_is_completed() {
    for (_, reply) in LOST.into_iter().chain(REFUSED) {
        let (applied, server) = deleting(60, reply);
        let keys: Vec<Key> = (0..60).chain(20..30).map(|i| key("p", &sort_key(i))).collect();
        let loaders = Loaders::new(TableStore::over(server.clone()), Instant::now() + Duration::from_secs(120));
        loaders.delete_batch("things", keys).await.unwrap();
        assert!((0..60).all(|i| applied.count(&sort_key(i)).is_none()));
        assert_eq!(loaders.calls().len(), 3);
    }
}

#[tokio::test(start_paused = true)]
async fn deletes_that_stay_undone_are_reported() {
    let server = Server::new(|_, _, body| Reply::ok(json!({ "UnprocessedItems": body["RequestItems"] })));
    let error = failed(loaders(&server).delete_batch("things", vec![key("p", "a"), key("p", "b")]).await);
    assert_eq!(error.kind, TableErrorKind::Throttled, "{error}");
    let server = Server::new(|_, _, _| Reply::error(400, "AccessDeniedException"));
    let error = failed(loaders(&server).delete_batch("things", vec![key("p", "a")]).await);
    assert_eq!((error.kind, server.requests()), (TableErrorKind::Denied, 1));
    let many = (0..30).map(|i| key("p", &sort_key(i))).collect();
    assert_eq!(uncertain(loaders(&server).delete_batch("things", many).await).kind, TableErrorKind::Denied);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_may_be_made_in_part_has_not_failed() {
    let denied = || Reply::error(400, "AccessDeniedException");
    let delete = async |server: &Server| {
        loaders(server).delete_batch("things", (0..20).map(|i| key("p", &sort_key(i))).collect()).await
    };
    // Some are deleted, and the rest is refused.
    let half = Server::new(move |before, _, body| match before {
        0 => Reply::ok(
            json!({ "UnprocessedItems": { "things": body["RequestItems"]["things"].as_array().unwrap()[10..] } }),
        ),
        _ => denied(),
    });
    assert_eq!(uncertain(delete(&half).await).kind, TableErrorKind::Denied);
    // The first answer is lost, or says what nobody can read.
    for (name, reply) in LOST {
        let server = Server::new(move |before, _, _| if before == 0 { reply() } else { denied() });
        assert_eq!(uncertain(delete(&server).await).kind, TableErrorKind::Denied, "{name}");
    }
    let strange = Server::new(|_, _, _| Reply::ok(json!({ "UnprocessedItems": { "things": [{}] } })));
    assert_eq!(uncertain(delete(&strange).await).kind, TableErrorKind::Invalid);
    // Nothing was done.
    assert_eq!(failed(delete(&Server::new(move |_, _, _| denied())).await).kind, TableErrorKind::Denied);
    for (name, reply) in REFUSED {
        let server = Server::new(move |before, _, _| if before < 2 { reply() } else { denied() });
        assert_eq!(failed(delete(&server).await).kind, TableErrorKind::Denied, "{name}");
    }
}
