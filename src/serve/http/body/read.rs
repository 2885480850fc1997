//! The body of a request in, its bytes out: unpacked, within its size, its time and the memory of requests. Must not
//! know its content.

use super::arriving::{Arriving, BodyCoding, BufferedBody};
use crate::serve::admission::parsed_size;
use crate::serve::http::status::HttpRefusal;
use crate::serve::pace::next_bytes_by;
use crate::serve::quota::Share;
use crate::serve::settings::RequestLimits;
use axum::body::{Body, HttpBody};
use futures_util::stream::StreamExt;
use tokio::time::{Instant, timeout_at};

/// Reads a body. `memory` grows with it, to the memory of the parsed body.
///
/// If its header says that a body is too long, it is refused before any of it is read. A client that waits for
/// `100 Continue` does not get it then: hyper sends it when the body is first read.
pub async fn read(
    body: Body,
    coding: BodyCoding,
    limits: &RequestLimits,
    memory: Share,
) -> Result<(Vec<u8>, Share), HttpRefusal> {
    let too_large = |bytes: u64| bytes > limits.body_limit as u64;
    if too_large(body.size_hint().lower()) {
        return Err(HttpRefusal::TooLarge(limits.body_limit));
    }
    let (began, mut chunks, mut received) = (Instant::now(), body.into_data_stream(), 0);
    let mut arriving = Arriving::new(coding, limits.body_limit, memory)?;
    loop {
        let next = timeout_at(next_bytes_by(began, received, limits.body_timeout), chunks.next());
        match next.await.map_err(|_| HttpRefusal::SlowBody)? {
            Some(Ok(chunk)) => {
                received += chunk.len();
                if too_large(received as u64) {
                    return Err(HttpRefusal::TooLarge(limits.body_limit));
                }
                arriving.add(&chunk)?;
            }
            Some(Err(_)) => return Err(HttpRefusal::Malformed("The body ended early.".into())),
            None => break,
        }
    }
    let BufferedBody { bytes, mut memory, .. } = arriving.finish()?;
    memory.resize(parsed_size(&bytes))?;
    Ok((bytes, memory))
}
