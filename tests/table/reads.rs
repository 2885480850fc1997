//! The loaders on the embedded store: their calls, and their results.

use crate::fixture::{deadline, fill, get, item, numbered, query, s, sort_key, table};
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::{Expression, Get, SortCondition};
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::request::loaders::Loaders;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// A store with `count` items in partition `p` of table `things`, its recorder, and loaders on it.
async fn filled(count: usize) -> (Arc<Recorder>, Loaders) {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    fill(&store, count).await;
    recorder.take();
    (recorder, Loaders::new(&store, deadline()))
}

fn keys_of(body: &Value, table: &str) -> usize {
    body["RequestItems"][table]["Keys"].as_array().map_or(0, Vec::len)
}

#[tokio::test]
async fn keys_are_read_a_hundred_a_call() {
    for (keys, calls) in [
        (0, vec![]),
        (1, vec![("GetItem", 0)]),
        (2, vec![("BatchGetItem", 2)]),
        (100, vec![("BatchGetItem", 100)]),
        (101, vec![("BatchGetItem", 100), ("GetItem", 0)]),
        (250, vec![("BatchGetItem", 100), ("BatchGetItem", 100), ("BatchGetItem", 50)]),
    ] {
        let (recorder, loaders) = filled(keys).await;
        // Backwards, and each key three times.
        let gets: Vec<Get> = (0..keys * 3).rev().map(|i| get("things", "p", &sort_key(i % keys))).collect();
        let found = loaders.get(&gets).await;
        assert_eq!(found.len(), gets.len());
        for (get, outcome) in gets.iter().zip(found) {
            let (found, Some((_, KeyValue::S(sk)))) = (outcome.unwrap().unwrap(), &get.key.sort) else {
                panic!("no text")
            };
            assert_eq!(found["SK"], s(sk.as_str()), "the results are in the order of the Gets");
            assert_eq!(found.len(), 3, "the projection holds: {found:?}");
        }
        let made: Vec<_> = recorder.take();
        let made: Vec<(&str, usize)> =
            made.iter().map(|(operation, body)| (operation.as_str(), keys_of(body, "things"))).collect();
        assert_eq!(made, calls, "{keys} keys");
        let counts: Vec<usize> = loaders.calls().iter().map(|call| call.keys).collect();
        assert_eq!(counts.iter().sum::<usize>(), keys);

        let again = loaders.get(&gets).await;
        assert!(
            again.iter().all(|outcome| outcome.as_ref().unwrap().is_some()) && recorder.take().is_empty(),
            "a later wave reads no key twice"
        );
    }
}

#[tokio::test]
async fn one_batch_spans_tables_and_tasks() {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    let tables = [table("things"), table("users")];
    store.create_missing(&tables).await.unwrap();
    for table in &tables {
        store.load(table, vec![item("p", "a"), item("p", "b")], deadline()).await.unwrap();
    }
    recorder.take();
    let loaders = Loaders::new(&store, deadline());
    let (one, other) =
        ([get("users", "p", "a"), get("things", "p", "b")], [get("things", "p", "a"), get("things", "p", "none")]);
    let (left, right) = futures_util::future::join(loaders.get(&one), loaders.get(&other)).await;
    assert!(left.iter().all(|outcome| outcome.as_ref().unwrap().is_some()));
    assert!(right[0].as_ref().unwrap().is_some() && right[1].as_ref().unwrap().is_none());

    let projection = json!({ "ExpressionAttributeNames": { "#p0": "PK", "#p1": "SK", "#p2": "name" }, "ProjectionExpression": "#p0, #p1, #p2" });
    let request = |keys: &[&str]| {
        let mut request = projection.clone();
        request["Keys"] = keys.iter().map(|sk| json!({ "PK": { "S": "p" }, "SK": { "S": sk } })).collect();
        request
    };
    let expected = json!({ "RequestItems": { "things": request(&["a", "b", "none"]), "users": request(&["a"]) }, "ReturnConsumedCapacity": "TOTAL" });
    assert_eq!(recorder.take(), [("BatchGetItem".to_owned(), expected)]);

    let calls = loaders.calls();
    assert_eq!(
        (calls[0].operation, &*calls[0].table, calls[0].keys, calls[0].items, calls[0].wave),
        ("BatchGetItem", "things,users", 4, 3, 1)
    );
    assert!(calls[0].capacity > 0.0 && calls[0].ms > 0.0);
}

#[tokio::test]
async fn a_strong_read_is_strong_for_its_table_and_answers_later_weak_ones() {
    let (recorder, loaders) = filled(3).await;
    let strong = |sk: &str| Get { consistent: true, ..get("things", "p", sk) };
    loaders.get(&[get("things", "p", "s#0000"), strong("s#0001"), get("things", "p", "s#0001")]).await;
    let calls = recorder.take();
    assert_eq!((calls.len(), keys_of(&calls[0].1, "things")), (1, 2), "weak and strong are one key");
    assert_eq!(calls[0].1["RequestItems"]["things"]["ConsistentRead"], json!(true));

    assert!(loaders.get(&[get("things", "p", "s#0001")]).await[0].as_ref().unwrap().is_some());
    assert!(recorder.take().is_empty());
    loaders.get(&[strong("s#0002")]).await;
    loaders.get(&[get("things", "p", "s#0002")]).await;
    let calls = recorder.take();
    assert_eq!(calls.len(), 1);
    assert_eq!((calls[0].0.as_str(), &calls[0].1["ConsistentRead"]), ("GetItem", &json!(true)));
}

