//! Futures in, each run by a worker that has room for it. A worker is a runtime with a thread of its own.
//!
//! A request, its calls and their connections stay on one worker. One runtime with several threads would move them
//! between its threads and wake these threads for each other: a request of many calls takes half as much CPU time again
//! there (docs/measurements.md). Work that takes long leaves the worker's thread, as
//! [`HeavyWork`](crate::execute::heavy_work::HeavyWork) says, so the worker's other requests need not wait.
//!
//! As few workers as possible have something to do. A thread that serves many connections finds several answers
//! whenever it wakes up, and sends the calls that follow in groups; the same connections on two threads wake up twice
//! as often. So connections go to the first worker until that is busy or crowded, and from then on it hands requests
//! over to the next one.

use super::busy::BusyShare;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, available_parallelism};
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::JoinSet;

/// How many connections more than another a worker may have, and how many requests. Each can have work at the same
/// moment.
const CROWD: usize = 64;

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
    connections: Places,
    requests: Places,
    busy: BusyShare,
}

/// How many futures of a kind a worker runs.
#[derive(Debug, Default)]
struct Places(Arc<AtomicUsize>);

/// The place of a future. It is free when the future has ended.
struct Place(Arc<AtomicUsize>);

impl Workers {
    /// A worker for each processor. The error says why the system gives no more threads.
    pub fn start() -> io::Result<Self> {
        let processors = available_parallelism().map_or(1, usize::from);
        Ok(Self { all: (0..processors).map(|_| Worker::start()).collect::<io::Result<Vec<_>>>()?.into() })
    }

    /// Serves a connection: by the first worker that has room, or by the one with the fewest connections.
    pub fn serve(&self, connection: impl Future<Output = ()> + Send + 'static) {
        let fewest = || self.all.iter().min_by_key(|worker| worker.connections.taken());
        let worker = self.with_room(Worker::connections).or_else(fewest);
        match worker.and_then(|worker| Some((worker.runtime.as_ref()?, worker.connections.take()))) {
            Some((runtime, place)) => drop(runtime.spawn(placed(place, connection))),
            None => drop(tokio::spawn(connection)),
        }
    }

    /// Answers a request: by the worker that asks or, if that has no room, by another that has and answers no more. The
    /// future is dropped if nobody waits for it any more. `None` if it panicked on another worker, or if the workers
    /// ended.
    pub async fn answer<T: Send + 'static>(&self, request: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let here = Handle::current().id();
        let own =
            self.all.iter().find(|worker| worker.runtime.as_ref().is_some_and(|runtime| runtime.handle().id() == here));
        let is_full = |own: &&Worker| !self.has_room(own, Worker::requests);
        let fewer = |own: &Worker| {
            self.with_room(Worker::requests).filter(|other| other.requests.taken() <= own.requests.taken())
        };
        match own
            .filter(is_full)
            .and_then(fewer)
            .and_then(|other| Some((other.runtime.as_ref()?, other.requests.take())))
        {
            Some((runtime, place)) => {
                let mut tasks = JoinSet::new();
                tasks.spawn_on(placed(place, request), runtime.handle());
                tasks.join_next().await?.ok()
            }
            None => Some(placed(own.map(|own| own.requests.take()), request).await),
        }
    }

    /// The first worker that has room for a future of a kind.
    fn with_room(&self, kind: fn(&Worker) -> &Places) -> Option<&Worker> {
        self.all.iter().find(|worker| self.has_room(worker, kind))
    }

    /// Whether a worker is neither busy nor crowded.
    fn has_room(&self, worker: &Worker, kind: fn(&Worker) -> &Places) -> bool {
        let taken = kind(worker).taken();
        let is_crowded = taken >= CROWD && self.all.iter().any(|other| kind(other).taken() + CROWD <= taken);
        !is_crowded && worker.runtime.as_ref().is_some_and(|runtime| !worker.busy.is_busy(runtime))
    }
}

/// A future that keeps its place.
async fn placed<F: Future>(place: impl Send, future: F) -> F::Output {
    let _place = place;
    future.await
}

