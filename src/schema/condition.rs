//! DynamoDB's condition grammar in GraphQL field names: text and the meaning of its names in, a checked condition in the table's names
//! out, or every mistake. Must not know expressions as DynamoDB is sent them, requests or values of arguments.
//!
//! Grammar: DynamoDB developer guide, "Condition and filter expressions, operators, and functions". Text stands in single quotes (two of
//! them for one), `:name` is an argument, `:now` the time of the request; AND, OR, NOT, BETWEEN and IN are read in any case, functions in
//! theirs, as DynamoDB does.

pub(super) mod choices;
pub(super) mod lexer;
pub(super) mod literals;
pub(super) mod parser;
mod paths;
mod print;
#[cfg(test)]
mod tests;
pub(super) mod typing;

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
    /// `attribute_type(a, 'S')`: S, SS, N, NS, B, BS, BOOL, NULL, L or M.
    AttributeType(Path, String),
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

/// What a field path names: the stored attribute names, the type, and whether it is a list of that type.
pub type Named = (Vec<String>, ValueType, bool);

/// What a condition's names mean: the item's fields and the field's arguments.
pub trait Names {
    /// Resolves a dotted field path (`foods`, `address.city`) to stored attribute names and the type of what it names.
    /// The `bool` tells whether it is a list (of that type). `Err` gives the valid choices at the segment that failed, by position.
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)>;
    /// The same where it is only asked whether the field is there (`attribute_exists`): a key that holds it tells this as well.
    fn existing(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        self.path(fields)
    }
    /// The type of an argument and whether it is a list. `Err` gives the valid choices.
    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>>;
}

impl Condition {
    /// Parses a condition and checks it against the names; every mistake that can be found is reported, in the order of the text.
    pub fn parse(text: &str, names: &dyn Names) -> Result<Self, Vec<ConditionMistake>> {
        parser::parse(text, names)
    }

    /// The arguments that the condition uses, each once.
    pub fn arguments(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.walk(&mut |leaf| {
            if let Leaf::Argument(name) = leaf
                && !names.contains(&name)
            {
                names.push(name);
            }
        });
        names
    }

    /// The condition without the conjuncts that use an argument for which `is_null` holds; `None` if nothing is left.
    pub fn without(&self, is_null: &dyn Fn(&str) -> bool) -> Option<Condition> {
        let mut kept = Vec::new();
        self.conjuncts(&mut |conjunct| {
            if !conjunct.arguments().into_iter().any(is_null) {
                kept.push(conjunct.clone());
            }
        });
        match kept.len() {
            0 | 1 => kept.pop(),
            _ => Some(Condition::And(kept)),
        }
    }

    /// The top-level stored attributes that the condition reads, each once.
    pub fn attributes(&self) -> Vec<&str> {
        let mut attributes = Vec::new();
        self.walk(&mut |leaf| {
            if let Leaf::Path(Path { segments }) = leaf
                && let Some(Segment::Attribute(name)) = segments.first()
                && !attributes.contains(&name.as_str())
            {
                attributes.push(name);
            }
        });
        attributes
    }

    /// Sees the conditions that all have to hold, one after another, however they are nested.
    fn conjuncts<'a>(&'a self, see: &mut dyn FnMut(&'a Condition)) {
        match self {
            Condition::And(conditions) => conditions.iter().for_each(|condition| condition.conjuncts(see)),
            _ => see(self),
        }
    }

    /// Sees every path and argument, in the order of the text.
    fn walk<'a>(&'a self, see: &mut dyn FnMut(Leaf<'a>)) {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => conditions.iter().for_each(|condition| condition.walk(see)),
            Condition::Not(condition) => condition.walk(see),
            Condition::Compare(left, _, right) => [left, right].into_iter().for_each(|operand| operand.walk(see)),
            Condition::Between(value, lower, upper) => [value, lower, upper].into_iter().for_each(|operand| operand.walk(see)),
            Condition::In(value, list) => std::iter::once(value).chain(list).for_each(|operand| operand.walk(see)),
            Condition::Exists(path) | Condition::NotExists(path) | Condition::AttributeType(path, _) => see(Leaf::Path(path)),
            Condition::BeginsWith(path, operand) | Condition::Contains(path, operand) => {
                see(Leaf::Path(path));
                operand.walk(see);
            }
        }
    }
}

impl Operand {
    fn walk<'a>(&'a self, see: &mut dyn FnMut(Leaf<'a>)) {
        match self {
            Operand::Path(path) | Operand::Size(path) => see(Leaf::Path(path)),
            Operand::Argument(name, _) => see(Leaf::Argument(name)),
            Operand::Now(_) | Operand::Literal(..) => {}
        }
    }
}

/// What a condition is about.
enum Leaf<'a> {
    Path(&'a Path),
    Argument(&'a str),
}
