//! A gateway in a program: operations in; responses, streams of them, or routes out.

use crate::execute::gateway::{Gateway, Response};
use crate::execute::request::Request;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::backend::request_summary::RequestSummary;
use crate::serve::backend::{Backend, Execution, Invocation, OperationAnswer};
use axum::Router;
use futures_util::stream::{BoxStream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// A schema on a store, which answers the operations of a program. Copies are the same gateway.
///
/// [`builder`](crate::Gateway::builder) makes one. It works inside a Tokio runtime.
#[derive(Clone)]
pub struct EmbeddedGateway {
    current: Arc<CurrentGateway>,
    routes: Router,
    timeout: Duration,
}

impl EmbeddedGateway {
    pub(super) fn new(gateway: Gateway, routes: impl FnOnce(Arc<dyn Backend>) -> Router, timeout: Duration) -> Self {
        let current = Arc::new(CurrentGateway::new(gateway));
        let routes = routes(current.clone());
        Self { current, routes, timeout }
    }

    /// The response to a query or a mutation, as `request.caller`. It never fails: what goes wrong is among the errors
    /// of the response.
    ///
    /// A query ends if the future is dropped. A mutation runs to its end once this is polled.
    pub async fn execute(&self, request: Request) -> Response {
        let Some(Execution { writes, answer }) = self.begin(request, false).await else { return Response::default() };
        let mut responses = answer.into_stream();
        let response = async move { responses.next().await.unwrap_or_default() };
        if !writes {
            return response.await;
        }
        match tokio::spawn(response).await {
            Ok(response) => response,
            Err(failed) => match failed.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime is shutting down.
                Err(_) => Response::default(),
            },
        }
    }

    /// The responses of a subscription, each when a change is made. A query or a mutation has one. The subscription
    /// ends when the stream is dropped.
    pub async fn subscribe(&self, request: Request) -> BoxStream<'static, Response> {
        match self.begin(request, true).await {
            Some(Execution { answer, .. }) => answer.into_stream(),
            None => OperationAnswer::ready(Response::default()).into_stream(),
        }
    }

    /// `/graphql`, for the program's own [`axum::Router`]: GraphQL over HTTP, and subscriptions as `text/event-stream`.
    ///
    /// A request is that of the [`Caller`](crate::Caller) among its extensions, which a middleware of the program has
    /// found; without one, of whoever the gateway's own sign-in finds. Serve with
    /// `into_make_service_with_connect_info::<SocketAddr>()`, so that clients have bounds of their own.
    pub fn router(&self) -> Router {
        self.routes.clone()
    }

    /// Ends all subscriptions, and begins no more.
    pub fn close(&self) {
        self.current.close();
    }

    async fn begin(&self, request: Request, may_last: bool) -> Option<Execution> {
        let invocation = Invocation {
            request,
            may_write: true,
            may_last,
            deadline: Instant::now() + self.timeout,
            explain: false,
            summary: RequestSummary::default(),
        };
        // Only what may not write can be refused.
        self.current.begin(invocation).await.ok()
    }
}
