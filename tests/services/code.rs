//! Services that are code of the program, by the library's public names.

use keyfold::{Caller, Gateway, Request};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// A gateway with one note, whose word is by a service with these arguments and this code.
async fn gateway(
    service: &str,
    word: impl Fn(usize) -> Value + Send + Sync + 'static,
) -> (Gateway, Arc<Mutex<Vec<Option<String>>>>) {
    let schema = format!(
        r#"extend schema @table(name: "notes", partitionKey: "PK") @service(name: "words"{service})
        type Note @item(keys: {{ PK: "NOTE#{{id}}" }}) {{
          id: ID!
          word: JSON @resolve(service: "words", requires: "id")
        }}
        type Query {{ note(id: ID!): Note @find }}"#
    );
    let tokens = Arc::<Mutex<Vec<Option<String>>>>::default();
    let (known, word) = (tokens.clone(), Arc::new(word));
    let code = move |request: keyfold::service::ServiceRequest| {
        known.lock().unwrap().push(request.token.as_ref().map(|token| token.0.clone()));
        let word = word.clone();
        async move { (0..request.items.len()).map(|item| Ok(word(item))).collect() }
    };
    let item = r#"{"Item": {"PK": {"S": "NOTE#1"}}}"#;
    let built = Gateway::builder().schema(schema).in_memory().items("notes", item).service("words", code).build().await;
    (built.unwrap(), tokens)
}

const QUERY: &str = "{ note(id: 1) { id word } }";

#[tokio::test]
async fn the_answer_of_code_has_at_most_its_bytes() {
    let of_length = |length: usize| move |_| json!("x".repeat(length));
    let nested = |_| json!({ "list": vec![json!({ "name": "x".repeat(10) }); 100] });
    let numbers = |_| json!(vec![1; 600]);
    let (fits, _) = gateway(", maxBytes: 1000", of_length(900)).await;
    assert_eq!(fits.execute(Request::new(QUERY)).await.json()["data"]["note"]["word"], "x".repeat(900));
    let too_many: [(&str, Gateway); 3] = [
        ("a text", gateway(", maxBytes: 1000", of_length(1001)).await.0),
        ("objects", gateway(", maxBytes: 1000", nested).await.0),
        ("numbers", gateway(", maxBytes: 1000", numbers).await.0),
    ];
    for (what, gateway) in too_many {
        let answer = gateway.execute(Request::new(QUERY)).await.json();
        assert_eq!(answer["data"], json!({ "note": { "id": "1", "word": null } }), "{what}: {answer}");
        assert_eq!(answer["errors"][0]["extensions"]["code"], "INTERNAL", "{what}");
    }
}

#[tokio::test]
async fn code_answers_for_a_service_with_an_address() {
    let asked = Arc::new(AtomicUsize::new(0));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let counted = asked.clone();
    let app = axum::Router::new().fallback(move || async move {
        counted.fetch_add(1, Ordering::SeqCst);
    });
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let (gateway, _) = gateway(&format!(", url: \"{url}\""), |_| json!("by code")).await;
    assert_eq!(gateway.execute(Request::new(QUERY)).await.json()["data"]["note"]["word"], "by code");
    assert_eq!(asked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn code_gets_the_token_if_the_schema_says_so() {
    let ann = || Caller::signed_in(serde_json::Map::new()).with_token("a.b.c");
    for (service, token) in [("", None), (", forwardToken: true", Some("a.b.c".to_owned()))] {
        let (gateway, tokens) = gateway(service, |_| json!("x")).await;
        let answer = gateway.execute(Request { caller: ann(), ..Request::new(QUERY) }).await;
        assert_eq!(answer.json()["data"]["note"]["word"], "x");
        gateway.execute(Request::new(QUERY)).await;
        assert_eq!(*tokens.lock().unwrap(), [token, None]);
    }
    assert!(!format!("{:?} {:?}", ann(), ann().token()).contains("a.b.c"));
}
