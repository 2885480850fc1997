//! An entry of `set:` or `where:` while it is read, its parts, and what it says. Must not know how it is read.

use crate::schema::diagnostics::span::At;
use crate::schema::model::rules::{DefaultPart, DefaultValue};
use crate::schema::model::source::Source;
use crate::schema::types::draft::Declared;
use crate::schema::writes::acting::{Acting, FieldBinding};

/// An entry of a clause while it is read.
pub struct ClauseEntry<'a> {
    /// The action.
    pub acting: &'a Acting<'a>,
    /// The type whose field is bound.
    pub owner: &'a str,
    /// The field's name.
    pub field: &'a At<String>,
    /// The field.
    pub declared: &'a Declared,
    /// Whether a value may be made for it.
    pub makes: bool,
}

/// What an entry says.
pub enum SaidValue {
    /// Where the value comes from.
    Bound(FieldBinding),
    /// What is made for it.
    Made(At<DefaultValue>),
}

/// A part of a template in `set:` or `where:`.
pub enum ClausePart {
    /// As it stands.
    Literal(String),
    /// A name.
    Source(Source),
    /// A word such as `{now}`.
    Word(DefaultPart),
}
