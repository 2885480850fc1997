//! Values that callers send: the gateway refuses a bad one before anything runs, and keeps a good one unchanged,
//! wherever it is.

use super::gateway::gateway;
use super::websocket::socket;
use crate::machine::{Machine, Running, parts, start};
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r#"
extend schema @table(name: "things", partitionKey: "PK")
scalar Weight
type Thing @item(keys: { PK: "{id}" }) {
  id: ID!
  int: Int
  float: Float
  at: DateTime
  day: Date
  long: Long
  decimal: Decimal
  bytes: Binary
  json: JSON
  weight: Weight
  times: [DateTime!]
  window: Window
}
type Window { from: DateTime! to: DateTime notes: [Note!] }
type Note { at: DateTime text: String }
input WindowInput { from: DateTime! to: DateTime = "2026-01-01T00:00:00Z" notes: [NoteInput!] }
input NoteInput { at: DateTime! text: String }
type Query { thing(id: ID!): Thing @find }
type Mutation {
  keep(
    id: ID! int: Int float: Float at: DateTime day: Date long: Long decimal: Decimal bytes: Binary json: JSON weight: Weight
    times: [DateTime!] window: WindowInput
  ): Thing! @put(replace: true)
}
"#;

async fn serve() -> Running {
    let gateway = gateway(SCHEMA, &TableStore::in_memory().unwrap()).await;
    start(Parts { backend: Arc::new(CurrentGateway::new(gateway)), ..parts(Machine::default()) }).await
}

