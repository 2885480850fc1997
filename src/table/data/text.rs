//! A text of an attribute: one of its own, or a part of the answer that it came in. Must not know what the text says.

use serde::{Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// A text of an attribute.
///
/// The items of an answer have thousands of texts. As parts of the answer's own text, they need no memory of their own:
/// to make, to copy or to drop one counts a reference. Whoever keeps a text for longer than a request keeps a copy of
/// its own, because a part keeps the whole answer.
#[derive(Clone)]
pub struct Text(TextStorage);

#[derive(Clone)]
enum TextStorage {
    Own(String),
    /// As large as the other: a pointer and two halves of a word.
    Part(Arc<String>, u32, u32),
}

impl Text {
    /// The part of an answer's JSON at these bytes, a string without escapes. A part that no `u32` can name is copied.
    #[inline]
    pub(in crate::table) fn from_answer(answer: &Arc<String>, at: Range<usize>) -> Self {
        match (u32::try_from(at.start), u32::try_from(at.end)) {
            (Ok(start), Ok(end)) => Self(TextStorage::Part(answer.clone(), start, end)),
            _ => answer.get(at).unwrap_or_default().into(),
        }
    }

    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            TextStorage::Own(text) => text,
            TextStorage::Part(answer, start, end) => answer.get(*start as usize..*end as usize).unwrap_or_default(),
        }
    }

    /// The text as bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            TextStorage::Own(text) => text.as_bytes(),
            TextStorage::Part(answer, start, end) => {
                answer.as_bytes().get(*start as usize..*end as usize).unwrap_or_default()
            }
        }
    }

    /// Its length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.as_bytes().len()
    }

    /// Whether it has no characters.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is known to need no escape in JSON.
    pub(in crate::table) fn is_plain_json(&self) -> bool {
        matches!(self.0, TextStorage::Part(..))
    }

    /// The text as one of its own.
    pub fn into_string(self) -> String {
        match self.0 {
            TextStorage::Own(text) => text,
            TextStorage::Part(..) => self.as_str().to_owned(),
        }
    }

    /// The same text, which keeps no answer.
    pub(in crate::table) fn detached(&self) -> Self {
        self.as_str().into()
    }

    /// The bytes that it keeps allocated, but for its own size.
    pub(in crate::table) fn allocated(&self) -> usize {
        match &self.0 {
            TextStorage::Own(text) => text.capacity(),
            TextStorage::Part(answer, ..) => answer.capacity(),
        }
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(TextStorage::Own(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<Text> for String {
    fn from(text: Text) -> Self {
        text.into_string()
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for Text {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<String> for Text {
    fn eq(&self, other: &String) -> bool {
        self.as_str() == other
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), formatter)
    }
}

impl fmt::Display for Text {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self.as_str(), formatter)
    }
}

/// Whether a JSON string holds the text without an escape.
pub(in crate::table) fn is_plain(text: &str) -> bool {
    plain_length(text.as_bytes()) == text.len()
}

/// How many bytes come before the first that a JSON string holds only as an escape: a control character, a quotation
/// mark or a backslash (RFC 8259, section 7).
#[inline]
pub(in crate::table) fn plain_length(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (number, word) in words.iter().enumerate() {
        let found = escaped(*word);
        if found != 0 {
            return 8 * number + first(found);
        }
    }
    let mut last = [b'"'; 8];
    last[..rest.len()].copy_from_slice(rest);
    8 * words.len() + first(escaped(last)).min(rest.len())
}

/// Which of eight bytes need an escape: the first of them has its highest bit set. The eight are looked at together, by
/// the tests `hasless` and `haszero` of S. E. Anderson's "Bit Twiddling Hacks", which err only behind a byte that they
/// find.
fn escaped(bytes: [u8; 8]) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let word = u64::from_le_bytes(bytes);
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word & HIGHS;
    let equal = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    less(word, 0x20) | equal(b'"') | equal(b'\\')
}

/// The number of the first byte whose highest bit is set.
fn first(found: u64) -> usize {
    found.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_the_text_that_it_stands_for() {
        let answer = Arc::new("{\"a\":\"bä\"}".to_owned());
        let part = Text::from_answer(&answer, 6..9);
        assert_eq!((part.as_str(), &part), ("bä", &Text::from("bä")));
        assert_eq!((Arc::strong_count(&answer), part.allocated()), (2, answer.capacity()));
        let own = part.detached();
        drop(part);
        assert_eq!((Arc::strong_count(&answer), own.into_string()), (1, "bä".to_owned()));
    }

    #[test]
    fn it_takes_no_more_memory_than_a_string() {
        assert_eq!(size_of::<Text>(), size_of::<String>());
    }
}
