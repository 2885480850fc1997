//! The free texts that a field's values can be: which bytes they have, and how many. Must not know templates, nor what
//! limits them.

use crate::schema::template::automaton::ByteSet;

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

    /// Whether they allow a text.
    pub fn allow(&self, text: &str) -> bool {
        text.len() >= self.least
            && self.most.is_none_or(|most| text.len() <= most)
            && text.bytes().all(|byte| self.bytes.has(byte))
    }
}
