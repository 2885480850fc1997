//! Gives memory that large answers have used back to the system, once they are sent.
//!
//! glibc keeps what is freed for the next request, and gives back only what lies at the end of an arena: after 32
//! answers of 10,000 objects, a process kept 80 MB of which it used 20 (docs/measurements.md). `malloc_trim` gives back
//! every free page. It takes milliseconds, so it runs once such answers have ended, and on a thread of its own.

use super::current_gateway::CurrentGateway;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::{MissedTickBehavior, interval};

/// How often it is looked at what operations hold.
const EVERY: Duration = Duration::from_secs(1);
/// As many bytes that large operations have freed are worth the work, once they have ended.
const MUCH: u64 = 16 << 20;
/// As many are worth it while others run.
const VERY_MUCH: u64 = 1 << 30;

/// Gives freed memory back whenever large operations have freed much and none has freed anything for a second.
pub async fn give_back(gateway: Arc<CurrentGateway>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut before, mut given_back) = (0, 0);
    loop {
        ticks.tick().await;
        let freed = gateway.get().freed_bytes();
        // Another gateway counts anew.
        given_back = if freed < before { 0 } else { given_back };
        let waiting = freed - given_back;
        if (freed == before && waiting >= MUCH) || waiting >= VERY_MUCH {
            given_back = freed;
            let _ = spawn_blocking(trim).await;
        }
        before = freed;
    }
}

/// Gives the free pages of all arenas back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code)]
fn trim() {
    // SAFETY: it takes no pointer, and any thread may call it at any time (malloc_trim(3), "Attributes").
    let has_given = unsafe { libc::malloc_trim(0) } == 1;
    tracing::debug!(has_given, "freed memory goes back to the system");
}

/// Other allocators give memory back by themselves.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim() {}
