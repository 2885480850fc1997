//! Planning work in, its result out, on threads beside the workers that serve requests. Must not know what is planned.
//!
//! Planning a large document takes time. On a worker, every other request of that worker would wait for it.

use super::error::{ErrorCode, GraphqlError};
use std::sync::Arc;
use std::thread::available_parallelism;
use tokio::sync::Semaphore;

/// Threads that parse and plan: half of the machine's, and at least one.
#[derive(Debug)]
pub struct Planners {
    places: Arc<Semaphore>,
}

impl Default for Planners {
    fn default() -> Self {
        let threads = available_parallelism().map_or(1, usize::from);
        Self { places: Arc::new(Semaphore::new((threads / 2).max(1))) }
    }
}

impl Planners {
    /// Does the work on its own thread, as soon as one is free. Work that has begun ends, and keeps its place, even if nobody waits for it.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Vec<GraphqlError>> + Send + 'static,
    ) -> Result<T, Vec<GraphqlError>> {
        let stopping = || vec![GraphqlError::new(ErrorCode::Unavailable, "The server is stopping.")];
        let place = self.places.clone().acquire_owned().await.map_err(|_| stopping())?;
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
}
