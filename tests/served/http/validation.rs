//! Which documents are valid: rules of the GraphQL specification of September 2025 that the compiler does not check
//! itself.

use super::coercion::ask;
use super::gateway::gateway;
use crate::machine::{Machine, Running, limits, parts, start};
use keyfold::serve::backend::current_gateway::CurrentGateway;
use keyfold::serve::router::Parts;
use keyfold::serve::settings::RequestLimits;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = r#"
extend schema @table(name: "things", partitionKey: "PK")
type Thing @item(keys: { PK: "{id}" }) {
  id: ID!
  size: Int!
  json: JSON
  times: [DateTime!]
  window: Window
  place: Place
}
type Window { from: DateTime! size: Int! notes: [Note!] }
type Note { at: DateTime! }
type Place { street: String box: Int at: DateTime }
input WindowInput { from: DateTime! size: Int! = 3 notes: [NoteInput!] }
input NoteInput { at: DateTime! }
"Where it is."
input PlaceInput @oneOf { street: String box: Int at: DateTime }
type Query { thing(id: ID!): Thing @find }
type Mutation {
  keep(id: ID!, size: Int! = 1, json: JSON, times: [DateTime!], window: WindowInput, place: PlaceInput): Thing! @put(replace: true)
}
"#;

async fn serve() -> Running {
    let gateway = gateway(SCHEMA, &TableStore::in_memory().unwrap()).await;
    let limits = RequestLimits { body_limit: 100_000, ..limits() };
    start(Parts { backend: Arc::new(CurrentGateway::new(gateway)), limits, ..parts(Machine::default()) }).await
}

/// The status, the code and the message of the first error (empty if there is none), and the body.
async fn answer(server: &Running, query: &str, variables: &str) -> (u16, String, String, Value) {
    let (status, body) = ask(server, query, variables).await;
    let body: Value = serde_json::from_str(&body).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let error = &body["errors"][0];
    (status, text(&error["extensions"]["code"]), text(&error["message"]), body)
}

