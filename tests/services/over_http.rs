//! A service that answers over HTTP: what it gets, and what it may do wrong.

use crate::scripted::by;
use crate::support;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::post};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::schema;
use keyfold::serve::outbound::service::HttpServices;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

type Answer = Arc<dyn Fn() -> Response + Send + Sync>;

#[derive(Clone)]
struct Asked {
    calls: Arc<Mutex<Vec<(HeaderMap, Bytes)>>>,
    answer: Answer,
}

async fn asked(State(state): State<Asked>, headers: HeaderMap, body: Bytes) -> Response {
    state.calls.lock().unwrap().push((headers, body));
    (state.answer)()
}

/// A shop of two orders beside a service that answers so.
async fn shop(answer: impl Fn() -> Response + Send + Sync + 'static) -> (Gateway, Asked) {
    let state = Asked { calls: Arc::default(), answer: Arc::new(answer) };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/pricing", listener.local_addr().unwrap());
    let app = Router::new().route("/pricing", post(asked)).with_state(state.clone());
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    let text = format!(
        r#"extend schema
          @table(name: "shop", partitionKey: "PK", sortKey: "SK")
          @service(name: "pricing", url: "{address}", timeout: "1s", claims: ["sub"], secret: "${{SECRET}}", maxBytes: 60000)
        type Order @item(keys: {{ PK: "SHOP", SK: "ORDER#{{id}}" }}) {{
          id: ID!
          total: Float @resolve(service: "pricing", requires: "id")
        }}
        type Query {{ orders: [Order!]! @find }}"#
    );
    let environment = |name: &str| (name == "SECRET").then(|| "s3cret".to_owned());
    let (model, _) =
        schema::load("shop.graphql", &text, &environment).unwrap_or_else(|found| panic!("{}", found.render(false)));
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let item = |id: &str| {
        parse_line(&json!({ "Item": { "PK": { "S": "SHOP" }, "SK": { "S": format!("ORDER#{id}") } } }).to_string())
    };
    let items = ["1", "2"].map(|id| item(id).unwrap().unwrap()).into();
    store.load(&model.tables[0], items, support::deadline()).await.unwrap();
    let settings = Settings { services: Some(Arc::new(HttpServices::default())), ..support::settings() };
    (Gateway::new(Arc::new(model), store, settings), state)
}

async fn answer(gateway: &Gateway) -> Value {
    support::run(gateway, &by("guest", "{ orders { id total } }"), false).await
}

fn codes(response: &Value) -> Vec<&str> {
    let errors = response["errors"].as_array().into_iter().flatten();
    errors.map(|error| error["extensions"]["code"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_service_gets_json_that_is_signed() {
    let (gateway, asked) = shop(|| r#"{"results":[{"data":1.5},{"data":2}]}"#.into_response()).await;
    let response = answer(&gateway).await;
    assert_eq!(response, json!({ "data": { "orders": [{ "id": "1", "total": 1.5 }, { "id": "2", "total": 2 }] } }));
    let calls = std::mem::take(&mut *asked.calls.lock().unwrap());
    let [(headers, body)] = calls.as_slice() else { panic!("{} calls", calls.len()) };
    assert_eq!(headers["content-type"], "application/json");
    assert!(!headers.contains_key("authorization"));
    let sent: Value = serde_json::from_slice(body).unwrap();
    let expected =
        json!({ "field": "Order.total", "caller": { "sub": "u1" }, "items": [{ "id": "1" }, { "id": "2" }] });
    assert_eq!(sent, expected);
    let signature = headers["keyfold-signature"].to_str().unwrap();
    let (time, own) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, b"s3cret");
    let signed = [time.as_bytes(), b".", body].concat();
    ring::hmac::verify(&key, &signed, &hex::decode(own).unwrap()).unwrap();
}

#[tokio::test]
async fn what_a_service_does_wrong_is_an_error_at_its_fields() {
    let text = |text: &'static str| move || text.into_response();
    let wrong: Vec<(&str, Answer)> = vec![
        ("INTERNAL", Arc::new(text("no JSON"))),
        ("INTERNAL", Arc::new(text(r#"{"results":[{"data":1}]}"#))),
        ("INTERNAL", Arc::new(text(r#"{"results":[{"data":1},{"data":1},{"data":1}]}"#))),
        ("INTERNAL", Arc::new(|| Body::from(vec![b' '; 50 << 20]).into_response())),
        ("UNAVAILABLE", Arc::new(|| StatusCode::INTERNAL_SERVER_ERROR.into_response())),
        ("UNAVAILABLE", Arc::new(|| StatusCode::FORBIDDEN.into_response())),
        ("UNAVAILABLE", Arc::new(|| (StatusCode::FOUND, [("location", "http://127.0.0.1:1/")]).into_response())),
        ("SERVICE_REFUSED", Arc::new(text(r#"{"results":[7,{"error":{"code":"A","message":"b"}}]}"#))),
    ];
    for (code, answer_of_service) in wrong {
        let (gateway, _) = shop(move || answer_of_service()).await;
        let begun = Instant::now();
        let response = answer(&gateway).await;
        assert_eq!(codes(&response), [code, code], "{response}");
        assert_eq!(response["data"]["orders"], json!([{ "id": "1", "total": null }, { "id": "2", "total": null }]));
        assert!(begun.elapsed() < Duration::from_secs(5));
    }
}

#[tokio::test]
async fn a_service_that_never_ends_its_answer_is_late() {
    let endless = || {
        let begun = futures_util::stream::once(async { Ok::<_, std::io::Error>(Bytes::from_static(b"{")) });
        let never = futures_util::stream::pending();
        Body::from_stream(futures_util::StreamExt::chain(begun, never)).into_response()
    };
    let (gateway, _) = shop(endless).await;
    let begun = Instant::now();
    let response = answer(&gateway).await;
    assert_eq!(codes(&response), ["TIMEOUT", "TIMEOUT"]);
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}
