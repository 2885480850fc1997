//! `/graphql`: an HTTP request in, a GraphQL response out, by the rules of GraphQL over HTTP. Must not know what runs the operation.

use super::media_type::{MediaType, negotiate};
use super::request::{from_json, from_query_string, is_json};
use super::status::{self, HttpRefusal};
use crate::execute::gateway::Response;
use crate::execute::request::Request;
use crate::serve::backend::{Invocation, MayNotWrite};
use crate::serve::endpoint::{Endpoint, timed_out};
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use futures_util::stream::StreamExt;
use std::sync::Arc;
use tokio::time::{Instant, timeout_at};

/// The header that asks for the plan and the calls of an operation.
pub const EXPLAIN_HEADER: &str = "x-keyfold-explain";

/// The name of the operation that a response answers, for the request log.
#[derive(Debug, Clone)]
pub struct OperationName(pub String);

/// Handles every method, so that every refusal has a GraphQL error as its body.
pub async fn handle(State(endpoint): State<Arc<Endpoint>>, request: axum::extract::Request) -> axum::response::Response {
    if request.method() != Method::GET && request.method() != Method::POST {
        return refuse(MediaType::Json, &HttpRefusal::Method);
    }
    let Some(media) = negotiate(request.headers()) else { return refuse(MediaType::Json, &HttpRefusal::NotAcceptable) };
    let Ok(permit) = endpoint.permits.clone().try_acquire_owned() else { return refuse(media, &HttpRefusal::Busy) };

    let deadline = Instant::now() + endpoint.limits.request_timeout;
    let may_write = request.method() == Method::POST;
    let explain = endpoint.explain && wants_explanation(request.headers());
    let operation = match timeout_at(deadline, read(request, endpoint.limits.body_limit)).await {
        Ok(Ok(operation)) => operation,
        Ok(Err(refusal)) => return refuse(media, &refusal),
        Err(_) => return refuse(media, &HttpRefusal::SlowBody),
    };
    let name = operation.operation_name.clone();
    let invocation = Invocation { request: operation, may_write, deadline, explain };
    let mut response = match endpoint.run(invocation, permit) {
        Ok(mut responses) => respond(media, responses.next().await.unwrap_or_else(timed_out)),
        Err(MayNotWrite) => refuse(media, &HttpRefusal::NotByGet),
    };
    if let Some(name) = name {
        response.extensions_mut().insert(OperationName(name));
    }
    response
}

/// The response to a request that is refused.
pub fn refuse(media: MediaType, refusal: &HttpRefusal) -> axum::response::Response {
    let mut response = reply(media, refusal.status(), Response::refused(&[refusal.error()]).body);
    if let Some(methods) = refusal.allow() {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    }
    if *refusal == HttpRefusal::Busy {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn respond(media: MediaType, response: Response) -> axum::response::Response {
    reply(media, status::of_response(media, response.refused), response.body)
}

/// A response is for its client only: no cache may keep it.
fn reply(media: MediaType, status: StatusCode, body: Vec<u8>) -> axum::response::Response {
    let headers = [
        (header::CONTENT_TYPE, media.content_type()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("accept")),
    ];
    (status, headers, Body::from(body)).into_response()
}

async fn read(request: axum::extract::Request, body_limit: usize) -> Result<Request, HttpRefusal> {
    if request.method() == Method::GET {
        return from_query_string(request.uri()).map_err(HttpRefusal::Malformed);
    }
    if !is_json(request.headers()) {
        return Err(HttpRefusal::NotJson);
    }
    // A layer that the router puts around this handler enforces the limit while the body is read.
    let body = Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => HttpRefusal::TooLarge(body_limit),
        _ => HttpRefusal::Malformed("The body ended early.".into()),
    })?;
    from_json(&body).map_err(HttpRefusal::Malformed)
}

fn wants_explanation(headers: &HeaderMap) -> bool {
    headers.get(EXPLAIN_HEADER).is_some_and(|value| value == "1" || value.as_bytes().eq_ignore_ascii_case(b"true"))
}
