//! The free texts that a field's values can be: which bytes they have, how many, and where a text ends in a key if they
//! show it. Must not know templates, nor what limits them.

use crate::schema::scalar::form::Form;
use crate::schema::template::automaton::ByteSet;

/// The ASCII letters of characters beyond ASCII in another case: `K` (kelvin) is `k`, `ß` is `SS`, `ﬁ` is `FI`.
const FROM_BEYOND_ASCII: ByteSet = ByteSet::new("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

/// Where a text ends, if neither a literal after it nor the key's end shows it. Such a text is never escaped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextEnd {
    /// After so many characters.
    After(usize),
    /// Before the first byte that it cannot have.
    BeforeOther,
    /// So many characters before a place that is known.
    Back {
        /// The characters of the parts between the text and that place.
        characters: usize,
        /// The place: the first of these bytes, with which a literal begins; `None` is the end of the key.
        to: Option<u8>,
        /// How many parts after the text one must know to find the place.
        parts: usize,
    },
    /// Nowhere that the text shows: a key of an index that is never read back. All of its fields are elsewhere in the
    /// item, too.
    Unread,
}

/// Which free texts a field's values can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The bytes that they have.
    pub bytes: ByteSet,
    /// The fewest bytes.
    pub least: usize,
    /// The most bytes.
    pub most: Option<usize>,
    /// How many characters they have, if all have as many.
    pub characters: Option<usize>,
    /// Whether the template relies on them. A value that breaks them is not written then.
    pub is_needed: bool,
    /// Where a text ends, if it is they that show it.
    pub end: Option<TextEnd>,
}

impl Limits {
    /// Any text.
    pub const NONE: Limits =
        Limits { bytes: ByteSet::ANY, least: 0, most: None, characters: None, is_needed: false, end: None };

    /// Those of these texts that do not have this ASCII character.
    pub fn without(self, letter: char) -> Self {
        Self { bytes: self.bytes.without(ByteSet::new(letter.encode_utf8(&mut [0; 4]))), ..self }
    }

    /// What a template has to keep of them: all that it relies on, and where a text ends.
    pub fn needed(&self) -> Option<Self> {
        match (self.is_needed, self.end) {
            (true, _) => Some(self.clone()),
            (false, Some(end)) => Some(Self { end: Some(end), ..Self::NONE }),
            (false, None) => None,
        }
    }

    /// How many characters each text has in a key before these parts' text, if all have as many: escapes change the
    /// number.
    pub fn characters_before(&self, literal: Option<&str>) -> Option<usize> {
        let is_escaped =
            |literal: &str| literal.bytes().take(1).any(|first| self.bytes.has(first)) || self.bytes.has(b'%');
        self.characters.filter(|_| self.end.is_some() || !literal.is_some_and(is_escaped))
    }

    /// The bytes of a text at the beginning of another, if they show where it ends.
    pub fn end_in(&self, text: &str) -> Option<usize> {
        match self.end? {
            TextEnd::Unread => None,
            TextEnd::After(count) => text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(count),
            TextEnd::BeforeOther => {
                let other = text.bytes().position(|byte| !self.bytes.has(byte)).unwrap_or(text.len());
                text.is_char_boundary(other).then_some(other)
            }
            TextEnd::Back { characters, to, .. } => {
                let place = to.map_or(Some(text.len()), |to| text.bytes().position(|byte| byte == to))?;
                let back = text.get(..place)?.char_indices().rev().map(|(at, _)| at);
                std::iter::once(place).chain(back).nth(characters)
            }
        }
    }

    /// What they allow of the texts in a case. The length of a text that is not all ASCII may be another one there, but
    /// no text becomes empty.
    pub fn folded(self, case: &Form) -> Self {
        let letters = |text: &[u8]| text.iter().fold(ByteSet::NONE, |bytes, letter| bytes.with(*letter));
        let ascii: Vec<u8> = (0..128).filter(|byte| self.bytes.has(*byte)).collect();
        let folded = String::from_utf8_lossy(&ascii).into_owned();
        let bytes = letters(case.fold(&folded).as_bytes());
        match self.bytes.meets(ByteSet::ANY.without(ByteSet::ASCII)) {
            true => {
                let bytes = bytes.or(ByteSet::ANY.without(ByteSet::ASCII)).or(FROM_BEYOND_ASCII);
                Self { bytes, least: self.least.min(1), most: None, characters: None, ..self }
            }
            false => Self { bytes, ..self },
        }
    }

    /// Whether they allow a text.
    pub fn allow(&self, text: &str) -> bool {
        text.len() >= self.least
            && self.most.is_none_or(|most| text.len() <= most)
            && text.bytes().all(|byte| self.bytes.has(byte))
            && self.characters.is_none_or(|count| text.chars().count() == count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_in_another_case_is_as_empty_as_it_was() {
        for (text, case) in [("İ", Form::Lower), ("K", Form::Lower), ("ŉ", Form::Upper), ("ﬁn", Form::Upper)] {
            let limits = Limits { least: text.len(), most: Some(text.len()), ..Limits::NONE }.folded(&case);
            assert!(limits.allow(&case.fold(text)) && !limits.allow(""), "{text} {case:?}");
        }
        assert!(Limits::NONE.folded(&Form::Lower).allow(""));
        let ascii =
            Limits { bytes: ByteSet::new("abAB"), least: 2, most: Some(2), ..Limits::NONE }.folded(&Form::Upper);
        assert!(ascii.allow("AB") && !ascii.allow("A") && !ascii.allow("ab"));
    }
}
