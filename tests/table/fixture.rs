//! Tables, items and calls that the tests share.

use keyfold::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::{Expression, Get, Query};
use keyfold::table::data::write::{WriteAction, WriteCall};
use keyfold::table::store::TableStore;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

pub fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(30)
}

pub fn key_attribute(name: &str, kind: KeyType) -> KeyAttribute {
    KeyAttribute { name: name.into(), kind }
}

/// A table with both kinds of index, every projection and a time to live.
pub fn table(name: &str) -> Table {
    let s = |name: &str| key_attribute(name, KeyType::S);
    let index = |name: &str, local: bool, partition: &str, sort: KeyAttribute, projection: Projection| Index {
        name: name.into(),
        local,
        partition: vec![s(partition)],
        sort: vec![sort],
        projection,
        capacity: None,
    };
    Table {
        indexes: vec![
            index("ByGroup", false, "GroupId", s("SK"), Projection::KeysOnly),
            index("ByScore", true, "PK", key_attribute("score", KeyType::N), Projection::All),
            index("ByMail", false, "mail", s("PK"), Projection::Include(vec!["name".into(), "size".into()])),
        ],
        time_to_live: Some("ttl".into()),
        ..Table::new(name, s("PK"), Some(s("SK")))
    }
}

/// A table whose sort key is a number.
pub fn numbered(name: &str) -> Table {
    let (partition, sort) = (key_attribute("PK", KeyType::S), Some(key_attribute("n", KeyType::N)));
    Table::new(name, partition, sort)
}

pub fn s(text: impl Into<String>) -> Attribute {
    Attribute::S(text.into().into())
}

pub fn item(pk: &str, sk: &str) -> Item {
    Item::from([("PK", s(pk)), ("SK", s(sk)), ("name", s(format!("name of {sk}"))), ("other", Attribute::Null)])
}

pub fn sort_key(i: usize) -> String {
    format!("s#{i:04}")
}

pub fn get(table: &str, pk: &str, sk: &str) -> Get {
    Get {
        table: table.into(),
        key: Key {
            partition: ("PK".into(), KeyValue::S(pk.into())),
            sort: Some(("SK".into(), KeyValue::S(sk.into()))),
        },
        projection: Arc::new(["PK".into(), "SK".into(), "name".into()]),
        consistent: false,
        max_age: None,
    }
}

pub fn query(table: &str, pk: &str) -> Query {
    Query {
        table: table.into(),
        index: None,
        partition: Some(("PK".into(), KeyValue::S(pk.into()))),
        equal: Vec::new(),
        sort: None,
        filter: None,
        projection: Some(Arc::new(["SK".into(), "name".into()])),
        forward: true,
        limit: 100,
        start: None,
        consistent: false,
        max_age: None,
    }
}

/// Creates the table `things` and fills a partition `p` with `count` items.
pub async fn fill(store: &TableStore, count: usize) {
    let table = table("things");
    store.create_missing(std::slice::from_ref(&table)).await.unwrap();
    store.load(&table, (0..count).map(|i| item("p", &sort_key(i))).collect(), deadline()).await.unwrap();
}

pub fn key(pk: &str, sk: &str) -> Key {
    get("things", pk, sk).key
}

pub fn expression(text: &str, names: &[(&str, &str)], values: &[(&str, Attribute)]) -> Expression {
    Expression {
        text: text.into(),
        names: names.iter().map(|(placeholder, name)| (placeholder.to_string(), name.to_string())).collect(),
        values: values.iter().map(|(placeholder, value)| (placeholder.to_string(), value.clone())).collect(),
    }
}

pub fn write(action: WriteAction, condition: Option<Expression>) -> WriteCall {
    WriteCall { table: "things".into(), action, condition }
}

/// Adds one to the attribute `n` of an item of the partition `p`, so that a repetition shows.
pub fn count_up(sk: &str) -> WriteCall {
    let update = expression("ADD #n :one", &[("#n", "n")], &[(":one", Attribute::N("1".into()))]);
    write(WriteAction::Update(key("p", sk), Some(update)), None)
}
