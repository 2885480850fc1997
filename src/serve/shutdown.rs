//! The connections that are open, WebSockets among them: a request to close them all in, the end of the last one out.
//!
//! `hyper_util::server::graceful` does the same for connections, but not for those that can become WebSockets.

use std::sync::Arc;
use tokio::sync::watch;

/// The open connections of a server.
#[derive(Clone, Default)]
pub struct OpenConnections {
    closing: Arc<watch::Sender<bool>>,
}

/// One open connection; it counts as open until this and all its clones are dropped.
#[derive(Clone)]
pub struct OpenConnection {
    closing: watch::Receiver<bool>,
}

impl OpenConnections {
    /// Counts one more.
    pub fn open(&self) -> OpenConnection {
        OpenConnection { closing: self.closing.subscribe() }
    }

    /// Asks every connection to close once its requests are answered, including those that are opened from now on.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Waits until none is open.
    pub async fn closed(&self) {
        self.closing.closed().await;
    }
}

impl OpenConnection {
    /// Whether the server asks to close.
    pub fn is_closing(&self) -> bool {
        *self.closing.borrow()
    }

    /// Waits until the server asks to close.
    pub async fn closing(&mut self) {
        // Without a sender there is no server any more.
        let _ = self.closing.wait_for(|closing| *closing).await;
    }
}
