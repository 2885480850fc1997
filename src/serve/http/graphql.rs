//! `/graphql`: an HTTP request in, a GraphQL response out, by the rules of GraphQL over HTTP. Must not know what runs
//! the operation.

use super::body::accepted::AcceptedCodings;
use super::body::arriving::BodyCoding;
use super::body::compressor::Compressor;
use super::body::read;
use super::caching::{self, KnownResponses, VARY};
use super::idempotency_key;
use super::media_type::{MediaType, negotiate};
use super::operations::RequestOperations;
use super::request::{RequestBody, from_json, from_query_string, is_json};
use super::sse;
use super::status::{self, HttpRefusal};
use super::transport::Transport;
use crate::execute::error::ErrorCode;
use crate::execute::gateway::Response;
use crate::serve::admission::{resize_response, unsent};
use crate::serve::backend::request_summary::RequestSummary;
use crate::serve::client::ClientAddress;
use crate::serve::documents::parameters::RequestParameters;
use crate::serve::endpoint::Endpoint;
use crate::serve::quota::Share;
use crate::serve::sign_in::origin::RequestOrigin;
use crate::serve::telemetry::tracer::RequestSpan;
use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use std::sync::Arc;

/// The header that asks for the plan and the calls of an operation.
pub const EXPLAIN_HEADER: &str = "x-keyfold-explain";

/// The `Cache-Control` of a response that no cache may keep.
const NOT_KEPT: &str = "no-store";

/// The code of the error with which a request was refused, for the request log.
#[derive(Debug, Clone, Copy)]
pub struct RefusalCode(pub ErrorCode);

/// The endpoint as it answers over HTTP. Responses on WebSockets are not compressed.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// Runs the operations.
    pub endpoint: Arc<Endpoint>,
    /// Compresses the responses.
    pub compressor: Arc<Compressor>,
}

/// The form of a response that the client accepts.
#[derive(Debug, Clone)]
struct Form {
    media: MediaType,
    accepted: AcceptedCodings,
    /// The responses that it has already.
    known: KnownResponses,
}

/// Handles every method, so that every refusal has a GraphQL error as its body.
pub async fn handle(
    State(http): State<HttpEndpoint>,
    Extension(client): Extension<ClientAddress>,
    request: axum::extract::Request,
) -> axum::response::Response {
    let (request, body) = request.into_parts();
    let may_write = request.method == Method::POST;
    let transport: Transport = request.extensions.get().copied().unwrap_or_default();
    let (form, endpoint) = match form(&request, transport.streams) {
        Ok(form) => (form, &http.endpoint),
        Err((media, refusal)) => return refuse(media, &refusal),
    };
    let media = form.media;
    let origin = RequestOrigin::new(client, &request.extensions);
    let identity = match endpoint.authenticator.identify(endpoint.authenticator.credentials(&request), &origin).await {
        Ok(identity) => identity,
        Err(refused) => return refuse(media, &refused.into()),
    };
    if let Err(too_fast) = endpoint.may_begin(&identity, client) {
        return refuse(media, &too_fast.into());
    }
    let explain = endpoint.explain && wants_explanation(&request.headers);
    let last_event = sse::last_event(&request.headers);
    let key = idempotency_key::from_headers(&request.headers);
    let trace = request.extensions.get::<RequestSpan>().map(|span| span.own);
    let summary = request.extensions.get::<RequestSummary>().cloned().unwrap_or_default();
    let (body, memory) = match asked(endpoint, client, &request, body).await {
        Ok(read) => read,
        Err(refusal) => return refuse(media, &refusal),
    };
    drop(request);
    let is_signed_in = identity.caller.is_signed_in();
    let ends = transport.ends;
    let operations =
        RequestOperations { endpoint, client, identity, may_write, explain, last_event, key, ends, trace, summary };
    let mut response = match body {
        RequestBody::One(parameters) => {
            let answered = match media {
                // Boxed, as most requests have one response.
                MediaType::EventStream => Box::pin(operations.stream(*parameters, memory))
                    .await
                    .map(|responses| sse::respond(http.endpoint.clone(), client, responses, transport.closes)),
                _ => answer(&http, &form, &operations, parameters, memory).await,
            };
            answered.unwrap_or_else(|refusal| refuse(media, &refusal))
        }
        RequestBody::List(_) if media == MediaType::EventStream => {
            refuse(media, &HttpRefusal::Malformed("A stream of events answers one operation.".into()))
        }
        RequestBody::List(list) => match operations.run_list(list, memory).await {
            Ok(body) => send(&http, client, &form, Response { body: body.into(), ..Response::default() }).await,
            Err(refusal) => refuse(media, &refusal),
        },
    };
    // What may not be kept is not for caches that callers share, either.
    if is_signed_in && response.headers().get(header::CACHE_CONTROL).is_some_and(|value| value == NOT_KEPT) {
        response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store"));
    }
    response
}

