//! The values of conditions and update expressions: attribute paths, arguments and literals. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::value_type::ValueType;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// A comparison operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparator {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// A value in a condition or an update expression.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// An attribute of the item.
    Path(Path),
    /// `size(a)`: a number.
    Size(Path),
    /// `:name`, an argument of the field, stored as the named type.
    Argument(String, ArgumentType),
    /// `auth.sub`, a claim of the caller, compared as the named type.
    Claim(ClaimPath, ArgumentType),
    /// `:now`, the time of the request, stored as the named type.
    Now(ArgumentType),
    /// A literal: text, number, true, false or null, stored as the named type.
    Literal(serde_json::Value, ArgumentType),
}

impl Operand {
    /// Gives an argument another name.
    pub fn rename_argument(&mut self, rename: &dyn Fn(&mut String)) {
        if let Self::Argument(name, _) = self {
            rename(name);
        }
    }

    /// The path that it reads.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path) | Self::Size(path) => Some(path),
            Self::Argument(..) | Self::Claim(..) | Self::Now(_) | Self::Literal(..) => None,
        }
    }
}

impl Operand {
    /// The path that it reads, to change it.
    pub fn path_mut(&mut self) -> Option<&mut Path> {
        match self {
            Self::Path(path) | Self::Size(path) => Some(path),
            Self::Argument(..) | Self::Claim(..) | Self::Now(_) | Self::Literal(..) => None,
        }
    }
}

/// The type that a value is stored as: that of the path that it is compared with or written to.
#[derive(Debug, Clone)]
pub struct ArgumentType(pub ValueType);

impl PartialEq for ArgumentType {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.0) == std::mem::discriminant(&other.0)
    }
}

/// An attribute path in stored names: `address.city` may be `Addr.City`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The stored attribute names and list positions.
    pub segments: Vec<Segment>,
}

impl Path {
    /// The attribute of the item with which the path begins. For a field in a key, that is the key.
    pub fn attribute(&self) -> Option<&str> {
        match self.segments.first()? {
            Segment::Attribute(name) => Some(name),
            Segment::InKey(field) => Some(&field.key),
            Segment::Index(_) => None,
        }
    }

    /// The field that it reads from the text of a key.
    pub fn in_key(&self) -> Option<&KeyField> {
        match self.segments.first()? {
            Segment::InKey(field) => Some(field),
            Segment::Attribute(_) | Segment::Index(_) => None,
        }
    }
}

/// A segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// An attribute of an item or a map.
    Attribute(String),
    /// A position in a list, from 0.
    Index(u32),
    /// A field that only the text of a primary key holds. It stands alone. No call can name it, so it is read from the
    /// key, which is known wherever an item is.
    InKey(KeyField),
}

/// A field in the text of a key.
#[derive(Debug, Clone)]
pub struct KeyField {
    /// Its name.
    pub name: String,
    /// The key attribute.
    pub key: String,
    /// Its type.
    pub value: ValueType,
    /// How to read it.
    pub text: Arc<dyn KeyText>,
}

/// What reads a value from the text of a key.
pub trait KeyText: Debug + Send + Sync {
    /// The value; `None` if the text is no such key.
    fn read(&self, key: &str) -> Option<Value>;
}

impl PartialEq for KeyField {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.key) == (&other.name, &other.key)
    }
}

impl Eq for KeyField {}
