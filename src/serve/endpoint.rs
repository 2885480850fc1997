//! An admitted operation in; its responses out, bounded in time. Shared by HTTP and WebSockets. Must not know either.

use super::admission::{Admission, Quotas};
use super::backend::{Backend, Execution, Invocation, MayNotWrite, OperationAnswer};
use super::client::ClientAddress;
use super::documents::lookup::Documents;
use super::quota::QuotaExceeded;
use super::settings::RequestLimits;
use super::sign_in::authenticator::{Authenticator, Identity};
use super::sign_in::rate_limit::{RateLimit, TooFast};
use super::telemetry::observer::Telemetry;
use crate::execute::context::GRACE;
use crate::execute::error::{ErrorCode, GraphqlError};
use crate::execute::gateway::Response;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};
use std::sync::Arc;
use tokio::task::JoinError;
use tokio::time::{Instant, timeout_at};

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
    /// Observes requests.
    pub telemetry: Arc<Telemetry>,
}

impl Endpoint {
    /// Whether a caller may begin an operation now.
    pub fn may_begin(&self, identity: &Identity, client: ClientAddress) -> Result<(), TooFast> {
        self.rate_limit.as_ref().map_or(Ok(()), |limit| limit.take(identity, client).map_err(TooFast))
    }

    /// Runs an operation until it ends, or until a moment after its deadline; then a timeout is its last response. The
    /// admission is returned when the operation ends. A subscription has no deadline; once it has begun, it has a share
    /// of the subscriptions' memory instead.
    ///
    /// Dropping the answer ends a query. It does not end a mutation, which runs in its own task: a client that leaves
    /// never stops one between two writes.
    pub fn run(
        &self,
        invocation: Invocation,
        admission: Admission,
    ) -> impl Future<Output = Result<OperationAnswer, MayNotWrite>> + Send {
        let (limit, quotas) = (invocation.deadline + GRACE, &self.quotas);
        timeout_at(limit, self.backend.begin(invocation)).map(move |begun| {
            let Ok(begun) = begun else { return Ok(OperationAnswer::ready(timed_out())) };
            let Execution { writes, answer } = begun?;
            Ok(match answer {
                OperationAnswer::Many(responses) => match admission.into_subscription(quotas) {
                    Ok(share) => OperationAnswer::Many(keeping(responses, share)),
                    Err(exhausted) => OperationAnswer::ready(too_many(exhausted)),
                },
                OperationAnswer::One(response) => {
                    let response = bounded(response, limit, admission);
                    OperationAnswer::One(if writes { detached(response).boxed() } else { response.boxed() })
                }
            })
        })
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
fn too_many(exhausted: QuotaExceeded) -> Response {
    let (code, message) = match exhausted {
        QuotaExceeded::Part => {
            (ErrorCode::LimitExceeded, "This client has too many subscriptions. End one of them first.")
        }
        QuotaExceeded::Total | QuotaExceeded::TooLarge => {
            (ErrorCode::Unavailable, "The server has too many subscriptions. Try again later.")
        }
    };
    Response::refused(&[GraphqlError::new(code, message)])
}

/// The response to an operation that took too long.
pub fn timed_out() -> Response {
    Response::refused(&[GraphqlError::new(ErrorCode::Timeout, "The request took too long.")])
}

/// The response, or a timeout at the limit.
fn bounded(
    response: BoxFuture<'static, Response>,
    limit: Instant,
    admission: Admission,
) -> impl Future<Output = Response> {
    timeout_at(limit, response).map(move |response| {
        drop(admission);
        response.unwrap_or_else(|_| timed_out())
    })
}

/// The response of a task that runs to its end whether or not anybody takes it.
fn detached(response: impl Future<Output = Response> + Send + 'static) -> impl Future<Output = Response> {
    let task = tokio::spawn(response);
    async {
        match task.await.map_err(JoinError::try_into_panic) {
            Ok(response) => response,
            Err(Ok(panic)) => std::panic::resume_unwind(panic),
            // The runtime is shutting down.
            Err(Err(_)) => timed_out(),
        }
    }
}
