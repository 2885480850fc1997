//! The document path of an expression in; the place in an item that it names out.

use crate::store::data::attribute::{Attribute, Item};
use crate::store::error::Answer;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::tokens::{Token, Tokens};

/// A path: an attribute, and the way into it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path {
    pub attribute: String,
    pub steps: Vec<Step>,
}

/// A member of a map, or an element of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Member(String),
    Element(usize),
}

impl Path {
    pub fn parse(tokens: &mut Tokens, placeholders: &Placeholders) -> Answer<Self> {
        let attribute = name(tokens, placeholders)?;
        let mut steps = Vec::new();
        loop {
            if tokens.take(".") {
                steps.push(Step::Member(name(tokens, placeholders)?));
            } else if tokens.take("[") {
                let Token::Number(index) = tokens.next()? else {
                    return Err(tokens.error("Syntax error: an index is expected"));
                };
                steps.push(Step::Element(index));
                tokens.need("]")?;
            } else {
                return Ok(Self { attribute, steps });
            }
        }
    }

    pub fn find<'a>(&self, item: &'a Item) -> Option<&'a Attribute> {
        self.steps.iter().try_fold(item.get(&self.attribute)?, |value, step| match (value, step) {
            (Attribute::M(members), Step::Member(name)) => members.get(name),
            (Attribute::L(elements), Step::Element(index)) => elements.get(*index),
            _ => None,
        })
    }

    /// Whether one of the two leads through the other, or both are the same.
    pub fn overlaps(&self, other: &Self) -> bool {
        let both = self.steps.iter().zip(&other.steps);
        self.attribute == other.attribute && both.into_iter().all(|(one, other)| one == other)
    }

    /// Whether the two take a value for a map and for a list.
    pub fn conflicts(&self, other: &Self) -> bool {
        let mut both = self.steps.iter().zip(&other.steps).skip_while(|(one, other)| one == other);
        let is_conflict =
            matches!(both.next(), Some((Step::Member(_), Step::Element(_)) | (Step::Element(_), Step::Member(_))));
        self.attribute == other.attribute && is_conflict
    }
}

fn name(tokens: &mut Tokens, placeholders: &Placeholders) -> Answer<String> {
    match tokens.next()? {
        Token::Word(name) => Ok(name),
        Token::Name(placeholder) => placeholders.name(&placeholder),
        other => Err(tokens.error(&format!("Syntax error: a name is expected, not {other:?}"))),
    }
}
