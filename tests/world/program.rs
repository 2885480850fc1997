//! A seed → the steps of a world's clients: what each asks for, of which copy, and after which pause.

use crate::weather::Weather;
use crate::work::Work;
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
    /// How long its client waits for the answer, if it leaves.
    pub patience: Option<Duration>,
    pub work: Work,
}

/// The most steps of a world: the checker of histories tries their orders.
const MAX_STEPS: usize = 48;
/// The longest pause before a step with a menu, besides that of the weather, in microseconds.
const MENU_PAUSE: u64 = 400_000;
/// The same before a step of a world with a bus.
const BUS_PAUSE: u64 = 2_000_000;
pub const COPIES: usize = 2;

/// The steps of a world's clients.
pub fn program(rng: &mut fastrand::Rng, weather: Weather) -> Vec<Step> {
    let delay = weather.delay;
    let (clients, steps) = (rng.usize(2..=5), rng.usize(4..=MAX_STEPS));
    // A world has few kinds of work, so that they meet.
    let mut later = fastrand::Rng::with_seed(rng.get_seed().rotate_left(17));
    let mut kinds: Vec<u8> = (0..rng.usize(1..=3)).map(|_| rng.u8(Work::FIRST)).collect();
    if later.u8(..4) == 0 {
        let place = later.usize(..kinds.len());
        kinds[place] = later.u8(Work::LATER);
    }
    if weather.bus.is_some() {
        kinds.push(Work::CELL);
    }
    let cells = rng.usize(1..=3);
    let step = |position: usize| {
        let kind = kinds[rng.usize(..kinds.len())];
        let work = Work::any(kind, rng, (position, cells));
        let longest = match work {
            // What copies keep must have the time to become old.
            Work::Menu(_) => delay * 2000 + MENU_PAUSE,
            // The copies must have the time to agree who reads.
            _ if weather.bus.is_some() => delay * 2000 + BUS_PAUSE,
            _ => delay * 2000,
        };
        let pause = Duration::from_micros(rng.u64(..=longest));
        let leaves = rng.u32(..1000) < weather.leaving;
        let patience = leaves.then(|| Duration::from_micros(rng.u64(..=delay * 6000)));
        Step { number: position + 1, client: rng.usize(..clients), copy: rng.usize(..COPIES), pause, patience, work }
    };
    (0..steps).map(step).collect()
}
