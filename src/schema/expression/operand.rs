//! The values of conditions and update expressions: attribute paths, arguments and literals. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::value_type::ValueType;

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
    /// The path that it reads.
    pub fn path(&self) -> Option<&Path> {
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
    /// The attribute of the item with which the path begins.
    pub fn attribute(&self) -> Option<&str> {
        match self.segments.first() {
            Some(Segment::Attribute(name)) => Some(name),
            _ => None,
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
}
