//! The memory of all requests in; the memory of each stream of an HTTP/2 connection out, and that of the connection
//! while streams run.
//!
//! A connection without a stream has the memory of what it has received since the last one: it costs what its client
//! sent. While streams run, what arrives belongs to any of them, so the connection has a fixed amount, which its first
//! stream takes.

use crate::serve::client::ClientAddress;
use crate::serve::connection::ReceivedBytes;
use crate::serve::quota::{Quota, QuotaExceeded, Share};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The memory of a connection.
#[derive(Clone)]
pub struct ConnectionMemory(Arc<Inner>);

struct Inner {
    requests: Arc<Quota>,
    amount: usize,
    received: ReceivedBytes,
    running: Mutex<Running>,
}

/// The streams that run, and the memory of the connection while there are any.
#[derive(Default)]
struct Running {
    streams: usize,
    memory: Option<Share>,
}

/// The memory of a stream. When the last stream of a connection drops it, the connection returns its own.
pub struct StreamMemory {
    _share: Share,
    connection: ConnectionMemory,
}

impl ConnectionMemory {
    /// That of a connection which takes this amount of the memory of all requests while streams run.
    pub fn new(requests: Arc<Quota>, amount: usize, received: ReceivedBytes) -> Self {
        Self(Arc::new(Inner { requests, amount, received, running: Mutex::default() }))
    }

    /// Takes the memory of a stream. The first one takes that of the connection, too.
    pub fn begin(&self, client: ClientAddress, amount: usize) -> Result<StreamMemory, QuotaExceeded> {
        let Inner { requests, received, .. } = &*self.0;
        let share = requests.take(client, amount)?;
        let mut running = self.running();
        if running.memory.is_none() {
            received.header_is_complete();
            match requests.take(client, self.0.amount) {
                Ok(memory) => running.memory = Some(memory),
                Err(exhausted) => {
                    received.header_begins();
                    return Err(exhausted);
                }
            }
        }
        running.streams += 1;
        Ok(StreamMemory { _share: share, connection: self.clone() })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for StreamMemory {
    fn drop(&mut self) {
        let mut running = self.connection.running();
        running.streams -= 1;
        if running.streams == 0 {
            running.memory = None;
            self.connection.0.received.header_begins();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_connection_has_memory_of_its_own_while_streams_run() {
        let quota = Quota::new(10, 10);
        let [one, other] = [1, 2].map(|last| ClientAddress::new([127, 0, 0, last].into()));
        let connection = ConnectionMemory::new(quota.clone(), 4, ReceivedBytes::new(quota.take(one, 0).unwrap()));
        let left = || (0..=10).rev().find(|amount| quota.take(other, *amount).is_ok()).unwrap();
        assert_eq!(left(), 10);
        let first = connection.begin(one, 1).unwrap();
        let second = connection.begin(one, 2).unwrap();
        assert_eq!(left(), 3);
        drop(first);
        assert_eq!(left(), 4);
        drop(second);
        assert_eq!(left(), 10);
        assert!(connection.begin(one, 7).is_err(), "7 and 4 are more than 10");
        assert_eq!(left(), 10);
        assert!(connection.begin(one, 6).is_ok());
    }
}
