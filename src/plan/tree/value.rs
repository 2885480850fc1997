//! Where values come from when a plan runs: arguments, fields of what was read, and text made of both. Must not know
//! reads or the response.

use super::ids::{ArgumentsId, ReadId, ServiceCallId, SpaceId};
use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::Stored;
use crate::schema::scalar::time_form::Unit;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::Template;
use apollo_compiler::ast::Type;
use apollo_compiler::{Node, ast::Value as Literal};
use indexmap::IndexMap;
use std::sync::Arc;

/// The arguments of one field of the operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Arguments {
    /// Argument name → its type, and its value in the document or its default. Arguments without a value are left out.
    pub values: IndexMap<String, (Type, ArgumentValue)>,
    /// The arguments that the document gives, without defaults.
    pub given: Vec<String>,
    /// Line and column of the field in the document, from 1.
    pub location: (usize, usize),
}

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub enum ArgumentValue {
    /// A literal of the document, which may contain variables.
    Literal(Node<Literal>),
    /// The schema's default.
    Default(serde_json::Value),
}

/// An argument that takes a global id, or a list of them.
#[derive(Debug)]
pub struct IdArgument {
    /// The field's arguments.
    pub arguments: ArgumentsId,
    /// The argument's name.
    pub name: String,
}

/// Where a value comes from when a plan runs.
#[derive(Debug, Clone)]
pub enum ValueSource {
    /// An argument.
    Argument(ArgumentsId, String),
    /// A claim of the caller, as text.
    Claim(ClaimPath),
    /// A field of an item or an element.
    Field(Holder, Arc<FieldReader>),
    /// Text made of parts.
    Text(Vec<SourceText>),
}

impl ValueSource {
    /// Whether the request alone gives it, and no item.
    pub fn is_of_request(&self) -> bool {
        match self {
            Self::Argument(..) | Self::Claim(_) => true,
            Self::Field(..) => false,
            Self::Text(parts) => {
                parts.iter().all(|part| !matches!(part, SourceText::Value(source) if !source.is_of_request()))
            }
        }
    }

    /// Whether all its values are such as a field of this type keeps: none says more of a time.
    pub fn is_kept_as(&self, kind: &ValueType) -> bool {
        match (self, kind.time_form()) {
            (Self::Field(_, reader), own) => match (reader.stored.value.time_form(), own) {
                (Some(from), None) => from.finest() <= Unit::Milli,
                (from, own) => from == own,
            },
            (_, own) => own.is_none(),
        }
    }

    /// Whether it is made of a claim. A caller without the claim finds nothing.
    pub fn has_claim(&self) -> bool {
        !self.claims().is_empty()
    }

    /// The claims of which it is made.
    pub fn claims(&self) -> Vec<&ClaimPath> {
        match self {
            Self::Claim(claim) => vec![claim],
            Self::Text(parts) => parts
                .iter()
                .flat_map(|part| if let SourceText::Value(source) = part { source.claims() } else { Vec::new() })
                .collect(),
            Self::Argument(..) | Self::Field(..) => Vec::new(),
        }
    }
}

/// A part of [`ValueSource::Text`].
#[derive(Debug, Clone)]
pub enum SourceText {
    /// As it stands.
    Literal(String),
    /// The text of a value.
    Value(ValueSource),
}

/// What contains the attribute that a [`FieldReader`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holder {
    /// The item of a read.
    Read(ReadId),
    /// The row of this space: an element of an embedded list, or an item that was handed in.
    Element(SpaceId),
    /// What a service computed for an object.
    Resolved(ServiceCallId),
}

/// How to find a field's value in an item.
#[derive(Debug)]
pub struct FieldReader {
    /// The field's name.
    pub field: String,
    /// The type as declared.
    pub ty: Type,
    /// Where and how it is stored.
    pub stored: Stored,
    /// Where it may be, in the order in which it is looked for.
    pub places: Vec<StoredPlace>,
}

/// A place where an item may hold a field.
#[derive(Debug)]
pub enum StoredPlace {
    /// An attribute with the value.
    Attribute(String),
    /// A key attribute whose value is made by one of these templates.
    Key(String, Vec<Template>),
}
