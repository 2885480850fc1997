//! The `@constraint` of a field in, the limits of its texts in keys out: which bytes they have, and how many. That is
//! as much of a constraint as distinguishes keys. Must not know templates.

use crate::schema::model::rules::{Constraint, Format};
use crate::schema::template::automaton::ByteSet;
use crate::schema::template::limits::Limits;
use regex_syntax::hir::{Class, Hir, HirKind};

/// The bytes of characters that are not ASCII: all but their own are left out, which is as exact as keys need.
const BEYOND_ASCII: ByteSet = ByteSet::ANY.without(ByteSet::ASCII);
const UUID: ByteSet = ByteSet::new("0123456789abcdefABCDEF-");
const UUID_LENGTH: usize = 36;
/// HTML living standard, "E-mail state (type=email)": valid e-mail address.
const EMAIL: ByteSet =
    ByteSet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+/=?^_`{|}~-@");
/// The most bytes of a character in UTF-8.
const CHARACTER: usize = 4;

/// The limits of a constraint; `None` if it allows texts of any bytes and any length.
pub fn text_limits(constraint: &Constraint) -> Option<Limits> {
    let length = |length: Option<u64>| length.and_then(|length| usize::try_from(length).ok());
    let mut limits = Limits::NONE;
    match constraint.format {
        Some(Format::Uuid) => limits = Limits { bytes: UUID, least: UUID_LENGTH, most: Some(UUID_LENGTH) },
        Some(Format::Email) => limits.bytes = EMAIL,
        Some(Format::Url) | None => {}
    }
    if let Some(pattern) = constraint.pattern.as_ref().and_then(|pattern| regex_syntax::parse(pattern).ok()) {
        limits.bytes = limits.bytes.and(bytes_of(&pattern));
        limits.least = limits.least.max(pattern.properties().minimum_len().unwrap_or(0));
        limits.most = fewer(limits.most, pattern.properties().maximum_len());
    }
    let character = if limits.bytes.meets(BEYOND_ASCII) { CHARACTER } else { 1 };
    limits.least = limits.least.max(length(constraint.min_length).unwrap_or(0));
    limits.most = fewer(limits.most, length(constraint.max_length).map(|most| most.saturating_mul(character)));
    (limits != Limits::NONE).then_some(limits)
}

fn fewer(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).min()
}

/// The bytes of the texts that a pattern matches.
fn bytes_of(pattern: &Hir) -> ByteSet {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => ByteSet::NONE,
        HirKind::Literal(text) => text.0.iter().fold(ByteSet::NONE, |bytes, byte| bytes.with(*byte)),
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().fold(ByteSet::NONE, |bytes, range| {
            let ascii =
                (u32::from(range.start())..=u32::from(range.end()).min(127)).filter_map(|code| u8::try_from(code).ok());
            let bytes = ascii.fold(bytes, ByteSet::with);
            if range.end().is_ascii() { bytes } else { bytes.or(BEYOND_ASCII) }
        }),
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().flat_map(|range| range.start()..=range.end()).fold(ByteSet::NONE, ByteSet::with)
        }
        HirKind::Repetition(repetition) => bytes_of(&repetition.sub),
        HirKind::Capture(capture) => bytes_of(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(bytes_of).fold(ByteSet::NONE, ByteSet::or)
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limits(pattern: &str) -> Option<Limits> {
        text_limits(&Constraint { pattern: Some(pattern.to_owned()), ..Constraint::default() })
    }

    #[test]
    fn a_constraint_limits_bytes_and_lengths() {
        for (pattern, allowed, refused) in [
            ("[^#]+", vec!["a", "é"], vec!["", "a#b"]),
            ("[a-z]{2,4}", vec!["ab", "abcd"], vec!["a", "abcde", "Ab", "é"]),
            ("^(?:[a-z]+|x#)$", vec!["a#"], vec!["A", ""]),
            ("[à-ü]", vec!["é"], vec!["e", "éé"]),
        ] {
            let limits = limits(pattern).unwrap();
            allowed.iter().for_each(|text| assert!(limits.allow(text), "{pattern} {text}"));
            refused.iter().for_each(|text| assert!(!limits.allow(text), "{pattern} {text}"));
        }
        assert_eq!(limits(".*|\\n"), None);
        let lengths =
            text_limits(&Constraint { min_length: Some(2), max_length: Some(3), ..Constraint::default() }).unwrap();
        assert!(lengths.allow("ééé") && lengths.allow("ab") && !lengths.allow("a") && !lengths.allow("abcdefghijklm"));
        let uuid = text_limits(&Constraint { format: Some(Format::Uuid), ..Constraint::default() }).unwrap();
        assert!(uuid.allow("0194f1c2-0000-7000-8000-00000000000A") && !uuid.allow("0194f1c2"));
        assert_eq!(text_limits(&Constraint { format: Some(Format::Url), ..Constraint::default() }), None);
    }

    proptest! {
        #[test]
        fn what_a_pattern_matches_is_allowed(pattern in "(\\[[a-c#]{1,3}\\]|\\[\\^[a-c#]\\]|[a-cé]|\\.|x\\|y|\\(\\?i:k\\)|\\\\w|\\\\d)([*+?]|\\{1,2\\})?([ab#]|\\[0-9\\]\\+)?", text in "[a-cxyk0-9#éK\u{212a}]{0,4}") {
            let whole = regex::Regex::new(&format!("^(?:{pattern})$"));
            if whole.is_ok_and(|whole| whole.is_match(&text)) {
                prop_assert!(limits(&pattern).is_none_or(|limits| limits.allow(&text)), "{} {}", pattern, text);
            }
        }
    }
}
