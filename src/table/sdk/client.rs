//! Where the tables are in; a configured client of the AWS SDK out, with the connector and the credentials of calls
//! without it.

use crate::table::attempt::attempts::ATTEMPT_LIMIT;
use crate::table::client::carrier::Network;
use crate::table::client::pool::CONNECT_LIMIT;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::embedded::connector::Connector;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Builder, Config, Credentials, ProvideCredentials, Region, SharedHttpClient,
};
use aws_sdk_dynamodb::config::{HttpClient, StalledStreamProtectionConfig};
use aws_sdk_dynamodbstreams::Client as Streams;
use aws_sdk_dynamodbstreams::config::{
    BehaviorVersion as StreamsVersion, Builder as StreamsBuilder, Config as StreamsConfig,
};
use aws_smithy_http_client::proxy::ProxyConfig;
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorSettings, SharedHttpConnector};
use aws_types::SdkConfig;
use aws_types::service_config::ServiceConfigKey;
use std::time::Duration;
use tokio::time::timeout;
use url::Url;

/// Longest call to a stream.
const STREAM_LIMIT: Duration = Duration::from_secs(10);
/// Longest wait for credentials for a compatible server, which may not need any.
const CREDENTIALS_LIMIT: Duration = Duration::from_secs(3);
/// The region for servers that have none.
const ANY_REGION: &str = "us-east-1";

/// A client of the AWS SDK, and what its requests are sent and signed with.
#[derive(Debug)]
pub(in crate::table) struct ConfiguredClient {
    /// The client.
    pub(in crate::table) sdk: Client,
    /// The client of the tables' streams.
    pub(in crate::table) streams: Streams,
    /// What requests without the SDK go over.
    pub(in crate::table) network: Network,
    /// What signs them; `None` where nothing needs to be signed.
    pub(in crate::table) credentials: Option<SharedCredentialsProvider>,
}

/// A client of the embedded store. Its calls need no signature and no time limits.
pub(in crate::table) fn embedded(connector: Connector) -> ConfiguredClient {
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
    let config = config.endpoint_url("http://embedded").allow_no_auth().http_client(connector.clone());
    let config = config.timeout_config(TimeoutConfig::disabled());
    let sdk = Client::from_conf(without_retries(config).build());
    let streams = StreamsConfig::builder().behavior_version(StreamsVersion::latest()).region(Region::new(ANY_REGION));
    let streams = streams.endpoint_url("http://embedded").allow_no_auth().http_client(connector.clone());
    let streams = Streams::from_conf(
        streams.retry_config(RetryConfig::disabled()).timeout_config(TimeoutConfig::disabled()).build(),
    );
    ConfiguredClient { sdk, streams, network: Network::Played(SharedHttpConnector::new(connector)), credentials: None }
}

/// A client that sends by the given HTTP client, with the settings of [`connect`] but for credentials and region. It
/// does not sign what it asks of streams: they are polled, and signatures would be most of the work.
pub(in crate::table) fn over(http: impl HttpClient + HttpConnector + Clone + 'static) -> ConfiguredClient {
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
    let config =
        config.endpoint_url("http://localhost:8000").credentials_provider(any_credentials()).http_client(http.clone());
    let sdk = Client::from_conf(with_limits(config).build());
    let streams = StreamsConfig::builder().behavior_version(StreamsVersion::latest()).region(Region::new(ANY_REGION));
    let streams = streams.endpoint_url("http://localhost:8000").allow_no_auth().http_client(http.clone());
    let streams =
        Streams::from_conf(streams.retry_config(RetryConfig::disabled()).timeout_config(stream_limits()).build());
    let credentials = Some(SharedCredentialsProvider::new(any_credentials()));
    ConfiguredClient { sdk, streams, network: Network::Played(SharedHttpConnector::new(http)), credentials }
}

