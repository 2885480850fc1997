//! The routes and Lambda's runtime API in; invocations answered one after the other until the function is asked to stop. Must not know what
//! the routes do.

use super::answer::{LambdaAnswer, streamed, whole};
use super::event::{EventForm, HttpEvent};
use super::settings::LambdaSettings;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::request_log::REQUEST_ID;
use crate::serve::http::status::HttpRefusal;
use crate::serve::http::transport::Transport;
use crate::serve::listener::Stopped;
use crate::serve::router::Routes;
use crate::serve::settings::RequestLimits;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;
use lambda_http::lambda_runtime::{Context, Diagnostic, LambdaEvent, LambdaInvocation, Runtime};
use lambda_http::request::LambdaRequest;
use lambda_http::service_fn;
use std::future::Future;
use std::pin::pin;
use std::time::{Duration, SystemTime};
use thiserror::Error;
use tokio::time::{Instant, timeout, timeout_at};
use tower::ServiceExt;
use tower::layer::layer_fn;

/// How long before Lambda ends an invocation its operations end, at most half of the time that there is.
const RESERVE: Duration = Duration::from_secs(1);
/// How long before that end an answer is sent, whatever it is, at most a tenth of the time that there is.
const LAST: Duration = Duration::from_millis(200);

/// The runtime API does not answer as it should.
#[derive(Debug, Error)]
#[error("Lambda's runtime API: {0}")]
pub struct RuntimeApiFailed(String);

/// The trace of an invocation, as AWS X-Ray writes it: `Root=…;Parent=…;Sampled=1` (X-Ray developer guide, "Tracing header"). An extension
/// of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct XRayTrace(pub String);

/// What answers invocations.
#[derive(Clone)]
struct Function {
    router: Router,
    /// The proxies that are trusted.
    proxies: usize,
    streaming: bool,
}

/// When an invocation must have got as far as its name says.
#[derive(Debug, Clone, Copy)]
struct Deadlines {
    operations: Instant,
    answer: Instant,
}

/// Answers invocations until `stop` resolves, then lets the one that runs end, within the time for shutting down. Lambda gives an instance
/// of a function one invocation at a time. The variables of the environment must be there
/// ([`RuntimeApi`](super::runtime_api::RuntimeApi)).
pub async fn serve(
    routes: Routes,
    settings: &LambdaSettings,
    limits: &RequestLimits,
    stop: impl Future<Output = ()>,
) -> Result<Stopped, RuntimeApiFailed> {
    let function = Function { router: routes.router, proxies: limits.shared.trusted_proxies, streaming: settings.lambda_streaming };
    let handler = service_fn(move |event: LambdaEvent<LambdaRequest>| function.clone().answer(event));
    // An invocation counts as a connection until Lambda has taken its answer.
    let connections = routes.connections.clone();
    let counted = layer_fn(move |inner| {
        let connections = connections.clone();
        ServiceExt::<LambdaInvocation>::map_future(inner, move |running| {
            let open = connections.open();
            async move {
                let answered = running.await;
                drop(open);
                answered
            }
        })
    });
    let mut running = pin!(Runtime::new(handler).layer(counted).run());
    let ended = tokio::select! {
        ended = running.as_mut() => Some(ended),
        () = stop => None,
    };
    if let Some(ended) = ended {
        return Err(RuntimeApiFailed(ended.map_or_else(|error| error.to_string(), |()| "there are no more invocations".to_owned())));
    }
    routes.backend.close();
    routes.connections.close();
    let finished = async {
        routes.connections.closed().await;
        // What still runs are mutations whose time for an answer is over.
        routes.quotas.operations.all_returned().await;
    };
    tokio::select! {
        finished = timeout(limits.shutdown_timeout, finished) => Ok(finished.map_or(Stopped::CutOff, |()| Stopped::Finished)),
        ended = running => Err(RuntimeApiFailed(ended.map_or_else(|error| error.to_string(), |()| "it stopped".to_owned()))),
    }
}

impl Function {
    /// Answers an invocation. An error is for Lambda, whose client gets 502 or 500.
    async fn answer(self, LambdaEvent { payload, context }: LambdaEvent<LambdaRequest>) -> Result<LambdaAnswer, Diagnostic> {
        let event = HttpEvent::new(payload).ok_or("The event is none of API Gateway, of a function URL or of a load balancer.")?;
        let deadlines = Deadlines::of(context.deadline());
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
    fn request(&self, mut event: HttpEvent, context: &Context, transport: Transport) -> Result<Request<Body>, HttpRefusal> {
        if !transport.streams && !event.takes_binary {
            event.headers.remove(header::ACCEPT_ENCODING);
        }
        // Without an id of the client's own, a request has the id that Lambda writes into the log.
        if let Ok(id) = HeaderValue::from_str(&context.request_id) {
            event.headers.entry(REQUEST_ID).or_insert(id);
        }
        let mut request = event.into_request(self.proxies)?;
        request.extensions_mut().insert(transport);
        if let Some(trace) = &context.xray_trace_id {
            request.extensions_mut().insert(XRayTrace(trace.clone()));
        }
        Ok(request)
    }
}

impl Deadlines {
    fn transport(self, streams: bool) -> Transport {
        Transport { ends: Some(self.operations), closes: Some(self.answer), streams }
    }

    /// The deadlines of an invocation that Lambda ends at this time.
    fn of(end: SystemTime) -> Self {
        let (now, left) = (Instant::now(), end.duration_since(SystemTime::now()).unwrap_or_default());
        Self { operations: now + left - RESERVE.min(left / 2), answer: now + left - LAST.min(left / 10) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_ends_before_its_answer_and_that_before_lambda_ends_it() {
        for (left, operations, answer) in [(30_000, 29_000, 29_800), (3_000, 2_000, 2_800), (1_000, 500, 900), (0, 0, 0)] {
            let began = Instant::now();
            let deadlines = Deadlines::of(SystemTime::now() + Duration::from_millis(left));
            let near = |deadline: Instant, expected: u64| {
                let is = (deadline - began).as_millis();
                assert!(is.abs_diff(expected.into()) < 100, "{left}: {is} instead of {expected}");
            };
            near(deadlines.operations, operations);
            near(deadlines.answer, answer);
        }
    }
}
