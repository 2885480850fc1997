//! People with unique names: each name is in a guard beside its person, in one transaction.

use super::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const PEOPLE: [&str; 3] = ["p", "q", "r"];
const NAMES: [&str; 3] = ["ada", "bo", "cy"];

/// An operation on people.
#[derive(Debug, Clone)]
pub enum PersonOperation {
    /// Creates a person with a name.
    Join(&'static str, &'static str),
    /// Gives a person another name.
    Rename(&'static str, &'static str),
    /// Deletes a person.
    Leave(&'static str),
    /// Reads a person.
    Read(&'static str),
}

impl PersonOperation {
    /// Any operation.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let (id, name) = (PEOPLE[rng.usize(..3)], NAMES[rng.usize(..3)]);
        match rng.usize(..8) {
            0..3 => Self::Join(id, name),
            3..5 => Self::Rename(id, name),
            5 | 6 => Self::Leave(id),
            _ => Self::Read(id),
        }
    }

    /// Its document and its variables. The result is `w`.
    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Join(id, name) => {
                ("mutation ($id: ID!, $n: String!) { w: join(id: $id, name: $n) }", json!({ "id": id, "n": name }))
            }
            Self::Rename(id, name) => {
                ("mutation ($id: ID!, $n: String!) { w: rename(id: $id, name: $n) }", json!({ "id": id, "n": name }))
            }
            Self::Leave(id) => ("mutation ($id: ID!) { w: leave(id: $id) { name } }", json!({ "id": id })),
            Self::Read(id) => ("query ($id: ID!) { w: person(id: $id) { name } }", json!({ "id": id })),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        PEOPLE.into_iter().map(Self::Read)
    }
}

impl Sequential for PersonOperation {
    type State = BTreeMap<&'static str, &'static str>;

    fn apply(&self, people: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (people.clone(), CallerOutcome::Refused(code.to_owned()));
        let is_taken = |id: &str, name: &str| people.iter().any(|(other, taken)| *other != id && *taken == name);
        let mut after = people.clone();
        match self {
            Self::Join(id, name) if people.contains_key(id) || is_taken(id, name) => refused("CONFLICT"),
            Self::Rename(id, _) if !people.contains_key(id) => refused("NOT_FOUND"),
            Self::Rename(id, name) if is_taken(id, name) => refused("CONFLICT"),
            Self::Join(id, name) | Self::Rename(id, name) => {
                after.insert(id, name);
                (after, CallerOutcome::Done)
            }
            Self::Leave(id) => {
                let left = after.remove(id).map_or(Value::Null, |name| json!({ "name": name }));
                (after, CallerOutcome::Value(left))
            }
            Self::Read(id) => {
                let shown = people.get(id).map_or(Value::Null, |name| json!({ "name": name }));
                (after, CallerOutcome::Value(shown))
            }
        }
    }
}
