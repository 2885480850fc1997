//! Tables: their creation, their comparison with the schema, and their state.

use crate::fixture::{key_attribute, table};
use crate::scripted::{Reply, Server};
use keyfold::schema::table::{Billing, Capacity, KeyType, Projection, StreamView, Table};
use keyfold::table::admin::definition::{continuous_backups_input, create_table_input};
use keyfold::table::data::error::TableErrorKind;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[tokio::test]
async fn missing_tables_are_made_as_declared_and_only_once() {
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    assert_eq!(store.create_missing(&[table("things")]).await.unwrap(), ["things"]);
    let calls = recorder.take();
    let create = |calls: &[(String, Value)]| {
        calls.iter().find(|(operation, _)| operation == "CreateTable").map(|(_, body)| body.clone())
    };
    assert_eq!(create(&calls), Some(create_table_input(&table("things"))), "what is printed is what is sent");
    assert_eq!(
        calls.last().unwrap().1,
        json!({ "TableName": "things", "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true } })
    );

    assert_eq!(store.create_missing(&[table("things"), table("users")]).await.unwrap(), ["users"]);
    assert!(store.differences(&[table("things"), table("users")]).await.unwrap().is_empty());
    store.ready(&[table("things"), table("users")]).await.unwrap();
    let error = store.ready(&[table("things"), table("missing"), table("also missing")]).await.unwrap_err();
    assert_eq!(error.kind, TableErrorKind::NoSuchTable);
    assert!(error.detail.contains(" missing:"), "{error}");
}

#[test]
fn the_input_of_create_table_is_complete() {
    let input = create_table_input(&table("things"));
    let keys = |partition: &str, sort: &str| json!([{ "AttributeName": partition, "KeyType": "HASH" }, { "AttributeName": sort, "KeyType": "RANGE" }]);
    let attribute = |name: &str, kind: &str| json!({ "AttributeName": name, "AttributeType": kind });
    let expected = json!({
        "TableName": "things",
        "AttributeDefinitions": [attribute("PK", "S"), attribute("SK", "S"), attribute("GroupId", "S"), attribute("score", "N"), attribute("mail", "S")],
        "KeySchema": keys("PK", "SK"),
        "LocalSecondaryIndexes": [
            { "IndexName": "ByScore", "KeySchema": keys("PK", "score"), "Projection": { "ProjectionType": "ALL" } },
        ],
        "GlobalSecondaryIndexes": [
            { "IndexName": "ByGroup", "KeySchema": keys("GroupId", "SK"), "Projection": { "ProjectionType": "KEYS_ONLY" } },
            { "IndexName": "ByMail", "KeySchema": keys("mail", "PK"),
              "Projection": { "ProjectionType": "INCLUDE", "NonKeyAttributes": ["name", "size"] } },
        ],
        "BillingMode": "PAY_PER_REQUEST",
    });
    assert_eq!(input, expected);
    let mut bare = table("things");
    (bare.sort, bare.indexes) = (None, Vec::new());
    let names: Vec<String> = create_table_input(&bare).as_object().unwrap().keys().cloned().collect();
    assert_eq!(names, ["TableName", "AttributeDefinitions", "KeySchema", "BillingMode"]);
}

/// A table with its own capacity and one for each global index, a stream and point-in-time recovery.
fn provisioned() -> Table {
    let mut table = table("things");
    table.billing = Billing::Provisioned(Capacity { read: 10, write: 5 });
    table.indexes[0].capacity = Some(Capacity { read: 10, write: 5 });
    table.indexes[2].capacity = Some(Capacity { read: 1, write: 2 });
    table.stream = Some(StreamView::NewAndOldImages);
    table.point_in_time_recovery = true;
    table
}

#[tokio::test]
async fn capacity_stream_and_backups_are_asked_for() {
    let input = create_table_input(&provisioned());
    assert_eq!(
        (&input["BillingMode"], &input["ProvisionedThroughput"]["ReadCapacityUnits"]),
        (&json!("PROVISIONED"), &json!(10))
    );
    assert_eq!(input["StreamSpecification"], json!({ "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" }));
    assert_eq!(
        input["GlobalSecondaryIndexes"][1]["ProvisionedThroughput"],
        json!({ "ReadCapacityUnits": 1, "WriteCapacityUnits": 2 })
    );
    assert!(input["LocalSecondaryIndexes"][0].get("ProvisionedThroughput").is_none());

    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&[provisioned()]).await.unwrap();
    let calls = recorder.take();
    let bodies = |wanted: &str| {
        calls.iter().filter(|(operation, _)| operation == wanted).map(|(_, body)| body.clone()).collect::<Vec<_>>()
    };
    assert_eq!(bodies("CreateTable"), [input], "what is printed is what is sent");
    assert_eq!(bodies("UpdateContinuousBackups"), [continuous_backups_input(&provisioned()).unwrap()]);
    assert_eq!(bodies("UpdateTimeToLive").len(), 1);
    assert!(
        store.differences(&[provisioned(), table("things")]).await.unwrap().is_empty(),
        "neither stands in the way of a read"
    );
    assert_eq!(continuous_backups_input(&table("things")), None);
}

#[tokio::test(start_paused = true)]
async fn backups_that_are_being_prepared_are_waited_for() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = asked.clone();
    let server = Server::new(move |before, operation, _| match (before, operation) {
        (0, "DescribeTable") => Reply::error(400, "ResourceNotFoundException"),
        (_, "DescribeTable") => Reply::ok(description("ACTIVE", "ACTIVE")),
        (_, "CreateTable") => Reply::ok(description("CREATING", "CREATING")),
        (_, "UpdateContinuousBackups") => match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Reply::error(400, "ContinuousBackupsUnavailableException"),
            _ => Reply::ok(json!({ "ContinuousBackupsDescription": { "ContinuousBackupsStatus": "ENABLED" } })),
        },
        other => panic!("unexpected: {other:?}"),
    });
    let mut table = provisioned();
    table.time_to_live = None;
    assert_eq!(TableStore::over(server).create_missing(&[table]).await.unwrap(), ["things"]);
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn every_difference_is_a_sentence() {
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&[table("things")]).await.unwrap();
    let changed = |change: &dyn Fn(&mut Table)| {
        let mut table = table("things");
        change(&mut table);
        table
    };
    for (declared, sentence) in [
        (table("users"), "Table users does not exist."),
        (changed(&|t| t.partition.name = "pk".into()), "Table things: the partition key is PK (S), not pk (S)."),
        (changed(&|t| t.partition.kind = KeyType::B), "Table things: the partition key is PK (S), not PK (B)."),
        (changed(&|t| t.sort = None), "Table things: it has the sort key SK (S), but the schema declares none."),
        (changed(&|t| t.indexes[0].name = "Other".into()), "Index Other of table things does not exist."),
        (changed(&|t| t.indexes[0].local = true), "Index ByGroup of table things is a global index, not a local one."),
        (
            changed(&|t| t.indexes[0].sort.clear()),
            "Index ByGroup of table things: it has the sort key SK (S), but the schema declares none.",
        ),
        (
            changed(&|t| t.indexes[1].sort = vec![key_attribute("score", KeyType::S)]),
            "Index ByScore of table things: the sort key is score (N), not score (S).",
        ),
        (
            changed(&|t| t.indexes[1].projection = Projection::KeysOnly),
            "Index ByScore of table things holds all attributes, not the keys only.",
        ),
        (
            changed(&|t| t.indexes[2].projection = Projection::Include(vec!["name".into()])),
            "Index ByMail of table things holds the keys and name, size, not the keys and name.",
        ),
        (
            changed(&|t| t.time_to_live = Some("expires".into())),
            "Table things: the time-to-live attribute is ttl, not expires.",
        ),
    ] {
        assert_eq!(store.differences(&[declared]).await.unwrap(), [sentence]);
    }
    let harmless = changed(&|t| {
        t.indexes.pop();
        t.time_to_live = None;
        t.indexes.reverse();
    });
    assert!(store.differences(&[harmless]).await.unwrap().is_empty(), "more than is declared does no harm");

    let mut plain = table("plain");
    (plain.sort, plain.time_to_live) = (None, None);
    plain.indexes.clear();
    store.create_missing(&[plain]).await.unwrap();
    let sentences = store.differences(&[table("plain")]).await.unwrap();
    assert_eq!(sentences[0], "Table plain: it has no sort key, but the schema declares SK (S).");
    assert_eq!(sentences.last().unwrap(), "Table plain: time to live is not enabled on ttl.");
    assert_eq!(sentences.len(), 5);
}

