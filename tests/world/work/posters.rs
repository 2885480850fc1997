//! A poster of which each wall has a replica: a write changes all of them together.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub enum PosterOperation {
    Put(String),
    Set(String),
    Remove,
    /// By the reader with this number, who reads the same replica each time.
    Read(usize),
}

impl PosterOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        match rng.usize(..8) {
            0 | 1 => Self::Put(format!("p{position}")),
            2..4 => Self::Set(format!("s{position}")),
            4 => Self::Remove,
            _ => Self::Read(rng.usize(..6)),
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Put(text) => ("mutation ($t: String!) { w: putPoster(id: \"w\", text: $t) }", json!({ "t": text })),
            Self::Set(text) => ("mutation ($t: String!) { w: setPoster(id: \"w\", text: $t) }", json!({ "t": text })),
            Self::Remove => ("mutation { w: removePoster(id: \"w\") { text } }", json!({})),
            Self::Read(reader) => (
                "query ($r: ID!) { w: poster(id: \"w\", replica: $r) { text } }",
                json!({ "r": format!("reader {reader}") }),
            ),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        (0..6).map(Self::Read)
    }
}

impl Sequential for PosterOperation {
    type State = Option<String>;

    fn apply(&self, poster: &Self::State) -> (Self::State, CallerOutcome) {
        let shown = |text: &Option<String>| {
            CallerOutcome::Value(text.as_ref().map_or(Value::Null, |text| json!({ "text": text })))
        };
        match self {
            Self::Put(text) => (Some(text.clone()), CallerOutcome::Done),
            Self::Set(_) if poster.is_none() => (None, CallerOutcome::Refused("NOT_FOUND".to_owned())),
            Self::Set(text) => (Some(text.clone()), CallerOutcome::Done),
            Self::Remove => (None, shown(poster)),
            Self::Read(_) => (poster.clone(), shown(poster)),
        }
    }
}
