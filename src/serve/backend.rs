//! What the HTTP layer asks of the gateway behind it: an operation in, its response or a stream of responses out. The gateway may be replaced while
//! requests are served.

use crate::execute::gateway::{Gateway, Response};
use crate::execute::report::{GatewayLoad, SubscriptionLoad};
use crate::execute::request::Request;
use crate::execute::watch::hub::Hub;
use crate::serve::telemetry::summary::RequestSummary;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{BoxStream, StreamExt};
use std::future::Future;
use std::sync::{Mutex, PoisonError, RwLock};
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

/// The gateway that serves now. Requests that have begun stay with the gateway they began with; subscriptions follow it.
pub struct CurrentGateway {
    gateway: RwLock<Gateway>,
    hub: Hub,
    reloads: Mutex<Reloads>,
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

impl CurrentGateway {
    /// Serves this gateway. If its schema has subscriptions, this must be called inside a Tokio runtime.
    pub fn new(gateway: Gateway) -> Self {
        let hub = Hub::new(&gateway);
        Self::with_hub(gateway, hub)
    }

    /// Serves this gateway with its subscriptions.
    pub fn with_hub(gateway: Gateway, hub: Hub) -> Self {
        Self { hub, gateway: RwLock::new(gateway), reloads: Mutex::default() }
    }

    /// The gateway that serves now.
    pub fn get(&self) -> Gateway {
        self.gateway.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves this gateway from now on. Subscriptions that do not fit its schema end.
    pub async fn replace(&self, gateway: Gateway) {
        if let (Some(before), Some(cache)) = (self.get().cache(), gateway.cache()) {
            before.hand_over(cache);
        }
        *self.gateway.write().unwrap_or_else(PoisonError::into_inner) = gateway.clone();
        self.hub.replace(&gateway).await;
        let mut reloads = self.reloads.lock().unwrap_or_else(PoisonError::into_inner);
        *reloads = Reloads { good: reloads.good + 1, last: Some(SystemTime::now()), ..*reloads };
    }

    /// Counts a reload after which the gateway stays as it is.
    pub fn stays(&self) {
        self.reloads.lock().unwrap_or_else(PoisonError::into_inner).failed += 1;
    }

    /// What became of the reloads so far.
    pub fn reloads(&self) -> Reloads {
        *self.reloads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for CurrentGateway {
    fn begin(&self, invocation: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
        let gateway = self.get();
        let Invocation { request, may_write, may_last, deadline, explain, summary } = invocation;
        let hub = self.hub.clone();
        async move {
            let prepared = gateway.prepare(&request).await;
            if let Ok(prepared) = &prepared {
                summary.begins(prepared.name(), prepared.kind_name());
            }
            match prepared {
                Err(errors) => Ok(Execution::single(false, std::future::ready(Response::refused(&errors)))),
                Ok(prepared) if prepared.writes() && !may_write => Err(MayNotWrite),
                Ok(prepared) if prepared.watches() && may_last => {
                    let responses = hub.subscribe(&gateway, prepared, request);
                    Ok(Execution { writes: false, answer: OperationAnswer::Many(responses) })
                }
                Ok(prepared) => {
                    let writes = prepared.writes();
                    Ok(Execution::single(writes, async move { gateway.run(&prepared, deadline, explain).await }))
                }
            }
        }
        .boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        let gateway = self.get();
        async move {
            gateway.store().ready(&gateway.model().tables).await.map_err(|error| {
                tracing::warn!(reason = %error, "the tables are not ready");
                error.kind.to_string()
            })
        }
        .boxed()
    }

    fn close(&self) {
        self.hub.close();
    }

    fn load(&self) -> BackendLoad {
        BackendLoad { gateway: self.get().load(), subscriptions: self.hub.load(), reloads: self.reloads() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::execute::request::Settings;
    use crate::schema::load;
    use crate::table::sdk::store::SdkStore;
    use std::sync::Arc;

    #[tokio::test]
    async fn reloads_are_counted() {
        let text = r#"
            extend schema @table(name: "table", partitionKey: "PK")
            type A @item(keys: { PK: "A#{id}" }) { id: ID! }
            type Query { a(id: ID!): A @find }"#;
        let (model, _) = load("a.graphql", text, &|_| None).unwrap();
        let (model, store) = (Arc::new(model), SdkStore::in_memory().unwrap());
        let gateway = || Gateway::new(model.clone(), store.clone(), Settings::default());
        let current = CurrentGateway::new(gateway());
        assert_eq!(current.reloads(), Reloads::default());
        let before = SystemTime::now();
        current.replace(gateway()).await;
        current.stays();
        current.stays();
        let Reloads { good, failed, last } = current.reloads();
        assert_eq!((good, failed), (1, 2));
        assert!(last.is_some_and(|last| (before..=SystemTime::now()).contains(&last)));
    }
}
