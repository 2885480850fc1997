//! `/graphql`: an HTTP request in, a GraphQL response out, by the rules of GraphQL over HTTP. Must not know what runs the operation.

use super::body;
use super::media_type::{MediaType, negotiate};
use super::operations::RequestOperations;
use super::request::{RequestBody, from_json, from_query_string, is_json};
use super::status::{self, HttpRefusal};
use crate::execute::gateway::Response;
use crate::serve::admission::unsent;
use crate::serve::client::ClientAddress;
use crate::serve::endpoint::Endpoint;
use crate::serve::quota::Share;
use crate::serve::sign_in::credentials::Credentials;
use crate::serve::sign_in::origin::RequestOrigin;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use std::sync::Arc;

/// The header that asks for the plan and the calls of an operation.
pub const EXPLAIN_HEADER: &str = "x-keyfold-explain";

/// The name of the operation that a response answers, for the request log.
#[derive(Debug, Clone)]
pub struct OperationName(pub String);

/// Handles every method, so that every refusal has a GraphQL error as its body.
pub async fn handle(
    State(endpoint): State<Arc<Endpoint>>,
    Extension(client): Extension<ClientAddress>,
    request: axum::extract::Request,
) -> axum::response::Response {
    let may_write = request.method() == Method::POST;
    if !may_write && !is_read(request.method()) {
        return refuse(MediaType::Json, &HttpRefusal::Method);
    }
    let Some(media) = negotiate(request.headers()) else { return refuse(MediaType::Json, &HttpRefusal::NotAcceptable) };
    let origin = RequestOrigin::new(client, request.extensions());
    let identity = match endpoint.authenticator.identify(Credentials::of_headers(request.headers()), &origin).await {
        Ok(identity) => identity,
        Err(fault) => return refuse(media, &fault.into()),
    };
    if let Err(too_fast) = endpoint.may_begin(&identity, client) {
        return refuse(media, &too_fast.into());
    }
    let explain = endpoint.explain && wants_explanation(request.headers());
    let (body, memory) = match read(&endpoint, client, request).await {
        Ok(read) => read,
        Err(refusal) => return refuse(media, &refusal),
    };
    let is_signed_in = identity.caller.is_signed_in();
    let operations = RequestOperations { endpoint: &endpoint, client, identity, may_write, explain };
    let mut response = match body {
        RequestBody::One(parameters) => {
            let name = parameters.operation_name.clone();
            let mut response = match operations.run(*parameters, memory).await {
                Ok(response) => respond(&endpoint, client, media, response),
                Err(refusal) => refuse(media, &refusal),
            };
            if let Some(name) = name {
                response.extensions_mut().insert(OperationName(name));
            }
            response
        }
        RequestBody::List(list) => match operations.run_list(list, memory).await {
            Ok(body) => reply(media, StatusCode::OK, body),
            Err(refusal) => refuse(media, &refusal),
        },
    };
    if is_signed_in {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    response
}

/// The response to a request that is refused.
pub fn refuse(media: MediaType, refusal: &HttpRefusal) -> axum::response::Response {
    let mut response = reply(media, refusal.status(), Response::refused(&[refusal.error()]).body.into());
    if let Some(methods) = refusal.allow() {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    }
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    if let Some(seconds) = refusal.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

fn respond(endpoint: &Endpoint, client: ClientAddress, media: MediaType, response: Response) -> axum::response::Response {
    match endpoint.quotas.hold_response(client, response.body.len()) {
        Ok(share) => reply(media, status::of_response(media, response.refused), unsent(response.body, share)),
        Err(exhausted) => refuse(media, &HttpRefusal::ResponseDropped(exhausted)),
    }
}

/// A response is for its client only: no cache may keep it.
fn reply(media: MediaType, status: StatusCode, body: Bytes) -> axum::response::Response {
    let headers = [
        (header::CONTENT_TYPE, media.content_type()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("accept")),
    ];
    (status, headers, Body::from(body)).into_response()
}

/// What a request asks for, and the memory that it holds.
async fn read(endpoint: &Endpoint, client: ClientAddress, request: axum::extract::Request) -> Result<(RequestBody, Share), HttpRefusal> {
    let memory = endpoint.quotas.requests.take(client, 0)?;
    if is_read(request.method()) {
        let parameters = from_query_string(request.uri()).map_err(HttpRefusal::Malformed)?;
        return Ok((RequestBody::One(Box::new(parameters)), memory));
    }
    if !is_json(request.headers()) {
        return Err(HttpRefusal::NotJson);
    }
    let (text, memory) = body::read(request.into_body(), &endpoint.limits, memory).await?;
    Ok((from_json(&text).map_err(HttpRefusal::Malformed)?, memory))
}

/// Whether a method only reads. HEAD is answered as GET is, without the body (RFC 9110 section 9.3.2).
fn is_read(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

fn wants_explanation(headers: &HeaderMap) -> bool {
    headers.get(EXPLAIN_HEADER).is_some_and(|value| value == "1" || value.as_bytes().eq_ignore_ascii_case(b"true"))
}
