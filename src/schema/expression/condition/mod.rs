//! DynamoDB's condition grammar in GraphQL field names: text and the meaning of its names in; out, a checked condition
//! in stored attribute names, or every mistake. Must not know DynamoDB's expression strings, requests or values of
//! arguments.
//!
//! Grammar: DynamoDB developer guide, "Condition and filter expressions, operators, and functions". Text stands in
//! single quotes, and two quotes within it stand for one. `:name` is an argument, `:now` the time of the request. As in
//! DynamoDB, AND, OR, NOT, BETWEEN and IN may have any case, and functions are lower case.

mod claims;
pub mod parser;
mod paths;
mod print;
#[cfg(test)]
mod tests;
pub mod typing;

use crate::schema::expression::operand::{Comparator, Operand, Path, Segment};

/// A condition over an item's fields and a field's arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// All hold.
    And(Vec<Condition>),
    /// At least one holds.
    Or(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// `a = b`, `<>`, `<`, `<=`, `>`, `>=`.
    Compare(Operand, Comparator, Operand),
    /// `a BETWEEN b AND c`.
    Between(Operand, Operand, Operand),
    /// `a IN (b, c)`; a list argument gives its values.
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

impl Condition {
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

    /// Whether some part of it asks that one of these attributes is missing.
    pub fn asks_for_absence(&self, is_one: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Self::And(all) | Self::Or(all) => all.iter().any(|part| part.asks_for_absence(is_one)),
            Self::NotExists(path) => {
                matches!(path.segments.as_slice(), [Segment::Attribute(name)] if is_one(name))
            }
            _ => false,
        }
    }

    /// Gives each argument another name.
    pub fn rename_arguments(&mut self, rename: &dyn Fn(&mut String)) {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => {
                conditions.iter_mut().for_each(|condition| condition.rename_arguments(rename));
            }
            Condition::Not(condition) => condition.rename_arguments(rename),
            Condition::Compare(left, _, right) => {
                [left, right].into_iter().for_each(|operand| operand.rename_argument(rename));
            }
            Condition::Between(value, lower, upper) => {
                [value, lower, upper].into_iter().for_each(|operand| operand.rename_argument(rename));
            }
            Condition::In(value, list) => {
                std::iter::once(value).chain(list).for_each(|operand| operand.rename_argument(rename));
            }
            Condition::BeginsWith(_, operand) | Condition::Contains(_, operand) => operand.rename_argument(rename),
            Condition::Exists(_) | Condition::NotExists(_) | Condition::AttributeType(..) => {}
        }
    }

    /// Whether the condition uses a claim of the caller.
    pub fn has_claims(&self) -> bool {
        let mut found = false;
        self.walk(&mut |leaf| found |= matches!(leaf, Leaf::Claim));
        found
    }

    /// Whether the condition uses the time of the request.
    pub fn has_now(&self) -> bool {
        let mut found = false;
        self.walk(&mut |leaf| found |= matches!(leaf, Leaf::Now));
        found
    }

    /// The condition without the conjuncts that use an argument for which `is_null` holds; `None` if no conjunct is
    /// left.
    pub fn without(&self, is_null: &dyn Fn(&str) -> bool) -> Option<Condition> {
        let kept = self.conjuncts().into_iter().filter(|conjunct| !conjunct.arguments().into_iter().any(is_null));
        let mut kept: Vec<Condition> = kept.cloned().collect();
        match kept.len() {
            0 | 1 => kept.pop(),
            _ => Some(Condition::And(kept)),
        }
    }

    /// The top-level stored attributes that the condition reads, each once. For fields in a key, that is the key.
    pub fn attributes(&self) -> Vec<&str> {
        let mut attributes = Vec::new();
        for name in self.read_paths().into_iter().filter_map(Path::attribute) {
            if !attributes.contains(&name) {
                attributes.push(name);
            }
        }
        attributes
    }

    /// The paths that the condition reads.
    pub fn read_paths(&self) -> Vec<&Path> {
        let mut read = Vec::new();
        self.walk(&mut |leaf| {
            if let Leaf::Path(path) = leaf {
                read.push(path);
            }
        });
        read
    }

    /// The conjuncts, also those of nested ANDs.
    pub fn conjuncts(&self) -> Vec<&Condition> {
        match self {
            Condition::And(conditions) => conditions.iter().flat_map(Condition::conjuncts).collect(),
            _ => vec![self],
        }
    }

    /// Calls `see` with every path, argument, claim and time, in the order of the text.
    fn walk<'a>(&'a self, see: &mut dyn FnMut(Leaf<'a>)) {
        match self {
            Condition::And(conditions) | Condition::Or(conditions) => {
                conditions.iter().for_each(|condition| condition.walk(see))
            }
            Condition::Not(condition) => condition.walk(see),
            Condition::Compare(left, _, right) => [left, right].into_iter().for_each(|operand| operand.walk(see)),
            Condition::Between(value, lower, upper) => {
                [value, lower, upper].into_iter().for_each(|operand| operand.walk(see))
            }
            Condition::In(value, list) => std::iter::once(value).chain(list).for_each(|operand| operand.walk(see)),
            Condition::Exists(path) | Condition::NotExists(path) | Condition::AttributeType(path, _) => {
                see(Leaf::Path(path))
            }
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
            Operand::Claim(..) => see(Leaf::Claim),
            Operand::Now(_) => see(Leaf::Now),
            Operand::Literal(..) => {}
        }
    }
}

/// A path, an argument, a claim or the time that a condition uses.
enum Leaf<'a> {
    Path(&'a Path),
    Argument(&'a str),
    Claim,
    Now,
}
