//! How old the reads of an operation may be, and its response: the rules of Apollo Server for `@cacheControl`. And
//! rules are decided after the cache: nobody sees by it what a rule hides.

use crate::support;
use keyfold::execute::gateway::{Gateway, plan};
use keyfold::execute::request::Request;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

const SCHEMA: &str = r##"
extend schema
  @table(
    name: "shop"
    partitionKey: "PK"
    sortKey: "SK"
    indexes: [{ name: "ByMaker", partitionKey: "maker", sortKey: "SK", projection: KEYS_ONLY }]
  )

interface Thing @cacheControl(maxAge: 40) { id: ID!  title: String @cacheControl(maxAge: 30) }

type Product implements Thing @cacheControl(maxAge: 60) @item(keys: { PK: "P#{id}", SK: "Product", maker: "{makerId}" }) {
  id: ID!
  title: String
  stock: Int @cacheControl(maxAge: 5)
  label: String @computed(value: "{id} {title}")
  left: String @computed(value: "{id}: {stock}") @cacheControl(maxAge: 7)
  short: String @computed(value: "{id}") @cacheControl(maxAge: 7)
  long: String @computed(value: "{id}") @cacheControl(maxAge: 600)
  price: Price
  makerId: ID
  plain: Plain @find(where: { id: "{id}" })
  inherits: Plain @find(where: { id: "{id}" }) @cacheControl(inheritMaxAge: true)
  hinted: Plain @find(where: { id: "{id}" }) @cacheControl(maxAge: 7)
  never: Product @find(where: { id: "{makerId}" }) @cacheControl(maxAge: 0)
  hasPlain: Boolean! @find(item: Plain, where: { id: "{id}" })
}
type Price {
  amount: Int
  currency: String @cacheControl(maxAge: 20, scope: PRIVATE)
  text: String @computed(value: "{amount} {currency}")
}
type Plain implements Thing @item(keys: { PK: "P#{id}", SK: "Plain" }) { id: ID!  title: String  owner: ID }
type ProductConnection { nodes: [Product!]!  pageInfo: PageInfo! }

type Query {
  product(id: ID!): Product @find
  products(makerId: ID!, first: Int = 3): ProductConnection! @find
  list(makerId: ID!): [Product!]! @find @cacheControl(maxAge: 90)
  plain(id: ID!): Plain @find
  own: Plain @find(where: { id: "{auth.sub}" }) @cacheControl(maxAge: 9)
  thing(id: ID!): [Thing!]! @find
  strong(id: ID!): Product @find(consistent: true)
  there(id: ID!): Boolean! @find(item: Product)
  thereSoon(id: ID!): Boolean! @find(item: Product) @cacheControl(maxAge: 3)
}
type Mutation { stock(id: ID!, stock: Int!): Product @update }
"##;

fn load(text: &str) -> Arc<Model> {
    match schema::load("shop.graphql", text, &|_| None) {
        Ok((model, _)) => Arc::new(model),
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    }
}

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| load(SCHEMA));

/// The ages of the reads, and what the response says.
fn ages(query: &str) -> (Vec<Option<u32>>, u32, bool) {
    let request = support::request(query, Value::Null);
    let (planned, _) =
        plan(&MODEL, &request, &support::settings()).unwrap_or_else(|errors| panic!("{query}: {errors:?}"));
    let reads = planned.steps.iter().flat_map(|step| &step.plan.reads).map(|read| read.max_age).collect();
    (reads, planned.policy.max_age, planned.policy.private)
}

