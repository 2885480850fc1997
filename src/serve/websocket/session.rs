//! A WebSocket that speaks graphql-transport-ws in; it is served until its client leaves, or until the frame that must
//! close it. Must not know what runs the operations.

use super::executor::{SocketAnswer, SocketExecutor};
use super::identity::SocketIdentity;
use super::messages::Messages;
use super::protocol::{self, ClientMessage, close};
use crate::serve::documents::parameters::RequestParameters;
use axum::Error;
use axum::extract::ws::{CloseFrame, Message};
use futures_util::future::FutureExt;
use futures_util::sink::{Sink, SinkExt};
use futures_util::stream::{self, AbortHandle, BoxStream, SelectAll, Stream, StreamExt};
use std::collections::HashMap;
use std::time::Duration;
use tokio::time::{Instant, interval_at, sleep};

/// How long a client may take to begin the handshake.
pub const INITIALISATION: Duration = Duration::from_secs(5);
/// How often the server asks whether a silent client is still there. One that does not answer until the next time is
/// gone.
pub const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The most bytes of messages that are sent together, unless it is one message alone. The library keeps a buffer of
/// this size for each socket.
const TOGETHER: usize = 4 << 10;

/// Why a socket ends without a frame: its client is gone.
struct Gone;

/// Why a socket ends: with a frame, or because its client is gone.
type End = Result<CloseFrame, Gone>;

/// What an operation does: its number, its id, and the event.
type OperationEvent = (u64, String, Event);

/// What a running operation does.
enum Event {
    Answered(SocketAnswer),
    Ended,
}

/// The operations of a socket.
#[derive(Default)]
struct Operations {
    events: SelectAll<BoxStream<'static, OperationEvent>>,
    /// The number of each operation that its client has not ended, and what ends it.
    by_id: HashMap<String, (u64, AbortHandle)>,
    begun: u64,
}

/// A socket whose messages arrive and leave here.
pub struct SocketSession<'s, Out, In> {
    sink: &'s mut Out,
    messages: &'s mut Messages<In>,
    executor: SocketExecutor,
    identity: SocketIdentity,
    operations: Operations,
    acknowledged: bool,
}

