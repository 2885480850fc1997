//! A schema on the embedded store, over HTTP: the parts fit together, and a gateway can be replaced while it serves.

use crate::machine::{Running, parts, start};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::schema;
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SCHEMA: &str = r#"
extend schema @table(name: "users", partitionKey: "PK")
type User @item(keys: { PK: "{id}" }) { id: ID! name: String }
type Query { user(id: ID!): User @find }
"#;

fn settings() -> Settings {
    Settings {
        plan_cache_bytes: 1 << 20,
        cache_bytes: 1 << 20,
        cursor_key: b"a secret of the tests".to_vec(),
        ..Settings::default()
    }
}

/// The gateway of a schema's text, with its tables created.
pub async fn gateway(text: &str, store: &TableStore) -> Gateway {
    let model = match schema::load("schema.graphql", text, &|_| None) {
        Ok((model, _)) => model,
        Err(mistakes) => panic!("{}", mistakes.render(false)),
    };
    store.create_missing(&model.tables).await.unwrap();
    Gateway::new(Arc::new(model), store.clone(), settings())
}

pub async fn running() -> (Running, Arc<CurrentGateway>, TableStore) {
    let store = TableStore::in_memory().unwrap();
    let gateway = gateway(SCHEMA, &store).await;
    let item = parse_line(r#"{"Item": {"PK": {"S": "1"}, "name": {"S": "Ann"}}}"#).unwrap().unwrap();
    store.load(&gateway.model().tables[0], vec![item], Instant::now() + Duration::from_secs(60)).await.unwrap();
    let current = Arc::new(CurrentGateway::new(gateway));
    let server = start(Parts { backend: current.clone(), ..parts(crate::machine::Machine::default()) }).await;
    (server, current, store)
}

async fn ask(server: &Running, query: &str) -> (u16, Value) {
    let body = json!({"query": query}).to_string();
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
    let response = request.header("accept", "application/graphql-response+json").send().await.unwrap();
    (response.status().as_u16(), serde_json::from_slice(&response.bytes().await.unwrap()).unwrap())
}

#[tokio::test]
async fn an_item_comes_back() {
    let (server, ..) = running().await;
    assert_eq!(
        ask(&server, "{ user(id: 1) { id name } }").await,
        (200, json!({"data": {"user": {"id": "1", "name": "Ann"}}}))
    );
    assert_eq!(ask(&server, "{ user(id: 2) { name } }").await, (200, json!({"data": {"user": null}})));
}

#[tokio::test]
async fn operations_that_are_wrong_are_refused_by_their_code() {
    let (server, ..) = running().await;
    for (query, code) in [("{", "GRAPHQL_PARSE_FAILED"), ("{ nothing }", "GRAPHQL_VALIDATION_FAILED")] {
        let (status, body) = ask(&server, query).await;
        assert_eq!((status, body["errors"][0]["extensions"]["code"].as_str()), (400, Some(code)), "{body}");
    }
}

#[tokio::test]
async fn the_tables_are_ready_once_they_are_made() {
    let (server, ..) = running().await;
    assert_eq!(server.get("/health/ready").send().await.unwrap().status().as_u16(), 200);
}

#[tokio::test]
async fn a_replaced_gateway_serves_the_next_request() {
    let (server, current, store) = running().await;
    assert_eq!(ask(&server, "{ user(id: 1) { called: name } }").await.0, 200);
    current
        .replace(gateway(&SCHEMA.replace("name: String", "called: String @attribute(name: \"name\")"), &store).await)
        .await;
    assert_eq!(ask(&server, "{ user(id: 1) { called } }").await, (200, json!({"data": {"user": {"called": "Ann"}}})));
    assert_eq!(ask(&server, "{ user(id: 1) { name } }").await.0, 400);
}
