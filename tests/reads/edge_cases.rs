//! Unusual reads, each on its own schema: the response is the same as when one looks at the items one by one.
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// A schema with one table and items, each a JSON object of strings and integers.
struct World {
    gateway: Gateway,
    store: TableStore,
    recorder: Arc<Recorder>,
}

impl World {
    async fn new(schema: &str, items: &[Value]) -> Self {
        let (model, _) =
            load("schema.graphql", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let model = Arc::new(model);
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let typed = |(name, value): (&String, &Value)| match value {
            Value::String(text) => (name.clone(), json!({ "S": text })),
            number => (name.clone(), json!({ "N": number.to_string() })),
        };
        let item = |item: &Value| {
            let attributes: serde_json::Map<String, Value> = item.as_object().unwrap().iter().map(typed).collect();
            parse_line(&json!({ "Item": attributes }).to_string()).unwrap().unwrap()
        };
        store.load(&model.tables[0], items.iter().map(item).collect(), support::deadline()).await.unwrap();
        recorder.take();
        Self { gateway: Gateway::new(model, &store, support::settings()), store, recorder }
    }

    async fn response(&self, query: &str) -> Value {
        support::run(&self.gateway, &support::request(query, Value::Null), false).await
    }

    async fn data(&self, query: &str) -> Value {
        let response = self.response(query).await;
        assert_eq!(response.get("errors"), None, "{query}");
        response["data"].clone()
    }

    /// The calls since the last time.
    fn calls(&self) -> Vec<(String, Value)> {
        self.recorder.take()
    }
}

#[tokio::test]
async fn a_boolean_of_several_keys_is_true_if_one_of_the_items_is_there() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
interface Thing { id: ID! }
type A implements Thing @item(keys: { pk: "T#{id}", sk: "a" }) { id: ID! }
type B implements Thing @item(keys: { pk: "T#{id}", sk: "b" }) { id: ID! }
type Query {
  any(ids: [ID!]!): Boolean! @find(item: A, where: { id: "{ids}" })
  anyThing(ids: [ID!]!): Boolean! @find(item: Thing, where: { id: "{ids}" })
  count(ids: [ID!]!): Int! @find(item: A, where: { id: "{ids}" })
  countThings(ids: [ID!]!): Int! @find(item: Thing, where: { id: "{ids}" })
}
"#;
    let world = World::new(schema, &[json!({ "pk": "T#2", "sk": "a" }), json!({ "pk": "T#3", "sk": "b" })]).await;
    for (ids, expected) in [
        (r#"["1","2"]"#, (true, true, 1, 1)),
        (r#"["2","1"]"#, (true, true, 1, 1)),
        (r#"["1"]"#, (false, false, 0, 0)),
        (r#"[]"#, (false, false, 0, 0)),
        (r#"["", "2"]"#, (true, true, 1, 1)),
        (r#"["2","2","3"]"#, (true, true, 1, 2)),
        (r#"["1","3"]"#, (false, true, 0, 1)),
    ] {
        let data = world
            .data(&format!("{{ any(ids: {ids}) anyThing(ids: {ids}) count(ids: {ids}) countThings(ids: {ids}) }}"))
            .await;
        let (any, any_thing, count, things) = expected;
        assert_eq!(data, json!({ "any": any, "anyThing": any_thing, "count": count, "countThings": things }), "{ids}");
    }
}

#[tokio::test]
async fn what_a_range_leaves_out_is_not_counted() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byRank", partitionKey: "g", sortKey: "rank", sortKeyType: N }])
type Word @item(keys: { pk: "words#{list}", sk: "{word}" }) { list: ID! word: String! }
type Tag @item(keys: { pk: "tags#{list}", sk: "{name}#{id}" }) { list: ID! name: String! id: ID! }
type Score @item(keys: { pk: "S#{id}", sk: "s", g: "G#{g}", rank: "{rank}" }) { id: ID! g: ID! rank: Int! }
type Query {
  words(list: ID!, after: String, before: String): Int! @find(item: Word, where: { word: { gt: "{after}", lt: "{before}" } })
  tags(list: ID!, start: String): Int! @find(item: Tag, where: { name: { beginsWith: "{start}" } })
  scores(g: ID!, over: Int, under: Int): Int! @find(item: Score, where: { rank: { gt: "{over}", lt: "{under}" } })
}
"#;
    let mut items: Vec<Value> =
        ["a", "b", "c", "d"].iter().map(|word| json!({ "pk": "words#l", "sk": word })).collect();
    items.extend(["a%23b#1", "a%23c#2", "a#3", "b#4"].iter().map(|sk| json!({ "pk": "tags#l", "sk": sk })));
    items.extend((0..5).map(|rank| json!({ "pk": format!("S#{rank}"), "sk": "s", "g": "G#g", "rank": rank })));
    let world = World::new(schema, &items).await;
    for (field, expected) in [
        (r#"words(list: "l")"#, 4),
        (r#"words(list: "l", after: "b")"#, 2),
        (r#"words(list: "l", before: "b")"#, 1),
        (r#"words(list: "l", after: "a", before: "d")"#, 2),
        (r#"words(list: "l", after: "b", before: "b")"#, 0),
        (r#"tags(list: "l", start: "a")"#, 3),
        (r#"tags(list: "l", start: "a#")"#, 2),
        (r#"tags(list: "l", start: "a#b")"#, 1),
        (r#"scores(g: "g", over: 1)"#, 3),
        (r#"scores(g: "g", over: 1, under: 4)"#, 2),
        (r#"scores(g: "g", over: 1, under: 2)"#, 0),
    ] {
        assert_eq!(world.data(&format!("{{ n: {field} }}")).await, json!({ "n": expected }), "{field}");
    }
}

/// A bound may lie between two times that the key can say.
#[tokio::test]
async fn a_bound_that_is_finer_than_the_key_bounds_all_the_same() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "bySecond", partitionKey: "g", sortKey: "due", sortKeyType: N }])
type Task @item(keys: { pk: "T#{list}", sk: "{at}", g: "G#{list}", due: "{due}" }) {
  list: ID!
  at: DateTime!
  due: DateTime @attribute(stored: EPOCH_SECONDS)
}
type Query {
  at(list: ID!, ge: DateTime, le: DateTime): Int! @find(item: Task, where: { at: { ge: "{ge}", le: "{le}" } })
  atWithin(list: ID!, gt: DateTime, lt: DateTime): Int! @find(item: Task, where: { at: { gt: "{gt}", lt: "{lt}" } })
  due(list: ID!, ge: DateTime, le: DateTime): Int! @find(item: Task, where: { due: { ge: "{ge}", le: "{le}" } })
  dueWithin(list: ID!, gt: DateTime, lt: DateTime): Int! @find(item: Task, where: { due: { gt: "{gt}", lt: "{lt}" } })
}
"#;
    let item = |n: u32| {
        let at = format!("2026-01-01T00:00:00.00{n}Z");
        json!({ "pk": "T#l", "sk": at, "g": "G#l", "due": 1_767_225_600 + n })
    };
    let world = World::new(schema, &(0..3).map(item).collect::<Vec<_>>()).await;
    for (bound, expected) in [("ge", 2), ("gt", 2), ("le", 1), ("lt", 1)] {
        let within = if bound.ends_with('t') { "Within" } else { "" };
        for (field, time) in [("at", "2026-01-01T00:00:00.0005Z"), ("due", "2026-01-01T00:00:00.5Z")] {
            let query = format!("{{ n: {field}{within}(list: \"l\", {bound}: \"{time}\") }}");
            assert_eq!(world.data(&query).await, json!({ "n": expected }), "{query}");
        }
    }
}

#[tokio::test]
async fn a_bound_that_no_padded_number_has_bounds_all_the_same() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Score @item(keys: { pk: "G#{g}", sk: "{rank:03}#{id}" }) { id: ID! g: ID! rank: Int! }
type Query {
  from(g: ID!, n: Int): [Score!]! @find(where: { rank: { ge: "{n}" } })
  over(g: ID!, n: Int): [Score!]! @find(where: { rank: { gt: "{n}" } })
  to(g: ID!, n: Int): [Score!]! @find(where: { rank: { le: "{n}" } })
  under(g: ID!, n: Int): [Score!]! @find(where: { rank: { lt: "{n}" } })
}
"#;
    let ranks = [0, 1, 10, 123, 999];
    let items: Vec<Value> = ranks.iter().map(|rank| json!({ "pk": "G#g", "sk": format!("{rank:03}#x") })).collect();
    let world = World::new(schema, &items).await;
    for n in [-2_000_000_000, -1000, -12, -1, 0, 1, 9, 10, 11, 123, 998, 999, 1000, 1001, 1230, 5000, 99999] {
        let found = world.data(&format!("{{ from(g: \"g\", n: {n}) {{ rank }} over(g: \"g\", n: {n}) {{ rank }} to(g: \"g\", n: {n}) {{ rank }} under(g: \"g\", n: {n}) {{ rank }} }}")).await;
        let those = |is: &dyn Fn(i64) -> bool| {
            ranks.iter().filter(|rank| is(**rank)).map(|rank| json!({ "rank": rank })).collect::<Vec<_>>()
        };
        let expected = json!({
            "from": those(&|r| r >= n), "over": those(&|r| r > n),
            "to": those(&|r| r <= n), "under": those(&|r| r < n),
        });
        assert_eq!(found, expected, "{n}");
    }
}

#[tokio::test]
async fn an_enum_value_that_begins_another_is_read_alone() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
enum State { IN IN_PROGRESS DONE }
type Job @item(keys: { pk: "J#{g}", sk: "{state}_{day}" }) { g: ID! state: State! day: Date! }
type Run @item(keys: { pk: "J#{g}", sk: "{state}_run#{id}" }) { g: ID! state: State! id: ID! }
union Work = Job | Run
type JobConnection { nodes: [Job!]! pageInfo: PageInfo! }
type Mutation { clear(g: ID!, state: State!): [Job!]! @delete(item: Job, many: true) }
type Query {
  work(g: ID!, states: [State!]!): [Work!]! @find(where: { state: "{states}" })
  jobs(g: ID!, state: State): [Job!]! @find
  some(g: ID!, states: [State!]!, first: Int = 10, after: String): JobConnection! @find(where: { state: "{states}" })
  count(g: ID!, state: State): Int! @find(item: Job)
}
"#;
    let keys = ["IN_2026-11-20", "IN_PROGRESS_2026-11-21", "DONE_2026-11-22", "IN_run#1", "IN_PROGRESS_run#2"];
    let items: Vec<Value> = keys.iter().map(|sk| json!({ "pk": "J#g", "sk": sk })).collect();
    let world = World::new(schema, &items).await;
    let (job, run) = (json!({ "state": "IN", "day": "2026-11-20" }), json!({ "state": "IN", "id": "1" }));
    let (next_job, next_run) =
        (json!({ "state": "IN_PROGRESS", "day": "2026-11-21" }), json!({ "state": "IN_PROGRESS", "id": "2" }));
    let query = r#"{
      jobs(g: "g", state: IN) { state day }
      count(g: "g", state: IN)
      some(g: "g", states: [IN_PROGRESS, IN]) { nodes { state day } }
      one: work(g: "g", states: [IN]) { ... on Job { state day } ... on Run { state id } }
      both: work(g: "g", states: [IN_PROGRESS, IN]) { ... on Job { state day } ... on Run { state id } }
    }"#;
    assert_eq!(
        world.data(query).await,
        json!({
            "jobs": [job], "count": 1, "some": { "nodes": [job, next_job] },
            "one": [job, run], "both": [job, next_job, run, next_run],
        })
    );
    assert_eq!(
        world.data(r#"mutation { clear(g: "g", state: IN) { state } }"#).await,
        json!({ "clear": [{ "state": "IN" }] })
    );
    assert_eq!(
        world.data(r#"{ jobs(g: "g") { state } }"#).await,
        json!({ "jobs": [{ "state": "DONE" }, { "state": "IN_PROGRESS" }] })
    );
}

#[tokio::test]
async fn equal_numbers_written_differently_are_one_key() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byN", partitionKey: "n", partitionKeyType: N }])
type Thing @item(keys: { pk: "{id}", sk: "x", n: "{n}" }) { id: ID! n: Decimal! }
type Query { things(n: [Decimal!]!): [Thing!]! @find  count(n: [Decimal!]!): Int! @find(item: Thing) }
"#;
    let world = World::new(schema, &[json!({ "pk": "a", "sk": "x", "n": 1 })]).await;
    assert_eq!(
        world.data(r#"{ things(n: ["1", "1.0", "1e0", "01"]) { id } count(n: ["1", "1.00"]) }"#).await,
        json!({ "things": [{ "id": "a" }], "count": 1 })
    );
}

/// The `Limit`s of the calls.
fn limits(calls: &[(String, Value)]) -> Vec<u64> {
    calls.iter().map(|(_, body)| body["Limit"].as_u64().unwrap()).collect()
}

#[tokio::test]
async fn more_than_the_page_is_read_only_where_items_of_other_types_may_be_between() {
    let schema = |more: &str| {
        format!(
            r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{{ name: "byDay", partitionKey: "day", sortKey: "at" }}])
union Event = Post | Clip
type Post @item(keys: {{ pk: "U#{{user}}", sk: "E#{{at}}#post", day: "{{day}}", at: "{{at}}" }}) {{ user: ID! at: DateTime! day: Date }}
type Clip @item(keys: {{ pk: "U#{{user}}", sk: "E#{{at}}#clip", day: "{{day}}", at: "{{at}}" }}) {{ user: ID! at: DateTime! day: Date }}
{more}
type EventConnection {{ nodes: [Event!]! }}
type PostConnection {{ nodes: [Post!]! }}
type Query {{
  events(user: ID!, first: Int = 3): EventConnection! @find
  ofDay(day: Date!, first: Int = 3): EventConnection! @find
  posts(user: ID!, first: Int = 3): PostConnection! @find
}}
"#
        )
    };
    let login = |sk: &str, more: &str| {
        format!(r#"type Login @item(keys: {{ pk: "U#{{user}}", sk: "{sk}"{more} }}) {{ user: ID! id: ID! day: Date }}"#)
    };
    let time = |n: usize| format!("2026-11-20T09:30:{n:02}.000Z");
    let kinds = ["clip", "clip", "clip", "clip", "post", "clip", "post", "post", "post"];
    let items: Vec<Value> = kinds
        .iter()
        .enumerate()
        .map(|(n, kind)| {
            let sk = format!("E#{}#{kind}", time(n));
            json!({ "pk": "U#u", "sk": sk, "day": "2026-11-20", "at": time(n) })
        })
        .collect();
    let (events, of_day) = (
        r#"{ events(user: "u") { nodes { __typename } } }"#,
        r#"{ ofDay(day: "2026-11-20") { nodes { __typename } } }"#,
    );
    for (more, expected) in [
        (String::new(), [3, 3]),
        // Elsewhere in the partition, between the events, and between those that are only in the index.
        (login("L#{id}", ""), [3, 3]),
        (login("E#{id}#login", ""), [50, 3]),
        (login("L#{id}", r#", day: "{day}", at: "{id}""#), [3, 50]),
    ] {
        let world = World::new(&schema(&more), &items).await;
        for (query, limit) in [events, of_day].iter().zip(expected) {
            world.data(query).await;
            assert_eq!(limits(&world.calls()), [limit], "{query} {more}");
        }
    }
    // A few items between items of other types take one call. If a type turns out to be rare, it is not searched for
    // item by item.
    for (before, expected) in [(0, vec![10]), (20, vec![10, 50])] {
        let clip = |n: usize| json!({ "pk": "U#u", "sk": format!("E#2026-11-19T00:00:{n:02}.000Z#clip"), "day": "2026-11-19" });
        let world = World::new(&schema(""), &(0..before).map(clip).chain(items.clone()).collect::<Vec<_>>()).await;
        let posts = world.data(r#"{ posts(user: "u") { nodes { at } } }"#).await;
        assert_eq!(posts, json!({ "posts": { "nodes": [{ "at": time(4) }, { "at": time(6) }, { "at": time(7) }] } }));
        assert_eq!(limits(&world.calls()), expected);
    }
}

#[tokio::test]
async fn calls_of_a_wave_are_made_in_the_order_of_their_values() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Thing @item(keys: { pk: "T#{id}", sk: "{n}" }) { id: ID! n: ID! }
type Query { things(ids: [ID!]!): [Thing!]! @find(where: { id: "{ids}" }) }
"#;
    for round in 0..4 {
        let world = World::new(schema, &[]).await;
        for count in [29, 31, 33, 60, 100] {
            let ids: Vec<String> = (0..count).map(|n| format!("\"{n:03}\"")).collect();
            world.data(&format!("{{ things(ids: [{}]) {{ n }} }}", ids.join(","))).await;
            let asked: Vec<String> =
                world.calls().iter().map(|(_, body)| body["ExpressionAttributeValues"].to_string()).collect();
            assert_eq!(asked.len(), count);
            assert!(asked.is_sorted(), "round {round}: {asked:?}");
        }
    }
}

#[tokio::test]
async fn a_list_of_keys_is_no_longer_than_its_max() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type User @item(keys: { pk: "U#{id}", sk: "me" }) { id: ID! }
type Query { users(ids: [ID!]!): [User!] @find(where: { id: "{ids}" }, max: 2) }
"#;
    let world = World::new(schema, &["1", "2", "3"].map(|id| json!({ "pk": format!("U#{id}"), "sk": "me" }))).await;
    let response = world.response(r#"{ users(ids: ["1", "2", "3"]) { id } }"#).await;
    assert_eq!(response["data"], json!({ "users": null }));
    assert_eq!(response["errors"][0]["extensions"]["code"], "LIMIT_EXCEEDED");
    assert_eq!(
        world.data(r#"{ users(ids: ["1", "9", "3"]) { id } }"#).await,
        json!({ "users": [{ "id": "1" }, { "id": "3" }] })
    );
}

#[tokio::test]
async fn a_value_that_is_repeated_gives_its_item_once() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byAge", partitionKey: "agePk", sortKey: "pk" }])
type User @item(keys: { pk: "U#{id}", sk: "me", agePk: "{age}" }) { id: ID! age: Int! }
type Query {
  users(ids: [ID!]!): [User!]! @find(where: { id: "{ids}" })
  each(ids: [ID!]!): [User]! @find(where: { id: "{ids}" })
  aged(ages: [Int!]!): [User!]! @find(where: { age: "{ages}" })
}
"#;
    let world = World::new(
        schema,
        &["1", "2", "3"].map(|id| json!({ "pk": format!("U#{id}"), "sk": "me", "agePk": "7", "age": 7 })),
    )
    .await;
    let data = world.data(r#"{ users(ids: ["2", "9", "1", "2", "9", "1"]) { id } }"#).await;
    assert_eq!(data, json!({ "users": [{ "id": "2" }, { "id": "1" }] }), "in the order in which the values come first");
    let data = world.data("{ aged(ages: [7, 8, 7]) { id } }").await;
    assert_eq!(data, json!({ "aged": [{ "id": "1" }, { "id": "2" }, { "id": "3" }] }));
    // A list whose elements may be null has an element for each value.
    let data = world.data(r#"{ each(ids: ["2", "9", "1", "2", "9"]) { id } }"#).await;
    assert_eq!(data, json!({ "each": [{ "id": "2" }, null, { "id": "1" }, { "id": "2" }, null] }));
}

#[tokio::test]
async fn an_item_that_may_be_of_several_types_is_in_no_list_of_them() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
interface Card { id: ID! }
type Note implements Card @item(keys: { pk: "C#{owner}", sk: "{id}" }, attributes: { kind: "note" }) { owner: ID! id: ID! }
type Task implements Card @item(keys: { pk: "C#{owner}", sk: "{id}" }, attributes: { kind: "task" }) { owner: ID! id: ID! }
type CardConnection { nodes: [Card!]! edges: [CardEdge!]! pageInfo: PageInfo! }
type CardEdge { node: Card! cursor: String! }
type Query {
  card(owner: ID!, id: ID!): Card @find
  cards(owner: ID!): [Card!]! @find
  page(owner: ID!, first: Int = 2, after: String): CardConnection! @find
  count(owner: ID!): Int! @find(item: Card)
  any(owner: ID!): Boolean! @find(item: Card)
}
"#;
    let card = |owner: &str, id: &str, kind: &str| json!({ "pk": format!("C#{owner}"), "sk": id, "kind": kind });
    let items = [
        card("a", "1", "note"),
        json!({ "pk": "C#a", "sk": "2" }),
        card("a", "3", "task"),
        card("a", "4", "sketch"),
        card("a", "5", "note"),
        json!({ "pk": "C#b", "sk": "1" }),
    ];
    let world = World::new(schema, &items).await;
    let query = r#"{ card(owner: "a", id: "2") { id } cards(owner: "a") { __typename id } count(owner: "a") any(owner: "b")
        page(owner: "a") { nodes { id } pageInfo { hasNextPage } } cursors: page(owner: "a", first: 9) { edges { __typename } } }"#;
    let ids =
        |ids: &[(&str, &str)]| ids.iter().map(|(ty, id)| json!({ "__typename": ty, "id": id })).collect::<Value>();
    let edge = json!({ "__typename": "CardEdge" });
    assert_eq!(
        world.data(query).await,
        json!({
            "card": null,
            "cards": ids(&[("Note", "1"), ("Task", "3"), ("Note", "5")]),
            "count": 3,
            "any": false,
            "page": { "nodes": [{ "id": "1" }, { "id": "3" }], "pageInfo": { "hasNextPage": true } },
            "cursors": { "edges": [edge, edge, edge] },
        })
    );
}

/// An item without the constant is of the type with the more specific key, whichever way leads to it.
#[tokio::test]
async fn an_item_without_the_constant_is_of_the_type_with_the_more_specific_key() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [
  { name: "byDay", partitionKey: "day", projection: KEYS_ONLY }, { name: "byShelf", partitionKey: "shelf" }
])
interface Entry { day: ID }
type User @item(keys: { pk: "USER#{id}", sk: "USER" }) { id: ID! orders: [Order!]! @find lines: [Line!]! @find(where: { orderId: null }) }
type Order implements Entry @item(keys: { pk: "USER#{userId}", sk: "ORDER#{id}", day: "{day}", shelf: "{shelf}" }, attributes: { kind: "order" }) {
  userId: ID! id: ID! day: ID shelf: ID
}
type Line implements Entry @item(keys: { pk: "USER#{userId}", sk: "ORDER#{orderId}#ITEM#{n:03}", day: "{day}", shelf: "{shelf}" }, attributes: { kind: "line" }) {
  userId: ID! orderId: ID! n: Int! day: ID shelf: ID
}
type OrderConnection { nodes: [Order!]! }
type Query {
  user(id: ID!): User @find
  order(userId: ID!, id: ID!): Order @find
  some(userId: ID!, ids: [ID!]!): [Order!]! @find(where: { id: "{ids}" })
  line(userId: ID!, orderId: ID!, n: Int!): Line @find
  isOrder(userId: ID!, id: ID!): Boolean! @find(item: Order)
  orders(userId: ID!): [Order!]! @find
  page(userId: ID!, first: Int = 5): OrderConnection! @find(item: Order)
  count(userId: ID!): Int! @find(item: Order)
  lines(userId: ID!): Int! @find(item: Line)
  ofDay(day: ID!): [Order!]! @find
  ofShelf(shelf: ID!): [Order!]! @find
  onShelf(shelf: ID!): Int! @find(item: Order)
  entries(userId: ID!): [Entry!]! @find
  entriesOfDay(day: ID!): [Entry!]! @find
}
"#;
    let item = |sort: &str, kind: &[&str]| {
        let mut item = json!({ "pk": "USER#u", "sk": sort, "day": "d", "shelf": "s" });
        kind.iter().for_each(|kind| item["kind"] = json!(kind));
        item
    };
    let items = [
        json!({ "pk": "USER#u", "sk": "USER" }),
        item("ORDER#a", &[]),
        item("ORDER#a#ITEM#001", &[]),
        item("ORDER#a#ITEM#002", &["line"]),
        // Its constant says what it is.
        item("ORDER#a#ITEM#003", &["order"]),
        // No line has a number of four digits.
        item("ORDER#a#ITEM#0004", &[]),
    ];
    let world = World::new(schema, &items).await;
    let orders = json!([{ "id": "a" }, { "id": "a#ITEM#0004" }, { "id": "a#ITEM#003" }]);
    for (way, query, seen) in [
        ("Get", r#"order(userId: "u", id: "a#ITEM#001") { id }"#, Value::Null),
        ("Get, of the type", r#"order(userId: "u", id: "a#ITEM#0004") { id }"#, json!({ "id": "a#ITEM#0004" })),
        ("Gets", r#"some(userId: "u", ids: ["a#ITEM#001", "a#ITEM#003"]) { id }"#, json!([{ "id": "a#ITEM#003" }])),
        ("Get of the other type", r#"line(userId: "u", orderId: "a", n: 1) { n }"#, json!({ "n": 1 })),
        ("Boolean", r#"isOrder(userId: "u", id: "a#ITEM#001")"#, json!(false)),
        ("Query", r#"orders(userId: "u") { id }"#, orders.clone()),
        ("page", r#"page(userId: "u") { nodes { id } }"#, json!({ "nodes": orders })),
        ("count", r#"count(userId: "u")"#, json!(3)),
        ("count of the other type", r#"lines(userId: "u")"#, json!(2)),
        (
            "relations",
            r#"user(id: "u") { orders { id } lines { n } }"#,
            json!({ "orders": orders, "lines": [{ "n": 1 }, { "n": 2 }] }),
        ),
        ("index that lacks constants", r#"ofDay(day: "d") { id }"#, orders.clone()),
        ("index", r#"ofShelf(shelf: "s") { id }"#, orders.clone()),
        ("count in an index", r#"onShelf(shelf: "s")"#, json!(3)),
        (
            "several types",
            r#"entries(userId: "u") { __typename }"#,
            ["Order", "Line", "Line", "Order", "Order"].map(|ty| json!({ "__typename": ty })).into_iter().collect(),
        ),
        (
            "several types in an index that lacks constants",
            r#"entriesOfDay(day: "d") { __typename }"#,
            ["Order", "Line", "Line", "Order", "Order"].map(|ty| json!({ "__typename": ty })).into_iter().collect(),
        ),
    ] {
        let mut data = world.data(&format!("{{ way: {query} }}")).await["way"].take();
        let mut seen = seen;
        // Both keys of an index being equal, its items have no order.
        for list in [&mut data, &mut seen].into_iter().filter_map(Value::as_array_mut) {
            list.sort_by_key(Value::to_string);
        }
        assert_eq!(data, seen, "{way}");
    }
}

/// An item whose key attributes disagree on a field that both hold is no item of the type.
#[tokio::test]
async fn an_item_whose_keys_disagree_is_not_of_the_type() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type User @item(keys: { pk: "USER#{id}", sk: "{id}" }) { id: ID! }
type Query {
  all: [User!]! @find(scan: true)
  number: Int! @find(item: User, scan: true)
}
"#;
    let items = [
        json!({ "pk": "USER#1", "sk": "1" }),
        json!({ "pk": "USER#1", "sk": "2" }),
        json!({ "pk": "USER#2", "sk": "USER#2" }),
    ];
    let world = World::new(schema, &items).await;
    let data = world.data("{ all { id } number }").await;
    assert_eq!(data, json!({ "all": [{ "id": "1" }], "number": 1 }));
}

/// Where only a constraint distinguishes two types, an item whose key breaks it is of the other type for every read and
/// write.
#[tokio::test]
async fn a_key_that_breaks_the_constraint_is_not_of_the_type() {
    let schema = r##"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Tag @item(keys: { pk: "U#{user}", sk: "TAG#{tag}" }) {
  user: ID! tag: String! @constraint(pattern: "[^#]+") note: String @constraint(maxLength: 3)
}
type Receipt @item(keys: { pk: "U#{user}", sk: "TAG#{tag}#RECEIPT#{n}" }) { user: ID! tag: String! n: Int! note: String }
type Query {
  tag(user: ID!, tag: String!): Tag @find
  some(user: ID!, tags: [String!]!): [Tag!]! @find(where: { tag: "{tags}" })
  isTag(user: ID!, tag: String!): Boolean! @find(item: Tag)
  tags(user: ID!): [Tag!]! @find
  count(user: ID!): Int! @find(item: Tag)
  receipts(user: ID!): [Receipt!]! @find
  receipt(user: ID!, tag: String!, n: Int!): Receipt @find
}
type Mutation {
  noteTag(user: ID!, tag: String!, note: String): Tag @update
  makeTag(user: ID!, tag: String!, note: String): Tag @update(upsert: true)
  addTag(user: ID!, tag: String!): Tag @put
  setTag(user: ID!, tag: String!): Tag @put(replace: true)
  joinTag(user: ID!, a: String!, b: String!): Tag @put(set: { tag: "{a}#{b}" })
  makeJoined(user: ID!, a: String!, b: String!, note: String): Tag @update(upsert: true, where: { tag: "{a}#{b}" })
  dropTag(user: ID!, tag: String!): Tag @delete
  mustDropTag(user: ID!, tag: String!): Tag! @delete
  isTag(user: ID!, tag: String!): Boolean! @check(item: Tag, if: "attribute_exists(tag)")
  isNoTag(user: ID!, tag: String!): Boolean! @check(item: Tag, if: "attribute_not_exists(tag)")
  dropTags(user: ID!): [Tag!]! @delete(many: true)
  noteReceipt(user: ID!, tag: String!, n: Int!, note: String): Receipt @update
}
"##;
    let item = |sort: &str| json!({ "pk": "U#u", "sk": sort, "note": "long" });
    let items = [item("TAG#a"), item("TAG#a#RECEIPT#1"), item("TAG#b#c"), item("TAG#d")];
    let world = World::new(schema, &items).await;
    for (way, query, seen) in [
        ("Get", r##"tag(user: "u", tag: "a#RECEIPT#1") { tag }"##, Value::Null),
        ("Get, of the type", r##"tag(user: "u", tag: "a") { tag note }"##, json!({ "tag": "a", "note": "long" })),
        ("Gets", r##"some(user: "u", tags: ["a", "a#RECEIPT#1", "b#c"]) { tag }"##, json!([{ "tag": "a" }])),
        ("Boolean", r##"isTag(user: "u", tag: "b#c")"##, json!(false)),
        ("Query", r##"tags(user: "u") { tag }"##, json!([{ "tag": "a" }, { "tag": "d" }])),
        ("count", r##"count(user: "u")"##, json!(2)),
        ("Query of the other type", r##"receipts(user: "u") { tag n }"##, json!([{ "tag": "a", "n": 1 }])),
        ("Get of the other type", r##"receipt(user: "u", tag: "a", n: 1) { n }"##, json!({ "n": 1 })),
    ] {
        assert_eq!(world.data(&format!("{{ way: {query} }}")).await, json!({ "way": seen }), "{way}");
    }
    for (field, code) in [
        (r##"noteTag(user: "u", tag: "a#RECEIPT#1", note: "x") { tag }"##, Some("NOT_FOUND")),
        (r##"makeTag(user: "u", tag: "a#RECEIPT#1", note: "x") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"makeTag(user: "u", tag: "a#RECEIPT#9", note: "x") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"addTag(user: "u", tag: "a#RECEIPT#1") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"setTag(user: "u", tag: "a#RECEIPT#1") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"joinTag(user: "u", a: "x", b: "y") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"makeJoined(user: "u", a: "x", b: "y", note: "n") { tag }"##, Some("BAD_USER_INPUT")),
        (r##"dropTag(user: "u", tag: "a#RECEIPT#1") { tag }"##, None),
        (r##"mustDropTag(user: "u", tag: "a#RECEIPT#1") { tag }"##, Some("NOT_FOUND")),
        (r##"isTag(user: "u", tag: "a#RECEIPT#1")"##, Some("NOT_FOUND")),
        (r##"isNoTag(user: "u", tag: "a#RECEIPT#1")"##, None),
        (r##"isNoTag(user: "u", tag: "a")"##, Some("CONFLICT")),
        (r##"dropTags(user: "u") { tag }"##, None),
        (r##"noteReceipt(user: "u", tag: "a", n: 1, note: "x") { n }"##, None),
    ] {
        let response = world.response(&format!("mutation {{ way: {field} }}")).await;
        assert_eq!(response["errors"][0]["extensions"]["code"].as_str(), code, "{field}: {response}");
    }
    let left = world.data(r##"{ count(user: "u") receipts(user: "u") { tag n note } }"##).await;
    assert_eq!(left, json!({ "count": 0, "receipts": [{ "tag": "a", "n": 1, "note": "x" }] }));
}

const MEMOS: &str = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [
  { name: "byTitle", sortKey: "title" }, { name: "byScore", sortKey: "score", sortKeyType: N }, { name: "byMood", sortKey: "mood" }
])
type Memo @item(keys: { pk: "U#{user}", sk: "M#{at}", title: "{title}", score: "{score}", mood: "{mood}" }) {
  user: ID! at: String! title: String! score: Int! mood: String! @inaccessible stars: Int
}
type Memos { nodes: [Memo!]! edges: [MemoEdge!]! pageInfo: PageInfo! }
type MemoEdge { node: Memo! cursor: String! }
enum MemoOrder { AT TITLE SCORE }
enum Order { ASC DESC }
type Query {
  memos(user: ID!, orderBy: MemoOrder = AT, order: Order, stars: Int, first: Int = 2, after: String, last: Int, before: String): Memos!
    @find(filter: "stars >= :stars")
  since(user: ID!, from: String, first: Int = 2, after: String): Memos! @find(item: Memo, where: { at: { ge: "{from}" } })
  byMood(user: ID!, first: Int = 2, after: String): Memos! @find(item: Memo, orderBy: "mood")
  others(user: ID!, first: Int = 2, after: String): Memos! @find(item: Memo)
}
"#;

async fn memos() -> World {
    let memo = |n: usize| json!({ "pk": format!("U#{}", n % 2), "sk": format!("M#{n}"), "title": format!("t{}", 9 - n), "score": (n * 7) % 10, "mood": format!("mood{n}"), "stars": 1 });
    World::new(MEMOS, &(0..10).map(memo).collect::<Vec<_>>()).await
}

#[tokio::test]
async fn a_cursor_is_good_for_its_own_list_only() {
    let world = memos().await;
    let lists = [
        r#"memos(user: "0""#,
        r#"memos(user: "0", orderBy: TITLE"#,
        r#"memos(user: "0", orderBy: SCORE"#,
        r#"memos(user: "0", order: DESC"#,
        r#"memos(user: "0", orderBy: SCORE, order: DESC"#,
        r#"memos(user: "1""#,
        r#"memos(user: "1", orderBy: TITLE"#,
        r#"since(user: "0""#,
        r#"since(user: "0", from: "2""#,
        r#"byMood(user: "0""#,
        r#"others(user: "0""#,
    ];
    for from in lists {
        let page = world
            .data(&format!("{{ a: {from}) {{ nodes {{ at }} pageInfo {{ endCursor }} }} all: {from}, first: 9) {{ nodes {{ at }} }} }}"))
            .await;
        let cursor = &page["a"]["pageInfo"]["endCursor"];
        for to in lists {
            let response = world.response(&format!("{{ a: {to}, after: {cursor}) {{ nodes {{ at }} }} }}")).await;
            if from == to {
                assert_eq!(
                    response["data"]["a"]["nodes"].as_array().unwrap()[..],
                    page["all"]["nodes"].as_array().unwrap()[2..4],
                    "{from}"
                );
            } else {
                assert_eq!(response["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{from} → {to}: {response}");
            }
        }
        // The size and direction of the page and the values of a filter may change: the cursor's place stays the same.
        if from.starts_with("memos") {
            for more in ["first: 1, after", "last: 1, before", "stars: 0, first: 3, after"] {
                world.data(&format!("{{ a: {from}, {more}: {cursor}) {{ nodes {{ at }} }} }}")).await;
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_shows_nothing_of_the_item() {
    use base64::Engine;
    let world = memos().await;
    let page = world.data(r#"{ byMood(user: "0") { edges { cursor } } }"#).await;
    for cursor in page["byMood"]["edges"].as_array().unwrap().iter().map(|edge| edge["cursor"].as_str().unwrap()) {
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(cursor).unwrap();
        let shown = String::from_utf8_lossy(&bytes);
        assert!(!["mood", "U#", "M#", "t9"].iter().any(|part| shown.contains(part)), "{shown}");
    }
    // The earlier, unencrypted form of cursors: a code and JSON.
    let old = "EaX-CT4PN48Fjo16lA-GNltbIlNVIzAiLCJTTSMyIiwiU21vb2QyIl1d";
    for cursor in [old, "", "=", "ä", &"A".repeat(20_000)] {
        let response =
            world.response(&format!("{{ byMood(user: \"0\", after: \"{cursor}\") {{ nodes {{ at }} }} }}")).await;
        assert_eq!(response["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{cursor}");
    }
}

#[tokio::test]
async fn a_page_has_the_size_that_its_field_declares() {
    let world = memos().await;
    let page = world.data(r#"{ a: memos(user: "0", first: 9) { edges { cursor } } }"#).await;
    let last = &page["a"]["edges"][4]["cursor"];
    for arguments in [
        "",
        ", first: null",
        ", last: null",
        ", after: null",
        ", first: null, last: null",
        &format!(", before: {last}"),
    ] {
        let page = world.data(&format!("{{ a: memos(user: \"0\"{arguments}) {{ nodes {{ at }} }} }}")).await;
        assert_eq!(page["a"]["nodes"].as_array().unwrap().len(), 2, "{arguments}");
    }
    let query = "query($first: Int, $last: Int) { a: memos(user: \"0\", first: $first, last: $last) { nodes { at } } }";
    for (variables, size) in [
        (json!({}), 2),
        (json!({ "first": null }), 2),
        (json!({ "first": 3 }), 3),
        (json!({ "first": null, "last": 4 }), 4),
    ] {
        let response = support::run(&world.gateway, &support::request(query, variables.clone()), false).await;
        assert_eq!(response["data"]["a"]["nodes"].as_array().unwrap().len(), size, "{variables}");
    }
}

#[tokio::test]
async fn a_page_of_nothing_says_whether_there_is_more() {
    let world = memos().await;
    let page = world.data(r#"{ a: memos(user: "0", first: 9) { edges { cursor } } }"#).await;
    let cursor = |position: usize| page["a"]["edges"][position]["cursor"].to_string();
    let (first, last) = (cursor(0), cursor(4));
    world.calls();
    let info = "{ nodes { at } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }";
    for (arguments, next, previous) in [
        ("first: 0".to_owned(), true, false),
        ("last: 0".to_owned(), false, true),
        (format!("first: 0, after: {first}"), true, true),
        (format!("first: 0, after: {last}"), false, true),
        (format!("last: 0, before: {last}"), true, true),
        (format!("last: 0, before: {first}"), true, false),
        ("first: 0, stars: 1".to_owned(), true, false),
        ("first: 0, stars: 2".to_owned(), false, false),
    ] {
        let page = world.data(&format!("{{ a: memos(user: \"0\", {arguments}) {info} }}")).await;
        let expected =
            json!({ "hasNextPage": next, "hasPreviousPage": previous, "startCursor": null, "endCursor": null });
        assert_eq!(page["a"], json!({ "nodes": [], "pageInfo": expected }), "{arguments}");
        let limit = if arguments.contains("stars") { 50 } else { 1 };
        assert_eq!(limits(&world.calls()), [limit], "{arguments}");
    }
    let nobody = world
        .data(&format!(
            "{{ a: memos(user: \"9\", first: 0) {info} b: memos(user: \"0\", first: 0) {{ nodes {{ at }} }} }}"
        ))
        .await;
    assert_eq!(nobody["a"]["pageInfo"]["hasNextPage"], false);
    assert_eq!(world.calls().len(), 1, "whether there is more is not looked for where nobody asks");
}

/// The longest text among the values of the calls.
fn longest(calls: &[(String, Value)]) -> usize {
    let values = calls.iter().flat_map(|(_, body)| body["ExpressionAttributeValues"].as_object().unwrap().values());
    values.filter_map(|value| value["S"].as_str()).map(str::len).max().unwrap_or_default()
}

#[tokio::test]
async fn a_bound_that_is_longer_than_any_key_bounds_all_the_same() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Word @item(keys: { pk: "words#{list}", sk: "w#{word}" }) { list: ID! word: String! }
type Query {
  words(list: ID!, over: String, under: String): Int! @find(item: Word, where: { word: { gt: "{over}", lt: "{under}" } })
  within(list: ID!, from: String, to: String): Int! @find(item: Word, where: { word: { ge: "{from}", le: "{to}" } })
  starting(list: ID!, start: String): Int! @find(item: Word, where: { word: { beginsWith: "{start}" } })
  word(list: ID!, word: String!): Word @find
}
"#;
    let long = |letter: &str, count: usize| letter.repeat(count);
    let words = ["a".to_owned(), long("m", 1021), format!("{}n", long("m", 1021)), long("z", 1022)];
    let world = World::new(schema, &words.map(|word| json!({ "pk": "words#l", "sk": format!("w#{word}") }))).await;
    let m = long("m", 1100);
    let mostly = format!("{}\u{10FFFF}", long("m", 1020));
    for (field, arguments, expected) in [
        ("words", format!("over: \"{m}\""), 2),
        ("words", format!("under: \"{m}\""), 2),
        ("words", format!("over: \"a\", under: \"{m}\""), 1),
        ("words", format!("over: \"{mostly}\""), 1),
        ("within", format!("from: \"{m}\""), 2),
        ("within", format!("to: \"{m}\""), 2),
        ("within", format!("to: \"{mostly}\""), 3),
        ("within", format!("from: \"{m}\", to: \"{}\"", long("z", 2000)), 2),
        ("within", format!("from: \"{m}\", to: \"{m}n\""), 0),
        ("starting", format!("start: \"{m}\""), 0),
    ] {
        assert_eq!(
            world.data(&format!("{{ n: {field}(list: \"l\", {arguments}) }}")).await,
            json!({ "n": expected }),
            "{arguments}"
        );
        let calls = world.calls();
        assert!(longest(&calls) <= 1024, "{arguments}: {}", longest(&calls));
    }
    let lost = world
        .data(&format!("{{ word(list: \"l\", word: \"{m}\") {{ word }} words(list: \"{}\") }}", long("l", 2100)))
        .await;
    assert_eq!(lost, json!({ "word": null, "words": 0 }));
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_count_reads_as_much_as_a_call_holds_and_each_page_is_a_wave() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Word @item(keys: { pk: "words#{list}", sk: "{word}" }) { list: ID! word: String! }
type Query { words(list: ID!): Int! @find(item: Word)  word(list: ID!, word: String!): Word @find }
"#;
    let items: Vec<Value> = (0..6_000).map(|word| json!({ "pk": "words#l", "sk": format!("{word:05}") })).collect();
    let world = World::new(schema, &items).await;
    let request = support::request(r#"{ words(list: "l") }"#, Value::Null);
    let response = support::run(&world.gateway, &request, true).await;
    assert_eq!(response["data"]["words"], 6_000);
    let explained = &response["extensions"]["keyfold"];
    let waves: Vec<&Value> = explained["calls"].as_array().unwrap().iter().map(|call| &call["wave"]).collect();
    assert_eq!((json!(waves), &explained["waves"]), (json!([1, 2]), &json!(2)));
    assert_eq!(limits(&world.calls()), [4_000, 64_000]);
}

#[tokio::test]
async fn bounds_of_numbers_and_binaries_are_what_they_say() {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", sortKeyType: B, indexes: [{ name: "byPrice", partitionKey: "g", sortKey: "price", sortKeyType: N }])
type Part @item(keys: { pk: "P#{list}", sk: "{digest}", g: "G#{list}", price: "{price}" }) { list: ID! digest: Binary! price: Float! }
type Query {
  prices(list: ID!, over: Float, under: Float): Int! @find(item: Part, where: { price: { gt: "{over}", lt: "{under}" } })
  within(list: ID!, from: Float, to: Float): Int! @find(item: Part, where: { price: { ge: "{from}", le: "{to}" } })
  digests(list: ID!, over: Binary, to: Binary): Int! @find(item: Part, where: { digest: { gt: "{over}", le: "{to}" } })
  part(list: ID!, digest: Binary!): Part @find
}
"#;
    let world = World::new(schema, &[]).await;
    let prices = ["-5", "0", "3", "1e-130"];
    let digests = [vec![1u8], vec![2, 2], vec![200], vec![7; 1024]].map(|bytes| STANDARD.encode(bytes));
    let items: Vec<_> = prices
        .iter()
        .zip(&digests)
        .map(|(price, digest)| {
            let item = json!({ "Item": { "pk": { "S": "P#l" }, "sk": { "B": digest }, "g": { "S": "G#l" }, "price": { "N": price } } });
            parse_line(&item.to_string()).unwrap().unwrap()
        })
        .collect();
    let model = world.gateway.model().clone();
    world.store.load(&model.tables[0], items, support::deadline()).await.unwrap();
    let long = STANDARD.encode([7; 1100]);
    for (field, expected) in [
        ("prices(list: \"l\", over: 0, under: 3)".to_owned(), 1),
        ("within(list: \"l\", from: 0, to: 3)".to_owned(), 3),
        (format!("digests(list: \"l\", over: \"{}\")", digests[0]), 3),
        (format!("digests(list: \"l\", over: \"{}\", to: \"{}\")", digests[0], digests[1]), 1),
        (format!("digests(list: \"l\", to: \"{long}\")"), 3),
        (format!("digests(list: \"l\", over: \"{long}\")"), 1),
    ] {
        assert_eq!(world.data(&format!("{{ n: {field} }}")).await, json!({ "n": expected }), "{field}");
    }
    // A number outside of DynamoDB's range is refused.
    let refused = world.response(r#"{ n: prices(list: "l", over: 1e200) }"#).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
    for (digest, there) in [(&digests[3], true), (&digests[0], true), (&long, false)] {
        let part = world.data(&format!("{{ part(list: \"l\", digest: \"{digest}\") {{ list }} }}")).await;
        assert_eq!(part["part"].is_object(), there);
    }
}

#[tokio::test]
async fn a_filter_on_items_of_whole_keys_costs_no_query_a_key() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type User @item(keys: { pk: "U#{id}", sk: "me" }) { id: ID! name: String age: Int tags: [String!] friends: [Friend!]! @find }
type Friend @item(keys: { pk: "U#{userId}", sk: "F#{friendId}" }) { userId: ID! friendId: ID! adult: User @find(where: { id: "{friendId}" }, filter: "age >= 18") }
type Query {
  users(ids: [ID!]!, name: String, ages: [Int!]): [User!]! @find(where: { id: "{ids}" }, filter: "begins_with(name, :name) AND age IN (:ages)", max: 3)
  kept(ids: [ID!]!, name: String): [User]! @find(where: { id: "{ids}" }, filter: "begins_with(name, :name)")
  user(id: ID!, over: Int): User @find(filter: "age > :over")
  isGrown(id: ID!): Boolean! @find(item: User, filter: "age >= 18")
}
"#;
    let user = |n: usize| json!({ "pk": format!("U#{n}"), "sk": "me", "name": format!("{}{n}", if n.is_multiple_of(2) { "even" } else { "odd" }), "age": 10 + n });
    let friend = |n: usize| json!({ "pk": "U#1", "sk": format!("F#{n}") });
    let items: Vec<Value> = (0..12).map(user).chain((6..12).map(friend)).collect();
    let world = World::new(schema, &items).await;
    let operations =
        |calls: &[(String, Value)]| calls.iter().map(|(operation, _)| operation.clone()).collect::<Vec<_>>();
    let ids = |users: &Value| {
        users.as_array().unwrap().iter().map(|user| user["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    for (field, expected) in [
        (r#"users(ids: ["1", "2", "3", "99"], name: "odd")"#, vec!["1", "3"]),
        (r#"users(ids: ["1", "2", "3"])"#, vec!["1", "2", "3"]),
        (r#"users(ids: ["1", "2", "3"], ages: [11, 12])"#, vec!["1", "2"]),
        (r#"users(ids: ["0", "1", "2", "3", "4", "5"], name: "odd")"#, vec!["1", "3", "5"]),
        (r#"users(ids: ["1"], name: "even")"#, vec![]),
    ] {
        assert_eq!(ids(&world.data(&format!("{{ u: {field} {{ id }} }}")).await["u"]), expected, "{field}");
        let one = world.calls();
        assert_eq!(one.len(), 1, "{field}: {one:?}");
        assert_ne!(one[0].0, "Query", "{field}");
    }
    let all = world.response(r#"{ users(ids: ["0", "1", "2", "3"]) { id } }"#).await;
    assert_eq!(all["errors"][0]["extensions"]["code"], "LIMIT_EXCEEDED");
    world.calls();
    // If an item does not match the filter, its place in a list with places is null, and a single object is null.
    let data = world
        .data(r#"{ kept(ids: ["1", "2"], name: "even") { id } a: user(id: "9", over: 18) { id age } b: user(id: "9", over: 19) { id } c: user(id: "9") { id }
             grown: isGrown(id: "8") young: isGrown(id: "7") nobody: isGrown(id: "77") }"#)
        .await;
    let expected = json!({ "kept": [null, { "id": "2" }], "a": { "id": "9", "age": 19 }, "b": null, "c": { "id": "9" }, "grown": true, "young": false, "nobody": false });
    assert_eq!(data, expected);
    assert_eq!(operations(&world.calls()), ["BatchGetItem"]);
    // On the path through relations, too.
    let data = world.data(r#"{ user(id: "1") { id friends { friendId adult { id } } } }"#).await;
    let adults: Vec<&Value> =
        data["user"]["friends"].as_array().unwrap().iter().map(|friend| &friend["adult"]).collect();
    assert_eq!(json!(adults), json!([{ "id": "10" }, { "id": "11" }, null, null, { "id": "8" }, { "id": "9" }]));
    assert_eq!(operations(&world.calls()).iter().filter(|operation| *operation == "Query").count(), 1);
    // A value that does not fit its use is reported, whether there is an item or not.
    let many = (0..101).map(|age| age.to_string()).collect::<Vec<_>>().join(",");
    let refused = world.response(&format!("{{ users(ids: [\"99\"], ages: [{many}]) {{ id }} }}")).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT", "{refused}");
}

#[tokio::test]
async fn a_link_to_what_is_gone_is_left_out_whatever_is_selected() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Box @item(keys: { pk: "B#{id}", sk: "box" }) {
  id: ID!
  link: Link @find @inaccessible
  group: Group @find(through: "link.group")
  links: [Link!]! @find
  groups: [Group!]! @find(through: "links.group")
}
type Link @item(keys: { pk: "B#{boxId}", sk: "L#{groupId}" }) { boxId: ID! groupId: ID! group: Group! @find }
type Group @item(keys: { pk: "G#{id}", sk: "group" }) { id: ID! name: String }
type Query { box(id: ID!): Box @find }
"#;
    let items = [
        json!({ "pk": "B#1", "sk": "box" }),
        json!({ "pk": "B#1", "sk": "L#gone" }),
        json!({ "pk": "B#1", "sk": "L#there" }),
        json!({ "pk": "G#there", "sk": "group", "name": "g" }),
    ];
    let world = World::new(schema, &items).await;
    for selected in ["id", "name", "id name", "__typename"] {
        let data =
            world.data(&format!("{{ box(id: \"1\") {{ group {{ {selected} }} groups {{ {selected} }} }} }}")).await;
        assert_eq!(data["box"]["group"], Value::Null, "{selected}");
        assert_eq!(data["box"]["groups"].as_array().unwrap().len(), 1, "{selected}: {data}");
    }
}

/// The remedies of KF0423 for `orderBy:` and `filter:` beside `through:`: both belong at the relations on the path.
#[tokio::test]
async fn the_relations_of_a_path_order_and_filter_its_items() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byTime", partitionKey: "g", sortKey: "at" }])
type User @item(keys: { pk: "U#{id}", sk: "user" }) {
  id: ID!
  memberships: [Membership!]! @find
  recent(first: Int, after: String): MembershipConnection! @inaccessible @find(orderBy: "joinedAt", order: DESC)
  groups(first: Int = 10, after: String, topic: String): GroupConnection! @find(through: "recent.about")
}
type Membership @item(keys: { pk: "U#{userId}", sk: "G#{groupId}", g: "U#{userId}", at: "{joinedAt}" }) {
  userId: ID!
  groupId: ID!
  joinedAt: DateTime!
  group: Group! @find
  about(topic: String): Group @inaccessible @find(where: { id: "{groupId}" }, filter: "topic = :topic")
}
type MembershipConnection { nodes: [Membership!]! pageInfo: PageInfo! }
type Group @item(keys: { pk: "G#{id}", sk: "group" }) { id: ID! topic: String }
type GroupConnection { nodes: [Group!]! pageInfo: PageInfo! }
type Query { user(id: ID!): User @find }
"#;
    let membership = |n: usize| json!({ "pk": "U#1", "sk": format!("G#{n}"), "g": "U#1", "at": format!("2026-01-0{}T00:00:00.000Z", 9 - n), "joinedAt": format!("2026-01-0{}T00:00:00.000Z", 9 - n) });
    let group = |n: usize| json!({ "pk": format!("G#{n}"), "sk": "group", "topic": if n.is_multiple_of(2) { "even" } else { "odd" } });
    let items: Vec<Value> =
        (1..9).map(membership).chain((1..8).map(group)).chain([json!({ "pk": "U#1", "sk": "user" })]).collect();
    let world = World::new(schema, &items).await;
    let page = async |arguments: &str| {
        let query = format!(
            r#"{{ user(id: "1") {{ groups({arguments}) {{ nodes {{ id }} pageInfo {{ hasNextPage endCursor }} }} }} }}"#
        );
        world.data(&query).await["user"]["groups"].clone()
    };
    // The group 8 is gone.
    let all = page("first: 10").await;
    assert_eq!(all["nodes"], json!((1..8).map(|n| json!({ "id": n.to_string() })).collect::<Vec<_>>()));
    let first = page(r#"first: 2, topic: "odd""#).await;
    assert_eq!(first["nodes"], json!([{ "id": "1" }, { "id": "3" }]), "{first}");
    let cursor = first["pageInfo"]["endCursor"].as_str().unwrap();
    let rest = page(&format!(r#"first: 9, after: "{cursor}", topic: "odd""#)).await;
    assert_eq!(rest["nodes"], json!([{ "id": "5" }, { "id": "7" }]), "{rest}");
    assert_eq!((&first["pageInfo"]["hasNextPage"], &rest["pageInfo"]["hasNextPage"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn a_single_item_that_is_gone_is_one_answer_whatever_is_selected() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Link @item(keys: { pk: "B#{boxId}", sk: "L#{groupId}" }) {
  boxId: ID!
  groupId: ID!
  maybe: Group @find(where: { id: "{groupId}" })
  sure: Group! @find(where: { id: "{groupId}" })
}
type Group @item(keys: { pk: "G#{id}", sk: "group" }) { id: ID! name: String }
type Query { link(boxId: ID!, groupId: ID!): Link @find }
"#;
    let world = World::new(schema, &[json!({ "pk": "B#1", "sk": "L#gone" })]).await;
    // A relation that may be null is read.
    for selected in ["id", "name", "id name", "__typename"] {
        let data =
            world.data(&format!(r#"{{ link(boxId: "1", groupId: "gone") {{ boxId maybe {{ {selected} }} }} }}"#)).await;
        assert_eq!(data, json!({ "link": { "boxId": "1", "maybe": null } }), "{selected}");
    }
    world.calls();
    // The schema promises that the other one exists: its key fields cost no read, and a read that finds the promise
    // broken is an error.
    let data = world.data(r#"{ link(boxId: "1", groupId: "gone") { sure { id } } }"#).await;
    assert_eq!(data, json!({ "link": { "sure": { "id": "gone" } } }));
    assert_eq!(world.calls().len(), 1, "the link alone");
    let response = world.response(r#"{ link(boxId: "1", groupId: "gone") { sure { id name } } }"#).await;
    assert_eq!(response["data"], json!({ "link": null }));
    assert_eq!(response["errors"][0]["path"], json!(["link", "sure"]));
    assert_eq!(response["errors"][0]["extensions"]["code"], "NOT_FOUND");
}

/// Notes and memos have the same keys and differ only in their constants: no read of a note returns a memo.
#[tokio::test]
async fn an_item_of_another_type_is_seen_in_no_way() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [
  { name: "byGroup", partitionKey: "g", projection: KEYS_ONLY }
  { name: "byDay", partitionKey: "day" }
])
type Box @item(keys: { pk: "B#{id}", sk: "A" }) {
  id: ID!
  notes: [Note!]! @find
  first: Note @find(where: { id: "1" })
  links: [Link!]! @find
}
type Link @item(keys: { pk: "B#{boxId}", sk: "L#{noteId}" }) { boxId: ID! noteId: ID! note: Note @find }
type Note @item(keys: { pk: "B#{boxId}", sk: "N#{id}", g: "{group}", day: "{day}" }, attributes: { kind: "note" }) {
  boxId: ID! id: ID! group: ID day: ID text: String
}
type Memo @item(keys: { pk: "B#{boxId}", sk: "N#{id}", g: "{group}", day: "{day}" }, attributes: { kind: "memo" }) {
  boxId: ID! id: ID! group: ID day: ID text: String
}
type NoteConnection { nodes: [Note!]! }
type Query {
  box(id: ID!): Box @find
  note(boxId: ID!, id: ID!): Note @find
  some(boxId: ID!, ids: [ID!]!): [Note!]! @find(where: { id: "{ids}" })
  exists(boxId: ID!, id: ID!): Boolean! @find(item: Note)
  notes(boxId: ID!): [Note!]! @find
  page(boxId: ID!, first: Int = 5): NoteConnection! @find
  number(boxId: ID!): Int! @find(item: Note)
  ofGroup(group: ID!): [Note!]! @find
  ofDay(day: ID!): [Note!]! @find
}
"#;
    let item = |id: &str, kind: &str| json!({ "pk": "B#b", "sk": format!("N#{id}"), "g": "g", "day": "d", "kind": kind, "text": kind });
    let link = |id: &str| json!({ "pk": "B#b", "sk": format!("L#{id}") });
    let items = [json!({ "pk": "B#b", "sk": "A" }), item("1", "memo"), item("2", "note"), link("1"), link("2")];
    let world = World::new(schema, &items).await;
    let note = json!({ "text": "note" });
    for (way, query, seen) in [
        ("Get", r#"note(boxId: "b", id: "1") { text }"#, Value::Null),
        ("Get, of the type", r#"note(boxId: "b", id: "2") { text }"#, note.clone()),
        ("Gets", r#"some(boxId: "b", ids: ["1", "2"]) { text }"#, json!([note])),
        ("Get of a boolean", r#"exists(boxId: "b", id: "1")"#, json!(false)),
        ("Query", r#"notes(boxId: "b") { text }"#, json!([note])),
        ("page", r#"page(boxId: "b") { nodes { text } }"#, json!({ "nodes": [note] })),
        ("count", r#"number(boxId: "b")"#, json!(1)),
        ("index", r#"ofDay(day: "d") { text }"#, json!([note])),
        ("index that lacks attributes", r#"ofGroup(group: "g") { text }"#, json!([note])),
        (
            "collection read",
            r#"box(id: "b") { notes { text } first { text } }"#,
            json!({ "notes": [note], "first": null }),
        ),
        (
            "key in the parent",
            r#"box(id: "b") { links { note { id } } }"#,
            json!({ "links": [{ "note": null }, { "note": { "id": "2" } }] }),
        ),
    ] {
        assert_eq!(world.data(&format!("{{ way: {query} }}")).await, json!({ "way": seen }), "{way}");
    }
}

#[tokio::test]
async fn a_list_by_a_whole_key_shows_only_an_item_that_is_there() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type Shelf @item(keys: { pk: "S#{id}", sk: "S" }) {
  id: ID!
  books(bookId: ID): [Book!]! @find(where: { shelfId: "{id}", id: "{bookId}" })
}
type Book @item(keys: { pk: "S#{shelfId}", sk: "B#{id}" }) { shelfId: ID! id: ID! }
type Query { shelf(id: ID!): Shelf @find }
"#;
    let items = [json!({ "pk": "S#1", "sk": "S" }), json!({ "pk": "S#1", "sk": "B#a" })];
    let world = World::new(schema, &items).await;
    let books = r#"{ shelf(id: "1") { there: books(bookId: "a") { id } missing: books(bookId: "b") { id shelfId } } }"#;
    assert_eq!(world.data(books).await, json!({ "shelf": { "there": [{ "id": "a" }], "missing": [] } }));
}

#[tokio::test]
async fn a_global_id_has_what_a_key_has_in_one_case() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
interface Node @node { id: ID! }
type User implements Node @item(keys: { pk: "USER#{email:lower}", sk: "{at}" }) { id: ID! email: AWSEmail! at: AWSTime! }
type Query { node(id: ID!): Node user(email: AWSEmail!, at: AWSTime!): User @find }
"#;
    let items = [json!({ "pk": "USER#ann@example.com", "sk": "09:30Z", "email": "Ann@example.com" })];
    let world = World::new(schema, &items).await;
    let user = world.data(r#"{ user(email: "ANN@example.com", at: "09:30Z") { id email } }"#).await["user"].take();
    assert_eq!(user["email"], "Ann@example.com");
    let found = world.data(&format!("{{ node(id: {}) {{ id ... on User {{ email }} }} }}", user["id"])).await;
    assert_eq!(found["node"], user);
}

#[tokio::test]
async fn assigned_shards_are_all_asked_for_an_item() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
interface Node @node { id: ID! }
type Entry implements Node @item(keys: { pk: "E#{account}#{shard:08..11}", sk: "{number}" }, readOnly: true) {
  id: ID! account: ID! number: ID! cents: Int!
}
type Query { node(id: ID!): Node entry(account: ID!, number: ID!): Entry @find }
"#;
    let entry = |shard: &str, number: &str, cents: i64| {
        let key = format!("E#cash#{shard}");
        json!({ "pk": key, "sk": number, "cents": cents })
    };
    let items = [
        entry("08", "a", 8),
        entry("11", "b", 11),
        entry("12", "c", 12),
        entry("9", "d", 9),
        entry("10", "e", 1),
        entry("11", "e", 2),
    ];
    let world = World::new(schema, &items).await;
    for (number, cents) in [("a", Some(8)), ("b", Some(11)), ("c", None), ("d", None), ("e", Some(1))] {
        let query = format!("{{ entry(account: \"cash\", number: \"{number}\") {{ id cents }} }}");
        let found = world.data(&query).await["entry"].take();
        assert_eq!(found.get("cents").and_then(Value::as_i64), cents, "{number}");
        let Some(id) = found.get("id") else { continue };
        let node = world.data(&format!("{{ node(id: {id}) {{ id ... on Entry {{ cents }} }} }}")).await;
        assert_eq!(node["node"], found, "{number}");
    }
    let asked: Vec<usize> = world
        .calls()
        .iter()
        .map(|(_, body)| body["RequestItems"]["things"]["Keys"].as_array().map_or(1, Vec::len))
        .collect();
    assert_eq!(asked, [4; 8]);
}

#[tokio::test]
async fn arguments_that_break_constraints_read_nothing() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk")
type User @item(keys: { pk: "U#{id}", sk: "U" }) {
  id: ID!
  name: String
  posts(
    first: Int = 5 @constraint(min: 1, max: 3)
    after: String
    from: String @constraint(pattern: "[a-z]")
  ): PostConnection! @find(where: { authorId: "{id}", id: { ge: "{from}" } })
  single(postId: ID! @constraint(maxLength: 1)): Post @find(where: { authorId: "{id}", id: "{postId}" })
}
type Post @item(keys: { pk: "U#{authorId}", sk: "P#{id}" }) {
  id: ID!
  authorId: ID!
  author: User @find
}
type PostConnection { nodes: [Post!]! pageInfo: PageInfo! }
type PageInfo { hasNextPage: Boolean! endCursor: String }
type Query {
  user(id: ID! @constraint(format: "uuid")): User @find
  anyone(id: ID!): User @find(item: User)
  users(ids: [ID!]! @constraint(maxItems: 2, maxLength: 2)): [User!]! @find(item: User, where: { id: "{ids}" })
  has(id: ID! @constraint(maxLength: 2)): Boolean! @find(item: User)
  post(author: ID! @constraint(maxLength: 2), id: ID! @constraint(pattern: "[a-z]", maxLength: 1)): Post
    @find(where: { authorId: "{author}" })
}
"#;
    let items = [
        json!({ "pk": "U#1", "sk": "U", "name": "Ann" }),
        json!({ "pk": "U#1", "sk": "P#a" }),
        json!({ "pk": "U#1", "sk": "P#b" }),
    ];
    let world = World::new(schema, &items).await;
    let refused = async |query: &str, errors: Value, data: Value, calls: usize| {
        let response = world.response(query).await;
        let reported: Vec<Value> = response["errors"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|error| {
                assert_eq!(error["extensions"]["code"], "BAD_USER_INPUT", "{query}");
                json!([error["message"], error["extensions"]["argument"], error["path"]])
            })
            .collect();
        assert_eq!((Value::from(reported), &response["data"]), (errors, &data), "{query}");
        assert_eq!(world.calls().len(), calls, "{query}");
    };
    let no_id = r#""id" must be a UUID."#;
    refused(
        r#"{ user(id: "1") { name posts { nodes { id author { name } } } } }"#,
        json!([[no_id, ["id"], ["user"]]]),
        json!({ "user": null }),
        0,
    )
    .await;
    // Another field of the operation is answered.
    refused(
        r#"{ user(id: "1") { name } anyone(id: "1") { name } }"#,
        json!([[no_id, ["id"], ["user"]]]),
        json!({ "user": null, "anyone": { "name": "Ann" } }),
        1,
    )
    .await;
    refused(
        r#"{ post(author: "abc", id: "1x") { id } }"#,
        json!([
            ["\"author\" must have at most 2 characters, but has 3.", ["author"], ["post"]],
            ["\"id\" must have at most 1 character, but has 2.", ["id"], ["post"]],
            ["\"id\" must match the pattern [a-z].", ["id"], ["post"]],
        ]),
        json!({ "post": null }),
        0,
    )
    .await;
    refused(
        r#"{ users(ids: ["1", "2", "333"]) { name } }"#,
        json!([
            ["\"ids\" must have at most 2 elements, but has 3.", ["ids"], ["users"]],
            ["\"ids\" must have at most 2 characters, but has 3.", ["ids"], ["users"]],
        ]),
        Value::Null,
        0,
    )
    .await;
    let long = "\"id\" must have at most 2 characters, but has 3.";
    refused(r#"{ has(id: "123") }"#, json!([[long, ["id"], ["has"]]]), Value::Null, 0).await;
    // A relation is refused at each of its objects, and only its own reads are left out.
    let too_many = r#""first" must be 3 or less, but is 4."#;
    let pattern = r#""from" must match the pattern [a-z]."#;
    refused(
        r#"{ anyone(id: "1") { name single(postId: "aa") { id author { name } } } }"#,
        json!([["\"postId\" must have at most 1 character, but has 2.", ["postId"], ["anyone", "single"]]]),
        json!({ "anyone": { "name": "Ann", "single": null } }),
        1,
    )
    .await;
    refused(
        r#"{ anyone(id: "1") { posts(first: 4, from: "A") { nodes { id } } } }"#,
        json!([[too_many, ["first"], ["anyone", "posts"]], [pattern, ["from"], ["anyone", "posts"]]]),
        json!({ "anyone": null }),
        1,
    )
    .await;
    // A default is an argument, too.
    refused(
        r#"{ anyone(id: "1") { posts { nodes { id } } } }"#,
        json!([["\"first\" must be 3 or less, but is 5.", ["first"], ["anyone", "posts"]]]),
        json!({ "anyone": null }),
        1,
    )
    .await;
    refused(
        r#"{ anyone(id: "1") { posts(first: 2, from: null) { nodes { id } } single(postId: "b") { id } } has(id: "1") }"#,
        json!([]),
        json!({
            "anyone": { "posts": { "nodes": [{ "id": "a" }, { "id": "b" }] }, "single": { "id": "b" } },
            "has": true,
        }),
        2,
    )
    .await;
}

#[tokio::test]
async fn a_refused_caller_learns_nothing_of_arguments() {
    let schema = r#"
extend schema @table(name: "things", partitionKey: "pk")
type User @item(keys: { pk: "U#{id}" }) @auth(if: "auth.sub = id") { id: ID! }
type Query { user(id: ID! @constraint(maxLength: 2)): User @find }
"#;
    let world = World::new(schema, &[]).await;
    let codes = async |caller: Option<Value>| {
        let mut request = support::request(r#"{ user(id: "123") { id } }"#, Value::Null);
        request.caller = caller.map(support::caller).unwrap_or_default();
        let response = support::run(&world.gateway, &request, false).await;
        response["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["extensions"]["code"].clone())
            .collect::<Value>()
    };
    assert_eq!(codes(None).await, json!(["UNAUTHENTICATED"]));
    assert_eq!(codes(Some(json!({ "sub": "123" }))).await, json!(["BAD_USER_INPUT"]));
    assert!(world.calls().is_empty());
}
