//! The goldens of the pantry through every form of event: a function gives the same answers as a gateway in the test's
//! process.

use crate::callers::AIKO;
use crate::events::{Asked, FORMS};
use crate::runtime::Lambda;
use crate::store::Store;
use crate::support::golden::{Case, cases};
use crate::support::golden_file::Section;
use serde_json::{Value, json};

pub async fn every_golden_answers_the_same_in_every_form() {
    let (lambda, mut store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &["--introspection"]);
    let cases: Vec<Case> = cases().into_iter().filter(|case| case.system == "pantry").collect();
    let (mut seen, mut writes) = (0, 0);
    for case in &cases {
        let request = case.request().unwrap();
        // A cursor in an operation is encrypted with the goldens' key, which is too short for a server.
        if ["after: \"", "before: \""].iter().any(|argument| request.query.contains(argument))
            && case.name != "bad_cursor"
        {
            continue;
        }
        let is_write = request.query.lines().any(|line| line.trim_start().starts_with("mutation"));
        let expected = comparable(serde_json::from_str(&case.section(Section::Response).unwrap()).unwrap(), case);
        for form in FORMS {
            if is_write {
                store.reset();
            }
            let asked = Asked::post(&request.query, &json!(request.variables), request.caller.sub());
            let got = lambda.invoke(&asked.event(form)).await.got(form);
            assert_eq!(comparable(got.json(), case), expected, "{} as {form:?}", case.name);
        }
        seen += 1;
        writes += usize::from(is_write);
    }
    assert!(seen > 50 && writes > 20, "only {seen} of {} goldens, {writes} of them writes", cases.len());
    assert!(cases.iter().any(|case| case.request().unwrap().caller.sub() == Some(AIKO)));
}

/// A response without what differs between two runs: cursors, and values that a write generates, which are numbered as
/// they occur.
fn comparable(response: Value, case: &Case) -> String {
    let text = format!("{:#}\n", without_cursors(response));
    let text = case.names().unwrap().replace(&text);
    let mut given: Vec<String> = Vec::new();
    let mut parts = text.split('<');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((name, rest)) if name.starts_with("uuid ") || name.starts_with("hash ") => {
                let number = given.iter().position(|other| other == name).unwrap_or_else(|| {
                    given.push(name.to_owned());
                    given.len() - 1
                });
                out += &format!("<{} {number}>{rest}", &name[..4]);
            }
            _ => out += &format!("<{part}"),
        }
    }
    out
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
