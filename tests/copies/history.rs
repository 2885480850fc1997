//! What callers learned of one cell → whether some order of their operations explains it: each operation takes effect
//! once, between its beginning and its end. One whose outcome was left open takes effect once after its beginning, or
//! never.
//!
//! The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993), with Lowe's memory of
//! visited states.

use std::collections::HashSet;

/// A cell as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Cell {
    pub value: String,
    pub count: i64,
    pub version: i64,
    pub notes: Vec<String>,
}

/// An operation on a cell.
#[derive(Debug, Clone)]
pub enum Operation {
    Create(String),
    Replace(String),
    Set(String),
    Edit(String, i64),
    Add,
    Note(String),
    Drop(String),
    Remove,
    Read,
}

/// What its caller learned.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    Done,
    /// Of a read and a removal: the cell, if there was one.
    Cell(Option<Cell>),
    /// `CONFLICT`, `NOT_FOUND`.
    Refused(String),
    /// The change may have been made, or nobody answered.
    Open,
}

/// An operation with its times.
#[derive(Debug, Clone)]
pub struct Event {
    pub begun: u64,
    pub ended: u64,
    pub operation: Operation,
    pub outcome: Outcome,
}

impl Operation {
    /// What it makes of a cell, and what its caller must learn.
    fn apply(&self, cell: &Option<Cell>) -> (Option<Cell>, Outcome) {
        let refused = |code: &str| (cell.clone(), Outcome::Refused(code.to_owned()));
        let new = |value: &String| Some(Cell { value: value.clone(), version: 1, ..Cell::default() });
        match (self, cell) {
            (Self::Create(_), Some(_)) => refused("CONFLICT"),
            (Self::Create(value) | Self::Replace(value), _) => (new(value), Outcome::Done),
            (Self::Read, _) => (cell.clone(), Outcome::Cell(cell.clone())),
            (Self::Remove, _) => (None, Outcome::Cell(cell.clone())),
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
                (Some(is), Outcome::Done)
            }
        }
    }
}

/// Whether some order explains the events of a cell that does not exist at first. At most 64.
pub fn is_explained(events: &[Event]) -> bool {
    assert!(events.len() <= 64, "{} events", events.len());
    search(events, 0, &None, &mut HashSet::new())
}

/// `done` has a bit for each event that has taken effect.
fn search(events: &[Event], done: u64, cell: &Option<Cell>, seen: &mut HashSet<(u64, Option<Cell>)>) -> bool {
    let left = || events.iter().enumerate().filter(|(position, _)| done & (1 << position) == 0);
    let is_open = |event: &Event| event.outcome == Outcome::Open;
    if left().all(|(_, event)| is_open(event)) {
        return true;
    }
    if !seen.insert((done, cell.clone())) {
        return false;
    }
    // What began after another one's end comes after it.
    let first_end = left().filter(|(_, event)| !is_open(event)).map(|(_, event)| event.ended).min().unwrap_or(u64::MAX);
    left().filter(|(_, event)| event.begun < first_end).any(|(position, event)| {
        let (after, outcome) = event.operation.apply(cell);
        (is_open(event) || outcome == event.outcome) && search(events, done | (1 << position), &after, seen)
    })
}

#[test]
fn a_history_is_explained_or_not() {
    let event = |begun, ended, operation, outcome| Event { begun, ended, operation, outcome };
    let cell = |value: &str, version| Outcome::Cell(Some(Cell { value: value.to_owned(), version, ..Cell::default() }));
    let (a, b) = (|| "a".to_owned(), || "b".to_owned());
    // Two that overlap come in any order, two that do not in theirs.
    let both = |second| {
        [event(0, 3, Operation::Create(a()), Outcome::Done), event(second, 9, Operation::Remove, Outcome::Cell(None))]
    };
    assert!(is_explained(&both(2)) && !is_explained(&both(4)));
    // What may have been made is there or not, but does not come and go.
    let open = |first, second| {
        let reads = [event(4, 5, Operation::Read, first), event(6, 7, Operation::Read, second)];
        [
            vec![event(0, 1, Operation::Create(a()), Outcome::Done), event(2, 3, Operation::Set(b()), Outcome::Open)],
            reads.to_vec(),
        ]
        .concat()
    };
    assert!(is_explained(&open(cell("a", 1), cell("a", 1))) && is_explained(&open(cell("a", 1), cell("b", 2))));
    assert!(is_explained(&open(cell("b", 2), cell("b", 2))) && !is_explained(&open(cell("b", 2), cell("a", 1))));
    // Nothing takes effect twice.
    let twice = |version| {
        [
            vec![event(0, 1, Operation::Create(a()), Outcome::Done), event(2, 3, Operation::Set(b()), Outcome::Done)],
            vec![event(4, 5, Operation::Read, cell("b", version))],
        ]
        .concat()
    };
    assert!(is_explained(&twice(2)) && !is_explained(&twice(3)));
}
