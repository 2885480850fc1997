//! The forms in which other programs keep values. Must not know types, fields or keys.

use crate::schema::scalar::time_form::TimeForm;
use std::fmt;

/// A form of a value, in an attribute or in a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    /// A time as text.
    Time(TimeForm),
    /// A number or a Boolean as text.
    Text,
    /// An enum, an ID or a Boolean as a number.
    Number,
}

impl Form {
    /// The form, if it is one of times.
    pub fn as_time(&self) -> Option<&TimeForm> {
        match self {
            Form::Time(form) => Some(form),
            Form::Text | Form::Number => None,
        }
    }

    /// Whether texts in the form sort as their values do.
    pub fn sorts(&self) -> bool {
        match self {
            Form::Time(form) => form.sorts(),
            Form::Text | Form::Number => false,
        }
    }
}

impl fmt::Display for Form {
    /// The form, to complete "is kept …".
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Form::Time(form) => write!(out, "as `{}`", form.text()),
            Form::Text => write!(out, "as text"),
            Form::Number => write!(out, "as a number"),
        }
    }
}
