//! The attribute names and values of an expression in, their placeholders out.
//!
//! Names and values always get placeholders, so reserved words and odd names need no care (DynamoDB developer guide,
//! "Expression attribute names (aliases)"). Equal ones share a placeholder, since DynamoDB counts them.

use crate::schema::expression::operand::Segment;
use crate::table::data::attribute::Attribute;
use crate::table::data::call::Expression;
use std::collections::BTreeMap;

/// The placeholders of one expression. One call can contain expressions with different letters.
#[derive(Debug, Clone)]
pub struct Placeholders {
    letter: char,
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Attribute>,
}

impl Placeholders {
    /// No placeholders yet. With the letter `f` they will be `#f0`, `#f1` … and `:f0`, `:f1` ….
    pub fn new(letter: char) -> Self {
        Self { letter, names: BTreeMap::new(), values: BTreeMap::new() }
    }

    /// The placeholder of an attribute's name.
    pub fn name(&mut self, attribute: &str) -> String {
        if let Some((name, _)) = self.names.iter().find(|(_, known)| *known == attribute) {
            return name.clone();
        }
        let name = format!("#{}{}", self.letter, self.names.len());
        self.names.insert(name.clone(), attribute.to_owned());
        name
    }

    /// The placeholder of a value.
    pub fn value(&mut self, attribute: Attribute) -> String {
        if let Some((name, _)) = self.values.iter().find(|(_, known)| **known == attribute) {
            return name.clone();
        }
        let name = format!(":{}{}", self.letter, self.values.len());
        self.values.insert(name.clone(), attribute);
        name
    }

    /// A path with placeholders for its names.
    pub fn path(&mut self, segments: &[Segment]) -> String {
        let mut text = String::new();
        for segment in segments {
            match segment {
                Segment::Attribute(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(&self.name(name));
                }
                Segment::Index(position) => text.push_str(&format!("[{position}]")),
                Segment::InKey(field) => text.push_str(&self.name(&field.key)),
            }
        }
        text
    }

    /// The expression of a text that uses these placeholders.
    pub fn expression(self, text: String) -> Expression {
        Expression { text, names: self.names, values: self.values }
    }
}
