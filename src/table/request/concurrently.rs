//! Futures in; their outputs, in the same order, out.

use futures_util::future::{Either, JoinAll, join_all};
use futures_util::stream::{Collect, FuturesOrdered, StreamExt};
use std::future::Future;

/// The outputs of futures, each of which is polled when it is woken.
type InOrder<F> = Collect<FuturesOrdered<F>, Vec<<F as Future>::Output>>;

/// Runs futures side by side. They begin in their order, and each is polled when it is woken. (`join_all` polls up to
/// 30 futures whenever one of them is woken: of a wave's calls, each answer would poll all the others again.)
pub fn concurrently<F: Future>(futures: impl IntoIterator<Item = F>) -> Either<JoinAll<F>, InOrder<F>> {
    let futures = futures.into_iter();
    match futures.size_hint() {
        (_, Some(0 | 1)) => Either::Left(join_all(futures)),
        _ => Either::Right(futures.collect::<FuturesOrdered<F>>().collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;
    use std::time::Duration;
    use tokio::time::sleep;

    #[tokio::test(start_paused = true)]
    async fn futures_begin_in_their_order_and_end_in_any() {
        for count in [0, 1, 2, 7, 100] {
            let (begun, ended) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
            let futures = (0..count).map(async |number| {
                begun.lock().map(|mut begun| begun.push(number)).ok();
                sleep(Duration::from_millis(count - number)).await;
                ended.lock().map(|mut ended| ended.push(number)).ok();
                number
            });
            assert_eq!(concurrently(futures).await, (0..count).collect::<Vec<_>>());
            assert_eq!(begun.into_inner().ok(), Some((0..count).collect()));
            assert_eq!(ended.into_inner().ok(), Some((0..count).rev().collect()));
        }
    }

    #[tokio::test]
    async fn only_what_is_woken_is_polled() {
        let polls = Mutex::new(0);
        let futures = (0..20u64).map(async |number| {
            let mut waiting = std::pin::pin!(sleep(Duration::from_millis(number)));
            std::future::poll_fn(|context| {
                polls.lock().map(|mut polls| *polls += 1).ok();
                waiting.as_mut().poll(context)
            })
            .await;
        });
        concurrently(futures).await;
        assert!(polls.lock().is_ok_and(|polls| *polls <= 40), "{polls:?}");
    }
}
