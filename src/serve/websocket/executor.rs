//! An operation of a WebSocket in, its responses out. Must not know what runs the operation, nor the protocol of the
//! socket.

use super::identity::SocketIdentity;
use crate::execute::gateway;
use crate::execute::report::TraceContext;
use crate::execute::request::Request;
use crate::serve::backend::request_summary::RequestSummary;
use crate::serve::backend::{Invocation, MayNotWrite, OperationAnswer};
use crate::serve::client::ClientAddress;
use crate::serve::documents::parameters::RequestParameters;
use crate::serve::endpoint::{Endpoint, keeping};
use crate::serve::http::request_log::OperationLine;
use crate::serve::http::status::HttpRefusal;
use crate::serve::quota::Share;
use crate::serve::settings::SharedLimits;
use crate::serve::shutdown::OpenConnection;
use axum::body::Bytes;
use futures_util::future::FutureExt;
use futures_util::stream::{self, BoxStream, StreamExt};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};

/// Runs the operations of one WebSocket. Each is admitted as one over HTTP is.
#[derive(Clone)]
pub struct SocketExecutor {
    endpoint: Arc<Endpoint>,
    client: ClientAddress,
    identity: SocketIdentity,
    open: OpenConnection,
    running: Arc<AtomicUsize>,
    /// Where the queries and mutations that run have their places, and the subscriptions theirs.
    places: Arc<Semaphore>,
    subscriptions: Arc<Semaphore>,
    expected: Arc<Mutex<Option<Share>>>,
}

/// The most operations of a socket that wait for a place, for each that may run.
const WAITING: usize = 8;
/// The memory of an operation that waits, besides its message.
const WAITING_BYTES: usize = 4 << 10;

/// A response that its client has not taken yet.
pub struct SocketAnswer {
    /// The response map, as JSON.
    pub body: Bytes,
    /// Whether the operation did not run.
    pub refused: bool,
    _share: Option<Share>,
}

/// One operation that is not answered yet.
struct PendingOperation {
    running: Arc<AtomicUsize>,
    line: OperationLine,
}

