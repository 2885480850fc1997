//! An admitted operation in; its responses out, bounded in time. Shared by HTTP and WebSockets. Must not know either.

use super::admission::{Admission, Quotas};
use super::backend::{Backend, Execution, Invocation, MayNotWrite};
use super::client::ClientAddress;
use super::documents::lookup::Documents;
use super::quota::Exhausted;
use super::settings::RequestLimits;
use super::sign_in::authenticator::{Authenticator, Identity};
use super::sign_in::rate_limit::{RateLimit, TooFast};
use super::telemetry::observer::Telemetry;
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::execute::gateway::Response;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// How long after its deadline an operation may still give its own response.
const GRACE: Duration = Duration::from_millis(500);

/// Runs the operations of all requests.
pub struct Endpoint {
    /// What runs an operation.
    pub backend: Arc<dyn Backend>,
    /// Bounds of one request.
    pub limits: RequestLimits,
    /// Checks who calls.
    pub authenticator: Authenticator,
    /// How often a caller may begin an operation.
    pub rate_limit: Option<RateLimit>,
    /// The documents that requests may name.
    pub documents: Documents,
    /// Whether clients may ask for explanations.
    pub explain: bool,
    /// What all requests share.
    pub quotas: Quotas,
    /// Hears of requests.
    pub telemetry: Arc<Telemetry>,
}

impl Endpoint {
    /// Whether a caller may begin an operation now.
    pub fn may_begin(&self, identity: &Identity, client: ClientAddress) -> Result<(), TooFast> {
        self.rate_limit.as_ref().map_or(Ok(()), |limit| limit.take(identity, client).map_err(TooFast))
    }

    /// Runs an operation until it ends, or until a moment after its deadline; then a timeout is its last response. The admission is
    /// returned when the operation ends. A subscription has no deadline; once it has begun, it has a share of the subscriptions' memory instead.
    ///
    /// Dropping the stream ends a query. It does not end a mutation, which runs in its own task: a client that leaves never stops one
    /// between two writes.
    pub async fn run(&self, invocation: Invocation, admission: Admission) -> Result<BoxStream<'static, Response>, MayNotWrite> {
        let limit = invocation.deadline + GRACE;
        let Ok(begun) = timeout_at(limit, self.backend.begin(invocation)).await else {
            return Ok(stream::once(std::future::ready(timed_out())).boxed());
        };
        let Execution { writes, lasts, responses } = begun?;
        if lasts {
            return Ok(match admission.into_subscription(&self.quotas) {
                Ok(share) => keeping(responses, share),
                Err(exhausted) => stream::once(std::future::ready(too_many(exhausted))).boxed(),
            });
        }
        let responses = bounded(responses, limit, admission);
        Ok(if writes { detached(responses) } else { responses })
    }
}

/// The same answers, which keep a value until they are dropped.
pub fn keeping<T: 'static>(answers: BoxStream<'static, T>, kept: impl Send + 'static) -> BoxStream<'static, T> {
    let with_kept = move |answer| {
        let _kept = &kept;
        answer
    };
    answers.map(with_kept).boxed()
}

/// The response to a subscription for which there is no memory.
fn too_many(exhausted: Exhausted) -> Response {
    let (code, message) = match exhausted {
        Exhausted::Part => (ErrorCode::LimitExceeded, "This client has too many subscriptions. End one of them first."),
        Exhausted::Total | Exhausted::TooLarge => (ErrorCode::Unavailable, "The server has too many subscriptions. Try again later."),
    };
    Response::refused(&[GraphqlError::new(code, message)])
}

/// The response to an operation that took too long.
pub fn timed_out() -> Response {
    Response::refused(&[GraphqlError::new(ErrorCode::Timeout, "The request took too long.")])
}

fn bounded(responses: BoxStream<'static, Response>, limit: Instant, admission: Admission) -> BoxStream<'static, Response> {
    let begun = Some((responses, admission));
    let next = move |state: Option<(BoxStream<'static, Response>, Admission)>| async move {
        let (mut responses, admission) = state?;
        match timeout_at(limit, responses.next()).await {
            Ok(response) => Some((response?, Some((responses, admission)))),
            Err(_) => Some((timed_out(), None)),
        }
    };
    stream::unfold(begun, next).boxed()
}

/// The responses of a task that runs to its end whether or not anybody takes them.
fn detached(mut responses: BoxStream<'static, Response>) -> BoxStream<'static, Response> {
    let (sender, receiver) = mpsc::channel(1);
    let task = tokio::spawn(async move {
        while let Some(response) = responses.next().await {
            let _ = sender.send(response).await;
        }
    });
    let next = |(mut receiver, task): (mpsc::Receiver<Response>, tokio::task::JoinHandle<()>)| async move {
        if let Some(response) = receiver.recv().await {
            return Some((response, (receiver, task)));
        }
        // An error that is no panic says that the runtime is shutting down.
        let panic = task.await.err()?.try_into_panic().ok()?;
        std::panic::resume_unwind(panic)
    };
    stream::unfold((receiver, task), next).boxed()
}
