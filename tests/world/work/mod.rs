//! What a step of a client asks for: its document, its variables and its caller.

pub mod accounts;
pub mod albums;
pub mod books;
pub mod cards;
pub mod counters;
pub mod crowds;
pub mod diaries;
pub mod ladders;
pub mod menus;
pub mod polls;
pub mod posters;
pub mod purses;
pub mod rooms;
pub mod tickets;

use crate::cells::{self, CellOperation};
use crate::history::CallerOutcome;
use accounts::AccountOperation;
use albums::AlbumOperation;
use books::BookOperation;
use cards::CardOperation;
use counters::CounterOperation;
use crowds::CrowdOperation;
use diaries::DiaryOperation;
use keyfold::cli::selftest::histories::people::PersonOperation;
use keyfold::execute::caller::Caller;
use ladders::LadderOperation;
use menus::MenuOperation;
use polls::PollOperation;
use posters::PosterOperation;
use purses::PurseOperation;
use rooms::RoomOperation;
use serde_json::{Map, Value};
use std::ops::Range;
use tickets::TicketOperation;

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
    Ticket(TicketOperation),
    Ladder(LadderOperation),
    Crowd(CrowdOperation),
    Menu(MenuOperation),
    Poll(PollOperation),
    Purse(PurseOperation),
}

impl Work {
    /// The first kinds.
    pub const FIRST: Range<u8> = 0..14;
    /// Those that worlds have by a chance of their own, so that the seeds of others stay what they were.
    pub const LATER: Range<u8> = 14..16;
    /// The kind of the work on cells, which have subscribers.
    pub const CELL: u8 = 0;

    /// Any work of a kind, for the step at this position in a world of so many cells.
    pub fn any(kind: u8, rng: &mut fastrand::Rng, (position, cells): (usize, usize)) -> Self {
        match kind {
            Self::CELL => Self::Cell(format!("c{}", rng.usize(..cells)), CellOperation::any(rng)),
            1 => Self::Account(AccountOperation::any(rng, position)),
            2 => Self::Person(PersonOperation::any(rng)),
            3 => Self::Room(RoomOperation::any(rng, position)),
            4 => Self::Counter(CounterOperation::any(rng, position)),
            5 => Self::Card(CardOperation::any(rng)),
            6 => Self::Poster(PosterOperation::any(rng, position)),
            7 => Self::Diary(DiaryOperation::any(rng, position)),
            8 => Self::Book(BookOperation::any(rng)),
            9 => Self::Album(AlbumOperation::any(rng, position)),
            10 => Self::Ticket(TicketOperation::any(rng, position)),
            11 => Self::Ladder(LadderOperation::any(rng, position)),
            12 => Self::Crowd(CrowdOperation),
            13 => Self::Menu(MenuOperation::any(rng, position)),
            14 => Self::Poll(PollOperation::any(rng, position)),
            _ => Self::Purse(PurseOperation::any(rng)),
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
            Self::Ticket(_) => "ticket",
            Self::Ladder(_) => "ladder",
            Self::Crowd(_) => "crowd",
            Self::Menu(_) => "menu",
            Self::Poll(_) => "poll",
            Self::Purse(_) => "purse",
        }
    }

    /// Its document and its variables.
    pub fn request(&self) -> (String, Value) {
        let (query, variables) = match self {
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
            Self::Ticket(operation) => operation.request(),
            Self::Menu(operation) => operation.request(),
            Self::Poll(operation) => operation.request(),
            Self::Purse(operation) => operation.request(),
            Self::Ladder(operation) => return operation.request(),
            Self::Crowd(operation) => return operation.request(),
        };
        (query.to_owned(), variables)
    }

    /// Its root fields, each as an operation of its own.
    pub fn root_fields(&self) -> Vec<(String, Value)> {
        match self {
            Self::Ladder(operation) => operation.root_fields(),
            _ => vec![self.request()],
        }
    }

    /// What its client got.
    pub fn outcome(&self, answer: Option<&Value>) -> CallerOutcome {
        match (self, answer) {
            // Each of its fields has an answer of its own.
            (Self::Ladder(LadderOperation::Climb(..)) | Self::Crowd(_), Some(answer)) => {
                CallerOutcome::Value(answer.clone())
            }
            (Self::Purse(operation), answer) => operation.outcome(answer),
            _ => cells::outcome(answer),
        }
    }

    /// Who asks.
    pub fn caller(&self) -> Caller {
        self::user(match self {
            Self::Diary(operation) => operation.user,
            Self::Purse(operation) => operation.user,
            _ => "ann",
        })
    }
}

/// A caller who is signed in.
pub fn user(name: &str) -> Caller {
    Caller::signed_in(Map::from_iter([("sub".to_owned(), name.into())]))
}
