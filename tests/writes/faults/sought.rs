//! Items that no whole key names: found by an index, by a part of their key, or by what another find has found, one or
//! one for each element of a list.

use super::backend::{Backend, first};
use serde_json::{Value, json};

const DEPOT: &str = r#"extend schema @table(name: "depot", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "byCode", partitionKey: "code" } { name: "byMail", partitionKey: "mail" }])
type Query { product(id: ID!): Product @find ticket(id: ID!): Ticket @find slip(id: ID!): Slip @find }
type Mutation {
  add(products: [ProductInput!]!): Boolean! @put(item: Product, each: "products")
  hire(id: ID!, name: String!, mail: String!, teamId: ID!): Boolean! @put(item: Person)
  found(id: ID!, name: String!, leadId: ID): Boolean! @put(item: Team)
  ticket(id: ID!, day: Date!, text: String!): Boolean! @put(item: Ticket)
  take(lines: [LineInput!]!): [Product!]!
    @update(item: Product, each: "lines", where: { code: "{code}" }, expression: "SET stock = stock - :count", if: "stock >= :count")
  slips(slip: SlipInput!): [Slip!]!
    @find(item: Product, each: "slip.lines", where: { code: "{code}" }, filter: "stock >= :count")
    @put(item: Slip, each: "slip.lines", set: { id: "{slip.id}-{index}", text: "{Product.name} for {slip.for}" })
  dropCodes(codes: [String!]!): [Product!]! @delete(item: Product, each: "codes", where: { code: "{each}" })
  checkCodes(codes: [String!]!, id: ID!): Boolean!
    @check(item: Product, each: "codes", where: { code: "{each}" }, if: "stock > 0", message: "Sold out.")
    @put(item: Slip, set: { id: "{id}", text: "checked" })
  close(tickets: [ID!]!): [Ticket!]! @update(item: Ticket, each: "tickets", where: { id: "{each}" }, set: { state: "CLOSED" })
  thank(mail: String!, id: ID!): Slip!
    @find(item: Person, where: { mail: "{mail}" })
    @find(item: Team, where: { id: "{Person.teamId}" })
    @put(set: { id: "{id}", text: "{Person.name} of {Team.name}" })
  thankAll(mails: [String!]!): [Slip!]!
    @find(item: Person, each: "mails", where: { mail: "{each}" })
    @find(item: Team, each: "mails", where: { id: "{Person.teamId}" })
    @put(each: "mails", set: { id: "{each}", text: "{Person.name} of {Team.name}" })
  pair(one: String!, other: String!): Boolean!
    @update(item: Product, where: { code: "{one}" }, set: { name: "First" })
    @update(item: Person, where: { mail: "{other}" }, set: { name: "Second" })
}
type Product @item(keys: { PK: "PRODUCT#{id}", SK: "PRODUCT" }) { id: ID! code: String! name: String! stock: Int! }
type Ticket @item(keys: { PK: "TICKET#{id}", SK: "{day}" }) { id: ID! day: Date! text: String! state: String }
type Slip @item(keys: { PK: "SLIP#{id}", SK: "SLIP" }) { id: ID! text: String! }
type Team @item(keys: { PK: "TEAM#{id}", SK: "TEAM" }) { id: ID! name: String! leadId: ID }
type Person @item(keys: { PK: "PERSON#{id}", SK: "PERSON" }) { id: ID! name: String! mail: String! teamId: ID! }
input ProductInput { id: ID! code: String! name: String! stock: Int! }
input LineInput { code: String! count: Int! }
input SlipInput { id: ID! for: String! lines: [LineInput!]! }
"#;

