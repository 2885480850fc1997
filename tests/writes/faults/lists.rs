//! Writes for each element of a list, and of several found items: what belongs to one element never gets to another,
//! and what is read for all of them is read at once.

use super::backend::{Backend, error, first};
use serde_json::{Value, json};

const SHOP: &str = r#"extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK")
type Query { thing(id: ID!): Thing @find label(id: ID!): Label @find }
type Mutation {
  add(things: [ThingInput!]!): [Thing!]! @put(each: "things")
  addBoth(some: [ThingInput!]!, others: [ThingInput!]!): Boolean!
    @put(item: Thing, each: "some", set: { id: "{id}" })
    @put(item: Thing, each: "others")
    @put(item: Label, each: "some", set: { id: "of-{id}", text: "{Thing.name}" })
  labelBeside(foundId: ID!, others: [ThingInput!]!, labels: [ID!]!): Boolean!
    @find(item: Thing, where: { id: "{foundId}" })
    @put(item: Thing, each: "others")
    @put(item: Label, each: "labels", set: { id: "{each}", text: "{Thing.name}" })
  between(a: ID!, b: ID!, least: Int!, most: Int!, id: ID!): Boolean!
    @find(item: Thing, where: { id: "{a}" }, filter: "count > :least", as: first)
    @find(item: Thing, where: { id: "{b}" }, filter: "count < :most", as: second)
    @put(item: Label, set: { id: "{id}", text: "{first.name}{second.name}" })
  setTo(ids: [ID!]!, Thing: CountInput!): [Thing!]!
    @find(item: Thing, each: "ids", where: { id: "{each}" })
    @update(item: Thing, each: "ids", where: { id: "{each}" }, expression: "SET count = :Thing.count")
  checkAll(checks: [CheckInput!]!, id: ID!): Boolean!
    @check(item: Thing, each: "checks", if: "count >= :least", message: "Too few.")
    @put(item: Label, set: { id: "{id}", text: "checked" })
  labelThose(checks: [CheckInput!]!): [Label!]!
    @find(item: Thing, each: "checks", where: { id: "{id}" }, filter: "count >= :least")
    @put(item: Label, each: "checks", set: { id: "{id}-{index}", text: "{Thing.name}" })
  move(fromId: ID!, toId: ID!, fromVersion: Int!, count: Int!): Boolean!
    @find(item: Thing, where: { id: "{fromId}" }, as: from)
    @find(item: Thing, where: { id: "{toId}" }, as: to)
    @update(item: from, expression: "SET count = count - :count")
    @update(item: to, expression: "SET count = count + :count")
}
type Thing @item(keys: { PK: "THING#{id}", SK: "THING" }) { id: ID! name: String! count: Int! @default(value: "0") version: Int! @version }
type Label @item(keys: { PK: "LABEL#{id}", SK: "LABEL" }) { id: ID! text: String! }
input ThingInput { id: ID! name: String! count: Int }
input CountInput { count: Int! }
input CheckInput { id: ID! least: Int! }
"#;

async fn shop() -> Backend {
    let backend = Backend::of_text(SHOP).await;
    let things = json!([{ "id": "x", "name": "X", "count": 5 }, { "id": "y", "name": "Y", "count": 2 }]);
    backend.ok("mutation ($t: [ThingInput!]!) { add(things: $t) { id } }", json!({ "t": things })).await;
    backend.calm();
    backend
}

async fn label(backend: &Backend, id: &str) -> Value {
    backend.ok("query ($id: ID!) { label(id: $id) { text } }", json!({ "id": id })).await["label"]["text"].clone()
}

#[tokio::test(start_paused = true)]
async fn an_item_of_one_list_is_not_in_scope_of_another() {
    let backend = shop().await;
    let query = r#"mutation { addBoth(some: [{ id: "a", name: "A" }, { id: "b", name: "B" }], others: [{ id: "c", name: "C" }]) }"#;
    backend.ok(query, json!({})).await;
    assert_eq!((label(&backend, "of-a").await, label(&backend, "of-b").await), (json!("A"), json!("B")));
    let query = r#"mutation { labelBeside(foundId: "x", others: [{ id: "d", name: "D" }], labels: ["l0", "l1"]) }"#;
    backend.ok(query, json!({})).await;
    assert_eq!((label(&backend, "l0").await, label(&backend, "l1").await), (json!("X"), json!("X")));
}

