//! What the fields of `Subscription` watch: the checked model of `@watch`. Plain data; must not know how changes
//! arrive.

use super::find::Find;
use super::source::Source;
use crate::schema::expression::condition::Condition;
use indexmap::IndexMap;
use std::fmt::{Display, Formatter, Result};

/// The argument that goes on after a change: its id.
pub const AFTER: &str = "after";

/// What a field of `Subscription` watches.
#[derive(Debug)]
pub struct Watch {
    /// The item type.
    pub item: String,
    /// The kinds of change that arrive, each once.
    pub kinds: Vec<ChangeKind>,
    /// Item field → what its value must equal. A null binds nothing, a list stands for each of its values.
    pub bindings: IndexMap<String, Source>,
    /// The condition that items must match.
    pub filter: Option<Condition>,
    /// With `initial: true`: how the item as it is is found.
    pub initial: Option<Find>,
}

/// What happened to an item, as a subscription sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// It was not there, or did not match.
    Insert,
    /// It was there before.
    Modify,
    /// It is gone, or does not match any longer.
    Remove,
}

impl ChangeKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Insert, Self::Modify, Self::Remove];

    /// The value of the enum `ChangeKind`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Insert => "INSERT",
            Self::Modify => "MODIFY",
            Self::Remove => "REMOVE",
        }
    }
}

impl Display for ChangeKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(self.name())
    }
}

/// A part of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangePart {
    /// `node`: the item after the change.
    Node,
    /// `previous`: the item before the change.
    Previous,
    /// `change`: what happened.
    Kind,
    /// `id`: what `after` takes.
    Id,
}

impl ChangePart {
    /// The part that a field of a change is.
    pub fn named(field: &str) -> Option<Self> {
        Some(match field {
            "node" => Self::Node,
            "previous" => Self::Previous,
            "change" => Self::Kind,
            "id" => Self::Id,
            _ => return None,
        })
    }
}
