//! A configured client of the SDK in; where its requests go and what names their sender out.
//!
//! The SDK knows every rule of regions, FIPS, dual stack, account endpoints and overrides. So it makes one request that is not sent, and
//! that request tells.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use std::sync::{Arc, Mutex, PoisonError};

/// Where requests go.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Destination {
    /// The URL of every request.
    pub(super) url: String,
    /// The host, with the port where it is not the scheme's own.
    pub(super) host: String,
    /// The region of the signatures; `None` where requests are not signed.
    pub(super) region: Option<String>,
    /// The `User-Agent`.
    pub(super) user_agent: String,
}

/// Asks the SDK where requests go. The error is that of a request that could not be made: no credentials, no endpoint.
pub(super) async fn destination(client: &Client) -> Result<Destination, SdkError<GetItemError, HttpResponse>> {
    let captured = Captured::default();
    let config = client.config().to_builder().http_client(captured.clone()).build();
    let key = AttributeValue::S("k".to_owned());
    let sent = Client::from_conf(config).get_item().table_name("table").key("k", key).send().await;
    let taken = captured.destination.lock().unwrap_or_else(PoisonError::into_inner).take();
    match (taken, sent) {
        (Some(destination), _) => Ok(destination),
        (None, Err(error)) => Err(error),
        (None, Ok(_)) => Err(SdkError::construction_failure("the SDK sent no request")),
    }
}

/// An HTTP client that sends nothing and keeps what it was to send.
#[derive(Debug, Clone, Default)]
struct Captured {
    destination: Arc<Mutex<Option<Destination>>>,
}

impl HttpClient for Captured {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Captured {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        *self.destination.lock().unwrap_or_else(PoisonError::into_inner) = read(&request);
        HttpConnectorFuture::ready(Err(ConnectorError::user("this request is not sent".into())))
    }
}

fn read(request: &HttpRequest) -> Option<Destination> {
    let url = url::Url::parse(request.uri()).ok()?;
    let host = url.host_str()?;
    let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    // Credential=<access key>/<day>/<region>/<service>/aws4_request
    let scope = request.headers().get("authorization").and_then(|value| value.split("Credential=").nth(1));
    let region = scope.and_then(|scope| scope.split('/').nth(2)).map(str::to_owned);
    let user_agent = request.headers().get("user-agent").unwrap_or("keyfold").to_owned();
    Some(Destination { url: url.into(), host, region, user_agent })
}
