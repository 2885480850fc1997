//! The routes and Lambda's runtime API in; invocations answered one after the other until the function is asked to
//! stop. Must not know what the routes do.

use super::answer::{LambdaAnswer, streamed, whole};
use super::event::{EventForm, HttpEvent};
use super::settings::LambdaSettings;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::request_log::REQUEST_ID;
use crate::serve::http::status::HttpRefusal;
use crate::serve::http::transport::Transport;
use crate::serve::listener::Stopped;
use crate::serve::quota::Quota;
use crate::serve::router::Routes;
use crate::serve::settings::RequestLimits;
use crate::serve::shutdown::OpenConnections;
use crate::serve::telemetry::observer::Telemetry;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Request, header};
use axum::response::Response;
use futures_util::future::{FutureExt, LocalBoxFuture};
use lambda_http::lambda_runtime::{Context, Diagnostic, LambdaEvent, LambdaInvocation, Runtime};
use lambda_http::request::LambdaRequest;
use lambda_http::service_fn;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{self, Poll};
use std::time::{Duration, SystemTime};
use thiserror::Error;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout, timeout_at};
use tower::layer::layer_fn;
use tower::{BoxError, Service, ServiceExt};

/// How long before Lambda ends an invocation its operations end, at most half of the time that there is.
const RESERVE: Duration = Duration::from_secs(1);
/// How long before that end an answer is sent, whatever it is, at most a tenth of the time that there is.
const LAST: Duration = Duration::from_millis(200);

/// The runtime API does not answer as it should.
#[derive(Debug, Error)]
#[error("Lambda's runtime API: {0}")]
pub struct RuntimeApiFailed(String);

/// The header with the trace of an invocation, as AWS X-Ray writes it: `Root=…;Parent=…;Sampled=1` (X-Ray developer
/// guide, "Tracing header").
const TRACE: HeaderName = HeaderName::from_static("x-amzn-trace-id");
/// How long the spans of an invocation may take to be sent.
const LAST_SPANS: Duration = Duration::from_secs(1);

/// What answers invocations.
#[derive(Clone)]
struct Function {
    router: Router,
    /// The proxies that are trusted.
    proxies: usize,
    streaming: bool,
}

/// What answers an invocation and gives the answer to Lambda, and what happens around it.
struct Invocations<S> {
    answering: S,
    connections: OpenConnections,
    operations: Arc<Quota>,
    telemetry: Arc<Telemetry>,
}

impl<S> Service<LambdaInvocation> for Invocations<S>
where
    S: Service<LambdaInvocation, Response = (), Error = BoxError>,
    S::Future: 'static,
{
    type Response = ();
    type Error = BoxError;
    type Future = LocalBoxFuture<'static, Result<(), BoxError>>;

    fn poll_ready(&mut self, context: &mut task::Context<'_>) -> Poll<Result<(), BoxError>> {
        self.answering.poll_ready(context)
    }

    fn call(&mut self, invocation: LambdaInvocation) -> Self::Future {
        // It counts as a connection until it has ended.
        let (open, operations, telemetry) = (self.connections.open(), self.operations.clone(), self.telemetry.clone());
        let ends = Deadlines::new(invocation.context.deadline()).last;
        let answering = self.answering.call(invocation);
        async move {
            let answered = answering.await;
            // The client has its answer. Lambda stops the process when it asks for the next invocation, and must not do
            // so between two writes of a mutation whose answer was that its time is over.
            if timeout_at(ends, operations.all_returned()).await.is_err() {
                tracing::warn!("an operation still runs at the end of its invocation");
            }
            if telemetry.has_traces() {
                let flushed = spawn_blocking(move || telemetry.flush());
                if timeout_at(ends.min(Instant::now() + LAST_SPANS), flushed).await.is_err() {
                    tracing::warn!("the spans of an invocation could not be sent in time");
                }
            }
            drop(open);
            answered
        }
        .boxed_local()
    }
}

/// When an invocation must have got as far as its name says.
#[derive(Debug, Clone, Copy)]
struct Deadlines {
    operations: Instant,
    answer: Instant,
    last: Instant,
}

