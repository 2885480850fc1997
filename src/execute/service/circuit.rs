//! A circuit: after failures in a row, calls fail at once for a while, so that requests do not wait for a service that
//! is down. Then one call tries it again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// As many failures in a row open it.
const FAILURES: u32 = 5;
/// How long it is open at first. Each failed try doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// The longest time that it is open.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The circuit of a service.
#[derive(Debug, Default)]
pub struct Circuit {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// When a call may try again; `None` while calls are made.
    opens: Option<Instant>,
    pause: Duration,
    /// Whether a call tries again. The failures of calls that began before do not count then.
    tries: bool,
}

impl Circuit {
    /// Whether it is open, so that a call need not wait for its turn.
    pub fn is_open(&self, now: Instant) -> bool {
        self.state().opens.is_some_and(|opens| now < opens)
    }

    /// Whether a call may be made now. When the pause has ended, the first call may, and others wait for its outcome
    /// for another pause.
    pub fn lets_through(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.opens {
            None => true,
            Some(opens) if now < opens => false,
            Some(_) => {
                state.opens = Some(now + state.pause);
                state.tries = true;
                true
            }
        }
    }

    /// A call was answered.
    pub fn answered(&self) {
        *self.state() = State::default();
    }

    /// A call was not answered. Gives whether that has opened the circuit.
    pub fn failed(&self, now: Instant) -> bool {
        let mut state = self.state();
        let was_open = state.opens.is_some();
        if was_open && !std::mem::take(&mut state.tries) {
            return false;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures < FAILURES {
            return false;
        }
        state.pause = if was_open { (state.pause * 2).min(LONGEST_PAUSE) } else { FIRST_PAUSE };
        state.opens = Some(now + state.pause);
        !was_open
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_service_that_is_down_is_tried_by_one_call_after_each_pause() {
        let circuit = Circuit::default();
        for _ in 0..FAILURES {
            assert!(circuit.lets_through(Instant::now()));
            circuit.failed(Instant::now());
        }
        for pause in [1, 2, 4, 8, 16, 30, 30] {
            assert!(!circuit.lets_through(Instant::now()));
            tokio::time::advance(Duration::from_secs(pause)).await;
            assert!(circuit.lets_through(Instant::now()), "after {pause} s");
            assert!(!circuit.lets_through(Instant::now()), "another call waits for the first one's outcome");
            circuit.failed(Instant::now());
        }
        tokio::time::advance(LONGEST_PAUSE).await;
        assert!(circuit.lets_through(Instant::now()));
        circuit.answered();
        assert!((0..100).all(|_| circuit.lets_through(Instant::now())));
    }
}