fn description(status: &str, index_status: &str) -> Value {
    let key = |name: &str| json!([{ "AttributeName": name, "KeyType": "HASH" }]);
    let index = |name: &str| json!({ "IndexName": name, "IndexStatus": index_status, "KeySchema": key("x"), "Projection": { "ProjectionType": "ALL" } });
    let indexes = [index("ByGroup"), index("ByMail")];
    json!({ "Table": { "TableName": "things", "TableStatus": status, "KeySchema": key("PK"), "GlobalSecondaryIndexes": indexes } })
}

#[tokio::test(start_paused = true)]
async fn a_new_table_is_waited_for() {
    let described = Arc::new(AtomicUsize::new(0));
    let count = described.clone();
    let server = Server::new(move |_, operation, _| match operation {
        // It does not exist, is not known yet, is being created, and so are its indexes; somebody else has created it.
        "DescribeTable" => match count.fetch_add(1, Ordering::SeqCst) {
            0 | 1 => Reply::error(400, "ResourceNotFoundException"),
            2..5 => Reply::ok(description("CREATING", "CREATING")),
            5 => Reply::ok(description("ACTIVE", "CREATING")),
            _ => Reply::ok(description("ACTIVE", "ACTIVE")),
        },
        "CreateTable" => Reply::error(400, "ResourceInUseException"),
        other => panic!("{other} is not called for a table that somebody else has made"),
    });
    assert!(TableStore::over(server).create_missing(&[table("things")]).await.unwrap().is_empty());
    assert_eq!(described.load(Ordering::SeqCst), 7);
}

