//! moto as a separate process, and clients of it. Each account is a separate DynamoDB, so tests share a server and no
//! item.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use serde_json::Value;
use std::cmp::Reverse;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};

/// The header by which moto takes the account from a request.
const ACCOUNT: &str = "x-moto-account-id";

/// The server. It ends when this value is dropped, or with the process of the tests.
pub struct Moto {
    process: Child,
    url: String,
    accounts: AtomicU64,
}

impl Moto {
    /// Starts the server with a Python interpreter that has moto.
    pub fn start(python: &OsStr) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goldens/second_store/server.py");
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", python.display()));
        let mut line = String::new();
        // If the server cannot start, it ends, and so does the line.
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let Some(port) = line.trim().strip_prefix("port ") else { panic!("moto did not start: {line:?}") };
        Self { process, url: format!("http://127.0.0.1:{port}/"), accounts: AtomicU64::new(100_000_000_000) }
    }

    /// Its address. What is sent there without an account has one of its own.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// An account without a table.
    pub fn account(&self) -> Account {
        Account { url: self.url.clone(), number: self.accounts.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Moto {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// An account of the server's.
#[derive(Debug, Clone)]
pub struct Account {
    url: String,
    number: u64,
}

impl Account {
    /// An HTTP client whose requests reach this account, for the current run time.
    pub fn client(&self) -> Client {
        Client { account: self.clone(), http: reqwest::Client::builder().no_proxy().build().unwrap() }
    }
}

/// The client under the AWS SDK: the SDK signs for any server, and this one sends to moto.
#[derive(Debug, Clone)]
pub struct Client {
    account: Account,
    http: reqwest::Client,
}

impl HttpClient for Client {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Client {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let mut sent = self.http.post(&self.account.url).header(ACCOUNT, self.account.number.to_string());
        for (name, value) in request.headers().iter().filter(|(name, _)| !name.eq_ignore_ascii_case("host")) {
            sent = sent.header(name, value);
        }
        let sent = sent.body(request.body().bytes().unwrap_or_default().to_vec());
        HttpConnectorFuture::new(async move {
            let answer = sent.send().await.map_err(|error| ConnectorError::io(error.into()))?;
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            let body = answer.bytes().await.map_err(|error| ConnectorError::io(error.into()))?;
            let body = serde_json::from_slice(&body)
                .map_or_else(|_| body.to_vec(), |body| with_descending_sets(body).to_string().into());
            let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
            if let Some(kind) = headers.get("content-type") {
                response.headers_mut().insert("content-type", kind.to_str().unwrap_or_default().to_owned());
            }
            Ok(response)
        })
    }
}

/// The answer with the elements of each set in descending order. DynamoDB promises no order; moto's order differs in
/// each process.
fn with_descending_sets(answer: Value) -> Value {
    match answer {
        Value::Object(members) => {
            let members = members.into_iter().map(|(name, value)| {
                let mut value = with_descending_sets(value);
                if let ("SS" | "NS" | "BS", Value::Array(elements)) = (name.as_str(), &mut value) {
                    elements.sort_by_key(|element| Reverse(element.to_string()));
                }
                (name, value)
            });
            Value::Object(members.collect())
        }
        Value::Array(values) => values.into_iter().map(with_descending_sets).collect(),
        other => other,
    }
}
