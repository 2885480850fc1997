//! The responses of an operation in, a stream of events out, by the protocol graphql-sse ("distinct connections mode"):
//! `next` for each response, then `complete`. Must not know media types, nor what runs the operation.
//!
//! A client reads an operation's own errors from `next`: a browser's `EventSource` does not show the body of a failed
//! request.

use super::status::HttpRefusal;
use crate::execute::gateway;
use crate::serve::admission::unsent;
use crate::serve::client::ClientAddress;
use crate::serve::endpoint::Endpoint;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, BoxStream, StreamExt};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};

/// How often the client receives something, so that no proxy takes the connection for dead. Most wait for 30 seconds or
/// longer.
pub const HEARTBEAT: Duration = Duration::from_secs(12);
/// A comment (HTML standard, section 9.2.6).
pub const COMMENT: &[u8] = b":\n\n";
/// The last event. Without a line of data, browsers would not report it.
const COMPLETE: &[u8] = b"event: complete\ndata:\n\n";

/// The header with the id of the last event that a client has had (HTML standard, section 9.2.3). Browsers send it when
/// they connect again.
const LAST_EVENT: &str = "last-event-id";

/// The header by which nginx, and those that follow it, learn that a response is passed on piece by piece.
const UNBUFFERED: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The id of the last event that a client has had; `None` for one that begins.
pub fn last_event(headers: &HeaderMap) -> Option<String> {
    headers.get(LAST_EVENT).and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty()).map(str::to_owned)
}

/// The response that streams the responses of an operation, until the time at which the stream closes. It is never
/// compressed: each event is sent at once.
pub fn respond(
    endpoint: Arc<Endpoint>,
    client: ClientAddress,
    responses: BoxStream<'static, gateway::Response>,
    closes: Option<Instant>,
) -> Response {
    let held = move |response| held(endpoint.clone(), client, response);
    let events = match closes {
        Some(closes) => events(responses, held).take_until(sleep_until(closes)).boxed(),
        None => events(responses, held),
    };
    streamed(events)
}

/// The response that streams events.
pub fn streamed(events: BoxStream<'static, Bytes>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream; charset=utf-8")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache, no-store, no-transform")),
        (UNBUFFERED, HeaderValue::from_static("no")),
        (header::VARY, HeaderValue::from_static("accept, accept-encoding")),
    ];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

/// The events of an operation. `event` makes one of each response.
fn events<E: Future<Output = Bytes> + Send + 'static>(
    responses: BoxStream<'static, gateway::Response>,
    event: impl Fn(gateway::Response) -> E + Send + Sync + 'static,
) -> BoxStream<'static, Bytes> {
    let event = Arc::new(event);
    let next = move |responses: Option<BoxStream<'static, gateway::Response>>| {
        let event = event.clone();
        async move {
            let mut responses = responses?;
            match timeout(HEARTBEAT, responses.next()).await {
                Err(_) => Some((Bytes::from_static(COMMENT), Some(responses))),
                Ok(Some(response)) => Some((event(response).await, Some(responses))),
                Ok(None) => Some((Bytes::from_static(COMPLETE), None)),
            }
        }
    };
    stream::unfold(Some(responses), next).boxed()
}

/// The event of a response, which has its share until it is sent. It waits for room.
async fn held(endpoint: Arc<Endpoint>, client: ClientAddress, response: gateway::Response) -> Bytes {
    let event = next_event(&response);
    match endpoint.quotas.room_for_response(client, event.len()).await {
        Ok(share) => unsent(event.into(), share),
        Err(exhausted) => {
            next_event(&gateway::Response::refused(&[HttpRefusal::ResponseDropped(exhausted).error()])).into()
        }
    }
}

/// The event `next` with a response map, and with its id if it has one. Lines may end anywhere between the tokens of
/// JSON, and nowhere else.
fn next_event(response: &gateway::Response) -> Vec<u8> {
    let id = response.event.as_deref().unwrap_or_default();
    let mut event = Vec::with_capacity(response.body.len() + id.len() + 40);
    event.extend_from_slice(b"event: next\n");
    if !id.is_empty() {
        event.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    for line in response.body.split(|byte| matches!(byte, b'\n' | b'\r')) {
        event.extend_from_slice(b"data: ");
        event.extend_from_slice(line);
        event.push(b'\n');
    }
    event.push(b'\n');
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn said(responses: BoxStream<'static, gateway::Response>) -> String {
        let all: Vec<Bytes> = events(responses, async |response| next_event(&response).into()).collect().await;
        String::from_utf8_lossy(&all.concat()).into_owned()
    }

    fn response(body: &str) -> gateway::Response {
        gateway::Response { body: body.to_owned().into(), ..gateway::Response::default() }
    }

    #[tokio::test]
    async fn each_response_is_an_event() {
        let responses = stream::iter([response("{\"data\":1}"), response("{\n\"data\":2}")]).boxed();
        let events =
            "event: next\ndata: {\"data\":1}\n\nevent: next\ndata: {\ndata: \"data\":2}\n\nevent: complete\ndata:\n\n";
        assert_eq!(said(responses).await, events);
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_has_heartbeats() {
        let late = stream::once(async {
            tokio::time::sleep(HEARTBEAT * 2 + HEARTBEAT / 2).await;
            response("{}")
        });
        assert_eq!(said(late.boxed()).await, ":\n\n:\n\nevent: next\ndata: {}\n\nevent: complete\ndata:\n\n");
    }
}
