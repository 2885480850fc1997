//! A server's address and numbers in; subscribers over graphql-transport-ws, and how many events they have heard, out.
//! They leave when they are dropped.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

/// The sockets that open at once.
const OPENING: usize = 64;
/// Longer than an event takes.
const LONG: Duration = Duration::from_secs(300);

/// What the subscribers ask for. Every change concerns all of them.
#[derive(Clone, Copy)]
pub enum Audience {
    /// The same operation with the same variables.
    Same,
    /// Each has a variable of its own.
    Different,
}

/// Subscribers.
pub struct Listeners {
    heard: Arc<Heard>,
    _sockets: JoinSet<()>,
}

#[derive(Default)]
struct Heard {
    events: AtomicUsize,
    more: Notify,
}

impl Listeners {
    /// Opens this number of subscriptions, so many on each socket.
    pub async fn open(address: &str, (subscribers, per_socket): (usize, usize), audience: Audience) -> Self {
        let (heard, opening, mut sockets) =
            (Arc::<Heard>::default(), Arc::new(Semaphore::new(OPENING)), JoinSet::new());
        for first in (0..subscribers).step_by(per_socket) {
            let place = opening.clone().acquire_owned().await.unwrap();
            let (address, heard) = (address.to_owned(), heard.clone());
            let operations: Vec<Value> =
                (first..subscribers.min(first + per_socket)).map(|number| operation(number, audience)).collect();
            sockets.spawn(async move {
                let mut socket = subscribed(&address, operations).await;
                drop(place);
                while let Some(Ok(message)) = socket.next().await {
                    if let Message::Text(text) = message {
                        assert!(text.contains(r#""type":"next""#) && text.contains("The message number"), "{text}");
                        heard.events.fetch_add(1, Ordering::Relaxed);
                        heard.more.notify_one();
                    }
                }
            });
        }
        drop(opening.acquire_many(OPENING as u32).await.unwrap());
        Self { heard, _sockets: sockets }
    }

    /// Waits until they have heard this number of events together.
    pub async fn heard(&self, events: usize) {
        let all = async {
            while self.heard.events.load(Ordering::Relaxed) < events {
                self.heard.more.notified().await;
            }
        };
        let in_time = timeout(LONG, all).await;
        assert!(in_time.is_ok(), "{} of {events} events", self.heard.events.load(Ordering::Relaxed));
    }
}

fn operation(number: usize, audience: Audience) -> Value {
    match audience {
        Audience::Same => json!({ "query": "subscription { messages(roomId: 1) { id author text level } }" }),
        Audience::Different => json!({
            "query": "subscription($above: Int!) { loudMessages(roomId: 1, above: $above) { id author text level } }",
            "variables": { "above": number },
        }),
    }
}

/// A socket that has sent its operations.
async fn subscribed(address: &str, operations: Vec<Value>) -> WebSocketStream<TcpStream> {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let mut request = format!("ws://{address}/graphql/ws").into_client_request().unwrap();
    request.headers_mut().insert("sec-websocket-protocol", HeaderValue::from_static("graphql-transport-ws"));
    let config = WebSocketConfig::default().read_buffer_size(4 << 10);
    let (mut socket, _) = tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await.unwrap();
    socket.send(Message::text(r#"{"type":"connection_init"}"#)).await.unwrap();
    socket.next().await.unwrap().unwrap();
    for (id, operation) in operations.into_iter().enumerate() {
        socket
            .feed(Message::text(json!({ "id": id.to_string(), "type": "subscribe", "payload": operation }).to_string()))
            .await
            .unwrap();
    }
    socket.flush().await.unwrap();
    socket
}
