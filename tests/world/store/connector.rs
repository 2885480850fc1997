//! HTTP requests as the AWS SDK and Keyfold's own client write them in, the model's answers out, at once: no network
//! between them.

use crate::store::chance::Chance;
use crate::store::error::Answer;
use crate::store::{ModelStore, http};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// A model that is called over HTTP. Clones are the same one.
#[derive(Clone)]
pub struct Served {
    inside: Arc<Mutex<Inside>>,
    /// The run time's clock stands for this time, in milliseconds since the epoch.
    begin: (Instant, u64),
}

struct Inside {
    store: ModelStore,
    chance: Box<dyn Chance + Send>,
}

impl Served {
    /// The model, whose time goes on with the run time's clock.
    pub fn new(store: ModelStore, chance: Box<dyn Chance + Send>, now: u64) -> Self {
        Self { inside: Arc::new(Mutex::new(Inside { store, chance })), begin: (Instant::now(), now) }
    }

    /// The model as it is.
    pub fn store(&self) -> ModelStore {
        self.inside.lock().unwrap().store.clone()
    }
}

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Served")
    }
}

impl HttpClient for Served {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Served {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let body = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap_or_default();
        let now = self.begin.1 + u64::try_from(self.begin.0.elapsed().as_millis()).unwrap();
        let mut inside = self.inside.lock().unwrap();
        let Inside { store, chance } = &mut *inside;
        HttpConnectorFuture::ready(Ok(response(store.call(target, &body, now, &mut **chance))))
    }
}

/// The HTTP response with an answer.
pub fn response(answer: Answer<Value>) -> HttpResponse {
    let (status, body) = http(answer);
    let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body.to_string()));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}
