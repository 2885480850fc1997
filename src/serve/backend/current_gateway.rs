//! The gateway that serves now, in place of which another may come while requests are served.

use super::{Backend, BackendLoad, Execution, Invocation, MayNotWrite, OperationAnswer, Reloads};
use crate::execute::gateway::{Gateway, Response};
use crate::execute::watch::hub::Hub;
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::SystemTime;

/// The gateway that serves now. Requests that have begun stay with the gateway they began with; subscriptions follow
/// it.
pub struct CurrentGateway {
    gateway: RwLock<Gateway>,
    hub: Hub,
    reloads: Mutex<Reloads>,
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
    use crate::table::store::TableStore;
    use std::sync::Arc;

    #[tokio::test]
    async fn reloads_are_counted() {
        let text = r#"
            extend schema @table(name: "table", partitionKey: "PK")
            type A @item(keys: { PK: "A#{id}" }) { id: ID! }
            type Query { a(id: ID!): A @find }"#;
        let (model, _) = load("a.graphql", text, &|_| None).unwrap();
        let (model, store) = (Arc::new(model), TableStore::in_memory().unwrap());
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
