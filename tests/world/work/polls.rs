//! Polls that count in maps by key, and in an object that a write makes: whoever made the map, the entry or the object,
//! each count is there once.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const POLLS: [&str; 2] = ["e", "f"];
/// The keys of entries: one looks like a path.
const CHOICES: [&str; 3] = ["yes", "no.at#all", "Ä[0]"];

/// An operation that shows the whole poll.
macro_rules! whole {
    ($begin:literal) => {
        concat!($begin, " { votes { choice count last } visits { choice count } place { town moves } } }")
    };
}

/// A poll as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Poll {
    /// By choice: how many votes, and whose was the last. `None` without a map.
    votes: Option<BTreeMap<&'static str, (i64, Option<usize>)>>,
    /// By choice: how many visits.
    visits: Option<BTreeMap<&'static str, i64>>,
    /// The town of the last move, and how many moves there were.
    place: Option<(usize, i64)>,
}

#[derive(Debug, Clone)]
pub struct PollOperation {
    id: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Open,
    /// Counts in an object, which tells the step of the last vote.
    Vote(&'static str, usize),
    /// Counts in a number.
    Visit(&'static str),
    /// Counts in an object that is no entry of a map.
    Move(usize),
    /// Puts an entry that is not there yet.
    Offer(&'static str, i64),
    /// Puts an entry, whatever is there.
    Correct(&'static str, i64),
    Strike(&'static str),
    Shut,
    Read,
}

impl Poll {
    fn json(&self) -> Value {
        let votes = self.votes.as_ref().map(|votes| {
            let vote = |(choice, (count, last)): (&&str, &(i64, Option<usize>))| {
                json!({ "choice": choice, "count": count, "last": last.map(name) })
            };
            votes.iter().map(vote).collect::<Value>()
        });
        let visits = self.visits.as_ref().map(|visits| {
            visits.iter().map(|(choice, count)| json!({ "choice": choice, "count": count })).collect::<Value>()
        });
        let place = self.place.map(|(town, moves)| json!({ "town": name(town), "moves": moves }));
        json!({ "votes": votes, "visits": visits, "place": place })
    }
}

fn name(position: usize) -> String {
    format!("s{position}")
}

impl PollOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let choice = CHOICES[rng.usize(..3)];
        let kind = match rng.usize(..20) {
            0 | 1 => Kind::Open,
            2..8 => Kind::Vote(choice, position),
            8..12 => Kind::Visit(choice),
            12..15 => Kind::Move(position),
            15 => Kind::Offer(choice, rng.i64(1..=9)),
            16 => Kind::Correct(choice, rng.i64(1..=9)),
            17 => Kind::Strike(choice),
            18 => Kind::Shut,
            _ => Kind::Read,
        };
        Self { id: POLLS[rng.usize(..2)], kind }
    }

    pub fn request(&self) -> (&'static str, Value) {
        let id = self.id;
        let with = |choice: &str, more: Value| json!({ "i": id, "c": choice, "m": more });
        match &self.kind {
            Kind::Open => ("mutation ($i: ID!) { w: openPoll(id: $i) }", json!({ "i": id })),
            Kind::Vote(choice, position) => (
                whole!("mutation ($i: ID!, $c: String!, $m: String!) { w: vote(id: $i, choice: $c, by: $m)"),
                with(choice, json!(name(*position))),
            ),
            Kind::Visit(choice) => (
                whole!("mutation ($i: ID!, $c: String!) { w: visitPoll(id: $i, choice: $c)"),
                json!({ "i": id, "c": choice }),
            ),
            Kind::Move(position) => (
                whole!("mutation ($i: ID!, $m: String!) { w: movePoll(id: $i, town: $m)"),
                json!({ "i": id, "m": name(*position) }),
            ),
            Kind::Offer(choice, count) => (
                "mutation ($i: ID!, $c: String!, $m: Int!) { w: offer(id: $i, choice: $c, count: $m) }",
                with(choice, json!(count)),
            ),
            Kind::Correct(choice, count) => (
                "mutation ($i: ID!, $c: String!, $m: Int!) { w: correct(id: $i, choice: $c, count: $m) }",
                with(choice, json!(count)),
            ),
            Kind::Strike(choice) => {
                ("mutation ($i: ID!, $c: String!) { w: strike(id: $i, choice: $c) }", json!({ "i": id, "c": choice }))
            }
            Kind::Shut => (whole!("mutation ($i: ID!) { w: shutPoll(id: $i)"), json!({ "i": id })),
            Kind::Read => (whole!("query ($i: ID!) { w: poll(id: $i)"), json!({ "i": id })),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        POLLS.into_iter().map(|id| Self { id, kind: Kind::Read })
    }
}

/// What a change of a poll gives: the poll after it, or its code.
enum Changed {
    Shown(Poll),
    Done(Poll),
    Refused(&'static str),
}

impl Kind {
    /// What it makes of a poll that is there.
    fn change(&self, mut poll: Poll) -> Changed {
        match self {
            Self::Open => return Changed::Refused("CONFLICT"),
            Self::Vote(choice, position) => {
                let (count, last) = poll.votes.get_or_insert_default().entry(choice).or_default();
                (*count, *last) = (*count + 1, Some(*position));
            }
            Self::Visit(choice) => *poll.visits.get_or_insert_default().entry(choice).or_default() += 1,
            Self::Move(town) => poll.place = Some((*town, poll.place.map_or(0, |(_, moves)| moves) + 1)),
            Self::Offer(choice, count) => {
                let votes = poll.votes.get_or_insert_default();
                if votes.contains_key(choice) {
                    return Changed::Refused("CONFLICT");
                }
                votes.insert(choice, (*count, None));
                return Changed::Done(poll);
            }
            Self::Correct(choice, count) => {
                poll.votes.get_or_insert_default().insert(choice, (*count, None));
                return Changed::Done(poll);
            }
            Self::Strike(choice) => {
                return match poll.votes.as_mut().and_then(|votes| votes.remove(choice)) {
                    Some(_) => Changed::Done(poll),
                    None => Changed::Refused("NOT_FOUND"),
                };
            }
            Self::Shut | Self::Read => {}
        }
        Changed::Shown(poll)
    }
}

impl Sequential for PollOperation {
    type State = BTreeMap<&'static str, Poll>;

    fn apply(&self, polls: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (polls.clone(), CallerOutcome::Refused(code.to_owned()));
        let mut after = polls.clone();
        let Some(poll) = polls.get(self.id) else {
            return match &self.kind {
                Kind::Open => {
                    after.insert(self.id, Poll::default());
                    (after, CallerOutcome::Done)
                }
                Kind::Shut | Kind::Read => (after, CallerOutcome::Value(Value::Null)),
                _ => refused("NOT_FOUND"),
            };
        };
        let (poll, outcome) = match self.kind.change(poll.clone()) {
            Changed::Refused(code) => return refused(code),
            Changed::Done(poll) => (poll, CallerOutcome::Done),
            Changed::Shown(poll) => {
                let shown = CallerOutcome::Value(poll.json());
                (poll, shown)
            }
        };
        match self.kind {
            Kind::Shut => _ = after.remove(self.id),
            _ => _ = after.insert(self.id, poll),
        }
        (after, outcome)
    }
}
