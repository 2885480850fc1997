//! An HTTP/1.1 connection and a request in; the answer, read whole, out. Must not know what requests and answers mean.
//!
//! Whoever waits for the answer moves the connection's bytes. No task of the connection's own has to wake up for that, which would cost more
//! than the bytes do.

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Body;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use thiserror::Error;
use tokio::net::TcpStream;
use tokio::task::unconstrained;

/// The most bytes of an answer. A BatchGetItem gives up to 16 MB of items (DynamoDB API reference, "BatchGetItem"), which JSON makes larger.
const ANSWER_BYTES: usize = 64 << 20;

/// A TCP connection, with TLS or without.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A connection that carries one request at a time.
pub(super) struct OpenConnection {
    sender: SendRequest<Full<Bytes>>,
    /// Moves the bytes; `None` once the connection has ended.
    bytes: Option<http1::Connection<Stream, Full<Bytes>>>,
}

/// Why a request has no answer.
#[derive(Debug, Error)]
pub(super) enum ExchangeError {
    /// The connection had ended before anything of the request was sent, which comes back.
    #[error("the connection was closed before the request was sent")]
    Unsent(Box<Request<Full<Bytes>>>),
    /// The connection broke, or speaks something else than HTTP.
    #[error("the connection broke: {0}")]
    Broken(#[source] hyper::Error),
    /// The body ended early.
    #[error("the answer was cut off: {0}")]
    CutOff(#[source] hyper::Error),
    /// The body has more than [`ANSWER_BYTES`].
    #[error("the answer is too long")]
    TooLong,
}

impl OpenConnection {
    /// Begins with a stream that nothing was sent on.
    pub(super) async fn new(stream: Stream) -> hyper::Result<Self> {
        let (sender, bytes) = http1::handshake(stream).await?;
        Ok(Self { sender, bytes: Some(bytes) })
    }

    /// Sends a request and reads its answer. If the future is dropped, so must the connection be.
    pub(super) async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Bytes>, ExchangeError> {
        // tokio lets a future wait that has used up its task's turn, and wakes it at once. Nothing wakes this one: it has no turn to use up.
        let mut answer = pin!(unconstrained(self.sender.try_send_request(request)));
        let answer = poll_fn(|context| self.drive(context, |context| answer.as_mut().poll(context))).await;
        let (head, mut body) = answer
            .map_err(|mut failed| match failed.take_message() {
                Some(request) => ExchangeError::Unsent(Box::new(request)),
                None => ExchangeError::Broken(failed.into_error()),
            })?
            .into_parts();
        let mut read = AnswerBody::default();
        while let Some(frame) = poll_fn(|context| self.drive(context, |context| Pin::new(&mut body).poll_frame(context))).await {
            if let Ok(chunk) = frame.map_err(ExchangeError::CutOff)?.into_data() {
                read.push(chunk)?;
            }
        }
        Ok(Response::from_parts(head, read.whole()))
    }

    /// Whether it can carry another request: the server has neither closed it nor sent what nobody asked for.
    pub(super) fn is_idle(&mut self) -> bool {
        // Nobody wakes up for it until it is asked again.
        self.move_bytes(&mut Context::from_waker(Waker::noop()));
        self.bytes.is_some() && self.sender.is_ready()
    }

    /// Polls what the connection's bytes bring about. Only the bytes wake the task, as what they bring is polled after them.
    fn drive<T>(&mut self, context: &mut Context<'_>, mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> Poll<T> {
        let mut asleep = Context::from_waker(Waker::noop());
        let known = poll(&mut asleep);
        if known.is_ready() {
            return known;
        }
        self.move_bytes(context);
        poll(&mut asleep)
    }

    fn move_bytes(&mut self, context: &mut Context<'_>) {
        // How it ended, the request's answer says.
        if self.bytes.as_mut().is_some_and(|bytes| Pin::new(bytes).poll(context).is_ready()) {
            self.bytes = None;
        }
    }
}

/// The body of an answer while it arrives.
#[derive(Default)]
pub(super) struct AnswerBody {
    /// Most answers come at once, and are not copied.
    first: Bytes,
    more: Vec<u8>,
}

impl AnswerBody {
    /// Adds what has arrived.
    pub(super) fn push(&mut self, chunk: Bytes) -> Result<(), ExchangeError> {
        if self.first.len() + self.more.len() + chunk.len() > ANSWER_BYTES {
            return Err(ExchangeError::TooLong);
        }
        if self.first.is_empty() {
            self.first = chunk;
        } else {
            self.more.extend_from_slice(&chunk);
        }
        Ok(())
    }

    /// All of it.
    pub(super) fn whole(self) -> Bytes {
        if self.more.is_empty() { self.first } else { [&self.first[..], &self.more].concat().into() }
    }
}
