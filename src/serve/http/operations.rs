//! The operations of an HTTP request in, their responses out: one, or those of a list side by side. Must not know media
//! types.

use super::status::HttpRefusal;
use crate::execute::gateway::Response;
use crate::execute::report::TraceContext;
use crate::execute::request::Request;
use crate::serve::backend::request_summary::RequestSummary;
use crate::serve::backend::{Invocation, MayNotWrite, OperationAnswer};
use crate::serve::client::ClientAddress;
use crate::serve::documents::parameters::RequestParameters;
use crate::serve::endpoint::{Endpoint, timed_out};
use crate::serve::quota::Share;
use crate::serve::sign_in::authenticator::Identity;
use axum::body::Bytes;
use futures_util::future::{Either, TryFutureExt, join_all, ready};
use futures_util::stream::{BoxStream, StreamExt};
use tokio::time::{Instant, sleep_until};

/// The operations of one request.
pub struct RequestOperations<'e> {
    /// What runs them.
    pub endpoint: &'e Endpoint,
    /// Where the request comes from.
    pub client: ClientAddress,
    /// Who sends it.
    pub identity: Identity,
    /// Whether the operations may change anything.
    pub may_write: bool,
    /// Whether the responses explain the plans and the calls.
    pub explain: bool,
    /// The id of the last event that the client has had of a subscription.
    pub last_event: Option<String>,
    /// The key that the header `Idempotency-Key` brings for mutations with `@idempotent`. The operations of a list have
    /// none, because it would be that of all of them.
    pub key: Option<String>,
    /// The time by which the operations must have ended, besides that of the settings. A subscription has none.
    pub ends: Option<Instant>,
    /// The span of the request, if it is traced.
    pub trace: Option<TraceContext>,
    /// What the log line of the request says of them.
    pub summary: RequestSummary,
}

impl RequestOperations<'_> {
    /// Runs an operation that has one response. The operation has the memory of its request. The error is why it did
    /// not run.
    pub fn run(
        &self,
        parameters: RequestParameters,
        memory: Share,
    ) -> impl Future<Output = Result<Response, HttpRefusal>> + Send {
        let answered = self.begin(parameters, memory, false).and_then(async |answer| {
            Ok(match answer {
                OperationAnswer::One(response) => response.await,
                OperationAnswer::Many(mut responses) => responses.next().await.unwrap_or_else(timed_out),
            })
        });
        answered.inspect_ok(|response| self.summary.add(response))
    }

    /// Begins an operation that may have any number of responses. It runs while they are polled, and ends with the
    /// caller's token.
    pub async fn stream(
        &self,
        parameters: RequestParameters,
        memory: Share,
    ) -> Result<BoxStream<'static, Response>, HttpRefusal> {
        let summary = self.summary.clone();
        let answer = self.begin(parameters, memory, true).await?;
        let responses = answer.into_stream().inspect(move |response| summary.add(response));
        Ok(match self.identity.ends {
            Some(ends) => responses.take_until(sleep_until(ends)).boxed(),
            None => responses.boxed(),
        })
    }

    fn begin(
        &self,
        parameters: RequestParameters,
        memory: Share,
        may_last: bool,
    ) -> impl Future<Output = Result<OperationAnswer, HttpRefusal>> + Send {
        let request = match self.endpoint.documents.request(parameters) {
            Ok(request) => Request {
                caller: self.identity.caller.clone(),
                after: self.last_event.clone(),
                client: Some(self.client.address()),
                idempotency_key: self.key.clone(),
                trace: self.trace,
                ..request
            },
            Err(error) => return Either::Left(ready(Ok(OperationAnswer::ready(Response::refused(&[error]))))),
        };
        // An operation is admitted after its request has arrived, so that slow clients take no place from others.
        let admission = match self.endpoint.quotas.admit(self.client, memory) {
            Ok(admission) => admission,
            Err(exhausted) => return Either::Left(ready(Err(exhausted.into()))),
        };
        let of_settings = Instant::now() + self.endpoint.limits.request_timeout;
        let deadline = self.ends.map_or(of_settings, |ends| ends.min(of_settings));
        let invocation = Invocation {
            request,
            may_write: self.may_write,
            may_last,
            deadline,
            explain: self.explain,
            summary: self.summary.clone(),
        };
        Either::Right(self.endpoint.run(invocation, admission).map_err(|MayNotWrite| HttpRefusal::NotByGet))
    }

    /// Runs the operations of a list side by side, and gives the list of their responses. An operation that does not
    /// run has its errors in its place.
    pub async fn run_list(mut self, list: Vec<RequestParameters>, mut memory: Share) -> Result<Vec<u8>, HttpRefusal> {
        self.key = None;
        let most = self.endpoint.limits.max_batch;
        if list.len() > most {
            return Err(HttpRefusal::LongList(most));
        }
        // The text of the request stays in memory until all of its operations have ended.
        let text = memory.split();
        let shares = std::iter::once(Ok(memory)).chain(std::iter::repeat_with(|| self.next_of_list()));
        let answers = list.into_iter().zip(shares).map(|(parameters, memory)| self.held(parameters, memory));
        let answers = join_all(answers).await;
        drop(text);
        let mut body = Vec::with_capacity(answers.iter().map(|(body, _)| body.len() + 1).sum::<usize>() + 1);
        for (response, _) in &answers {
            body.push(if body.is_empty() { b'[' } else { b',' });
            body.extend_from_slice(response);
        }
        body.push(b']');
        Ok(body)
    }

    /// The memory of another operation of the list, whose text the first one holds.
    fn next_of_list(&self) -> Result<Share, HttpRefusal> {
        self.endpoint.may_begin(&self.identity, self.client)?;
        Ok(self.endpoint.quotas.requests.take(self.client, 0)?)
    }

    /// The body of an operation's response, and its share until all are there.
    async fn held(&self, parameters: RequestParameters, memory: Result<Share, HttpRefusal>) -> (Bytes, Option<Share>) {
        let run = async { self.run(parameters, memory?).await };
        let held = run.await.and_then(|response| {
            let share = self.endpoint.quotas.hold_response(self.client, response.body.len());
            share.map(|share| (response.body, Some(share))).map_err(HttpRefusal::ResponseDropped)
        });
        held.unwrap_or_else(|refusal| {
            let error = refusal.error();
            self.summary.refused(error.code);
            (Response::refused(&[error]).body, None)
        })
    }
}
