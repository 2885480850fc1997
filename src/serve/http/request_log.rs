//! A request in, its response with an id out. Logs one line for each request, and answers a panic with 500.

use super::graphql::{OperationName, refuse};
use super::media_type::MediaType;
use super::status::HttpRefusal;
use crate::serve::sign_in::origin::RequestId;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::time::Instant;
use uuid::Uuid;

/// The header that carries the id of a request, in both directions.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The status in the log if the client left before the answer, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// Longest text of a client in a log line, in bytes.
const LONGEST: usize = 256;

/// Runs the handlers with an id and a log line, and turns a panic into 500.
pub async fn around(mut request: Request, next: Next) -> Response {
    let id = request_id(request.headers());
    let mut line = Line {
        id: id.clone(),
        method: request.method().to_string(),
        path: shortened(request.uri().path()),
        operation: None,
        status: CLIENT_LEFT,
        began: Instant::now(),
    };
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|panic| {
        tracing::error!(request_id = %line.id, panic = panic_text(&*panic), "a request handler panicked");
        refuse(MediaType::Json, &HttpRefusal::Failed)
    });
    line.status = response.status().as_u16();
    line.operation = response.extensions_mut().remove::<OperationName>().map(|name| shortened(&name.0));
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// The log line of a request. Dropping it writes it, so that a request whose client left is logged too.
struct Line {
    id: String,
    method: String,
    path: String,
    operation: Option<String>,
    status: u16,
    began: Instant,
}

impl Drop for Line {
    fn drop(&mut self) {
        let ms = (self.began.elapsed().as_secs_f64() * 1e5).round() / 100.0;
        let Line { id, method, path, operation, status, .. } = self;
        let operation = operation.as_deref();
        if path.starts_with("/health/") {
            tracing::debug!(method, path, status, ms, request_id = id, "request");
        } else if *status >= 500 {
            tracing::warn!(method, path, status, ms, operation, request_id = id, "request");
        } else {
            tracing::info!(method, path, status, ms, operation, request_id = id, "request");
        }
    }
}

/// The client's id if it is short and plain, otherwise a new one: a UUID v7, so that ids sort by time.
fn request_id(headers: &HeaderMap) -> String {
    headers
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok())
        .filter(|id| (1..=128).contains(&id.len()))
        .filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte)))
        .map_or_else(|| Uuid::now_v7().to_string(), str::to_owned)
}

/// The text, cut at [`LONGEST`] bytes, without the control characters that could forge a log line.
fn shortened(text: &str) -> String {
    let end = text.floor_char_boundary(LONGEST);
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn id_for(sent: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(sent.as_bytes()).unwrap());
        request_id(&headers)
    }

    #[test]
    fn a_plain_id_is_kept_and_any_other_replaced() {
        assert_eq!(id_for("1-67891233-abcdef012345678912345678"), "1-67891233-abcdef012345678912345678");
        for odd in ["", "a b", "{\"a\":1}", "é", &"x".repeat(129)] {
            assert_eq!(Uuid::parse_str(&id_for(odd)).unwrap().get_version_num(), 7, "{odd}");
        }
    }

    #[test]
    fn log_text_is_short_and_on_one_line() {
        assert_eq!(shortened("a\nb\u{1b}[0m"), "a\u{fffd}b\u{fffd}[0m");
        assert_eq!(shortened(&"é".repeat(300)).len(), LONGEST);
    }
}
