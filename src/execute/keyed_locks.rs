//! Locks of items by their keys: the writers of one item take turns after a lost race, in the order in which they came.
//!
//! A writer that lost a race waits for its turn at the item. Other writers that need the item wait behind it, so that
//! each reads what the one before wrote and needs one attempt. Without a lost race nobody waits. The locks cover the
//! writers of this process only; races with other processes are lost and repeated. A lock exists while a writer has it
//! or waits for it, so there are never more locks than requests. A wait ends at the request's deadline. Must not know
//! what is written.

use crate::table::data::attribute::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

/// An item: its table and its key.
pub type ItemPlace = (Arc<str>, Key);

type ItemLock = Arc<tokio::sync::Mutex<()>>;

/// The items at which writers wait for each other.
#[derive(Debug, Default)]
pub struct KeyedLocks {
    locks: Mutex<HashMap<ItemPlace, ItemLock>>,
}

/// A writer's turn at an item; it ends when this is dropped.
pub struct Turn<'l> {
    // Fields drop in this order: the first wakes the next writer, the second then checks whether the lock is needed.
    _turn: OwnedMutexGuard<()>,
    _stay: Stay<'l>,
}

/// A writer at a lock, waiting or not.
struct Stay<'l> {
    locks: &'l KeyedLocks,
    place: ItemPlace,
    lock: Option<ItemLock>,
}

impl KeyedLocks {
    /// The first of these items at which writers wait.
    pub fn busy<'p>(&self, places: &'p [ItemPlace]) -> Option<&'p ItemPlace> {
        let locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        places.iter().find(|place| locks.contains_key(*place))
    }

    /// Waits for a turn at the item; `None` if it does not come before the deadline. Turns come in the order of asking
    /// (tokio documents its mutex as fair).
    pub async fn turn(&self, place: ItemPlace, deadline: Instant) -> Option<Turn<'_>> {
        let lock = self.locks.lock().unwrap_or_else(PoisonError::into_inner).entry(place.clone()).or_default().clone();
        let stay = Stay { locks: self, place, lock: Some(lock.clone()) };
        let turn = timeout_at(deadline, lock.lock_owned()).await.ok()?;
        Some(Turn { _turn: turn, _stay: stay })
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        let mut locks = self.locks.locks.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.lock.take());
        // Only the map holds the lock: no writer is at it.
        if locks.get(&self.place).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            locks.remove(&self.place);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::table::data::attribute::KeyValue;
    use std::time::Duration;

    fn place(name: &str) -> ItemPlace {
        ("table".into(), Key { partition: ("PK".into(), KeyValue::S(name.to_owned())), sort: None })
    }

    #[tokio::test(start_paused = true)]
    async fn turns_come_in_order_and_locks_go_when_nobody_is_at_them() {
        let locks = KeyedLocks::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let order = Mutex::new(Vec::new());
        let first = locks.turn(place("a"), deadline).await.unwrap();
        assert!(locks.turn(place("b"), deadline).await.is_some(), "another item has a lock of its own");
        assert_eq!(locks.busy(&[place("b"), place("a")]), Some(&place("a")));
        let writer = |number: usize| {
            let (locks, order) = (&locks, &order);
            async move {
                let turn = locks.turn(place("a"), deadline).await.unwrap();
                tokio::task::yield_now().await;
                order.lock().unwrap().push(number);
                drop(turn);
            }
        };
        let release = async {
            tokio::task::yield_now().await;
            drop(first);
        };
        tokio::join!(writer(1), writer(2), release, writer(3));
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
        assert!(locks.locks.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_at_the_deadline_and_leaves_nothing() {
        let locks = KeyedLocks::default();
        let now = Instant::now();
        let first = locks.turn(place("a"), now + Duration::from_secs(60)).await.unwrap();
        assert!(locks.turn(place("a"), now + Duration::from_secs(1)).await.is_none());
        assert_eq!(now.elapsed(), Duration::from_secs(1));
        drop(first);
        assert!(locks.locks.lock().unwrap().is_empty());
    }
}
