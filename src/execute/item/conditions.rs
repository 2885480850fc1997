//! Builds the condition of a call: the item exists or not, the values read are unchanged, and the author's own
//! condition holds.

use crate::execute::values::encode;
use crate::schema::model::keys::ConstantValue;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::call::Expression;
use std::collections::BTreeMap;

/// Conditions that must all hold.
#[derive(Debug, Clone)]
pub struct Conditions {
    letter: char,
    parts: Vec<String>,
    names: BTreeMap<String, String>,
    values: BTreeMap<String, Attribute>,
}

impl Default for Conditions {
    fn default() -> Self {
        Self::lettered('c')
    }
}

impl Conditions {
    /// No condition yet. Placeholders begin with this letter, so that expressions of different letters can be joined.
    pub fn lettered(letter: char) -> Self {
        Self { letter, parts: Vec::new(), names: BTreeMap::new(), values: BTreeMap::new() }
    }

    /// The item exists: it has its partition key attribute.
    pub fn exists(&mut self, attribute: &str) {
        let name = self.name(attribute);
        self.demand(format!("attribute_exists({name})"));
    }

    /// The item does not exist, or lacks the attribute.
    pub fn absent(&mut self, attribute: &str) {
        let name = self.name(attribute);
        self.demand(format!("attribute_not_exists({name})"));
    }

    /// The attribute has this value.
    pub fn equals(&mut self, attribute: &str, value: Attribute) {
        let name = self.name(attribute);
        let value = self.value(value);
        self.demand(format!("{name} = {value}"));
    }

    /// The attribute has this value or is missing. It is also missing if there is no item.
    pub fn absent_or_equal(&mut self, attribute: &str, value: Attribute) {
        let name = self.name(attribute);
        let value = self.value(value);
        self.demand(format!("(attribute_not_exists({name}) OR {name} = {value})"));
    }

    /// There is no item, or these attributes have these values. `partition` is the partition key attribute.
    pub fn absent_or_with(&mut self, partition: &str, values: impl IntoIterator<Item = (String, Attribute)>) {
        let partition = self.name(partition);
        let equal: Vec<String> =
            values.into_iter().map(|(name, value)| format!("{} = {}", self.name(&name), self.value(value))).collect();
        let equal = if equal.len() == 1 { equal.concat() } else { format!("({})", equal.join(" AND ")) };
        self.demand(format!("(attribute_not_exists({partition}) OR {equal})"));
    }

    /// The attribute is missing, or is no number from the first to the last of these.
    pub fn not_within(&mut self, attribute: &str, bounds: [Attribute; 2]) {
        let within = self.within(attribute, bounds);
        self.demand(format!("(NOT {within})"));
    }

    /// There is no item, or its attribute is a number from the first to the last of these and the other parts hold.
    pub fn absent_or_within(
        &mut self,
        partition: &str,
        (attribute, bounds): (&str, [Attribute; 2]),
        others: impl FnOnce(&mut Self),
    ) {
        let partition = self.name(partition);
        let within = self.within(attribute, bounds);
        let before = std::mem::take(&mut self.parts);
        others(self);
        let others = std::mem::replace(&mut self.parts, before);
        let all: Vec<String> = std::iter::once(within).chain(others).collect();
        let all = if all.len() == 1 { all.concat() } else { format!("({})", all.join(" AND ")) };
        self.demand(format!("(attribute_not_exists({partition}) OR {all})"));
    }

    /// There is no guard, or one with these attributes, or one whose attribute is a number from the first to the last
    /// of these.
    pub fn free_guard(
        &mut self,
        partition: &str,
        owner: &[(String, Attribute)],
        (attribute, bounds): (&str, [Attribute; 2]),
    ) {
        let mut ways = vec![format!("attribute_not_exists({})", self.name(partition))];
        let equal =
            |(name, value): &(String, Attribute)| format!("{} = {}", self.name(name), self.value(value.clone()));
        let equal: Vec<String> = owner.iter().map(equal).collect();
        match equal.len() {
            0 => {}
            1 => ways.push(equal.concat()),
            _ => ways.push(format!("({})", equal.join(" AND "))),
        }
        ways.push(self.within(attribute, bounds));
        self.demand(format!("({})", ways.join(" OR ")));
    }

