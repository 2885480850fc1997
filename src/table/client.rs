//! Where the tables are in, a client of the AWS SDK with our settings out.

use super::connector::Connector;
use super::error::{TableError, TableErrorKind};
use super::retry::ATTEMPT_LIMIT;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, Builder, Config, Credentials, ProvideCredentials, Region, SharedHttpClient};
use aws_sdk_dynamodb::config::{HttpClient, StalledStreamProtectionConfig};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use std::time::Duration;
use tokio::time::timeout;

/// The longest that making a connection may take. Within a region it takes milliseconds.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);
/// The longest wait for credentials where a server is named that may not need any.
const CREDENTIALS_LIMIT: Duration = Duration::from_secs(3);
/// The region named to servers that know none.
const ANY_REGION: &str = "us-east-1";

/// A client of the embedded store: nothing to sign, nothing that gets lost on the way.
pub(super) fn embedded(connector: Connector) -> Client {
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
    let config = config.endpoint_url("http://embedded").allow_no_auth().http_client(connector);
    let config = config.timeout_config(TimeoutConfig::disabled());
    Client::from_conf(without_retries(config).build())
}

/// A client that sends by the given HTTP client, with the settings of [`connect`] but for credentials and region.
pub(super) fn over(http: impl HttpClient + 'static) -> Client {
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
    let config = config.endpoint_url("http://localhost:8000").credentials_provider(any_credentials()).http_client(http);
    Client::from_conf(with_limits(config).build())
}

/// A client of DynamoDB or of a compatible server; region and credentials as all AWS tools find them, from the environment, the profile,
/// the container or the machine. A server that is not Amazon's gets made-up credentials where none are found: such servers ignore them.
pub(super) async fn connect(endpoint_url: Option<&str>, region: Option<&str>) -> Result<Client, TableError> {
    if let Some(url) = endpoint_url.filter(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
        return Err(invalid(format!("the endpoint URL {url:?} does not begin with http:// or https://")));
    }
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(https_client());
    if let Some(region) = region {
        loader = loader.region(Region::new(region.to_owned()));
    }
    if let Some(url) = endpoint_url {
        loader = loader.endpoint_url(url);
    }
    let found = loader.load().await;
    let mut config = Builder::from(&found);
    if found.region().is_none() {
        if endpoint_url.is_none() {
            return Err(invalid("no AWS region is set: name one with --region, or set AWS_REGION".to_owned()));
        }
        config = config.region(Region::new(ANY_REGION));
    }
    if endpoint_url.is_some_and(|url| !is_amazons(url)) && !has_credentials(&found).await {
        config = config.credentials_provider(any_credentials());
    }
    Ok(Client::from_conf(with_limits(config).build()))
}

/// The HTTP client for `https://` and `http://` alike; its connections are pooled and shared by all calls.
fn https_client() -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https()
}

async fn has_credentials(found: &aws_config::SdkConfig) -> bool {
    let Some(provider) = found.credentials_provider() else { return false };
    matches!(timeout(CREDENTIALS_LIMIT, provider.provide_credentials()).await, Ok(Ok(_)))
}

/// Whether an endpoint is one of AWS, where made-up credentials would only hide that there are none.
fn is_amazons(endpoint_url: &str) -> bool {
    let host = endpoint_url.split("://").nth(1).unwrap_or_default();
    let host = host.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    [".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".on.aws"].iter().any(|domain| host.ends_with(domain))
}

fn any_credentials() -> Credentials {
    Credentials::new("keyfold", "keyfold", None, None, "none needed")
}

/// The SDK sets no limit but on connecting; a server that never answers would hold a request for ever.
fn with_limits(config: Builder) -> Builder {
    let limits = TimeoutConfig::builder().connect_timeout(CONNECT_LIMIT).read_timeout(ATTEMPT_LIMIT);
    without_retries(config.timeout_config(limits.build()))
}

/// Our own retries take the place of the SDK's, and the limit on an attempt that of its watch over slow streams.
fn without_retries(config: Builder) -> Builder {
    config.retry_config(RetryConfig::disabled()).stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}

fn invalid(detail: String) -> TableError {
    TableError { kind: TableErrorKind::Invalid, detail }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_of_aws_are_told_from_others() {
        for url in ["https://dynamodb.eu-central-1.amazonaws.com", "https://vpce-1.dynamodb.us-east-1.vpce.amazonaws.com:443/"] {
            assert!(is_amazons(url), "{url}");
        }
        for url in ["http://localhost:8000", "http://amazonaws.com.example.org", "http://db/?x=.amazonaws.com", "http://[::1]:8000"] {
            assert!(!is_amazons(url), "{url}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn missing_credentials_are_told_at_once() {
        let sources = aws_config::provider_config::ProviderConfig::without_region().with_http_client(https_client());
        let nobody = aws_config::profile::ProfileFileCredentialsProvider::builder().configure(&sources);
        let nobody = nobody.profile_name("there is no such profile").build();
        let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
        let config = config.credentials_provider(nobody).http_client(https_client());
        let client = Client::from_conf(with_limits(config).build());
        let begun = tokio::time::Instant::now();
        let budget = crate::table::retry_budget::RetryBudget::new();
        let deadline = begun + Duration::from_secs(30);
        let attempts = crate::table::retry::Attempts { operation: "ListTables", table: "", deadline, budget: &budget };
        let error = attempts.send(|| client.list_tables().send()).await.unwrap_err();
        assert_eq!((error.kind, begun.elapsed()), (TableErrorKind::Denied, Duration::ZERO), "{error}");
    }

    #[tokio::test]
    async fn a_client_of_dynamodb_needs_no_call_to_be_made() {
        assert!(connect(None, Some("eu-central-1")).await.is_ok());
    }

    #[tokio::test]
    async fn an_endpoint_without_a_scheme_is_refused() {
        let error = connect(Some("localhost:8000"), None).await.unwrap_err();
        assert_eq!(error.kind, TableErrorKind::Invalid);
        assert!(error.detail.contains("localhost:8000"), "{error}");
    }
}