/// A client of DynamoDB or of a compatible server. It finds region and credentials as all AWS tools do: in the
/// environment, the profile, the container or the machine. A compatible server gets placeholder credentials if there
/// are none, because such servers ignore them.
pub(in crate::table) async fn connect(
    endpoint_url: Option<&str>,
    region: Option<&str>,
) -> Result<ConfiguredClient, TableError> {
    let endpoint = endpoint_url.map(server_url).transpose()?;
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).http_client(https_client(proxy_of_credentials()));
    if let Some(region) = region {
        loader = loader.region(Region::new(region.to_owned()));
    }
    if let Some(url) = endpoint_url {
        loader = loader.endpoint_url(url);
    }
    let found = loader.load().await;
    let http = https_client(ProxyConfig::from_env());
    let mut config = Builder::from(&found).http_client(http.clone());
    let mut streams = StreamsBuilder::from(&found).http_client(http);
    if let Some(url) = configured_endpoint_of_streams(&found).filter(|_| endpoint_url.is_none()) {
        streams = streams.endpoint_url(url);
    }
    if found.region().is_none() {
        if endpoint_url.is_none() {
            return Err(invalid("no AWS region is set; use --region or AWS_REGION".to_owned()));
        }
        config = config.region(Region::new(ANY_REGION));
        streams = streams.region(Region::new(ANY_REGION));
    }
    let mut credentials = found.credentials_provider();
    if endpoint.is_some_and(|url| !is_of_aws(&url)) && !has_credentials(&found).await {
        config = config.credentials_provider(any_credentials());
        streams = streams.credentials_provider(any_credentials());
        credentials = Some(SharedCredentialsProvider::new(any_credentials()));
    }
    let streams =
        Streams::from_conf(streams.retry_config(RetryConfig::disabled()).timeout_config(stream_limits()).build());
    Ok(ConfiguredClient {
        sdk: Client::from_conf(with_limits(config).build()),
        streams,
        network: Network::Real(connector),
        credentials,
    })
}

/// The address of the streams in the environment or the profile: their own (`AWS_ENDPOINT_URL_DYNAMODB_STREAMS`), or
/// else that of the tables (`AWS_ENDPOINT_URL_DYNAMODB`). To the AWS SDK, streams are another service, which it would
/// ask in the region.
fn configured_endpoint_of_streams(found: &SdkConfig) -> Option<String> {
    let configured = found.service_config()?;
    let address = |service: &str| {
        let key = ServiceConfigKey::builder()
            .service_id(service)
            .env("AWS_ENDPOINT_URL")
            .profile("endpoint_url")
            .build()
            .ok()?;
        configured.load_config(key)
    };
    ["DynamoDB Streams", "DynamoDB"].into_iter().find_map(address)
}

/// The time limits of calls to streams. An answer has up to 1 MB.
fn stream_limits() -> TimeoutConfig {
    TimeoutConfig::builder().connect_timeout(CONNECT_LIMIT).operation_timeout(STREAM_LIMIT).build()
}

/// What sends requests through a proxy, with the time limits of the SDK's calls.
fn connector() -> SharedHttpConnector {
    let limits = HttpConnectorSettings::builder().connect_timeout(CONNECT_LIMIT).read_timeout(ATTEMPT_LIMIT).build();
    SharedHttpConnector::new(connector_with(limits, ProxyConfig::from_env()))
}

/// The SDK's HTTP client for `https://` and `http://`. All its calls share a pool of connections.
fn https_client(proxies: ProxyConfig) -> SharedHttpClient {
    aws_smithy_http_client::Builder::new().build_with_connector_fn(move |settings, _| {
        connector_with(settings.cloned().unwrap_or_default(), proxies.clone())
    })
}

fn connector_with(settings: HttpConnectorSettings, proxies: ProxyConfig) -> aws_smithy_http_client::Connector {
    let builder = aws_smithy_http_client::Connector::builder().connector_settings(settings).proxy_config(proxies);
    builder.tls_provider(Provider::Rustls(CryptoMode::Ring)).build()
}

/// The proxy that the environment names for `https://` alone. Credentials of a container or a machine come by `http://`
/// from an address that no proxy reaches.
fn proxy_of_credentials() -> ProxyConfig {
    let variable = |name: &str| [name.to_uppercase(), name.to_owned()].iter().find_map(|name| std::env::var(name).ok());
    let url = variable("https_proxy").or_else(|| variable("all_proxy"));
    match url.and_then(|url| ProxyConfig::https(url).ok()) {
        Some(proxy) => proxy.no_proxy(variable("no_proxy").unwrap_or_default()),
        None => ProxyConfig::disabled(),
    }
}

async fn has_credentials(found: &aws_config::SdkConfig) -> bool {
    let Some(provider) = found.credentials_provider() else { return false };
    matches!(timeout(CREDENTIALS_LIMIT, provider.provide_credentials()).await, Ok(Ok(_)))
}

/// Reads the address of a server.
fn server_url(text: &str) -> Result<Url, TableError> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| {
        invalid(format!("{text:?} is not the URL of a server: write http:// or https://, a host and perhaps a port"))
    })
}

