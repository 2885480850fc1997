//! An accepted TCP connection in; the same connection out, which fails if its peer takes sent bytes too slowly, or if
//! there is no memory for the header that arrives. It closes so that the peer can still read what was sent last. Must
//! not know what goes over it: HTTP or, after an upgrade, a WebSocket.

use super::quota::Share;
use super::shutdown::OpenConnection;
use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::task::coop::poll_proceed;
use tokio::time::{Sleep, sleep};

/// The lowest speed at which a peer may take sent bytes, in bytes a second.
pub const SLOWEST: u64 = 8 << 10;

/// The most bytes that a connection keeps before it has a whole header, or ends because the header is too long: the
/// header itself, and what was read with its end.
const MAX_KEPT: usize = 64 << 10;

/// How long a closed connection discards what its peer still sends.
const LINGER: Duration = Duration::from_secs(5);
/// The most bytes that a closed connection discards.
const MAX_DISCARDED: usize = 8 << 20;

/// The received bytes that use up a unit of a task's turn. A turn has 128 units (tokio, `task::coop`), and so 8 KiB.
const TURN_BYTES: usize = 64;

/// A TCP connection with a time limit for writing.
pub struct Connection {
    stream: TcpStream,
    write_timeout: Duration,
    stalled: Option<BlockedWrite>,
    lingering: Option<Lingering>,
    received: ReceivedBytes,
    headers: Option<HeaderWait>,
    open: OpenConnection,
    /// Bytes that are received and not read yet.
    ahead: Vec<u8>,
}

/// A write that the peer does not take at once.
struct BlockedWrite {
    /// The time by which the peer must have taken enough.
    end: Pin<Box<Sleep>>,
    /// The bytes that it has taken meanwhile.
    taken: u64,
}

/// Where a header begins, whether it has, and when its time is over.
type AwaitedHeader = ((u64, bool), Pin<Box<Sleep>>);

/// How long a peer may take for its next header.
struct HeaderWait {
    /// Once its first byte is there, and for the first one.
    header: Duration,
    /// For the first byte of another.
    idle: Duration,
    /// What is waited for now.
    now: Option<AwaitedHeader>,
}

impl HeaderWait {
    /// Whether the time is over for a header that begins after this many bytes, while this many have arrived; none is
    /// awaited without.
    fn is_over(&mut self, begins: Option<u64>, bytes: u64, context: &mut Context<'_>) -> bool {
        let Some(begins) = begins else {
            self.now = None;
            return false;
        };
        let place = (begins, begins == 0 || bytes > begins);
        let time = if place.1 { self.header } else { self.idle };
        match &mut self.now {
            Some((before, end)) if *before == place => end.as_mut().poll(context).is_ready(),
            _ => self.now.insert((place, Box::pin(sleep(time)))).1.as_mut().poll(context).is_ready(),
        }
    }
}

/// A connection that is closed for writing, and whose peer may still send.
///
/// A system that closes a connection with unread bytes resets it, and the peer may lose the response that it has not
/// read yet (RFC 9112 section 9.6).
struct Lingering {
    end: Pin<Box<Sleep>>,
    /// The bytes that were discarded.
    discarded: usize,
}

/// What a connection has received so far, shared by the connection and the handlers of its requests.
#[derive(Debug, Clone)]
pub struct ReceivedBytes(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bytes: AtomicU64,
    header: Mutex<Header>,
}

/// The header of a request that arrives.
#[derive(Debug)]
struct Header {
    /// The number of bytes before it; none while a request runs.
    begins: Option<u64>,
    /// Whether a response is on its way.
    is_answering: bool,
    memory: Share,
}

/// A response of HTTP/1.1 that is on its way, until it is dropped.
pub struct Answering(ReceivedBytes);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.header().is_answering = false;
    }
}

impl ReceivedBytes {
    /// Nothing yet, and the memory of the headers that will arrive.
    pub fn new(memory: Share) -> Self {
        Self(Arc::new(Inner {
            bytes: AtomicU64::new(0),
            header: Mutex::new(Header { begins: Some(0), is_answering: false, memory }),
        }))
    }

    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// The header is complete. What follows is counted by whoever reads it.
    pub fn header_is_complete(&self) {
        let mut header = self.header();
        header.begins = None;
        let _ = header.memory.resize(0);
    }

    /// The request is answered, and another header may follow. A connection without a request has the memory of what
    /// arrived since.
    pub fn header_begins(&self) {
        self.header().begins = Some(self.bytes());
    }

    /// A response begins. Until its end, nobody waits for a header.
    pub fn answers(&self) -> Answering {
        self.header().is_answering = true;
        Answering(self.clone())
    }

    /// The number of bytes before the header that is waited for.
    fn awaited(&self) -> Option<u64> {
        let header = self.header();
        header.begins.filter(|_| !header.is_answering)
    }

