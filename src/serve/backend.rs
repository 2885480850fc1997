//! What the HTTP layer asks of what is behind it, and the gateway there, which may be replaced while requests are served.

use crate::execute::gateway::{Gateway, Response};
use crate::execute::request::Request;
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::{PoisonError, RwLock};
use tokio::time::Instant;

/// What stands behind the HTTP layer.
pub trait Backend: Send + Sync + 'static {
    /// Prepares an operation; nothing is read or written before its work is polled.
    fn begin(&self, call: Call) -> Work;

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

/// The work of a call.
pub struct Work {
    /// Whether it may change anything. If so, it must run to its end once it is polled, whoever waits for the answer.
    pub writes: bool,
    /// Does it.
    pub answer: BoxFuture<'static, Answer>,
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
    fn begin(&self, call: Call) -> Work {
        let gateway = self.get();
        let at_once = |answer: Answer| Work { writes: false, answer: std::future::ready(answer).boxed() };
        match gateway.prepare(&call.request) {
            Err(errors) => at_once(Answer::Response(Response::refused(&errors))),
            Ok(prepared) if prepared.mutation && !call.may_write => at_once(Answer::MayNotWrite),
            Ok(prepared) => {
                let writes = prepared.mutation;
                let run = async move { Answer::Response(gateway.run(prepared, call.deadline, call.explain).await) };
                Work { writes, answer: run.boxed() }
            }
        }
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
