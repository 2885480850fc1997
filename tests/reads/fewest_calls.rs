//! The exact calls of small operations: what a shared Query, an earlier read or the same range brings is not asked for
//! again.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// A table with a sort key, and one without.
const SCHEMA: &str = r##"
extend schema
  @table(name: "data", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "byCity", partitionKey: "city", sortKey: "SK" }])
  @table(name: "users", partitionKey: "id")
type Shop @item(table: "data", keys: { PK: "SHOP#{shopId}", SK: "SHOP" }, attributes: { kind: "shop" }) {
  shopId: ID!
  name: String
  shelves: [Shelf!]! @find
  shelf(row: ID!, number: ID!): Shelf @find
}
type Shelf @item(
  table: "data"
  keys: { PK: "SHOP#{shopId}", SK: "SHELF#{row}#{number}", city: "CITY#{city}" }
  attributes: { kind: "shelf" }
) {
  shopId: ID!
  row: ID!
  number: ID!
  city: String
  width: Int
  depth: Int
  nextRow: ID
  next: Shelf @find(where: { shopId: "{shopId}", row: "{nextRow}", number: "{number}" })
  again: Shelf @find(where: { shopId: "{shopId}", row: "{row}", number: "{number}" })
  beside: [Shelf!]! @find(where: { shopId: "{shopId}", row: "{row}", number: null })
  page(first: Int, last: Int): ShelfConnection!
    @find(item: Shelf, where: { shopId: "{shopId}", row: "{row}", number: null })
  shop: Shop @find(where: { shopId: "{shopId}" })
  inCity: [Shelf!]! @find(index: "byCity", where: { row: null, number: null })
  inCityDown: [Shelf!]! @find(index: "byCity", order: DESC, where: { row: null, number: null })
}
type ShelfConnection { nodes: [Shelf!]! totalCount: Int! }
type User @item(table: "users", keys: { id: "U#{userId}" }) {
  userId: ID!
  name: String
}
type Query {
  shop(shopId: ID!): Shop @find
  shelf(shopId: ID!, row: ID!, number: ID!): Shelf @find
  numbered(shopId: ID!, row: ID!, numbers: [ID!]!): [Shelf!]!
    @find(where: { shopId: "{shopId}", row: "{row}", number: "{numbers}" })
  shelves(shopId: ID!): [Shelf!]! @find
  row(shopId: ID!, row: ID!): [Shelf!]! @find
  rows(shopId: ID!, rows: [ID!]!): [Shelf!]! @find(where: { shopId: "{shopId}", row: "{rows}" })
  below(shopId: ID!, row: ID!, to: ID!): Shelf
    @find(where: { shopId: "{shopId}", row: "{row}", number: { lt: "{to}" } })
  pageBelow(shopId: ID!, row: ID!, to: ID!, first: Int, last: Int): ShelfConnection!
    @find(item: Shelf, where: { shopId: "{shopId}", row: "{row}", number: { lt: "{to}" } })
  city(city: String!): [Shelf!]! @find(index: "byCity", where: { city: "{city}", row: null, number: null })
  user(userId: ID!): User @find
  userCount(userId: ID!): Int! @find(item: User)
}
"##;

