//! DynamoDB's update grammar in GraphQL field names: text and the meaning of its names in, a checked update in the table's names out,
//! or every mistake. Must not know keys, requests or values of arguments.
//!
//! Grammar: DynamoDB developer guide, "Using update expressions in DynamoDB": `SET a = b, c = d + e REMOVE f ADD g h DELETE i j`, each
//! clause at most once. Literals are those of conditions, and `[]` is the empty list.

mod parser;
mod print;
#[cfg(test)]
mod tests;
mod typing;

use super::condition::{ConditionMistake, Names, Operand, Path};
use super::value_type::ValueType;
use super::write::{SetValue, Update};
use std::ops::Range;

/// What an update has to know of its names beyond a condition.
pub trait UpdateNames: Names {
    /// Whether a field, or what a dotted path names, is never null.
    fn is_non_null(&self, fields: &[&str]) -> bool;
    /// Whether an argument may be null or missing.
    fn may_be_null(&self, argument: &str) -> bool;
    /// Whether a value of the one type can be written where the other is kept; `Err` says why not.
    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String>;
    /// Whether a field has no attribute of its own, so that only keys are rewritten when it changes.
    fn keys_only(&self, field: &str) -> bool;
}

/// An update and where it says what it changes.
#[derive(Debug)]
pub struct Parsed {
    /// The update.
    pub update: Update,
    /// The changes, in the order of the text.
    pub changes: Vec<Change>,
}

/// Where an update says what it changes.
#[derive(Debug)]
pub struct Change {
    /// The item's field that the path begins with.
    pub field: String,
    /// The path that is written.
    pub path: Path,
    /// The byte range of the path.
    pub span: Range<usize>,
}

/// Parses an update expression and checks it against the names; mistakes are in the order of the text.
pub fn parse<'a>(text: &'a str, names: &'a dyn UpdateNames) -> Result<Parsed, Vec<ConditionMistake>> {
    parser::parse(text, names)
}

impl Update {
    /// The arguments that the update uses, each once.
    pub fn arguments<'u>(&'u self) -> Vec<&'u str> {
        let mut names: Vec<&'u str> = Vec::new();
        let mut see = |operand: &'u Operand| {
            if let Operand::Argument(name, _) = operand
                && !names.contains(&name.as_str())
            {
                names.push(name);
            }
        };
        self.set.iter().for_each(|(_, value)| value.operands(&mut see));
        // Those of fields that only keys hold stand in no clause.
        self.add.iter().chain(&self.delete).map(|(_, operand)| operand).chain(self.changes.values().flatten()).for_each(see);
        names
    }
}

impl SetValue {
    /// Sees the operands that what is set, or the elements of what is set, is equal to; those of sums are none of them.
    pub fn operands_set<'a>(&'a self, see: &mut dyn FnMut(&'a Operand)) {
        match self {
            SetValue::Operand(operand) => see(operand),
            SetValue::IfNotExists(_, value) => value.operands_set(see),
            SetValue::ListAppend(one, other) => {
                one.operands_set(see);
                other.operands_set(see);
            }
            SetValue::Plus(..) | SetValue::Minus(..) => {}
        }
    }

    /// Sees every operand, in the order of the text.
    pub fn operands<'a>(&'a self, see: &mut dyn FnMut(&'a Operand)) {
        match self {
            SetValue::Operand(operand) => see(operand),
            SetValue::Plus(one, other) | SetValue::Minus(one, other) | SetValue::ListAppend(one, other) => {
                one.operands(see);
                other.operands(see);
            }
            SetValue::IfNotExists(_, value) => value.operands(see),
        }
    }
}
