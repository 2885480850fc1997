//! A text in, the JSON string that means it out. Must not know what surrounds it.

/// Writes a JSON string. Most texts need no escape, and are copied.
pub fn push_json_text(out: &mut Vec<u8>, text: &str) {
    if is_plain(text.as_bytes()) {
        out.reserve(text.len() + 2);
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
    } else {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Whether no byte needs an escape.
fn is_plain(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut last = [b' '; 8];
    last[..rest.len()].copy_from_slice(rest);
    !words.iter().any(|word| needs_escape(*word)) && !needs_escape(last)
}

/// Whether one of eight bytes needs an escape: a control character, a quote or a backslash (RFC 8259, section 7). The eight are looked at
/// together, by the tests `hasless` and `haszero` of S. E. Anderson's "Bit Twiddling Hacks".
fn needs_escape(bytes: [u8; 8]) -> bool {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let word = u64::from_ne_bytes(bytes);
    let less = |word: u64, than: u8| word.wrapping_sub(ONES * u64::from(than)) & !word & HIGHS;
    let equal = |byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    (less(word, 0x20) | equal(b'"') | equal(b'\\')) != 0
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
