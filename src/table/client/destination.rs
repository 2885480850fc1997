//! A configured client of the SDK in; where its requests go and what names their sender out.
//!
//! The SDK knows every rule of regions, FIPS, dual stack, account endpoints and overrides. So it makes one request that
//! is not sent, and that request shows it.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::error::SdkError;
use aws_sdk_dynamodb::operation::get_item::GetItemError;
use aws_sdk_dynamodb::types::AttributeValue;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// Where requests go.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Destination {
    /// The URL of every request.
    pub(super) url: String,
    /// The host, with the port where it is not the scheme's own.
    pub(super) host: String,
    /// The path, as signatures have it.
    pub(super) path: String,
    /// The region of the signatures; `None` where requests are not signed.
    pub(super) region: Option<String>,
    /// The `User-Agent`.
    pub(super) user_agent: String,
}

/// Asks the SDK where requests go. The error is that of a request that could not be made: no credentials, no endpoint.
pub(super) async fn destination(client: &Client) -> Result<Destination, SdkError<GetItemError, HttpResponse>> {
    let captured = CapturingClient::default();
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
struct CapturingClient {
    destination: Arc<Mutex<Option<Destination>>>,
}

impl HttpClient for CapturingClient {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for CapturingClient {
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
    let path = signed_path(url.path());
    Some(Destination { url: url.into(), host, path, region, user_agent })
}

/// Letters, digits and these characters stay as they are in the path of a signature.
const UNRESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The path of a URL as signatures have it: without empty segments, and each segment encoded once more (AWS IAM user
/// guide, "Create a signed AWS API request", canonical URI).
fn signed_path(path: &str) -> String {
    let segments = path.split('/').filter(|segment| !segment.is_empty());
    let signed: String =
        segments.flat_map(|segment| [Cow::from("/"), utf8_percent_encode(segment, UNRESERVED).into()]).collect();
    if path.ends_with('/') { signed + "/" } else { signed }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use aws_credential_types::Credentials;
    use aws_sdk_dynamodb::config::retry::RetryConfig;
    use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Config, Region};

    /// Where the requests of a configured client go.
    async fn destination_in(region: &'static str, configure: impl FnOnce(Builder) -> Builder) -> Destination {
        let credentials = Credentials::new("AKID", "secret", None, None, "test");
        let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(region));
        let config = config
            .credentials_provider(credentials)
            .retry_config(RetryConfig::disabled())
            .http_client(CapturingClient::default());
        destination(&Client::from_conf(configure(config).build())).await.unwrap()
    }

    #[tokio::test]
    async fn the_sdk_says_where_requests_go() {
        let account = |config: Builder| {
            let credentials =
                Credentials::builder().access_key_id("AKID").secret_access_key("secret").account_id("123456789012");
            config.credentials_provider(credentials.provider_name("test").build())
        };
        for (region, configure, url) in [
            (
                "eu-central-1",
                (|config| config) as fn(Builder) -> Builder,
                "https://dynamodb.eu-central-1.amazonaws.com/",
            ),
            ("cn-north-1", |config| config, "https://dynamodb.cn-north-1.amazonaws.com.cn/"),
            ("us-east-1", |config| config.use_fips(true), "https://dynamodb-fips.us-east-1.amazonaws.com/"),
            ("us-east-1", |config| config.use_dual_stack(true), "https://dynamodb.us-east-1.api.aws/"),
            (
                "us-east-1",
                |config| config.use_fips(true).use_dual_stack(true),
                "https://dynamodb-fips.us-east-1.api.aws/",
            ),
            ("eu-central-1", account, "https://123456789012.ddb.eu-central-1.amazonaws.com/"),
            ("eu-central-1", |config| config.endpoint_url("http://db.example:8000"), "http://db.example:8000/"),
            (
                "eu-central-1",
                |config| config.endpoint_url("https://db.example/a%20b/v1/"),
                "https://db.example/a%20b/v1/",
            ),
        ] {
            let found = destination_in(region, configure).await;
            assert_eq!((found.url.as_str(), found.region.as_deref()), (url, Some(region)));
        }
    }

    #[tokio::test]
    async fn signatures_have_the_port_and_the_path_of_an_address() {
        let found = destination_in("eu-central-1", |config| config.endpoint_url("http://db.example:8000/a%20b/")).await;
        assert_eq!((found.host.as_str(), found.path.as_str()), ("db.example:8000", "/a%2520b/"));
        let found = destination_in("eu-central-1", |config| config).await;
        assert_eq!((found.host.as_str(), found.path.as_str()), ("dynamodb.eu-central-1.amazonaws.com", "/"));
        for (path, signed) in
            [("/", "/"), ("/v1:prod/", "/v1%3Aprod/"), ("//a//b", "/a/b"), ("/a@b,(c)~d-e._", "/a%40b%2C%28c%29~d-e._")]
        {
            assert_eq!(signed_path(path), signed);
        }
    }

    #[tokio::test]
    async fn the_user_agent_is_that_of_the_sdk() {
        let found = destination_in("eu-central-1", |config| config).await;
        assert!(
            found.user_agent.starts_with("aws-sdk-rust/") && found.user_agent.contains("api/dynamodb/"),
            "{}",
            found.user_agent
        );
    }

    #[tokio::test]
    async fn without_credentials_nothing_is_signed() {
        let config = Config::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new("eu-central-1"))
            .allow_no_auth();
        let config = config.endpoint_url("http://embedded").http_client(CapturingClient::default());
        assert_eq!(destination(&Client::from_conf(config.build())).await.unwrap().region, None);
    }
}