/// The data of an operation, and its calls in the order of their round trips and names.
async fn read(operation: &str) -> (Value, Vec<(u64, String)>) {
    let (model, _) =
        load("schema.graphql", SCHEMA, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    let (store, model) = (TableStore::in_memory().unwrap(), Arc::new(model));
    store.create_missing(&model.tables).await.unwrap();
    let s = |text: &str| json!({ "S": text });
    let shelf = |row: &str, number: &str| {
        let next = if row == "a" { "b" } else { "c" };
        json!({ "PK": s("SHOP#1"), "SK": s(&format!("SHELF#{row}#{number}")), "kind": s("shelf"),
                "city": s("CITY#x"), "width": { "N": "3" }, "depth": { "N": "4" }, "nextRow": s(next) })
    };
    let items = [
        ("data", json!({ "PK": s("SHOP#1"), "SK": s("SHOP"), "kind": s("shop"), "name": s("Corner") })),
        ("data", shelf("a", "1")),
        ("data", shelf("a", "2")),
        ("data", shelf("b", "1")),
        ("users", json!({ "id": s("U#1"), "name": s("Ada") })),
    ];
    for table in &model.tables {
        let own = items.iter().filter(|(name, _)| *name == table.name);
        let own = own.map(|(_, item)| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
        store.load(table, own.collect(), support::deadline()).await.unwrap();
    }
    let gateway = Gateway::new(model, &store, support::settings());
    let response = support::run(&gateway, &support::request(operation, Value::Null), true).await;
    assert_eq!(response["errors"], Value::Null, "{response}");
    let calls = response["extensions"]["keyfold"]["calls"].as_array().unwrap().iter();
    let call = |call: &Value| (call["wave"].as_u64().unwrap(), call["operation"].as_str().unwrap().to_owned());
    let mut calls: Vec<(u64, String)> = calls.map(call).collect();
    calls.sort();
    (response["data"].clone(), calls)
}

/// Holds an operation to its data and to its calls.
async fn takes(operation: &str, data: Value, expected: &[&str]) {
    let (found, calls) = read(operation).await;
    let mut calls: Vec<String> = calls.into_iter().map(|(_, call)| call).collect();
    calls.sort();
    assert_eq!((found, calls), (data, expected.iter().map(|call| (*call).to_owned()).collect()), "{operation}");
}

#[tokio::test]
async fn an_item_of_a_list_is_known_by_the_value_that_found_it() {
    let again = |width: bool| if width { json!({ "width": 3 }) } else { json!({ "depth": 4 }) };
    takes(
        r#"{ row(shopId: 1, row: "a") { width again { depth } } }"#,
        json!({ "row": [{ "width": 3, "again": again(false) }, { "width": 3, "again": again(false) }] }),
        &["Query"],
    )
    .await;
    takes(
        r#"{ rows(shopId: 1, rows: ["a", "b"]) { again { again { depth } } } }"#,
        json!({ "rows": [{ "again": { "again": again(false) } }, { "again": { "again": again(false) } },
                         { "again": { "again": again(false) } }] }),
        &["Query", "Query"],
    )
    .await;
}

#[tokio::test]
async fn the_item_of_a_partition_without_a_sort_key_is_read_with_its_query() {
    takes(
        r#"{ user(userId: 1) { name } userCount(userId: 1) }"#,
        json!({ "user": { "name": "Ada" }, "userCount": 1 }),
        &["Query"],
    )
    .await;
    takes(r#"{ user(userId: 2) { name } userCount(userId: 2) }"#, json!({ "user": null, "userCount": 0 }), &["Query"])
        .await;
}

#[tokio::test]
async fn ranges_of_a_list_of_ranges_are_known_each_by_itself() {
    let beside =
        |numbers: &[&str]| Value::from(numbers.iter().map(|number| json!({ "number": number })).collect::<Vec<_>>());
    takes(
        r#"{ rows(shopId: 1, rows: ["b", "a"]) { beside { number } } }"#,
        json!({ "rows": [{ "beside": beside(&["1"]) }, { "beside": beside(&["1", "2"]) },
                         { "beside": beside(&["1", "2"]) }] }),
        &["Query", "Query"],
    )
    .await;
}

#[tokio::test]
async fn the_items_of_a_list_of_keys_are_read_with_a_query() {
    takes(
        r#"{ numbered(shopId: 1, row: "a", numbers: ["2", "1", "7"]) { number } shelves(shopId: 1) { width } }"#,
        json!({ "numbered": [{ "number": "2" }, { "number": "1" }],
                "shelves": [{ "width": 3 }, { "width": 3 }, { "width": 3 }] }),
        &["Query"],
    )
    .await;
}

#[tokio::test]
async fn a_get_whose_key_lies_in_a_list_of_the_same_values_is_read_with_it() {
    takes(
        r#"{ shelf(shopId: 1, row: "a", number: "2") { width } row(shopId: 1, row: "a") { number } }"#,
        json!({ "shelf": { "width": 3 }, "row": [{ "number": "1" }, { "number": "2" }] }),
        &["Query"],
    )
    .await;
    // Of another row, nothing shows before the run that no list holds it, and a Query serves nobody else.
    takes(
        r#"{ shelf(shopId: 1, row: "b", number: "1") { width } row(shopId: 1, row: "a") { number } }"#,
        json!({ "shelf": { "width": 3 }, "row": [{ "number": "1" }, { "number": "2" }] }),
        &["GetItem", "Query"],
    )
    .await;
}

#[tokio::test]
async fn an_excluded_bound_costs_no_second_page() {
    takes(r#"{ below(shopId: 1, row: "a", to: "1") { number } }"#, json!({ "below": null }), &["Query"]).await;
    takes(
        r#"{ pageBelow(shopId: 1, row: "a", to: "2", last: 1) { nodes { number } } }"#,
        json!({ "pageBelow": { "nodes": [{ "number": "1" }] } }),
        &["Query"],
    )
    .await;
}

#[tokio::test]
async fn lists_below_one_item_that_is_asked_for_twice_share_a_query() {
    let shelf = |list: &str| format!(r#"shelf(shopId: 1, row: "b", number: 1) {{ {list} {{ row number }} }}"#);
    takes(
        &format!("{{ one: {} other: {} }}", shelf("inCity"), shelf("inCityDown")),
        json!({
            "one": { "inCity": [{ "row": "a", "number": "1" }, { "row": "a", "number": "2" }, { "row": "b", "number": "1" }] },
            "other": { "inCityDown": [{ "row": "b", "number": "1" }, { "row": "a", "number": "2" }, { "row": "a", "number": "1" }] },
        }),
        &["GetItem", "Query"],
    )
    .await;
}

#[tokio::test]
async fn a_get_of_what_a_shared_query_reads_for_another_one_is_read_with_it() {
    // Each list has rows of its own, so that what is below them is planned by itself.
    let city = |shop: &str| format!(r#"city(city: "x") {{ shop {{ {shop} }} }}"#);
    let shelves = json!([{ "row": "a" }, { "row": "a" }, { "row": "b" }]);
    let of_three = |shop: Value| json!(vec![json!({ "shop": shop }); 3]);
    takes(
        &format!("{{ one: {} other: {} }}", city("name shelves { row }"), city("name shopId")),
        json!({
            "one": of_three(json!({ "name": "Corner", "shelves": shelves })),
            "other": of_three(json!({ "name": "Corner", "shopId": "1" })),
        }),
        &["Query", "Query"],
    )
    .await;
}

#[tokio::test]
async fn what_waits_for_a_known_item_does_not_wait_for_the_calls_beside_it() {
    let list = json!([{ "number": "1" }, { "number": "2" }, { "number": "1" }]);
    for (beside, calls) in [
        ("inCity { number }", vec![(1, "BatchGetItem"), (2, "GetItem"), (2, "Query")]),
        ("width", vec![(1, "BatchGetItem"), (2, "GetItem")]),
    ] {
        let one = r#"shelf(shopId: 1, row: "b", number: 1)"#;
        let (data, made) = read(&format!(
            r#"{{ one: {one} {{ width }} shelf(shopId: 1, row: "a", number: 1) {{ next {{ next {{ row }} }} {beside} }} }}"#
        ))
        .await;
        let beside = if calls.len() > 2 { ("inCity", list.clone()) } else { ("width", json!(3)) };
        assert_eq!(data["shelf"], json!({ "next": { "next": null }, beside.0: beside.1 }));
        let made: Vec<(u64, &str)> = made.iter().map(|(wave, call)| (*wave, call.as_str())).collect();
        assert_eq!(made, calls, "{beside:?}");
    }
}

#[tokio::test]
async fn a_page_is_a_part_of_a_longer_one() {
    let page = |arguments: &str, of: &str| format!("page({arguments}) {{ nodes {{ {of} }} }}");
    for (arguments, number, calls) in [
        ("first: 1", "1", &["GetItem", "Query"][..]),
        ("first: 2", "1", &["GetItem", "Query"]),
        ("last: 1", "2", &["GetItem", "Query", "Query"]),
        ("first: 3", "1", &["GetItem", "Query", "Query"]),
    ] {
        let pages = page("first: 2", &page(arguments, "number"));
        let (data, made) = read(&format!(r#"{{ shelf(shopId: 1, row: "a", number: 1) {{ {pages} }} }}"#)).await;
        assert_eq!(data["shelf"]["page"]["nodes"][1]["page"]["nodes"][0]["number"], number, "{arguments}");
        let made: Vec<&str> = made.iter().map(|(_, call)| call.as_str()).collect();
        assert_eq!(made, calls, "{arguments}");
    }
}
