//! A seed → how bad a world is: what the network and the store do to calls, and how often copies die.

use crate::store::chance::{Chance, TransactionFate};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// How late a message on the bus is at most, in microseconds.
const LATEST_MESSAGE: u64 = 3_000_000;

/// How bad a world is. Of each, some worlds have none.
#[derive(Debug, Clone, Copy)]
pub struct Weather {
    /// Of a thousand writes: how many lose their answer, arrive late, or never arrive.
    pub lost: u32,
    /// Of a thousand calls: how many the store refuses because it is busy, or fails.
    pub refused: u32,
    /// The most milliseconds that a call is on its way, there and back.
    pub delay: u64,
    /// The most milliseconds by which eventually consistent reads and indexes lag.
    pub lag: u64,
    /// The most milliseconds between two deaths of a copy; 0 is never.
    pub deaths: u64,
    /// Of a thousand calls: how many meet another transaction.
    pub conflicts: u32,
    /// By how many milliseconds the clock of the second copy is ahead.
    pub skew: i64,
    /// By how many milliseconds the clock of the streams is behind.
    pub stream_behind: i64,
    /// What the clock of the streams rounds down to, in milliseconds.
    pub stream_rounded: u64,
    /// The most milliseconds between two splits of the stream; 0 is never.
    pub splits: u64,
    /// How long the table is too busy for any call at first, in milliseconds.
    pub busy: u64,
    /// Of a thousand steps: how many are those of a client that leaves before it is answered.
    pub leaving: u32,
    /// Of a thousand messages on the bus over which copies share streams: how many are lost, repeated or late. `None`
    /// if there is no bus.
    pub bus: Option<u32>,
    /// The most milliseconds after which the bus leaves a copy, or comes back to it; 0 is never.
    pub bus_away: u64,
}

impl Weather {
    /// That of a seed.
    pub fn new(rng: &mut fastrand::Rng) -> Self {
        let mut one = |choices: &[u32]| choices[rng.usize(..choices.len())];
        let weather = Self {
            lost: one(&[0, 20, 150, 400]),
            refused: one(&[0, 10, 100, 300]),
            delay: one(&[1, 8, 60, 900]).into(),
            lag: one(&[0, 5, 500, 3000]).into(),
            deaths: one(&[0, 0, 2000, 400]).into(),
            conflicts: one(&[0, 0, 50, 200]),
            skew: i64::from(one(&[0, 0, 700, 4000])) - i64::from(one(&[0, 0, 1500])),
            stream_behind: one(&[0, 0, 5000]).into(),
            stream_rounded: one(&[1, 1000, 60_000]).into(),
            splits: one(&[0, 3000]).into(),
            busy: one(&[0, 0, 0, 0, 0, 0, 2500, 12_000]).into(),
            leaving: one(&[0, 0, 50, 300]),
            bus: [None, Some(0), Some(100), Some(400)][one(&[0, 0, 0, 0, 0, 0, 1, 2, 3]) as usize],
            bus_away: one(&[0, 0, 3000]).into(),
        };
        let ahead = i64::from(one(&[0, 0, 0, 4000, 60_000]));
        Self { stream_behind: weather.stream_behind - ahead, ..weather }
    }

    /// What happens to a call of the operation.
    pub fn fate(&self, operation: &str, rng: &mut fastrand::Rng) -> Fate {
        let writes =
            ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"].contains(&operation);
        let before = Duration::from_micros(rng.u64(..=self.delay * 1000));
        let after = Duration::from_micros(rng.u64(..=self.delay * 1000));
        let course = match rng.u32(..1000) {
            dice if dice < self.refused => [Course::Busy, Course::Failing][rng.usize(..2)],
            dice if dice < self.refused + if writes { self.lost } else { self.lost / 4 } => {
                let late = Course::Late(Duration::from_millis(rng.u64(1..=self.delay * 4)));
                let course = [Course::NotMade, Course::Reset, Course::Failed, Course::Silent, late][rng.usize(..5)];
                // docs/guarantees.md, "What is assumed".
                if operation == "TransactWriteItems" && course == late { Course::NotMade } else { course }
            }
            _ => Course::Answered,
        };
        Fate { before, course, after }
    }

    /// After how long a message on the bus is heard, each time that it is.
    pub fn arrivals(&self, rng: &mut fastrand::Rng) -> Vec<Duration> {
        let late = Duration::from_micros(rng.u64(1..=LATEST_MESSAGE));
        match (rng.u32(..1000) < self.bus.unwrap_or_default(), rng.u8(..3)) {
            (false, _) => vec![Duration::ZERO],
            (true, 0) => Vec::new(),
            (true, 1) => vec![Duration::ZERO, late],
            (true, _) => vec![late],
        }
    }
}

/// What happens to a call: how long it is on its way there and back, and what comes of it.
#[derive(Debug, Clone, Copy)]
pub struct Fate {
    pub before: Duration,
    pub course: Course,
    pub after: Duration,
}

impl Fate {
    /// What happens to every call once a world is calm.
    pub const CALM: Self =
        Self { before: Duration::from_millis(1), course: Course::Answered, after: Duration::from_millis(1) };
}

/// What comes of a call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Course {
    Answered,
    /// The store is too busy to make it, and says so.
    Busy,
    /// The store fails before it makes it, and says so.
    Failing,
    /// It never arrives, and the connection breaks.
    NotMade,
    /// It is made, and the connection breaks.
    Reset,
    /// It is made, and the answer is that the store has failed.
    Failed,
    /// It is made, and no answer comes.
    Silent,
    /// The connection breaks, and it is made so much later.
    Late(Duration),
}

/// A generator of its own for something in a world, so that less of the world changes with it.
pub fn rng_for(seed: u64, what: impl Hash) -> fastrand::Rng {
    // Its keys are constants.
    let mut hasher = DefaultHasher::new();
    (seed, what).hash(&mut hasher);
    fastrand::Rng::with_seed(hasher.finish())
}

/// What the store leaves to the world, for one call.
pub struct CallChance {
    pub weather: Weather,
    pub rng: fastrand::Rng,
}

impl Chance for CallChance {
    fn most_lag(&self) -> u64 {
        self.weather.lag
    }

    fn lag(&mut self, most: u64) -> u64 {
        self.rng.u64(..=most)
    }

    fn processed(&mut self, parts: usize) -> usize {
        if self.rng.u32(..1000) < self.weather.refused { self.rng.usize(1..=parts.max(1)) } else { parts }
    }

    fn delivered(&mut self, records: usize) -> usize {
        if self.rng.bool() { records } else { self.rng.usize(..=records) }
    }

    fn transaction(&mut self, actions: usize) -> TransactionFate {
        match self.rng.u32(..1000) {
            dice if dice < self.weather.conflicts => TransactionFate::Conflict(self.rng.usize(..actions)),
            _ => TransactionFate::Alone,
        }
    }

    fn conflicts(&mut self) -> bool {
        self.rng.u32(..1000) < self.weather.conflicts
    }
}
