//! Futures in, each run by the worker that has the fewest. A worker is a runtime with a thread of its own.
//!
//! A request, its calls and their connections stay on one worker. One runtime with several threads would move them between its threads and
//! wake these threads for each other: a request of many calls takes half as much CPU time again there (docs/performance.md). Work that takes
//! long leaves the worker's thread, as [`HeavyWork`](crate::execute::heavy_work::HeavyWork) says, so the worker's other requests need not wait.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// The workers of a server; cheap to clone. They end with the last clone, and so does what they run.
#[derive(Debug, Clone, Default)]
pub struct Workers {
    /// None: futures run on the runtime that hands them over.
    all: Arc<[Worker]>,
}

#[derive(Debug)]
struct Worker {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    /// How many futures it runs.
    futures: Arc<AtomicUsize>,
}

/// One of a worker's futures.
struct Place {
    futures: Arc<AtomicUsize>,
}

impl Workers {
    /// A worker for each processor. The error says why the system gives no more threads.
    pub fn start() -> io::Result<Self> {
        let processors = available_parallelism().map_or(1, usize::from);
        Ok(Self { all: (0..processors).map(|_| Worker::start()).collect::<io::Result<Vec<_>>>()?.into() })
    }

    /// Runs a future to its end.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let (runtime, future) = self.placed(future);
        runtime.spawn(future);
    }

    /// Runs a future. It is dropped if nobody waits for it any more. `None` if it panicked, or if the workers ended.
    pub async fn run<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (runtime, future) = self.placed(future);
        let mut tasks = JoinSet::new();
        tasks.spawn_on(future, &runtime);
        tasks.join_next().await?.ok()
    }

    /// The runtime of the worker with the fewest futures, and the future as one of them.
    fn placed<F: Future>(&self, future: F) -> (Handle, impl Future<Output = F::Output> + use<F>) {
        let fewest = self.all.iter().min_by_key(|worker| worker.futures.load(Ordering::Relaxed));
        let (runtime, place) = match fewest.and_then(|worker| Some((worker.runtime.as_ref()?, worker))) {
            Some((runtime, worker)) => (runtime.handle().clone(), Some(Place::take(&worker.futures))),
            None => (Handle::current(), None),
        };
        let placed = async move {
            let _place = place;
            future.await
        };
        (runtime, placed)
    }
}

impl Worker {
    fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("keyfold-worker").enable_all().build()?;
        Ok(Self { runtime: Some(runtime), futures: Arc::default() })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A runtime that is dropped would wait for its threads, which no future may do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Place {
    fn take(futures: &Arc<AtomicUsize>) -> Self {
        futures.fetch_add(1, Ordering::Relaxed);
        Self { futures: futures.clone() }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.futures.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use tokio::runtime::Id;
    use tokio::sync::oneshot;

    fn two() -> Workers {
        Workers { all: [Worker::start().unwrap(), Worker::start().unwrap()].into() }
    }

    async fn here() -> Id {
        Handle::current().id()
    }

    #[tokio::test]
    async fn the_worker_with_the_fewest_futures_is_next() {
        let workers = two();
        let (end, ended) = oneshot::channel::<()>();
        let (told, tells) = oneshot::channel();
        workers.spawn(async move {
            told.send(here().await).unwrap();
            ended.await.unwrap();
        });
        let busy = tells.await.unwrap();
        for _ in 0..3 {
            assert_ne!(workers.run(here()).await.unwrap(), busy);
        }
        end.send(()).unwrap();
        let other = loop {
            let futures: Vec<usize> = workers.all.iter().map(|worker| worker.futures.load(Ordering::Relaxed)).collect();
            match futures[..] {
                [0, 0] => break workers.run(here()).await.unwrap(),
                _ => tokio::task::yield_now().await,
            }
        };
        assert_eq!(other, busy, "the first of those with the fewest");
        assert_eq!(HashSet::from([busy, here().await]).len(), 2);
    }

    #[tokio::test]
    async fn without_workers_a_future_runs_here() {
        assert_eq!(Workers::default().run(here()).await.unwrap(), here().await);
    }

    #[tokio::test]
    async fn a_future_is_dropped_when_nobody_waits_for_it() {
        let workers = two();
        let (kept, dropped) = oneshot::channel::<()>();
        let mut waiting = Box::pin(workers.run(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        }));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        drop(waiting);
        assert!(dropped.await.is_err());
    }

    #[tokio::test]
    async fn what_the_workers_run_ends_with_them() {
        let workers = two();
        let (kept, dropped) = oneshot::channel::<()>();
        workers.spawn(async move {
            let _kept = kept;
            std::future::pending::<()>().await;
        });
        drop(workers);
        assert!(dropped.await.is_err());
    }
}