    /// Counts bytes, and the memory of a header that they belong to.
    fn add(&self, bytes: u64) -> Result<()> {
        let all = self.0.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let Header { begins, memory, .. } = &mut *self.header();
        let length = begins.map_or(0, |begins| usize::try_from(all - begins).unwrap_or(usize::MAX));
        memory
            .resize(length.min(MAX_KEPT))
            .map_err(|_| Error::new(ErrorKind::OutOfMemory, "there is no memory for the header"))
    }

    fn header(&self) -> MutexGuard<'_, Header> {
        self.0.header.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// A connection whose peer must take at least 8 KiB a second of the sent bytes, measured over this time. Its
    /// headers have this memory.
    pub fn new(stream: TcpStream, write_timeout: Duration, memory: Share, open: OpenConnection) -> Self {
        let received = ReceivedBytes::new(memory);
        Self { stream, write_timeout, stalled: None, lingering: None, received, headers: None, open, ahead: Vec::new() }
    }

    /// Closes itself from now on if a header takes longer than this, or if nothing follows a response for longer than
    /// that.
    pub fn wait_for_headers(&mut self, header: Duration, idle: Duration) {
        self.headers = Some(HeaderWait { header, idle, now: None });
    }

    /// What it receives.
    pub fn received(&self) -> ReceivedBytes {
        self.received.clone()
    }

    /// Whether the peer begins with these bytes. It receives as few as show it, and whoever reads next gets them.
    pub async fn begins_with(&mut self, expected: &[u8]) -> Result<bool> {
        while self.ahead.len() < expected.len() && expected.starts_with(&self.ahead) {
            let length = self.ahead.len();
            self.ahead.resize(expected.len(), 0);
            let received = self.stream.read(&mut self.ahead[length..]).await;
            self.ahead.truncate(length + received.as_ref().map_or(0, |received| *received));
            match received? {
                0 => return Ok(false),
                bytes => self.received.add(bytes as u64)?,
            }
        }
        Ok(self.ahead.starts_with(expected))
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
                let stall =
                    stalled.get_or_insert_with(|| BlockedWrite { end: Box::pin(sleep(*write_timeout)), taken: 0 });
                while stall.end.as_mut().poll(context).is_ready() {
                    if u128::from(stall.taken) * 1000 < u128::from(SLOWEST) * write_timeout.as_millis() {
                        return Poll::Ready(Err(Error::new(
                            ErrorKind::TimedOut,
                            "the client takes its response too slowly",
                        )));
                    }
                    *stall = BlockedWrite { end: Box::pin(sleep(*write_timeout)), taken: 0 };
                }
                Poll::Pending
            }
        }
    }
}

impl Connection {
    /// Nothing has arrived: the connection ends if it was to.
    fn awaited(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let Self { headers: Some(headers), received, .. } = self else { return Poll::Pending };
        match headers.is_over(received.awaited(), received.bytes(), context) {
            // As if the peer had closed it.
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    }
}

impl Lingering {
    fn new() -> Self {
        Self { end: Box::pin(sleep(LINGER)), discarded: 0 }
    }

    /// Discards what arrives, until the peer closes or has had its time.
    fn poll_end(&mut self, stream: &mut TcpStream, context: &mut Context<'_>) -> Poll<()> {
        let mut space = [0; 8 << 10];
        while self.discarded < MAX_DISCARDED && self.end.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut space);
            let read = ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer));
            if read.is_err() || buffer.filled().is_empty() {
                break;
            }
            self.discarded += buffer.filled().len();
        }
        Poll::Ready(())
    }
}

/// Counts received bytes against what the task may do before others have their turn. Of HTTP/2, a few bytes may be a
/// frame that wants work and an answer, so a number of reads is no bound.
fn use_turn(context: &mut Context<'_>, bytes: usize) {
    for _ in 0..bytes / TURN_BYTES {
        match poll_proceed(context) {
            Poll::Ready(unit) => unit.made_progress(),
            Poll::Pending => break,
        }
    }
}

impl AsyncRead for Connection {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<Result<()>> {
        if !self.ahead.is_empty() {
            let length = self.ahead.len().min(buffer.remaining());
            buffer.put_slice(&self.ahead[..length]);
            self.ahead.drain(..length);
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        match buffer.filled().len() - before {
            0 if read.is_pending() => self.awaited(context),
            0 => read,
            bytes => {
                use_turn(context, bytes);
                self.received.add(bytes as u64).map_or_else(|error| Poll::Ready(Err(error)), |()| read)
            }
        }
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        // Writers flush when nothing is left to write.
        self.stalled = None;
        // After a response, hyper reads again only when it is woken: by the time that begins here.
        let _ = self.awaited(context);
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        let Self { stream, lingering, open, .. } = &mut *self;
        if lingering.is_none() {
            ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
        }
        // A server that stops waits for no client. hyper asks again when the server begins to stop.
        if open.is_closing() {
            return Poll::Ready(Ok(()));
        }
        lingering.get_or_insert_with(Lingering::new).poll_end(stream, context).map(Ok)
    }
}
