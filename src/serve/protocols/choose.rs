//! An accepted connection in; served by HTTP/2 if its first bytes say so, otherwise by HTTP/1.1.

use super::accepted::{AcceptedConnection, EndedEarly};
use super::{http1, http2};
use tokio::time::timeout;

/// The first bytes of a client that speaks HTTP/2 without asking first (RFC 9113 section 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Serves a connection until it ends, or until the server stops and its requests are answered.
pub async fn serve(mut accepted: AcceptedConnection) -> Result<(), EndedEarly> {
    let AcceptedConnection { connection, limits, open, .. } = &mut accepted;
    let is_http2 = tokio::select! {
        begins = timeout(limits.header_timeout, connection.begins_with(PREFACE)) => begins??,
        () = open.closing() => return Ok(()),
    };
    if is_http2 { http2::serve(accepted).await } else { http1::serve(accepted).await }
}
