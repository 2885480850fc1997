//! Calls in; whether one more call may be made next to them out: a share of all calls, whatever their number.

use std::sync::atomic::{AtomicU64, Ordering};

/// An extra call, in the unit of [`ExtraCalls::saved`].
const ONE: u64 = 1_000_000;
/// Most extra calls that are saved for later. All of them may run at once, when the whole server is slow.
const MAX_CALLS: u64 = 20;

/// The extra calls that may still be made.
#[derive(Debug)]
pub(super) struct ExtraCalls {
    /// What each call adds, in millionths of an extra call.
    added: u64,
    /// In millionths of an extra call.
    saved: AtomicU64,
}

impl ExtraCalls {
    /// At most this share of all calls, from 0 to 1. Nothing is saved yet.
    pub(super) fn new(share: f64) -> Self {
        Self { added: (share.clamp(0.0, 1.0) * ONE as f64) as u64, saved: AtomicU64::new(0) }
    }

    /// Counts a call.
    pub(super) fn count(&self) {
        let add = |saved: u64| Some((saved + self.added).min(MAX_CALLS * ONE));
        let _ = self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// Takes an extra call; `false` if there is none left.
    pub(super) fn take(&self) -> bool {
        self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |saved| saved.checked_sub(ONE)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_calls_are_a_share_of_all_calls_and_few_are_saved() {
        let extra = ExtraCalls::new(0.05);
        let mut taken = 0;
        for _ in 0..1000 {
            extra.count();
            taken += usize::from(extra.take());
        }
        assert_eq!(taken, 50);
        (0..1_000_000).for_each(|_| extra.count());
        assert_eq!((0..1000).filter(|_| extra.take()).count(), 20);
        let none = ExtraCalls::new(0.0);
        (0..1000).for_each(|_| none.count());
        assert!(!none.take());
    }
}
