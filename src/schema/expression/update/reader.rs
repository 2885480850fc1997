//! What the passes over an update expression share: the names, the text under way and the path that is written.

use super::Update;
use crate::schema::expression::condition::parser::Parser;
use crate::schema::expression::names::Names;
use crate::schema::expression::operand::Path;
use crate::schema::scalar::value_type::ValueType;
use std::ops::Range;

/// What an update has to know of its names beyond a condition.
pub trait UpdateNames: Names {
    /// Whether a field, or what a dotted path names, is never null.
    fn is_non_null(&self, fields: &[&str]) -> bool;
    /// Whether an argument may be null or missing.
    fn may_be_null(&self, argument: &str) -> bool;
    /// Whether a value of the one type can be written where the other is kept; `Err` says why not.
    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String>;
    /// Whether a field has no attribute of its own, so that only keys are rewritten when it changes.
    fn keys_only(&self, field: &str) -> bool;
}

/// An update and where it says what it changes.
#[derive(Debug)]
pub struct Parsed {
    /// The update.
    pub update: Update,
    /// The changes, in the order of the text.
    pub changes: Vec<Change>,
}

/// Where an update says what it changes.
#[derive(Debug)]
pub struct Change {
    /// The item's field that the path begins with.
    pub field: String,
    /// The path that is written.
    pub path: Path,
    /// The byte range of the path.
    pub span: Range<usize>,
}

/// An update under way.
pub(super) struct Reader<'a> {
    /// The tokens, and the mistakes so far.
    pub(super) parser: Parser<'a>,
    /// What names mean.
    pub(super) names: &'a dyn UpdateNames,
    pub(super) update: Update,
    pub(super) changes: Vec<Change>,
    /// Every path that is written: DynamoDB refuses one that is, or is within, another.
    pub(super) paths: Vec<Path>,
    pub(super) depth: usize,
}

/// A path that is written.
pub(super) struct WritePath {
    /// The item's field that the path begins with.
    pub(super) field: String,
    /// The path.
    pub(super) path: Path,
    /// The type of what is there.
    pub(super) kind: ValueType,
    /// Whether it is a list of the type.
    pub(super) list: bool,
    /// Whether it is never null.
    pub(super) never_null: bool,
    /// Whether it is the whole field.
    pub(super) whole: bool,
    /// Its place.
    pub(super) span: Range<usize>,
}

/// What a value is used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    /// It is what is written; null removes.
    Value,
    /// Something is made of it: it is never null.
    Summand,
}