/// Sends a body with this text, so that numbers arrive as written.
async fn send(server: &Running, body: String) -> (u16, String) {
    let request = server.client.post(server.url("/graphql")).header("content-type", "application/json").body(body);
    let response = request.header("accept", "application/graphql-response+json").send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

pub async fn ask(server: &Running, query: &str, variables: &str) -> (u16, String) {
    send(server, format!("{{\"query\":{},\"variables\":{variables}}}", Value::from(query))).await
}

/// The request is refused as bad input, the message contains this text, and the field before the bad one did not run.
async fn refused(server: &Running, query: &str, variables: &str, message: &str) -> Value {
    let (status, body) = ask(server, query, variables).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    let error = &body["errors"][0];
    assert_eq!(
        (status, error["extensions"]["code"].as_str()),
        (400, Some("BAD_USER_INPUT")),
        "{query} {variables}: {body}"
    );
    assert!(
        body.get("data").is_none() && error["message"].as_str().unwrap().contains(message),
        "{query} {variables}: {body}"
    );
    let (_, found) = ask(server, "{ thing(id: \"before\") { id } }", "{}").await;
    assert_eq!(found, r#"{"data":{"thing":null}}"#, "{query} {variables}");
    error["locations"].clone()
}

/// Values that do not fit their types: type, argument, GraphQL literal, JSON value, part of the message.
const UNFIT: [(&str, &str, &str, &str, &str); 12] = [
    ("DateTime", "at", r#""nonsense""#, r#""nonsense""#, "DateTime cannot be \"nonsense\""),
    ("DateTime", "at", "5", "5", "DateTime cannot be 5"),
    ("Date", "day", r#""2026-02-30""#, r#""2026-02-30""#, "Date cannot be"),
    ("Long", "long", "9223372036854775808", "9223372036854775808", "Long cannot be 9223372036854775808"),
    ("Long", "long", "1.5", "1.5", "Long cannot be 1.5"),
    (
        "Decimal",
        "decimal",
        r#""123456789012345678901234567890123456789""#,
        r#""123456789012345678901234567890123456789""#,
        "38",
    ),
    ("Decimal", "decimal", r#""1E126""#, r#""1E126""#, "range of DynamoDB's numbers"),
    ("Binary", "bytes", r#""%%""#, r#""%%""#, "Binary cannot be"),
    ("Float", "float", "1e200", "1e200", "Float cannot be"),
    (
        "JSON",
        "json",
        "{a: [123456789012345678901234567890123456789]}",
        r#"{"a": [123456789012345678901234567890123456789]}"#,
        "38",
    ),
    ("JSON", "json", "1e126", "1e126", "range of DynamoDB's numbers"),
    ("Weight", "weight", "[1e-131]", "[1e-131]", "range of DynamoDB's numbers"),
];

#[tokio::test]
async fn a_bad_variable_is_refused_before_anything_is_written() {
    let server = serve().await;
    for (ty, argument, _, value, message) in UNFIT {
        let query = format!(
            "mutation ($v: {ty}) {{ a: keep(id: \"before\") {{ id }} b: keep(id: \"b\", {argument}: $v) {{ id }} }}"
        );
        let places = refused(&server, &query, &format!("{{\"v\": {value}}}"), message).await;
        assert_eq!(places, json!([{"line": 1, "column": 11}]), "{query}");
    }
    let nested = "mutation ($w: WindowInput!) { a: keep(id: \"before\") { id } b: keep(id: \"b\", window: $w) { id } }";
    for (value, message) in [
        (r#"{"w": {"from": "nonsense"}}"#, r#""$w.from""#),
        (r#"{"w": {"from": "2026-01-01T00:00Z", "to": 1}}"#, r#""$w.to""#),
        (
            r#"{"w": {"from": "2026-01-01T00:00Z", "notes": [{"at": "2026-01-01T00:00Z"}, {"at": "no"}]}}"#,
            r#""$w.notes[1].at""#,
        ),
        (r#"{"w": {"from": "2026-01-01T00:00Z", "notes": {"at": "no"}}}"#, r#""$w.notes.at""#),
        (r#"{"w": {"from": "2026-01-01T00:00Z", "until": 1}}"#, "until"),
        (r#"{"w": {}}"#, r#""from""#),
        (r#"{"w": 1}"#, "WindowInput"),
    ] {
        refused(&server, nested, value, message).await;
    }
    let list = "mutation ($t: [DateTime!]) { a: keep(id: \"before\") { id } b: keep(id: \"b\", times: $t) { id } }";
    refused(&server, list, r#"{"t": ["2026-01-01T00:00Z", "no"]}"#, r#""$t[1]""#).await;
    refused(&server, list, r#"{"t": [null]}"#, "null").await;
}

#[tokio::test]
async fn a_bad_literal_is_refused_before_anything_is_written() {
    let server = serve().await;
    for (ty, argument, literal, _, message) in UNFIT {
        let query = format!(
            "mutation {{ a: keep(id: \"before\") {{ id }} b: keep(id: \"b\", {argument}: {literal}) {{ id }} }}"
        );
        let column = query.find(literal).unwrap() + 1;
        assert_eq!(refused(&server, &query, "{}", message).await[0], json!({"line": 1, "column": column}), "{query}");
        let skipped = query.replace(" { id } }", " @include(if: false) { id } }");
        refused(&server, &skipped, "{}", message).await;
        let fragment = format!(
            "mutation {{ a: keep(id: \"before\") {{ id }} ...F }} fragment F on Mutation {{ ... @skip(if: true) {{ b: keep(id: \"b\", {argument}: {literal}) {{ id }} }} }}"
        );
        refused(&server, &fragment, "{}", message).await;
        let default = format!(
            "mutation ($v: {ty} = {literal}) {{ a: keep(id: \"before\") {{ id }} b: keep(id: \"b\", {argument}: $v) {{ id }} }}"
        );
        refused(&server, &default, "{\"v\": null}", message).await;
    }
    for nested in [
        r#"times: ["2026-01-01T00:00Z", "no"]"#,
        r#"times: "no""#,
        r#"window: { from: "no" }"#,
        r#"window: { from: "2026-01-01T00:00Z", notes: [{ at: "2026-01-01T00:00Z" }, { at: "no" }] }"#,
        r#"window: { from: "2026-01-01T00:00Z", notes: { at: "no" } }"#,
    ] {
        let query = format!("mutation {{ a: keep(id: \"before\") {{ id }} b: keep(id: \"b\", {nested}) {{ id }} }}");
        let places = refused(&server, &query, "{}", "DateTime cannot be \"no\"").await;
        assert_eq!(places[0]["column"], json!(query.find("\"no\"").unwrap() + 1), "{query}");
    }
}

#[tokio::test]
async fn good_values_are_kept_in_every_place() {
    let server = serve().await;
    let query = "mutation ($at: DateTime = \"2026-01-01T01:00+01\", $w: WindowInput, $note: DateTime!, $int: Int) {
      keep(id: 1, at: $at, times: \"2026-01-02T00:00Z\", int: $int, window: $w) { at times int window { from to } }
      two: keep(id: 2, window: { from: $note, notes: [{ at: $note, text: \"a\" }] }) { window { from to notes { at text } } }
    }";
    let variables = r#"{"w": {"from": "2026-01-03T00:00Z"}, "note": "2026-01-04T00:00Z", "int": 5.0}"#;
    let (status, body) = ask(&server, query, variables).await;
    let expected = json!({"data": {
        "keep": {"at": "2026-01-01T00:00:00.000Z", "times": ["2026-01-02T00:00:00.000Z"], "int": 5,
            "window": {"from": "2026-01-03T00:00:00.000Z", "to": "2026-01-01T00:00:00.000Z"}},
        "two": {"window": {"from": "2026-01-04T00:00:00.000Z", "to": "2026-01-01T00:00:00.000Z",
            "notes": [{"at": "2026-01-04T00:00:00.000Z", "text": "a"}]}},
    }});
    assert_eq!((status, serde_json::from_str::<Value>(&body).unwrap()), (200, expected));
}

#[tokio::test]
async fn an_id_of_a_number_is_that_of_its_integer() {
    let server = serve().await;
    for (number, id) in [
        ("7", "7"),
        ("-7", "-7"),
        ("0", "0"),
        ("-0", "0"),
        ("98765432109876543210987654321", "98765432109876543210987654321"),
    ] {
        let expected = format!("{{\"data\":{{\"keep\":{{\"id\":\"{id}\"}}}}}}");
        let by_variable =
            ask(&server, "mutation ($v: ID!) { keep(id: $v) { id } }", &format!("{{\"v\": {number}}}")).await;
        let by_literal = ask(&server, &format!("mutation {{ keep(id: {number}) {{ id }} }}"), "{}").await;
        assert_eq!((by_variable.1, by_literal.1), (expected.clone(), expected), "{number}");
    }
    let query = "mutation ($v: ID!) { a: keep(id: \"before\") { id } b: keep(id: $v) { id } }";
    for number in ["1e400", "-1e400", "1e3", "1E3", "4.0", "-0.0", "0e0", "1e-400"] {
        refused(&server, query, &format!("{{\"v\": {number}}}"), "ID cannot be").await;
    }
}

/// Numbers in JSON values, and the form in which DynamoDB returns them.
const NUMBERS: [(&str, &str); 7] = [
    ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
    ("-0.12345678901234567890123456789012345678", "-0.12345678901234567890123456789012345678"),
    ("9007199254740993", "9007199254740993"),
    ("18446744073709551616", "18446744073709551616"),
    ("0.1", "0.1"),
    ("1.50", "1.5"),
    ("25e1", "250"),
];

#[tokio::test]
async fn a_number_of_a_json_value_keeps_every_digit() {
    let server = serve().await;
    let by_variable = "mutation ($j: JSON, $w: Weight) { keep(id: 1, json: $j, weight: $w) { json weight } }";
    let by_both = "mutation ($w: Weight) { keep(id: 1, json: {n: [$w]}, weight: [$w]) { json weight } }";
    for (number, back) in NUMBERS {
        let written = (200, format!(r#"{{"data":{{"keep":{{"json":{{"n":[{back}]}},"weight":{back}}}}}}}"#));
        let variables = format!(r#"{{"j": {{"n": [{number}]}}, "w": {number}}}"#);
        assert_eq!(ask(&server, by_variable, &variables).await, written);
        let read = (200, format!(r#"{{"data":{{"thing":{{"json":{{"n":[{back}]}},"weight":{back}}}}}}}"#));
        assert_eq!(ask(&server, "{ thing(id: 1) { json weight } }", "{}").await, read);
        let by_literal =
            format!("mutation {{ keep(id: 1, json: {{n: [{number}]}}, weight: {number}) {{ json weight }} }}");
        assert_eq!(ask(&server, &by_literal, "{}").await, written);
        assert_eq!(ask(&server, "{ thing(id: 1) { json weight } }", "{}").await, read);
        let both = (200, format!(r#"{{"data":{{"keep":{{"json":{{"n":[{back}]}},"weight":[{back}]}}}}}}"#));
        assert_eq!(ask(&server, by_both, &format!(r#"{{"w": {number}}}"#)).await, both);
    }
}

#[tokio::test]
async fn numbers_arrive_over_a_web_socket_as_they_were_sent() {
    use futures_util::{SinkExt, StreamExt};
    use tokio_tungstenite::tungstenite::Message;
    let server = serve().await;
    let mut socket = socket(&server, None).await.unwrap();
    socket.send(Message::text(r#"{"type": "connection_init"}"#)).await.unwrap();
    let query = "mutation ($j: JSON, $f: Float) { keep(id: 1, json: $j, float: $f) { json float } }";
    let [wide, fraction] = [NUMBERS[0].0, NUMBERS[1].0];
    let payload =
        format!(r#"{{"query": "{query}", "variables": {{"f": 1.5, "j": [{wide}, {{"n": {fraction}}}, 7, -2.5]}}}}"#);
    socket.send(Message::text(format!(r#"{{"id": "a", "type": "subscribe", "payload": {payload}}}"#))).await.unwrap();
    let mut heard = String::new();
    while !heard.contains("next") && !heard.contains("error") {
        let message =
            tokio::time::timeout(std::time::Duration::from_secs(60), socket.next()).await.unwrap().unwrap().unwrap();
        heard = message.to_text().unwrap().to_owned();
    }
    let expected = format!(r#""data":{{"keep":{{"json":[{wide},{{"n":{fraction}}},7,-2.5],"float":1.5}}}}"#);
    assert!(heard.contains(&expected), "{heard}");
}
