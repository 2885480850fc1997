//! A JSON text in; its objects, lists and strings, one after another, out. Must not know what they mean.
//!
//! It reads the text once, and copies nothing: a string is a place in the text. serde_json reads strings with escapes,
//! numbers, and members that nobody asks for.

use crate::table::data::text::plain_length;
use serde::Deserialize;
use std::borrow::Cow;
use std::ops::Range;

/// How deep lists and objects may be within each other. DynamoDB takes 32 levels (DynamoDB developer guide,
/// "Constraints"), and each has an object for its type.
const LEVELS: u32 = 128;

/// Why a JSON text cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::table) struct Unreadable {
    /// What is wrong with it.
    pub(in crate::table) what: Cow<'static, str>,
    /// Where, in bytes from its beginning.
    pub(in crate::table) at: usize,
}

/// What reading gives. A failure is behind a pointer, so that what is read fits into registers.
pub(in crate::table) type JsonResult<T> = Result<T, Box<Unreadable>>;

/// A string of the text.
pub(in crate::table) enum JsonString {
    /// It stands at this place of the text as it is.
    Plain(Range<usize>),
    /// It has escapes.
    Escaped(String),
}

/// The bytes around values, and the object or the list that they mean.
pub(in crate::table) struct Brackets(u8, u8);

/// An object.
pub(in crate::table) const OBJECT: Brackets = Brackets(b'{', b'}');
/// A list.
pub(in crate::table) const LIST: Brackets = Brackets(b'[', b']');

/// The values of an object or of a list while they are read.
pub(in crate::table) struct Series {
    end: u8,
    is_begun: bool,
}

/// Reads a JSON text from its beginning to its end.
pub(in crate::table) struct JsonReader<'t> {
    text: &'t str,
    at: usize,
    levels: u32,
}

impl<'t> JsonReader<'t> {
    /// At the beginning of a text.
    pub(in crate::table) fn new(text: &'t str) -> Self {
        Self { text, at: 0, levels: 0 }
    }

    /// Fails where it is.
    #[cold]
    pub(in crate::table) fn fail<T>(&self, what: impl Into<Cow<'static, str>>) -> JsonResult<T> {
        Err(Box::new(Unreadable { what: what.into(), at: self.at }))
    }

    /// The next byte that is no white space.
    #[inline]
    pub(in crate::table) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at) {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.at += 1,
                byte => return byte.copied(),
            }
        }
    }

    /// Goes on behind a byte, which must be next.
    #[inline]
    pub(in crate::table) fn expect(&mut self, byte: u8) -> JsonResult<()> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        self.fail(format!("expected `{}`", char::from(byte)))
    }

    /// Goes into an object or a list.
    pub(in crate::table) fn begin(&mut self, brackets: Brackets) -> JsonResult<Series> {
        self.expect(brackets.0)?;
        if self.levels == LEVELS {
            return self.fail("the text has too many levels");
        }
        self.levels += 1;
        Ok(Series { end: brackets.1, is_begun: false })
    }

    /// Goes to the next value. Behind the last, goes out, and gives `false`.
    #[inline]
    pub(in crate::table) fn next(&mut self, series: &mut Series) -> JsonResult<bool> {
        let next = self.peek();
        if next == Some(series.end) {
            self.at += 1;
            self.levels -= 1;
            return Ok(false);
        }
        if std::mem::replace(&mut series.is_begun, true) {
            if next != Some(b',') {
                return self.fail(format!("expected `,` or `{}`", char::from(series.end)));
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Goes to the value of an object's next member, and gives the member's name.
    #[inline]
    pub(in crate::table) fn next_name(&mut self, members: &mut Series) -> JsonResult<Option<Cow<'t, str>>> {
        if !self.next(members)? {
            return Ok(None);
        }
        self.expect(b'"')?;
        self.rest_of_name().map(Some)
    }

    /// Reads the name of a member whose quotation mark is read already, and goes to the member's value.
    pub(in crate::table) fn rest_of_name(&mut self) -> JsonResult<Cow<'t, str>> {
        let name = self.rest_of_string()?;
        self.expect(b':')?;
        Ok(match name {
            JsonString::Plain(place) => Cow::Borrowed(self.text.get(place).unwrap_or_default()),
            JsonString::Escaped(name) => Cow::Owned(name),
        })
    }

    /// Goes on behind so many bytes, which were looked at, and gives where it is then.
    #[inline]
    pub(in crate::table) fn advance(&mut self, bytes: usize) -> usize {
        self.at += bytes;
        self.at
    }

    /// Reads a string.
    #[inline]
    pub(in crate::table) fn string(&mut self) -> JsonResult<JsonString> {
        self.expect(b'"')?;
        self.rest_of_string()
    }

    /// Reads a string whose quotation mark is read already.
    #[inline]
    pub(in crate::table) fn rest_of_string(&mut self) -> JsonResult<JsonString> {
        let (start, rest) = (self.at, self.rest());
        let length = plain_length(rest);
        if rest.get(length) == Some(&b'"') {
            self.at = start + length + 1;
            return Ok(JsonString::Plain(start..start + length));
        }
        self.at = start - 1;
        self.value().map(JsonString::Escaped)
    }

    /// Reads any value.
    pub(in crate::table) fn value<T: Deserialize<'t>>(&mut self) -> JsonResult<T> {
        let mut values = serde_json::Deserializer::from_str(self.text.get(self.at..).unwrap_or_default()).into_iter();
        match values.next() {
            Some(Ok(value)) => {
                self.at += values.byte_offset();
                Ok(value)
            }
            Some(Err(error)) => self.fail(error.to_string()),
            None => self.fail("the text ends within a value"),
        }
    }

    /// Ends the reading. Nothing but white space may be left.
    pub(in crate::table) fn end(&mut self) -> JsonResult<()> {
        match self.peek() {
            None => Ok(()),
            Some(_) => self.fail("the text goes on behind its value"),
        }
    }

    /// The bytes that are not read yet.
    #[inline]
    pub(in crate::table) fn rest(&self) -> &'t [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }
}
