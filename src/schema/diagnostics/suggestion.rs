//! Help for misspelt names: the nearest valid one, or the list of all.

/// "did you mean `x`?" if a choice is near the word, else the choices; `None` if there are none.
pub fn suggest<'a>(word: &str, choices: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let choices: Vec<&str> = choices.into_iter().collect();
    let near = choices.iter().map(|choice| (distance(word, choice), *choice)).min_by_key(|(distance, _)| *distance);
    match near {
        Some((distance, choice)) if distance <= 1 + word.chars().count() / 4 => Some(format!("did you mean `{choice}`?")),
        Some(_) => Some(format!("there are {}", list(&choices))),
        None => None,
    }
}

/// The names in backticks, at most a dozen of them: "`a`, `b` and `c`".
pub fn list(names: &[&str]) -> String {
    const SHOWN: usize = 12;
    let mut quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    if names.len() > SHOWN {
        quoted.push(format!("{} more", names.len() - SHOWN));
    }
    match quoted.pop() {
        None => String::new(),
        Some(last) if quoted.is_empty() => last,
        Some(last) => format!("{} and {last}", quoted.join(", ")),
    }
}

/// How many insertions, removals, replacements and swaps of neighbours lead from one word to the other, case apart.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut previous: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = previous[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(previous[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut previous, row);
    }
    previous.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{list, suggest};

    #[test]
    fn a_near_name_is_meant() {
        assert_eq!(suggest("gruopId", ["userId", "groupId"]).as_deref(), Some("did you mean `groupId`?"));
        assert_eq!(suggest("PK", ["pk", "sk"]).as_deref(), Some("did you mean `pk`?"));
    }

    #[test]
    fn otherwise_the_names_are_listed() {
        assert_eq!(suggest("x", ["userId", "groupId"]).as_deref(), Some("there are `userId` and `groupId`"));
        assert_eq!(suggest("x", []), None);
        let many: Vec<String> = (0..15).map(|n| format!("n{n}")).collect();
        assert!(list(&many.iter().map(String::as_str).collect::<Vec<_>>()).ends_with("and 3 more"));
    }
}
