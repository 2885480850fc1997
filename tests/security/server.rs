//! A server whose operations say who calls, and what a client gets from it.

use crate::machine::{Running, limits, parts, start};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use keyfold::execute::gateway::Response;
use keyfold::serve::backend::{Backend, Execution, Invocation, MayNotWrite};
use keyfold::serve::router::Parts;
use keyfold::serve::settings::RequestLimits;
use keyfold::serve::sign_in::api_keys::ApiKeys;
use keyfold::serve::sign_in::authenticator::Authenticator;
use keyfold::serve::sign_in::issuer::{Issuer, IssuerKeys};
use keyfold::serve::sign_in::rate_limit;
use keyfold::serve::sign_in::watched_file::WatchedFile;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Answers with the subject of the caller, and counts the operations.
#[derive(Default)]
struct WhoCalls {
    operations: Arc<AtomicUsize>,
}

impl Backend for WhoCalls {
    fn begin(&self, invocation: Invocation) -> BoxFuture<'static, Result<Execution, MayNotWrite>> {
        self.operations.fetch_add(1, Ordering::Relaxed);
        let caller = invocation.request.caller;
        let data = json!({"data": {"signedIn": caller.is_signed_in(), "sub": caller.sub()}});
        let response = Response { body: data.to_string().into(), ..Response::default() };
        async move { Ok(Execution::single(false, std::future::ready(response))) }.boxed()
    }

    fn ready(&self) -> BoxFuture<'static, Result<(), String>> {
        async { Ok(()) }.boxed()
    }
}

/// A running server.
pub struct Server {
    pub running: Running,
    operations: Arc<AtomicUsize>,
}

/// What a client gets.
#[derive(Debug, PartialEq)]
pub struct Got {
    pub status: u16,
    pub challenge: Option<String>,
    pub retry_after: bool,
    pub body: Value,
}

impl Server {
    /// A server that believes these issuers and machines.
    pub async fn start(issuers: Vec<Issuer>, api_keys: &str) -> Self {
        Self::limited(issuers, api_keys, None).await
    }

    /// The same, with a limit of rate.
    pub async fn limited(issuers: Vec<Issuer>, api_keys: &str, rate: Option<&str>) -> Self {
        let backend = WhoCalls::default();
        let operations = backend.operations.clone();
        let authenticator =
            Authenticator::new(issuers, WatchedFile::fixed(ApiKeys::from_json(api_keys.as_bytes()).unwrap()));
        let mut limits = RequestLimits { body_limit: 64 << 10, ..limits() };
        limits.shared.rate_limit = rate.map(|text| rate_limit::rate(text).unwrap());
        Self { running: start(Parts { authenticator, limits, ..parts(backend) }).await, operations }
    }

    /// A server that believes one issuer.
    pub async fn of(name: &str, keys: IssuerKeys) -> Self {
        Self::start(vec![Issuer { name: name.into(), audiences: vec!["api".into()], keys }], "[]").await
    }

    /// Sends an operation with these headers.
    pub async fn ask(&self, headers: &[(&'static str, String)]) -> Got {
        let mut request = self.running.post(r#"{"query": "{ me }"}"#);
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let response = request.send().await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        let (status, challenge, retry_after) =
            (response.status().as_u16(), header("www-authenticate"), header("retry-after").is_some());
        let body = serde_json::from_slice(&response.bytes().await.unwrap()).unwrap();
        Got { status, challenge, retry_after, body }
    }

    /// Sends an operation with this token.
    pub async fn ask_with(&self, token: &str) -> Got {
        self.ask(&[("authorization", format!("Bearer {token}"))]).await
    }

    /// How many operations have begun.
    pub fn operations(&self) -> usize {
        self.operations.load(Ordering::Relaxed)
    }
}

impl Got {
    /// The subject of the caller, who was let in.
    pub fn sub(&self) -> Option<&str> {
        assert_eq!((self.status, &self.body["errors"]), (200, &Value::Null), "{self:?}");
        self.body["data"]["sub"].as_str()
    }

    /// The one refusal of whoever is not let in: it says nothing about the reason.
    pub fn is_unauthenticated(&self) -> bool {
        let error = json!({"message": "The token or key is not accepted. Sign in again.", "extensions": {"code": "UNAUTHENTICATED"}});
        let refusal =
            Got { status: 401, challenge: Some("Bearer".into()), retry_after: false, body: json!({"errors": [error]}) };
        *self == refusal
    }

    /// Whether the server could not check the token.
    pub fn is_unavailable(&self) -> bool {
        self.status == 503 && self.retry_after && self.body["errors"][0]["extensions"]["code"] == "UNAVAILABLE"
    }
}
