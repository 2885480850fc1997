//! What a store's attempts pass on their way in, what is seen of them there out. Must not know who makes them.

use std::fmt::Debug;

/// Stands between a store and what answers it, below all repetitions: `keyfold selftest` records calls there, counts
/// their units, and loses answers.
pub trait Wire: Debug + Send + Sync {
    /// An attempt is sent: the operation (`GetItem` …) and its JSON.
    fn sent(&self, operation: &str, body: &[u8]);

    /// Its answer is on its way, with the capacity units consumed; `None` is a refusal, or no answer. Gives whether it
    /// arrives. An answer that does not is as if the connection had broken.
    fn arrives(&self, operation: &str, units: Option<f64>) -> bool;
}