#[test]
fn a_read_has_the_least_age_of_its_fields() {
    for (query, expected) in [
        ("{ product(id: 1) { id } }", (vec![Some(60)], 60, false)),
        ("{ product(id: 1) { id stock } }", (vec![Some(5)], 5, false)),
        // What is computed is as old as its fields.
        ("{ product(id: 1) { label } }", (vec![Some(30)], 30, false)),
        ("{ product(id: 1) { left } }", (vec![Some(5)], 5, false)),
        ("{ product(id: 1) { short } }", (vec![Some(7)], 7, false)),
        ("{ product(id: 1) { long } }", (vec![Some(60)], 60, false)),
        ("{ product(id: 1) { price { text } } }", (vec![Some(20)], 20, true)),
        ("{ list(makerId: 1) { label } }", (vec![Some(30), Some(30)], 30, false)),
        // An embedded object is a part of its item.
        ("{ product(id: 1) { price { amount } } }", (vec![Some(60)], 60, false)),
        ("{ product(id: 1) { price { currency } } }", (vec![Some(20)], 20, true)),
        ("{ product(id: 1) { plain { title } } }", (vec![Some(60), None], 0, false)),
        ("{ product(id: 1) { inherits { owner } } }", (vec![Some(60), Some(60)], 60, false)),
        ("{ product(id: 1) { hinted { owner } } }", (vec![Some(60), Some(7)], 7, false)),
        ("{ product(id: 1) { hinted { owner } plain { owner } } }", (vec![Some(60), Some(7), None], 0, false)),
        ("{ product(id: 1) { never { id } } }", (vec![Some(60), None], 0, false)),
        ("{ product(id: 1) { hasPlain } }", (vec![Some(60), Some(60)], 60, false)),
        ("{ plain(id: 1) { owner } }", (vec![None], 0, false)),
        ("{ there(id: 1) }", (vec![None], 0, false)),
        ("{ thereSoon(id: 1) }", (vec![Some(3)], 3, false)),
        ("{ strong(id: 1) { id } }", (vec![None], 0, false)),
        // The index lacks the title, so a Get follows; both have the age.
        ("{ list(makerId: 1) { id title } }", (vec![Some(30), Some(30)], 30, false)),
        ("{ list(makerId: 1) { id } }", (vec![Some(90)], 90, false)),
        ("{ products(makerId: 1) { nodes { id } pageInfo { hasNextPage } } }", (vec![Some(60)], 60, false)),
        // The hints of an interface and of a type that implements it both hold.
        ("{ thing(id: 1) { id } }", (vec![Some(40)], 40, false)),
        ("{ thing(id: 1) { title } }", (vec![Some(30)], 30, false)),
        ("{ own { title } }", (vec![Some(9)], 9, true)),
        ("mutation { stock(id: 1, stock: 2) { id hinted { owner } } }", (vec![None], 0, false)),
    ] {
        assert_eq!(ages(query), expected, "{query}");
    }
}

const NOTES: &str = r##"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK")
type Note @cacheControl(maxAge: 60) @auth(if: "auth.sub = ownerId", hide: true) @item(keys: { PK: "BOARD#{board}", SK: "NOTE#{id}" }) {
  board: ID!
  id: ID!
  ownerId: ID!
}
type Memo @cacheControl(maxAge: 60) @auth(if: "auth.sub = ownerId") @item(keys: { PK: "MEMO#{id}", SK: "Memo" }) {
  id: ID!
  ownerId: ID!
}
type Open @cacheControl(maxAge: 60) @auth(public: true) @item(keys: { PK: "OPEN#{id}", SK: "Open" }) { id: ID!  text: String }
type Query {
  note(board: ID!, id: ID!): Note @find
  notes(board: ID!): [Note!]! @find
  count(board: ID!): Int! @find(item: Note) @cacheControl(maxAge: 60)
  memo(id: ID!): Memo @find
  open(id: ID!): Open @find @auth(public: true)
}
type Mutation {
  note(board: ID!, id: ID!, ownerId: ID!): Note @put
  memo(id: ID!, ownerId: ID!): Memo @put
  open(id: ID!, text: String): Open @put @auth(public: true)
}
"##;

#[tokio::test]
async fn nobody_sees_by_the_cache_what_a_rule_hides() {
    let model = load(NOTES);
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let gateway = Gateway::new(model, store, support::settings());
    let ask = async |sub: &str, query: &str| {
        let request =
            Request { caller: support::caller(json!({ "sub": sub })), ..support::request(query, Value::Null) };
        support::run(&gateway, &request, false).await
    };
    for write in [
        r#"mutation { a: note(board: "b", id: "1", ownerId: "ann") { id } m: memo(id: "1", ownerId: "ann") { id } }"#,
        r#"mutation { open(id: "1", text: "hi") { id } }"#,
    ] {
        assert_eq!(ask("ann", write).await.get("errors"), None);
    }
    let read = r#"{ note(board: "b", id: "1") { id } notes(board: "b") { id } count(board: "b") memo(id: "1") { id } open(id: "1") { text } }"#;
    let of_ann = json!({ "note": { "id": "1" }, "notes": [{ "id": "1" }], "count": 1, "memo": { "id": "1" }, "open": { "text": "hi" } });
    assert_eq!(ask("ann", read).await["data"], of_ann);
    recorder.take();
    for _ in 0..2 {
        let of_bob = ask("bob", read).await;
        let expected = json!({ "note": null, "notes": [], "count": 0, "memo": null, "open": { "text": "hi" } });
        assert_eq!(of_bob["data"], expected);
        let errors: Vec<&Value> =
            of_bob["errors"].as_array().unwrap().iter().map(|error| &error["extensions"]["code"]).collect();
        assert_eq!(errors, ["FORBIDDEN"], "{of_bob}");
        assert_eq!(ask("ann", read).await["data"], of_ann);
    }
    assert_eq!(recorder.take(), [], "all of it came from the cache");
}

