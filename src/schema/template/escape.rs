//! Free text before a literal: any text in; out, a text in which the literal's first occurrence is the one that ends
//! the text; and back.
//!
//! A value stands in a key unchanged wherever that is unambiguous, so that existing keys keep their text. Otherwise
//! [`write`] escapes it: every `%` becomes `%25`, and every occurrence of the literal's first character `c` becomes the
//! bytes of `c` as `%XX` in upper case. Let `raw(v)` mean that the literal occurs in `v` + literal before the end of
//! `v`. A value `v` is escaped iff `raw(v)` holds, or `v` looks escaped already: it is the escaped form of a value that
//! is escaped.
//!
//! - The literal's first occurrence ends the text. An occurrence that begins within the text ends within text +
//!   literal, so what follows the literal in the key does not matter. An unchanged value is not `raw`. An escaped text
//!   holds no `c`: `c` is neither `%` nor an upper-case hexadecimal digit, which `invertible` ensures.
//! - Writing and reading are inverse on all values and on all texts before a first occurrence. The escaped form of a
//!   value that is escaped stands for that value; every other text stands for itself. So `100%25` in existing data is
//!   that text, not `100%`.

use std::borrow::Cow;

/// The text of a value before a literal.
pub fn write<'v>(value: &'v str, literal: &str) -> Cow<'v, str> {
    // Most values have nothing that could be misread.
    match Escape::new(literal).filter(|escape| value.contains(['%', escape.first])) {
        Some(escape) if escape.needs(value) => Cow::Owned(escape.escaped(value)),
        _ => Cow::Borrowed(value),
    }
}

/// The value of a text that ends before the first occurrence of a literal.
pub fn read<'t>(text: &'t str, literal: &str) -> Cow<'t, str> {
    match Escape::new(literal).filter(|_| text.contains('%')).and_then(|escape| Some((escape.source(text)?, escape))) {
        Some((source, escape)) if escape.needs(&source) => Cow::Owned(source),
        _ => Cow::Borrowed(text),
    }
}

/// The longest prefix of `prefix` that stands in every key unchanged, whether the value is escaped or not.
pub fn unchanged<'p>(prefix: &'p str, literal: &str) -> &'p str {
    let first = literal.chars().next();
    let end = prefix.find(|letter| letter == '%' || Some(letter) == first).unwrap_or(prefix.len());
    &prefix[..end]
}

/// The literal that ends a text, and its first character.
struct Escape<'l> {
    literal: &'l str,
    first: char,
}

impl<'l> Escape<'l> {
    /// `None` for an empty literal; no template has one.
    fn new(literal: &'l str) -> Option<Self> {
        literal.chars().next().map(|first| Self { literal, first })
    }

    /// The escaped form of the literal's first character.
    fn code(&self) -> String {
        self.first.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")).collect()
    }

    /// Whether a value must be escaped: it is raw, or it is the escaped form of a value that must be escaped.
    fn needs(&self, value: &str) -> bool {
        let mut value = Cow::Borrowed(value);
        // Each round shortens the value, and values are no longer than keys.
        while !self.raw(&value) {
            match self.source(&value) {
                Some(source) => value = Cow::Owned(source),
                None => return false,
            }
        }
        true
    }

    /// Whether the literal would end the value too early.
    fn raw(&self, value: &str) -> bool {
        value.contains(self.first) && format!("{value}{}", self.literal).find(self.literal) != Some(value.len())
    }

    /// The text whose escaped form this is; `None` if it is not an escaped form or nothing in it is escaped.
    fn source(&self, form: &str) -> Option<String> {
        let code = self.code();
        if !form.contains("%25") && !form.contains(&code) {
            return None;
        }
        let (mut source, mut rest) = (String::with_capacity(form.len()), form);
        while let Some(letter) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix(&code) {
                (source, rest) = (source + self.first.encode_utf8(&mut [0; 4]), after);
            } else if let Some(after) = rest.strip_prefix("%25") {
                (source, rest) = (source + "%", after);
            } else if letter == '%' || letter == self.first {
                // An escaped form holds neither of them unescaped.
                return None;
            } else {
                source.push(letter);
                rest = &rest[letter.len_utf8()..];
            }
        }
        Some(source)
    }

    fn escaped(&self, value: &str) -> String {
        value.replace('%', "%25").replace(self.first, &self.code())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_what_would_be_misread_is_escaped() {
        for (value, literal, text) in [
            ("abc", "#", "abc"),
            ("", "#", ""),
            ("a#b", "#", "a%23b"),
            ("50%#", "#", "50%25%23"),
            ("50%", "#", "50%"),
            ("50%25", "#", "50%25"),
            ("a%23b", "#", "a%2523b"),
            ("a%2523b", "#", "a%252523b"),
            ("a%23b%", "#", "a%23b%"),
            ("a#b", "#TRACK#", "a#b"),
            ("a#TRACK#b", "#TRACK#", "a%23TRACK%23b"),
            // The end of the value and the beginning of the literal would form the literal one place too early.
            ("a##TRACK", "#TRACK#", "a%23%23TRACK"),
            ("x#TRACK", "#TRACK#TRACK", "x%23TRACK"),
            ("a-", "--", "a%2D"),
            ("a/b", "é/", "a/b"),
            ("aé/b", "é/", "a%C3%A9/b"),
            ("a%C3%A9/", "é/", "a%25C3%25A9/"),
            ("a%C3", "é", "a%C3"),
        ] {
            assert_eq!(write(value, literal), text, "{value} before {literal}");
            assert_eq!(read(text, literal), value, "{text} before {literal}");
        }
    }

    proptest! {
        // Few letters make literals, codes and their overlaps frequent.
        #[test]
        fn writing_ends_where_the_literal_first_occurs_and_reads_back(value in "[a#%é235]{0,12}|(%25|%23|%C3%A9|#a|é){0,6}", literal in "[a#é][a#é%2]{0,3}", rest in "[a#é%2]{0,4}") {
            let text = write(&value, &literal);
            prop_assert_eq!(format!("{text}{literal}{rest}").find(&literal), Some(text.len()));
            prop_assert_eq!(read(&text, &literal), value.as_str());
        }

        #[test]
        fn every_text_stands_for_a_value_that_is_written_as_this_text(text in "[a#%é235]{0,12}|(%25|%23|%C3%A9|#a|é){0,6}", literal in "[a#é][a#é%2]{0,3}") {
            let end = format!("{text}{literal}").find(&literal).unwrap();
            let text = &text[..end.min(text.len())];
            let value = read(text, &literal);
            prop_assert_eq!(write(&value, &literal), text);
        }

        #[test]
        fn what_begins_with_a_text_is_found_by_what_is_unchanged_of_it(value in "[a#%é23]{0,8}", end in 0_usize..9, literal in "[a#é][a#é]{0,2}") {
            let prefix: String = value.chars().take(end).collect();
            let text = write(&value, &literal);
            prop_assert!(text.starts_with(unchanged(&prefix, &literal)));
        }

        #[test]
        fn a_text_that_is_unchanged_is_exact(value in "[a#%é23]{0,8}", prefix in "[ab23é#]{0,3}", literal in "[a#é][a#é]{0,2}") {
            if unchanged(&prefix, &literal) == prefix {
                let key = format!("{}{literal}", write(&value, &literal));
                prop_assert_eq!(key.starts_with(&prefix), value.starts_with(&prefix));
            }
        }
    }
}
