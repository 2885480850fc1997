//! An HTTP/1.1 connection and a request in; the answer, read whole, out. Must not know what requests and answers mean.

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Body as _;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{HeaderMap, Request, Response};
use hyper_rustls::MaybeHttpsStream;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::net::TcpStream;

/// The most bytes of an answer. A BatchGetItem gives up to 16 MB of items (DynamoDB API reference, "BatchGetItem"),
/// which JSON makes larger.
const ANSWER_BYTES: usize = 64 << 20;

/// A TCP connection, with TLS or without.
pub(super) type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;

/// A request. It is large, and is handed on as a pointer.
pub(super) type TableRequest = Box<Request<Full<Bytes>>>;

/// A connection that carries one request at a time. It closes when it is dropped.
pub(super) struct TableConnection {
    sender: SendRequest<Full<Bytes>>,
}

/// Why a request has no answer.
#[derive(Debug, Error)]
pub(super) enum ExchangeError {
    /// The connection had ended before any of the request was sent. It comes back.
    #[error("the connection was closed before the request was sent")]
    Unsent(TableRequest),
    /// The connection broke, or speaks something else than HTTP.
    #[error("the connection broke")]
    Broken(#[source] hyper::Error),
    /// The body ended early.
    #[error("the answer was cut off")]
    CutOff(#[source] hyper::Error),
    /// The body has more than [`ANSWER_BYTES`].
    #[error("the answer is too long")]
    TooLong,
}

impl TableConnection {
    /// Begins with a stream that nothing was sent on.
    pub(super) async fn new(stream: Stream) -> hyper::Result<Self> {
        // A request is short. It takes less to copy its body behind its header than to send the two together.
        let (sender, connection) = http1::Builder::new().writev(false).handshake(stream).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection to the tables ended");
            }
        });
        Ok(Self { sender })
    }

    /// Sends a request and reads its answer. `begins` sees the header of the answer before the body has arrived. The
    /// connection closes if the future is dropped before.
    pub(super) async fn send(
        &mut self,
        request: TableRequest,
        begins: impl FnOnce(&HeaderMap),
    ) -> Result<Response<Bytes>, ExchangeError> {
        let answer =
            self.sender.try_send_request(*request).await.map_err(|mut failed| match failed.take_message() {
                Some(request) => ExchangeError::Unsent(Box::new(request)),
                None => ExchangeError::Broken(failed.into_error()),
            })?;
        let (head, mut body) = answer.into_parts();
        begins(&head.headers);
        let mut read = AnswerBody::new(body.size_hint().exact());
        while let Some(frame) = body.frame().await {
            if let Ok(chunk) = frame.map_err(ExchangeError::CutOff)?.into_data() {
                read.push(chunk)?;
            }
        }
        Ok(Response::from_parts(head, read.whole()))
    }

    /// Whether it can carry another request now.
    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    /// Waits until it can carry another request. `false` if it has ended.
    pub(super) async fn ready(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }
}

/// The body of an answer while it arrives.
pub(super) struct AnswerBody {
    /// Most answers come at once, and are not copied.
    first: Bytes,
    /// All of it, if it comes in several pieces. Each is copied once, where the length is known.
    all: Vec<u8>,
    expected: usize,
}

impl AnswerBody {
    /// The body of an answer that says that it has this length.
    pub(super) fn new(expected: Option<u64>) -> Self {
        let expected = expected.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or_default().min(ANSWER_BYTES);
        Self { first: Bytes::new(), all: Vec::new(), expected }
    }

    /// Adds what has arrived.
    pub(super) fn push(&mut self, chunk: Bytes) -> Result<(), ExchangeError> {
        if self.first.len().max(self.all.len()) + chunk.len() > ANSWER_BYTES {
            return Err(ExchangeError::TooLong);
        }
        if self.first.is_empty() {
            self.first = chunk;
        } else {
            if self.all.is_empty() {
                self.all.reserve_exact(self.expected.max(self.first.len() + chunk.len()));
                self.all.extend_from_slice(&self.first);
            }
            self.all.extend_from_slice(&chunk);
        }
        Ok(())
    }

    /// All of it.
    pub(super) fn whole(self) -> Bytes {
        if self.all.is_empty() { self.first } else { self.all.into() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    #[test]
    fn an_answer_in_pieces_is_whole() {
        for expected in [None, Some(2), Some(9), Some(u64::MAX)] {
            let mut body = AnswerBody::new(expected);
            for piece in ["", "one", "", " two"] {
                body.push(Bytes::from(piece)).unwrap();
            }
            assert_eq!(body.whole(), "one two");
        }
        let mut body = AnswerBody::new(None);
        body.push(vec![0; ANSWER_BYTES].into()).unwrap();
        assert!(matches!(body.push(Bytes::from("x")), Err(ExchangeError::TooLong)));
    }

    #[tokio::test]
    async fn the_header_of_an_answer_that_is_cut_off_has_been_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        let mut connection = TableConnection::new(MaybeHttpsStream::Http(TokioIo::new(client))).await.unwrap();
        let answer = async {
            server.read_u8().await.unwrap();
            server.write_all(b"HTTP/1.1 200 OK\r\nx-amzn-requestid: R1\r\ncontent-length: 9\r\n\r\n{}").await.unwrap();
            server.shutdown().await.unwrap();
        };
        let mut id = None;
        let request = Request::post("/").header("host", "db").body(Full::new(Bytes::from_static(b"{}"))).unwrap();
        let sent = connection.send(Box::new(request), |headers| id = headers.get("x-amzn-requestid").cloned());
        let (sent, ()) = tokio::join!(sent, answer);
        assert!(matches!(sent, Err(ExchangeError::CutOff(_))), "{sent:?}");
        assert_eq!(id.unwrap(), "R1");
    }
}
