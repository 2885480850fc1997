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
/// The ULID specification, "Encoding": Crockford's base 32 in upper case.
const ULID: ByteSet = ByteSet::new("0123456789ABCDEFGHJKMNPQRSTVWXYZ");
const ULID_LENGTH: usize = 26;
/// HTML living standard, "E-mail state (type=email)": valid e-mail address.
const EMAIL: ByteSet =
    ByteSet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.!#$%&'*+/=?^_`{|}~-@");
/// The most bytes of a character in UTF-8.
const CHARACTER: usize = 4;

/// Constraints that give texts one length, for the help of findings.
pub const ONE_LENGTH: &str = "`@constraint(pattern: \"[A-Z0-9]{3}\")`, `format: \"ulid\"` or `format: \"uuid\"`";

/// The limits of a constraint; `None` if it allows texts of any bytes and any length.
pub fn text_limits(constraint: &Constraint) -> Option<Limits> {
    let length = |length: Option<u64>| length.and_then(|length| usize::try_from(length).ok());
    let mut limits = Limits::NONE;
    // The fewest and the most characters.
    let mut counts = (0, None);
    match constraint.format {
        Some(Format::Uuid) => (limits.bytes, counts) = (UUID, (UUID_LENGTH, Some(UUID_LENGTH))),
        Some(Format::Ulid) => (limits.bytes, counts) = (ULID, (ULID_LENGTH, Some(ULID_LENGTH))),
        Some(Format::Email) => limits.bytes = EMAIL,
        Some(Format::Url) | None => {}
    }
    if let Some(pattern) = constraint.pattern.as_ref().and_then(|pattern| regex_syntax::parse(pattern).ok()) {
        limits.bytes = limits.bytes.and(bytes_of(&pattern));
        limits.least = pattern.properties().minimum_len().unwrap_or(0);
        limits.most = pattern.properties().maximum_len();
        let (fewest, most) = characters_of(&pattern);
        counts = (counts.0.max(fewest), fewer(counts.1, most));
    }
    let fewest = counts.0.max(length(constraint.min_length).unwrap_or(0));
    let most = fewer(counts.1, length(constraint.max_length));
    let character = if limits.bytes.meets(BEYOND_ASCII) { CHARACTER } else { 1 };
    limits.least = limits.least.max(fewest);
    limits.most = fewer(limits.most, most.map(|most| most.saturating_mul(character)));
    limits.characters = most.filter(|most| *most == fewest);
    (limits != Limits::NONE).then_some(limits)
}

fn fewer(one: Option<usize>, other: Option<usize>) -> Option<usize> {
    one.into_iter().chain(other).min()
}

/// The fewest and the most characters of the texts that a pattern matches.
fn characters_of(pattern: &Hir) -> (usize, Option<usize>) {
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => (0, Some(0)),
        HirKind::Literal(text) => {
            let count = String::from_utf8_lossy(&text.0).chars().count();
            (count, Some(count))
        }
        HirKind::Class(_) => (1, Some(1)),
        HirKind::Repetition(repetition) => {
            let (fewest, most) = characters_of(&repetition.sub);
            let times = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
            let most = most.zip(repetition.max).map(|(most, max)| most.saturating_mul(times(max)));
            (fewest.saturating_mul(times(repetition.min)), most)
        }
        HirKind::Capture(capture) => characters_of(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(characters_of).fold((0, Some(0)), |all, part| {
            (all.0.saturating_add(part.0), all.1.zip(part.1).map(|(all, part)| all.saturating_add(part)))
        }),
        HirKind::Alternation(parts) => {
            let counts: Vec<(usize, Option<usize>)> = parts.iter().map(characters_of).collect();
            let most = counts.iter().map(|(_, most)| *most).collect::<Option<Vec<_>>>();
            (counts.iter().map(|(fewest, _)| *fewest).min().unwrap_or(0), most.and_then(|all| all.into_iter().max()))
        }
    }
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
        let ulid = text_limits(&Constraint { format: Some(Format::Ulid), ..Constraint::default() }).unwrap();
        assert!(ulid.allow("01ARZ3NDEKTSV4RRFFQ69G5FAV") && !ulid.allow("01arz3ndektsv4rrffq69g5fav"));
        assert_eq!(text_limits(&Constraint { format: Some(Format::Url), ..Constraint::default() }), None);
    }

    #[test]
    fn a_constraint_may_say_one_length() {
        for (pattern, characters) in [
            ("[A-Z]{3}", Some(3)),
            (".{2}", Some(2)),
            ("(ab|cd)-[0-9]", Some(4)),
            ("é|a", Some(1)),
            ("a|bc", None),
            ("a*", None),
            ("[a-z]{2,3}", None),
        ] {
            assert_eq!(limits(pattern).and_then(|limits| limits.characters), characters, "{pattern}");
        }
        let of_lengths = Constraint { min_length: Some(3), max_length: Some(3), ..Constraint::default() };
        let limits = text_limits(&of_lengths).unwrap();
        assert!(limits.characters == Some(3) && limits.allow("aéb") && !limits.allow("éé") && !limits.allow("abcd"));
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
