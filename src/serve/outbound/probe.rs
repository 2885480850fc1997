//! The address of a page in; its status and its text out, in bounded time and size.

use super::client::outbound_client;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// How long the page may take.
const LIMIT: Duration = Duration::from_secs(2);
/// The most bytes of its text.
const MAX_BYTES: usize = 64 << 10;

/// Why a page was not read.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The address is none.
    #[error("\"{0}\" is not the address of a page")]
    Address(String),
    /// This machine trusts no certificates.
    #[error("there are no certificates to trust")]
    Certificates(#[source] std::io::Error),
    /// The server cannot be reached.
    #[error("{0} cannot be reached")]
    Unreachable(String, #[source] hyper_util::client::legacy::Error),
    /// The page is too long, or was cut off.
    #[error("the answer of {0} is too long, or was cut off")]
    Body(String, #[source] axum::Error),
    /// The server does not answer.
    #[error("{0} does not answer within {seconds} seconds", seconds = LIMIT.as_secs())]
    Late(String),
}

/// Reads a page.
pub async fn probe(url: &str) -> Result<(StatusCode, String), ProbeError> {
    let request = Request::get(url).body(Body::empty()).map_err(|_| ProbeError::Address(url.to_owned()))?;
    if request.uri().authority().is_none() {
        return Err(ProbeError::Address(url.to_owned()));
    }
    let client = outbound_client().map_err(ProbeError::Certificates)?;
    let read = async {
        let answer = client.request(request).await.map_err(|error| ProbeError::Unreachable(url.to_owned(), error))?;
        let status = answer.status();
        let text = to_bytes(Body::new(answer.into_body()), MAX_BYTES)
            .await
            .map_err(|error| ProbeError::Body(url.to_owned(), error))?;
        Ok((status, String::from_utf8_lossy(&text).into_owned()))
    };
    timeout(LIMIT, read).await.unwrap_or_else(|_| Err(ProbeError::Late(url.to_owned())))
}
