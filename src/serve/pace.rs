//! The bytes that a peer has sent of a body or a message in; the time by which it must send more out.

use std::time::Duration;
use tokio::time::Instant;

/// How long a peer may take before its speed counts.
const UNMEASURED_START: Duration = Duration::from_secs(2);
/// The lowest speed of a sender: this many bytes in each millisecond, about 1 KiB a second. A phone at the edge of a
/// network sends ten times as fast.
const BYTES_PER_MILLISECOND: u64 = 1;

/// The time by which the next bytes must arrive, for a message that began then and has this many bytes. It may take
/// `longest` in total.
pub fn next_bytes_by(began: Instant, bytes: usize, longest: Duration) -> Instant {
    let earned = UNMEASURED_START + Duration::from_millis(bytes as u64 / BYTES_PER_MILLISECOND);
    began + earned.min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_byte_earns_time_up_to_the_bound() {
        let (began, seconds) = (Instant::now(), Duration::from_secs);
        assert_eq!(next_bytes_by(began, 0, seconds(10)), began + seconds(2));
        assert_eq!(next_bytes_by(began, 3_000, seconds(10)), began + seconds(5));
        assert_eq!(next_bytes_by(began, 2 << 20, seconds(10)), began + seconds(10));
        assert_eq!(next_bytes_by(began, 0, seconds(1)), began + seconds(1));
    }
}
