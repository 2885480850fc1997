//! What the passes over an update expression share: the names, the parser's state and the path that is written.

use super::Update;
use crate::schema::expression::condition::parser::Parser;
use crate::schema::expression::names::Names;
use crate::schema::expression::operand::Path;
use crate::schema::scalar::value_type::ValueType;
use std::ops::Range;

/// What an update needs to know about its names beyond what a condition needs.
pub trait UpdateNames: Names {
    /// Whether the field that a path names is never null.
    fn is_non_null(&self, fields: &[&str]) -> bool;
    /// Whether an argument may be null or missing.
    fn may_be_null(&self, argument: &str) -> bool;
    /// Whether a value of type `from` can be written where values of type `to` are stored; `Err` says why not.
    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String>;
    /// Whether a field has no attribute of its own, so that only keys are rewritten when it changes.
    fn keys_only(&self, field: &str) -> bool;
}

/// An update, and the places in its text that change a field.
#[derive(Debug)]
pub struct Parsed {
    /// The update.
    pub update: Update,
    /// The changes, in the order of the text.
    pub changes: Vec<Change>,
}

/// A place in an update that changes a field.
#[derive(Debug)]
pub struct Change {
    /// The item's field that the path begins with.
    pub field: String,
    /// The path that is written.
    pub path: Path,
    /// The byte range of the path.
    pub span: Range<usize>,
}

/// An update that is being parsed.
pub(super) struct Reader<'a> {
    /// The tokens, and the mistakes so far.
    pub(super) parser: Parser<'a>,
    /// What names mean.
    pub(super) names: &'a dyn UpdateNames,
    pub(super) update: Update,
    pub(super) changes: Vec<Change>,
    /// Every written path. DynamoDB refuses an update in which one equals, contains or is within another.
    pub(super) paths: Vec<Path>,
    pub(super) depth: usize,
}

/// A path that is written.
pub(super) struct WritePath {
    /// The item's field that the path begins with.
    pub(super) field: String,
    /// The path.
    pub(super) path: Path,
    /// The type of the value there.
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
    /// The value is written as it is; null removes the attribute.
    Value,
    /// The written value is computed from it, so it must not be null.
    Summand,
}
