//! Keyfold inside a program, by its public names alone: the example answers what the README says, its routes know the
//! caller that the program has found, and mistakes are known before there is a gateway.

use futures_util::StreamExt;
use keyfold::{BuildError, Caller, Gateway, Request, SignIn};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::timeout;

#[path = "../../examples/embedded/main.rs"]
mod example;

const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", stream: NEW_AND_OLD_IMAGES)

type Note @item(keys: { PK: "NOTE#{id}" }) @auth(if: "auth.sub = owner") {
  id: ID!
  owner: ID!
  text: String!
  title: String! @computed(value: "{text} by {owner}")
}

type Query {
  note(id: ID!): Note @find
}

type Mutation {
  write(id: ID!, text: String!): Note! @put(replace: true, set: { owner: "{auth.sub}" })
}

type Subscription {
  note(id: ID!): Note @watch
}
"#;

fn caller(sub: &str) -> Caller {
    Caller::signed_in(json!({ "sub": sub }).as_object().cloned().unwrap())
}

async fn notes() -> Gateway {
    Gateway::builder().schema(SCHEMA).in_memory().build().await.unwrap()
}

async fn write(gateway: &Gateway, text: &str) -> Value {
    let query = format!("mutation {{ write(id: 1, text: {text:?}) {{ text }} }}");
    gateway.execute(Request { caller: caller("ann"), ..Request::new(query) }).await.json()
}

async fn serve(routes: axum::Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = routes.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    format!("http://{address}/graphql")
}

/// The status and the body of the answer to a query over HTTP.
async fn ask(url: &str, query: &str, header: (&str, &str)) -> (u16, Value) {
    let body = json!({ "query": query }).to_string();
    let request = reqwest::Client::new().post(url).header("content-type", "application/json");
    let response = request.header("accept", "application/json").header(header.0, header.1).body(body);
    let response = response.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

/// The query and the answer of README.md.
fn readme() -> (String, Value) {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let block = |language: &str| {
        let from = text.split_once(&format!("```{language}\n")).unwrap().1;
        from.split_once("```").unwrap().0.to_owned()
    };
    (block("graphql"), serde_json::from_str(&block("json")).unwrap())
}

#[tokio::test]
async fn the_example_answers_the_query_of_the_readme() {
    let (query, answer) = readme();
    assert_eq!(example::answer().await.unwrap(), answer);
    let url = serve(example::routes().await.unwrap()).await;
    assert_eq!(ask(&url, &query, ("x-user", "11111111-1111-4111-8111-111111111111")).await, (200, answer));
    let (_, refused) = ask(&url, &query, ("x-other", "11111111-1111-4111-8111-111111111111")).await;
    assert_eq!(refused["errors"][0]["extensions"]["code"], "UNAUTHENTICATED", "{refused}");
}

#[tokio::test]
async fn each_request_has_its_own_caller() {
    let gateway = notes().await;
    assert_eq!(write(&gateway, "mine").await, json!({ "data": { "write": { "text": "mine" } } }));
    let query = "{ note(id: 1) { text } }";
    let ask = async |caller: Caller| gateway.execute(Request { caller, ..Request::new(query) }).await.json();
    assert_eq!(ask(caller("ann")).await, json!({ "data": { "note": { "text": "mine" } } }));
    assert_eq!(ask(caller("ben")).await["errors"][0]["extensions"]["code"], "FORBIDDEN");
    assert_eq!(ask(Caller::anonymous()).await["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    let wrong = gateway.execute(Request::new("{ nothing }")).await.json();
    assert_eq!(wrong["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED", "{wrong}");
}

#[tokio::test]
async fn a_subscription_is_a_stream() {
    let gateway = notes().await;
    let subscription = Request { caller: caller("ann"), ..Request::new("subscription { note(id: 1) { title } }") };
    let mut responses = gateway.subscribe(subscription).await;
    // The first poll begins it.
    assert!(timeout(Duration::from_millis(300), responses.next()).await.is_err());
    write(&gateway, "one").await;
    write(&gateway, "two").await;
    for text in ["one", "two"] {
        let response = timeout(Duration::from_secs(20), responses.next()).await.unwrap().unwrap();
        assert_eq!(response.json()["data"], json!({ "note": { "title": format!("{text} by ann") } }));
    }
    gateway.close();
    let end = async { while responses.next().await.is_some() {} };
    timeout(Duration::from_secs(20), end).await.unwrap();
}

#[tokio::test]
async fn without_a_middleware_the_sign_in_of_the_gateway_says_who_calls() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("keys.json");
    let hash = hex::encode(<sha2::Sha256 as sha2::Digest>::digest("a key of thirty-two bytes, or more"));
    let keys = json!([{ "name": "tester", "sha256": hash, "claims": { "sub": "ann" } }]);
    std::fs::write(&path, keys.to_string()).unwrap();
    let sign_in = SignIn { api_keys_file: Some(path), ..SignIn::default() };
    let gateway = Gateway::builder().schema(SCHEMA).in_memory().sign_in(sign_in).build().await.unwrap();
    write(&gateway, "mine").await;
    let url = serve(gateway.router()).await;
    let query = "{ note(id: 1) { text } }";
    let known = ask(&url, query, ("x-api-key", "a key of thirty-two bytes, or more")).await;
    assert_eq!(known, (200, json!({ "data": { "note": { "text": "mine" } } })));
    let (status, _) = ask(&url, query, ("x-api-key", "another key of thirty-two bytes...")).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn mistakes_are_known_before_there_is_a_gateway() {
    let trouble = async |builder: keyfold::GatewayBuilder| builder.build().await.err().unwrap();
    assert!(matches!(trouble(Gateway::builder().in_memory()).await, BuildError::NoSchema));
    assert!(matches!(trouble(Gateway::builder().schema(SCHEMA)).await, BuildError::NoStore));
    let wrong = SCHEMA.replace("NOTE#{id}", "NOTE#{di}");
    let message = trouble(Gateway::builder().schema(wrong).in_memory()).await.to_string();
    assert!(message.contains("KF0207") && message.contains("did you mean `id`?"), "{message}");
    let elsewhere = Gateway::builder().schema_file("/nowhere/schema.graphql").in_memory();
    assert!(trouble(elsewhere).await.to_string().contains("cannot read /nowhere/schema.graphql"));
    let items = |table: &str, lines: &str| Gateway::builder().schema(SCHEMA).in_memory().items(table, lines);
    assert!(matches!(trouble(items("other", "")).await, BuildError::NoTable(name) if name == "other"));
    let line = trouble(items("notes", "{\"Item\": {\"PK\": {\"S\": \"NOTE#1\"}}}\nno item\n")).await.to_string();
    assert!(line.contains("line 2 of the items of notes"), "{line}");
}

#[tokio::test]
async fn tables_in_a_directory_stay() {
    let directory = tempfile::tempdir().unwrap();
    let build = || Gateway::builder().schema(SCHEMA).in_directory(directory.path()).build();
    let first = build().await.unwrap();
    write(&first, "kept").await;
    drop(first);
    let again = build().await.unwrap();
    let request = Request { caller: caller("ann"), ..Request::new("{ note(id: 1) { text } }") };
    assert_eq!(again.execute(request).await.json()["data"]["note"]["text"], "kept");
}