impl Worker {
    fn start() -> io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("keyfold-worker").enable_all();
        // Where others want the processor, they run before it sleeps, and it finds more answers at once
        // (docs/measurements.md).
        builder.on_thread_park(thread::yield_now);
        let runtime = builder.build()?;
        Ok(Self {
            runtime: Some(runtime),
            connections: Places::default(),
            requests: Places::default(),
            busy: BusyShare::default(),
        })
    }

    fn connections(&self) -> &Places {
        &self.connections
    }

    fn requests(&self) -> &Places {
        &self.requests
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

impl Places {
    fn taken(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    fn take(&self) -> Place {
        self.0.fetch_add(1, Ordering::Relaxed);
        Place(self.0.clone())
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures_util::future::{join_all, pending};
    use tokio::runtime::Id;
    use tokio::sync::oneshot;

    /// Two workers, which are busy or not.
    fn two(busy: [bool; 2]) -> Workers {
        let worker = |busy| {
            let mut worker = Worker::start().unwrap();
            worker.busy = BusyShare::fixed(busy);
            worker
        };
        Workers { all: busy.map(worker).into() }
    }

    impl Workers {
        fn ids(&self) -> Vec<Id> {
            self.all.iter().map(|worker| worker.runtime.as_ref().unwrap().handle().id()).collect()
        }

        /// Where a connection is served.
        async fn serves(&self) -> Id {
            let (sender, receiver) = oneshot::channel();
            self.serve(async move { sender.send(here().await).unwrap() });
            receiver.await.unwrap()
        }

        /// Where the requests of some connections, which are served by the first worker, are answered. All of them run
        /// at the same time.
        async fn answers(&self, requests: usize) -> Vec<Id> {
            let workers = self.clone();
            let all = Arc::new(tokio::sync::Barrier::new(requests));
            let request = move || {
                let (workers, all) = (workers.clone(), all.clone());
                async move {
                    let request = async move {
                        all.wait().await;
                        here().await
                    };
                    workers.answer(request).await.unwrap()
                }
            };
            let first = self.all[0].runtime.as_ref().unwrap();
            first.spawn(async move { join_all((0..requests).map(|_| request())).await }).await.unwrap()
        }
    }

    async fn here() -> Id {
        Handle::current().id()
    }

    #[tokio::test]
    async fn what_the_first_worker_has_room_for_is_its_own() {
        let workers = two([false, false]);
        let ids = workers.ids();
        for _ in 0..3 {
            assert_eq!(workers.serves().await, ids[0]);
        }
        assert_eq!(workers.answers(CROWD).await, [ids[0]; CROWD]);
    }

    #[tokio::test]
    async fn a_busy_worker_hands_requests_over_to_one_that_is_not() {
        let workers = two([true, false]);
        assert_eq!((workers.serves().await, workers.answers(1).await[0]), (workers.ids()[1], workers.ids()[1]));
        let workers = two([true, true]);
        assert_eq!(workers.answers(CROWD * 3).await, [workers.ids()[0]; CROWD * 3]);
    }

    #[tokio::test]
    async fn a_crowd_is_shared() {
        let workers = two([false, false]);
        let ids = workers.ids();
        let answers = workers.answers(CROWD * 3).await;
        assert_eq!([0, 1].map(|worker| answers.iter().filter(|id| **id == ids[worker]).count()), [CROWD * 2, CROWD]);
        for expected in [[CROWD, 0], [CROWD, 1], [CROWD + 1, 1], [CROWD + 1, 2]] {
            while workers.all.iter().map(|worker| worker.connections.taken()).sum::<usize>() < expected.iter().sum() {
                workers.serve(pending());
            }
            assert_eq!([0, 1].map(|worker| workers.all[worker].connections.taken()), expected);
        }
    }

    #[tokio::test]
    async fn if_no_worker_has_room_a_connection_goes_to_the_one_with_the_fewest() {
        let workers = two([true, true]);
        for _ in 0..4 {
            workers.serve(pending());
        }
        assert_eq!([0, 1].map(|worker| workers.all[worker].connections.taken()), [2, 2]);
    }

    #[tokio::test]
    async fn without_workers_all_runs_here() {
        let here = here().await;
        assert_eq!(
            (Workers::default().answer(self::here()).await, Workers::default().serves().await),
            (Some(here), here)
        );
    }

    #[tokio::test]
    async fn a_request_is_dropped_when_nobody_waits_for_it() {
        let workers = two([true, false]);
        let (kept, dropped) = oneshot::channel::<()>();
        let (begins, began) = oneshot::channel();
        let request = async move {
            let _kept = kept;
            begins.send(()).unwrap();
            pending::<()>().await;
        };
        let runtime = workers.all[0].runtime.as_ref().unwrap();
        let waiting = runtime.spawn({
            let workers = workers.clone();
            async move { workers.answer(request).await }
        });
        began.await.unwrap();
        waiting.abort();
        assert!(dropped.await.is_err());
    }

    #[tokio::test]
    async fn what_the_workers_run_ends_with_them() {
        let workers = two([false, false]);
        let (kept, dropped) = oneshot::channel::<()>();
        workers.serve(async move {
            let _kept = kept;
            pending::<()>().await;
        });
        drop(workers);
        assert!(dropped.await.is_err());
    }
}