#[tokio::test]
async fn projections_that_differ_are_united() {
    let (recorder, loaders) = filled(2).await;
    let other =
        Get { projection: Arc::new(["PK".into(), "SK".into(), "other".into()]), ..get("things", "p", "s#0001") };
    let found = loaders.get(&[get("things", "p", "s#0000"), other]).await;
    assert!(found.iter().all(|outcome| outcome.as_ref().unwrap().as_ref().unwrap().len() == 4));
    assert_eq!(recorder.take().len(), 1);
}

#[tokio::test]
async fn items_are_matched_to_keys_that_were_not_asked_for() {
    for names in [vec!["name".into()], vec![]] {
        let (_, loaders) = filled(2).await;
        let gets: Vec<Get> =
            (0..2).map(|i| Get { projection: names.clone().into(), ..get("things", "p", &sort_key(i)) }).collect();
        let found = loaders.get(&gets).await;
        assert_eq!(found[1].as_ref().unwrap().as_ref().unwrap()["name"], s("name of s#0001"), "{names:?}");
    }
}

#[tokio::test]
async fn impossible_keys_are_no_calls_and_spoil_no_batch() {
    let (recorder, loaders) = filled(2).await;
    let long = "x".repeat(1025);
    let found = loaders
        .get(&[
            get("things", "", "a"),
            get("things", "p", ""),
            get("things", "p", &long),
            get("things", "p", "s#0000"),
            get("things", "p", "s#0001"),
        ])
        .await;
    assert!(found[..3].iter().all(|outcome| outcome.as_ref().unwrap().is_none()));
    assert!(found[3..].iter().all(|outcome| outcome.as_ref().unwrap().is_some()));
    assert_eq!(recorder.take().len(), 1);
    assert_eq!(loaders.query(&query("things", "")).await.unwrap().count, 0);
    let mut nothing = query("things", "p");
    nothing.sort = Some(("SK".into(), SortCondition::Between(KeyValue::S("b".into()), KeyValue::S("a".into()))));
    assert_eq!(loaders.query(&nothing).await.unwrap().count, 0);
    assert!(recorder.take().is_empty(), "neither needs a call");
}

#[tokio::test]
async fn numbers_match_in_any_spelling() {
    let store = TableStore::in_memory().unwrap();
    let table = numbered("numbers");
    store.create_missing(std::slice::from_ref(&table)).await.unwrap();
    let number = |text: &str| Item::from([("PK".to_owned(), s("p")), ("n".to_owned(), Attribute::N(text.into()))]);
    store.load(&table, vec![number("1.5"), number("20"), number("-3")], deadline()).await.unwrap();
    let get = |text: &str| Get {
        table: "numbers".into(),
        key: Key {
            partition: ("PK".into(), KeyValue::S("p".into())),
            sort: Some(("n".into(), KeyValue::N(text.into()))),
        },
        projection: Arc::new(["PK".into(), "n".into()]),
        consistent: false,
        max_age: None,
    };
    let found = Loaders::new(&store, deadline())
        .get(&[get("1.50"), get("15e-1"), get("2E1"), get("-3.0"), get("7"), get("many")])
        .await;
    let found: Vec<Option<Attribute>> =
        found.into_iter().map(|outcome| outcome.unwrap().map(|item| item["n"].clone())).collect();
    let n = |text: &str| Some(Attribute::N(text.into()));
    assert_eq!(found, [n("1.5"), n("1.5"), n("20"), n("-3"), None, None]);
}

#[tokio::test]
async fn a_query_sends_all_that_it_was_given() {
    let (recorder, loaders) = filled(5).await;
    let mut all = query("things", "p");
    all.index = Some("ByScore".into());
    all.sort = Some(("score".into(), SortCondition::GreaterOrEqual(KeyValue::N("1".into()))));
    all.filter = Some(Expression {
        text: "begins_with(#n0, :v0)".into(),
        names: [("#n0".to_owned(), "name".to_owned())].into(),
        values: [(":v0".to_owned(), s("name"))].into(),
    });
    (all.forward, all.limit, all.consistent) = (false, 7, true);
    loaders.query(&all).await.unwrap();
    let expected = json!({
        "ConsistentRead": true,
        "ExpressionAttributeNames": { "#k0": "PK", "#k1": "score", "#n0": "name", "#p0": "SK", "#p1": "name" },
        "ExpressionAttributeValues": { ":k0": { "S": "p" }, ":k1": { "N": "1" }, ":v0": { "S": "name" } },
        "FilterExpression": "begins_with(#n0, :v0)",
        "IndexName": "ByScore",
        "KeyConditionExpression": "#k0 = :k0 AND #k1 >= :k1",
        "Limit": 7,
        "ProjectionExpression": "#p0, #p1",
        "ReturnConsumedCapacity": "TOTAL",
        "ScanIndexForward": false,
        "TableName": "things",
    });
    assert_eq!(recorder.take(), [("Query".to_owned(), expected)]);
    let call = loaders.calls().remove(0);
    assert_eq!(
        (call.operation, &*call.table, call.index.as_deref(), call.keys, call.wave),
        ("Query", "things", Some("ByScore"), 1, 1)
    );
}

