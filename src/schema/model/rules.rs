//! The rules of stored fields: `@default`, `@constraint`, `@unique` and `@version`. Plain data; must not know how
//! values are written.

use crate::schema::expression::claim::ClaimPath;
use std::fmt::{Display, Formatter, Result};

/// A default value of a field.
#[derive(Debug, Clone, PartialEq)]
pub struct DefaultValue {
    /// The parts, joined as text.
    pub parts: Vec<DefaultPart>,
    /// If set, the value is this function's digest of the text, in lower-case hex.
    pub hash: Option<HashFunction>,
    /// Whether it is made at every write, not only when the item is created.
    pub every_write: bool,
}

impl DefaultValue {
    /// The fields that it is made of.
    pub fn fields(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            DefaultPart::Field(field) => Some(field.as_str()),
            _ => None,
        })
    }

    /// The claims that it is made of.
    pub fn claims(&self) -> impl Iterator<Item = &ClaimPath> {
        self.parts.iter().filter_map(|part| match part {
            DefaultPart::Claim(claim) => Some(claim),
            _ => None,
        })
    }

    /// Whether it has a random part, so that no two values of it are equal.
    pub fn is_random(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, DefaultPart::Uuid | DefaultPart::Uuid7))
    }

    /// Whether it has a new value each time that it is made, even if the other fields stay the same.
    pub fn varies(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(part, DefaultPart::Uuid | DefaultPart::Uuid7 | DefaultPart::Now { .. } | DefaultPart::Claim(_))
        })
    }
}

impl Display for DefaultValue {
    /// As the schema writes it, in quotes.
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("\"")?;
        for part in &self.parts {
            match part {
                DefaultPart::Literal(text) => f.write_str(text)?,
                DefaultPart::Uuid => f.write_str("{uuid}")?,
                DefaultPart::Uuid7 => f.write_str("{uuid7}")?,
                DefaultPart::Now { offset: 0 } => f.write_str("{now}")?,
                DefaultPart::Now { offset } => write!(f, "{{now{offset:+}s}}")?,
                DefaultPart::Claim(claim) => write!(f, "{{{claim}}}")?,
                DefaultPart::Field(field) => write!(f, "{{{field}}}")?,
            }
        }
        f.write_str("\"")
    }
}

/// A part of a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultPart {
    /// Text as it stands; a default of a single literal is read as a value of the field's type.
    Literal(String),
    /// `{uuid}`: a random UUID (version 4).
    Uuid,
    /// `{uuid7}`: a UUID ordered by time (version 7).
    Uuid7,
    /// `{now}`, `{now+24h}`: the time of the request, plus or minus some seconds.
    Now {
        /// Seconds to add.
        offset: i64,
    },
    /// `{auth.sub}`: a claim of the caller, as text.
    Claim(ClaimPath),
    /// `{field}`: another field of the item, as text.
    Field(String),
}

/// A hash function of a default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashFunction {
    /// MD5.
    Md5,
    /// SHA-256.
    Sha256,
}

/// The rules of a stored field (`@default`, `@constraint`, `@unique`, `@version`).
#[derive(Debug, Clone, Default)]
pub struct Rules {
    /// `@default`.
    pub default: Option<DefaultValue>,
    /// `@constraint`.
    pub constraint: Option<Constraint>,
    /// `@unique`: no two items of the type have the same value.
    pub unique: bool,
    /// `@version`: 1 when created, one more at every update.
    pub version: bool,
    /// Whether the field shows a constant of its type: every item has the same value.
    pub constant: bool,
}

impl Rules {
    /// Whether no argument and no expression gives the field a value.
    pub fn only_keyfold_writes(&self) -> bool {
        self.version || self.constant
    }
}

/// What a value must be (`@constraint`). Lengths are in characters (Unicode scalar values). On a list, all but the
/// number of its elements is about each of them.
#[derive(Debug, Clone, Default)]
pub struct Constraint {
    /// The least length.
    pub min_length: Option<u64>,
    /// The greatest length.
    pub max_length: Option<u64>,
    /// A regular expression that the whole text must match.
    pub pattern: Option<String>,
    /// A named form.
    pub format: Option<Format>,
    /// The least number.
    pub min: Option<f64>,
    /// The greatest number.
    pub max: Option<f64>,
    /// The least number of elements of a list.
    pub min_items: Option<u64>,
    /// The greatest number of elements of a list.
    pub max_items: Option<u64>,
}

/// A named form of text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// An e-mail address, as HTML's `<input type=email>` accepts it.
    Email,
    /// An absolute http or https URL.
    Url,
    /// A UUID.
    Uuid,
    /// A ULID.
    Ulid,
}