#[tokio::test(start_paused = true)]
async fn a_table_whose_making_was_not_answered_is_made_all_the_same() {
    let enabled = Arc::new(AtomicUsize::new(0));
    let count = enabled.clone();
    let server = Server::new(move |before, operation, _| match (before, operation) {
        (0, "DescribeTable") => Reply::error(400, "ResourceNotFoundException"),
        (1, "CreateTable") => Reply::Reset,
        (2, "CreateTable") => Reply::error(400, "ResourceInUseException"),
        (_, "DescribeTable") => Reply::ok(description("ACTIVE", "ACTIVE")),
        (_, "DescribeTimeToLive") => Reply::ok(json!({ "TimeToLiveDescription": { "TimeToLiveStatus": "DISABLED" } })),
        (_, "UpdateTimeToLive") => {
            count.fetch_add(1, Ordering::SeqCst);
            Reply::ok(json!({ "TimeToLiveSpecification": { "AttributeName": "ttl", "Enabled": true } }))
        }
        other => panic!("unexpected: {other:?}"),
    });
    assert_eq!(TableStore::over(server).create_missing(&[table("things")]).await.unwrap(), ["things"]);
    assert_eq!(enabled.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn readiness_is_reported_soon() {
    for (reply, kind, words) in [
        (
            (|| Reply::ok(description("CREATING", "CREATING"))) as fn() -> Reply,
            TableErrorKind::Unavailable,
            "table things is CREATING",
        ),
        (
            || Reply::ok(description("ACTIVE", "DELETING")),
            TableErrorKind::Unavailable,
            "index ByGroup of table things is DELETING",
        ),
        (|| Reply::error(400, "AccessDeniedException"), TableErrorKind::Denied, "AccessDenied"),
        (|| Reply::Never, TableErrorKind::Timeout, "DescribeTable things"),
    ] {
        let begun = tokio::time::Instant::now();
        let error = TableStore::over(Server::new(move |_, _, _| reply())).ready(&[table("things")]).await.unwrap_err();
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.detail.contains(words), "{error}");
        assert!(begun.elapsed().as_secs_f64() <= 0.95, "a probe waits for a second");
    }
}

/// Some compatible servers have neither time to live nor backups.
#[tokio::test(start_paused = true)]
async fn a_server_without_time_to_live_and_backups_will_do() {
    for refusal in
        [(|| Reply::error(400, "UnknownOperationException")) as fn() -> Reply, || Reply::error(501, "NotImplemented")]
    {
        let server = Server::new(move |before, operation, _| match (before, operation) {
            (0, "DescribeTable") => Reply::error(400, "ResourceNotFoundException"),
            (_, "DescribeTable") => Reply::ok(description("ACTIVE", "ACTIVE")),
            (_, "CreateTable") => Reply::ok(json!({})),
            _ => refusal(),
        });
        let store = TableStore::over(server);
        assert_eq!(store.create_missing(&[provisioned()]).await.unwrap(), ["things"]);
        let differences = store.differences(&[provisioned()]).await.unwrap();
        assert!(!differences.iter().any(|sentence| sentence.contains("time to live")), "{differences:?}");
    }
}

/// The description of a table that is as the fixture declares it, but for this.
fn described(change: impl Fn(&mut Value)) -> TableStore {
    let key = |name: &str, role: &str| json!({ "AttributeName": name, "KeyType": role });
    let mut description = create_table_input(&table("things"));
    description["TableStatus"] = json!("ACTIVE");
    assert_eq!(description["KeySchema"], json!([key("PK", "HASH"), key("SK", "RANGE")]));
    change(&mut description);
    let time_to_live = json!({ "TimeToLiveDescription": { "TimeToLiveStatus": "ENABLED", "AttributeName": "ttl" } });
    TableStore::over(Server::new(move |_, operation, _| match operation {
        "DescribeTable" => Reply::ok(json!({ "Table": description })),
        "DescribeTimeToLive" => Reply::ok(time_to_live.clone()),
        other => panic!("{other} is not called"),
    }))
}

#[tokio::test]
async fn an_index_with_more_keys_than_declared_is_another_one() {
    let index = |description: &Value, name: &str| {
        let indexes = description["GlobalSecondaryIndexes"].as_array().unwrap();
        indexes.iter().position(|index| index["IndexName"] == name).unwrap()
    };
    let with_key = |role: &'static str, name: &'static str| {
        let store = described(move |description| {
            let place = index(description, "ByGroup");
            description["AttributeDefinitions"]
                .as_array_mut()
                .unwrap()
                .push(json!({ "AttributeName": name, "AttributeType": "N" }));
            let keys = description["GlobalSecondaryIndexes"][place]["KeySchema"].as_array_mut().unwrap();
            keys.push(json!({ "AttributeName": name, "KeyType": role }));
        });
        async move { store.differences(&[table("things")]).await.unwrap() }
    };
    assert!(described(|_| {}).differences(&[table("things")]).await.unwrap().is_empty());
    let declared = table("things").indexes[0].clone();
    let (partition, sort) = (&declared.partition[0].name, &declared.sort[0].name);
    assert_eq!(
        with_key("HASH", "region").await,
        [format!(
            "Index ByGroup of table things: the partition key is {partition} (S) and region (N), not {partition} (S)."
        )]
    );
    assert_eq!(
        with_key("RANGE", "day").await,
        [format!("Index ByGroup of table things: the sort key is {sort} (S) and day (N), not {sort} (S).")]
    );
}

#[tokio::test]
async fn every_attribute_of_an_index_is_compared() {
    let several = |partition: &[&str], sort: &[&str]| {
        let mut declared = table("things");
        let key = |name: &&str| key_attribute(name, if *name == "round" { KeyType::N } else { KeyType::S });
        declared.indexes[0].partition = partition.iter().map(key).collect();
        declared.indexes[0].sort = sort.iter().map(key).collect();
        declared
    };
    let there = several(&["tournament", "region"], &["round", "bracket"]);
    let store = TableStore::in_memory().unwrap();
    store.create_missing(std::slice::from_ref(&there)).await.unwrap();
    let differences = async |declared: Table| store.differences(&[declared]).await.unwrap();
    assert_eq!(differences(there).await, [""; 0]);
    let is = "(S) and bracket (S)";
    for (partition, sort, sentence) in [
        (
            &["tournament"][..],
            &["round", "bracket"][..],
            "partition key is tournament (S) and region (S), not tournament (S)",
        ),
        (
            &["region", "tournament"],
            &["round", "bracket"],
            "partition key is tournament (S) and region (S), not region (S) and tournament (S)",
        ),
        (&["tournament", "region"], &["round"], "sort key is round (N) and bracket (S), not round (N)"),
        (
            &["tournament", "region"],
            &["round", "bracket", "name"],
            "sort key is round (N) and bracket (S), not round (N) and bracket (S) and name (S)",
        ),
    ] {
        let expected = format!("Index ByGroup of table things: the {sentence}.");
        assert_eq!(differences(several(partition, sort)).await, [expected]);
    }
    let none = differences(several(&["tournament", "region"], &[])).await;
    assert_eq!(
        none,
        [format!(
            "Index ByGroup of table things: it has the sort key round {}, but the schema declares none.",
            is.replacen('S', "N", 1)
        )]
    );
    let described = store.described("things").await.unwrap();
    let index = described.indexes.iter().find(|index| index.name == "ByGroup").unwrap();
    let names: Vec<&str> = index.keys().all().map(|key| key.name.as_str()).collect();
    assert_eq!((names, index.partition.len()), (vec!["tournament", "region", "round", "bracket"], 2));
}

#[tokio::test]
async fn keys_that_an_index_names_once_more_are_no_difference() {
    let declared = |projection: Projection| {
        let mut declared = table("things");
        declared.indexes[0].projection = projection;
        declared
    };
    let there = |projection: Value| {
        described(move |description| {
            let indexes = description["GlobalSecondaryIndexes"].as_array_mut().unwrap();
            let index = indexes.iter_mut().find(|index| index["IndexName"] == "ByGroup").unwrap();
            index["Projection"] = projection.clone();
        })
    };
    let include = |names: &[&str]| Projection::Include(names.iter().map(|name| (*name).to_owned()).collect());
    let included = |names: &[&str]| json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names });
    let key = table("things").indexes[0].partition[0].name.clone();
    for (declared_as, is) in [
        (include(&["name"]), included(&["name", "PK", "SK"])),
        (include(&["SK", "name", "PK"]), included(&["name"])),
        (include(&["name", &key]), included(&["PK", "name"])),
        (Projection::KeysOnly, included(&["PK"])),
        (include(&[&key]), json!({ "ProjectionType": "KEYS_ONLY" })),
    ] {
        let text = format!("{declared_as:?} and {is}");
        assert_eq!(there(is).differences(&[declared(declared_as)]).await.unwrap(), Vec::<String>::new(), "{text}");
    }
    let differences = there(included(&["PK", "size"])).differences(&[declared(include(&["name"]))]).await.unwrap();
    assert_eq!(differences, ["Index ByGroup of table things holds the keys and size, not the keys and name."]);
}

