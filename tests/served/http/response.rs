//! Errors for stored values that are null or do not fit: their place, and the same rules for lists of scalars and of
//! objects.

use super::coercion::ask;
use super::gateway::gateway;
use crate::machine::{Machine, Running, parts, start};
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SCHEMA: &str = r#"
extend schema @table(name: "things", partitionKey: "PK")
type Thing @item(keys: { PK: "{id}" }) {
  id: ID!
  name: String
  windows: [Window!]!
  maybe: [Window!]
  lines: [[Window!]!]!
  tags: [String!]!
  roles: [String!]! @attribute(stored: SET)
  notes: [String!]
}
type Window { from: String! kind: String inner: [Window!]! }
type Query { thing(id: ID!): Thing @find things(ids: [ID!]!): [Thing]! @find(where: { id: "{ids}" }) }
"#;

async fn serve(items: &[&str]) -> Running {
    let store = TableStore::in_memory().unwrap();
    let gateway = gateway(SCHEMA, &store).await;
    let items = items.iter().filter_map(|line| parse_line(line).unwrap()).collect();
    store.load(&gateway.model().tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
    start(Parts { backend: Arc::new(CurrentGateway::new(gateway)), ..parts(Machine::default()) }).await
}

async fn data(server: &Running, query: &str) -> Value {
    serde_json::from_str(&ask(server, query, "{}").await.1).unwrap()
}

#[tokio::test]
async fn an_error_stands_at_its_own_field() {
    let window = r#"{"M": {"from": {"S": "a"}, "inner": {"L": [{"M": {"from": {"S": "b"}}}, {"N": "1"}]}}}"#;
    let item = format!(
        r#"{{"Item": {{"PK": {{"S": "1"}}, "windows": {{"L": [{window}, {{"NULL": true}}]}}, "maybe": {{"L": [{window}, {{"S": "x"}}]}}}}}}"#
    );
    let server = serve(&[&item]).await;
    let places = async |query: &str| -> Vec<(Value, Value)> {
        let body = data(&server, query).await;
        body["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| (error["path"].clone(), error["locations"][0]["column"].clone()))
            .collect()
    };
    for field in ["windows", "maybe"] {
        for query in [
            format!("{{ thing(id: 1) {{ w: {field} {{ from kind }} name }} }}"),
            format!(
                "{{ thing(id: 1) {{ ...F }} }} fragment F on Thing {{ name ... {{ w: {field} {{ k: kind ...G }} }} }} fragment G on Window {{ from }}"
            ),
        ] {
            let column = json!(query.find("w: ").unwrap() + 1);
            assert_eq!(places(&query).await, [(json!(["thing", "w", 1]), column)], "{query}");
        }
    }
    let inner = "{ thing(id: 1) { maybe { i: inner { from } kind } } }";
    let column = json!(inner.find("i: ").unwrap() + 1);
    assert_eq!(places(inner).await[0], (json!(["thing", "maybe", 0, "i", 1]), column));
}

#[tokio::test]
async fn a_list_that_is_null_is_as_one_that_is_missing() {
    let null = r#"{"NULL": true}"#;
    let names = ["name", "windows", "maybe", "lines", "tags", "roles", "notes"];
    let nulls = names.map(|name| format!(r#""{name}": {null}"#)).join(", ");
    let inside =
        r#"{"Item": {"PK": {"S": "3"}, "windows": {"L": [{"M": {"from": {"S": "a"}, "inner": {"NULL": true}}}]}}}"#;
    let server =
        serve(&[&format!(r#"{{"Item": {{"PK": {{"S": "1"}}, {nulls}}}}}"#), r#"{"Item": {"PK": {"S": "2"}}}"#, inside])
            .await;
    let empty =
        json!({"name": null, "windows": [], "maybe": null, "lines": [], "tags": [], "roles": [], "notes": null});
    for id in [1, 2] {
        let query = format!(
            "{{ thing(id: {id}) {{ name windows {{ from }} maybe {{ from }} lines {{ from }} tags roles notes }} }}"
        );
        assert_eq!(data(&server, &query).await, json!({ "data": { "thing": empty } }), "{query}");
    }
    let inner = data(&server, "{ thing(id: 3) { windows { from inner { from } } } }").await;
    assert_eq!(inner, json!({"data": {"thing": {"windows": [{"from": "a", "inner": []}]}}}));
}
