//! Writes on the embedded store: the requests, their results, and what later reads return.

use crate::fixture::{count_up, deadline, expression, fill, get, item, key, s, sort_key, table, write};
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::Get;
use keyfold::table::data::error::TableErrorKind;
use keyfold::table::data::write::{ConditionFailure, Unfit, WriteAction, WriteCall, WriteError};
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use serde_json::json;
use std::sync::Arc;

async fn filled(count: usize) -> (Arc<Recorder>, Loaders) {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    fill(&store, count).await;
    recorder.take();
    let loaders = Loaders::new(&store, deadline());
    (recorder, loaders)
}

/// `attribute_not_exists(PK)`
fn absent() -> Option<keyfold::table::data::call::Expression> {
    Some(expression("attribute_not_exists(#f0)", &[("#f0", "PK")], &[]))
}

fn n(text: &str) -> Attribute {
    Attribute::N(text.into())
}

async fn names(loaders: &Loaders, keys: &[&str]) -> Vec<Option<Attribute>> {
    let gets: Vec<Get> = keys.iter().map(|sk| Get { projection: Arc::new([]), ..get("things", "p", sk) }).collect();
    loaders.get(&gets).await.into_iter().map(|found| found.unwrap().map(|item| item["name"].clone())).collect()
}

#[tokio::test]
async fn a_put_gives_what_was_there_and_a_failed_condition_what_is_there() {
    let (recorder, loaders) = filled(0).await;
    let first = write(WriteAction::Put(item("p", "a")), absent());
    assert_eq!(loaders.write(&first).await.unwrap(), None);
    match loaders.write(&first).await.unwrap_err() {
        WriteError::Conditions(failed) => {
            assert_eq!(failed, [ConditionFailure { position: 0, item: Some(item("p", "a")) }])
        }
        other => panic!("{other:?}"),
    }
    let second = write(WriteAction::Put(Item::from([("name", s("new")), ("PK", s("p")), ("SK", s("a"))])), None);
    assert_eq!(loaders.write(&second).await.unwrap(), Some(item("p", "a")));
    let sent = recorder.take();
    let expected = json!({
        "ConditionExpression": "attribute_not_exists(#f0)",
        "ExpressionAttributeNames": { "#f0": "PK" },
        "Item": { "PK": { "S": "p" }, "SK": { "S": "a" }, "name": { "S": "name of a" }, "other": { "NULL": true } },
        "ReturnConsumedCapacity": "TOTAL",
        "ReturnValues": "ALL_OLD",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        "TableName": "things",
    });
    assert_eq!(sent[0], ("PutItem".to_owned(), expected));
}

#[tokio::test]
async fn an_update_gives_what_is_there_now_and_keeps_its_placeholders_from_the_conditions() {
    let (_, loaders) = filled(1).await;
    let condition = expression("#f0 = :f0", &[("#f0", "name")], &[(":f0", s("name of s#0000"))]);
    let update =
        expression("SET #f0 = :f0, #f1 = :f1", &[("#f0", "n"), ("#f1", "name")], &[(":f0", n("1")), (":f1", s("new"))]);
    let call = write(WriteAction::Update(key("p", "s#0000"), Some(update)), Some(condition));
    let now = loaders.write(&call).await.unwrap().unwrap();
    assert_eq!((&now["n"], &now["name"], now.len()), (&n("1"), &s("new"), 5));
    match loaders.write(&call).await.unwrap_err() {
        WriteError::Conditions(failed) => assert_eq!(failed[0].item.as_ref().unwrap(), &now),
        other => panic!("{other:?}"),
    }
    assert_eq!(loaders.write(&count_up("made")).await.unwrap().unwrap()["n"], n("1"));
}

