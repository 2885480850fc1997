//! Answers that are streamed.

use crate::callers::AIKO;
use crate::events::{Asked, FORMS, Form};
use crate::runtime::Lambda;
use crate::store::Store;
use crate::support;
use crate::transport::{CONTAINERS, enlarge};
use flate2::read::GzDecoder;
use keyfold::execute::gateway::Gateway;
use serde_json::{Value, json};
use std::io::Read;
use std::time::{Duration, Instant};

const STREAMING: [Form; 2] = [Form::Rest, Form::FunctionUrl];
const POST: &str = "019c899e-9f40-7777-8777-777777777777";

pub async fn a_large_answer_is_streamed() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &["--lambda-streaming"]);
    enlarge(&store, 24, 250_000).await;
    for form in STREAMING {
        let asked = Asked::post(CONTAINERS, &json!({}), Some(AIKO));
        let got = lambda.invoke(&asked.event(form)).await.streamed();
        assert_eq!(
            (got.status, got.header("content-type")),
            (200, Some("application/json; charset=utf-8")),
            "{form:?}"
        );
        assert!(got.body.len() > 6 << 20, "{form:?}: {}", got.body.len());
        let expected = got.json();
        assert_eq!(
            (&expected["errors"], expected["data"]["group"]["containers"]["nodes"].as_array().unwrap().len()),
            (&Value::Null, 26)
        );
        // A stream has bytes, never base64.
        let got = lambda.invoke(&asked.with("accept-encoding", "gzip").event(form)).await.streamed();
        assert_eq!(got.header("content-encoding"), Some("gzip"), "{form:?}");
        let mut body = String::new();
        GzDecoder::new(&got.body[..]).read_to_string(&mut body).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&body).unwrap(), expected, "{form:?}");
        // A refusal is streamed, too.
        let got = lambda.invoke(&Asked::get("/nothing").event(form)).await.streamed();
        assert_eq!(got.error(), (404, "NOT_FOUND".to_owned()), "{form:?}");
    }
}

pub async fn senders_that_cannot_stream_get_an_object() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &["--lambda-streaming"]);
    for form in FORMS.into_iter().filter(|form| !STREAMING.contains(form)) {
        let got = lambda.invoke(&Asked::post("{ me { name } }", &json!({}), Some(AIKO)).event(form)).await.got(form);
        assert_eq!(got.json()["data"]["me"]["name"], "Aiko Tanaka", "{form:?}");
    }
}

fn comments() -> Asked {
    let query = format!("subscription {{ comments(postId: \"{POST}\") {{ text }} }}");
    Asked::post(&query, &json!({}), Some(AIKO)).with("accept", "text/event-stream")
}

/// Comments on Aiko's post, as another gateway would.
async fn comment(store: &Store, text: &str) {
    let gateway = Gateway::new(support::model("pantry"), store.client().await, support::settings());
    let query =
        format!("mutation {{ addComment(postUserId: \"{AIKO}\", postId: \"{POST}\", text: \"{text}\") {{ text }} }}");
    let mut request = support::request(&query, json!({}));
    request.caller = support::caller(json!({ "sub": AIKO }));
    let response = support::run(&gateway, &request, false).await;
    assert_eq!(response["data"]["addComment"]["text"], text, "{response:#}");
}

pub async fn events_are_streamed_until_the_time_is_over() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (mut function, _directory) = lambda.function(&store.url(), &["--lambda-streaming"]);
    function.wait_for("serving as a Lambda function");
    for form in STREAMING {
        let began = Instant::now();
        let answer = lambda.begin(&comments().event(form), Duration::from_secs(8));
        tokio::time::sleep(Duration::from_secs(3)).await;
        comment(&store, "Heard").await;
        let got = answer.await.unwrap().streamed();
        let took = began.elapsed();
        let events = String::from_utf8(got.body.clone()).unwrap();
        assert_eq!(
            (got.status, got.header("content-type")),
            (200, Some("text/event-stream; charset=utf-8")),
            "{form:?}"
        );
        assert!(events.contains("event: next") && events.contains("Heard"), "{form:?}: {events}");
        // After `complete`, a client would not connect again.
        assert!(events.ends_with("\n\n") && !events.contains("event: complete"), "{form:?}: {events}");
        assert!(took > Duration::from_secs(7) && took < Duration::from_secs(8), "{form:?}: {took:?}");
        let query = Asked::post("{ me { name } }", &json!({}), Some(AIKO)).with("accept", "text/event-stream");
        let got = lambda.invoke(&query.event(form)).await.streamed();
        assert!(String::from_utf8(got.body).unwrap().ends_with("event: complete\ndata:\n\n"), "{form:?}");
    }
}

pub async fn without_streaming_there_are_no_events() {
    let (lambda, store) = (Lambda::start().await, Store::start());
    let (_function, _directory) = lambda.function(&store.url(), &[]);
    for form in FORMS {
        let got = lambda.invoke(&comments().event(form)).await.got(form);
        assert_eq!(got.error(), (406, "BAD_USER_INPUT".to_owned()), "{form:?}");
        assert!(got.json()["errors"][0]["message"].as_str().unwrap().contains("--lambda-streaming"), "{form:?}");
        let asked = Asked::post("subscription { comments(postId: \"1\") { text } }", &json!({}), Some(AIKO));
        let got = lambda.invoke(&asked.with("accept", "application/graphql-response+json").event(form)).await.got(form);
        assert_eq!(got.error(), (400, "GRAPHQL_VALIDATION_FAILED".to_owned()), "{form:?}");
    }
}
