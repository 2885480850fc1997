//! Claims in keys: a claim in, its text in a key out; and back. Must not know what surrounds it.
//!
//! Whoever chooses a claim, such as the name of a tenant, must not be able to spell the key of another. So a claim's
//! text has the same few characters wherever it stands: ASCII letters, digits and a few signs. All other bytes are
//! written as `%XX`. A separator such as `#` therefore always ends it, and different claims have different texts.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// The characters of a claim's text: those that claims keep, and `%`.
pub const CHARACTERS: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~@|+%";
/// The signs that claims keep: those in identifiers of usual issuers, such as UUIDs, `auth0|ann` and e-mail addresses.
const OWN: [u8; 7] = *b"-._~@|+";
const ENCODED: &AsciiSet = &without(NON_ALPHANUMERIC, OWN);

const fn without(set: &AsciiSet, signs: [u8; 7]) -> AsciiSet {
    let [a, b, c, d, e, f, g] = signs;
    set.remove(a).remove(b).remove(c).remove(d).remove(e).remove(f).remove(g)
}

/// Whether a key has a byte of a claim unescaped.
pub fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || OWN.contains(&byte)
}

/// The text of a claim in a key.
pub fn write(claim: &str) -> String {
    utf8_percent_encode(claim, ENCODED).to_string()
}

/// The claim of a text in a key; `None` if [`write()`] makes no such text.
pub fn read(text: &str) -> Option<String> {
    let claim = percent_decode_str(text).decode_utf8().ok()?;
    (write(&claim) == text).then(|| claim.into_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn identifiers_stand_as_they_are() {
        for claim in
            ["", "acme", "11111111-1111-4111-8111-111111111111", "auth0|5f7c", "ann+test@example.com", "org_2a~b.c"]
        {
            assert_eq!(write(claim), claim);
        }
        for (claim, text) in
            [("a#b", "a%23b"), ("100%", "100%25"), ("a%23b", "a%2523b"), ("é", "%C3%A9"), ("a/b:c d", "a%2Fb%3Ac%20d")]
        {
            assert_eq!(write(claim), text);
        }
        for text in ["a#b", "%", "%2", "%zz", "%41", "%c3%a9", "%FF", "a b"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(claim in "\\PC{0,20}") {
            let text = write(&claim);
            prop_assert!(text.chars().all(|sign| CHARACTERS.contains(sign)));
            prop_assert_eq!(read(&text), Some(claim));
        }
    }
}
