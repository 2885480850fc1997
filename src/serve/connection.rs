//! An accepted TCP connection in; the same connection out, which counts received bytes and fails if its peer takes sent bytes too slowly.
//! Must not know what goes over it: HTTP or, after an upgrade, a WebSocket.

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// The lowest speed at which a peer may take sent bytes, in bytes a second.
const SLOWEST: u64 = 8 << 10;

/// A TCP connection with a time limit for writing.
pub struct Connection {
    stream: TcpStream,
    write_timeout: Duration,
    stalled: Option<Stalled>,
    received: ReceivedBytes,
}

/// A write that the peer does not take at once.
struct Stalled {
    /// The time by which the peer must have taken enough.
    end: Pin<Box<Sleep>>,
    /// The bytes that it has taken meanwhile.
    taken: u64,
}

/// The number of bytes that a connection has received so far.
#[derive(Debug, Clone, Default)]
pub struct ReceivedBytes(Arc<AtomicU64>);

impl ReceivedBytes {
    /// The number of bytes.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Connection {
    /// A connection whose peer must take at least 8 KiB a second of the sent bytes, measured over this time.
    pub fn new(stream: TcpStream, write_timeout: Duration) -> Self {
        Self { stream, write_timeout, stalled: None, received: ReceivedBytes::default() }
    }

    /// The number of bytes that it receives.
    pub fn received(&self) -> ReceivedBytes {
        self.received.clone()
    }

    fn written(&mut self, context: &mut Context<'_>, written: Poll<Result<usize>>) -> Poll<Result<usize>> {
        let Self { stalled, write_timeout, .. } = self;
        match written {
            Poll::Ready(Ok(bytes)) => {
                if let Some(stall) = stalled {
                    stall.taken += bytes as u64;
                }
                written
            }
            Poll::Ready(Err(_)) => written,
            Poll::Pending => {
                let stall = stalled.get_or_insert_with(|| Stalled { end: Box::pin(sleep(*write_timeout)), taken: 0 });
                while stall.end.as_mut().poll(context).is_ready() {
                    if u128::from(stall.taken) * 1000 < u128::from(SLOWEST) * write_timeout.as_millis() {
                        return Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client takes its response too slowly")));
                    }
                    *stall = Stalled { end: Box::pin(sleep(*write_timeout)), taken: 0 };
                }
                Poll::Pending
            }
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.received.0.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[IoSlice<'_>]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        // Writers flush when nothing is left to write.
        self.stalled = None;
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