#[tokio::test]
async fn a_table_that_is_watched_has_a_stream_with_both_images() {
    let with = |stream: Value| {
        described(move |description| match stream.clone() {
            Value::Null => drop(description.as_object_mut().unwrap().remove("StreamSpecification")),
            stream => description["StreamSpecification"] = stream,
        })
    };
    let on = |view: &str| json!({ "StreamEnabled": true, "StreamViewType": view });
    let needs = "but the schema watches its changes (`@watch`), which takes a stream with NEW_AND_OLD_IMAGES.";
    let off = json!({ "StreamEnabled": false });
    for (stream, expected) in [
        (on("NEW_AND_OLD_IMAGES"), vec![]),
        (Value::Null, vec![format!("Table things: it has no stream, {needs}")]),
        (off, vec![format!("Table things: it has no stream, {needs}")]),
        (on("NEW_IMAGE"), vec![format!("Table things: its stream has NEW_IMAGE, {needs}")]),
        (on("KEYS_ONLY"), vec![format!("Table things: its stream has KEYS_ONLY, {needs}")]),
    ] {
        let store = with(stream);
        assert_eq!(store.differences_and_streams(&[table("things")], &[0].into()).await.unwrap(), expected);
        // Nobody needs it otherwise.
        assert!(store.differences_and_streams(&[table("things")], &[].into()).await.unwrap().is_empty());
    }
}
