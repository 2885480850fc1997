//! Where the keys of an issuer are in; its keys, as fresh as they can be had, out. Must not know tokens.
//!
//! The keys are read when the server starts, again and again in the background, and when a token names a key that is
//! not among them. However many callers want new keys, they are read once, and not again before a pause. While they
//! cannot be read, the last ones stay, and no caller waits: a caller waits at most once, for the attempt that shows
//! that there are none to have.

use super::download::Download;
use super::key_address::KeyAddress;
use super::key_set::KeySet;
use std::error::Error;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

/// How often keys are read.
#[derive(Debug, Clone, Copy)]
pub struct RefreshPace {
    /// The time between two attempts in the background.
    pub refresh: Duration,
    /// The same after an attempt that failed.
    pub retry: Duration,
    /// How soon after an attempt a caller may begin another.
    pub pause: Duration,
    /// The longest time of an attempt.
    pub longest: Duration,
}

/// The keys of an issuer, read from an address. Copies share them. They are read until the last copy is dropped.
#[derive(Debug, Clone)]
pub struct FetchedKeys {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    address: KeyAddress,
    download: Download,
    pace: RefreshPace,
    state: Mutex<State>,
    /// Changes when an attempt has ended.
    ended: watch::Sender<()>,
}

#[derive(Debug)]
struct State {
    keys: Option<Arc<KeySet>>,
    reading: bool,
    /// Whether the last attempt failed.
    failed: bool,
    /// When a caller may want the next attempt.
    next: Instant,
}

impl Default for RefreshPace {
    fn default() -> Self {
        Self {
            refresh: Duration::from_secs(600),
            retry: Duration::from_secs(10),
            pause: Duration::from_secs(10),
            longest: Duration::from_secs(5),
        }
    }
}

impl FetchedKeys {
    /// Begins to read the keys. Must be called within a runtime.
    pub fn start(address: KeyAddress, download: Download, pace: RefreshPace) -> Self {
        let state = Mutex::new(State { keys: None, reading: false, failed: false, next: Instant::now() });
        let inner = Arc::new(Inner { address, download, pace, state, ended: watch::Sender::new(()) });
        // The first attempt begins before the first caller comes.
        let first = inner.begin(&mut inner.state());
        tokio::spawn(refresh(Arc::downgrade(&inner), first));
        Self { inner }
    }

    /// The keys that are there.
    pub fn current(&self) -> Option<Arc<KeySet>> {
        self.inner.state().keys.clone()
    }

    /// Waits for new keys, if there may be some: for the attempt that runs, or for a new one. At once if the last
    /// attempt failed, or was a moment ago. The keys that are there then.
    pub async fn renewed(&self) -> Option<Arc<KeySet>> {
        let waits = {
            let mut state = self.inner.state();
            let may_begin = state.reading || Instant::now() >= state.next;
            (!state.failed && may_begin).then(|| self.inner.begin(&mut state))
        };
        if let Some(mut ended) = waits {
            // The sender is part of this value.
            let _ = ended.changed().await;
        }
        self.current()
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long to wait after the last attempt.
    fn pause(&self) -> Duration {
        if self.state().failed { self.pace.retry } else { self.pace.refresh }
    }

    /// Begins an attempt unless one runs. The result changes when it has ended.
    fn begin(self: &Arc<Self>, state: &mut State) -> watch::Receiver<()> {
        if !state.reading {
            state.reading = true;
            // A task of its own: a caller who leaves does not end it for others.
            tokio::spawn(attempt(self.clone()));
        }
        self.ended.subscribe()
    }
}

async fn attempt(inner: Arc<Inner>) {
    let read = timeout(inner.pace.longest, inner.address.read(&inner.download)).await;
    let mut state = inner.state();
    state.reading = false;
    state.next = Instant::now() + inner.pace.pause;
    state.failed = !matches!(read, Ok(Ok(_)));
    match read {
        Ok(Ok(keys)) => state.keys = Some(Arc::new(keys)),
        Ok(Err(error)) => tracing::warn!(
            reason = causes(&error),
            kept = state.keys.is_some(),
            "the keys of an issuer could not be read"
        ),
        Err(_) => {
            tracing::warn!(address = %inner.address, kept = state.keys.is_some(), "the keys of an issuer did not arrive in time")
        }
    }
    drop(state);
    inner.ended.send_replace(());
}

/// Reads the keys again and again, until nobody needs them.
async fn refresh(inner: Weak<Inner>, mut ended: watch::Receiver<()>) {
    while ended.changed().await.is_ok() {
        // Each attempt begins the pause anew, also one for a caller: where that fails, no other caller begins one.
        loop {
            let Some(pause) = inner.upgrade().map(|inner| inner.pause()) else { return };
            match timeout(pause, ended.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return,
                Err(_) => break,
            }
        }
        let Some(inner) = inner.upgrade() else { return };
        ended = inner.begin(&mut inner.state());
    }
}

/// An error with its causes.
fn causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::log_for_tests::LogBuffer;
    use std::net::TcpListener;

    #[tokio::test(start_paused = true)]
    async fn keys_that_do_not_arrive_have_a_line_with_their_address() {
        // It takes a connection, and never answers.
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/keys", silent.local_addr().unwrap());
        let log = LogBuffer::default();
        let subscriber = log.subscriber();
        let logging = tracing::subscriber::set_default(subscriber);
        let keys =
            FetchedKeys::start(KeyAddress::key_set(&url).unwrap(), Download::new().unwrap(), RefreshPace::default());
        assert!(keys.renewed().await.is_none());
        drop(logging);
        let text = log.text();
        assert!(text.contains("did not arrive in time") && text.contains(&format!(" address={url} ")), "{text}");
    }
}
