//! What the HTTP layer asks of what is behind it, and the gateway there, which may be replaced while requests are served.

use crate::execute::error::GraphqlError;
use crate::execute::gateway::{Gateway, Request, Response};
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::{PoisonError, RwLock};
use tokio::time::Instant;

/// What stands behind the HTTP layer.
pub trait Backend: Send + Sync + 'static {
    /// Runs an operation.
    fn answer(&self, call: Call) -> BoxFuture<'static, Answer>;

    /// Asks whether operations can be run; the error is the kind of trouble, without internals.
    fn ready(&self) -> BoxFuture<'static, Result<(), String>>;
}

/// An operation with what its way here says about it.
#[derive(Debug)]
pub struct Call {
    /// The operation.
    pub request: Request,
    /// Whether it may change anything: not so by GET.
    pub may_write: bool,
    /// When the answer must be there.
    pub deadline: Instant,
    /// Whether the response tells the plan and the calls.
    pub explain: bool,
}

/// What came of a call.
#[derive(Debug)]
pub enum Answer {
    /// A GraphQL response.
    Response(Response),
    /// The operation is a mutation and may not write; nothing was done.
    MayNotWrite,
}

/// The gateway that serves now. Requests that have begun go on with the one that they began with.
pub struct Current {
    gateway: RwLock<Gateway>,
}

impl Current {
    /// Serves this gateway.
    pub fn new(gateway: Gateway) -> Self {
        Self { gateway: RwLock::new(gateway) }
    }

    /// The gateway that serves now.
    pub fn get(&self) -> Gateway {
        self.gateway.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Serves this gateway from now on.
    pub fn replace(&self, gateway: Gateway) {
        *self.gateway.write().unwrap_or_else(PoisonError::into_inner) = gateway;
    }
}

impl Backend for Current {
    fn answer(&self, call: Call) -> BoxFuture<'static, Answer> {
        answer(self.get(), call).boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        let gateway = self.get();
        async move {
            gateway.store().ready(&gateway.model().tables).await.map_err(|error| {
                tracing::warn!(reason = %error, "the tables are not ready");
                format!("{:?}", error.kind)
            })
        }
        .boxed()
    }
}

async fn answer(gateway: Gateway, call: Call) -> Answer {
    let refused = |errors: Vec<GraphqlError>| Answer::Response(Response::refused(&errors));
    match gateway.prepare(&call.request) {
        Err(errors) => refused(errors),
        Ok(prepared) if prepared.mutation && !call.may_write => Answer::MayNotWrite,
        Ok(prepared) => Answer::Response(gateway.run(prepared, call.deadline, call.explain).await),
    }
}