#[tokio::test]
async fn a_delete_gives_what_was_there() {
    let (_, loaders) = filled(1).await;
    let call = write(WriteAction::Delete(key("p", "s#0000")), None);
    assert_eq!(loaders.write(&call).await.unwrap(), Some(item("p", "s#0000")));
    assert_eq!(loaders.write(&call).await.unwrap(), None);
    let there = expression("attribute_exists(#k)", &[("#k", "PK")], &[]);
    match loaders.write(&write(WriteAction::Delete(key("p", "s#0000")), Some(there))).await.unwrap_err() {
        WriteError::Conditions(failed) => assert_eq!(failed, [ConditionFailure { position: 0, item: None }]),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_transaction_is_all_or_none_and_tells_which_conditions_failed() {
    let (recorder, loaders) = filled(3).await;
    let there = || Some(expression("attribute_exists(#k)", &[("#k", "PK")], &[]));
    let calls = |check: &str| {
        vec![
            write(WriteAction::Put(item("p", "new")), absent()),
            count_up("s#0000"),
            write(WriteAction::Delete(key("p", "s#0001")), there()),
            write(WriteAction::Check(key("p", check)), there()),
        ]
    };
    match loaders.transact(&calls("missing"), "first").await.unwrap_err() {
        WriteError::Conditions(failed) => assert_eq!(failed, [ConditionFailure { position: 3, item: None }]),
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&loaders, &["new", "s#0001"]).await, [None, Some(s("name of s#0001"))]);
    recorder.take();
    loaders.transact(&calls("s#0002"), "second").await.unwrap();
    let sent = recorder.take();
    assert_eq!(
        (sent.len(), sent[0].0.as_str(), &sent[0].1["ClientRequestToken"]),
        (1, "TransactWriteItems", &json!("second"))
    );
    for (position, kind) in ["Put", "Update", "Delete", "ConditionCheck"].iter().enumerate() {
        assert_eq!(
            sent[0].1["TransactItems"][position][kind]["ReturnValuesOnConditionCheckFailure"],
            json!("ALL_OLD"),
            "{kind}"
        );
    }
    match loaders.transact(&calls("s#0002"), "third").await.unwrap_err() {
        WriteError::Conditions(failed) => {
            let failed: Vec<(usize, bool)> =
                failed.iter().map(|failure| (failure.position, failure.item.is_some())).collect();
            assert_eq!(failed, [(0, true), (2, false)]);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(names(&loaders, &["new", "s#0001"]).await, [Some(s("name of new")), None]);
}

#[tokio::test]
async fn one_token_is_one_transaction() {
    let (_, loaders) = filled(0).await;
    let token = "f".repeat(36);
    loaders.transact(&[count_up("a"), count_up("b")], &token).await.unwrap();
    loaders.transact(&[count_up("a"), count_up("b")], &token).await.unwrap();
    let now = loaders.write(&count_up("a")).await.unwrap().unwrap();
    assert_eq!(now["n"], n("2"), "the transaction counted once");
    match loaders.transact(&[count_up("b")], &token).await.unwrap_err() {
        WriteError::Failed(error) => {
            assert_eq!(error.kind, TableErrorKind::Invalid);
            assert!(error.detail.contains("IdempotentParameterMismatch"), "{error}");
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(loaders.write(&count_up("b")).await.unwrap().unwrap()["n"], n("2"));
}

#[tokio::test]
async fn what_no_transaction_takes_is_not_sent() {
    let (recorder, loaders) = filled(0).await;
    let large = |i: usize| {
        let mut item = item("p", &sort_key(i));
        item.insert("text", s("x".repeat(390 * 1024)));
        write(WriteAction::Put(item), None)
    };
    let too_large = async |calls: Vec<WriteCall>| match loaders.transact(&calls, "token").await.unwrap_err() {
        WriteError::TooLarge(text) => text,
        other => panic!("{other:?}"),
    };
    let many: Vec<WriteCall> = (0..101).map(|i| count_up(&sort_key(i))).collect();
    assert_eq!(too_large(many.clone()).await, "A transaction writes at most 100 items, but this one has 101.");
    assert_eq!(
        too_large((0..11).map(large).collect()).await,
        "A transaction writes at most 4 MB, but these items are larger."
    );

    let failed = async |calls: Vec<WriteCall>, token: String| match loaders.transact(&calls, &token).await.unwrap_err()
    {
        WriteError::Failed(error) if error.kind == TableErrorKind::Invalid => error.detail,
        other => panic!("{other:?}"),
    };
    let token = || "token".to_owned();
    let put = || write(WriteAction::Put(item("p", "a")), None);
    for calls in [vec![count_up("a"), count_up("b"), count_up("a")], vec![put(), count_up("b"), count_up("a")]] {
        let twice = loaders.transact(&calls, "token").await.unwrap_err();
        assert!(matches!(twice, WriteError::Unfit(Some(2), Unfit::Twice)), "{twice:?}");
    }
    assert!(failed(vec![count_up("a")], "f".repeat(37)).await.contains("a token of 37 bytes"));
    assert!(failed(vec![count_up("a")], String::new()).await.contains("a token of 0 bytes"));
    assert!(failed(vec![write(WriteAction::Check(key("p", "a")), None)], token()).await.contains("has no condition"));
    loaders.transact(&[], "token").await.unwrap();
    match loaders.write(&write(WriteAction::Check(key("p", "a")), absent())).await.unwrap_err() {
        WriteError::Failed(error) => assert_eq!(error.kind, TableErrorKind::Invalid),
        other => panic!("{other:?}"),
    }
    assert!(recorder.take().is_empty());

    // Only the server knows that the keys of two puts are equal.
    let twice = loaders.transact(&[put(), put()], "token").await.unwrap_err();
    assert!(matches!(twice, WriteError::Unfit(None, Unfit::Twice)), "{twice:?}");
    loaders.transact(&many[..100], "token").await.unwrap();
}

#[tokio::test]
async fn later_gets_see_what_was_written() {
    let (recorder, loaders) = filled(2).await;
    let rename = |name: &str| {
        let update = expression("SET #u0 = :u0", &[("#u0", "name")], &[(":u0", s(name))]);
        write(WriteAction::Update(key("p", "s#0000"), Some(update)), None)
    };
    assert_eq!(names(&loaders, &["s#0000"]).await, [Some(s("name of s#0000"))]);
    loaders.write(&rename("second")).await.unwrap();
    assert_eq!(names(&loaders, &["s#0000"]).await, [Some(s("second"))]);
    loaders.transact(&[rename("third")], "token").await.unwrap();
    assert_eq!(names(&loaders, &["s#0000"]).await, [Some(s("third"))]);
    assert_eq!(names(&loaders, &["s#0000"]).await, [Some(s("third"))]);
    loaders.delete_batch("things", vec![key("p", "s#0000")]).await.unwrap();
    assert_eq!(names(&loaders, &["s#0000"]).await, [None]);
    let operations: Vec<String> = recorder.take().into_iter().map(|(operation, _)| operation).collect();
    let expected = ["GetItem", "UpdateItem", "GetItem", "TransactWriteItems", "GetItem", "BatchWriteItem", "GetItem"];
    assert_eq!(operations, expected, "and each is read once between two writes");
}

#[tokio::test]
async fn many_items_are_deleted_25_a_call() {
    let (recorder, loaders) = filled(60).await;
    let spelled = Key { partition: ("PK".into(), KeyValue::S(String::new())), sort: key("p", "a").sort };
    let keys: Vec<Key> = (0..55).chain(0..55).map(|i| key("p", &sort_key(i))).chain([spelled]).collect();
    loaders.delete_batch("things", keys).await.unwrap();
    let mut sizes: Vec<usize> = recorder
        .take()
        .iter()
        .map(|(operation, body)| {
            assert_eq!(operation, "BatchWriteItem");
            body["RequestItems"]["things"].as_array().unwrap().len()
        })
        .collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [5, 25, 25], "each key once, and no impossible one");
    let left = loaders.query(&crate::fixture::query("things", "p")).await.unwrap();
    assert_eq!(left.count, 5);
    loaders.delete_batch("things", Vec::new()).await.unwrap();
    match loaders.delete_batch("missing", vec![key("p", "a")]).await.unwrap_err() {
        WriteError::Failed(error) => assert_eq!(error.kind, TableErrorKind::NoSuchTable),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn writes_are_among_the_calls_of_the_request() {
    let (_, loaders) = filled(2).await;
    names(&loaders, &["s#0000"]).await;
    loaders.write(&write(WriteAction::Put(item("p", "s#0000")), None)).await.unwrap();
    loaders.write(&count_up("s#0000")).await.unwrap();
    loaders.write(&write(WriteAction::Delete(key("p", "none")), None)).await.unwrap();
    loaders.transact(&[count_up("s#0000"), count_up("s#0001")], "token").await.unwrap();
    loaders.delete_batch("things", vec![key("p", "s#0000"), key("p", "s#0001")]).await.unwrap();
    let calls = loaders.calls();
    let made: Vec<(&str, usize, usize, bool)> =
        calls.iter().map(|call| (call.operation, call.keys, call.items, call.write)).collect();
    let expected = [
        ("GetItem", 1, 1, false),
        ("PutItem", 1, 1, true),
        ("UpdateItem", 1, 1, true),
        ("DeleteItem", 1, 0, true),
        ("TransactWriteItems", 2, 0, true),
        ("BatchWriteItem", 2, 0, true),
    ];
    assert_eq!(made, expected);
    assert!(calls.iter().all(|call| call.capacity > 0.0 && call.wave == 1 && *call.table == *"things"), "{calls:?}");
    assert!(calls[4].capacity >= 4.0, "a transaction writes twice: {calls:?}");
    assert!(serde_json::to_value(&calls[1]).unwrap().get("write").is_none());
}

#[tokio::test]
async fn what_the_table_cannot_take_has_failed() {
    let (_, loaders) = filled(1).await;
    let wrong = expression("ADD #n :one", &[("#n", "name")], &[(":one", n("1"))]);
    let wrong = write(WriteAction::Update(key("p", "s#0000"), Some(wrong)), None);
    let elsewhere = WriteCall { table: table("missing").name.as_str().into(), ..count_up("a") };
    // Only the item shows that the operand is not a number.
    assert!(matches!(loaders.write(&wrong).await.unwrap_err(), WriteError::Unfit(None, Unfit::NoOperand)));
    let outcome = loaders.transact(&[wrong], "token").await.unwrap_err();
    assert!(matches!(outcome, WriteError::Unfit(Some(0), Unfit::NoOperand)), "{outcome:?}");
    for outcome in
        [loaders.write(&elsewhere).await.map(|_| ()), loaders.transact(std::slice::from_ref(&elsewhere), "token").await]
    {
        match outcome.unwrap_err() {
            WriteError::Failed(error) => assert_eq!(error.kind, TableErrorKind::NoSuchTable, "{error}"),
            other => panic!("{other:?}"),
        }
    }
    // A size has its own error, because the caller can send less.
    let mut large = item("p", "a");
    large.insert("text", s("x".repeat(400 * 1024)));
    let grown = expression("SET #t = :t", &[("#t", "text")], &[(":t", s("x".repeat(400 * 1024)))]);
    for call in
        [write(WriteAction::Put(large), None), write(WriteAction::Update(key("p", "s#0000"), Some(grown)), None)]
    {
        for outcome in
            [loaders.write(&call).await.map(|_| ()), loaders.transact(std::slice::from_ref(&call), "token").await]
        {
            assert!(matches!(&outcome, Err(WriteError::TooLarge(text)) if text.contains("400 KB")), "{outcome:?}");
        }
    }
}

#[tokio::test]
async fn an_item_of_more_than_400_kb_is_too_large() {
    let (_, loaders) = filled(1).await;
    let mut large = item("p", "a");
    large.insert("text", s("x".repeat(400 * 1024)));
    let put = write(WriteAction::Put(large), None);
    for outcome in [loaders.write(&put).await.map(|_| ()), loaders.transact(std::slice::from_ref(&put), "token").await]
    {
        assert!(matches!(outcome, Err(WriteError::TooLarge(ref why)) if why.contains("400 KB")), "{outcome:?}");
    }
}
