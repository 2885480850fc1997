//! An address in, the bytes of what is there out: bounded in size, without following any redirect. Must not know what
//! the bytes mean.

use crate::serve::outbound::client::{OutboundClient, outbound_client};
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, StatusCode, header};
use thiserror::Error;
use url::Url;

/// The most bytes of an answer. Key sets have a few kilobytes.
const MAX_BYTES: usize = 1 << 20;

/// Reads what is at an address.
#[derive(Debug, Clone)]
pub struct Download {
    client: OutboundClient,
}

/// Why nothing was read.
#[derive(Debug, Error)]
pub enum DownloadError {
    /// The request cannot be written.
    #[error("{0} is no address of a request")]
    Address(Url),
    /// The server cannot be reached.
    #[error("{0} cannot be reached")]
    Unreachable(Url, #[source] hyper_util::client::legacy::Error),
    /// The server has something else. Redirects are not followed.
    #[error("{0} answered {1}")]
    Status(Url, StatusCode),
    /// The answer is too long, or was cut off.
    #[error("the answer of {0} is longer than 1 MiB, or was cut off")]
    Body(Url, #[source] axum::Error),
}

impl Download {
    /// Reads with the certificates that this machine trusts. The error says why there are none.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { client: outbound_client()? })
    }

    /// Reads what is at an address. The caller bounds the time.
    pub async fn get(&self, url: &Url) -> Result<Bytes, DownloadError> {
        let request =
            Request::get(url.as_str()).header(header::ACCEPT, "application/json").header(header::USER_AGENT, "keyfold");
        let request = request.body(Body::empty()).map_err(|_| DownloadError::Address(url.clone()))?;
        let answer =
            self.client.request(request).await.map_err(|error| DownloadError::Unreachable(url.clone(), error))?;
        if answer.status() != StatusCode::OK {
            return Err(DownloadError::Status(url.clone(), answer.status()));
        }
        to_bytes(Body::new(answer.into_body()), MAX_BYTES)
            .await
            .map_err(|error| DownloadError::Body(url.clone(), error))
    }
}