/// A variable is used where another type is expected (GraphQL spec section 5.8.5, "All Variable Usages Are Allowed").
#[tokio::test]
async fn a_variable_fits_the_place_inside_of_a_literal_too() {
    let server = serve().await;
    for (variable, arguments) in [
        ("$t: DateTime", "times: [$t]"),
        ("$t: DateTime = null", "times: [$t]"),
        ("$t: [DateTime!]", "times: [$t]"),
        ("$t: String!", "times: [$t]"),
        ("$t: DateTime", "window: {from: $t}"),
        ("$t: Int!", "window: {from: $t}"),
        ("$t: DateTime", "window: {from: \"2026-01-01T00:00Z\", notes: [{at: $t}]}"),
        ("$t: DateTime", "window: {from: \"2026-01-01T00:00Z\", notes: {at: $t}}"),
        ("$t: NoteInput", "window: {from: \"2026-01-01T00:00Z\", notes: [$t]}"),
        ("$t: String", "place: {street: $t}"),
        ("$t: String = \"a\"", "place: {street: $t}"),
    ] {
        for query in [
            format!("mutation ({variable}) {{ keep(id: 1, {arguments}) {{ id }} }}"),
            format!(
                "mutation ({variable}) {{ ...F }} fragment F on Mutation {{ keep(id: 1, {arguments}) @skip(if: true) {{ id }} }}"
            ),
        ] {
            let (status, code, message, body) = answer(&server, &query, "{}").await;
            assert_eq!((status, code.as_str()), (400, "GRAPHQL_VALIDATION_FAILED"), "{query}: {body}");
            let is_named = message.starts_with("Variable \"$t\" of type") || message.ends_with("found a variable.");
            assert!(is_named, "{query}: {message}");
            assert_eq!(body["errors"][0]["locations"][0]["column"], json!(query.rfind("$t").unwrap() + 1), "{query}");
        }
    }
    for (variable, arguments, variables) in [
        ("$t: DateTime!", "times: [$t]", r#"{"t": "2026-01-01T00:00Z"}"#),
        ("$t: DateTime = \"2026-01-01T00:00Z\"", "times: [$t]", "{}"),
        ("$t: [DateTime!]", "times: $t", "{}"),
        ("$t: Int", "window: {from: \"2026-01-01T00:00Z\", size: $t}", "{}"),
        ("$t: Int", "size: $t", "{}"),
        ("$t: String!", "place: {street: $t}", r#"{"t": "a"}"#),
        ("$t: PlaceInput", "place: $t", "{}"),
        ("$t: Int", "json: {a: [$t], b: 1}", r#"{"t": 1}"#),
    ] {
        let query = format!("mutation ({variable}) {{ keep(id: 1, {arguments}) {{ id }} }}");
        let (status, .., body) = answer(&server, &query, variables).await;
        assert_eq!((status, body), (200, json!({"data": {"keep": {"id": "1"}}})), "{query}");
    }
    let (_, code, message, _) = answer(&server, "mutation { keep(id: 1, json: {a: [{b: $none}]}) { id } }", "{}").await;
    assert_eq!((code.as_str(), message.as_str()), ("GRAPHQL_VALIDATION_FAILED", "Variable \"$none\" is not defined."));
}

#[tokio::test]
async fn a_one_of_input_object_has_exactly_one_field() {
    let server = serve().await;
    for literal in
        ["{}", "{street: \"a\", box: 1}", "{street: null}", "{street: \"a\", box: null}", "{street: \"a\", box: $b}"]
    {
        let query = format!(
            "mutation ($b: Int = 1) {{ keep(id: 1, place: {literal}) {{ id }} keep(id: 1, size: $b) {{ id }} }}"
        );
        let query =
            if literal.contains("$b") { query } else { query.replace(" ($b: Int = 1)", "").replace(", size: $b", "") };
        let query = query.replace("} keep(id: 1", "} two: keep(id: 1");
        let (status, code, message, body) = answer(&server, &query, "{}").await;
        assert_eq!((status, code.as_str()), (400, "GRAPHQL_VALIDATION_FAILED"), "{query}: {body}");
        assert!(message.contains("PlaceInput") && message.contains("exactly one"), "{query}: {message}");
    }
    let query = "mutation ($p: PlaceInput) { keep(id: 1, place: $p) { place { street box at } } }";
    for value in ["{}", r#"{"street": "a", "box": 1}"#, r#"{"street": null}"#, r#"{"street": "a", "box": null}"#] {
        let (status, code, message, body) = answer(&server, query, &format!(r#"{{"p": {value}}}"#)).await;
        assert_eq!((status, code.as_str()), (400, "BAD_USER_INPUT"), "{value}: {body}");
        assert!(message.contains("PlaceInput") && message.contains("exactly one"), "{value}: {message}");
    }
    let kept = json!({"data": {"keep": {"place": {"street": null, "box": 7, "at": null}}}});
    assert_eq!(answer(&server, query, r#"{"p": {"box": 7}}"#).await.3, kept);
    let literal = "mutation ($b: Int!) { keep(id: 1, place: {box: $b}) { place { street box at } } }";
    assert_eq!(answer(&server, literal, r#"{"b": 7}"#).await.3, kept);
    assert_eq!(answer(&server, &literal.replace("($b: Int!) ", "").replace("$b", "7"), "{}").await.3, kept);
}

#[tokio::test]
async fn introspection_tells_one_of() {
    let server = serve().await;
    let kinds = "{ __type(name: \"PlaceInput\") { isOneOf name ...F } window: __type(name: \"WindowInput\") { ...F }
      thing: __type(name: \"Thing\") { ...F fields { type { isOneOf ofType { one: isOneOf isOneOf } } } }
      __schema { directives { name locations args { name } isRepeatable } } }
      fragment F on __Type { one: isOneOf kind skipped: isOneOf @skip(if: true) }";
    let (_, _, _, body) = answer(&server, kinds, "{}").await;
    let data = &body["data"];
    assert_eq!(data["__type"], json!({"isOneOf": true, "name": "PlaceInput", "one": true, "kind": "INPUT_OBJECT"}));
    assert_eq!(data["window"], json!({"one": false, "kind": "INPUT_OBJECT"}));
    assert_eq!(data["thing"]["one"], Value::Null);
    assert_eq!(
        data["thing"]["fields"][0],
        json!({"type": {"isOneOf": null, "ofType": {"one": null, "isOneOf": null}}})
    );
    let directives = data["__schema"]["directives"].as_array().unwrap();
    let one_of = json!({"name": "oneOf", "locations": ["INPUT_OBJECT"], "args": [], "isRepeatable": false});
    assert!(directives.contains(&one_of), "{directives:?}");
}

/// The query of `getIntrospectionQuery` in graphql-js 16 and 17 with every option on.
const INTROSPECTION: &str = "query IntrospectionQuery {
  __schema {
    description
    queryType { name kind } mutationType { name kind } subscriptionType { name kind }
    types { ...FullType }
    directives { name description isRepeatable locations args(includeDeprecated: true) { ...InputValue } }
  }
}
fragment FullType on __Type {
  kind name description specifiedByURL isOneOf
  fields(includeDeprecated: true) {
    name description args(includeDeprecated: true) { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
  }
  inputFields(includeDeprecated: true) { ...InputValue }
  interfaces { ...TypeRef }
  enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
  possibleTypes { ...TypeRef }
}
fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue isDeprecated deprecationReason }
fragment TypeRef on __Type {
  kind name
  ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } } } }
}";

#[tokio::test]
async fn the_introspection_query_of_graphql_js_is_answered() {
    let server = serve().await;
    let (status, _, _, body) = answer(&server, INTROSPECTION, "{}").await;
    assert_eq!((status, body.get("errors")), (200, None), "{body}");
    let types = body["data"]["__schema"]["types"].as_array().unwrap();
    let named = |name: &str| types.iter().find(|ty| ty["name"] == name).unwrap();
    assert_eq!((&named("PlaceInput")["isOneOf"], &named("WindowInput")["isOneOf"]), (&json!(true), &json!(false)));
    assert_eq!(named("WindowInput")["inputFields"][1]["defaultValue"], json!("3"));
    assert!(named("__Type")["fields"].as_array().unwrap().iter().any(|field| field["name"] == "isOneOf"));
}

#[test]
fn the_printed_schema_tells_one_of() {
    let (model, _) =
        keyfold::schema::load("schema.graphql", SCHEMA, &|_| None).map_err(|mistakes| mistakes.render(false)).unwrap();
    let printed = model.api.to_string();
    assert!(printed.contains("input PlaceInput @oneOf {"), "{printed}");
    assert!(!printed.contains("directive @oneOf") && !printed.contains("isOneOf"), "{printed}");
}

#[tokio::test]
async fn descriptions_of_operations_fragments_and_variables_are_read() {
    let server = serve().await;
    let query = "\"\"\"\nKeeps a thing,\n\"as\" it is.\n\"\"\"\nmutation Keep(\"its id\" $id: ID! = \"a\", \"\"\"its size\"\"\" $size: Int!) {\n  keep(id: $id, size: $size) { ...F }\n}\n\"what is shown\" fragment F on Thing { id size }";
    let (status, .., body) = answer(&server, query, r#"{"size": 3}"#).await;
    assert_eq!((status, body), (200, json!({"data": {"keep": {"id": "a", "size": 3}}})));
    // The locations of errors refer to the document as it was sent.
    let wrong = query.replace("size }", "nope }").replace("\"its id\" $id: ID!", "\"its id\" $id: [ID!]");
    let (status, .., body) = answer(&server, &wrong, "{}").await;
    let places: Vec<&Value> = body["errors"].as_array().unwrap().iter().map(|error| &error["locations"][0]).collect();
    assert_eq!(
        (status, places),
        (400, vec![&json!({"line": 6, "column": 8}), &json!({"line": 8, "column": 42})]),
        "{body}"
    );
    let (_, code, ..) = answer(&server, "\"a shorthand has none\" { thing(id: 1) { id } }", "{}").await;
    assert_eq!(code, "GRAPHQL_PARSE_FAILED");
}