const CLUBS: &str = r##"
extend schema @table(name: "clubs", partitionKey: "PK", sortKey: "SK")
type Member @cacheControl(maxAge: 3600) @auth(signedIn: true) @item(keys: { PK: "CLUB#{clubId}", SK: "MEMBER#{userId}" }) {
  clubId: ID!
  userId: ID!
}
type Club
  @cacheControl(maxAge: 3600)
  @auth(exists: Member, where: { clubId: "{id}", userId: "{auth.sub}" })
  @item(keys: { PK: "CLUB#{id}", SK: "Club" }) {
  id: ID!
}
type Den
  @cacheControl(maxAge: 3600)
  @auth(exists: Member, where: { clubId: "{clubId}", userId: "{auth.sub}" }, hide: true)
  @item(keys: { PK: "CLUB#{clubId}", SK: "Den" }) {
  clubId: ID!
}
type Query {
  member(clubId: ID!, userId: ID!): Member @find
  club(id: ID!): Club @find
  den(clubId: ID!): Den @find
}
type Mutation {
  join(clubId: ID!, userId: ID!): Member @put
  leave(clubId: ID!, userId: ID!): Member @delete
  club(id: ID!): Club @put
  den(clubId: ID!): Den @put
}
"##;

#[tokio::test]
async fn what_lets_a_caller_in_never_comes_from_the_cache() {
    let model = load(CLUBS);
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    // Two copies, of which neither learns of the other's writes.
    let [reader, writer] = [(); 2].map(|()| Gateway::new(model.clone(), store.clone(), support::settings()));
    let ask = async |gateway: &Gateway, query: &str| {
        let request =
            Request { caller: support::caller(json!({ "sub": "ann" })), ..support::request(query, Value::Null) };
        support::run(gateway, &request, false).await["data"].clone()
    };
    let found =
        r#"mutation { join(clubId: "c", userId: "ann") { userId } club(id: "c") { id } den(clubId: "c") { clubId } }"#;
    assert_eq!(ask(&writer, found).await["den"], json!({ "clubId": "c" }));
    let member = r#"{ member(clubId: "c", userId: "ann") { userId } }"#;
    // One by one, because reads of one key share a call.
    let guarded = [
        (r#"{ club(id: "c") { id } }"#, json!({ "club": { "id": "c" } }), json!({ "club": null })),
        (r#"{ den(clubId: "c") { clubId } }"#, json!({ "den": { "clubId": "c" } }), json!({ "den": null })),
    ];
    assert_eq!(ask(&reader, member).await, json!({ "member": { "userId": "ann" } }));
    for (query, of_member, _) in &guarded {
        assert_eq!(ask(&reader, query).await, *of_member);
    }
    ask(&writer, r#"mutation { leave(clubId: "c", userId: "ann") { userId } }"#).await;
    for (query, _, of_stranger) in &guarded {
        assert_eq!(ask(&reader, query).await, *of_stranger);
    }
    assert_eq!(ask(&reader, member).await, json!({ "member": { "userId": "ann" } }), "it is kept");
}

#[test]
fn a_response_is_public_only_if_every_rule_is() {
    let model = load(NOTES);
    let policy = |query: &str| {
        let (planned, _) = plan(&model, &support::request(query, Value::Null), &support::settings()).unwrap();
        (planned.policy.max_age, planned.policy.private)
    };
    assert_eq!(policy("{ open(id: 1) { text } }"), (60, false));
    for query in
        ["{ note(board: 1, id: 2) { id } }", "{ memo(id: 1) { id } }", "{ open(id: 1) { text } memo(id: 1) { id } }"]
    {
        assert_eq!(policy(query), (60, true), "{query}");
    }
}
