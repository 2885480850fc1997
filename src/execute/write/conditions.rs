//! Conditions of a call put together: that the item is there or not, what was read of it, and the author's own.

use crate::table::attribute::{Attribute, Item};
use crate::table::call::Expression;
use std::collections::BTreeMap;

/// Conditions that must all hold.
#[derive(Debug, Default)]
pub(super) struct Conditions {
    parts: Vec<String>,
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Attribute>,
}

impl Conditions {
    /// The item is there: it has its partition key attribute.
    pub fn exists(&mut self, attribute: &str) {
        let name = self.name(attribute);
        self.parts.push(format!("attribute_exists({name})"));
    }

    /// The item is not there, or has no such attribute.
    pub fn absent(&mut self, attribute: &str) {
        let name = self.name(attribute);
        self.parts.push(format!("attribute_not_exists({name})"));
    }

    /// The attribute has this value.
    pub fn equals(&mut self, attribute: &str, value: Attribute) {
        let name = self.name(attribute);
        let value = self.value(value);
        self.parts.push(format!("{name} = {value}"));
    }

    /// The attribute has this value, or is missing, as it is where there is no item.
    pub fn absent_or_equal(&mut self, attribute: &str, value: Attribute) {
        let name = self.name(attribute);
        let value = self.value(value);
        self.parts.push(format!("(attribute_not_exists({name}) OR {name} = {value})"));
    }

    /// The attribute is as it was read: of the same value, or missing.
    pub fn unchanged(&mut self, attribute: &str, item: &Item) {
        match item.get(attribute) {
            Some(value) => self.equals(attribute, value.clone()),
            None => self.absent(attribute),
        }
    }

    /// The element at a position of a list has this value in one of its attributes.
    pub fn element_equals(&mut self, list: &str, position: usize, attribute: &str, value: Attribute) {
        let (list, attribute, value) = (self.name(list), self.name(attribute), self.value(value));
        self.parts.push(format!("{list}[{position}].{attribute} = {value}"));
    }

    /// A list does not hold this element.
    pub fn lacks(&mut self, list: &str, element: Attribute) {
        let (list, element) = (self.name(list), self.value(element));
        self.parts.push(format!("(NOT contains({list}, {element}))"));
    }

    /// Another expression, with placeholders of its own.
    pub fn and(&mut self, other: Expression) {
        self.parts.push(format!("({})", other.text));
        self.names.extend(other.names);
        self.values.extend(other.values);
    }

    /// Where the premise holds, so does another expression, with placeholders of its own. DynamoDB refuses parentheses around
    /// parentheses, and each part of the premise has its own.
    pub fn implies(&mut self, premise: impl FnOnce(&mut Self), other: Expression) {
        let before = std::mem::take(&mut self.parts);
        premise(self);
        let premise: Vec<String> = std::mem::replace(&mut self.parts, before).iter().map(|part| format!("(NOT {part})")).collect();
        self.parts.push(format!("({} OR ({}))", premise.join(" OR "), other.text));
        self.names.extend(other.names);
        self.values.extend(other.values);
    }

    /// The expression; `None` where nothing is demanded.
    pub fn build(self) -> Option<Expression> {
        let text = self.parts.join(" AND ");
        (!text.is_empty()).then_some(Expression { text, names: self.names, values: self.values })
    }

    fn name(&mut self, attribute: &str) -> String {
        if let Some((name, _)) = self.names.iter().find(|(name, known)| name.starts_with("#c") && *known == attribute) {
            return name.clone();
        }
        let name = format!("#c{}", self.names.len());
        self.names.insert(name.clone(), attribute.to_owned());
        name
    }

    fn value(&mut self, value: Attribute) -> String {
        let name = format!(":c{}", self.values.len());
        self.values.insert(name.clone(), value);
        name
    }
}
