//! Repositories whose counter gives out the numbers of their issues: what `@find` found goes into the write.

use crate::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub enum CounterOperation {
    Found,
    /// With a title that has this number.
    Open(usize),
    Read,
}

impl CounterOperation {
    pub fn any(rng: &mut fastrand::Rng, position: usize) -> Self {
        match rng.usize(..6) {
            0 => Self::Found,
            5 => Self::Read,
            _ => Self::Open(position),
        }
    }

    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Found => ("mutation { w: found(name: \"r\", nextNumber: 1) }", json!({})),
            Self::Open(title) => {
                let query = "mutation ($t: String!) { w: openIssue(name: \"r\", title: $t) { number } }";
                (query, json!({ "t": text(*title) }))
            }
            Self::Read => ("{ w: repo(name: \"r\") { nextNumber issues { number title } } }", json!({})),
        }
    }
}

fn text(title: usize) -> String {
    format!("i{title}")
}

impl Sequential for CounterOperation {
    /// The titles of the issues, in the order of their numbers.
    type State = Option<Vec<usize>>;

    fn apply(&self, issues: &Self::State) -> (Self::State, CallerOutcome) {
        match (self, issues) {
            (Self::Found, None) => (Some(Vec::new()), CallerOutcome::Done),
            (Self::Found, Some(_)) => (issues.clone(), CallerOutcome::Refused("CONFLICT".to_owned())),
            (Self::Open(_), None) => (None, CallerOutcome::Refused("NOT_FOUND".to_owned())),
            (Self::Open(title), Some(issues)) => {
                let after = [issues.as_slice(), &[*title]].concat();
                let number = after.len();
                (Some(after), CallerOutcome::Value(json!({ "number": number })))
            }
            (Self::Read, None) => (None, CallerOutcome::Value(Value::Null)),
            (Self::Read, Some(titles)) => {
                let issue =
                    |(position, title): (usize, &usize)| json!({ "number": position + 1, "title": text(*title) });
                let list: Vec<Value> = titles.iter().enumerate().map(issue).collect();
                let shown = json!({ "nextNumber": titles.len() + 1, "issues": list });
                (issues.clone(), CallerOutcome::Value(shown))
            }
        }
    }
}
