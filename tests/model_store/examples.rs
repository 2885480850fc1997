//! What other implementations cannot be asked: views that lag, streams that split, time that goes on, what a world
//! decides.

use crate::store::chance::{Calm, Chance, TransactionFate};
use crate::store::error::{Answer, ModelError};
use crate::store::state::StreamClock;
use crate::store::{ModelStore, http};
use serde_json::{Value, json};

const SECOND: u64 = 1000;
const MINUTE: u64 = 60 * SECOND;
const DAY: u64 = 24 * 60 * MINUTE;
/// When the examples begin.
const BEGIN: u64 = 1_800_000_000 * SECOND;

fn store() -> ModelStore {
    let index = json!({
        "IndexName": "by state",
        "KeySchema": [{ "AttributeName": "state", "KeyType": "HASH" }],
        "Projection": { "ProjectionType": "ALL" },
    });
    let table = json!({
        "TableName": "notes",
        "AttributeDefinitions": [
            { "AttributeName": "id", "AttributeType": "S" }, { "AttributeName": "state", "AttributeType": "S" },
        ],
        "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
        "GlobalSecondaryIndexes": [index],
        "BillingMode": "PAY_PER_REQUEST",
        "StreamSpecification": { "StreamEnabled": true, "StreamViewType": "NEW_AND_OLD_IMAGES" },
    });
    let mut store = ModelStore::new(&[table], BEGIN);
    let specification = json!({ "Enabled": true, "AttributeName": "expires" });
    let on = json!({ "TableName": "notes", "TimeToLiveSpecification": specification });
    store.call("UpdateTimeToLive", &on, BEGIN, &mut Calm).unwrap();
    store
}

fn put(store: &mut ModelStore, id: &str, state: &str, now: u64) {
    let item =
        json!({ "id": { "S": id }, "state": { "S": state }, "expires": { "N": (BEGIN / SECOND + 60).to_string() } });
    let body = json!({ "TableName": "notes", "Item": item });
    store.call("DynamoDB_20120810.PutItem", &body, now, &mut Calm).unwrap();
}

fn state(store: &mut ModelStore, id: &str, consistent: bool, (now, chance): (u64, &mut dyn Chance)) -> Option<String> {
    let body = json!({ "TableName": "notes", "Key": { "id": { "S": id } }, "ConsistentRead": consistent });
    let answer = store.call("GetItem", &body, now, chance).unwrap();
    answer["Item"]["state"]["S"].as_str().map(str::to_owned)
}

fn ids_in(store: &mut ModelStore, state: &str, now: u64, chance: &mut dyn Chance) -> Vec<String> {
    let body = json!({
        "TableName": "notes", "IndexName": "by state", "KeyConditionExpression": "#s = :s",
        "ExpressionAttributeNames": { "#s": "state" }, "ExpressionAttributeValues": { ":s": { "S": state } },
    });
    let answer = store.call("Query", &body, now, chance).unwrap();
    answer["Items"].as_array().unwrap().iter().map(|item| item["id"]["S"].as_str().unwrap().to_owned()).collect()
}

/// Views that lag by these times, one after the other.
struct Late(Vec<u64>);

impl Chance for Late {
    fn most_lag(&self) -> u64 {
        10 * SECOND
    }

    fn lag(&mut self, _: u64) -> u64 {
        self.0.remove(0)
    }
}

#[test]
fn an_eventually_consistent_view_lags() {
    let mut store = store();
    put(&mut store, "1", "old", BEGIN);
    put(&mut store, "1", "new", BEGIN + 2 * SECOND);
    let now = BEGIN + 3 * SECOND;
    for (lag, seen) in [(0, Some("new")), (SECOND, Some("new")), (2 * SECOND, Some("old")), (4 * SECOND, None)] {
        let eventual = state(&mut store, "1", false, (now, &mut Late(vec![lag])));
        assert_eq!(eventual.as_deref(), seen, "{lag}");
        assert_eq!(state(&mut store, "1", true, (now, &mut Late(vec![]))).as_deref(), Some("new"));
    }
    // Whatever has not changed for longer than the longest lag is seen as it is.
    assert_eq!(state(&mut store, "1", false, (now + 10 * SECOND, &mut Late(vec![]))).as_deref(), Some("new"));
}

