//! Bytes that wait for the clients of all subscriptions in; whether they are too many out. It also bounds how many
//! groups deliver at a time.

use std::ops::Deref;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// The most bytes that wait for all subscribers together.
const ALL_BYTES: usize = 64 << 20;
/// The most groups that deliver a change at the same time. Each takes some kilobytes while it does.
const DELIVERING: usize = 256;

/// What all subscriptions of a gateway share.
#[derive(Debug)]
pub struct DeliveryBounds {
    bytes: AtomicUsize,
    /// The groups that may deliver a change now.
    pub places: Semaphore,
}

impl Default for DeliveryBounds {
    fn default() -> Self {
        Self { bytes: AtomicUsize::new(0), places: Semaphore::new(DELIVERING) }
    }
}

impl DeliveryBounds {
    /// Adds bytes that wait.
    pub fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Takes bytes away that were added.
    pub fn remove(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// The bytes that wait.
    pub fn waiting(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Whether so many bytes wait that who waits longest must end.
    pub fn are_exceeded(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > ALL_BYTES
    }
}

/// A value whose bytes count as waiting until it is dropped. Whoever shares it counts its own place in a queue alone.
#[derive(Debug)]
pub struct HeldChange<T> {
    value: T,
    bounds: Arc<DeliveryBounds>,
    bytes: usize,
}

impl<T> HeldChange<T> {
    /// Counts this number of bytes.
    pub fn new(value: T, bytes: usize, bounds: &Arc<DeliveryBounds>) -> Arc<Self> {
        bounds.add(bytes);
        Arc::new(Self { value, bounds: bounds.clone(), bytes })
    }
}

impl<T> Deref for HeldChange<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for HeldChange<T> {
    fn drop(&mut self) {
        self.bounds.remove(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_counts_once_until_the_last_lets_it_go() {
        let bounds = Arc::<DeliveryBounds>::default();
        let held = HeldChange::new("an event", ALL_BYTES + 1, &bounds);
        let shared = held.clone();
        drop(held);
        assert!(bounds.are_exceeded());
        drop(shared);
        assert!(!bounds.are_exceeded());
    }
}
