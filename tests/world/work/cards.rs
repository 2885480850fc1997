//! Cards that move between lists: by `move: true`, or carried by `@find`, `@put` and `@delete` in one transaction.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LISTS: [&str; 3] = ["todo", "doing", "done"];

#[derive(Debug, Clone)]
pub enum CardOperation {
    Add(&'static str),
    Vote(&'static str),
    Move(&'static str, &'static str),
    Carry(&'static str, &'static str),
    Read(&'static str),
}

impl CardOperation {
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let place = rng.usize(..3);
        let list = LISTS[place];
        match rng.usize(..8) {
            0 => Self::Add(list),
            1..4 => Self::Vote(list),
            4..7 => {
                let to = LISTS[(place + rng.usize(1..=2)) % 3];
                if rng.u8(..3) == 0 { Self::Carry(list, to) } else { Self::Move(list, to) }
            }
            _ => Self::Read(list),
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Add(list) => {
                ("mutation ($l: ID!) { w: addCard(listId: $l, id: \"k\") { votes } }", json!({ "l": list }))
            }
            Self::Vote(list) => {
                ("mutation ($l: ID!) { w: voteCard(listId: $l, id: \"k\") { votes } }", json!({ "l": list }))
            }
            Self::Move(from, to) => (
                "mutation ($a: ID!, $b: ID!) { w: moveCard(from: $a, to: $b, id: \"k\") { votes } }",
                json!({ "a": from, "b": to }),
            ),
            Self::Carry(from, to) => (
                "mutation ($a: ID!, $b: ID!) { w: carryCard(from: $a, to: $b, id: \"k\") { votes } }",
                json!({ "a": from, "b": to }),
            ),
            Self::Read(list) => ("query ($l: ID!) { w: card(listId: $l, id: \"k\") { votes } }", json!({ "l": list })),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        LISTS.into_iter().map(Self::Read)
    }
}

impl Sequential for CardOperation {
    /// The votes of the card in each list that has it.
    type State = BTreeMap<&'static str, i64>;

    fn apply(&self, cards: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (cards.clone(), CallerOutcome::Refused(code.to_owned()));
        let mut after = cards.clone();
        let votes = |votes: i64| CallerOutcome::Value(json!({ "votes": votes }));
        match self {
            Self::Add(list) if cards.contains_key(list) => refused("CONFLICT"),
            Self::Add(list) => {
                after.insert(list, 0);
                (after, votes(0))
            }
            Self::Vote(list) => match after.get_mut(list) {
                None => refused("NOT_FOUND"),
                Some(count) => {
                    *count += 1;
                    let count = *count;
                    (after, votes(count))
                }
            },
            Self::Move(from, to) | Self::Carry(from, to) => match after.remove(from) {
                None => refused("NOT_FOUND"),
                Some(_) if cards.contains_key(to) => refused("CONFLICT"),
                Some(count) => {
                    after.insert(to, count);
                    (after, votes(count))
                }
            },
            Self::Read(list) => {
                (after, cards.get(list).map_or(CallerOutcome::Value(Value::Null), |count| votes(*count)))
            }
        }
    }
}
