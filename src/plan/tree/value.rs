//! Where values come from when a plan runs: arguments, fields of what was read, and text made of both. Must not know reads or the
//! response.

use super::ids::{ArgumentsId, ReadId, SpaceId};
use crate::schema::model::Stored;
use crate::schema::template::Template;
use apollo_compiler::ast::Type;
use apollo_compiler::{Node, ast::Value as Literal};
use indexmap::IndexMap;
use std::sync::Arc;

/// The arguments of one field of the operation.
#[derive(Debug, Clone)]
pub struct Arguments {
    /// Argument name → its type and what the document (or else its default) says. Arguments without a value are not in it.
    pub values: IndexMap<String, (Type, ArgumentValue)>,
    /// The names that the document itself gives, defaults not among them.
    pub given: Vec<String>,
    /// Line and column of the field in the document, from 1.
    pub location: (usize, usize),
}

/// What an argument is bound to.
#[derive(Debug, Clone)]
pub enum ArgumentValue {
    /// A literal of the document, variables in it.
    Literal(Node<Literal>),
    /// The schema's default.
    Default(serde_json::Value),
}

/// Where a value comes from when a plan runs.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// An argument.
    Argument(ArgumentsId, String),
    /// A field of something that was read.
    Field(Holder, Arc<FieldReader>),
    /// Text made of parts.
    Text(Vec<SourceText>),
}

/// A part of [`ValueSource::Text`].
#[derive(Debug, Clone)]
pub enum SourceText {
    /// As it stands.
    Literal(String),
    /// The text of a value.
    Value(ValueSource),
}

/// What holds the attribute that a [`FieldReader`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The item of a read.
    Read(ReadId),
    /// The element of an embedded list, or the seed, that is the row of this space.
    Element(SpaceId),
}

/// How to find a field's value in an item.
#[derive(Debug)]
pub struct FieldReader {
    /// The field's name.
    pub field: String,
    /// The type as declared.
    pub ty: Type,
    /// Where it is kept and how.
    pub stored: Stored,
    /// The templates of the key attributes in `stored.keys`.
    pub templates: Vec<(String, Vec<Template>)>,
}
