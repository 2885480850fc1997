//! A request in; where it comes from out, for the log lines about its caller. Must not know what the request shows.

use crate::execute::caller::Caller;
use crate::serve::client::ClientAddress;
use axum::http::Extensions;
use std::sync::Arc;

/// The id of a request, which its log lines share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// Where a request comes from.
#[derive(Debug, Clone)]
pub struct RequestOrigin {
    /// The address of its client.
    pub client: ClientAddress,
    /// Its id.
    pub request_id: Option<RequestId>,
    /// Who sends it, if the program around the gateway has found out.
    pub caller: Option<Caller>,
}

impl RequestOrigin {
    /// The origin of this client's request with these extensions.
    pub fn new(client: ClientAddress, extensions: &Extensions) -> Self {
        Self { client, request_id: extensions.get().cloned(), caller: extensions.get().cloned() }
    }

    /// The id of the request, for a log line.
    pub fn id(&self) -> Option<&Arc<str>> {
        self.request_id.as_ref().map(|id| &id.0)
    }
}
