//! The addresses of NATS servers in, a bus over them out.

use super::bus::Bus;
use async_nats::connection::State;
use async_nats::{Client, ConnectOptions, Event, ServerAddr};
use bytes::Bytes;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream, StreamExt};
use percent_encoding::percent_decode_str;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error;
use tokio::time::timeout;

/// How often the server is asked whether it is there. Who has not answered twice is gone.
const PING: Duration = Duration::from_secs(2);
/// How long a message waits for its turn to be sent.
const SEND_LIMIT: Duration = Duration::from_secs(1);
/// The most messages that wait to be sent, and of each table to be heard. A message has 128 KiB at most, unless one
/// record has more.
const WAITING: usize = 64;
/// What a server takes before it has announced its own limit (NATS documentation, "Protocol limits": `max_payload`).
const USUAL_LONGEST: usize = 1 << 20;

/// A bus over NATS.
pub struct NatsBus {
    client: Client,
    prefix: String,
}

/// Why there is no bus.
#[derive(Debug, Error)]
pub enum BusError {
    /// An address that is none.
    #[error("{0:?} is not the address of a NATS server, such as nats://localhost:4222: {1}")]
    Address(String, String),
    /// The file with the credentials cannot be used.
    #[error("the credentials of the bus cannot be read: {0}")]
    Credentials(std::io::Error),
    /// The connection cannot be made.
    #[error("cannot connect to the bus: {0}")]
    Connect(String),
}

impl NatsBus {
    /// A bus over these servers. `prefix` begins the subjects of its messages. It goes on trying if no server answers:
    /// until one does, the bus is down.
    pub async fn connect(addresses: &[String], credentials: Option<&Path>, prefix: &str) -> Result<Self, BusError> {
        let parse = |address: &String| {
            let parsed = address.parse::<ServerAddr>();
            parsed.map_err(|error| BusError::Address(address.clone(), error.to_string()))
        };
        let servers = addresses.iter().map(parse).collect::<Result<Vec<ServerAddr>, BusError>>()?;
        let options = match credentials {
            Some(file) => ConnectOptions::with_credentials_file(file).await.map_err(BusError::Credentials)?,
            None => ConnectOptions::new(),
        };
        let user =
            servers.iter().find_map(|server| Some((decoded(server.username()?), server.password().map(decoded))));
        let options = match user {
            Some((user, Some(password))) => options.user_and_password(user, password),
            Some((token, None)) => options.token(token),
            None => options,
        };
        let names: Arc<str> = servers
            .iter()
            .map(|server| format!("{}:{}", server.host(), server.port()))
            .collect::<Vec<_>>()
            .join(",")
            .into();
        let options = options
            .name("keyfold")
            .no_echo()
            .retry_on_initial_connect()
            .ping_interval(PING)
            .client_capacity(WAITING)
            .subscription_capacity(WAITING)
            .event_callback(move |event| {
                log(&names, &event);
                std::future::ready(())
            });
        let client = options.connect(servers).await.map_err(|error| BusError::Connect(error.to_string()))?;
        Ok(Self { client, prefix: prefix.to_owned() })
    }

    fn subject(&self, topic: &str) -> String {
        format!("{}.{topic}", self.prefix)
    }
}

impl Bus for NatsBus {
    fn publish<'a>(&'a self, topic: &'a str, message: Bytes) -> BoxFuture<'a, bool> {
        async move {
            let sent = timeout(SEND_LIMIT, self.client.publish(self.subject(topic), message));
            self.is_up() && matches!(sent.await, Ok(Ok(())))
        }
        .boxed()
    }

    fn listen(&self, topic: &str) -> BoxStream<'static, Bytes> {
        let (client, subject) = (self.client.clone(), self.subject(topic));
        let heard = async move {
            match client.subscribe(subject).await {
                Ok(messages) => messages.map(|message| message.payload).boxed(),
                Err(error) => {
                    tracing::error!(%error, "the bus cannot be heard");
                    stream::empty().boxed()
                }
            }
        };
        stream::once(heard).flatten().boxed()
    }

    fn is_up(&self) -> bool {
        self.client.connection_state() == State::Connected
    }

    fn longest(&self) -> usize {
        Some(self.client.server_info().max_payload).filter(|bytes| *bytes > 0).unwrap_or(USUAL_LONGEST)
    }
}

/// A part of a URL, in which special characters are escaped.
fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

fn log(servers: &str, event: &Event) {
    match event {
        Event::Connected => tracing::info!(servers, "the bus is connected"),
        Event::Disconnected => {
            tracing::warn!(servers, "the bus is away: this copy reads the streams itself until it is back")
        }
        Event::ClientError(error) => {
            tracing::warn!(servers, %error, "the bus cannot be reached: this copy reads the streams itself until it is")
        }
        // Its reader finds out what it has missed.
        Event::SlowConsumer(_) => {
            tracing::debug!(servers, "messages of the bus were dropped: they come faster than they are read")
        }
        other => tracing::warn!(servers, event = %other, "the bus has trouble"),
    }
}
