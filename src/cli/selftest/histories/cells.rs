//! Cells: one type with every kind of single write, what each makes of a cell, and how it is asked for.

use super::history::{CallerOutcome, Sequential};
use serde_json::{Value, json};

/// A cell as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Cell {
    /// The value.
    pub value: String,
    /// How often it was counted.
    pub count: i64,
    /// Its version, from 1.
    pub version: i64,
    /// Its notes, in their order.
    pub notes: Vec<String>,
}

/// An operation on a cell.
#[derive(Debug, Clone)]
pub enum CellOperation {
    /// Creates it with a value.
    Create(String),
    /// Puts it in place of what is there.
    Replace(String),
    /// Sets its value.
    Set(String),
    /// Sets its value if it has this version.
    Edit(String, i64),
    /// Counts.
    Add,
    /// Adds a note.
    Note(String),
    /// Takes a note away.
    Drop(String),
    /// Deletes it.
    Remove,
    /// Reads it.
    Read,
}

impl Cell {
    /// It as an answer has it.
    pub fn json(&self) -> Value {
        let notes: Vec<Value> = self.notes.iter().map(|note| json!({ "text": note })).collect();
        json!({ "value": self.value, "count": self.count, "version": self.version, "notes": notes })
    }
}

impl Sequential for CellOperation {
    type State = Option<Cell>;

    fn apply(&self, cell: &Option<Cell>) -> (Option<Cell>, CallerOutcome) {
        let refused = |code: &str| (cell.clone(), CallerOutcome::Refused(code.to_owned()));
        let new = |value: &String| Some(Cell { value: value.clone(), version: 1, ..Cell::default() });
        let shown = || CallerOutcome::Value(cell.as_ref().map_or(Value::Null, Cell::json));
        match (self, cell) {
            (Self::Create(_), Some(_)) => refused("CONFLICT"),
            (Self::Create(value) | Self::Replace(value), _) => (new(value), CallerOutcome::Done),
            (Self::Read, _) => (cell.clone(), shown()),
            (Self::Remove, _) => (None, shown()),
            (_, None) => refused("NOT_FOUND"),
            (Self::Edit(_, seen), Some(is)) if *seen != is.version => refused("CONFLICT"),
            (Self::Drop(note), Some(is)) if !is.notes.contains(note) => refused("NOT_FOUND"),
            // A list holds no two equal elements.
            (Self::Note(note), Some(is)) if is.notes.contains(note) => refused("CONFLICT"),
            (_, Some(is)) => {
                let mut is = Cell { version: is.version + 1, ..is.clone() };
                match self {
                    Self::Set(value) | Self::Edit(value, _) => is.value.clone_from(value),
                    Self::Add => is.count += 1,
                    Self::Note(note) => is.notes.push(note.clone()),
                    Self::Drop(note) => is.notes.retain(|one| one != note),
                    Self::Create(_) | Self::Replace(_) | Self::Remove | Self::Read => {}
                }
                (Some(is), CallerOutcome::Done)
            }
        }
    }
}

