//! What the HTTP layer asks of the gateway behind it: an operation in, its response or a stream of responses out.
//!
//! [`current_gateway`] is the gateway that serves, [`request_summary`] learns which operations a request runs.

pub mod current_gateway;
pub mod freed_memory;
pub mod request_summary;

use crate::execute::gateway::Response;
use crate::execute::report::{GatewayLoad, SubscriptionLoad};
use crate::execute::request::Request;
use crate::serve::backend::request_summary::RequestSummary;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};
use std::future::Future;
use std::time::SystemTime;
use tokio::time::Instant;

/// What runs operations.
pub trait Backend: Send + Sync + 'static {
    /// Prepares an operation. It reads and writes nothing before its responses are polled.
    fn begin(&self, invocation: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>>;

    /// Asks whether operations can be run; the error is the kind of trouble, without internals.
    fn ready(&self) -> BoxFuture<'static, Result<(), String>>;

    /// Ends all subscriptions, and begins no more: the server stops.
    fn close(&self) {}

    /// What it holds now.
    fn load(&self) -> BackendLoad {
        BackendLoad::default()
    }
}

/// What a backend holds at a moment.
#[derive(Debug, Clone, Default)]
pub struct BackendLoad {
    /// The gateway.
    pub gateway: GatewayLoad,
    /// Its subscriptions.
    pub subscriptions: SubscriptionLoad,
    /// How often its schema was loaded again.
    pub reloads: Reloads,
}

/// What became of the reloads since the process began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reloads {
    /// How often another gateway was taken.
    pub good: u64,
    /// How often the one before stayed, because of a mistake or of a difference of the tables.
    pub failed: u64,
    /// When another gateway was taken for the last time.
    pub last: Option<SystemTime>,
}

/// An operation, and how its request wants it to be run.
#[derive(Debug)]
pub struct Invocation {
    /// The operation.
    pub request: Request,
    /// Whether it may change anything. A request by GET may not.
    pub may_write: bool,
    /// Whether it may have any number of responses.
    pub may_last: bool,
    /// When the response must be there.
    pub deadline: Instant,
    /// Whether the response explains the plan and the calls.
    pub explain: bool,
    /// Learns which operation it is, as soon as that is known.
    pub summary: RequestSummary,
}

/// An operation that runs while its responses are polled.
pub struct Execution {
    /// Whether it may change anything. If so, it must run to its end once it is polled, even when the client is gone.
    pub writes: bool,
    /// What it answers.
    pub answer: OperationAnswer,
}

/// What an operation answers.
pub enum OperationAnswer {
    /// The response of a query or a mutation.
    One(BoxFuture<'static, Response>),
    /// The responses of a subscription, which has no deadline, in order.
    Many(BoxStream<'static, Response>),
}

/// The operation is a mutation, and its request may not write. Nothing was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MayNotWrite;

impl Execution {
    /// An operation with one response.
    pub fn single(writes: bool, response: impl Future<Output = Response> + Send + 'static) -> Self {
        Self { writes, answer: OperationAnswer::One(response.boxed()) }
    }
}

impl OperationAnswer {
    /// A response that is there already.
    pub fn ready(response: Response) -> Self {
        Self::One(std::future::ready(response).boxed())
    }

    /// All responses.
    pub fn into_stream(self) -> BoxStream<'static, Response> {
        match self {
            Self::One(response) => response.into_stream().boxed(),
            Self::Many(responses) => responses,
        }
    }
}
