//! The parts of a template, and what can be wrong with its text or with the values that it writes. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::scalar::spread::Spread;
use crate::schema::scalar::time_form::usual;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::limits::{Limits, TextEnd};
use serde_json::Value;
use std::sync::Arc;

/// The longest text that a key attribute may hold, in bytes (DynamoDB developer guide, "Constraints in Amazon
/// DynamoDB": 2,048 for a partition key). The table checks the limit of a sort key, 1,024.
pub const MAX_KEY_BYTES: usize = 2048;

/// A part of a template.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text that is copied into the key.
    Literal(String),
    /// A field's value.
    Placeholder {
        /// The field's name; for a claim of the caller, its path: `auth.tenant`.
        field: String,
        /// The field's type, which gives the value's form.
        value: ValueType,
        /// Zero-padded width of a number: `{score:08}` is 8.
        width: Option<u8>,
        /// Which free texts its values can be, where that distinguishes keys or shows where they end. Another text is
        /// no value then.
        limits: Option<Arc<Limits>>,
    },
}

impl Part {
    /// Its text, if it is a literal.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Part::Literal(literal) => Some(literal),
            Part::Placeholder { .. } => None,
        }
    }

    /// Whether it is Binary.
    pub fn is_binary(&self) -> bool {
        matches!(self, Part::Placeholder { value: ValueType::Binary, .. })
    }

    /// Where its text ends, if the limits of its texts show it.
    pub fn end(&self) -> Option<TextEnd> {
        match self {
            Part::Placeholder { limits: Some(limits), .. } => limits.end,
            _ => None,
        }
    }

    /// Makes the end of its text unknown, so that no key with it is read back.
    pub fn make_unread(&mut self) {
        if let Part::Placeholder { limits, .. } = self {
            *limits = Some(Arc::new(Limits { end: Some(TextEnd::Unread), ..Limits::NONE }));
        }
    }

    /// Whether every text that begins with this one begins with a value that does, if the limits of its texts show
    /// where they end.
    pub fn is_beginning(&self, prefix: &str) -> bool {
        let Part::Placeholder { limits: Some(limits), .. } = self else { return false };
        match limits.end {
            Some(TextEnd::After(count)) => prefix.chars().count() <= count,
            Some(TextEnd::BeforeOther) => prefix.bytes().all(|byte| limits.bytes.has(byte)),
            Some(TextEnd::Back { .. } | TextEnd::Unread) | None => prefix.is_empty(),
        }
    }

    /// What the template relies on of its limits.
    pub fn needed(&self) -> Option<Limits> {
        match self {
            Part::Placeholder { limits: Some(limits), .. } => limits.needed(),
            _ => None,
        }
    }

    /// It with no limits but those that the template relies on.
    pub fn relied_on(&self) -> Part {
        let mut part = self.clone();
        if let Part::Placeholder { limits, .. } = &mut part {
            *limits = self.needed().map(Arc::new);
        }
        part
    }

    /// Whether all texts of its values are free, have as many characters as each other in a key before this part, and
    /// are not escaped. If so, they sort as the values do.
    pub fn has_one_length(&self, next: Option<&Part>) -> bool {
        match self {
            Part::Placeholder { limits: Some(limits), .. } => {
                limits.is_needed && limits.characters_before(next.and_then(Part::literal)).is_some()
            }
            _ => false,
        }
    }
}

/// The value of a placeholder, where it stands.
#[derive(Debug, Clone, Copy)]
pub enum PartValue<'v> {
    /// A string.
    Text(&'v str),
    /// Any value.
    Json(&'v Value),
}

/// What holds the value of a placeholder.
pub trait AsPartValue {
    /// The value.
    fn as_part_value(&self) -> PartValue<'_>;
}

impl AsPartValue for Value {
    fn as_part_value(&self) -> PartValue<'_> {
        PartValue::Json(self)
    }
}

impl<V: AsPartValue> AsPartValue for &V {
    fn as_part_value(&self) -> PartValue<'_> {
        (**self).as_part_value()
    }
}

/// Field names and values, as a template reads them back.
pub type Fields = Vec<(String, Value)>;

/// A value in a key that is spelt otherwise than Keyfold would write it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misspelling {
    /// The field.
    pub field: String,
    /// Its text.
    pub found: String,
    /// The text that Keyfold would write; `None` if the text is no value of the field's type.
    pub own: Option<String>,
}

impl Misspelling {
    /// The placeholder that would read the text, `{at:%s}`, if it is in a usual form.
    pub fn fitting(&self) -> Option<String> {
        let form = usual(&self.found).into_iter().find(|form| form.length() == self.found.len())?;
        Some(format!("{{{}:{}}}", self.field, form.text()))
    }
}

/// A mistake in a template's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateMistake {
    /// Byte range within the template's text.
    pub span: std::ops::Range<usize>,
    /// What is wrong.
    pub kind: TemplateMistakeKind,
}

/// What can be wrong with a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TemplateMistakeKind {
    /// A brace that is not closed, is empty or holds no name; a sentence says which.
    Malformed(String),
    /// A placeholder whose field does not exist: its name.
    UnknownField(String),
    /// A placeholder whose field cannot be part of a key (a list, an embedded type, JSON …): its name.
    NotAKeyType(String),
    /// A shard or replica whose count is missing or out of range; a sentence.
    Spread(String),
    /// Two different values could make the same text; a sentence says which and why.
    NotInvertible {
        /// The sentence.
        why: String,
        /// The fields of which one length would do.
        lengths: Vec<String>,
    },
}

/// Why a key could not be made from values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RenderMistake {
    /// A value does not have the form that its placeholder needs (a number too wide, a negative padded number …): the
    /// field and a sentence.
    Unfit(String, String),
}

/// The spread of a part that is a shard's or replica's number.
pub fn spread_of(part: &Part) -> Option<Spread> {
    match part {
        Part::Placeholder { value: ValueType::Spread(spread), .. } => Some(*spread),
        _ => None,
    }
}

/// The claim of a part that is one.
pub fn claim_of(part: &Part) -> Option<ClaimPath> {
    match part {
        Part::Placeholder { field, value: ValueType::Claim, .. } => ClaimPath::parse(field),
        _ => None,
    }
}