async fn depot() -> Backend {
    let backend = Backend::of_text(DEPOT).await;
    let products = json!([
        { "id": "1", "code": "A", "name": "Apple", "stock": 5 },
        { "id": "2", "code": "B", "name": "Bean", "stock": 2 },
        { "id": "3", "code": "C", "name": "Corn", "stock": 0 },
    ]);
    backend.ok("mutation ($p: [ProductInput!]!) { add(products: $p) }", json!({ "p": products })).await;
    for (mutation, count) in [
        (r#"found(id: "t", name: "Tools")"#, 1),
        (r#"found(id: "u", name: "Units")"#, 1),
        (r#"hire(id: "a", name: "Ann", mail: "ann@x", teamId: "t")"#, 1),
        (r#"hire(id: "b", name: "Bob", mail: "bob@x", teamId: "u")"#, 1),
        (r#"hire(id: "c", name: "Cem", mail: "cem@x", teamId: "none")"#, 1),
        (r#"ticket(id: "k", day: "2026-01-01", text: "K")"#, 1),
        (r#"ticket(id: "l", day: "2026-01-01", text: "L")"#, 1),
        (r#"ticket(id: "l", day: "2026-01-02", text: "L again")"#, 1),
    ] {
        assert_eq!(
            backend.ok(&format!("mutation {{ {mutation} }}"), json!({})).await.as_object().unwrap().len(),
            count
        );
    }
    backend.calm();
    backend
}

fn code(refused: &Value) -> &str {
    refused["errors"][0]["extensions"]["code"].as_str().unwrap_or_default()
}

async fn stocks(backend: &Backend) -> Vec<Value> {
    let query = r#"{ a: product(id: "1") { stock } b: product(id: "2") { stock } c: product(id: "3") { stock } }"#;
    let found = backend.ok(query, json!({})).await;
    ["a", "b", "c"].iter().map(|name| found[name]["stock"].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn items_of_a_list_are_found_by_an_index_side_by_side() {
    let backend = depot().await;
    let take = "mutation ($l: [LineInput!]!) { take(lines: $l) { id stock } }";
    let lines = json!([{ "code": "B", "count": 2 }, { "code": "A", "count": 1 }]);
    let taken = backend.ok(take, json!({ "l": lines })).await;
    assert_eq!(taken["take"], json!([{ "id": "2", "stock": 0 }, { "id": "1", "stock": 4 }]));
    assert_eq!(backend.operations(), ["Query", "Query", "TransactWriteItems", "BatchGetItem"]);
    // What one element lacks comes back with its place, and nothing is written.
    for (lines, expected, elements) in [
        (
            json!([{ "code": "A", "count": 1 }, { "code": "X", "count": 1 }, { "code": "Y", "count": 1 }]),
            "NOT_FOUND",
            json!([1, 2]),
        ),
        (json!([{ "code": "A", "count": 1 }, { "code": "B", "count": 9 }]), "CONFLICT", json!([1])),
        (json!([{ "code": "A", "count": 1 }, { "code": "A", "count": 1 }]), "BAD_USER_INPUT", json!([0, 1])),
    ] {
        let refused = backend.run(take, json!({ "l": lines })).await;
        assert_eq!(
            (code(&refused), refused["errors"][0]["extensions"]["elements"].clone()),
            (expected, elements),
            "{refused}"
        );
        assert_eq!(stocks(&backend).await, [json!(4), json!(0), json!(0)]);
    }
    backend.calm();
    assert_eq!(backend.ok(take, json!({ "l": [] })).await["take"], json!([]));
    assert_eq!(backend.operations(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_find_for_each_element_of_a_nested_list_reads_an_index() {
    let backend = depot().await;
    let slips = "mutation ($s: SlipInput!) { slips(slip: $s) { id text } }";
    let slip = |lines: Value| json!({ "s": { "id": "s", "for": "Zoe", "lines": lines } });
    let made = backend.ok(slips, slip(json!([{ "code": "A", "count": 5 }, { "code": "B", "count": 1 }]))).await;
    let expected = json!([{ "id": "s-0", "text": "Apple for Zoe" }, { "id": "s-1", "text": "Bean for Zoe" }]);
    assert_eq!(made["slips"], expected);
    assert_eq!(backend.operations(), ["Query", "Query", "TransactWriteItems"]);
    let refused = backend.run(slips, slip(json!([{ "code": "C", "count": 1 }, { "code": "B", "count": 3 }]))).await;
    assert_eq!((code(&refused), refused["errors"][0]["extensions"]["elements"].clone()), ("NOT_FOUND", json!([0, 1])));
}

#[tokio::test(start_paused = true)]
async fn deletes_and_checks_of_a_list_find_their_items_by_an_index() {
    let backend = depot().await;
    let check = "mutation ($c: [String!]!) { checkCodes(codes: $c, id: \"z\") }";
    let refused = backend.run(check, json!({ "c": ["A", "C"] })).await;
    assert_eq!(
        (code(&refused), refused["errors"][0]["extensions"]["elements"].clone()),
        ("CONFLICT", json!([1])),
        "{refused}"
    );
    assert_eq!(backend.ok(check, json!({ "c": ["A", "B", "A"] })).await["checkCodes"], json!(true));
    let gone =
        backend.ok("mutation ($c: [String!]!) { dropCodes(codes: $c) { id } }", json!({ "c": ["C", "A"] })).await;
    assert_eq!(gone["dropCodes"], json!([{ "id": "3" }, { "id": "1" }]));
    assert_eq!(stocks(&backend).await, [Value::Null, json!(2), Value::Null]);
}

#[tokio::test(start_paused = true)]
async fn an_element_that_finds_several_items_is_refused() {
    let backend = depot().await;
    let close = "mutation ($t: [ID!]!) { close(tickets: $t) { id state } }";
    let refused = backend.run(close, json!({ "t": ["k", "l"] })).await;
    assert_eq!(code(&refused), "BAD_USER_INPUT", "{refused}");
    assert_eq!(backend.ok("{ ticket(id: \"k\") { state } }", json!({})).await["ticket"]["state"], Value::Null);
    let closed = backend.ok(close, json!({ "t": ["k"] })).await;
    assert_eq!(closed["close"], json!([{ "id": "k", "state": "CLOSED" }]));
}

#[tokio::test(start_paused = true)]
async fn a_find_may_be_bound_by_what_another_find_has_found() {
    let backend = depot().await;
    let thank = "mutation ($m: String!) { thank(mail: $m, id: \"1\") { text } }";
    assert_eq!(backend.ok(thank, json!({ "m": "ann@x" })).await["thank"]["text"], "Ann of Tools");
    assert_eq!(backend.operations(), ["Query", "GetItem", "TransactWriteItems"]);
    let refused = backend.run(thank, json!({ "m": "cem@x" })).await;
    assert_eq!(
        (code(&refused), refused["errors"][0]["message"].clone()),
        ("NOT_FOUND", json!("This Team does not exist."))
    );
    let all = "mutation ($m: [String!]!) { thankAll(mails: $m) { text } }";
    backend.calm();
    let made = backend.ok(all, json!({ "m": ["bob@x", "ann@x"] })).await;
    assert_eq!(made["thankAll"], json!([{ "text": "Bob of Units" }, { "text": "Ann of Tools" }]));
    assert_eq!(backend.operations(), ["Query", "Query", "BatchGetItem", "TransactWriteItems"]);
    let refused = backend.run(all, json!({ "m": ["bob@x", "cem@x", "no@x"] })).await;
    assert_eq!(
        (code(&refused), refused["errors"][0]["extensions"]["elements"].clone()),
        ("NOT_FOUND", json!([2])),
        "{refused}"
    );
}

#[tokio::test(start_paused = true)]
async fn what_found_another_item_is_unchanged_when_the_write_is_made() {
    let backend = depot().await;
    // Ann changes her team between the reads and the transaction, so the write is drafted again.
    backend.script(first(|call| {
        let moved = json!({ "PK": { "S": "PERSON#a" }, "SK": { "S": "PERSON" }, "id": { "S": "a" },
            "name": { "S": "Ann" }, "mail": { "S": "ann@x" }, "teamId": { "S": "u" } });
        call.table.put("depot", moved);
    }));
    let thank = "mutation { thank(mail: \"ann@x\", id: \"1\") { text } }";
    assert_eq!(backend.ok(thank, json!({})).await["thank"]["text"], "Ann of Units");
}

#[tokio::test(start_paused = true)]
async fn lookups_of_two_directives_are_made_side_by_side() {
    let backend = depot().await;
    let pair = "mutation ($m: String!) { pair(one: \"A\", other: $m) }";
    backend.ok(pair, json!({ "m": "ann@x" })).await;
    assert_eq!(backend.operations(), ["Query", "Query", "TransactWriteItems"]);
    let refused = backend.run(pair, json!({ "m": "no@x" })).await;
    assert_eq!(
        (code(&refused), refused["errors"][0]["message"].clone()),
        ("NOT_FOUND", json!("This Person does not exist."))
    );
    assert_eq!(backend.ok("{ product(id: \"1\") { name } }", json!({})).await["product"]["name"], "First");
}

#[tokio::test(start_paused = true)]
async fn an_item_that_leaves_its_index_key_meanwhile_is_not_written() {
    let backend = depot().await;
    // Another program gives the product another code between the look-up and the write.
    backend.script(first(|call| {
        call.table.update("depot", ["PRODUCT#1", "PRODUCT"], "SET #code = :code", json!({ ":code": { "S": "Z" } }));
    }));
    let take = "mutation ($l: [LineInput!]!) { take(lines: $l) { id stock } }";
    let refused = backend.run(take, json!({ "l": [{ "code": "A", "count": 1 }] })).await;
    assert_eq!(code(&refused), "NOT_FOUND", "{refused}");
    assert_eq!(stocks(&backend).await, [json!(5), json!(2), json!(0)]);
}

const DENS: &str = r#"extend schema @table(name: "dens", partitionKey: "PK", sortKey: "SK", indexes: [
  { name: "byDen", partitionKey: "DenKey", sortKey: "AgeKey", projection: KEYS_ONLY }])
type Fox @item(keys: { PK: "FOX#{id}", SK: "FOX", DenKey: "DEN#{den}", AgeKey: "{age:03}" }, attributes: { kind: "fox" }) {
  id: ID! den: ID! @attribute(name: "den") age: Int! @attribute(name: "age") name: String
}
type Gnu @item(keys: { PK: "FOX#{id}", SK: "FOX" }, attributes: { kind: "gnu" }) { id: ID! }
type Query { fox(id: ID!): Fox @find gnu(id: ID!): Gnu @find }
type Mutation {
  add(id: ID!, den: ID!, age: Int!): Fox @put
  nameAll(den: ID!, name: String): [Fox!]! @update(item: Fox, many: true)
  nameOne(den: ID!, age: Int!, name: String): Fox @update(item: Fox)
  look(den: ID!, age: Int!, id: ID!): Gnu @find(item: Fox, where: { den: "{den}", age: "{age}" }) @put(item: Gnu)
  drop(den: ID!): [Fox!]! @delete(item: Fox, many: true)
}
"#;

/// An index that holds keys only: the rest of the item, with the index key that the write holds, is read from the
/// table.
#[tokio::test(start_paused = true)]
async fn an_index_of_keys_only_finds_what_is_written() {
    let backend = Backend::of_text(DENS).await;
    for (id, age) in [("a", 3), ("b", 12)] {
        backend.ok(&format!(r#"mutation {{ add(id: "{id}", den: "d", age: {age}) {{ id }} }}"#), json!({})).await;
    }
    backend.script(|_| None);
    let all = backend.ok(r#"mutation { nameAll(den: "d", name: "n") { id name } }"#, json!({})).await;
    assert_eq!(all["nameAll"], json!([{ "id": "a", "name": "n" }, { "id": "b", "name": "n" }]));
    let one = backend.ok(r#"mutation { nameOne(den: "d", age: 12, name: "o") { id name } }"#, json!({})).await;
    assert_eq!(one["nameOne"], json!({ "id": "b", "name": "o" }));
    assert_eq!(backend.writes(), 2, "no write lost a race: {:?}", backend.operations());
    backend.ok(r#"mutation { look(den: "d", age: 3, id: "g") { id } }"#, json!({})).await;
    let gone = backend.ok(r#"mutation { drop(den: "d") { id } }"#, json!({})).await;
    assert_eq!(gone["drop"], json!([{ "id": "a" }, { "id": "b" }]));
}
