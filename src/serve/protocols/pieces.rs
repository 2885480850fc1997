//! The body of a response in; the same bytes in pieces out, which HTTP/2 sends as its client has room for them.
//!
//! A piece is a copy. If it were a part of the body, a client that takes all but the last byte would keep the whole
//! body in memory.

use super::stream_memory::StreamMemory;
use super::streams::TakenBytes;
use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The length of a piece, in bytes.
pub const PIECE: usize = 8 << 10;

/// The body of a response on a stream.
pub struct Pieces {
    body: Body,
    /// What the body has given, and was not taken yet.
    rest: Bytes,
    taken: TakenBytes,
    /// The memory of the stream. It goes with the last piece.
    memory: Option<StreamMemory>,
}

/// The last piece of a body.
struct Last {
    bytes: Bytes,
    _memory: Option<StreamMemory>,
}

impl AsRef<[u8]> for Last {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Pieces {
    /// A body whose stream has this memory until its last byte is sent.
    pub fn new(body: Body, memory: Option<StreamMemory>) -> Self {
        Self { body, rest: Bytes::new(), taken: TakenBytes::current(), memory }
    }

    /// The next piece of what the body has given.
    fn piece(&mut self) -> Bytes {
        let length = self.rest.len().min(PIECE);
        let bytes = Bytes::copy_from_slice(&self.rest.split_to(length));
        self.taken.add(length);
        if self.rest.is_empty() {
            // Not even an empty part may keep the body.
            self.rest = Bytes::new();
        }
        if self.is_end_stream() { Bytes::from_owner(Last { bytes, _memory: self.memory.take() }) } else { bytes }
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        if this.rest.is_empty() {
            this.taken.waits();
            let frame = match ready!(Pin::new(&mut this.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                end => return Poll::Ready(end),
            };
            match frame.into_data() {
                Ok(data) => this.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        Poll::Ready(Some(Ok(Frame::data(this.piece()))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::stream_memory::ConnectionMemory;
    use super::*;
    use crate::serve::client::ClientAddress;
    use crate::serve::connection::ReceivedBytes;
    use crate::serve::quota::Quota;
    use futures_util::future::poll_fn;

    #[tokio::test]
    async fn the_pieces_are_the_body_and_the_last_has_the_memory() {
        let quota = Quota::new(10, 10);
        let client = ClientAddress::new([127, 0, 0, 1].into());
        let received = ReceivedBytes::new(quota.take(client, 0).unwrap());
        let memory = ConnectionMemory::new(quota.clone(), 4, received).begin(client, 6).unwrap();
        let body: Vec<u8> = (0..3 * PIECE + 5).map(|n| (n % 251) as u8).collect();
        let mut pieces = Pieces::new(Body::from(body.clone()), Some(memory));
        assert_eq!(pieces.size_hint().exact(), Some(body.len() as u64));
        let mut taken = Vec::new();
        while let Some(frame) = poll_fn(|context| Pin::new(&mut pieces).poll_frame(context)).await {
            taken.push(frame.unwrap().into_data().unwrap());
            assert_eq!(pieces.size_hint().exact(), Some((body.len() - taken.concat().len()) as u64));
        }
        assert_eq!((taken.len(), taken.concat()), (4, body));
        drop(pieces);
        let other = || quota.take(ClientAddress::new([127, 0, 0, 2].into()), 1);
        assert!(other().is_err());
        drop(taken);
        assert!(other().is_ok());
    }
}
