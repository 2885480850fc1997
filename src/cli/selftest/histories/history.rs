//! What callers were given by operations on one state → whether some order of the operations explains it: each takes
//! effect once, between its beginning and its end. One whose outcome was left open takes effect once after its
//! beginning, or never.
//!
//! The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993), with Lowe's memory of
//! visited states.

use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// An operation on a state that only it sees.
pub trait Sequential {
    /// What it acts on.
    type State: Clone + Eq + Hash + Default + Debug;

    /// What it makes of the state, and what its caller gets.
    fn apply(&self, state: &Self::State) -> (Self::State, CallerOutcome);
}

/// What the caller of an operation gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallerOutcome {
    /// It was done.
    Done,
    /// What it reads.
    Value(Value),
    /// The code of its error, such as `CONFLICT`. Of what must come, several codes that may.
    Refused(String),
    /// The change may have been made, or no answer came.
    Open,
}

impl CallerOutcome {
    /// Whether this may come as that.
    fn allows(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Refused(codes), Self::Refused(code)) => codes.split(' ').any(|one| one == code),
            _ => self == other,
        }
    }
}

/// An operation with its times.
#[derive(Debug, Clone)]
pub struct HistoryEvent<O> {
    /// When it began.
    pub begun: u64,
    /// When its caller had the outcome.
    pub ended: u64,
    /// What was asked for.
    pub operation: O,
    /// What its caller got.
    pub outcome: CallerOutcome,
}

/// What the search found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Explanation {
    /// An order explains the events.
    Explained,
    /// None does.
    NotExplained,
    /// The search has no end within its bound.
    Undecided,
}

/// The most events of a search: each has a bit.
const MAX_EVENTS: usize = 128;

/// Whether some order explains the events of a state that is the default at first. More than 128 are
/// undecided. The search visits at most so many states.
pub fn explain<O: Sequential>(events: &[HistoryEvent<O>], most: usize) -> Explanation {
    if events.len() > MAX_EVENTS {
        return Explanation::Undecided;
    }
    let mut search = Search { events, most, seen: HashSet::new() };
    match search.go_on(0, &O::State::default()) {
        true => Explanation::Explained,
        false if search.seen.len() >= most => Explanation::Undecided,
        false => Explanation::NotExplained,
    }
}

struct Search<'e, O: Sequential> {
    events: &'e [HistoryEvent<O>],
    most: usize,
    seen: HashSet<(u128, O::State)>,
}

impl<O: Sequential> Search<'_, O> {
    /// `done` has a bit for each event that has taken effect.
    fn go_on(&mut self, done: u128, state: &O::State) -> bool {
        let events = self.events;
        let left = || events.iter().enumerate().filter(|(position, _)| done & (1 << position) == 0);
        let is_open = |event: &HistoryEvent<O>| event.outcome == CallerOutcome::Open;
        if left().all(|(_, event)| is_open(event)) {
            return true;
        }
        if self.seen.len() >= self.most || !self.seen.insert((done, state.clone())) {
            return false;
        }
        // What began after another one's end comes after it.
        let ends = left().filter(|(_, event)| !is_open(event)).map(|(_, event)| event.ended);
        let first_end = ends.min().unwrap_or(u64::MAX);
        // What is known to have been made comes first: mostly, an open operation was made at once or never.
        let (open, made): (Vec<_>, Vec<_>) =
            left().filter(|(_, event)| event.begun < first_end).partition(|(_, event)| is_open(event));
        made.into_iter().chain(open).any(|(position, event)| {
            let (after, outcome) = event.operation.apply(state);
            // An open operation without an effect explains nothing.
            let counts = if is_open(event) { after != *state } else { outcome.allows(&event.outcome) };
            counts && self.go_on(done | (1 << position), &after)
        })
    }
}