#[tokio::test]
async fn pages_follow_one_another_to_the_end() {
    let (_, loaders) = filled(25).await;
    for partition in [query("things", "p").partition, None] {
        for forward in [true, false] {
            let mut page_query = query("things", "p");
            (page_query.partition, page_query.forward, page_query.limit) = (partition.clone(), forward, 10);
            let (mut seen, mut pages) = (Vec::new(), 0);
            loop {
                let page = loaders.query(&page_query).await.unwrap();
                assert!(page.items.len() <= 10 && page.count as usize == page.items.len());
                seen.extend(page.items.iter().map(|item| item["SK"].clone()));
                pages += 1;
                assert!(pages < 10);
                page_query.start = page.last_key;
                if page_query.start.is_none() {
                    break;
                }
            }
            let mut expected: Vec<Attribute> = (0..25).map(|i| s(sort_key(i))).collect();
            if !forward && partition.is_some() {
                expected.reverse();
            }
            assert_eq!(seen, expected);
        }
    }
    let operations: Vec<&str> = loaders.calls().iter().map(|call| call.operation).collect();
    assert_eq!(operations, [["Query"; 6], ["Scan"; 6]].concat());
}

#[tokio::test]
async fn a_further_page_is_a_wave_of_its_own() {
    let (_, loaders) = filled(3).await;
    let page = query("things", "p");
    loaders.query(&page).await.unwrap();
    loaders.query_after(&page, 2, false).await.unwrap();
    loaders.begin_wave();
    // Nothing was called in that one.
    loaders.begin_wave();
    loaders.query(&page).await.unwrap();
    assert_eq!(loaders.calls().iter().map(|call| call.wave).collect::<Vec<_>>(), [1, 3, 4]);
}

#[tokio::test]
async fn a_count_brings_no_items() {
    let (recorder, loaders) = filled(12).await;
    let mut count = query("things", "p");
    count.projection = None;
    count.sort = Some(("SK".into(), SortCondition::BeginsWith(KeyValue::S("s#001".into()))));
    let page = loaders.query(&count).await.unwrap();
    assert_eq!((page.count, page.items.len()), (2, 0));
    assert_eq!(recorder.take()[0].1["Select"], json!("COUNT"));
}

#[tokio::test]
async fn a_missing_table_and_a_missing_index_are_distinguished_from_mistakes() {
    use keyfold::table::data::error::TableErrorKind::{Invalid, NoSuchTable};
    let (_, loaders) = filled(1).await;
    let kind = |error: keyfold::table::data::error::TableError| error.kind;
    assert_eq!(loaders.query(&query("missing", "p")).await.map_err(kind).unwrap_err(), NoSuchTable);
    assert_eq!(loaders.get(&[get("missing", "p", "a")]).await.remove(0).map_err(kind).unwrap_err(), NoSuchTable);
    let mut no_index = query("things", "p");
    no_index.index = Some("Missing".into());
    assert_eq!(loaders.query(&no_index).await.map_err(kind).unwrap_err(), NoSuchTable);
    let mut no_key = query("things", "p");
    no_key.partition = Some(("name".into(), KeyValue::S("x".into())));
    assert_eq!(loaders.query(&no_key).await.map_err(kind).unwrap_err(), Invalid);
    let mut scan = query("things", "p");
    (scan.partition, scan.sort) = (None, Some(("SK".into(), SortCondition::Equal(KeyValue::S("a".into())))));
    assert_eq!(loaders.query(&scan).await.map_err(kind).unwrap_err(), Invalid);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_tasks_share_loaders() {
    let (recorder, loaders) = filled(250).await;
    let loaders = Arc::new(loaders);
    let tasks: Vec<_> = (0..50)
        .map(|task| {
            let loaders = loaders.clone();
            tokio::spawn(async move {
                let gets: Vec<Get> = (0..20).map(|i| get("things", "p", &sort_key((task * 5 + i) % 250))).collect();
                (loaders.get(&gets).await, loaders.query(&query("things", "p")).await)
            })
        })
        .collect();
    for task in tasks {
        let (found, page) = task.await.unwrap();
        assert!(found.iter().all(|outcome| outcome.as_ref().unwrap().is_some()));
        assert_eq!(page.unwrap().items.len(), 100);
    }
    let read: usize = recorder
        .take()
        .iter()
        .map(|(operation, body)| if operation == "GetItem" { 1 } else { keys_of(body, "things") })
        .sum();
    assert_eq!(read, 250, "each key once, whichever task came first");
}
