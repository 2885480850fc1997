//! Texts as they stand in keys in, which kind of value each looks like out.

use crate::schema::scalar::time_form;
use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// The kind of value that a text looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Atom {
    /// A time of the clock, in one of the usual forms.
    Time,
    /// A day.
    Date,
    /// A UUID.
    Uuid,
    /// A ULID.
    Ulid,
    /// An e-mail address or a URL.
    Address,
    /// A number.
    Number,
    /// Letters and digits.
    Code,
    /// Letters, perhaps with hyphens or underscores: what a label looks like.
    Word,
    /// Anything else, such as several words.
    Text,
}

/// The longest text that may be a label, in characters.
const LONGEST_WORD: usize = 32;

/// The kind of a text.
pub fn atom(text: &str) -> Atom {
    let is_number = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.starts_with(|letter: char| letter.is_ascii_digit())
            && digits.chars().all(|letter| letter.is_ascii_digit() || letter == '.')
    };
    if let Some(form) = time_form::usual(text).into_iter().find(|form| form.length() == text.len()) {
        return match form.text() {
            "%s" | "%s%3f" => Atom::Number,
            "%Y-%m-%d" | "%d/%m/%Y" | "%d.%m.%Y" => Atom::Date,
            "%Y%m%d" => Atom::Number,
            _ => Atom::Time,
        };
    }
    if uuid::Uuid::try_parse(text).is_ok() && text.len() == 36 {
        return Atom::Uuid;
    }
    if is_ulid(text) {
        return Atom::Ulid;
    }
    if is_number(text) {
        return Atom::Number;
    }
    if whole_address(text) {
        return Atom::Address;
    }
    word_or_text(text)
}

/// Crockford's base 32 without `I`, `L`, `O` and `U` (<https://github.com/ulid/spec>).
fn is_ulid(text: &str) -> bool {
    text.len() == 26
        && text.starts_with(|first: char| matches!(first, '0'..='7'))
        && text.chars().all(|letter| letter.is_ascii_digit() || letter.is_ascii_uppercase() && !"ILOU".contains(letter))
}

fn word_or_text(text: &str) -> Atom {
    let letters = |letter: char| letter.is_alphabetic() || matches!(letter, '-' | '_' | '$');
    if text.chars().all(letters) && text.chars().any(char::is_alphabetic) && text.chars().count() <= LONGEST_WORD {
        Atom::Word
    } else if text.chars().all(|letter| letters(letter) || letter.is_ascii_digit()) && !text.is_empty() {
        Atom::Code
    } else {
        Atom::Text
    }
}

static ADDRESS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^(?:[^@\s#|/:]+@[^@\s#|/:]+\.\w+|https?://[^\s#|]+)$").ok());
/// Values that hold characters which separate the parts of other keys.
static WHOLES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let time = r#"\d{4}-\d\d-\d\d(?:[T ]\d\d:?\d\d(?::?\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"#;
    let other = r"\d\d/\d\d/\d{4}|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}";
    Regex::new(&format!(r"{time}|{other}|https?://[^\s#|]+|[\w.+-]+@[\w-]+\.[\w.]+|\+?\d[\d.\- ]{{6,}}\d")).ok()
});

fn whole_address(text: &str) -> bool {
    ADDRESS.as_ref().is_some_and(|address| address.is_match(text))
}

/// The places of a text that are one value whatever characters they hold: times, UUIDs, addresses.
pub fn wholes(text: &str) -> Vec<Range<usize>> {
    WHOLES.as_ref().map(|wholes| wholes.find_iter(text).map(|found| found.range()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_look_like_kinds_of_values() {
        for (text, kind) in [
            ("2026-12-05T09:00:00Z", Atom::Time),
            ("2026-12-05 09:00:00", Atom::Time),
            ("20261205T090000Z", Atom::Time),
            ("2026-12-05", Atom::Date),
            ("05/12/2026", Atom::Date),
            ("c56a4180-65aa-42ec-a945-5fd21dec0538", Atom::Uuid),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", Atom::Ulid),
            ("ann@example.com", Atom::Address),
            ("https://example.com/a:b", Atom::Address),
            ("007", Atom::Number),
            ("-1.5", Atom::Number),
            ("1700810111", Atom::Number),
            ("p-1001", Atom::Code),
            ("ORDER", Atom::Word),
            ("HR-EMPLOYEE", Atom::Word),
            ("general practice", Atom::Text),
            ("", Atom::Text),
        ] {
            assert_eq!(atom(text), kind, "{text}");
        }
    }

    #[test]
    fn a_value_with_separators_in_it_is_one_place() {
        let text = "APPT#2026-12-05T09:00:00Z#a:ann@example.com";
        let found: Vec<&str> = wholes(text).into_iter().map(|place| &text[place]).collect();
        assert_eq!(found, ["2026-12-05T09:00:00Z", "ann@example.com"]);
    }
}
