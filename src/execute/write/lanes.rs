//! Lets the writers of one item take turns after a lost race, in the order in which they came.
//!
//! A writer that lost a race waits for its turn at the item. Other writers that need the item wait behind it, so that each reads what the
//! one before wrote and needs one attempt. Without a lost race nobody waits. Lanes cover the writers of this process only; races with other
//! processes are lost and repeated. A lane exists while a writer is in it, so there are never more lanes than requests. A wait ends at the
//! request's deadline.

use crate::table::data::attribute::Key;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;
use tokio::time::{Instant, timeout_at};

/// An item: its table and its key.
pub type ItemPlace = (Arc<str>, Key);

type Lane = Arc<tokio::sync::Mutex<()>>;

/// The items at which writers wait for each other.
#[derive(Debug, Default)]
pub struct Lanes {
    lanes: Mutex<HashMap<ItemPlace, Lane>>,
}

/// A writer's turn at an item; it ends when this is dropped.
pub struct Turn<'l> {
    // Fields drop in this order: the first wakes the next writer, the second then checks whether the lane is empty.
    _turn: OwnedMutexGuard<()>,
    _stay: Stay<'l>,
}

/// A writer in a lane, waiting or not.
struct Stay<'l> {
    lanes: &'l Lanes,
    place: ItemPlace,
    lane: Option<Lane>,
}

impl Lanes {
    /// The first of these items at which writers wait.
    pub fn busy<'p>(&self, places: &'p [ItemPlace]) -> Option<&'p ItemPlace> {
        let lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        places.iter().find(|place| lanes.contains_key(*place))
    }

    /// Waits for a turn at the item; `None` if it does not come before the deadline. Turns come in the order of asking (tokio documents its
    /// mutex as fair).
    pub async fn turn(&self, place: ItemPlace, deadline: Instant) -> Option<Turn<'_>> {
        let lane = self.lanes.lock().unwrap_or_else(PoisonError::into_inner).entry(place.clone()).or_default().clone();
        let stay = Stay { lanes: self, place, lane: Some(lane.clone()) };
        let turn = timeout_at(deadline, lane.lock_owned()).await.ok()?;
        Some(Turn { _turn: turn, _stay: stay })
    }
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        let mut lanes = self.lanes.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.lane.take());
        // Only the map holds the lane: no writer is in it.
        if lanes.get(&self.place).is_some_and(|lane| Arc::strong_count(lane) == 1) {
            lanes.remove(&self.place);
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
    async fn turns_come_in_order_and_lanes_go_when_nobody_is_in_them() {
        let lanes = Lanes::default();
        let deadline = Instant::now() + Duration::from_secs(60);
        let order = Mutex::new(Vec::new());
        let first = lanes.turn(place("a"), deadline).await.unwrap();
        assert!(lanes.turn(place("b"), deadline).await.is_some(), "another item has a lane of its own");
        assert_eq!(lanes.busy(&[place("b"), place("a")]), Some(&place("a")));
        let writer = |number: usize| {
            let (lanes, order) = (&lanes, &order);
            async move {
                let turn = lanes.turn(place("a"), deadline).await.unwrap();
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
        assert!(lanes.lanes.lock().unwrap().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_ends_at_the_deadline_and_leaves_nothing() {
        let lanes = Lanes::default();
        let now = Instant::now();
        let first = lanes.turn(place("a"), now + Duration::from_secs(60)).await.unwrap();
        assert!(lanes.turn(place("a"), now + Duration::from_secs(1)).await.is_none());
        assert_eq!(now.elapsed(), Duration::from_secs(1));
        drop(first);
        assert!(lanes.lanes.lock().unwrap().is_empty());
    }
}
