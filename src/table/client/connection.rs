//! The body of a call in, the answer's bytes or the attempt's failure out: one signed request over a pooled connection.
//! Must not know what the bodies mean.

use super::carrier::{Carrier, Network, Unbuilt};
use super::credentials::CredentialsCache;
use super::destination::destination;
use super::exchange::TableRequest;
use super::refusal::{Answer, broken, no_credentials, refused, text, unbuilt};
use super::sign::Signer;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::call_scope::CallTally;
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_dynamodb::Client;
use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, Uri};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use tokio::sync::OnceCell;

/// What every target begins with: the version of the API.
const API: &str = "DynamoDB_20120810.";
/// The content type of every request.
const JSON: &str = "application/x-amz-json-1.0";
/// The headers of a request without a token. The connection adds the length of the body.
const HEADERS: usize = 6;

const AMZ_DATE: HeaderName = HeaderName::from_static("x-amz-date");
const AMZ_SECURITY_TOKEN: HeaderName = HeaderName::from_static("x-amz-security-token");
const AMZ_TARGET: HeaderName = HeaderName::from_static("x-amz-target");
const AMZ_REQUEST_ID: HeaderName = HeaderName::from_static("x-amzn-requestid");
const AMZ_CRC32: HeaderName = HeaderName::from_static("x-amz-crc32");

/// Connections to DynamoDB or to a compatible server.
pub(in crate::table) struct DynamoConnection {
    network: Network,
    /// Knows where requests go.
    sdk: Client,
    credentials: Option<CredentialsCache>,
    target: OnceCell<Target>,
    /// How many seconds the server's clock is ahead of this machine's.
    ahead: AtomicI64,
}

/// Credentials, and the time of the server.
type Signing<'c> = (&'c Credentials, SystemTime);

/// Where requests go, and what all of them have in common.
struct Target {
    carrier: Carrier,
    uri: Uri,
    host: HeaderValue,
    user_agent: HeaderValue,
    signer: Option<Signer>,
}

impl DynamoConnection {
    /// Sends to where the SDK's client would send. Without credentials, requests are not signed.
    pub(in crate::table) fn new(network: Network, sdk: Client, credentials: Option<SharedCredentialsProvider>) -> Self {
        let credentials = credentials.map(CredentialsCache::new);
        Self { network, sdk, credentials, target: OnceCell::new(), ahead: AtomicI64::new(0) }
    }

    /// Makes one attempt: sends a body to an operation. A refused signature or token is mended and sent again, once.
    pub(in crate::table) async fn send(
        &self,
        operation: &'static str,
        body: Vec<u8>,
        tally: Option<&CallTally>,
    ) -> Result<Bytes, AttemptFailure> {
        // The future that finds the target is large, and runs once.
        let target = self.target.get_or_try_init(|| Box::pin(self.find())).await?;
        let body = Bytes::from(body);
        let mut mended = false;
        loop {
            let credentials = match (&self.credentials, &target.signer) {
                (Some(cache), Some(_)) => Some(cache.get().await.map_err(|error| no_credentials(&error))?),
                _ => None,
            };
            let ahead = self.ahead.load(Ordering::Relaxed);
            let request = Self::request(
                target,
                credentials.as_deref().map(|known| (known, server_time(ahead))),
                operation,
                &body,
            );
            let request = request.map_err(|error| unbuilt(&*error))?;
            let begins = |headers: &HeaderMap| {
                tally.inspect(|tally| tally.answered(|| text(headers, &AMZ_REQUEST_ID)));
            };
            let answer = checked(target.carrier.send(request, begins).await?)?;
            if answer.status().is_success() {
                return Ok(answer.into_body());
            }
            let answer = Answer::new(answer);
            if mended || !self.mend(&answer, credentials.as_deref(), ahead) {
                return Err(refused(&answer));
            }
            mended = true;
        }
    }

