//! The bounds of one operation's reads and response: beyond them, it is refused, and nothing more is read or written.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::plan::cost::limits::CostLimits;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r##"
extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")
type User @item(keys: { PK: "USER#{id}", SK: "USER" }) {
  id: ID!
  lines: [Line!]
  posts(first: Int, after: String): PostConnection! @find(max: 1000)
  found(word: String!): Int! @find(item: Post, filter: "contains(text, :word)")
}
type Line { text: String! }
type Post @item(keys: { PK: "USER#{userId}", SK: "POST#{id}" }) {
  userId: ID!
  id: ID!
  text: String!
  author: User @find
}
type Note @item(keys: { PK: "NOTE#{id}", SK: "NOTE" }) { id: ID! text: String! }
type Member @item(keys: { PK: "MEMBER#{id}", SK: "MEMBER" }) { id: ID! phone: String @unique }
type PostConnection { nodes: [Post!]! edges: [PostEdge!]! pageInfo: PageInfo! }
type PostEdge { node: Post! cursor: String! }
type Query {
  user(id: ID!): User @find
  notes(ids: [ID!]!): [Note]! @find(where: { id: "{ids}" })
}
type Mutation {
  putUser(id: ID!): User @put(replace: true)
  setPhone(id: ID!, phone: String): Member @update
}
"##;

/// A user `ann` with this many posts of this many bytes, and with as many embedded lines. The note `n` lacks its text.
async fn world(posts: usize, bytes: usize, settings: Settings) -> (Gateway, Arc<Recorder>) {
    let (model, _) =
        load("schema.graphql", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let model = Arc::new(model);
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let lines: Vec<Value> = (0..posts).map(|number| json!({ "M": { "text": { "S": number.to_string() } } })).collect();
    let user = json!({ "PK": { "S": "USER#ann" }, "SK": { "S": "USER" }, "lines": { "L": lines } });
    let post = |number: usize| json!({ "PK": { "S": "USER#ann" }, "SK": { "S": format!("POST#{number:04}") }, "text": { "S": "x".repeat(bytes) } });
    let note = json!({ "PK": { "S": "NOTE#n" }, "SK": { "S": "NOTE" } });
    let items = [user, note].into_iter().chain((0..posts).map(post));
    let items = items.map(|item| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap()).collect();
    store.load(&model.tables[0], items, support::deadline()).await.unwrap();
    recorder.take();
    (Gateway::new(model, &store, settings), recorder)
}

async fn response(gateway: &Gateway, query: &str) -> Value {
    support::run(gateway, &support::request(query, Value::Null), false).await
}

/// The only error of a response without data: its code and path.
fn refusal(response: &Value) -> (&Value, &Value) {
    assert_eq!(response["data"], Value::Null);
    let [error] = response["errors"].as_array().unwrap().as_slice() else { panic!("{response}") };
    (&error["extensions"]["code"], &error["path"])
}

#[tokio::test]
async fn a_response_ends_where_it_passes_its_bytes() {
    let (gateway, _) = world(24, 20_000, Settings { max_response_bytes: 1_000_000, ..support::settings() }).await;
    let posts = "posts(first: 24) { nodes { text author { posts(first: 24) { nodes { text } } } } }";
    let large = response(&gateway, &format!("{{ user(id: \"ann\") {{ {posts} }} }}")).await;
    assert_eq!(refusal(&large).0, "LIMIT_EXCEEDED");
    let path = refusal(&large).1.as_array().unwrap();
    assert_eq!(
        path[..4],
        [json!("user"), json!("posts"), json!("nodes"), json!(1)],
        "the second post is the first that does not fit"
    );
    let small = response(&gateway, "{ user(id: \"ann\") { posts(first: 24) { nodes { text } } } }").await;
    assert_eq!(small["errors"], Value::Null);
}

#[tokio::test]
async fn errors_count_among_the_bytes() {
    let (gateway, _) = world(24, 1, Settings { max_response_bytes: 10_000, ..support::settings() }).await;
    let ids: Vec<String> = (0..100).map(|_| "\"n\"".to_owned()).collect();
    let failing = response(&gateway, &format!("{{ notes(ids: [{}]) {{ text }} }}", ids.join(","))).await;
    let (code, path) = refusal(&failing);
    assert_eq!((code, &path[0], &path[2]), (&json!("LIMIT_EXCEEDED"), &json!("notes"), &json!("text")));
}

#[tokio::test]
async fn embedded_objects_count_among_the_objects() {
    for (most, fits) in [(25, true), (24, false)] {
        let (gateway, _) = world(24, 1, Settings { max_nodes: most, ..support::settings() }).await;
        let lines = response(&gateway, "{ user(id: \"ann\") { lines { text } } }").await;
        match fits {
            true => assert_eq!(lines["errors"], Value::Null),
            false => assert_eq!(refusal(&lines), (&json!("LIMIT_EXCEEDED"), &json!(["user", "lines", 23]))),
        }
    }
}

#[tokio::test]
async fn a_mutation_ends_at_the_field_whose_response_does_not_fit() {
    let (gateway, recorder) = world(24, 20_000, Settings { max_response_bytes: 100_000, ..support::settings() }).await;
    let posts = "posts(first: 24) { nodes { text } }";
    let mutation = format!(
        "mutation {{ a: putUser(id: \"ann\") {{ id }} b: putUser(id: \"ann\") {{ {posts} }} c: putUser(id: \"bob\") {{ id }} }}"
    );
    let response = response(&gateway, &mutation).await;
    assert_eq!(refusal(&response).0, "LIMIT_EXCEEDED");
    assert_eq!(refusal(&response).1[0], "b");
    let written = recorder.take().iter().filter(|(call, _)| call == "PutItem").count();
    assert_eq!(written, 2, "the path says what was written: everything up to the field that did not fit");
}

#[tokio::test]
async fn pages_that_may_hold_too_many_objects_are_not_read() {
    let (gateway, recorder) = world(24, 1, Settings { max_nodes: 20, ..support::settings() }).await;
    let posts = "posts(first: 1000) { nodes { id author { posts(first: 1000) { nodes { id } } } } }";
    let refused = response(&gateway, &format!("{{ user(id: \"ann\") {{ {posts} }} }}")).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "LIMIT_EXCEEDED");
    assert!(recorder.take().iter().all(|(call, _)| call == "GetItem"), "no page is read");
    let nested = "posts(first: 4) { nodes { id author { posts(first: 10) { nodes { id } } } } }";
    let refused = response(&gateway, &format!("{{ user(id: \"ann\") {{ {nested} }} }}")).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "LIMIT_EXCEEDED");
    assert_eq!(recorder.take().iter().filter(|(call, _)| call == "Query").count(), 1, "4 rows times 10 are too many");
}

