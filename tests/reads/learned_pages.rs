//! The first page of a range reads as many items as pages of its kind needed before: a second page is the exception,
//! answers stay the same, and no more units than a bound are read.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r##"
extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")
interface Entry { id: ID! }
type Post implements Entry @item(keys: { PK: "USER#{userId}", SK: "E#{id}" }, attributes: { kind: "post" }) {
  userId: ID!
  id: ID!
  text: String!
}
type Draft implements Entry @item(keys: { PK: "USER#{userId}", SK: "E#{id}" }, attributes: { kind: "draft" }) {
  userId: ID!
  id: ID!
}
type DraftConnection { nodes: [Draft!]! pageInfo: PageInfo! }
type PostConnection { nodes: [Post!]! pageInfo: PageInfo! }
type Query {
  drafts(userId: ID!, first: Int, after: String): DraftConnection! @find(max: 1000)
  posts(userId: ID!, word: String!, first: Int, after: String): PostConnection!
    @find(max: 1000, filter: "contains(text, :word)")
}
"##;

/// The users.
const USERS: usize = 30;
/// The entries of each user.
const ENTRIES: usize = 300;

/// Entries, of which one in this many is a draft, and one in this many a post with the word `rare`.
async fn world(one_in: usize, learned_pages: bool) -> Gateway {
    let mut rng = fastrand::Rng::with_seed(one_in as u64);
    let (model, _) =
        load("schema.graphql", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let store = TableStore::in_memory().unwrap();
    let model = Arc::new(model);
    store.create_missing(&model.tables).await.unwrap();
    let entry = |(user, number): (usize, usize)| {
        let kind = if rng.usize(..one_in) == 0 { "draft" } else { "post" };
        let word = if rng.usize(..one_in) == 0 { "rare" } else { "usual" };
        let text = format!("{word} {}", "x".repeat(200));
        json!({ "PK": { "S": format!("USER#{user}") }, "SK": { "S": format!("E#{number:04}") },
                "kind": { "S": kind }, "text": { "S": text } })
    };
    let items = (0..USERS).flat_map(|user| (0..ENTRIES).map(move |number| (user, number))).map(entry);
    let items = items.map(|item| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, support::deadline()).await.unwrap();
    Gateway::new(model, &store, Settings { learned_pages, ..support::settings() })
}

/// The data of an operation, its calls and their units.
async fn read(gateway: &Gateway, operation: &str) -> (Value, usize, f64) {
    let response = support::run(gateway, &support::request(operation, Value::Null), true).await;
    assert_eq!(response["errors"], Value::Null, "{response}");
    let calls = response["extensions"]["keyfold"]["calls"].as_array().unwrap();
    let units = calls.iter().map(|call| call["capacity"].as_f64().unwrap()).sum();
    (response["data"].clone(), calls.len(), units)
}

/// How often more than one call was made for each user but the first ones, and the units of all, with fixed pages and
/// with learned ones.
async fn compared(one_in: usize, operation: impl Fn(usize) -> String) -> [(usize, f64); 2] {
    let gateways = [world(one_in, false).await, world(one_in, true).await];
    let mut sums = [(0, 0.0); 2];
    for user in 0..USERS {
        let operation = operation(user);
        let [fixed, learned] = [read(&gateways[0], &operation).await, read(&gateways[1], &operation).await];
        assert_eq!(fixed.0, learned.0, "{operation}");
        for (sum, (_, calls, units)) in sums.iter_mut().zip([fixed, learned]) {
            sum.0 += usize::from(calls > 1 && user >= 3);
            sum.1 += units;
        }
    }
    sums
}

#[tokio::test]
async fn a_second_page_of_a_filter_is_the_exception() {
    let posts = |user| {
        format!(
            "{{ posts(userId: {user}, word: \"rare\", first: 12) {{ nodes {{ id }} pageInfo {{ hasNextPage }} }} }}"
        )
    };
    let [fixed, learned] = compared(8, posts).await;
    assert!(fixed.0 > 25 && learned.0 <= 3, "{fixed:?} {learned:?}");
    assert!(learned.1 < fixed.1 * 1.5, "{fixed:?} {learned:?}");
}

#[tokio::test]
async fn a_second_page_among_items_of_another_type_is_the_exception() {
    let drafts = |user| format!("{{ drafts(userId: {user}, first: 12) {{ nodes {{ id }} }} }}");
    let [fixed, learned] = compared(12, drafts).await;
    assert!(fixed.0 > 25 && learned.0 <= 3, "{fixed:?} {learned:?}");
    assert!(learned.1 < fixed.1 * 1.5, "{fixed:?} {learned:?}");
}

#[tokio::test]
async fn where_most_items_are_wanted_fewer_are_read() {
    let posts = |user| format!("{{ posts(userId: {user}, word: \"usual\", first: 12) {{ nodes {{ id }} }} }}");
    let [fixed, learned] = compared(12, posts).await;
    assert!(fixed.0 == 0 && learned.0 <= 3, "{fixed:?} {learned:?}");
    assert!(learned.1 < fixed.1 * 0.75, "{fixed:?} {learned:?}");
}