    async fn find(&self) -> Result<Target, AttemptFailure> {
        let destination = destination(&self.sdk).await?;
        let build = || {
            let url: Uri = destination.url.parse()?;
            let carrier = Carrier::new(&self.network, &url)?;
            let (host, user_agent) =
                (HeaderValue::from_str(&destination.host)?, HeaderValue::from_str(&destination.user_agent)?);
            let signer = destination.region.map(|region| Signer::new(&destination.host, &destination.path, region));
            Ok(Target { uri: carrier.target(&url), carrier, host, user_agent, signer })
        };
        build().map_err(|error: Unbuilt| unbuilt(&*error))
    }

    fn request(
        target: &Target,
        signing: Option<Signing<'_>>,
        operation: &str,
        body: &Bytes,
    ) -> Result<TableRequest, Unbuilt> {
        let mut request = Box::new(Request::new(Full::new(body.clone())));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = target.uri.clone();
        let operation = [API, operation].concat();
        let token = signing.and_then(|(credentials, _)| credentials.session_token());
        let mut headers = HeaderMap::with_capacity(HEADERS + usize::from(token.is_some()));
        headers.insert(HOST, target.host.clone());
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        headers.insert(USER_AGENT, target.user_agent.clone());
        if let (Some(signer), Some((credentials, time))) = (&target.signer, signing) {
            let signature = signer.sign(credentials, time, &operation, body);
            headers.insert(AMZ_DATE, HeaderValue::from_bytes(&signature.date)?);
            headers.insert(AUTHORIZATION, signature.authorization.try_into()?);
        }
        if let Some(token) = token {
            headers.insert(AMZ_SECURITY_TOKEN, token.try_into()?);
        }
        headers.insert(AMZ_TARGET, operation.try_into()?);
        *request.headers_mut() = headers;
        Ok(request)
    }

    /// Mends what made the server refuse a signature: a clock that is wrong, or credentials that have expired. The
    /// signature's time was that many seconds ahead of this machine's. `false` if there is nothing to mend.
    fn mend(&self, answer: &Answer, credentials: Option<&Credentials>, signed_ahead: i64) -> bool {
        match answer.code(answer.refusal().as_ref()).unwrap_or_default().as_str() {
            "ExpiredTokenException" | "ExpiredToken" | "UnrecognizedClientException" => {
                let Some((cache, credentials)) = self.credentials.as_ref().zip(credentials) else { return false };
                cache.forget(credentials);
                // Credentials without a token do not expire.
                credentials.session_token().is_some()
            }
            "InvalidSignatureException"
            | "SignatureDoesNotMatch"
            | "RequestTimeTooSkewed"
            | "RequestExpired"
            | "RequestInTheFuture" => {
                let Some(theirs) = answer.date.as_deref().and_then(|date| OffsetDateTime::parse(date, &Rfc2822).ok())
                else {
                    return false;
                };
                let ahead = theirs.unix_timestamp() - seconds(SystemTime::now());
                self.ahead.store(ahead, Ordering::Relaxed);
                // A signature lasts five minutes. A smaller difference was not the reason. Another call may have found
                // out the time meanwhile.
                (ahead - signed_ahead).abs() >= SIGNATURE_SECONDS
            }
            _ => false,
        }
    }
}

/// The time of a clock that is that many seconds ahead of this machine's.
fn server_time(ahead: i64) -> SystemTime {
    let by = Duration::from_secs(ahead.unsigned_abs());
    let now = SystemTime::now();
    let shifted = if ahead < 0 { now.checked_sub(by) } else { now.checked_add(by) };
    shifted.unwrap_or(now)
}