#[test]
fn an_index_takes_over_the_changes_of_each_item_by_itself() {
    let mut store = store();
    for (id, state, after) in [("1", "a", 0), ("2", "a", 1), ("1", "b", 2)] {
        put(&mut store, id, state, BEGIN + after * SECOND);
    }
    let now = BEGIN + 3 * SECOND;
    assert_eq!(ids_in(&mut store, "a", now, &mut Calm), ["2"]);
    // Of the first item, the index has its first state still; of the second, it has nothing yet.
    assert_eq!(ids_in(&mut store, "a", now, &mut Late(vec![2 * SECOND, 3 * SECOND])), ["1"]);
    assert_eq!(ids_in(&mut store, "b", now, &mut Late(vec![0, 3 * SECOND])), ["1"]);
}

struct World(usize, TransactionFate);

impl Chance for World {
    fn processed(&mut self, _: usize) -> usize {
        self.0
    }

    fn delivered(&mut self, _: usize) -> usize {
        self.0
    }

    fn transaction(&mut self, _: usize) -> TransactionFate {
        self.1
    }

    fn conflicts(&mut self) -> bool {
        true
    }
}

#[test]
fn a_world_decides_what_is_left_of_a_batch() {
    let mut store = store();
    let write = |id: usize| json!({ "PutRequest": { "Item": { "id": { "S": id.to_string() } } } });
    let body = json!({ "RequestItems": { "notes": (0..3).map(write).collect::<Vec<_>>() } });
    let mut world = World(2, TransactionFate::Alone);
    let answer = store.call("BatchWriteItem", &body, BEGIN, &mut world).unwrap();
    assert_eq!(answer["UnprocessedItems"], json!({ "notes": [write(2)] }));
    let key = |id: usize| json!({ "id": { "S": id.to_string() } });
    let keys = json!({ "Keys": (0..3).map(key).collect::<Vec<_>>(), "ConsistentRead": true });
    let answer = store.call("BatchGetItem", &json!({ "RequestItems": { "notes": keys } }), BEGIN, &mut world).unwrap();
    assert_eq!(answer["Responses"]["notes"].as_array().unwrap().len(), 2);
    assert_eq!(answer["UnprocessedKeys"]["notes"], json!({ "Keys": [key(2)], "ConsistentRead": true }));
}

fn transact(store: &mut ModelStore, id: &str, now: u64, chance: &mut dyn Chance) -> Answer<Value> {
    let put = json!({ "Put": { "TableName": "notes", "Item": { "id": { "S": id } } } });
    let body = json!({ "TransactItems": [put], "ClientRequestToken": "t" });
    store.call("TransactWriteItems", &body, now, chance)
}

#[test]
fn a_token_belongs_to_a_transaction_for_ten_minutes() {
    let mut store = store();
    let code = |answer: Answer<Value>| answer.map_err(|refused: ModelError| refused.code).map(|_| ());
    assert_eq!(
        code(transact(&mut store, "1", BEGIN, &mut World(0, TransactionFate::Conflict(0)))),
        Err("TransactionCanceledException")
    );
    assert_eq!(
        code(transact(&mut store, "1", BEGIN, &mut World(0, TransactionFate::InProgress))),
        Err("TransactionInProgressException")
    );
    assert_eq!(store.table("notes").unwrap().keys().count(), 0);
    assert_eq!(code(transact(&mut store, "1", BEGIN, &mut Calm)), Ok(()));
    let delete = json!({ "TableName": "notes", "Key": { "id": { "S": "1" } } });
    assert_eq!(
        code(store.call("DeleteItem", &delete, BEGIN, &mut World(0, TransactionFate::Alone))),
        Err("TransactionConflictException")
    );
    store.call("DeleteItem", &delete, BEGIN, &mut Calm).unwrap();
    // It is not made again.
    assert_eq!(code(transact(&mut store, "1", BEGIN + 9 * MINUTE, &mut Calm)), Ok(()));
    assert_eq!(state_of_store(&store), 0);
    assert_eq!(
        code(transact(&mut store, "2", BEGIN + 9 * MINUTE, &mut Calm)),
        Err("IdempotentParameterMismatchException")
    );
    assert_eq!(code(transact(&mut store, "2", BEGIN + 10 * MINUTE, &mut Calm)), Ok(()));
    assert_eq!(state_of_store(&store), 1);
}

/// The number of items.
fn state_of_store(store: &ModelStore) -> usize {
    let table = store.table("notes").unwrap();
    table.keys().filter(|key| table.item(key).is_some()).count()
}

#[test]
fn a_page_has_at_most_a_megabyte() {
    let mut store = store();
    for id in 0..4 {
        let item =
            json!({ "id": { "S": id.to_string() }, "state": { "S": "s" }, "text": { "S": "x".repeat(300 * 1024) } });
        store.call("PutItem", &json!({ "TableName": "notes", "Item": item }), BEGIN, &mut Calm).unwrap();
    }
    let body = json!({ "TableName": "notes", "ReturnConsumedCapacity": "TOTAL" });
    let page = store.call("Scan", &body, BEGIN, &mut Calm).unwrap();
    assert_eq!((&page["Count"], &page["LastEvaluatedKey"]), (&json!(3), &json!({ "id": { "S": "2" } })));
    // 900 KB and some bytes, in units of 4 KB, half of each.
    assert_eq!(page["ConsumedCapacity"]["CapacityUnits"], json!(113.0));
}

