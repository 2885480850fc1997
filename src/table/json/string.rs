//! A text in, the JSON string that means it out. Must not know what surrounds it.

use crate::table::data::text::Text;

/// Writes a JSON string. Most texts need no escape, and are copied.
pub fn push_json_text(out: &mut Vec<u8>, text: &str) {
    if is_plain(text) {
        push_plain(out, text.as_bytes());
    } else {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Writes the text of an attribute as a JSON string. If it is a part of an answer, it has no escapes there, and needs none here.
pub fn push_text(out: &mut Vec<u8>, text: &Text) {
    if text.is_plain_json() { push_plain(out, text.as_bytes()) } else { push_json_text(out, text) }
}

fn push_plain(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
}

/// Whether a JSON string holds the text without an escape.
pub(in crate::table) fn is_plain(text: &str) -> bool {
    plain_length(text.as_bytes()) == text.len()
}

/// How many bytes come before the first that a JSON string holds only as an escape: a control character, a quotation mark or a backslash
/// (RFC 8259, section 7).
#[inline]
pub(super) fn plain_length(bytes: &[u8]) -> usize {
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

/// Which of eight bytes need an escape: the first of them has its highest bit set. The eight are looked at together, by the tests `hasless` and
/// `haszero` of S. E. Anderson's "Bit Twiddling Hacks", which err only behind a byte that they find.
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
    use proptest::prelude::*;

    fn written(text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        push_json_text(&mut out, text);
        out
    }

    proptest! {
        #[test]
        fn it_is_what_serde_json_writes(text in "[ -~]{0,20}[\\x00-\\x7fäß€😀]?[ -~]{0,20}") {
            prop_assert_eq!(written(&text), serde_json::to_vec(&text).unwrap_or_default());
        }
    }

    #[test]
    fn every_character_is_written_right_at_every_place() {
        for character in (0..0x300).filter_map(char::from_u32) {
            for before in 0..9 {
                let text = format!("{}{character}b", "a".repeat(before));
                assert_eq!(written(&text), serde_json::to_vec(&text).unwrap_or_default(), "{text:?}");
            }
        }
    }
}
