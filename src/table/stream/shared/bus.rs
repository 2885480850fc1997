//! What carries messages between the copies of a gateway. Must not know what they say.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

/// Carries messages to the other copies. It may lose, repeat or delay them: their readers find out.
pub trait Bus: Send + Sync {
    /// Sends a message to all other copies that listen. False if it was not sent; it waits a second at most.
    fn publish<'a>(&'a self, topic: &'a str, message: Bytes) -> BoxFuture<'a, bool>;

    /// The messages that other copies send from about now on. The stream ends only with the bus.
    fn listen(&self, topic: &str) -> BoxStream<'static, Bytes>;

    /// Whether messages are carried now, as far as is known.
    fn is_up(&self) -> bool;

    /// The longest message, in bytes.
    fn longest(&self) -> usize;
}