#[tokio::test]
async fn what_is_read_has_a_bound_in_bytes() {
    let (gateway, recorder) = world(200, 20_000, Settings { max_read_bytes: 1_000_000, ..support::settings() }).await;
    let two = "user(id: \"ann\") { posts(first: 2) { nodes { text } } }";
    assert_eq!(response(&gateway, &format!("{{ {two} }}")).await["errors"], Value::Null);
    recorder.take();
    let filtered = response(&gateway, "{ user(id: \"ann\") { found(word: \"y\") } }").await;
    assert_eq!(filtered["data"]["user"], Value::Null);
    assert_eq!(filtered["errors"][0]["extensions"]["code"], "LIMIT_EXCEEDED");
    assert!(recorder.take().len() < 5, "the count ends soon after the bound");
}

/// Each of eight operations reads 4 MB, which take twice as much; they may have 1 MiB, and a client a quarter. Who has
/// read a first page waits until the one before it has ended, so they hold a page each, and one of them all of its own.
#[tokio::test]
async fn operations_that_read_much_take_turns_and_all_of_them_end() {
    let (gateway, _) = world(200, 20_000, Settings { read_memory: 1 << 20, ..support::settings() }).await;
    let client = |last: usize| Some(std::net::IpAddr::from([127, 0, 0, last as u8 % 2]));
    let query = "{ user(id: \"ann\") { posts(first: 190) { nodes { text } } found(word: \"y\") } }";
    let held = std::cell::Cell::new(0);
    let run = async |number| {
        let request = Request { query: query.to_owned(), client: client(number), ..Request::default() };
        let prepared = gateway.prepare(&request).await.unwrap();
        let response = gateway.run(&prepared, support::deadline(), false).await;
        held.set(held.get().max(gateway.load().reads.0));
        assert!(response.body.len() > 190 * 20_000 && !response.body.starts_with(b"{\"errors\""));
        response.body.len() as u64
    };
    let lengths = futures_util::future::join_all((0..8).map(run)).await;
    assert!((4_000_000..8_000_000 + 7 * 2_500_000).contains(&held.get()), "{}", held.get());
    assert_eq!(gateway.load().reads.0, 0, "{lengths:?}");
}

