//! A text in, the JSON string that means it out. Must not know what surrounds it.

use crate::table::data::text::{Text, is_plain};

/// Writes a JSON string. Most texts need no escape, and are copied.
pub fn push_json_text(out: &mut Vec<u8>, text: &str) {
    if is_plain(text) {
        push_plain(out, text.as_bytes());
    } else {
        // Writing to a vector cannot fail.
        let _ = serde_json::to_writer(out, text);
    }
}

/// Writes the text of an attribute as a JSON string. If it is a part of an answer, it has no escapes there, and needs
/// none here.
pub fn push_text(out: &mut Vec<u8>, text: &Text) {
    if text.is_plain_json() { push_plain(out, text.as_bytes()) } else { push_json_text(out, text) }
}

fn push_plain(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len() + 2);
    out.push(b'"');
    out.extend_from_slice(text);
    out.push(b'"');
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
