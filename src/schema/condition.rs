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

/// A mistake in a condition's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionMistake {
    /// Byte range within the condition's text.
    pub span: std::ops::Range<usize>,
    /// One sentence.
    pub message: String,
    /// The valid choices, if there are some.
    pub help: Option<String>,
}

/// What a condition's names mean: the item's fields and the field's arguments.
pub trait Names {
    /// Resolves a dotted field path (`foods`, `address.city`) to stored attribute names and the type of what it names.
    /// The `bool` tells whether it is a list (of that type). `Err` gives the valid choices at the segment that failed, by position.
    fn path(&self, fields: &[&str]) -> Result<(Vec<String>, ValueType, bool), (usize, Vec<String>)>;
    /// The type of an argument and whether it is a list. `Err` gives the valid choices.
    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>>;
}

impl Condition {
    /// Parses a condition and checks it against the names; every mistake that can be found is reported.
    pub fn parse(_text: &str, _names: &dyn Names) -> Result<Self, Vec<ConditionMistake>> {
        todo!()
    }

    /// The arguments that the condition uses, each once.
    pub fn arguments(&self) -> Vec<&str> {
        todo!()
    }

    /// The condition without the conjuncts that use an argument for which `is_null` holds; `None` if nothing is left.
    pub fn without(&self, _is_null: &dyn Fn(&str) -> bool) -> Option<Condition> {
        todo!()
    }

    /// The top-level stored attributes that the condition reads, each once.
    pub fn attributes(&self) -> Vec<&str> {
        todo!()
    }
}