#[test]
fn a_refusal_has_the_body_that_dynamodb_sends() {
    let mut store = store();
    put(&mut store, "1", "old", BEGIN);
    let delete = json!({
        "TableName": "notes", "Key": { "id": { "S": "1" } }, "ConditionExpression": "attribute_not_exists(id)",
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    });
    let (status, body) = http(store.call("DeleteItem", &delete, BEGIN, &mut Calm));
    assert_eq!((status, &body["Item"]["state"]), (400, &json!({ "S": "old" })));
    assert_eq!(body["__type"], "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException");
    let check = json!({ "TransactItems": [{ "Delete": delete }] });
    let (_, body) = http(store.call("TransactWriteItems", &check, BEGIN, &mut Calm));
    assert_eq!(body["CancellationReasons"][0]["Code"], "ConditionalCheckFailed");
    assert_eq!(body["CancellationReasons"][0]["Item"]["state"], json!({ "S": "old" }));
    assert!(body["Message"].as_str().unwrap().ends_with("[ConditionalCheckFailed]"));
    assert_eq!(ModelError::failed().http().0, 500);
    assert_eq!(ModelError::throttled().http().0, 400);
}

/// The stream's name and its shards, each with its parent.
fn shards(store: &mut ModelStore, now: u64) -> (Value, Vec<(Value, Value)>) {
    let streams = store.call("ListStreams", &json!({ "TableName": "notes" }), now, &mut Calm).unwrap();
    let arn = streams["Streams"][0]["StreamArn"].clone();
    let described = store.call("DescribeStream", &json!({ "StreamArn": arn }), now, &mut Calm).unwrap();
    let shards = described["StreamDescription"]["Shards"].as_array().unwrap().iter();
    (arn, shards.map(|shard| (shard["ShardId"].clone(), shard["ParentShardId"].clone())).collect())
}

fn iterator(store: &mut ModelStore, (arn, shard): (&Value, &Value), kind: &str, at: Value, now: u64) -> Answer<Value> {
    let mut body = json!({ "StreamArn": arn, "ShardId": shard, "ShardIteratorType": kind });
    if !at.is_null() {
        body["SequenceNumber"] = at;
    }
    store.call("GetShardIterator", &body, now, &mut Calm).map(|answer| answer["ShardIterator"].clone())
}

/// The new states of the records after an iterator, the last sequence number, and the next iterator.
fn read(store: &mut ModelStore, iterator: &Value, now: u64) -> Answer<(Vec<String>, Value, Option<Value>)> {
    let answer =
        store.call("DynamoDBStreams_20120810.GetRecords", &json!({ "ShardIterator": iterator }), now, &mut Calm)?;
    let records = answer["Records"].as_array().unwrap();
    let states =
        records.iter().map(|record| record["dynamodb"]["NewImage"]["state"]["S"].as_str().unwrap_or("-").to_owned());
    let last = records.last().map_or(Value::Null, |record| record["dynamodb"]["SequenceNumber"].clone());
    Ok((states.collect(), last, answer.get("NextShardIterator").cloned()))
}

#[test]
fn a_shard_that_is_split_ends_and_has_children() {
    let mut store = store();
    put(&mut store, "1", "a", BEGIN);
    let (arn, first) = shards(&mut store, BEGIN);
    let latest = iterator(&mut store, (&arn, &first[0].0), "LATEST", Value::Null, BEGIN).unwrap();
    put(&mut store, "1", "b", BEGIN);
    put(&mut store, "1", "b", BEGIN);
    store.split("notes", BEGIN);
    put(&mut store, "1", "c", BEGIN);
    let (_, all) = shards(&mut store, BEGIN);
    let parents: Vec<&Value> = all.iter().map(|(_, parent)| parent).collect();
    assert_eq!(parents, [&Value::Null, &first[0].0, &first[0].0]);
    let (states, last, next) = read(&mut store, &latest, BEGIN).unwrap();
    // The second write of "b" changed nothing.
    assert_eq!((states, next), (vec!["b".to_owned()], None));
    let after = iterator(&mut store, (&arn, &all[0].0), "AFTER_SEQUENCE_NUMBER", last.clone(), BEGIN).unwrap();
    assert_eq!(read(&mut store, &after, BEGIN).unwrap().0, Vec::<String>::new());
    let at = iterator(&mut store, (&arn, &all[0].0), "AT_SEQUENCE_NUMBER", last.clone(), BEGIN).unwrap();
    assert_eq!(read(&mut store, &at, BEGIN).unwrap().0, ["b"]);
    let wrong = iterator(&mut store, (&arn, &all[1].0), "AT_SEQUENCE_NUMBER", last, BEGIN);
    assert_eq!(wrong.unwrap_err().code, "ValidationException");
    let of_children: Vec<String> = all[1..]
        .iter()
        .flat_map(|(shard, _)| {
            let start = iterator(&mut store, (&arn, shard), "TRIM_HORIZON", Value::Null, BEGIN).unwrap();
            let (states, _, next) = read(&mut store, &start, BEGIN).unwrap();
            assert!(next.is_some());
            states
        })
        .collect();
    assert_eq!(of_children, ["c"]);
    store.roll("notes", BEGIN);
    assert_eq!(shards(&mut store, BEGIN).1.len(), 4);
}

