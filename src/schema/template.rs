//! Key templates: `Group#{groupId}` with typed, ordered, invertible placeholders.

use super::value_type::ValueType;
use serde_json::Value;

/// A parsed key template.
#[derive(Debug, Clone)]
pub struct Template {
    /// Literals and placeholders in order; never two literals side by side.
    pub parts: Vec<Part>,
}

/// A part of a template.
#[derive(Debug, Clone)]
pub enum Part {
    /// Text as it stands in the key.
    Literal(String),
    /// A field's value.
    Placeholder {
        /// The field's name.
        field: String,
        /// The field's type, which gives the value's form.
        value: ValueType,
        /// Zero-padded width of a number: `{score:08}` is 8.
        width: Option<u8>,
    },
}

/// Field name → value, as a template reads it back.
pub type Fields = Vec<(String, Value)>;