    fn within(&mut self, attribute: &str, bounds: [Attribute; 2]) -> String {
        let name = self.name(attribute);
        let [first, last] = bounds.map(|bound| self.value(bound));
        format!("{name} BETWEEN {first} AND {last}")
    }

    /// There is no item, or one of these attributes is there and has another value.
    pub fn absent_or_differs(&mut self, partition: &str, constants: &[(String, ConstantValue)]) {
        let partition = self.name(partition);
        let differs = |(name, value): &(String, ConstantValue)| {
            let (name, value) = (self.name(name), self.value(encode::constant(value)));
            format!(" OR (attribute_exists({name}) AND {name} <> {value})")
        };
        let differs: String = constants.iter().map(differs).collect();
        self.demand(format!("(attribute_not_exists({partition}){differs})"));
    }

    /// The attribute is unchanged since it was read: it has the same value, or is still missing.
    pub fn unchanged(&mut self, attribute: &str, item: &Item) {
        match item.get(attribute) {
            Some(value) => self.equals(attribute, value.clone()),
            None => self.absent(attribute),
        }
    }

    /// The element at a position of a list has this value in one of its attributes.
    pub fn element_equals(&mut self, list: &str, position: usize, attribute: &str, value: Attribute) {
        let (list, attribute, value) = (self.name(list), self.name(attribute), self.value(value));
        self.demand(format!("{list}[{position}].{attribute} = {value}"));
    }

    /// A list does not hold this element.
    pub fn lacks(&mut self, list: &str, element: Attribute) {
        let (list, element) = (self.name(list), self.value(element));
        self.demand(format!("(NOT contains({list}, {element}))"));
    }

    /// Adds another expression that has placeholders of its own.
    pub fn and(&mut self, other: Expression) {
        self.demand(format!("({})", other.text));
        self.names.extend(other.names);
        self.values.extend(other.values);
    }

    /// Adds the parts of another expression, which are joined by AND. It has placeholders of its own.
    pub fn extend(&mut self, other: Option<Expression>) {
        let Some(other) = other else { return };
        self.parts.push(other.text);
        self.names.extend(other.names);
        self.values.extend(other.values);
    }

    /// If the premise holds, another expression with placeholders of its own must hold. Parts of the premise bring
    /// their own parentheses, because DynamoDB refuses double ones.
    pub fn implies(&mut self, premise: impl FnOnce(&mut Self), other: Expression) {
        let before = std::mem::take(&mut self.parts);
        premise(self);
        let premise: Vec<String> =
            std::mem::replace(&mut self.parts, before).iter().map(|part| format!("(NOT {part})")).collect();
        self.demand(format!("({} OR ({}))", premise.join(" OR "), other.text));
        self.names.extend(other.names);
        self.values.extend(other.values);
    }

    /// The expression; `None` without a condition.
    pub fn build(self) -> Option<Expression> {
        let text = self.parts.join(" AND ");
        (!text.is_empty()).then_some(Expression { text, names: self.names, values: self.values })
    }

    /// Adds a condition, unless it is there already.
    fn demand(&mut self, part: String) {
        if !self.parts.contains(&part) {
            self.parts.push(part);
        }
    }

    fn name(&mut self, attribute: &str) -> String {
        if let Some((name, _)) =
            self.names.iter().find(|(name, known)| name[1..].starts_with(self.letter) && *known == attribute)
        {
            return name.clone();
        }
        let name = format!("#{}{}", self.letter, self.names.len());
        self.names.insert(name.clone(), attribute.to_owned());
        name
    }

    fn value(&mut self, value: Attribute) -> String {
        if let Some((name, _)) =
            self.values.iter().find(|(name, known)| name[1..].starts_with(self.letter) && **known == value)
        {
            return name.clone();
        }
        let name = format!(":{}{}", self.letter, self.values.len());
        self.values.insert(name.clone(), value);
        name
    }
}
