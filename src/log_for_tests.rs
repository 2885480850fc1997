//! Events of `tracing` in, what a log says of them out. For unit tests only.

#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::sync::{Arc, Mutex};
use tracing::Subscriber;

/// A log in memory, shared by its copies.
#[derive(Clone, Default)]
pub struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl LogBuffer {
    /// What writes to this log.
    pub fn subscriber(&self) -> impl Subscriber + Send + Sync + use<> {
        let log = self.clone();
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || log.clone()).finish()
    }

    /// What was written so far.
    pub fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
