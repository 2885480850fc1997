//! A service on a port of its own, which keeps each request that it gets and answers each item with a text.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// A request that a service got.
pub struct Heard {
    pub method: Method,
    pub uri: Uri,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Heard {
    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// All of it as one text.
    pub fn text(&self) -> String {
        format!("{} {} {:?} {}", self.method, self.uri, self.headers, String::from_utf8_lossy(&self.body))
    }
}

/// A service that keeps what it gets.
#[derive(Clone)]
pub struct Ear {
    /// Its address.
    pub url: String,
    heard: Arc<Mutex<Vec<Heard>>>,
    /// Where it sends whoever asks, if anywhere.
    elsewhere: Option<String>,
}

impl Ear {
    /// A service that answers, or one that sends callers elsewhere.
    pub async fn start(elsewhere: Option<String>) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/words", listener.local_addr().unwrap());
        let ear = Self { url, heard: Arc::default(), elsewhere };
        let app = Router::new().fallback(hear).with_state(ear.clone());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        ear
    }

    /// The requests since the last time.
    pub fn take(&self) -> Vec<Heard> {
        std::mem::take(&mut *self.heard.lock().unwrap())
    }
}

async fn hear(State(ear): State<Ear>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let heard = Heard { method, uri, headers, body };
    let items = heard.json()["items"].as_array().map_or(0, Vec::len);
    ear.heard.lock().unwrap().push(heard);
    match &ear.elsewhere {
        Some(elsewhere) => {
            (axum::http::StatusCode::TEMPORARY_REDIRECT, [("location", elsewhere.clone())]).into_response()
        }
        None => json!({ "results": vec![json!({ "data": "fine" }); items] }).to_string().into_response(),
    }
}
