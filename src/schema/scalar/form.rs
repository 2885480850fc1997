//! The forms in which items keep values. Must not know types, fields or keys.

use crate::schema::scalar::aws::AwsScalar;
use crate::schema::scalar::time_form::TimeForm;
use std::borrow::Cow;
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
    /// A text in lower case, in a key. Its values are those that have this text.
    Lower,
    /// A text in upper case, in a key.
    Upper,
    /// A text or a number of a scalar of AWS AppSync, kept as it is. Only values of callers are checked.
    Aws(AwsScalar),
}

/// How a map keeps the objects of a list: the value of one of their fields is the key of each entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapForm {
    /// The embedded type of the objects.
    pub element: String,
    /// The field whose values are the keys.
    pub by: MapField,
    /// The field whose values are the entries, if these are no objects.
    pub value: Option<MapField>,
}

/// A field of the objects of a map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapField {
    /// Its name.
    pub field: String,
    /// The attribute that it has in an object of its own.
    pub attribute: String,
}

impl Form {
    /// The form, if it is one of times.
    pub fn as_time(&self) -> Option<&TimeForm> {
        match self {
            Form::Time(form) => Some(form),
            _ => None,
        }
    }

    /// Whether texts in the form sort as their values do.
    pub fn sorts(&self) -> bool {
        match self {
            Form::Time(form) => form.sorts(),
            Form::Text | Form::Number => false,
            // The order of keys is that of their text.
            Form::Lower | Form::Upper => true,
            Form::Aws(scalar) => scalar.sorts(),
        }
    }

    /// Whether it is one case, which several values share.
    pub fn is_case(&self) -> bool {
        matches!(self, Form::Lower | Form::Upper)
    }

    /// A text in the form's case (Unicode Standard, section 3.13, "Default Case Conversion", as in ECMAScript). Other
    /// forms leave it as it is.
    pub fn fold<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Form::Lower if text.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_uppercase()) => {
                Cow::Owned(text.to_lowercase())
            }
            Form::Upper if text.bytes().any(|byte| !byte.is_ascii() || byte.is_ascii_lowercase()) => {
                Cow::Owned(text.to_uppercase())
            }
            _ => Cow::Borrowed(text),
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
            Form::Lower => write!(out, "in lower case"),
            Form::Upper => write!(out, "in upper case"),
            Form::Aws(_) => write!(out, "as it was given"),
        }
    }
}
