//! A future and how long to wait for it in; its value, or that it is late, out. All waits share one timer of the
//! runtime.
//!
//! Nearly every read is answered long before it is late. With a timer of its own, each read would wake the thread that
//! waits for the network, because its timer would be the next of all. Here a task wakes every few milliseconds instead,
//! while there are waits.

use std::collections::BTreeMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The longest time between two looks at the waits. A shorter wait may end this much later.
pub(super) const TURN: Duration = Duration::from_millis(5);
/// How long the task goes on without a wait. While reads follow each other, it need not begin anew.
const LINGER: Duration = Duration::from_millis(200);

/// The future is not ready in time.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Late;

/// A timer for many short waits.
#[derive(Debug, Default)]
pub(super) struct SharedTimer {
    waits: Arc<Mutex<Waits>>,
}

/// The waits of a timer. There is one for each call under way at most.
#[derive(Debug, Default)]
struct Waits {
    /// When each wait ends, and whom to wake then.
    pending: BTreeMap<(Instant, u64), Waker>,
    /// The number of the last wait.
    last: u64,
    /// The number of the task that looks at the waits: that of the wait which began it.
    watcher: Option<u64>,
}

impl SharedTimer {
    /// Waits for the future, at most this long. The future can be polled on after that.
    pub(super) async fn wait<F: Future + Unpin>(&self, limit: Duration, future: &mut F) -> Result<F::Output, Late> {
        let mut future = pin!(future);
        let mut wait: Option<Wait<'_>> = None;
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            match &mut wait {
                None => wait = Some(Wait::begin(&self.waits, Instant::now() + limit, context.waker())),
                Some(wait) if Instant::now() >= wait.key.0 => return Poll::Ready(Err(Late)),
                Some(wait) => wait.wake(context.waker()),
            }
            Poll::Pending
        })
        .await
    }
}

/// A wait that has begun. It ends when it is dropped.
struct Wait<'a> {
    waits: &'a Mutex<Waits>,
    key: (Instant, u64),
    waker: Waker,
}

impl<'a> Wait<'a> {
    fn begin(waits: &'a Arc<Mutex<Waits>>, end: Instant, waker: &Waker) -> Self {
        let mut all = lock(waits);
        all.last += 1;
        let key = (end, all.last);
        all.pending.insert(key, waker.clone());
        if all.watcher.is_none() {
            all.watcher = Some(key.1);
            tokio::spawn(watch(Watcher { waits: Arc::downgrade(waits), number: key.1 }));
        }
        Self { waits, key, waker: waker.clone() }
    }

    /// Wakes another task from now on, if it is another.
    fn wake(&mut self, waker: &Waker) {
        if !self.waker.will_wake(waker) {
            self.waker.clone_from(waker);
            lock(self.waits).pending.insert(self.key, waker.clone());
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        lock(self.waits).pending.remove(&self.key);
    }
}

/// The task that looks at the waits. When it ends, even with its runtime, the next wait begins another.
struct Watcher {
    waits: Weak<Mutex<Waits>>,
    number: u64,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(waits) = self.waits.upgrade() {
            lock(&waits).watcher.take_if(|watcher| *watcher == self.number);
        }
    }
}

/// Wakes those whose wait is over, until there has been no wait for some time.
async fn watch(watcher: Watcher) {
    let (mut used, mut last) = (Instant::now(), 0);
    loop {
        let now = Instant::now();
        let over = {
            let Some(waits) = watcher.waits.upgrade() else { return };
            let mut waits = lock(&waits);
            if waits.last != last || !waits.pending.is_empty() {
                (last, used) = (waits.last, now);
            }
            if now >= used + LINGER {
                // Under the same lock, so that no wait begins unseen.
                waits.watcher = None;
                return;
            }
            let later = waits.pending.split_off(&(now, u64::MAX));
            std::mem::replace(&mut waits.pending, later)
        };
        over.into_values().for_each(Waker::wake);
        sleep_until(now + TURN).await;
    }
}

fn lock(waits: &Mutex<Waits>) -> MutexGuard<'_, Waits> {
    waits.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use futures_util::future::join_all;
    use std::future::{pending, ready};
    use tokio::runtime::Builder;
    use tokio::sync::oneshot::channel;
    use tokio::time::sleep;

    fn millis(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn is_idle(timer: &SharedTimer) -> bool {
        let waits = lock(&timer.waits);
        waits.pending.is_empty() && waits.watcher.is_none()
    }

    #[tokio::test(start_paused = true)]
    async fn each_wait_ends_in_its_time_and_the_task_after_the_last() {
        let timer = SharedTimer::default();
        assert_eq!(timer.wait(millis(5), &mut ready(7)).await, Ok(7));
        assert!(is_idle(&timer), "an answer at once needs no wait");
        let begun = Instant::now();
        let waits = [40, 5, 300, 12, 40].map(|limit| {
            let timer = &timer;
            async move {
                assert_eq!(timer.wait(millis(limit), &mut pending::<()>()).await, Err(Late));
                let (took, limit) = (begun.elapsed(), millis(limit));
                assert!(took >= limit && took <= limit + TURN + millis(1), "{took:?} {limit:?}");
            }
        });
        join_all(waits).await;
        sleep(LINGER + 2 * TURN).await;
        assert!(is_idle(&timer));
        assert_eq!(timer.wait(millis(5), &mut pending::<()>()).await, Err(Late), "the next wait begins a task");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_ends_its_wait_and_a_late_future_goes_on() {
        let timer = SharedTimer::default();
        let (answer, mut answered) = channel();
        assert_eq!(timer.wait(millis(10), &mut answered).await, Err(Late));
        let waiting = async { timer.wait(millis(50), &mut answered).await };
        let answering = async {
            sleep(millis(20)).await;
            answer.send(3).unwrap();
        };
        assert_eq!(futures_util::join!(waiting, answering).0, Ok(Ok(3)));
        assert!(lock(&timer.waits).pending.is_empty());
    }

    #[test]
    fn the_timer_outlives_a_runtime() {
        let timer = SharedTimer::default();
        for _ in 0..2 {
            let runtime = Builder::new_current_thread().enable_time().build().unwrap();
            assert_eq!(runtime.block_on(timer.wait(millis(5), &mut pending::<()>())), Err(Late));
        }
    }
}
