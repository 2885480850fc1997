//! The free texts that a field's values can be: which bytes they have, and how many. Must not know templates, nor what
//! limits them.

use crate::schema::scalar::form::Form;
use crate::schema::template::automaton::ByteSet;

/// The ASCII letters of characters beyond ASCII in another case: `K` (kelvin) is `k`, `ß` is `SS`, `ﬁ` is `FI`.
const FROM_BEYOND_ASCII: ByteSet = ByteSet::new("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

/// Which free texts a field's values can be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The bytes that they have.
    pub bytes: ByteSet,
    /// The fewest bytes.
    pub least: usize,
    /// The most bytes.
    pub most: Option<usize>,
}

impl Limits {
    /// Any text.
    pub const NONE: Limits = Limits { bytes: ByteSet::ANY, least: 0, most: None };

    /// Every text without this ASCII character.
    pub fn without(letter: char) -> Self {
        let bytes = ByteSet::ANY.without(ByteSet::new(letter.encode_utf8(&mut [0; 4])));
        Self { bytes, ..Self::NONE }
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
                Self { bytes, least: self.least.min(1), most: None }
            }
            false => Self { bytes, ..self },
        }
    }

    /// Whether they allow a text.
    pub fn allow(&self, text: &str) -> bool {
        text.len() >= self.least
            && self.most.is_none_or(|most| text.len() <= most)
            && text.bytes().all(|byte| self.bytes.has(byte))
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
        let ascii = Limits { bytes: ByteSet::new("abAB"), least: 2, most: Some(2) }.folded(&Form::Upper);
        assert!(ascii.allow("AB") && !ascii.allow("A") && !ascii.allow("ab"));
    }
}
