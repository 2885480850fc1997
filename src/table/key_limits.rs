//! Bounds of sort keys in, bounds of the same keys that DynamoDB takes out: it refuses a value that is longer than any key. And the
//! limits themselves. Must not know conditions.

use super::attribute::KeyValue;

/// The longest partition key in bytes (DynamoDB developer guide, "Quotas in Amazon DynamoDB", partition keys and sort keys).
pub const MAX_PARTITION_BYTES: usize = 2048;
/// The longest sort key in bytes (same page).
pub const MAX_SORT_BYTES: usize = 1024;

/// Whether a value is longer than any sort key.
pub fn is_too_long(value: &KeyValue) -> bool {
    match value {
        KeyValue::S(text) => text.len() > MAX_SORT_BYTES,
        KeyValue::B(bytes) => bytes.len() > MAX_SORT_BYTES,
        KeyValue::N(_) => false,
    }
}

/// The last sort key before a value that is longer than any.
pub fn last_before(value: &KeyValue) -> KeyValue {
    match value {
        KeyValue::S(text) => KeyValue::S(last_that_begins(text)),
        KeyValue::B(bytes) => KeyValue::B(bytes[..bytes.len().min(MAX_SORT_BYTES)].to_vec()),
        KeyValue::N(_) => value.clone(),
    }
}

/// The first sort key after a value that is longer than any; `None` where there is none.
pub fn first_after(value: &KeyValue) -> Option<KeyValue> {
    match value {
        KeyValue::S(text) => first_text_after(text).map(KeyValue::S),
        KeyValue::B(bytes) => {
            let start = &bytes[..bytes.len().min(MAX_SORT_BYTES)];
            let last = start.iter().rposition(|byte| *byte < u8::MAX)?;
            let mut next = start[..=last].to_vec();
            next[last] += 1;
            Some(KeyValue::B(next))
        }
        KeyValue::N(_) => Some(value.clone()),
    }
}

/// Of all texts that a sort key may be and that begin like this one, the last.
pub fn last_that_begins(start: &str) -> String {
    let mut text = start[..start.floor_char_boundary(MAX_SORT_BYTES)].to_owned();
    // The last letters of four bytes, of three, of two and of one.
    for letter in [char::MAX, '\u{FFFF}', '\u{7FF}', '\u{7F}'] {
        while text.len() + letter.len_utf8() <= MAX_SORT_BYTES {
            text.push(letter);
        }
    }
    text
}

/// The first text after this one is like it up to a letter, as far back as possible, and has the next letter there (texts are ordered by
/// their UTF-8 bytes, which is by code points).
fn first_text_after(text: &str) -> Option<String> {
    let within = |(at, _): &(usize, char)| *at < MAX_SORT_BYTES;
    text.char_indices().take_while(within).collect::<Vec<_>>().into_iter().rev().find_map(|(at, letter)| {
        let next = (letter..=char::MAX).nth(1)?;
        (at + next.len_utf8() <= MAX_SORT_BYTES).then(|| format!("{}{next}", &text[..at]))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LETTERS: [&str; 10] = ["\u{0}", "a", "\u{7F}", "\u{80}", "\u{7FF}", "\u{800}", "\u{D7FF}", "\u{FFFF}", "\u{10000}", "\u{10FFFF}"];

    /// Texts around the longest key, which begin alike and go on with letters of any length.
    fn text() -> impl Strategy<Value = String> {
        let letters = proptest::collection::vec(proptest::sample::select(&LETTERS[..]), 0..6);
        (1015usize..1024, letters).prop_map(|(fill, letters)| format!("{}{}", "m".repeat(fill), letters.concat()))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_keys_on_either_side_of_a_long_text_are_those_on_either_side_of_its_neighbours(long in text(), key in text()) {
            let long = KeyValue::S(if long.len() > MAX_SORT_BYTES { long } else { format!("{long}{}", "b".repeat(10)) });
            let key = KeyValue::S(key[..key.floor_char_boundary(MAX_SORT_BYTES)].to_owned());
            let (before, after) = (last_before(&long), first_after(&long));
            prop_assert!(!is_too_long(&before) && !after.as_ref().is_some_and(is_too_long));
            prop_assert_eq!(key < long, key <= before);
            prop_assert_eq!(key > long, after.is_some_and(|after| key >= after));
        }

        #[test]
        fn likewise_of_bytes(long in proptest::collection::vec(254u8.., 3..5), key in proptest::collection::vec(253u8.., 0..4)) {
            let filled = |start: usize, end: &[u8]| KeyValue::B([vec![255; start], end.to_vec()].concat());
            let (long, key) = (filled(1022, &long), filled(1021, &key));
            prop_assert!(is_too_long(&long) && !is_too_long(&key));
            prop_assert_eq!(key < long, key <= last_before(&long));
            prop_assert_eq!(key > long, first_after(&long).is_some_and(|after| key >= after));
        }
    }

    #[test]
    fn after_the_last_text_there_is_none() {
        assert_eq!(first_after(&KeyValue::S("\u{10FFFF}".repeat(300))), None);
        assert_eq!(first_after(&KeyValue::B(vec![255; 1025])), None);
    }
}