impl CellOperation {
    /// Any operation.
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        // Equal values of two callers are what tells them apart least.
        let value = |rng: &mut fastrand::Rng| ["x", "y"][rng.usize(..2)].to_owned();
        match rng.usize(..12) {
            0 | 1 => Self::Create(value(rng)),
            2 => Self::Replace(value(rng)),
            3 | 4 => Self::Set(value(rng)),
            5 => Self::Edit(value(rng), rng.i64(1..=2)),
            6 => Self::Add,
            7 => Self::Note(["m", "n"][rng.usize(..2)].to_owned()),
            8 => Self::Drop(["m", "n"][rng.usize(..2)].to_owned()),
            9 | 10 => Self::Remove,
            _ => Self::Read,
        }
    }

    /// Its document and its variables, for the cell with this id. The result is `w`.
    pub fn request(&self, id: &str) -> (&'static str, Value) {
        match self {
            Self::Create(value) => {
                ("mutation ($id: ID!, $v: String!) { w: create(id: $id, value: $v) }", json!({ "id": id, "v": value }))
            }
            Self::Replace(value) => {
                ("mutation ($id: ID!, $v: String!) { w: replace(id: $id, value: $v) }", json!({ "id": id, "v": value }))
            }
            Self::Set(value) => {
                ("mutation ($id: ID!, $v: String!) { w: set(id: $id, value: $v) }", json!({ "id": id, "v": value }))
            }
            Self::Edit(value, version) => (
                "mutation ($id: ID!, $v: String!, $n: Int!) { w: edit(id: $id, value: $v, version: $n) }",
                json!({ "id": id, "v": value, "n": version }),
            ),
            Self::Add => ("mutation ($id: ID!) { w: add(id: $id) }", json!({ "id": id })),
            Self::Note(note) => {
                ("mutation ($id: ID!, $n: String!) { w: note(id: $id, text: $n) }", json!({ "id": id, "n": note }))
            }
            Self::Drop(note) => {
                ("mutation ($id: ID!, $n: String!) { w: drop(id: $id, text: $n) }", json!({ "id": id, "n": note }))
            }
            Self::Remove => (
                "mutation ($id: ID!) { w: remove(id: $id) { value count version notes { text } } }",
                json!({ "id": id }),
            ),
            Self::Read => {
                ("query ($id: ID!) { w: cell(id: $id) { value count version notes { text } } }", json!({ "id": id }))
            }
        }
    }
}

/// What is said to who has lost too many races.
const CONTENTION: &str = "Other writers keep changing the same items. Try again.";

/// What an answer says of the operation whose result is `w`. Without an answer, it is left open.
pub fn outcome(answer: Option<&Value>) -> CallerOutcome {
    let Some(answer) = answer else { return CallerOutcome::Open };
    match answer["errors"][0]["extensions"]["code"].as_str() {
        Some("UNAVAILABLE" | "TIMEOUT") => CallerOutcome::Open,
        // Nothing was written, whatever the state is.
        Some("CONFLICT") if answer["errors"][0]["message"] == CONTENTION => {
            CallerOutcome::Refused("CONTENTION".to_owned())
        }
        Some(code) => CallerOutcome::Refused(code.to_owned()),
        None if answer["data"]["w"] == json!(true) => CallerOutcome::Done,
        None => CallerOutcome::Value(answer["data"]["w"].clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::history::{Explanation, HistoryEvent, explain};
    use super::*;

    #[test]
    fn a_history_is_explained_or_not() {
        let event = |begun, ended, operation, outcome| HistoryEvent { begun, ended, operation, outcome };
        let is_explained = |events: &[HistoryEvent<CellOperation>]| explain(events, 1000) == Explanation::Explained;
        let none = || CallerOutcome::Value(Value::Null);
        let cell = |value: &str, version| {
            CallerOutcome::Value(Cell { value: value.to_owned(), version, ..Cell::default() }.json())
        };
        let (a, b) = (|| "a".to_owned(), || "b".to_owned());
        // Two that overlap come in any order, two that do not in theirs.
        let both = |second| {
            [
                event(0, 3, CellOperation::Create(a()), CallerOutcome::Done),
                event(second, 9, CellOperation::Remove, none()),
            ]
        };
        assert!(is_explained(&both(2)) && !is_explained(&both(4)));
        // What may have been made is there or not, but does not come and go.
        let open = |first, second| {
            [
                event(0, 1, CellOperation::Create(a()), CallerOutcome::Done),
                event(2, 3, CellOperation::Set(b()), CallerOutcome::Open),
                event(4, 5, CellOperation::Read, first),
                event(6, 7, CellOperation::Read, second),
            ]
        };
        assert!(is_explained(&open(cell("a", 1), cell("a", 1))) && is_explained(&open(cell("a", 1), cell("b", 2))));
        assert!(is_explained(&open(cell("b", 2), cell("b", 2))) && !is_explained(&open(cell("b", 2), cell("a", 1))));
        // Nothing takes effect twice.
        let twice = |version| {
            [
                event(0, 1, CellOperation::Create(a()), CallerOutcome::Done),
                event(2, 3, CellOperation::Set(b()), CallerOutcome::Done),
                event(4, 5, CellOperation::Read, cell("b", version)),
            ]
        };
        assert!(is_explained(&twice(2)) && !is_explained(&twice(3)));
    }
}