#[tokio::test]
async fn an_operation_that_may_cost_too_much_is_refused_before_it_reads() {
    let limits = |calls, units| Settings { cost: CostLimits { calls, units }, ..support::settings() };
    let posts = "posts(first: 100) { nodes { author { feed: posts(first: 50) { nodes { id } } } } }";
    let query = format!("{{ user(id: \"ann\") {{ {posts} }} }}");
    for (settings, over) in
        [(limits(Some(100), None), "204 calls"), (limits(None, Some(2000)), "capacity units, more than 2000")]
    {
        let (gateway, recorder) = world(2, 1, settings).await;
        let refused = response(&gateway, &query).await;
        let error = &refused["errors"][0];
        assert_eq!((&refused["data"], &error["extensions"]["code"]), (&Value::Null, &json!("LIMIT_EXCEEDED")));
        assert!(error["message"].as_str().unwrap().contains(over), "{error}");
        assert_eq!(
            (&error["extensions"]["field"], &error["extensions"]["path"]),
            (&json!("User.posts"), &json!(["user", "posts"]))
        );
        assert!(recorder.take().is_empty());
        let smaller = query.replace("100", "10");
        assert_eq!(response(&gateway, &smaller).await["errors"], Value::Null);
    }
}

#[tokio::test]
async fn a_write_counts_with_what_it_reads() {
    let mutation = "mutation { setPhone(id: \"m\", phone: \"1\") { phone } }";
    let limited = |calls| Settings { cost: CostLimits { calls: Some(calls), units: None }, ..support::settings() };
    let (gateway, recorder) = world(1, 1, limited(2)).await;
    let refused = response(&gateway, mutation).await;
    assert!(refused["errors"][0]["message"].as_str().unwrap().contains("may cost 3 calls, more than 2"), "{refused}");
    assert!(recorder.take().is_empty());
    // It reads the old phone, changes both in a transaction, and reads the member again.
    let (gateway, _) = world(1, 1, limited(3)).await;
    assert_eq!(response(&gateway, mutation).await["errors"][0]["extensions"]["code"], "NOT_FOUND", "it runs");
}

#[tokio::test]
async fn ids_cost_what_their_own_items_cost() {
    let (gateway, _) = support::system("library").await;
    let cost = async |ids: &[&str]| {
        let request = support::request("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", json!({ "ids": ids }));
        let cost = support::run(&gateway, &request, true).await["extensions"]["keyfold"]["atMost"].clone();
        (cost["calls"].as_u64().unwrap(), cost["objects"].as_u64().unwrap(), cost["capacity"]["read"].as_f64().unwrap())
    };
    let [book, fine] = ["Qm9vazo5NzgwMTQwNDQ5MTM2", "RmluZTpmMQ"];
    let (calls, objects, units) = cost(&[book]).await;
    assert_eq!((calls, objects), (1, 1));
    // An id names one type, whatever types an id can name. One that names none costs nothing.
    assert_eq!(cost(&["nonsense", fine]).await, (1, 1, units));
    assert_eq!(cost(&[book, fine, fine]).await, (1, 3, 3.0 * units));
    assert_eq!(cost(&["nonsense"]).await, (0, 0, 0.0));
}