impl Drop for PendingOperation {
    fn drop(&mut self) {
        self.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SocketExecutor {
    /// An executor of this client's WebSocket, which has just been opened.
    pub fn new(endpoint: Arc<Endpoint>, client: ClientAddress, identity: SocketIdentity, open: OpenConnection) -> Self {
        let SharedLimits { max_socket_operations, max_socket_subscriptions, .. } = endpoint.limits.shared;
        let (places, subscriptions) = (Semaphore::new(max_socket_operations), Semaphore::new(max_socket_subscriptions));
        let (places, subscriptions) = (Arc::new(places), Arc::new(subscriptions));
        Self {
            endpoint,
            client,
            identity,
            open,
            running: Arc::default(),
            places,
            subscriptions,
            expected: Arc::default(),
        }
    }

    /// Whether every operation is answered.
    pub fn is_idle(&self) -> bool {
        self.running.load(Ordering::Relaxed) == 0
    }

    /// Whether so many refusals wait to be sent that the client's messages must wait, too.
    pub fn is_flooded(&self) -> bool {
        self.running.load(Ordering::Relaxed) >= self.most() + self.endpoint.limits.shared.max_socket_operations
    }

    /// The most operations that run, wait or have subscribed.
    fn most(&self) -> usize {
        let SharedLimits { max_socket_operations, max_socket_subscriptions, .. } = self.endpoint.limits.shared;
        max_socket_operations * (1 + WAITING) + max_socket_subscriptions
    }

    /// Takes the memory of the next message.
    pub fn expect(&self, memory: Share) {
        *self.expected() = Some(memory);
    }

    fn expected(&self) -> MutexGuard<'_, Option<Share>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts an operation. The answers that have been taken are sent.
    pub fn answers(&self, asked: RequestParameters) -> BoxStream<'static, SocketAnswer> {
        let others = self.running.fetch_add(1, Ordering::Relaxed);
        let trace = self.endpoint.telemetry.begin_root();
        let unanswered = PendingOperation { running: self.running.clone(), line: OperationLine::begin(trace) };
        let (endpoint, client, summary) = (self.endpoint.clone(), self.client, unanswered.line.summary());
        let answers = match self.begin(asked, others, (trace, &summary)) {
            Ok(responses) => responses
                .then(move |response| {
                    summary.add(&response);
                    held(endpoint.clone(), client, response)
                })
                .boxed(),
            Err(refusal) => {
                summary.refused(refusal.error().code);
                stream::once(std::future::ready(refused(&refusal))).boxed()
            }
        };
        keeping(answers, unanswered)
    }

    /// Starts an operation next to this number of others of the same socket.
    ///
    /// Beyond the limit of those that run, it waits. If too many wait, it is refused at once: if the messages waited
    /// instead, a client could neither end an operation nor answer a ping.
    fn begin(
        &self,
        asked: RequestParameters,
        others: usize,
        (trace, summary): (Option<TraceContext>, &RequestSummary),
    ) -> Result<BoxStream<'static, gateway::Response>, HttpRefusal> {
        let memory = self.expected().take();
        if self.open.is_closing() {
            return Err(HttpRefusal::Busy);
        }
        if others >= self.most() {
            return Err(HttpRefusal::SocketBusy);
        }
        let identity = self.identity.current();
        self.endpoint.may_begin(&identity, self.client)?;
        let mut memory = memory.map_or_else(|| self.endpoint.quotas.requests.take(self.client, 0), Ok)?;
        let place = self.places.clone().try_acquire_owned().ok();
        let own = memory.amount();
        if place.is_none() {
            memory.resize(own + WAITING_BYTES)?;
        }
        let request = match self.endpoint.documents.request(asked) {
            Ok(request) => Request { caller: identity.caller, client: Some(self.client.address()), trace, ..request },
            Err(error) => return Ok(OperationAnswer::ready(gateway::Response::refused(&[error])).into_stream()),
        };
        let deadline = Instant::now() + self.endpoint.limits.request_timeout;
        let invocation =
            Invocation { request, may_write: true, may_last: true, deadline, explain: false, summary: summary.clone() };
        let (endpoint, client, places, subscriptions) =
            (self.endpoint.clone(), self.client, self.places.clone(), self.subscriptions.clone());
        let responses = async move {
            let refused = |refusal: HttpRefusal| {
                OperationAnswer::ready(gateway::Response::refused(&[refusal.error()])).into_stream()
            };
            let place = match place {
                Some(place) => place,
                None => match timeout_at(deadline, places.acquire_owned()).await {
                    Ok(Ok(place)) => place,
                    _ => return refused(HttpRefusal::OutOfTime),
                },
            };
            // Less always fits.
            let _ = memory.resize(own);
            let admission = match endpoint.quotas.admit(client, memory) {
                Ok(admission) => admission,
                Err(exhausted) => return refused(exhausted.into()),
            };
            match endpoint.run(invocation, admission).await {
                Err(MayNotWrite) => refused(HttpRefusal::NotByGet),
                Ok(OperationAnswer::One(response)) => keeping(response.into_stream().boxed(), place),
                Ok(OperationAnswer::Many(responses)) => match subscriptions.try_acquire_owned() {
                    Ok(own) => keeping(responses, own),
                    Err(_) => refused(HttpRefusal::TooManySubscriptions),
                },
            }
        };
        // The beginning takes more memory than what is left of it for as long as the operation lasts.
        Ok(responses.boxed().flatten_stream().boxed())
    }
}

/// A response, with its share until it is sent. It waits for room.
async fn held(endpoint: Arc<Endpoint>, client: ClientAddress, response: gateway::Response) -> SocketAnswer {
    match endpoint.quotas.room_for_response(client, response.body.len()).await {
        Ok(share) => answer(response, Some(share)),
        Err(exhausted) => refused(&HttpRefusal::ResponseDropped(exhausted)),
    }
}

fn answer(response: gateway::Response, share: Option<Share>) -> SocketAnswer {
    let refused = response.refused.is_some();
    SocketAnswer { body: response.body, refused, _share: share }
}

fn refused(refusal: &HttpRefusal) -> SocketAnswer {
    answer(gateway::Response::refused(&[refusal.error()]), None)
}
