//! What a response says about how long it may be kept, and what a client gets that has it already.

use super::gateway::gateway;
use crate::machine::{Machine, Running, parts, start};
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use reqwest::Response;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

const SCHEMA: &str = r#"
extend schema @table(name: "users", partitionKey: "PK")
type User @cacheControl(maxAge: 60) @item(keys: { PK: "user#{id}" }) {
  id: ID!
  name: String
  mail: String @cacheControl(scope: PRIVATE)
  age: Int! @cacheControl(maxAge: 5)
}
type Note @cacheControl(maxAge: 30) @item(keys: { PK: "note#{key}" }) { key: ID! author: ID by: User @find(where: { id: "{author}" }) }
type Query {
  user(id: ID!): User @find
  users(ids: [ID!]!): [User]! @find(where: { id: "{ids}" }) @cacheControl(maxAge: 60)
  is(id: ID!): Boolean! @find(item: User) @cacheControl(maxAge: 60)
  note(key: ID!): Note @find
  count(id: ID!): Boolean! @find(item: User)
}
type Mutation { rename(id: ID!, name: String!): User @update }
"#;

async fn running() -> Running {
    let store = TableStore::in_memory().unwrap();
    let gateway = gateway(SCHEMA, &store).await;
    let line = json!({"Item": {"PK": {"S": "user#1"}, "name": {"S": "Ann ".repeat(5_000)}, "mail": {"S": "a@b.c"}, "age": {"N": "7"}}});
    let broken = json!({"Item": {"PK": {"S": "user#2"}, "name": {"S": "Bob"}}});
    let dangling = json!({"Item": {"PK": {"S": "note#1"}, "author": {"S": "3"}}});
    let unsigned = json!({"Item": {"PK": {"S": "note#2"}}});
    let items =
        [line, broken, dangling, unsigned].iter().map(|line| parse_line(&line.to_string()).unwrap().unwrap()).collect();
    store.load(&gateway.model().tables[0], items, Instant::now() + Duration::from_secs(60)).await.unwrap();
    start(Parts { backend: Arc::new(CurrentGateway::new(gateway)), ..parts(Machine::default()) }).await
}

fn path(query: &str) -> String {
    let query: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    format!("/graphql?query={query}")
}

const RENAME: &str = "mutation { rename(id: 1, name: \"Eve\") { id } }";

async fn post(server: &Running, query: &str) -> Response {
    let body = json!({ "query": query }).to_string();
    server
        .client
        .post(server.url("/graphql"))
        .header("content-type", "application/json")
        .body(body)
        .send()
        .await
        .unwrap()
}

fn header<'r>(response: &'r Response, name: &str) -> &'r str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn a_response_has_the_least_age_of_its_fields() {
    let server = running().await;
    let forms = "accept, accept-encoding";
    let callers = "accept, accept-encoding, authorization, x-api-key";
    for (query, expected, vary) in [
        ("{ user(id: 1) { id } }", "max-age=60, public", forms),
        ("{ user(id: 1) { __typename id age } }", "max-age=5, public", forms),
        ("{ user(id: 1) { id mail } }", "max-age=60, private", callers),
        // For a second, the server keeps that there is no item.
        ("{ user(id: 3) { id } }", "max-age=1, public", forms),
        ("{ one: user(id: 1) { id } three: user(id: 3) { id mail } }", "max-age=1, private", callers),
        ("{ users(ids: [1, 3]) { id } }", "max-age=1, public", forms),
        ("{ users(ids: [1]) { id } }", "max-age=60, public", forms),
        ("{ is(id: 3) }", "max-age=1, public", forms),
        ("{ is(id: 1) }", "max-age=60, public", forms),
        ("{ note(key: 1) { by { id } } }", "max-age=1, public", forms),
        // A reference that is null names no item.
        ("{ note(key: 2) { by { id } } }", "max-age=30, public", forms),
        ("{ count(id: 1) user(id: 1) { id } }", "no-store", forms),
        ("{ user(id: 2) { id age } }", "no-store", forms),
        ("{ __typename }", "no-store", forms),
        ("{ user(id: 1) { id } __schema { queryType { name } } }", "no-store", forms),
        ("{ nothing }", "no-store", forms),
    ] {
        let got = server.get(&path(query)).send().await.unwrap();
        assert_eq!((header(&got, "cache-control"), header(&got, "vary")), (expected, vary), "{query}");
        assert_eq!(got.headers().contains_key("etag"), expected != "no-store", "{query}");
        let posted = post(&server, query).await;
        assert_eq!((header(&posted, "cache-control"), header(&posted, "etag")), (expected, ""), "{query} by POST");
    }
    assert_eq!(header(&post(&server, RENAME).await, "cache-control"), "no-store");
}

#[tokio::test]
async fn response_that_the_client_has_is_not_sent_again() {
    let server = running().await;
    let path = path("{ user(id: 1) { name } }");
    let first = server.get(&path).send().await.unwrap();
    let name = header(&first, "etag").to_owned();
    assert!(name.starts_with('"') && name.len() > 30, "{name}");
    let body = first.bytes().await.unwrap();
    for known in [name.clone(), format!("W/{name}"), format!("\"other\", {name}"), "*".to_owned()] {
        let again = server.get(&path).header("if-none-match", &known).send().await.unwrap();
        assert_eq!((again.status().as_u16(), header(&again, "etag")), (304, name.as_str()), "{known}");
        assert_eq!(
            (header(&again, "cache-control"), header(&again, "vary")),
            ("max-age=60, public", "accept, accept-encoding")
        );
        assert!(again.bytes().await.unwrap().is_empty());
    }
    let head = server.client.head(server.url(&path)).header("if-none-match", &name).send().await.unwrap();
    assert_eq!(head.status().as_u16(), 304);
    let other = server.get(&path).header("if-none-match", "\"other\"").send().await.unwrap();
    assert_eq!((other.status().as_u16(), other.bytes().await.unwrap()), (200, body));
    let coded = server.get(&path).header("accept-encoding", "gzip").send().await.unwrap();
    assert_eq!((header(&coded, "content-encoding"), header(&coded, "etag")), ("gzip", format!("W/{name}").as_str()));

    // A write of the same server changes it at once.
    assert_eq!(post(&server, RENAME).await.status().as_u16(), 200);
    let changed = server.get(&path).header("if-none-match", &name).send().await.unwrap();
    assert_eq!(changed.status().as_u16(), 200);
    assert_eq!(changed.text().await.unwrap(), r#"{"data":{"user":{"name":"Eve"}}}"#);
}
