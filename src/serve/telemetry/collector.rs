//! The client by which batches of spans go to a collector over HTTP. Must not know spans.

use crate::serve::outbound::client::{OutboundClient, outbound_client};
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Request, Response};
use futures_util::future::{BoxFuture, FutureExt};
use opentelemetry_http::{HttpClient, HttpError};
use std::fmt::{Debug, Formatter, Result as Formatted};
use tokio::runtime::Handle;

/// The most bytes of a collector's answer, which is empty or says what is wrong.
const ANSWER_BYTES: usize = 64 << 10;

/// Sends batches. The thread that makes them is none of the runtime's, so the requests run on the runtime.
pub struct CollectorClient {
    client: OutboundClient,
    runtime: Handle,
}

impl CollectorClient {
    /// A client whose requests run on the runtime in which this is called.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { client: outbound_client()?, runtime: Handle::current() })
    }
}

impl Debug for CollectorClient {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Formatted {
        formatter.debug_struct("CollectorClient").finish_non_exhaustive()
    }
}

impl HttpClient for CollectorClient {
    fn send_bytes<'s, 'f>(&'s self, request: Request<Bytes>) -> BoxFuture<'f, Result<Response<Bytes>, HttpError>>
    where
        's: 'f,
        Self: 'f,
    {
        let sent = self.client.request(request.map(Body::from));
        let answered = self.runtime.spawn(async move {
            let (head, body) = sent.await?.into_parts();
            Ok(Response::from_parts(head, to_bytes(Body::new(body), ANSWER_BYTES).await?))
        });
        async move { answered.await? }.boxed()
    }
}
