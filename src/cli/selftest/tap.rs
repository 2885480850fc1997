//! The attempts of a store's calls in; a record of them, their units, and lost answers out. Must not know who asks.

use crate::cli::goldens::stock::is_write;
use crate::table::embedded::observer::sorted;
use crate::table::wire::Wire;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The most calls that are recorded of a case. More fail it.
const MAX_CALLS: usize = 1_000;

/// What calls took.
#[derive(Debug, Default, Clone, Copy)]
pub struct Usage {
    /// Attempts of calls.
    pub calls: u64,
    /// Read capacity units.
    pub read_units: f64,
    /// Write capacity units. A refused write counts as one, because its answer does not say what it took.
    pub write_units: f64,
}

/// Counts what the calls of several stores take.
#[derive(Debug, Default)]
pub struct Meter {
    usage: Mutex<Usage>,
}

impl Meter {
    /// What the calls took so far.
    pub fn usage(&self) -> Usage {
        *locked(&self.usage)
    }
}

/// Which answers get lost.
#[derive(Debug)]
struct Losses {
    rng: fastrand::Rng,
    /// Of a hundred writes.
    percent: u8,
}

/// Sees the calls of one store.
#[derive(Debug)]
pub struct Tap {
    meter: Arc<Meter>,
    calls: Mutex<Vec<(String, Value)>>,
    losses: Option<Mutex<Losses>>,
}

impl Tap {
    /// Records calls until they are taken.
    pub fn recording(meter: Arc<Meter>) -> Self {
        Self { meter, calls: Mutex::default(), losses: None }
    }

    /// Records nothing, and loses the answers of this share of the writes. The seed decides which.
    pub fn losing(meter: Arc<Meter>, percent: u8, seed: u64) -> Self {
        let losses = Losses { rng: fastrand::Rng::with_seed(seed), percent };
        Self { losses: Some(Mutex::new(losses)), ..Self::recording(meter) }
    }

    /// Takes the calls that were recorded so far, in the order in which they began: operation and body.
    pub fn take(&self) -> Vec<(String, Value)> {
        std::mem::take(&mut *locked(&self.calls))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire for Tap {
    fn sent(&self, operation: &str, body: &[u8]) {
        locked(&self.meter.usage).calls += 1;
        let mut calls = locked(&self.calls);
        if self.losses.is_none() && calls.len() < MAX_CALLS {
            calls.push((operation.to_owned(), sorted(body)));
        }
    }

    fn arrives(&self, operation: &str, units: Option<f64>) -> bool {
        let is_write = is_write(operation);
        {
            let mut usage = locked(&self.meter.usage);
            match is_write {
                true => usage.write_units += units.unwrap_or(1.0),
                false => usage.read_units += units.unwrap_or_default(),
            }
        }
        let Some(losses) = self.losses.as_ref().filter(|_| is_write) else { return true };
        let mut losses = locked(losses);
        let percent = losses.percent;
        losses.rng.u8(..100) >= percent
    }
}
