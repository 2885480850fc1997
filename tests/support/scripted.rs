//! A server below the AWS SDK that answers by a script.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// What the server does with a request.
pub enum Reply {
    /// Answers with status and body.
    Body(u16, String),
    /// Answers with status, the header `x-amzn-errortype` and body.
    Code(u16, String, String),
    /// Breaks the connection.
    Reset,
    /// Refuses the connection.
    Refused,
    /// Never answers.
    Never,
    /// Answers when it is notified.
    Held(Arc<Notify>, Box<Reply>),
}

impl Reply {
    pub fn ok(body: Value) -> Self {
        Self::Body(200, body.to_string())
    }

    pub fn error(status: u16, code: &str) -> Self {
        Self::Body(
            status,
            json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "said so" }).to_string(),
        )
    }
}

/// A name and the server's reaction.
pub type Trouble = (&'static str, fn() -> Reply);

/// The reactions of a server that has lost its answer.
pub const LOST: [Trouble; 6] = [
    ("no answer", || Reply::Never),
    ("reset", || Reply::Reset),
    ("truncated", || Reply::Body(200, r#"{"Attributes":{"n":{"N"#.into())),
    ("500", || Reply::error(500, "InternalServerError")),
    ("503", || Reply::Body(503, "<html>busy</html>".into())),
    ("408", || Reply::error(408, "RequestTimeout")),
];

/// The reactions of a server that has done nothing.
pub const REFUSED: [Trouble; 7] = [
    ("provisioned", || Reply::error(400, "ProvisionedThroughputExceededException")),
    ("throttled", || Reply::error(400, "ThrottlingException")),
    ("limit", || Reply::error(400, "RequestLimitExceeded")),
    ("throttled by 503", || Reply::error(503, "ThrottlingException")),
    ("conflict", || Reply::error(400, "TransactionConflictException")),
    ("no connection", || Reply::Refused),
    ("refused, and the reason lost", || Reply::Body(400, r#"{"__type":"com.amazonaws.dyn"#.into())),
];

/// The script: the number of earlier requests, the operation, the body.
type Script = dyn Fn(usize, &str, Value) -> Reply + Send + Sync;

#[derive(Clone)]
pub struct Server {
    script: Arc<Script>,
    requests: Arc<Mutex<usize>>,
}

impl Server {
    pub fn new(script: impl Fn(usize, &str, Value) -> Reply + Send + Sync + 'static) -> Self {
        Self { script: Arc::new(script), requests: Arc::default() }
    }

    pub fn requests(&self) -> usize {
        *self.requests.lock().unwrap()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Server")
    }
}

impl HttpClient for Server {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Server {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let operation = request.headers().get("x-amz-target").unwrap().rsplit('.').next().unwrap().to_owned();
        let body = serde_json::from_slice(request.body().bytes().unwrap()).unwrap();
        let before = {
            let mut requests = self.requests.lock().unwrap();
            *requests += 1;
            *requests - 1
        };
        played((self.script)(before, &operation, body))
    }
}

/// What a client gets of a reply.
pub fn played(reply: Reply) -> HttpConnectorFuture {
    match reply {
        Reply::Body(status, body) => HttpConnectorFuture::ready(Ok(response(status, body))),
        Reply::Code(status, code, body) => {
            let mut response = response(status, body);
            response.headers_mut().insert("x-amzn-errortype", code);
            HttpConnectorFuture::ready(Ok(response))
        }
        Reply::Reset => HttpConnectorFuture::ready(Err(ConnectorError::io("connection reset by peer".into()))),
        Reply::Refused => {
            let refused = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
            HttpConnectorFuture::ready(Err(ConnectorError::io(refused.into())))
        }
        Reply::Never => HttpConnectorFuture::new(std::future::pending()),
        Reply::Held(release, reply) => HttpConnectorFuture::new(async move {
            release.notified().await;
            played(*reply).await
        }),
    }
}

fn response(status: u16, body: String) -> HttpResponse {
    let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
    response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
    response
}