/// Answers invocations until `stop` resolves, then lets the one that runs end, within the time for shutting down.
/// Lambda gives an instance of a function one invocation at a time. The variables of the environment must be there
/// ([`RuntimeApi`](super::runtime_api::RuntimeApi)).
pub async fn serve(
    (routes, telemetry): (Routes, Arc<Telemetry>),
    settings: &LambdaSettings,
    limits: &RequestLimits,
    stop: impl Future<Output = ()>,
) -> Result<Stopped, RuntimeApiFailed> {
    let function = Function {
        router: routes.router,
        proxies: limits.shared.trusted_proxies,
        streaming: settings.lambda_streaming,
    };
    let handler = service_fn(move |event: LambdaEvent<LambdaRequest>| function.clone().answer(event));
    let (connections, operations) = (routes.connections.clone(), routes.quotas.operations.clone());
    let around = layer_fn(move |answering| {
        let (connections, operations, telemetry) = (connections.clone(), operations.clone(), telemetry.clone());
        Invocations { answering, connections, operations, telemetry }
    });
    let mut running = pin!(Runtime::new(handler).layer(around).run());
    let ended = tokio::select! {
        ended = running.as_mut() => Some(ended),
        () = stop => None,
    };
    if let Some(ended) = ended {
        return Err(RuntimeApiFailed(
            ended.map_or_else(|error| error.to_string(), |()| "there are no more invocations".to_owned()),
        ));
    }
    routes.backend.close();
    routes.connections.close();
    let finished = async {
        routes.connections.closed().await;
        // What still runs are mutations whose time for an answer is over.
        routes.quotas.operations.all_returned().await;
    };
    tokio::select! {
        finished = timeout(limits.shutdown_timeout, finished) => {
            Ok(finished.map_or(Stopped::CutOff, |()| Stopped::Finished))
        }
        ended = running => {
            let why = ended.map_or_else(|error| error.to_string(), |()| "it stopped".to_owned());
            Err(RuntimeApiFailed(why))
        }
    }
}

impl Function {
    /// Answers an invocation. An error is for Lambda, whose client gets 502 or 500.
    async fn answer(
        self,
        LambdaEvent { payload, context }: LambdaEvent<LambdaRequest>,
    ) -> Result<LambdaAnswer, Diagnostic> {
        let event = HttpEvent::new(payload)
            .ok_or("The event is none of API Gateway, of a function URL or of a load balancer.")?;
        let deadlines = Deadlines::new(context.deadline());
        let (form, streams) = (event.form, self.streaming && event.form.can_stream());
        let answer = match self.request(event, &context, deadlines.transport(streams)) {
            Err(refusal) => Self::sent(form, streams, refuse(MediaType::Json, &refusal)).await,
            Ok(request) => {
                let answered = async {
                    let response = self.router.oneshot(request).await.unwrap_or_else(|never| match never {});
                    Self::sent(form, streams, response).await
                };
                match timeout_at(deadlines.answer, answered).await {
                    Ok(answer) => answer,
                    Err(_) => Self::sent(form, streams, refuse(MediaType::Json, &HttpRefusal::OutOfTime)).await,
                }
            }
        };
        Ok(answer?)
    }

    async fn sent(form: EventForm, streams: bool, response: Response) -> std::io::Result<LambdaAnswer> {
        if streams { Ok(streamed(response)) } else { whole(form, response).await }
    }

    /// The request of an event.
    fn request(
        &self,
        mut event: HttpEvent,
        context: &Context,
        transport: Transport,
    ) -> Result<Request<Body>, HttpRefusal> {
        if !transport.streams && !event.takes_binary {
            event.headers.remove(header::ACCEPT_ENCODING);
        }
        // Without an id of the client's own, a request has the id that Lambda writes into the log.
        if let Ok(id) = HeaderValue::from_str(&context.request_id) {
            event.headers.entry(REQUEST_ID).or_insert(id);
        }
        // Lambda's own part of the trace contains what the function does, not the sender's part.
        if let Some(Ok(trace)) = context.xray_trace_id.as_deref().map(HeaderValue::from_str) {
            event.headers.insert(TRACE, trace);
        }
        let mut request = event.into_request(self.proxies)?;
        request.extensions_mut().insert(transport);
        Ok(request)
    }
}

impl Deadlines {
    fn transport(self, streams: bool) -> Transport {
        Transport { ends: Some(self.operations), closes: Some(self.answer), streams }
    }

    /// The deadlines of an invocation that Lambda ends at this time.
    fn new(end: SystemTime) -> Self {
        let (now, left) = (Instant::now(), end.duration_since(SystemTime::now()).unwrap_or_default());
        let before = |reserve: Duration, part: u32| now + left - reserve.min(left / part);
        Self { operations: before(RESERVE, 2), answer: before(LAST, 10), last: before(LAST / 2, 20) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_before_its_answer_and_that_before_lambda_ends_it() {
        for (left, operations, answer) in
            [(30_000, 29_000, 29_800), (3_000, 2_000, 2_800), (1_000, 500, 900), (0, 0, 0)]
        {
            let began = Instant::now();
            let deadlines = Deadlines::new(SystemTime::now() + Duration::from_millis(left));
            let near = |deadline: Instant, expected: u64| {
                let is = (deadline - began).as_millis();
                assert!(is.abs_diff(expected.into()) < 100, "{left}: {is} instead of {expected}");
            };
            near(deadlines.operations, operations);
            near(deadlines.answer, answer);
        }
    }
}
