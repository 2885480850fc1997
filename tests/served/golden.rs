//! The goldens of pantry, favorites and posts, over HTTP: a server gives the same answers as a gateway in the test's
//! process.

use super::golden_file::{Section, files, read};
use super::server::{Behind, Server, samples};
use apollo_compiler::ast::Definition;
use serde_json::{Value, json};

pub async fn every_golden_answers_the_same(behind: Behind) {
    let server = Server::start(behind, &samples());
    let mut seen = 0;
    for file in ["pantry", "favorites", "posts"].iter().flat_map(|system| files(system).unwrap()) {
        let golden = read(&file).unwrap();
        let text = golden.get(Section::Operation).unwrap();
        // Mutations run on their own items.
        let document = apollo_compiler::ast::Document::parse(text, "golden").unwrap();
        let writes = |definition: &Definition| match definition {
            Definition::OperationDefinition(one) => !one.operation_type.is_query(),
            _ => false,
        };
        if document.definitions.iter().any(writes) {
            continue;
        }
        // Whoever asks here is the first caller of the samples.
        if golden.get(Section::Caller).is_some() {
            continue;
        }
        // A cursor in an operation is encrypted with another key than the server's.
        if text.contains("after: \"") || text.contains("before: \"") {
            continue;
        }
        let variables =
            golden.get(Section::Variables).map_or_else(|| json!({}), |text| serde_json::from_str(text).unwrap());
        let expected: Value = serde_json::from_str(golden.get(Section::Response).unwrap()).unwrap();
        // A cursor in an operation is encrypted with the goldens' key, which this server does not have.
        let from_a_cursor = ["after: \"", "before: \""].iter().any(|argument| text.contains(argument));
        if from_a_cursor && expected.get("errors").is_none() {
            continue;
        }
        let mut body = server.ask(text, variables).await.body;
        body.as_object_mut().unwrap().remove("extensions");
        without_rules(&mut body, &expected);
        assert_eq!(without_cursors(body), without_cursors(expected), "{}", file.display());
        seen += 1;
    }
    assert!(seen > 29, "only {seen} goldens were found");
}

/// `keyfold dev` says in a refusal which rules may refuse. The rest of the message is that of the golden.
fn without_rules(body: &mut Value, golden: &Value) {
    let own = body.get_mut("errors").and_then(Value::as_array_mut).into_iter().flatten();
    for (own, golden) in own.zip(golden["errors"].as_array().into_iter().flatten()) {
        let is_refusal = ["FORBIDDEN", "UNAUTHENTICATED"].iter().any(|code| own["extensions"]["code"] == *code);
        let sentence = golden["message"].as_str().unwrap().trim_end_matches('.');
        if is_refusal && own["message"].as_str().unwrap().starts_with(sentence) {
            own["message"] = golden["message"].clone();
        }
    }
}

/// Cursors are encrypted with the server's own key.
fn without_cursors(value: Value) -> Value {
    let is_cursor = |name: &str| matches!(name, "cursor" | "startCursor" | "endCursor");
    match value {
        Value::Object(map) => {
            let fields = map.into_iter().map(|(name, value)| match value {
                Value::String(_) if is_cursor(&name) => (name, json!("a cursor")),
                value => (name, without_cursors(value)),
            });
            Value::Object(fields.collect())
        }
        Value::Array(values) => values.into_iter().map(without_cursors).collect(),
        value => value,
    }
}
