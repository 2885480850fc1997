//! Nothing is read below an object that is not there: neither where its own read was made beside those of what is below
//! it, nor where its key has no value.

use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r##"
extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")
type Person @item(keys: { PK: "PERSON", SK: "P#{id}" }) {
  id: ID!
  teamId: ID
  partner: Partner @find(where: { id: "{id}" })
  team: Team @find(where: { id: "{teamId}" })
  links: [Link!]! @find(where: { personId: "{id}" })
  teams(first: Int): TeamConnection! @find(through: "links.team")
}
type Partner @item(keys: { PK: "PARTNER#{id}", SK: "PARTNER" }) {
  id: ID!
  owner: ID
  things: [Thing!]! @find(where: { owner: "{owner}" })
}
type Team @item(keys: { PK: "TEAM#{id}", SK: "TEAM" }) {
  id: ID!
  notes: [Note!]! @find
}
type Link @item(keys: { PK: "LINKS#{personId}", SK: "L#{to}" }) {
  personId: ID!
  to: ID!
  team: Team @find(where: { id: "{to}" })
}
type TeamConnection { nodes: [Team!]! pageInfo: PageInfo! }
type Thing @item(keys: { PK: "THING#{owner}", SK: "T#{id}" }) { owner: ID! id: ID! }
type Note @item(keys: { PK: "NOTES", SK: "N#{id}" }) { id: ID! }
type Query {
  person(id: ID!): Person @find
  people: [Person!]! @find
}
"##;

/// The data of an operation on some people, and its calls, each with its kind and number of keys.
async fn read(people: &[(&str, Option<&str>)], operation: &str) -> (Value, Vec<(String, u64)>) {
    let (model, _) =
        load("schema.graphql", SCHEMA, &|_| None).unwrap_or_else(|found| panic!("{}", found.render(false)));
    let (store, model) = (TableStore::in_memory().unwrap(), Arc::new(model));
    store.create_missing(&model.tables).await.unwrap();
    let text = |text: &str| json!({ "S": text });
    let mut items = vec![
        json!({ "PK": text("PARTNER#x"), "SK": text("PARTNER"), "owner": text("y") }),
        json!({ "PK": text("THING#y"), "SK": text("T#1") }),
        json!({ "PK": text("NOTES"), "SK": text("N#1") }),
        json!({ "PK": text("TEAM#t"), "SK": text("TEAM") }),
    ];
    for link in 0..60 {
        items.push(json!({ "PK": text("LINKS#x"), "SK": text(&format!("L#t{link:02}")) }));
        items.push(json!({ "PK": text(&format!("TEAM#t{link:02}")), "SK": text("TEAM") }));
    }
    for (id, team) in people {
        let mut person = json!({ "PK": text("PERSON"), "SK": text(&format!("P#{id}")) });
        team.iter().for_each(|team| person["teamId"] = text(team));
        items.push(person);
    }
    let items = items.iter().map(|item| parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
    store.load(&model.tables[0], items.collect(), support::deadline()).await.unwrap();
    let gateway = Gateway::new(model, &store, support::settings());
    let response = support::run(&gateway, &support::request(operation, Value::Null), true).await;
    assert_eq!(response["errors"], Value::Null, "{response}");
    let calls = response["extensions"]["keyfold"]["calls"].as_array().unwrap().iter();
    let call = |call: &Value| (call["operation"].as_str().unwrap().to_owned(), call["keys"].as_u64().unwrap());
    (response["data"].clone(), calls.map(call).collect())
}

#[tokio::test]
async fn an_object_that_is_missing_has_nothing_two_relations_below() {
    let operation = "{ person(id: \"x\") { partner { things { id } } } }";
    let (data, calls) = read(&[("x", None)], operation).await;
    assert_eq!(data, json!({ "person": { "partner": { "things": [{ "id": "1" }] } } }));
    assert_eq!(calls.len(), 2, "{calls:?}");
    let (data, calls) = read(&[], operation).await;
    assert_eq!(data, json!({ "person": null }));
    // The partner's key is known of the arguments, so it is read beside the person. Its things would come after both.
    assert_eq!(calls, [("BatchGetItem".to_owned(), 2)]);
}

#[tokio::test]
async fn an_object_whose_key_has_no_value_has_nothing_below() {
    let operation = "{ people { team { notes { id } } } }";
    let (data, calls) = read(&[("a", None), ("b", Some("t"))], operation).await;
    assert_eq!(data, json!({ "people": [{ "team": null }, { "team": { "notes": [{ "id": "1" }] } }] }));
    assert_eq!(calls.len(), 3, "{calls:?}");
    let (data, calls) = read(&[("a", None)], operation).await;
    assert_eq!(data, json!({ "people": [{ "team": null }] }));
    assert_eq!(calls.len(), 1, "{calls:?}");
}

#[tokio::test]
async fn a_page_of_a_missing_object_is_not_filled_up() {
    let operation = "{ person(id: \"x\") { teams(first: 10) { nodes { id } } } }";
    let (data, calls) = read(&[("x", None)], operation).await;
    assert_eq!(data["person"]["teams"]["nodes"].as_array().unwrap().len(), 10);
    let (data, of_nobody) = read(&[], operation).await;
    assert_eq!(data, json!({ "person": null }));
    assert!(of_nobody.len() <= calls.len(), "{of_nobody:?} in place of {calls:?}");
}
