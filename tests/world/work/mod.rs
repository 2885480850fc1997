//! What a step of a client asks for: its document, its variables and its caller.

pub mod accounts;
pub mod albums;
pub mod books;
pub mod cards;
pub mod counters;
pub mod diaries;
pub mod people;
pub mod posters;
pub mod rooms;

use crate::cells::CellOperation;
use accounts::AccountOperation;
use albums::AlbumOperation;
use books::BookOperation;
use cards::CardOperation;
use counters::CounterOperation;
use diaries::DiaryOperation;
use keyfold::execute::caller::Caller;
use people::PersonOperation;
use posters::PosterOperation;
use rooms::RoomOperation;
use serde_json::{Map, Value};

/// What a step asks for.
#[derive(Debug, Clone)]
pub enum Work {
    Cell(String, CellOperation),
    Account(AccountOperation),
    Person(PersonOperation),
    Room(RoomOperation),
    Counter(CounterOperation),
    Card(CardOperation),
    Poster(PosterOperation),
    Diary(DiaryOperation),
    Book(BookOperation),
    Album(AlbumOperation),
}

impl Work {
    /// How many kinds there are.
    pub const KINDS: u8 = 10;

    /// Any work of a kind, for the step at this position in a world of so many cells.
    pub fn any(kind: u8, rng: &mut fastrand::Rng, (position, cells): (usize, usize)) -> Self {
        match kind {
            0 => Self::Cell(format!("c{}", rng.usize(..cells)), CellOperation::any(rng)),
            1 => Self::Account(AccountOperation::any(rng, position)),
            2 => Self::Person(PersonOperation::any(rng)),
            3 => Self::Room(RoomOperation::any(rng, position)),
            4 => Self::Counter(CounterOperation::any(rng, position)),
            5 => Self::Card(CardOperation::any(rng)),
            6 => Self::Poster(PosterOperation::any(rng, position)),
            7 => Self::Diary(DiaryOperation::any(rng, position)),
            8 => Self::Book(BookOperation::any(rng)),
            _ => Self::Album(AlbumOperation::any(rng, position)),
        }
    }

    /// The name of its kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Cell(..) => "cell",
            Self::Account(_) => "account",
            Self::Person(_) => "person",
            Self::Room(_) => "room",
            Self::Counter(_) => "counter",
            Self::Card(_) => "card",
            Self::Poster(_) => "poster",
            Self::Diary(_) => "diary",
            Self::Book(_) => "book",
            Self::Album(_) => "album",
        }
    }

    /// Its document and its variables.
    pub fn request(&self) -> (&'static str, Value) {
        match self {
            Self::Cell(id, operation) => operation.request(id),
            Self::Account(operation) => operation.request(),
            Self::Person(operation) => operation.request(),
            Self::Room(operation) => operation.request(),
            Self::Counter(operation) => operation.request(),
            Self::Card(operation) => operation.request(),
            Self::Poster(operation) => operation.request(),
            Self::Diary(operation) => operation.request(),
            Self::Book(operation) => operation.request(),
            Self::Album(operation) => operation.request(),
        }
    }

    /// Who asks.
    pub fn caller(&self) -> Caller {
        let user = if let Self::Diary(operation) = self { operation.user } else { "ann" };
        self::user(user)
    }
}

/// A caller who is signed in.
pub fn user(name: &str) -> Caller {
    Caller::signed_in(Map::from_iter([("sub".to_owned(), name.into())]))
}
