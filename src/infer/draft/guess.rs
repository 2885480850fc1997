//! What the values of a field leave open in; the comment for it, and the question for a person, out.

use crate::infer::questions::{AnswerChoice, Question};
use std::fmt::{Display, Formatter, Result};

/// What is guessed of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guess {
    /// It has these texts only, each once here, in so many items; 0 if a source says so.
    Enum(Vec<String>, usize),
    /// Its numbers, so many, are seconds since 1970.
    EpochSeconds(usize),
    /// Its numbers, so many, are milliseconds since 1970.
    EpochMillis(usize),
    /// It has times in several forms.
    SeveralForms,
    /// It has values of these types.
    SeveralTypes(Vec<String>),
    /// It has no value.
    AlwaysNull,
}

impl Display for Guess {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match self {
            Self::Enum(texts, _) => write!(formatter, "an enum? {}", texts.join(", ")),
            Self::EpochSeconds(_) => formatter.write_str("epoch seconds"),
            Self::EpochMillis(_) => formatter.write_str("epoch milliseconds"),
            Self::SeveralForms => formatter.write_str("times in several forms"),
            Self::SeveralTypes(types) => write!(formatter, "of several types: {}", types.join(", ")),
            Self::AlwaysNull => formatter.write_str("always null"),
        }
    }
}

impl Guess {
    /// The question of a field with this coordinate.
    pub fn question(&self, coordinate: String) -> Option<Question> {
        let (items, text, choices) = match self {
            Self::Enum(texts, items) => (
                *items,
                format!("`{coordinate}` is one of {}. Are these all that there are?", texts.join(", ")),
                vec![
                    AnswerChoice::new("text", "no, or perhaps not: a text"),
                    AnswerChoice::new("enum", "yes: an enum, and each other text is a mistake"),
                ],
            ),
            Self::EpochSeconds(items) | Self::EpochMillis(items) => (
                *items,
                format!("The numbers of `{coordinate}` could be {self}. Is it a time?"),
                vec![AnswerChoice::new("time", "yes: a DateTime"), AnswerChoice::new("number", "no: a number")],
            ),
            Self::SeveralForms | Self::SeveralTypes(_) | Self::AlwaysNull => return None,
        };
        Some(Question { id: coordinate, text, items, choices })
    }
}
