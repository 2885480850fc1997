//! The messages of a WebSocket's client in; the same messages out, if each arrives within its time and the memory of
//! requests. Must not know their content.

use super::executor::SocketExecutor;
use super::identity::TRY_AGAIN_LATER;
use super::protocol::close;
use crate::serve::admission::parsed_size;
use crate::serve::connection::ReceivedBytes;
use crate::serve::pace::next_bytes_by;
use crate::serve::quota::{QuotaExceeded, Share};
use crate::serve::shutdown::OpenConnection;
use axum::Error;
use axum::extract::ws::{CloseCode, CloseFrame, Message, close_code};
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{Stream, StreamExt};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The header of a client's control frame, in bytes (RFC 6455 section 5.2).
const CONTROL_HEADER: u64 = 6;

/// The messages of one client. They end when the server stops and no operation is left to answer, and when a message
/// takes too long or too much memory.
pub struct Messages<S> {
    messages: S,
    executor: SocketExecutor,
    unfinished: PartialMessage,
    asked: BoxFuture<'static, ()>,
    closing: bool,
    end: Option<CloseFrame>,
}

/// The message that is not complete yet.
pub struct PartialMessage {
    /// What the connection has received.
    received: ReceivedBytes,
    /// The part of these bytes that was complete messages.
    complete: u64,
    /// The time of the first bytes after those, and the timer for the next.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
    /// The memory of these bytes.
    memory: Share,
    longest: Duration,
}

impl<S> Messages<S> {
    /// The messages of a socket whose operations this executor runs.
    pub fn new(messages: S, executor: SocketExecutor, unfinished: PartialMessage, mut open: OpenConnection) -> Self {
        let asked = async move { open.closing().await }.boxed();
        Self { messages, executor, unfinished, asked, closing: false, end: None }
    }

    /// Ends the messages.
    pub fn end_with(&mut self, frame: CloseFrame) {
        self.end = Some(frame);
    }

    /// The reason why the server ended the messages, if it did, and the messages that still come.
    pub fn into_end(self) -> (Option<CloseFrame>, S) {
        (self.end, self.messages)
    }

    fn refuse<T>(&mut self, code: CloseCode, reason: &'static str) -> Poll<Option<T>> {
        self.end = Some(close(code, reason));
        Poll::Ready(None)
    }
}

impl<S: Stream<Item = Result<Message, Error>> + Unpin> Stream for Messages<S> {
    type Item = Result<Message, Error>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.closing = self.closing || self.asked.poll_unpin(context).is_ready();
        if self.closing && self.executor.is_idle() {
            return self.refuse(close_code::AWAY, "The server is shutting down.");
        }
        // The caller polls the operations next, and some of them are answered at once.
        if self.executor.is_flooded() {
            return Poll::Pending;
        }
        match self.messages.poll_next_unpin(context) {
            Poll::Ready(Some(Ok(message))) => match self.unfinished.complete(&message) {
                Ok(Some(memory)) => {
                    self.executor.expect(memory);
                    Poll::Ready(Some(Ok(message)))
                }
                Ok(None) => Poll::Ready(Some(Ok(message))),
                Err(_) => self.refuse(TRY_AGAIN_LATER, "The server has no memory for the message."),
            },
            Poll::Ready(Some(Err(error))) if is_too_long(&error) => {
                self.refuse(close_code::SIZE, "The message is too large.")
            }
            Poll::Ready(end) => Poll::Ready(end),
            Poll::Pending => match self.unfinished.poll(context) {
                Poll::Pending => Poll::Pending,
                Poll::Ready(Ok(())) => self.refuse(close_code::POLICY, "The message did not arrive in time."),
                Poll::Ready(Err(_)) => self.refuse(TRY_AGAIN_LATER, "The server has no memory for the message."),
            },
        }
    }
}

/// Whether the message is longer than the socket's limit.
fn is_too_long(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<tungstenite::Error>());
    matches!(cause, Some(tungstenite::Error::Capacity(_)))
}

impl PartialMessage {
    /// A message that may take this long, without any bytes yet.
    pub fn new(received: ReceivedBytes, memory: Share, longest: Duration) -> Self {
        Self { complete: received.bytes(), received, waiting: None, memory, longest }
    }

    /// A message is complete. If it has data, all bytes before belong to it, and this is their memory when they are
    /// parsed; a control frame may come between the parts of a message (RFC 6455 section 5.4).
    fn complete(&mut self, message: &Message) -> Result<Option<Share>, QuotaExceeded> {
        let data: &[u8] = match message {
            Message::Text(text) => text.as_bytes(),
            Message::Binary(data) => data,
            Message::Ping(data) | Message::Pong(data) => {
                self.complete = self.received.bytes().min(self.complete + CONTROL_HEADER + data.len() as u64);
                return Ok(None);
            }
            Message::Close(_) => return Ok(None),
        };
        // Bytes of the next message that were already read do not count. They fit into the library's buffer.
        self.complete = self.received.bytes();
        self.waiting = None;
        let mut memory = self.memory.split();
        memory.resize(parsed_size(data))?;
        Ok(Some(memory))
    }

    /// Ready when the message took too long, or its bytes took too much memory.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<(), QuotaExceeded>> {
        let bytes = usize::try_from(self.received.bytes() - self.complete).unwrap_or(usize::MAX);
        if let Err(exhausted) = self.memory.resize(bytes) {
            return Poll::Ready(Err(exhausted));
        }
        if bytes == 0 {
            self.waiting = None;
            return Poll::Pending;
        }
        let (began, timer) =
            self.waiting.get_or_insert_with(|| (Instant::now(), Box::pin(sleep_until(Instant::now()))));
        timer.as_mut().reset(next_bytes_by(*began, bytes, self.longest));
        timer.as_mut().poll(context).map(Ok)
    }
}
