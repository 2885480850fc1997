//! The text of a key in, its tokens out: what stands between separators. A value that holds a separator is one token.

use super::atoms::{Atom, atom, wholes};
use std::collections::BTreeSet;
use std::ops::Range;

/// Characters that mostly separate.
const STRONG: &str = "#|:/~^;=!*\\,$";
/// Characters that separate where nothing else does.
const WEAK: &str = "_.-";
/// A separator stands in one of this many texts at least.
const SHARE: usize = 4;

/// What stands between two separators of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct KeyToken {
    /// The separators before it.
    pub before: String,
    /// Its text. It is empty where a key ends with a separator.
    pub text: String,
    /// Whether it is known to be a label.
    pub label: bool,
}

impl KeyToken {
    /// A token that may be a label or a value.
    pub fn new(before: impl Into<String>, text: impl Into<String>) -> Self {
        Self { before: before.into(), text: text.into(), label: false }
    }

    /// A label.
    pub fn label(before: impl Into<String>, text: impl Into<String>) -> Self {
        Self { before: before.into(), text: text.into(), label: true }
    }
}

/// The characters that separate the parts of a key attribute with these texts, by what stands before them: a word in a
/// quarter of the texts that are no single value.
pub fn separators<'k>(texts: impl Iterator<Item = &'k str>) -> Vec<char> {
    let texts: BTreeSet<String> = texts.map(without_wholes).filter(|text| text != "0").collect();
    let least = (texts.len() / SHARE).max(2);
    let follows_word = |separator: char, shortest: usize| {
        let is_after_word = |text: &&String| {
            let mut parts = text.split(separator);
            // Only what stands behind another separator.
            let first =
                parts.next().unwrap_or_default().rsplit(|letter| STRONG.contains(letter)).next().unwrap_or_default();
            let has_more = parts.next().is_some();
            // `0` stands for a time or an id.
            let is_whole = first == "0" && !is_weak(separator);
            let is_word = first.is_empty() || is_whole || first.len() >= shortest && matches!(atom(first), Atom::Word);
            has_more && (is_word || text.split(separator).any(is_capital_word))
        };
        texts.iter().filter(is_after_word).count() >= least
    };
    let strong: Vec<char> = STRONG.chars().filter(|separator| follows_word(*separator, 1)).collect();
    if !strong.is_empty() {
        return strong;
    }
    // One word that all texts begin with tells nothing apart: `dev-7` is the value itself.
    let tells_apart = |separator: &char| {
        let mut first = texts.iter().map(|text| text.split(*separator).next());
        let one = first.next();
        first.any(|other| Some(other) != one)
    };
    WEAK.chars().filter(|separator| follows_word(*separator, 2) && tells_apart(separator)).take(1).collect()
}

/// Whether a character separates only where nothing else does.
pub fn is_weak(letter: char) -> bool {
    WEAK.contains(letter)
}

fn is_capital_word(text: &str) -> bool {
    text.len() > 1 && atom(text) == Atom::Word && !text.chars().any(char::is_lowercase)
}

fn without_wholes(key: &str) -> String {
    let mut rest = key.to_owned();
    for place in wholes(key).into_iter().rev() {
        rest.replace_range(place, "0");
    }
    if matches!(atom(&rest), Atom::Number | Atom::Ulid) { "0".to_owned() } else { rest }
}

/// A label and a value without a separator between them: `HR-EMPLOYEE7`, `item-12`. Gives the length of the label.
pub fn prefix(text: &str) -> Option<usize> {
    let digit = text.find(|letter: char| letter.is_ascii_digit())?;
    let hyphen = text.find(['-', '_']).filter(|at| *at < digit && atom(&text[..*at]) == Atom::Word).map(|at| at + 1);
    let is_capital = is_capital_word(&text[..digit]) && text[digit..].bytes().all(|byte| byte.is_ascii_digit());
    let length = if is_capital { Some(digit) } else { hyphen.filter(|at| *at > 2) };
    length.filter(|length| *length < text.len())
}

