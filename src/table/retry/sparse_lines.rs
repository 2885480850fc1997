//! Failures in; out: whether each has a line in the log. A table that fails does so for every request, and a line for
//! each would bury all others.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time between two lines of one kind.
const EVERY: Duration = Duration::from_secs(1);

/// The lines of each kind. The kinds are few, and known when the program is written.
#[derive(Debug)]
pub struct SparseLines<K> {
    kinds: Mutex<Vec<LineRecord<K>>>,
}

#[derive(Debug)]
struct LineRecord<K> {
    kind: K,
    last: Instant,
    since: u64,
}

impl<K: Copy + PartialEq> Default for SparseLines<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Copy + PartialEq> SparseLines<K> {
    /// None yet.
    pub const fn new() -> Self {
        Self { kinds: Mutex::new(Vec::new()) }
    }

    /// Whether a failure of this kind has a line: one a second has. Gives how many have had none since the line before.
    pub fn take_line(&self, kind: K) -> Option<u64> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(line) = kinds.iter_mut().find(|line| line.kind == kind) else {
            kinds.push(LineRecord { kind, last: Instant::now(), since: 0 });
            return Some(0);
        };
        if line.last.elapsed() < EVERY {
            line.since += 1;
            return None;
        }
        line.last = Instant::now();
        Some(std::mem::take(&mut line.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn each_kind_has_a_line_a_second_with_the_number_of_those_without() {
        let lines = SparseLines::new();
        assert_eq!(
            [lines.take_line("a"), lines.take_line("b"), lines.take_line("a"), lines.take_line("a")],
            [Some(0), Some(0), None, None]
        );
        advance(EVERY).await;
        assert_eq!([lines.take_line("a"), lines.take_line("a"), lines.take_line("b")], [Some(2), None, Some(0)]);
        let logged = (0..6_000).filter(|_| lines.take_line("a").is_some()).count();
        assert_eq!(logged, 0);
        advance(EVERY * 10).await;
        assert_eq!(lines.take_line("a"), Some(6_001));
    }
}
