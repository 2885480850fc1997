//! How a function starts and ends.

use crate::callers::AIKO;
use crate::collector;
use crate::events::{Asked, Form};
use crate::process::{Ended, Process};
use crate::runtime::Lambda;
use crate::store::Store;
use serde_json::{Value, json};
use std::process::Command;
use std::time::Duration;

pub async fn what_is_wrong_at_the_start_is_reported_to_lambda() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("broken.graphql"), "type Query { a: Nothing }").unwrap();
    let url = store.url();
    for (variable, value, says) in [
        ("KEYFOLD_SCHEMA", "broken.graphql", "broken.graphql has mistakes"),
        ("KEYFOLD_PANTRY_TABLE", "not-there", "not-there"),
        ("KEYFOLD_ALLOW_ORIGIN", "nowhere", "\"nowhere\" is not an origin"),
    ] {
        let mut command = lambda.command(&directory, &["serve", "--endpoint-url", &url]);
        let mut function = Process::start({
            command.env(variable, value);
            command
        });
        let error = lambda.init_error().await;
        assert!(error["errorMessage"].as_str().unwrap().contains(says), "{error}");
        assert_eq!(error["errorType"], "Keyfold.InitError");
        assert_eq!(function.ended().code(), Some(1));
        assert!(function.said.iter().any(|line| line.contains(says)), "{:?}", function.said);
    }
}

pub async fn without_arguments_a_function_serves() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let directory = tempfile::tempdir().unwrap();
    let mut command = lambda.command(&directory, &[]);
    command.env("KEYFOLD_ENDPOINT_URL", store.url());
    let _function = Process::start(command);
    let got = lambda
        .invoke(&Asked::post("{ __typename }", &json!({}), None).event(Form::FunctionUrl))
        .await
        .got(Form::FunctionUrl);
    assert_eq!(got.json(), json!({ "data": { "__typename": "Query" } }));
}

pub async fn a_function_that_is_asked_to_stop_ends() {
    let (lambda, mut store) = (Lambda::start().await, Store::start());
    let (mut function, _directory) = lambda.function(&store.url(), &[]);
    let me = Asked::post("{ me { name } }", &json!({}), Some(AIKO));
    lambda.invoke(&me.event(Form::Rest)).await.got(Form::Rest);
    // One that waits for an invocation ends at once, one that runs answers first.
    let _silent = store.hang();
    let answer = lambda.begin(&me.event(Form::Rest), Duration::from_secs(4));
    tokio::time::sleep(Duration::from_millis(500)).await;
    function.terminate();
    let got = answer.await.unwrap().got(Form::Rest);
    assert!(got.json()["errors"][0]["extensions"]["code"].is_string(), "{}", got.json());
    assert_eq!(function.ended().code(), Some(0), "{:?}", function.said);
    let store = Store::start();
    let (mut function, _directory) = lambda.function(&store.url(), &[]);
    lambda.invoke(&me.event(Form::Rest)).await.got(Form::Rest);
    function.terminate();
    assert_eq!(function.ended().code(), Some(0), "{:?}", function.said);
}

/// Between two invocations Lambda stops the process. Meanwhile the tables close its connections.
pub async fn after_a_freeze_a_function_goes_on() {
    let (lambda, mut store) = (Lambda::start().await, Store::start());
    let (function, _directory) = lambda.function(&store.url(), &[]);
    let signal = |name: &str| {
        let sent = Command::new("kill").args([name, &function.id().to_string()]).status().unwrap();
        assert!(sent.success());
    };
    let query = Asked::post("{ me { name } }", &json!({}), Some(AIKO));
    let mutation = Asked::post("mutation { renameUser(name: \"Aiko\") { name } }", &json!({}), Some(AIKO));
    for asked in [&query, &mutation, &query, &mutation] {
        let before = lambda.invoke(&query.event(Form::Rest)).await.got(Form::Rest);
        assert_eq!(before.json()["errors"], Value::Null);
        signal("-STOP");
        store.reset();
        let answer = lambda.begin(&asked.event(Form::Rest), Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(100)).await;
        signal("-CONT");
        let after = answer.await.unwrap().got(Form::Rest);
        assert_eq!(after.json()["errors"], Value::Null, "{}", after.json());
    }
}

pub async fn spans_are_sent_before_lambda_stops_the_process() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (collector, collected) = collector::over_http().await;
    let directory = tempfile::tempdir().unwrap();
    let url = store.url();
    let mut command = lambda.command(&directory, &["serve", "--endpoint-url", &url]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &collector).env("OTEL_PROPAGATORS", "tracecontext,xray");
    let _function = Process::start(command);
    let typename = Asked::post("{ __typename }", &json!({}), None);
    for times in 1..=3 {
        lambda.invoke(&typename.event(Form::HttpApi)).await.got(Form::HttpApi);
        lambda.wait_until_asked(times + 1).await;
        let spans = collected.spans();
        let requests: Vec<_> = spans.iter().filter(|span| span.parent_span_id == hex("9a9197af755a6419")).collect();
        assert_eq!(requests.len(), times, "{spans:#?}");
        // They belong to the trace of the invocation.
        assert!(spans.iter().all(|span| span.trace_id == hex("5bef4de7ad49b0e87f6ef6c87fc2e700")), "{spans:#?}");
    }
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

pub async fn a_part_of_lambda_s_environment_is_a_mistake() {
    let lambda = Lambda::start().await;
    let directory = tempfile::tempdir().unwrap();
    for (variable, value, says) in [
        ("AWS_LAMBDA_FUNCTION_NAME", "", "AWS_LAMBDA_RUNTIME_API is set, but not AWS_LAMBDA_FUNCTION_NAME"),
        ("AWS_LAMBDA_RUNTIME_API", "http://a/b c", "AWS_LAMBDA_RUNTIME_API cannot be read"),
    ] {
        let mut command = lambda.command(&directory, &["serve"]);
        let error = Ended::from(command.env(variable, value).output().unwrap()).badly(1);
        assert!(error.contains(says), "{error}");
    }
}

pub async fn listen_has_no_effect() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (mut function, _directory) =
        lambda.function(&store.url(), &["--listen", "127.0.0.1:1", "--metrics-listen", "127.0.0.1:1"]);
    function.wait_for("--listen has no effect");
    function.wait_for("--metrics-listen has no effect");
    let line = function.wait_for("serving as a Lambda function");
    assert!(line.contains("\"function\":\"pantry\"") && line.contains("\"streaming\":false"), "{line}");
}
