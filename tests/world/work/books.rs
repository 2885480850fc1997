//! Books on shelves: the key of their index holds two fields, which different writes change, and what an upsert does
//! not set has defaults.

use crate::history::{CallerOutcome, Sequential};
use crate::store::ModelStore;
use crate::stored::{histories, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

const BOOKS: [&str; 2] = ["a", "b"];
const SHELVES: [&str; 2] = ["hall", "cellar"];
const STATES: [&str; 3] = ["new", "worn", "torn"];

/// A book as it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Book {
    shelf: &'static str,
    state: &'static str,
    color: Option<&'static str>,
}

#[derive(Debug, Clone)]
pub struct BookOperation {
    id: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone)]
enum Kind {
    Add(&'static str),
    Move(&'static str),
    Grade(&'static str),
    Make(&'static str),
    Dye,
    Bleach,
    Drop,
    Read,
}

impl Book {
    /// One that nothing is set of but its state.
    fn new(state: &'static str) -> Self {
        Self { shelf: "attic", state, color: Some("red") }
    }

    fn json(&self) -> Value {
        json!({ "shelf": self.shelf, "state": self.state, "color": self.color })
    }
}

impl BookOperation {
    pub fn any(rng: &mut fastrand::Rng) -> Self {
        let (shelf, state) = (SHELVES[rng.usize(..2)], STATES[rng.usize(..3)]);
        let kind = match rng.usize(..13) {
            0 => Kind::Add(state),
            1..4 => Kind::Move(shelf),
            4..6 => Kind::Grade(state),
            6..9 => Kind::Make(state),
            9 => Kind::Dye,
            10 => Kind::Bleach,
            11 => Kind::Drop,
            _ => Kind::Read,
        };
        Self { id: BOOKS[rng.usize(..2)], kind }
    }

    pub fn request(&self) -> (&'static str, Value) {
        let id = self.id;
        match self.kind {
            Kind::Add(state) => (
                "mutation ($id: ID!, $v: String!) { w: addBook(id: $id, state: $v) { shelf state color } }",
                json!({ "id": id, "v": state }),
            ),
            Kind::Move(shelf) => (
                "mutation ($id: ID!, $v: String!) { w: moveBook(id: $id, shelf: $v) { shelf state color } }",
                json!({ "id": id, "v": shelf }),
            ),
            Kind::Grade(state) => (
                "mutation ($id: ID!, $v: String!) { w: gradeBook(id: $id, state: $v) { shelf state color } }",
                json!({ "id": id, "v": state }),
            ),
            Kind::Make(state) => (
                "mutation ($id: ID!, $v: String!) { w: makeBook(id: $id, state: $v) { shelf state color } }",
                json!({ "id": id, "v": state }),
            ),
            Kind::Dye => (
                "mutation ($id: ID!) { w: dyeBook(id: $id, color: \"blue\") { shelf state color } }",
                json!({ "id": id }),
            ),
            Kind::Bleach => {
                ("mutation ($id: ID!) { w: bleachBook(id: $id) { shelf state color } }", json!({ "id": id }))
            }
            Kind::Drop => ("mutation ($id: ID!) { w: dropBook(id: $id) { shelf state color } }", json!({ "id": id })),
            Kind::Read => ("query ($id: ID!) { w: book(id: $id) { shelf state color } }", json!({ "id": id })),
        }
    }

    /// What reads all that there may be.
    pub fn reads() -> impl Iterator<Item = Self> {
        BOOKS.into_iter().map(|id| Self { id, kind: Kind::Read })
    }
}

impl Sequential for BookOperation {
    type State = BTreeMap<&'static str, Book>;

    fn apply(&self, books: &Self::State) -> (Self::State, CallerOutcome) {
        let refused = |code: &str| (books.clone(), CallerOutcome::Refused(code.to_owned()));
        let shown = |book: Option<&Book>| CallerOutcome::Value(book.map_or(Value::Null, Book::json));
        let with = |book: Book| {
            let (mut after, shown) = (books.clone(), CallerOutcome::Value(book.json()));
            after.insert(self.id, book);
            (after, shown)
        };
        let old = books.get(self.id);
        match (&self.kind, old) {
            (Kind::Read, _) => (books.clone(), shown(old)),
            (Kind::Drop, _) => {
                let mut after = books.clone();
                after.remove(self.id);
                (after, shown(old))
            }
            (Kind::Add(_), Some(_)) => refused("CONFLICT"),
            (Kind::Add(state) | Kind::Make(state), None) => with(Book::new(state)),
            // An upsert sets what is given, and makes what is not there.
            (Kind::Make(state), Some(book)) => with(Book { state, color: book.color.or(Some("red")), ..book.clone() }),
            (_, None) => refused("NOT_FOUND"),
            (Kind::Move(shelf), Some(book)) => with(Book { shelf, ..book.clone() }),
            (Kind::Grade(state), Some(book)) => with(Book { state, ..book.clone() }),
            (Kind::Dye, Some(book)) => with(Book { color: Some("blue"), ..book.clone() }),
            (Kind::Bleach, Some(book)) => with(Book { color: None, ..book.clone() }),
        }
    }
}

/// Books that were, at any time, at another place in their index than their fields say.
pub fn misplaced(store: &ModelStore) -> Vec<String> {
    let items = histories(store, "BOOK#").flat_map(|(book, versions)| versions.iter().map(move |one| (book, one)));
    let items = items.filter_map(|(book, version)| Some((book, version.item.as_ref()?)));
    let misplaced = items.filter_map(|(book, item)| {
        let place = format!("SHELF#{}#{}", text(item, "shelf"), text(item, "state"));
        let worn = if text(item, "state") == "worn" { format!("WORN#{}", text(item, "shelf")) } else { String::new() };
        let keys = [("ShelfKey", place), ("WornKey", worn)].map(|(name, said)| (text(item, name), said));
        let wrong = keys.into_iter().find(|(key, said)| key != said);
        wrong.map(|(key, said)| format!("{book} is at {key:?} in its index, and its fields say {said:?}"))
    });
    misplaced.collect()
}
