//! A connection, and all that is needed to serve it.

use super::workers::Workers;
use crate::serve::connection::Connection;
use crate::serve::quota::Quota;
use crate::serve::settings::RequestLimits;
use crate::serve::shutdown::OpenConnection;
use axum::Router;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;

/// Longest header of a request, in bytes. A longer operation comes by POST.
pub const MAX_HEADER_BYTES: usize = 32 << 10;

/// Why a connection ended early.
pub type EndedEarly = Box<dyn Error + Send + Sync>;

/// A connection, and what serves it.
pub struct AcceptedConnection {
    /// The connection.
    pub connection: Connection,
    /// The address of its peer.
    pub peer: IpAddr,
    /// Answers the requests.
    pub router: Router,
    /// Run the requests.
    pub workers: Workers,
    /// The memory of all requests.
    pub requests: Arc<Quota>,
    /// Bounds of a request.
    pub limits: RequestLimits,
    /// Says when the server stops.
    pub open: OpenConnection,
}
