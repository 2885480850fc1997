//! The streams of an HTTP/2 connection in; how many run out. A stream whose client takes its response too slowly is
//! reset.

use crate::serve::connection::SLOWEST;
use hyper::rt::Executor;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

tokio::task_local! {
    /// What the client has taken of the stream that the task runs.
    static TAKEN: TakenBytes;
}

/// The streams of a connection. Each runs in a task.
#[derive(Clone)]
pub struct Streams {
    running: Arc<watch::Sender<usize>>,
    write_timeout: Duration,
}

/// What a client has taken of a response.
#[derive(Debug, Clone, Default)]
pub struct TakenBytes(Arc<Response>);

#[derive(Debug, Default)]
struct Response {
    bytes: AtomicU64,
    /// Whether there are bytes for the client to take.
    offered: AtomicBool,
    /// Says when there are some after there were none.
    begins: Notify,
}

/// One stream that runs.
struct Running(Arc<watch::Sender<usize>>);

impl TakenBytes {
    /// That of the stream whose task asks; of none, outside of such a task.
    pub fn current() -> Self {
        TAKEN.try_with(Self::clone).unwrap_or_default()
    }

    /// The client has taken all before these bytes.
    pub fn add(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        if !self.0.offered.swap(true, Ordering::Relaxed) {
            self.0.begins.notify_one();
        }
    }

    /// There is nothing to take.
    pub fn waits(&self) {
        self.0.offered.store(false, Ordering::Relaxed);
    }

    /// The bytes that it had, if there are more.
    fn offered(&self) -> Option<u64> {
        self.0.offered.load(Ordering::Relaxed).then(|| self.0.bytes.load(Ordering::Relaxed))
    }

    /// Waits until there are bytes to take. Gives those that it had.
    async fn until_offered(&self) -> u64 {
        loop {
            if let Some(before) = self.offered() {
                return before;
            }
            self.0.begins.notified().await;
        }
    }
}

impl Streams {
    /// No stream yet. A client must take at least 8 KiB a second of a response, measured over this time.
    pub fn new(write_timeout: Duration) -> Self {
        Self { running: Arc::new(watch::Sender::new(0)), write_timeout }
    }

    /// Waits until no stream has run for this time.
    pub async fn idle(&self, longest: Duration) {
        let mut running = self.running.subscribe();
        loop {
            // The sender is this value's own.
            let _ = running.wait_for(|running| *running == 0).await;
            if timeout(longest, running.changed()).await.is_err() {
                return;
            }
        }
    }
}

impl<S: Future<Output = ()> + Send + 'static> Executor<S> for Streams {
    fn execute(&self, stream: S) {
        self.running.send_modify(|running| *running += 1);
        let (running, write_timeout) = (Running(self.running.clone()), self.write_timeout);
        tokio::spawn(async move {
            let _running = running;
            until_stalled(stream, write_timeout).await;
        });
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.0.send_modify(|running| *running -= 1);
    }
}

/// Runs a stream to its end. If its client takes too little of the response for too long, it is dropped, which resets
/// it.
async fn until_stalled(stream: impl Future<Output = ()>, write_timeout: Duration) {
    let taken = TakenBytes::default();
    let mut stream = pin!(TAKEN.scope(taken.clone(), stream));
    loop {
        let before = tokio::select! {
            () = &mut stream => return,
            before = taken.until_offered() => before,
        };
        tokio::select! {
            () = &mut stream => return,
            () = sleep(write_timeout) => {}
        }
        if let Some(now) = taken.offered()
            && u128::from(now - before) * 1000 < u128::from(SLOWEST) * write_timeout.as_millis()
        {
            tracing::debug!("a client takes its response too slowly");
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn a_stream_may_wait_but_its_client_must_take_what_is_offered() {
        let waiting = async {
            let taken = TakenBytes::current();
            taken.add(1);
            taken.waits();
            sleep(TIME * 10).await;
        };
        let began = tokio::time::Instant::now();
        until_stalled(waiting, TIME).await;
        assert_eq!(began.elapsed(), TIME * 10);
        let fast = async {
            for _ in 0..100 {
                TakenBytes::current().add(2 * SLOWEST as usize);
                sleep(Duration::from_secs(1)).await;
            }
        };
        let began = tokio::time::Instant::now();
        until_stalled(fast, TIME).await;
        assert_eq!(began.elapsed(), TIME * 10);
        let slow = async {
            loop {
                TakenBytes::current().add(SLOWEST as usize / 2);
                sleep(Duration::from_secs(1)).await;
            }
        };
        let began = tokio::time::Instant::now();
        until_stalled(slow, TIME).await;
        assert_eq!(began.elapsed(), TIME);
    }

    #[tokio::test(start_paused = true)]
    async fn streams_are_idle_when_none_has_run_for_a_time() {
        let streams = Streams::new(TIME);
        let began = tokio::time::Instant::now();
        streams.execute(sleep(TIME * 3));
        streams.idle(TIME).await;
        assert_eq!(began.elapsed(), TIME * 4);
    }
}