/// How far a signature's time may be from the server's, in seconds (AWS IAM user guide, "Signature Version 4": five
/// minutes), less a margin for the way there.
const SIGNATURE_SECONDS: i64 = 4 * 60;

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Checks the body of an answer against the checksum that the server sent with it.
fn checked(answer: Response<Bytes>) -> Result<Response<Bytes>, AttemptFailure> {
    // "x-amz-crc32: a 32-bit cyclic redundancy check of the HTTP payload" (DynamoDB developer guide, "DynamoDB
    // low-level API").
    let checksum = text(answer.headers(), &AMZ_CRC32).and_then(|text| text.parse::<u32>().ok());
    match checksum.is_none_or(|checksum| checksum == crc32fast::hash(answer.body())) {
        true => Ok(answer),
        false => Err(broken("the answer does not match its checksum".to_owned())),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::error::TableErrorKind;
    use aws_credential_types::provider::{ProvideCredentials, future};
    use aws_sdk_dynamodb::config::retry::RetryConfig;
    use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Region};
    use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture, SharedHttpConnector};
    use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
    use aws_smithy_types::body::SdkBody;
    use std::collections::VecDeque;
    use std::sync::{Arc, Mutex};
    use time::PrimitiveDateTime;
    use time::macros::format_description;

    /// The status, the headers and the body of an answer.
    type Scripted = (u16, Vec<(&'static str, String)>, &'static str);

    /// A server that answers by a script, and keeps each request.
    #[derive(Debug, Clone)]
    struct Server {
        answers: Arc<Mutex<VecDeque<Scripted>>>,
        sent: Arc<Mutex<Vec<HttpRequest>>>,
    }

    impl Server {
        /// A header of each request so far.
        fn sent(&self, name: &str) -> Vec<String> {
            self.sent
                .lock()
                .unwrap()
                .iter()
                .map(|request| request.headers().get(name).unwrap_or_default().to_owned())
                .collect()
        }
    }

    impl HttpConnector for Server {
        fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
            self.sent.lock().unwrap().push(request);
            let (status, headers, body) = self.answers.lock().unwrap().pop_front().unwrap();
            let mut response = HttpResponse::new(status.try_into().unwrap(), SdkBody::from(body));
            for (name, value) in headers {
                response.headers_mut().insert(name, value);
            }
            HttpConnectorFuture::new(async move {
                tokio::task::yield_now().await;
                Ok(response)
            })
        }
    }

    /// Credentials with a new token each time.
    #[derive(Debug, Default)]
    struct Tokens(AtomicI64);

    impl ProvideCredentials for Tokens {
        fn provide_credentials<'a>(&'a self) -> future::ProvideCredentials<'a>
        where
            Self: 'a,
        {
            let number = self.0.fetch_add(1, Ordering::Relaxed);
            let token = Some(format!("token{number}"));
            future::ProvideCredentials::ready(Ok(Credentials::new(
                format!("AKID{number}"),
                "secret",
                token,
                None,
                "test",
            )))
        }
    }

    fn connected(answers: impl IntoIterator<Item = Scripted>) -> (Server, DynamoConnection) {
        let server = Server { answers: Arc::new(Mutex::new(answers.into_iter().collect())), sent: Arc::default() };
        let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new("eu-central-1"));
        let config = config.endpoint_url("http://db.example:8000").retry_config(RetryConfig::disabled());
        let sdk = Client::from_conf(config.credentials_provider(Tokens::default()).build());
        let tokens = SharedCredentialsProvider::new(Tokens::default());
        let connection =
            DynamoConnection::new(Network::Played(SharedHttpConnector::new(server.clone())), sdk, Some(tokens));
        (server, connection)
    }

    fn refusal(code: &'static str) -> Scripted {
        let date = (OffsetDateTime::now_utc() + time::Duration::hours(1)).format(format_description!(
            "[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT"
        ));
        (400, vec![("x-amzn-errortype", format!("{code}:http://internal.amazon.com/")), ("date", date.unwrap())], "{}")
    }

    fn good() -> Scripted {
        (200, vec![("x-amz-crc32", crc32fast::hash(b"{\"Count\":1}").to_string())], "{\"Count\":1}")
    }

    async fn send(connection: &DynamoConnection) -> Result<Bytes, AttemptFailure> {
        connection.send("Query", b"{}".to_vec(), None).await
    }

    #[tokio::test]
    async fn a_request_names_its_operation_its_sender_and_its_token() {
        let (server, connection) = connected([good()]);
        assert!(send(&connection).await.is_ok());
        assert_eq!(server.sent("x-amz-target"), ["DynamoDB_20120810.Query"]);
        assert_eq!(server.sent("content-type"), [JSON]);
        assert_eq!(server.sent("x-amz-security-token"), ["token0"]);
        assert!(server.sent("user-agent")[0].starts_with("aws-sdk-rust/"));
        let authorization = &server.sent("authorization")[0];
        assert!(authorization.starts_with("AWS4-HMAC-SHA256 Credential=AKID0/"), "{authorization}");
        assert!(authorization.contains("/eu-central-1/dynamodb/aws4_request, SignedHeaders="), "{authorization}");
    }

    #[tokio::test]
    async fn an_answer_that_does_not_match_its_checksum_is_no_answer() {
        let damaged = (200, vec![("x-amz-crc32", "1".to_owned())], "{\"Count\":1}");
        let (_, connection) = connected([damaged, good()]);
        let failure = send(&connection).await.unwrap_err();
        assert_eq!((failure.error.kind, failure.again, failure.uncertain), (TableErrorKind::Unavailable, true, true));
        assert_eq!(send(&connection).await.unwrap(), "{\"Count\":1}");
    }

    #[tokio::test]
    async fn a_request_is_signed_anew_with_the_time_of_the_server() {
        let (server, connection) =
            connected([refusal("InvalidSignatureException"), good(), good(), refusal("InvalidSignatureException")]);
        assert!(send(&connection).await.is_ok() && send(&connection).await.is_ok());
        let dates: Vec<i64> = server.sent("x-amz-date").iter().map(|date| minutes(date)).collect();
        assert!((59..=61).contains(&(dates[1] - dates[0])) && (59..=61).contains(&(dates[2] - dates[0])), "{dates:?}");
        // The clock is right by now, so it was not the reason.
        assert_eq!(send(&connection).await.unwrap_err().error.kind, TableErrorKind::Denied);
        assert_eq!(server.sent.lock().unwrap().len(), 4);
    }

    #[tokio::test]
    async fn calls_in_flight_are_all_signed_anew() {
        let refused = || refusal("InvalidSignatureException");
        let (server, connection) = connected([refused(), refused(), refused(), good(), good(), good()]);
        // Each is signed before the first refusal is read.
        assert!(futures_util::future::join_all((0..3).map(|_| send(&connection))).await.iter().all(Result::is_ok));
        let dates: Vec<i64> = server.sent("x-amz-date").iter().map(|date| minutes(date)).collect();
        assert!(
            dates[1] - dates[0] <= 1 && dates[2] - dates[0] <= 1 && dates[3..].iter().all(|date| date - dates[0] >= 59),
            "{dates:?}"
        );
    }

    /// The minutes of `20261122T031500Z` since 1970.
    fn minutes(date: &str) -> i64 {
        let format = format_description!("[year][month][day]T[hour][minute][second]Z");
        PrimitiveDateTime::parse(date, format).unwrap().assume_utc().unix_timestamp() / 60
    }

    #[tokio::test]
    async fn expired_credentials_are_replaced_once() {
        let (server, connection) = connected([refusal("ExpiredTokenException"), good(), good()]);
        assert!(send(&connection).await.is_ok() && send(&connection).await.is_ok());
        assert_eq!(server.sent("x-amz-security-token"), ["token0", "token1", "token1"]);

        let (server, connection) = connected([refusal("ExpiredTokenException"), refusal("ExpiredTokenException")]);
        assert_eq!(send(&connection).await.unwrap_err().error.kind, TableErrorKind::Denied);
        assert_eq!(server.sent.lock().unwrap().len(), 2);
    }
}