/// Whether an endpoint belongs to AWS, where placeholder credentials would only hide that there are none.
fn is_of_aws(endpoint: &Url) -> bool {
    let host = endpoint.host_str().unwrap_or_default();
    [".amazonaws.com", ".amazonaws.com.cn", ".api.aws", ".on.aws"].iter().any(|domain| host.ends_with(domain))
}

fn any_credentials() -> Credentials {
    Credentials::new("keyfold", "keyfold", None, None, "none needed")
}

/// The SDK limits only the time to connect: without these, a server that never answers would hold a request for ever.
fn with_limits(config: Builder) -> Builder {
    let limits = TimeoutConfig::builder().connect_timeout(CONNECT_LIMIT).read_timeout(ATTEMPT_LIMIT);
    without_retries(config.timeout_config(limits.build()))
}

/// Our own retries replace the SDK's, and the limit of an attempt replaces its protection from stalled streams.
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
    fn endpoints_of_aws_are_distinguished_from_others() {
        for url in
            ["https://dynamodb.eu-central-1.amazonaws.com", "https://vpce-1.dynamodb.us-east-1.vpce.amazonaws.com:443/"]
        {
            assert!(is_of_aws(&server_url(url).unwrap()), "{url}");
        }
        for url in [
            "http://localhost:8000",
            "http://amazonaws.com.example.org",
            "http://db/?x=.amazonaws.com",
            "http://[::1]:8000",
        ] {
            assert!(!is_of_aws(&server_url(url).unwrap()), "{url}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn missing_credentials_are_reported_at_once() {
        let sources = aws_config::provider_config::ProviderConfig::without_region()
            .with_http_client(https_client(ProxyConfig::disabled()));
        let nobody = aws_config::profile::ProfileFileCredentialsProvider::builder().configure(&sources);
        let nobody = nobody.profile_name("there is no such profile").build();
        let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new(ANY_REGION));
        let config = config.credentials_provider(nobody).http_client(https_client(ProxyConfig::disabled()));
        let client = Client::from_conf(with_limits(config).build());
        let begun = tokio::time::Instant::now();
        let budget = crate::table::retry::budget::RetryBudget::default();
        let deadline = begun + Duration::from_secs(30);
        let attempts = crate::table::attempt::attempts::Attempts {
            operation: "ListTables",
            table: "",
            deadline,
            budget: &budget,
            health: None,
            tally: None,
        };
        let error = attempts.send(|| client.list_tables().send()).await.unwrap_err();
        assert_eq!((error.kind, begun.elapsed()), (TableErrorKind::Denied, Duration::ZERO), "{error}");
    }

    /// The addresses of services, by their ids.
    #[derive(Debug)]
    struct Addresses(&'static [(&'static str, &'static str)]);

    impl aws_types::service_config::LoadServiceConfig for Addresses {
        fn load_config(&self, key: ServiceConfigKey<'_>) -> Option<String> {
            assert_eq!((key.env(), key.profile()), ("AWS_ENDPOINT_URL", "endpoint_url"));
            self.0.iter().find(|(service, _)| *service == key.service_id()).map(|(_, url)| (*url).to_owned())
        }
    }

    #[test]
    fn streams_are_where_the_tables_are_unless_they_have_an_address_of_their_own() {
        const TABLES: (&str, &str) = ("DynamoDB", "http://tables");
        let both: &[_] = &[TABLES, ("DynamoDB Streams", "http://streams")];
        for (addresses, expected) in
            [(&[][..], None), (&[TABLES][..], Some("http://tables")), (both, Some("http://streams"))]
        {
            let found = SdkConfig::builder().service_config(Addresses(addresses)).build();
            assert_eq!(configured_endpoint_of_streams(&found).as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn a_client_of_dynamodb_needs_no_call_to_be_made() {
        assert!(connect(None, Some("eu-central-1")).await.is_ok());
    }

    #[tokio::test]
    async fn an_endpoint_that_is_no_url_is_refused_before_anything_is_sent() {
        for text in ["localhost:8000", "http://", "https:// host", "http://host:99999", "ftp://host", ""] {
            let error = connect(Some(text), None).await.unwrap_err();
            assert_eq!(error.kind, TableErrorKind::Invalid, "{text}");
            assert!(error.detail.starts_with(&format!("{text:?} is not the URL of a server")), "{error}");
        }
    }
}
