//! The callers of the samples, for the page of `keyfold dev`: each with a token. `keyfold serve` has none.
//!
//! Whoever reaches this address acts as any of them, so only a server for development has it, and
//! [`super::development`] refuses pages of other origins.

use crate::serve::sign_in::dev_issuer::DevIssuer;
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How long the tokens are valid: longer than a page is usually open.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Callers that the page may choose from, and the issuer of their tokens.
pub struct SampleCallers {
    /// The issuer.
    pub issuer: DevIssuer,
    /// The name of each, and the claims.
    pub callers: Vec<(String, Map<String, Value>)>,
}

/// The response to GET `/dev/callers`: the name and a new token of each.
pub async fn list(State(sample): State<Arc<SampleCallers>>) -> Response {
    let ends = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + LIFETIME;
    let ends = i64::try_from(ends.as_secs()).unwrap_or(i64::MAX);
    let one = |(name, claims): &(String, Map<String, Value>)| {
        let token = sample.issuer.token(claims.clone(), ends);
        json!({ "name": name, "token": token })
    };
    let body: Vec<Value> = sample.callers.iter().map(one).collect();
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
    ];
    (headers, Value::from(body).to_string()).into_response()
}
