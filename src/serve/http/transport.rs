//! What carries a request and its response, where that bounds them.

use tokio::time::Instant;

/// What carries a request. A connection of the server's own bounds nothing, and has no such extension.
#[derive(Debug, Clone, Copy)]
pub struct Transport {
    /// The time by which an operation must have ended, besides that of the settings.
    pub ends: Option<Instant>,
    /// The time at which a stream of events closes. It ends without its last event, so that the client connects again.
    pub closes: Option<Instant>,
    /// Whether a response reaches its client while it is made.
    pub streams: bool,
}

impl Default for Transport {
    fn default() -> Self {
        Self { ends: None, closes: None, streams: true }
    }
}
