//! `/graphql`: an HTTP request in, a GraphQL response out, by the rules of GraphQL over HTTP. Must not know what runs the operation.

use super::accept::{MediaType, negotiate};
use super::backend::{Answer, Backend, Call, Work};
use super::request::{from_json, from_query_string, is_json};
use super::settings::RequestLimits;
use super::status::{self, Refusal};
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::execute::gateway::Response;
use crate::execute::request::Request;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, FailedToBufferBody};
use axum::extract::{FromRequest, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::IntoResponse;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// How long after its deadline an operation may still bring its own answer.
const GRACE: Duration = Duration::from_millis(500);

/// The header that asks for the plan and the calls of an operation.
pub const EXPLAIN_HEADER: &str = "x-keyfold-explain";

/// The name of the operation that a response answers, for the request log.
#[derive(Debug, Clone)]
pub struct OperationName(pub String);

/// What the handler needs: shared by all requests.
pub struct Endpoint {
    /// Runs the operations.
    pub backend: Arc<dyn Backend>,
    /// Bounds of one request.
    pub limits: RequestLimits,
    /// Whether clients may ask for explanations.
    pub explain: bool,
    /// One permit for each request that is worked on, whether its client still waits or not.
    pub permits: Arc<Semaphore>,
}

impl Endpoint {
    /// Runs an operation until it is answered, or until a moment after its deadline: `None`. The permit is given back when the work ends.
    ///
    /// Dropping this future ends a query, whose answer nobody needs any more. It does not end a mutation: that runs in a task of its own,
    /// so that a client that leaves never stops it between two of its writes.
    pub async fn run(&self, call: Call, permit: OwnedSemaphorePermit) -> Option<Answer> {
        let limit = call.deadline + GRACE;
        let Work { writes, answer } = self.backend.begin(call);
        let work = async move {
            let _permit = permit;
            timeout_at(limit, answer).await.ok()
        };
        if !writes {
            return work.await;
        }
        match tokio::spawn(work).await {
            Ok(answer) => answer,
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The run time is shutting down.
                Err(_) => None,
            },
        }
    }
}

/// The response to an operation that has no answer a moment after its deadline.
pub fn late() -> Response {
    Response::refused(&[GraphqlError::new(ErrorCode::Timeout, "The request took too long.")])
}

/// Handles every method, so that each refusal is one of ours.
pub async fn handle(State(endpoint): State<Arc<Endpoint>>, request: axum::extract::Request) -> axum::response::Response {
    if request.method() != Method::GET && request.method() != Method::POST {
        return refuse(MediaType::Json, &Refusal::Method);
    }
    let Some(media) = negotiate(request.headers()) else { return refuse(MediaType::Json, &Refusal::NotAcceptable) };
    let Ok(permit) = endpoint.permits.clone().try_acquire_owned() else { return refuse(media, &Refusal::Busy) };

    let deadline = Instant::now() + endpoint.limits.request_timeout;
    let may_write = request.method() == Method::POST;
    let explain = endpoint.explain && wants_explanation(request.headers());
    let operation = match timeout_at(deadline, read(request, endpoint.limits.body_limit)).await {
        Ok(Ok(operation)) => operation,
        Ok(Err(refusal)) => return refuse(media, &refusal),
        Err(_) => return refuse(media, &Refusal::SlowBody),
    };
    let name = operation.operation_name.clone();
    let call = Call { request: operation, may_write, deadline, explain };
    let mut response = match endpoint.run(call, permit).await {
        Some(Answer::Response(response)) => respond(media, response),
        Some(Answer::MayNotWrite) => refuse(media, &Refusal::NotByGet),
        None => respond(media, late()),
    };
    if let Some(name) = name {
        response.extensions_mut().insert(OperationName(name));
    }
    response
}

/// The response to a request that was turned away.
pub fn refuse(media: MediaType, refusal: &Refusal) -> axum::response::Response {
    let mut response = reply(media, refusal.status(), Response::refused(&[refusal.error()]).body);
    if let Some(methods) = refusal.allow() {
        response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
    }
    if *refusal == Refusal::Busy {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}

fn respond(media: MediaType, response: Response) -> axum::response::Response {
    reply(media, status::of_response(media, response.refused), response.body)
}

/// What came of a request is the caller's own: no cache on the way may keep it.
fn reply(media: MediaType, status: StatusCode, body: Vec<u8>) -> axum::response::Response {
    let headers = [
        (header::CONTENT_TYPE, media.content_type()),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        (header::VARY, HeaderValue::from_static("accept")),
    ];
    (status, headers, Body::from(body)).into_response()
}

async fn read(request: axum::extract::Request, body_limit: usize) -> Result<Request, Refusal> {
    if request.method() == Method::GET {
        return from_query_string(request.uri()).map_err(Refusal::Malformed);
    }
    if !is_json(request.headers()) {
        return Err(Refusal::NotJson);
    }
    // The limit itself is enforced while the body is read, by the layer that the router puts around this handler.
    let body = Bytes::from_request(request, &()).await.map_err(|rejection| match rejection {
        BytesRejection::FailedToBufferBody(FailedToBufferBody::LengthLimitError(_)) => Refusal::TooLarge(body_limit),
        _ => Refusal::Malformed("The body ended early.".into()),
    })?;
    from_json(&body).map_err(Refusal::Malformed)
}

fn wants_explanation(headers: &HeaderMap) -> bool {
    headers.get(EXPLAIN_HEADER).is_some_and(|value| value == "1" || value.as_bytes().eq_ignore_ascii_case(b"true"))
}