/// The tokens of a key. `values` are texts that the item has elsewhere: where one of them stands between separators, it
/// is one token.
pub fn split(key: &str, separators: &[char], values: &[&str]) -> Vec<KeyToken> {
    let is_separator = |letter: char| separators.contains(&letter);
    let bounded = |place: &Range<usize>| {
        key[..place.start].chars().next_back().is_none_or(is_separator)
            && key[place.end..].chars().next().is_none_or(is_separator)
    };
    let mut masks: Vec<Range<usize>> = Vec::new();
    let mut longest: Vec<&str> = values.iter().copied().filter(|value| value.contains(is_separator)).collect();
    longest.sort_by_key(|value| std::cmp::Reverse(value.len()));
    let scalar_of_values =
        longest.into_iter().flat_map(|value| key.match_indices(value).map(|(at, text)| at..at + text.len()));
    for place in scalar_of_values.chain(wholes(key)).filter(bounded).collect::<Vec<_>>() {
        let is_free = masks.iter().all(|mask| place.end <= mask.start || place.start >= mask.end);
        if is_free {
            masks.push(place);
        }
    }
    let mut tokens = vec![KeyToken::new("", "")];
    for (at, letter) in key.char_indices() {
        let is_masked = masks.iter().any(|mask| mask.contains(&at));
        let Some(last) = tokens.last_mut() else { break };
        if is_masked || !is_separator(letter) {
            last.text.push(letter);
        } else {
            tokens.push(KeyToken::new(letter, ""));
        }
    }
    joined(tokens)
}

/// Empty tokens but the last join the separators around them.
fn joined(tokens: Vec<KeyToken>) -> Vec<KeyToken> {
    let mut joined: Vec<KeyToken> = Vec::with_capacity(tokens.len());
    let mut before = String::new();
    let last = tokens.len() - 1;
    for (position, token) in tokens.into_iter().enumerate() {
        before.push_str(&token.before);
        if !token.text.is_empty() || position == last {
            joined.push(KeyToken::new(std::mem::take(&mut before), token.text));
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(key: &str, separators: &[char], values: &[&str]) -> String {
        split(key, separators, values)
            .iter()
            .map(|token| format!("{}<{}>", token.before, token.text))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn keys_are_split_at_separators_outside_values() {
        assert_eq!(shown("USER#ann", &['#'], &[]), "<USER> #<ann>");
        assert_eq!(shown("#META#ann#", &['#'], &[]), "#<META> #<ann> #<>");
        assert_eq!(shown("a:2026-12-05T09:00:00Z:b", &[':'], &[]), "<a> :<2026-12-05T09:00:00Z> :<b>");
        assert_eq!(shown("CITY#New#York#5", &['#'], &["New#York"]), "<CITY> #<New#York> #<5>");
        assert_eq!(shown("CITY#ANew#York#5", &['#'], &["New#York"]), "<CITY> #<ANew> #<York> #<5>");
        assert_eq!(shown("", &['#'], &[]), "<>");
        assert_eq!(shown("a##b", &['#'], &[]), "<a> ##<b>");
    }

    #[test]
    fn separators_are_what_stands_after_words() {
        let found = |keys: &[&str]| separators(keys.iter().copied());
        assert_eq!(found(&["USER#a", "USER#b", "ORDER#2026-12-05T09:00:00Z"]), ['#']);
        assert_eq!(found(&["user_1", "user_2", "order_7"]), ['_']);
        assert!(found(&["c-1", "c-2"]).is_empty());
        assert!(found(&["dev-1", "dev-2", "dev-a"]).is_empty());
        assert_eq!(found(&["a|BOX:1", "a|BOX:2"]), ['|', ':']);
        assert_eq!(prefix("HR-EMPLOYEE7"), Some("HR-EMPLOYEE".len()));
        assert_eq!(prefix("item-12"), Some("item-".len()));
        assert_eq!((prefix("p-1001"), prefix("alice"), prefix("2026-W09")), (None, None, None));
    }
}
