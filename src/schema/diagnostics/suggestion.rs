//! Suggestions: a misspelt name and the valid names in; out, a help line with the nearest name or the list of names.

use crate::schema::diagnostics::help::Help;
use strsim::osa_distance;

/// The most names in a list.
const MAX_LISTED: usize = 12;

/// The shortest word that stands for a name that it begins, in bytes.
const SHORTEST_BEGINNING: usize = 3;

/// The longest word that is compared with the names, in bytes. The time of a comparison grows with both lengths.
const MAX_WORD_LENGTH: usize = 200;

/// "did you mean `x`?" if a choice is near the word, otherwise the list of choices; `None` if there are none.
pub fn suggest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<Help> {
    let choices: Vec<&str> = choices.into_iter().collect();
    match near(word, &choices) {
        Some(choice) => Some(Help::instead(format!("did you mean `{choice}`?"), word, choice)),
        None if choices.is_empty() => None,
        None => Some(format!("there are {}", list(&choices)).into()),
    }
}

/// The choice with the fewest changed letters, ignoring case, if these are few for the word's length; or else the only
/// one whose first words are the word: `KEYS` of `KEYS_ONLY`.
pub fn near<'a>(word: &str, choices: &[&'a str]) -> Option<&'a str> {
    let lower = word.to_lowercase();
    let few = 1 + word.chars().count() / 4;
    let short = choices.iter().filter(|choice| word.len().max(choice.len()) <= MAX_WORD_LENGTH);
    let distances = short.map(|choice| (osa_distance(&lower, &choice.to_lowercase()), *choice));
    let nearest = distances.filter(|(distance, _)| *distance <= few).min_by_key(|(distance, _)| *distance);
    nearest.map(|(_, choice)| choice).or_else(|| {
        let mut longer = choices.iter().filter(|choice| begins_words(choice, word));
        longer.next().filter(|_| longer.next().is_none()).copied()
    })
}

/// Whether a name goes on after a word with another word: `KEYS_ONLY` after `KEYS`, `nameOfUser` after `name`.
fn begins_words(name: &str, word: &str) -> bool {
    let rest = name.strip_prefix(word).filter(|_| word.len() >= SHORTEST_BEGINNING);
    let next = rest.and_then(|rest| rest.chars().next());
    next.is_some_and(|next| next == '_' || next.is_uppercase() && word.ends_with(|last: char| last.is_lowercase()))
}

/// The names in backticks, at most a dozen of them: "`a`, `b` and `c`".
pub fn list(names: &[&str]) -> String {
    let mut quoted: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    if names.len() > MAX_LISTED {
        quoted.push(format!("{} more", names.len() - MAX_LISTED));
    }
    match quoted.pop() {
        None => String::new(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} and {last}", quoted.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{list, near, suggest};

    #[test]
    fn a_near_name_is_meant() {
        assert_eq!(
            suggest("gruopId", ["userId", "groupId"]).map(|help| help.text).as_deref(),
            Some("did you mean `groupId`?")
        );
        assert_eq!(
            suggest(&"x".repeat(100_000), ["groupId"]).map(|help| help.text).as_deref(),
            Some("there are `groupId`")
        );
        assert_eq!(suggest("PK", ["pk", "sk"]).map(|help| help.text).as_deref(), Some("did you mean `pk`?"));
    }

    #[test]
    fn the_first_words_of_one_name_mean_it() {
        let of = |word: &str| near(word, &["ALL", "KEYS_ONLY", "userDisplayName", "userBillingId", "cardId"]);
        assert_eq!((of("KEYS"), of("card"), of("user")), (Some("KEYS_ONLY"), Some("cardId"), None));
        assert_eq!((of("KEY"), of("ca"), of("us")), (None, None, None));
    }

    #[test]
    fn otherwise_the_names_are_listed() {
        assert_eq!(
            suggest("x", ["userId", "groupId"]).map(|help| help.text).as_deref(),
            Some("there are `userId` and `groupId`")
        );
        assert_eq!(suggest("x", []), None);
        let many: Vec<String> = (0..15).map(|n| format!("n{n}")).collect();
        assert!(list(&many.iter().map(String::as_str).collect::<Vec<_>>()).ends_with("and 3 more"));
    }
}
