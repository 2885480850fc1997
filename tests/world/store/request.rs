//! The JSON body of a request in; its members by their names and types out.

use crate::store::error::{Answer, ModelError};
use serde_json::{Map, Value};

/// The members of a request, or of an object in one.
#[derive(Clone, Copy)]
pub struct Request<'a>(&'a Map<String, Value>);

impl<'a> Request<'a> {
    pub fn new(body: &'a Value) -> Answer<Self> {
        body.as_object().map(Self).ok_or_else(|| ModelError::malformed("an object is expected"))
    }

    /// A member, unless it is left out or null.
    pub fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    pub fn need(self, name: &str) -> Answer<&'a Value> {
        self.get(name).ok_or_else(|| ModelError::invalid(format!("{name} is missing")))
    }

    pub fn text(self, name: &str) -> Answer<Option<&'a str>> {
        self.typed(name, Value::as_str)
    }

    pub fn flag(self, name: &str) -> Answer<bool> {
        Ok(self.typed(name, Value::as_bool)?.unwrap_or(false))
    }

    /// A number of one or more.
    pub fn count(self, name: &str) -> Answer<Option<usize>> {
        let count = self.typed(name, Value::as_i64)?;
        match count.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(count @ 1..)) => Ok(Some(count)),
            Some(_) => Err(ModelError::invalid(format!("{name} must be at least 1"))),
        }
    }

    pub fn object(self, name: &str) -> Answer<Option<&'a Map<String, Value>>> {
        self.typed(name, Value::as_object)
    }

    pub fn list(self, name: &str) -> Answer<Option<&'a Vec<Value>>> {
        self.typed(name, Value::as_array)
    }

    /// One of these words, the first of which is the default.
    pub fn word(self, name: &str, words: &[&'static str]) -> Answer<&'static str> {
        let Some(text) = self.text(name)? else { return Ok(words[0]) };
        let known = words.iter().find(|word| **word == text);
        known.copied().ok_or_else(|| ModelError::invalid(format!("{name} is none of {}", words.join(", "))))
    }

    fn typed<T>(self, name: &str, read: impl Fn(&'a Value) -> Option<T>) -> Answer<Option<T>> {
        let read = |value| read(value).ok_or_else(|| ModelError::malformed(format!("{name} has the wrong type")));
        self.get(name).map(read).transpose()
    }
}
