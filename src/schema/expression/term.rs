//! A value of an expression before its type is decided, and its subject. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::expression::operand::Path;
use crate::schema::scalar::form::Form;
use crate::schema::scalar::value_type::ValueType;
use std::ops::Range;

/// A value of an expression and its place, before its subject is known.
#[derive(Debug, Clone)]
pub struct Term {
    /// What it is.
    pub kind: TermKind,
    /// Its byte range.
    pub span: Range<usize>,
}

/// The kinds of values in an expression.
#[derive(Debug, Clone)]
pub enum TermKind {
    /// A path, its type and whether it is a list.
    Path(Path, ValueType, bool),
    /// `size(path)`.
    Size(Path),
    /// An argument, its type and whether it is a list.
    Argument(String, ValueType, bool),
    /// A claim of the caller, of any type.
    Claim(ClaimPath),
    /// `:now`.
    Now,
    /// A literal text.
    Text(String),
    /// A literal number, as written.
    Number(String),
    /// `true` or `false`.
    Boolean(bool),
    /// `null`.
    Null,
    /// An unknown name, which has been reported.
    Unknown,
}

/// What the values of an expression are compared with or written to: it decides their type.
pub struct Subject {
    /// The type; for a set, the type of its elements.
    pub kind: ValueType,
    /// Whether it is a list of the type.
    pub list: bool,
    /// Whether the list is stored as a set.
    pub set: bool,
    /// The subject as mistakes name it.
    pub name: String,
}

impl Subject {
    /// The type as the API writes it: a list is in brackets.
    pub fn type_name(&self) -> String {
        type_name(&self.kind, self.list)
    }
}

/// Whether the type is stored as a number.
pub fn is_numeric(kind: &ValueType) -> bool {
    matches!(kind.plain(), ValueType::Int | ValueType::Long | ValueType::Float | ValueType::Decimal)
}

/// A type as the API writes it: a list is in brackets.
pub fn type_name(kind: &ValueType, list: bool) -> String {
    if let ValueType::InForm(kind, form) = kind
        && !matches!(**form, Form::Aws(_))
    {
        return format!("{} that is kept {form}", type_name(kind, list));
    }
    // A map is a list in the API, as its name says.
    let list = list && !matches!(kind, ValueType::Map(_));
    if list { format!("[{}]", kind.name()) } else { kind.name() }
}
