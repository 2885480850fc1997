//! Diaries that only their owners see: to everybody else they are not there.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};

const USERS: [&str; 2] = ["ann", "ben"];

#[derive(Debug, Clone)]
pub struct DiaryOperation {
    pub user: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Begin(String),
    Write(String),
    Burn,
    Read,
}

impl DiaryOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        let kind = match rng.usize(..8) {
            0 | 1 => Kind::Begin(format!("b{position}")),
            2..4 => Kind::Write(format!("w{position}")),
            4 => Kind::Burn,
            _ => Kind::Read,
        };
        Self { user: USERS[rng.usize(..2)], kind }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match &self.kind {
            Kind::Begin(text) => {
                ("mutation ($t: String!) { w: beginDiary(id: \"d\", text: $t) { text } }", json!({ "t": text }))
            }
            Kind::Write(text) => {
                ("mutation ($t: String!) { w: writeDiary(id: \"d\", text: $t) { text } }", json!({ "t": text }))
            }
            Kind::Burn => ("mutation { w: burnDiary(id: \"d\") { text } }", json!({})),
            Kind::Read => ("{ w: diary(id: \"d\") { text } }", json!({})),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        USERS.into_iter().map(|user| Self { user, kind: Kind::Read })
    }
}

impl Sequential for DiaryOperation {
    /// Whose diary there is, and its text.
    type State = Option<(&'static str, String)>;

    fn apply(&self, diary: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (diary.clone(), CallerOutcome::Refused(code.to_owned()));
        let own = diary.as_ref().filter(|(owner, _)| *owner == self.user);
        let shown =
            |text: Option<&String>| CallerOutcome::Value(text.map_or(Value::Null, |text| json!({ "text": text })));
        let written = |text: &String| (Some((self.user, text.clone())), shown(Some(text)));
        match &self.kind {
            // That the key is taken is all that another learns.
            Kind::Begin(_) if diary.is_some() => refused("CONFLICT"),
            Kind::Begin(text) => written(text),
            Kind::Write(_) if own.is_none() => refused("NOT_FOUND"),
            Kind::Write(text) => written(text),
            Kind::Burn if own.is_some() => (None, shown(own.map(|(_, text)| text))),
            Kind::Burn => (diary.clone(), shown(None)),
            Kind::Read => (diary.clone(), shown(own.map(|(_, text)| text))),
        }
    }
}