#[test]
fn a_stream_forgets_after_a_day_and_an_iterator_after_a_quarter_of_an_hour() {
    let mut store = store();
    put(&mut store, "1", "a", BEGIN);
    let (arn, all) = shards(&mut store, BEGIN);
    let shard = (&arn, &all[0].0);
    let old = iterator(&mut store, shard, "TRIM_HORIZON", Value::Null, BEGIN).unwrap();
    let (_, last, _) = read(&mut store, &old, BEGIN + 15 * MINUTE).unwrap();
    assert_eq!(read(&mut store, &old, BEGIN + 15 * MINUTE + 1).unwrap_err().code, "ExpiredIteratorException");
    let late = BEGIN + DAY - MINUTE;
    let held = iterator(&mut store, shard, "TRIM_HORIZON", Value::Null, late).unwrap();
    put(&mut store, "1", "b", late);
    assert_eq!(read(&mut store, &held, late).unwrap().0, ["a", "b"]);
    let later = BEGIN + DAY + 1;
    assert_eq!(read(&mut store, &held, later).unwrap_err().code, "TrimmedDataAccessException");
    let trimmed = iterator(&mut store, shard, "AFTER_SEQUENCE_NUMBER", last, later);
    assert_eq!(trimmed.unwrap_err().code, "TrimmedDataAccessException");
    let horizon = iterator(&mut store, shard, "TRIM_HORIZON", Value::Null, later).unwrap();
    assert_eq!(read(&mut store, &horizon, later).unwrap().0, ["b"]);
    store.roll("notes", later);
    // A shard that was closed a day ago is gone.
    assert_eq!(shards(&mut store, later + DAY).1.len(), 2);
    assert_eq!(shards(&mut store, later + DAY + 1).1.len(), 1);
}

#[test]
fn an_expired_item_stays_until_it_is_swept_and_its_record_names_the_service() {
    let mut store = store();
    store.set_stream_clock(StreamClock { behind: 5_000, rounded: MINUTE });
    put(&mut store, "1", "a", BEGIN);
    let late = BEGIN + 2 * MINUTE;
    assert_eq!(store.sweep(BEGIN + MINUTE), 0);
    assert_eq!(state(&mut store, "1", true, (late, &mut Calm)).as_deref(), Some("a"));
    assert_eq!((store.sweep(late), store.sweep(late)), (1, 0));
    assert_eq!(state(&mut store, "1", true, (late, &mut Calm)), None);
    let table = store.table("notes").unwrap();
    let times: Vec<u64> = table.keys().flat_map(|key| table.versions(key)).map(|version| version.since).collect();
    assert_eq!(times, [BEGIN, late]);
    let (arn, all) = shards(&mut store, late);
    let start = iterator(&mut store, (&arn, &all[0].0), "TRIM_HORIZON", Value::Null, late).unwrap();
    let mut one = World(1, TransactionFate::Alone);
    let first = store.call("GetRecords", &json!({ "ShardIterator": start }), late, &mut one).unwrap();
    assert_eq!(first["Records"].as_array().unwrap().len(), 1);
    let second =
        store.call("GetRecords", &json!({ "ShardIterator": first["NextShardIterator"] }), late, &mut one).unwrap();
    let record = &second["Records"][0];
    assert_eq!(record["userIdentity"], json!({ "Type": "Service", "PrincipalId": "dynamodb.amazonaws.com" }));
    let created = (late - 5 * SECOND) / MINUTE * MINUTE / SECOND;
    assert_eq!(record["dynamodb"]["ApproximateCreationDateTime"], json!(created));
}