/// The form of the response that a client accepts, or why there is none.
fn form(request: &Parts, streams: bool) -> Result<Form, (MediaType, HttpRefusal)> {
    if request.method != Method::POST && !is_read(&request.method) {
        return Err((MediaType::Json, HttpRefusal::Method));
    }
    let media = negotiate(&request.headers).ok_or((MediaType::Json, HttpRefusal::NotAcceptable))?;
    let accepted = AcceptedCodings::from_headers(&request.headers).ok_or((media, HttpRefusal::CodingNotAcceptable))?;
    if media == MediaType::EventStream && !accepted.plain() {
        return Err((media, HttpRefusal::CodingNotAcceptable));
    }
    if media == MediaType::EventStream && !streams {
        return Err((media, HttpRefusal::NoEvents));
    }
    Ok(Form { media, accepted, known: KnownResponses::new(&request.method, &request.headers) })
}

/// Runs an operation, and answers in the form that the client accepts.
async fn answer(
    http: &HttpEndpoint,
    form: &Form,
    operations: &RequestOperations<'_>,
    parameters: Box<RequestParameters>,
    memory: Share,
) -> Result<axum::response::Response, HttpRefusal> {
    let response = operations.run(*parameters, memory).await?;
    Ok(send(http, operations.client, form, response).await)
}

/// The response to a request that is refused.
pub fn refuse(media: MediaType, refusal: &HttpRefusal) -> axum::response::Response {
    let media = if media == MediaType::EventStream { MediaType::Json } else { media };
    let error = refusal.error();
    let mut response = reply(media, refusal.status(), Response::refused(std::slice::from_ref(&error)).body);
    response.extensions_mut().insert(RefusalCode(error.code));
    if let Some(methods) = refusal.allow() {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    }
    if let Some(codings) = refusal.codings() {
        response.headers_mut().insert(header::ACCEPT_ENCODING, HeaderValue::from_static(codings));
    }
    if let Some(version) = refusal.websocket_version() {
        response.headers_mut().insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static(version));
        response.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    }
    if let Some(challenge) = refusal.challenge() {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge));
    }
    if let Some(seconds) = refusal.retry_after() {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// Sends a response in the form that the client accepts.
async fn send(http: &HttpEndpoint, client: ClientAddress, form: &Form, response: Response) -> axum::response::Response {
    let Form { media, accepted, known } = form;
    let media = *media;
    let Response { mut body, policy, refused, failed, held, .. } = response;
    let name = known.name(policy, media, &body);
    if let Some(name) = name.as_ref().filter(|name| known.has(name)) {
        let mut response = StatusCode::NOT_MODIFIED.into_response();
        caching::allow(policy, response.headers_mut());
        // It has no body whose coding would matter.
        response.headers_mut().extend(name.value(false).map(|value| (header::ETAG, value)));
        return response;
    }
    let mut share = match http.endpoint.quotas.room_for_response(client, body.len()).await {
        Ok(share) => share,
        Err(exhausted) => return refuse(media, &HttpRefusal::ResponseDropped(exhausted)),
    };
    // What the operation has read is gone.
    drop(held);
    let coding = accepted.coding(body.len());
    if let Some(coding) = coding {
        let Some(compressed) = Box::pin(http.compressor.compress(coding, body)).await else {
            return refuse(media, &HttpRefusal::Busy);
        };
        body = compressed.into();
        if let Err(exhausted) = resize_response(&mut share, body.len()) {
            return refuse(media, &HttpRefusal::ResponseDropped(exhausted));
        }
    }
    let mut response = reply(media, status::response_status(media, refused.or(failed)), unsent(body, share));
    if let Some(coding) = coding {
        response.headers_mut().insert(header::CONTENT_ENCODING, coding.header_value());
    }
    caching::allow(policy, response.headers_mut());
    response
        .headers_mut()
        .extend(name.and_then(|name| name.value(coding.is_some())).map(|value| (header::ETAG, value)));
    response
}

/// A response that no cache may keep, unless more is said.
fn reply(media: MediaType, status: StatusCode, body: Bytes) -> axum::response::Response {
    let headers = [
        (header::CONTENT_TYPE, media.content_type()),
        (header::CACHE_CONTROL, HeaderValue::from_static(NOT_KEPT)),
        (header::VARY, HeaderValue::from_static(VARY)),
    ];
    (status, headers, Body::from(body)).into_response()
}

/// What a request asks for, and the memory that it holds.
async fn asked(
    endpoint: &Endpoint,
    client: ClientAddress,
    request: &Parts,
    body: Body,
) -> Result<(RequestBody, Share), HttpRefusal> {
    let memory = endpoint.quotas.requests.take(client, 0)?;
    if is_read(&request.method) {
        let parameters = from_query_string(&request.uri).map_err(HttpRefusal::Malformed)?;
        return Ok((RequestBody::One(Box::new(parameters)), memory));
    }
    if !is_json(&request.headers) {
        return Err(HttpRefusal::NotJson);
    }
    let coding = BodyCoding::new(&request.headers).ok_or(HttpRefusal::UnknownCoding)?;
    let (text, memory) = read::read(body, coding, &endpoint.limits, memory).await?;
    Ok((from_json(&text).map_err(HttpRefusal::Malformed)?, memory))
}

/// Whether a method only reads. HEAD is answered as GET is, without the body (RFC 9110 section 9.3.2).
fn is_read(method: &Method) -> bool {
    *method == Method::GET || *method == Method::HEAD
}

fn wants_explanation(headers: &HeaderMap) -> bool {
    headers.get(EXPLAIN_HEADER).is_some_and(|value| value == "1" || value.as_bytes().eq_ignore_ascii_case(b"true"))
}
