//! Work that may take long in, its result out, on threads beside the workers that serve requests. Must not know what is
//! done.
//!
//! Each worker serves many requests. While it parses a large document or writes a response of many objects, its other
//! requests wait. Such work therefore runs on at most half of the machine's threads, apart from the workers. Parsing
//! and planning a new document always counts as such work. Running an operation does once it has processed many rows
//! and items, now or in its last run.

use super::error::{ErrorCode, GraphqlError};
use futures_util::future::{BoxFuture, FutureExt};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

/// The most rows and items that an operation processes on the workers. Each takes some microseconds.
const LIGHT: usize = 500;

/// The rows and items that a request has processed.
#[derive(Debug, Default)]
pub struct WorkDone(AtomicUsize);

impl WorkDone {
    /// Counts rows and items.
    pub fn add(&self, count: usize) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// Whether they are too many for the workers.
    pub fn is_heavy(&self) -> bool {
        self.0.load(Ordering::Relaxed) > LIGHT
    }
}

/// Bounds the threads for work that takes long.
#[derive(Debug)]
pub struct HeavyWork {
    places: Arc<Semaphore>,
}

impl Default for HeavyWork {
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        Self { places: Arc::new(Semaphore::new((threads / 2).max(1))) }
    }
}

impl HeavyWork {
    /// Does the work on its own thread, as soon as one is free. Work that has begun ends, and keeps its thread, even if
    /// nobody waits for it. A runtime of one thread has no workers to spare: it does the work at once.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Vec<GraphqlError>> + Send + 'static,
    ) -> Result<T, Vec<GraphqlError>> {
        let stopping = || vec![GraphqlError::new(ErrorCode::Unavailable, "The server is stopping.")];
        let place = self.places.clone().acquire_owned().await.map_err(|_| stopping())?;
        if !has_workers() {
            return work();
        }
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(place);
            result
        });
        match done.await {
            Ok(result) => result,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(stopping()),
            },
        }
    }

    /// Runs a future that may take long. `heavy` says whether its last run did, and is set to whether this one does.
    /// The future counts its rows and items in `work`.
    pub fn share<'h, F: Future>(&self, heavy: &'h AtomicBool, work: &'h WorkDone, future: F) -> HeavyFuture<'h, F> {
        let began_heavy = heavy.load(Ordering::Relaxed);
        HeavyFuture { places: self.places.clone(), place: None, future: Box::pin(future), heavy, work, began_heavy }
    }
}

/// A future that leaves the workers once its work is heavy. From then on it holds a place while it computes, but not
/// while it waits for calls.
pub struct HeavyFuture<'h, F> {
    places: Arc<Semaphore>,
    /// The place that it waits for.
    place: Option<BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>>,
    future: Pin<Box<F>>,
    heavy: &'h AtomicBool,
    work: &'h WorkDone,
    began_heavy: bool,
}

impl<F: Future> Future for HeavyFuture<'_, F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = &mut *self;
        let polled = if this.began_heavy || this.work.is_heavy() {
            let place = this.place.get_or_insert_with(|| this.places.clone().acquire_owned().boxed());
            let place = ready!(place.poll_unpin(context));
            this.place = None;
            let polled = beside_the_workers(|| this.future.as_mut().poll(context));
            drop(place);
            polled
        } else {
            this.future.as_mut().poll(context)
        };
        if polled.is_ready() {
            this.heavy.store(this.work.is_heavy(), Ordering::Relaxed);
        }
        polled
    }
}

/// Does the work on this thread, while another thread takes over the worker's other tasks.
fn beside_the_workers<T>(work: impl FnOnce() -> T) -> T {
    if has_workers() { tokio::task::block_in_place(work) } else { work() }
}

/// Whether several threads share the tasks.
fn has_workers() -> bool {
    Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_has_done_much_waits_for_a_place() {
        let heavy_work = HeavyWork { places: Arc::new(Semaphore::new(1)) };
        let (heavy, work) = (AtomicBool::new(false), WorkDone::default());
        let place = heavy_work.places.clone().acquire_owned().await.unwrap();
        let mut shared = Box::pin(heavy_work.share(&heavy, &work, async {
            work.add(LIGHT + 1);
            tokio::task::yield_now().await;
        }));
        assert!(shared.as_mut().now_or_never().is_none());
        assert!(shared.as_mut().now_or_never().is_none(), "there is no place");
        drop(place);
        shared.await;
        assert!(heavy.load(Ordering::Relaxed));
        assert_eq!(heavy_work.places.available_permits(), 1);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn what_was_heavy_begins_so_and_may_become_light() {
        let heavy_work = HeavyWork::default();
        let (heavy, work) = (AtomicBool::new(true), WorkDone::default());
        let places = heavy_work.places.available_permits();
        let inside = heavy_work.share(&heavy, &work, async { heavy_work.places.available_permits() }).await;
        assert_eq!((inside, heavy.load(Ordering::Relaxed)), (places - 1, false));
        let inside = heavy_work.share(&heavy, &work, async { heavy_work.places.available_permits() }).await;
        assert_eq!((inside, heavy.load(Ordering::Relaxed)), (places, false));
    }
}
