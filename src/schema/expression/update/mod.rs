//! DynamoDB's update grammar in GraphQL field names: text and the meaning of its names in; out, a checked update in
//! stored attribute names, or every mistake. Must not know keys, requests or values of arguments.
//!
//! Grammar: DynamoDB developer guide, "Using update expressions in DynamoDB":
//! `SET a = b, c = d + e REMOVE f ADD g h DELETE i j`, each clause at most once. Literals are the same as in
//! conditions, and `[]` is the empty list.

pub mod parser;
mod print;
pub mod reader;
#[cfg(test)]
mod tests;
mod typing;

use crate::schema::expression::operand::{Operand, Path};
use indexmap::IndexMap;

/// An update expression over an item's stored attributes
/// (DynamoDB developer guide, "Using update expressions in DynamoDB").
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Update {
    /// `SET path = value`.
    pub set: Vec<(Path, SetValue)>,
    /// `REMOVE path`.
    pub remove: Vec<Path>,
    /// `ADD path value`: adds a number to a number, or elements to a set.
    pub add: Vec<(Path, Operand)>,
    /// `DELETE path value`: removes elements from a set.
    pub delete: Vec<(Path, Operand)>,
    /// The fields whose new values must be known, because keys are made of them, and that follow from other fields of
    /// the item: these are read first. They are in no clause.
    pub computed: IndexMap<String, SetValue>,
    /// Each field of the item that the update changes, with the operand if the update sets the field to a plain value
    /// (null: it removes the field). A field without an attribute of its own, which only keys hold, is listed here but
    /// is in no clause: only its keys are rewritten.
    pub changes: IndexMap<String, Option<Operand>>,
}

/// What an attribute is set to.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// A value or another attribute; a literal may be `[]`.
    Operand(Operand),
    /// `a + b`
    Plus(Box<SetValue>, Box<SetValue>),
    /// `a - b`
    Minus(Box<SetValue>, Box<SetValue>),
    /// `if_not_exists(path, value)`
    IfNotExists(Path, Box<SetValue>),
    /// `list_append(a, b)`
    ListAppend(Box<SetValue>, Box<SetValue>),
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
        let values = self.set.iter().map(|(_, value)| value).chain(self.computed.values());
        values.for_each(|value| value.operands(&mut see));
        // The operands of fields that only keys hold are in no clause.
        self.add
            .iter()
            .chain(&self.delete)
            .map(|(_, operand)| operand)
            .chain(self.changes.values().flatten())
            .for_each(see);
        names
    }
}

impl Update {
    /// Gives each argument another name.
    pub fn rename_arguments(&mut self, rename: &dyn Fn(&mut String)) {
        let values = self.set.iter_mut().map(|(_, value)| value).chain(self.computed.values_mut());
        values.for_each(|value| value.rename_arguments(rename));
        let operands = self.add.iter_mut().chain(&mut self.delete).map(|(_, operand)| operand);
        operands.chain(self.changes.values_mut().flatten()).for_each(|operand| operand.rename_argument(rename));
    }

    /// Changes each path that it writes or reads.
    pub fn change_paths(&mut self, change: &dyn Fn(&mut Path)) {
        for (path, value) in &mut self.set {
            change(path);
            value.change_paths(change);
        }
        self.remove.iter_mut().for_each(change);
        for (path, operand) in self.add.iter_mut().chain(&mut self.delete) {
            change(path);
            operand.path_mut().into_iter().for_each(change);
        }
    }

    /// The attributes whose values the update copies into another attribute, or computes another from.
    pub fn copied(&self) -> Vec<&str> {
        let mut copied = Vec::new();
        for (path, value) in &self.set {
            let mut read = Vec::new();
            value.paths(&mut |path| read.extend(path.attribute()));
            copied.extend(read.into_iter().filter(|attribute| path.attribute() != Some(attribute)));
        }
        for value in self.computed.values() {
            value.paths(&mut |path| copied.extend(path.attribute()));
        }
        let operands = self.add.iter().chain(&self.delete).map(|(_, operand)| operand);
        copied.extend(operands.filter_map(|operand| operand.path()?.attribute()));
        copied
    }
}

impl SetValue {
    /// Gives each argument another name.
    pub fn rename_arguments(&mut self, rename: &dyn Fn(&mut String)) {
        match self {
            SetValue::Operand(operand) => operand.rename_argument(rename),
            SetValue::IfNotExists(_, value) => value.rename_arguments(rename),
            SetValue::Plus(one, other) | SetValue::Minus(one, other) | SetValue::ListAppend(one, other) => {
                one.rename_arguments(rename);
                other.rename_arguments(rename);
            }
        }
    }

    /// Changes each path that is read.
    fn change_paths(&mut self, change: &dyn Fn(&mut Path)) {
        match self {
            SetValue::Operand(operand) => operand.path_mut().into_iter().for_each(change),
            SetValue::IfNotExists(path, value) => {
                change(path);
                value.change_paths(change);
            }
            SetValue::Plus(one, other) | SetValue::Minus(one, other) | SetValue::ListAppend(one, other) => {
                one.change_paths(change);
                other.change_paths(change);
            }
        }
    }

    /// Calls `see` with every path that is read.
    pub fn paths<'a>(&'a self, see: &mut dyn FnMut(&'a Path)) {
        if let SetValue::IfNotExists(path, _) = self {
            see(path);
        }
        match self {
            SetValue::Operand(operand) => operand.path().into_iter().for_each(see),
            SetValue::Plus(one, other) | SetValue::Minus(one, other) | SetValue::ListAppend(one, other) => {
                one.paths(see);
                other.paths(see);
            }
            SetValue::IfNotExists(_, value) => value.paths(see),
        }
    }

    /// Calls `see` with each operand that the attribute, or an element of it, is set to. The operands of sums and
    /// differences are left out.
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

    /// Calls `see` with every operand, in the order of the text.
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