impl<'s, Out, In> SocketSession<'s, Out, In>
where
    Out: Sink<Message> + Unpin,
    In: Stream<Item = Result<Message, Error>> + Unpin,
{
    /// A session before its handshake.
    pub fn new(
        sink: &'s mut Out,
        messages: &'s mut Messages<In>,
        executor: SocketExecutor,
        identity: SocketIdentity,
    ) -> Self {
        Self { sink, messages, executor, identity, operations: Operations::default(), acknowledged: false }
    }

    /// Serves the socket until it ends. The frame must close it; without one, its client is gone, or the messages say
    /// why they ended.
    pub async fn serve(&mut self) -> Option<CloseFrame> {
        let identity = self.identity.clone();
        tokio::select! {
            end = self.run() => end.ok(),
            frame = identity.over() => Some(frame),
        }
    }

    async fn run(&mut self) -> End {
        let initialisation = sleep(INITIALISATION);
        tokio::pin!(initialisation);
        let mut asks = interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
        let mut heard = true;
        loop {
            tokio::select! {
                message = self.messages.next() => {
                    let message = message.and_then(Result::ok).ok_or(Gone)?;
                    heard = true;
                    // Boxes: what a message and an answer need is no part of the sockets that wait.
                    if let Some(frame) = Box::pin(self.receive(&message)).await? {
                        return Ok(frame);
                    }
                }
                Some(first) = self.operations.events.next() => Box::pin(self.answer_all(first)).await?,
                () = &mut initialisation, if !self.acknowledged => {
                    return Ok(close(protocol::INITIALISATION_TIMEOUT, "Connection initialisation timeout"));
                }
                _ = asks.tick() => {
                    if !std::mem::take(&mut heard) {
                        return Err(Gone);
                    }
                    self.send(Message::Ping(Default::default())).await?;
                }
            }
        }
    }

    /// Handles a message. The result is the frame that must close the socket.
    async fn receive(&mut self, message: &Message) -> Result<Option<CloseFrame>, Gone> {
        let text = match message {
            Message::Text(text) => text.as_str(),
            // What is not text is no message.
            Message::Binary(bytes) => str::from_utf8(bytes).unwrap_or_default(),
            Message::Ping(_) | Message::Pong(_) => return Ok(None),
            Message::Close(_) => return Err(Gone),
        };
        Ok(match ClientMessage::read(text) {
            Err(sentence) => Some(close(protocol::BAD_MESSAGE, &sentence)),
            Ok(ClientMessage::ConnectionInit(_)) if self.acknowledged => {
                Some(close(protocol::TOO_MANY_INITIALISATIONS, "Too many initialisation requests"))
            }
            Ok(ClientMessage::ConnectionInit(payload)) => {
                // A client that is not let in ends the session.
                if self.identity.initialise(payload).await {
                    self.acknowledged = true;
                    self.say(protocol::connection_ack()).await?;
                }
                None
            }
            Ok(ClientMessage::Ping(payload)) => self.say(protocol::pong(payload)).await.map(|()| None)?,
            Ok(ClientMessage::Pong) => None,
            Ok(ClientMessage::Subscribe { .. }) if !self.acknowledged => {
                Some(close(protocol::UNAUTHORIZED, "Unauthorized"))
            }
            Ok(ClientMessage::Subscribe { id, .. }) if self.operations.by_id.contains_key(&id) => {
                Some(close(protocol::SUBSCRIBER_EXISTS, &format!("Subscriber for {id} already exists")))
            }
            Ok(ClientMessage::Subscribe { id, asked }) => {
                self.operations.begin(&self.executor, id, *asked);
                None
            }
            Ok(ClientMessage::Complete(id)) => {
                self.operations.end(&id);
                None
            }
        })
    }

    /// Sends what an operation says, and with it what others say already: a change often concerns several subscriptions
    /// of a socket.
    async fn answer_all(&mut self, first: OperationEvent) -> Result<(), Gone> {
        // A long response is the last, and has its share until it is sent.
        let (mut next, mut bytes, mut last) = (Some(first), 0, None);
        while let Some((number, id, event)) = next {
            if let Some(text) = self.answer(number, &id, &event) {
                bytes += text.len();
                self.sink.feed(Message::Text(text.into())).await.map_err(|_| Gone)?;
            }
            last = Some(event);
            let more = if bytes < TOGETHER { self.operations.events.next().now_or_never() } else { None };
            next = more.flatten();
        }
        let flushed = self.sink.flush().await;
        drop(last);
        flushed.map_err(|_| Gone)
    }

    /// What to send of what an operation says: nothing if its client has ended it.
    fn answer(&mut self, number: u64, id: &str, event: &Event) -> Option<String> {
        self.operations.by_id.get(id).filter(|(current, _)| *current == number)?;
        Some(match event {
            Event::Answered(SocketAnswer { body, refused: false, .. }) => protocol::next(id, body),
            Event::Answered(SocketAnswer { body, .. }) => {
                self.operations.end(id);
                protocol::error(id, body)
            }
            Event::Ended => {
                self.operations.end(id);
                protocol::complete(id)
            }
        })
    }

    async fn say(&mut self, text: String) -> Result<(), Gone> {
        self.send(Message::Text(text.into())).await
    }

    async fn send(&mut self, message: Message) -> Result<(), Gone> {
        self.sink.send(message).await.map_err(|_| Gone)
    }
}

impl Operations {
    fn begin(&mut self, executor: &SocketExecutor, id: String, asked: RequestParameters) {
        self.begun += 1;
        let number = self.begun;
        let (answers, handle) = stream::abortable(executor.answers(asked));
        self.by_id.insert(id.clone(), (number, handle));
        let events = answers.map(Event::Answered).chain(stream::once(std::future::ready(Event::Ended)));
        self.events.push(events.map(move |event| (number, id.clone(), event)).boxed());
    }

    /// Ends an operation. A mutation runs on without it.
    fn end(&mut self, id: &str) {
        if let Some((_, handle)) = self.by_id.remove(id) {
            handle.abort();
        }
    }
}
