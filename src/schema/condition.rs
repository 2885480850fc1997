//! DynamoDB's condition grammar in GraphQL field names, parsed and checked against an item type.
//!
//! Grammar: DynamoDB developer guide, "Condition and filter expressions, operators, and functions".

use super::value_type::ValueType;

/// A condition over an item's fields and a field's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All hold.
    And(Vec<Condition>),
    /// Any holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// `a = b`, `<>`, `<`, `<=`, `>`, `>=`.
    Compare(Operand, Comparator, Operand),
    /// `a BETWEEN b AND c`.
    Between(Operand, Operand, Operand),
    /// `a IN (b, c)`; a list argument stands for its values.
    In(Operand, Vec<Operand>),
    /// `attribute_exists(a)`.
    Exists(Path),
    /// `attribute_not_exists(a)`.
    NotExists(Path),
    /// `begins_with(a, b)`.
    BeginsWith(Path, Operand),
    /// `contains(a, b)`.
    Contains(Path, Operand),
}

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

/// A value in a condition.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// An attribute of the item.
    Path(Path),
    /// `size(a)`: a number.
    Size(Path),
    /// `:name`, an argument of the field; kept as the named type.
    Argument(String, ArgumentType),
    /// `:now`, the time of the request, kept as the named type.
    Now(ArgumentType),
    /// A literal: text, number, true, false or null, kept as the named type.
    Literal(serde_json::Value, ArgumentType),
}

/// The type that a value of a condition is kept as: that of the path it stands against.
#[derive(Debug, Clone)]
pub struct ArgumentType(pub ValueType);

impl PartialEq for ArgumentType {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.0) == std::mem::discriminant(&other.0)
    }
}

/// An attribute path, in the names of the table: `address.city` may be `Addr.City`.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    /// The stored attribute names and list positions.
    pub segments: Vec<Segment>,
}

/// A segment of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// An attribute of an item or a map.
    Attribute(String),
    /// A position in a list, from 0.
    Index(u32),
}
