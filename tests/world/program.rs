//! A seed → the steps of a world's clients: what each asks for, of which copy, and after which pause.

use crate::accounts::AccountOperation;
use crate::cells::CellOperation;
use crate::people::PersonOperation;
use crate::rooms::RoomOperation;
use serde_json::Value;
use std::time::Duration;

/// One operation of a client.
#[derive(Debug, Clone)]
pub struct Step {
    /// Its number in the world, from 1.
    pub number: usize,
    pub client: usize,
    /// The number of the copy that it asks.
    pub copy: usize,
    /// How long its client waits before it.
    pub pause: Duration,
    pub work: Work,
}

/// What a step asks for.
#[derive(Debug, Clone)]
pub enum Work {
    Cell(String, CellOperation),
    Account(AccountOperation),
    Person(PersonOperation),
    Room(RoomOperation),
}

impl Work {
    /// Its document and its variables.
    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Cell(id, operation) => operation.request(id),
            Self::Account(operation) => operation.request(),
            Self::Person(operation) => operation.request(),
            Self::Room(operation) => operation.request(),
        }
    }
}

/// The most steps of a world: the checker of histories tries their orders.
const MAX_STEPS: usize = 48;
pub const COPIES: usize = 2;

/// The steps of a world's clients.
pub fn program(rng: &mut fastrand::Rng, delay: u64) -> Vec<Step> {
    let (clients, steps) = (rng.usize(2..=5), rng.usize(4..=MAX_STEPS));
    // A world has few kinds of work, so that they meet.
    let kinds: Vec<u8> = (0..rng.usize(1..=3)).map(|_| rng.u8(..4)).collect();
    let cells = rng.usize(1..=3);
    let step = |position: usize| {
        let work = match kinds[rng.usize(..kinds.len())] {
            0 => Work::Cell(format!("c{}", rng.usize(..cells)), CellOperation::any(rng)),
            1 => Work::Account(AccountOperation::any(rng, position)),
            2 => Work::Person(PersonOperation::any(rng)),
            _ => Work::Room(RoomOperation::any(rng, position)),
        };
        let pause = Duration::from_micros(rng.u64(..=delay * 2000));
        Step { number: position + 1, client: rng.usize(..clients), copy: rng.usize(..COPIES), pause, work }
    };
    (0..steps).map(step).collect()
}
