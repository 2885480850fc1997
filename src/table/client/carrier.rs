//! A request in; its answer, read whole, or the attempt's failure out: over connections to the server, or by a
//! connector of the SDK. Must not know what the bodies mean.

use super::exchange::{AnswerBody, ExchangeError, TableRequest};
use super::pool::{ConnectionPool, SendError};
use super::refusal::{broken, not_connected, too_long, unbuilt};
use crate::table::attempt::failure::AttemptFailure;
use crate::table::attempt::sdk_failure::{connector_failure, with_causes};
use crate::table::data::error::TableErrorKind;
use crate::table::retry::table_health::Verdict;
use aws_smithy_runtime_api::client::http::{HttpConnector, SharedHttpConnector};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_types::body::SdkBody;
use aws_smithy_types::byte_stream::ByteStream;
use bytes::Bytes;
use http_body_util::{BodyExt, Collected};
use hyper::{HeaderMap, Request, Response, Uri};
use hyper_util::client::proxy::matcher::Matcher;

/// What requests go over.
#[derive(Debug)]
pub(in crate::table) enum Network {
    /// The machine's network. Where a proxy is on the way, requests go by this connector, which knows proxies.
    Real(fn() -> SharedHttpConnector),
    /// What plays a network.
    Played(SharedHttpConnector),
}

/// Sends requests to one server.
pub(super) enum Carrier {
    /// By connections that are kept.
    Pool(ConnectionPool),
    /// By a connector of the SDK.
    Connector(SharedHttpConnector),
}

/// Why a request could not be built.
pub(super) type Unbuilt = Box<dyn std::error::Error + Send + Sync>;

impl Carrier {
    /// The way to the server of a URL.
    pub(super) fn new(network: &Network, server: &Uri) -> std::io::Result<Self> {
        Ok(match network {
            Network::Played(connector) => Self::Connector(connector.clone()),
            Network::Real(connector) if Matcher::from_env().intercept(server).is_some() => Self::Connector(connector()),
            Network::Real(_) => Self::Pool(ConnectionPool::new(server.clone())?),
        })
    }

    /// The target of requests to a URL (RFC 9112 section 3.2): its path, or the whole for a connector that looks for
    /// the server in it.
    pub(super) fn target(&self, url: &Uri) -> Uri {
        match self {
            Self::Pool(_) => url.path_and_query().map_or_else(Uri::default, |path| path.clone().into()),
            Self::Connector(_) => url.clone(),
        }
    }

    /// Sends a request, and reads its answer whole. `begins` sees the header before the body has arrived.
    pub(super) async fn send(
        &self,
        request: TableRequest,
        begins: impl Fn(&HeaderMap),
    ) -> Result<Response<Bytes>, AttemptFailure> {
        match self {
            Self::Pool(pool) => pool.send(request, begins).await.map_err(failure),
            Self::Connector(connector) => Box::pin(send_by(connector, request, begins)).await,
        }
    }
}

async fn send_by(
    connector: &SharedHttpConnector,
    request: TableRequest,
    begins: impl Fn(&HeaderMap),
) -> Result<Response<Bytes>, AttemptFailure> {
    let (head, body) = request.into_parts();
    // A body that is there as a whole cannot fail.
    let body = body.collect().await.map(Collected::to_bytes).unwrap_or_default();
    let request =
        HttpRequest::try_from(Request::from_parts(head, SdkBody::from(body))).map_err(|error| unbuilt(&error))?;
    let answer = connector.call(request).await.map_err(|error| connector_failure(&error, &error))?;
    let answer = answer.try_into_http1x().map_err(|error| broken(format!("the answer is not HTTP: {error}")))?;
    let (head, body) = answer.into_parts();
    begins(&head.headers);
    let mut read = AnswerBody::new(body.content_length());
    let mut body = ByteStream::new(body);
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|error| broken(format!("the answer was cut off: {error}")))?;
        read.push(chunk).map_err(|error| too_long(error.to_string()))?;
    }
    Ok(Response::from_parts(head, read.whole()))
}

fn failure(error: SendError) -> AttemptFailure {
    let detail = with_causes(&error);
    match &error {
        SendError::NotConnected(_) => not_connected(TableErrorKind::Unavailable, detail),
        SendError::NotConnectedInTime => not_connected(TableErrorKind::Timeout, detail),
        SendError::Exchange(ExchangeError::Unsent(_)) => AttemptFailure { uncertain: false, ..broken(detail) },
        // Something answered, though not as HTTP wants it.
        SendError::Exchange(ExchangeError::Broken(error)) if error.is_parse() => {
            AttemptFailure { verdict: Verdict::Unknown, ..broken(detail) }
        }
        SendError::Exchange(ExchangeError::TooLong) => too_long(detail),
        SendError::Exchange(_) => broken(detail),
    }
}
