//! The value of a field where it stands. Must not know what it is for.

use crate::schema::template::part::{AsPartValue, PartValue};
use serde_json::Value;
use std::borrow::Cow;

/// A field's value, borrowed from an item or from the arguments, or owned.
#[derive(Debug, Clone)]
pub enum BoundValue<'s> {
    /// A text.
    Text(&'s str),
    /// Any value.
    Json(&'s Value),
    /// Any value of its own.
    Own(Box<Value>),
}

impl BoundValue<'_> {
    /// The value as JSON.
    pub fn to_json(&self) -> Cow<'_, Value> {
        match self {
            Self::Text(text) => Cow::Owned(Value::from(*text)),
            Self::Json(value) => Cow::Borrowed(value),
            Self::Own(value) => Cow::Borrowed(value),
        }
    }

    /// The value as JSON of its own.
    pub fn into_json(self) -> Value {
        match self {
            Self::Text(text) => Value::from(text),
            Self::Json(value) => value.clone(),
            Self::Own(value) => *value,
        }
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.as_part_value(), PartValue::Json(Value::Array(_)))
    }
}

impl From<Value> for BoundValue<'_> {
    fn from(value: Value) -> Self {
        Self::Own(Box::new(value))
    }
}

impl AsPartValue for BoundValue<'_> {
    fn as_part_value(&self) -> PartValue<'_> {
        match self {
            Self::Text(text) => PartValue::Text(text),
            Self::Json(value) => PartValue::Json(value),
            Self::Own(value) => PartValue::Json(value),
        }
    }
}
