//! How often a cache answers, and how often it drops what it held. Must not know what it holds.

use quick_cache::Lifecycle;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the look-ups of a cache; copies count together. As the cache's lifecycle, it counts what the cache drops
/// because it is full.
#[derive(Debug, Clone, Default)]
pub struct CacheCounter(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    hits: AtomicU64,
    misses: AtomicU64,
    evictions: AtomicU64,
}

/// What a cache has done so far, and what it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheCounts {
    /// Look-ups that it answered.
    pub hits: u64,
    /// Look-ups that it did not answer.
    pub misses: u64,
    /// Entries that it dropped because it was full.
    pub evictions: u64,
    /// What it holds, in bytes, about.
    pub bytes: u64,
}

impl CacheCounter {
    /// Counts a look-up.
    pub fn look_up(&self, is_hit: bool) {
        if is_hit { &self.0.hits } else { &self.0.misses }.fetch_add(1, Ordering::Relaxed);
    }

    /// The counts so far, of a cache that holds this many bytes.
    pub fn counts(&self, bytes: u64) -> CacheCounts {
        let Counts { hits, misses, evictions } = &*self.0;
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CacheCounts { hits: read(hits), misses: read(misses), evictions: read(evictions), bytes }
    }
}

impl<K, V> Lifecycle<K, V> for CacheCounter {
    type RequestState = ();

    fn on_evict(&self, (): &mut (), _: K, _: V) {
        self.0.evictions.fetch_add(1, Ordering::Relaxed);
    }
}