#[tokio::test(start_paused = true)]
async fn an_argument_named_like_the_type_of_a_found_item_goes_first() {
    let backend = shop().await;
    let answer = backend.ok(r#"mutation { setTo(ids: ["x", "y"], Thing: { count: 7 }) { count } }"#, json!({})).await;
    assert_eq!(answer["setTo"], json!([{ "count": 7 }, { "count": 7 }]));
}

#[tokio::test(start_paused = true)]
async fn an_item_that_two_finds_find_meets_the_filters_of_both() {
    let backend = shop().await;
    backend.ok(r#"mutation { between(a: "x", b: "x", least: 1, most: 9, id: "in") }"#, json!({})).await;
    assert_eq!(label(&backend, "in").await, "XX");
    let refused = backend.run(r#"mutation { between(a: "x", b: "x", least: 1, most: 5, id: "out") }"#, json!({})).await;
    assert_eq!(error(&refused).0, "NOT_FOUND");
}

#[tokio::test(start_paused = true)]
async fn checks_of_one_item_are_one_action_whose_error_has_the_elements_that_fail() {
    let backend = shop().await;
    let check = |most: usize| {
        let checks = [("x", 1), ("y", 1), ("x", most), ("x", 5)];
        let checks: Vec<Value> = checks.iter().map(|(id, least)| json!({ "id": id, "least": least })).collect();
        json!({ "c": checks })
    };
    let query = "mutation ($c: [CheckInput!]!) { checkAll(checks: $c, id: \"done\") }";
    let refused = backend.run(query, check(6)).await;
    let details = &refused["errors"][0]["extensions"];
    assert_eq!((error(&refused).1, &details["elements"]), ("Too few.", &json!([2])), "{refused}");
    backend.ok(query, check(5)).await;
    assert_eq!(label(&backend, "done").await, "checked");
}

#[tokio::test(start_paused = true)]
async fn a_version_is_that_of_the_item_whose_alias_it_has() {
    let backend = shop().await;
    let move_it =
        |version: u8| format!(r#"mutation {{ move(fromId: "x", toId: "y", fromVersion: {version}, count: 1) }}"#);
    // Another version of the other item makes no difference.
    backend.ok(&move_it(1), json!({})).await;
    backend.ok(r#"mutation { setTo(ids: ["y"], Thing: { count: 2 }) { id } }"#, json!({})).await;
    backend.ok(&move_it(2), json!({})).await;
    assert_eq!(error(&backend.run(&move_it(2), json!({})).await).0, "CONFLICT");
}

const GROUPS: &str = r#"extend schema @table(name: "groups", partitionKey: "PK", sortKey: "SK")
type Query { paper(groupId: ID!, id: ID!): Paper @find }
type Mutation {
  join(groupId: ID!, level: Int!): Boolean! @put(item: Membership, set: { userId: "{auth.sub}" }) @auth(signedIn: true)
  save(papers: [PaperInput!]!, groupId: ID!, noteId: ID!): Boolean!
    @put(item: Paper, each: "papers")
    @put(item: Note, set: { id: "{noteId}" })
  setHidden(papers: [PaperInput!]!): Boolean! @update(item: Hidden, each: "papers")
}
type Membership @item(keys: { PK: "MEMBER#{userId}", SK: "GROUP#{groupId}" }) @auth(signedIn: true) {
  userId: ID! groupId: ID! level: Int!
}
type Paper @item(keys: { PK: "PAPER#{groupId}", SK: "{id}" })
  @auth(exists: Membership, where: { userId: "{auth.sub}", groupId: "{groupId}" }, if: "level >= 5") {
  groupId: ID! id: ID! text: String
}
type Note @item(keys: { PK: "NOTE#{groupId}", SK: "{id}" })
  @auth(exists: Membership, where: { userId: "{auth.sub}", groupId: "{groupId}" }, if: "level >= 1") {
  groupId: ID! id: ID!
}
type Hidden @item(keys: { PK: "HIDDEN#{groupId}", SK: "{id}" })
  @auth(exists: Membership, where: { userId: "{auth.sub}", groupId: "{groupId}" }, if: "level >= 5", hide: true) {
  groupId: ID! id: ID! text: String
}
input PaperInput { groupId: ID! id: ID! text: String }
"#;

/// Papers of these groups.
fn papers(groups: impl Iterator<Item = usize>) -> Value {
    let paper = |group: usize| json!({ "groupId": format!("g{group}"), "id": "p", "text": "T" });
    json!({ "p": groups.map(paper).collect::<Vec<_>>() })
}

#[tokio::test(start_paused = true)]
async fn rules_of_many_elements_and_of_another_item_hold_each_for_itself() {
    let backend = Backend::ruled(GROUPS).await;
    for group in 0..12 {
        let level = if group == 0 { 1 } else { 5 };
        let join = "mutation ($g: ID!, $l: Int!) { join(groupId: $g, level: $l) }";
        backend.ok(join, json!({ "g": format!("g{group}"), "l": level })).await;
    }
    let save = r#"mutation ($p: [PaperInput!]!) { save(papers: $p, groupId: "g0", noteId: "n") }"#;
    // A look-up of group 0 stands at each distance from that of the note, which demands less.
    for count in 1..12 {
        let answer = backend.run(save, papers(0..count)).await;
        assert_eq!(error(&answer).0, "FORBIDDEN", "{count} papers");
    }
    backend.ok(save, papers(1..12)).await;
}

#[tokio::test(start_paused = true)]
async fn what_rules_look_up_for_all_elements_is_read_at_once() {
    let backend = Backend::ruled(GROUPS).await;
    for group in 0..20 {
        backend.ok("mutation ($g: ID!) { join(groupId: $g, level: 5) }", json!({ "g": format!("g{group}") })).await;
    }
    backend.calm();
    let query = "mutation ($p: [PaperInput!]!) { setHidden(papers: $p) }";
    assert_eq!(error(&backend.run(query, papers(0..20)).await).0, "NOT_FOUND");
    let operations = backend.operations();
    assert!(operations.len() <= 4, "{operations:?}");
}

#[tokio::test(start_paused = true)]
async fn a_filter_of_a_list_holds_for_the_item_of_each_element() {
    let backend = shop().await;
    let run = |checks: Value| {
        let query = "mutation ($c: [CheckInput!]!) { labelThose(checks: $c) { id text } }";
        backend.run(query, json!({ "c": checks }))
    };
    let made = run(json!([{ "id": "x", "least": 5 }, { "id": "y", "least": 1 }, { "id": "x", "least": 2 }])).await;
    let expected = json!([{ "id": "x-0", "text": "X" }, { "id": "y-1", "text": "Y" }, { "id": "x-2", "text": "X" }]);
    assert_eq!(made["data"]["labelThose"], expected, "{made}");
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems"]);
    backend.calm();
    // Two elements have one item, and it meets the filter of one of them.
    let refused = run(json!([{ "id": "y", "least": 2 }, { "id": "x", "least": 5 }, { "id": "x", "least": 6 }])).await;
    assert_eq!((error(&refused).0, &refused["errors"][0]["extensions"]["elements"]), ("NOT_FOUND", &json!([2])));
    assert_eq!(backend.writes(), 0);
    // It holds at the moment of the write.
    backend.script(first(|call| {
        call.table.update("shop", ["THING#x", "THING"], "SET #count = :n", json!({ ":n": { "N": "3" } }));
    }));
    let refused = run(json!([{ "id": "y", "least": 2 }, { "id": "x", "least": 4 }])).await;
    assert_eq!(
        (error(&refused).0, &refused["errors"][0]["extensions"]["elements"]),
        ("NOT_FOUND", &json!([1])),
        "{refused}"
    );
    assert_eq!(label(&backend, "y-0").await, Value::Null);
}
