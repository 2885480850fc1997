//! Scalar and enum types as they are kept in items, and the text and JSON forms of their values.

use std::sync::Arc;

/// How a leaf or embedded value is kept in an item.
#[derive(Debug, Clone)]
pub enum ValueType {
    /// `ID`: a string in the API; kept as a string.
    Id,
    /// `String`.
    String,
    /// `Int`: 32 bits.
    Int,
    /// `Float`.
    Float,
    /// `Boolean`.
    Boolean,
    /// `DateTime`: in the API and as text always UTC with milliseconds, `2026-11-20T09:30:00.000Z`.
    DateTime(Moment),
    /// `Date`: `2026-11-20`.
    Date,
    /// `Long`: 64 bits.
    Long,
    /// `Decimal`: up to 38 significant digits, a JSON string in the API, never through a float.
    Decimal,
    /// `JSON` and the schema's own scalars: any value.
    Json,
    /// `Binary`: base64 in the API.
    Binary,
    /// An enum, with the stored value of each of its values.
    Enum(Arc<EnumValues>),
    /// An object type without `@item`, kept as a map.
    Embedded(String),
    /// A list kept as a DynamoDB set of this element type (`stored: SET`).
    Set(Box<ValueType>),
}

/// How a DateTime is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// ISO 8601 text.
    Text,
    /// A number of seconds since 1970.
    EpochSeconds,
    /// A number of milliseconds since 1970.
    EpochMillis,
}

/// The values of an enum.
#[derive(Debug, Clone)]
pub struct EnumValues {
    /// The enum's name.
    pub name: String,
    /// API name → stored text, in the order of the schema.
    pub stored: indexmap::IndexMap<String, String>,
}

impl ValueType {
    /// The type of a built-in or provided scalar, by name; a scalar of the schema's own is [`ValueType::Json`].
    pub fn of_scalar(_name: &str) -> ValueType {
        todo!()
    }

    /// The text of a value as it stands in keys: canonical, so that equal values have equal text. `None` for null and unfit values.
    /// An enum value is given by its API name and written as its stored text.
    pub fn to_text(&self, _value: &serde_json::Value) -> Option<String> {
        todo!()
    }

    /// Reads a value back from the text of a key; enum text back to its API name.
    pub fn from_text(&self, _text: &str) -> Option<serde_json::Value> {
        todo!()
    }

    /// Input coercion of our own scalars (DateTime, Date, Long, Decimal, JSON, Binary) and the built-in ones, from JSON, to the canonical
    /// value; the error is a sentence for the caller.
    pub fn coerce(&self, _value: &serde_json::Value) -> Result<serde_json::Value, String> {
        todo!()
    }
}

/// The present time as a canonical DateTime.
pub fn now() -> String {
    todo!()
}
