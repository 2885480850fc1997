//! The text of an update expression in; the same text with some of its actions changed or left out, out.

use std::iter::once;

const CLAUSES: [&str; 4] = ["SET", "REMOVE", "ADD", "DELETE"];

/// The expression, each of whose actions is what `change` makes of it. A clause without actions is left out.
pub fn changed(expression: &str, change: impl Fn(&str) -> Option<String>) -> String {
    let clause = |(name, actions): (&str, Vec<&str>)| {
        let left: Vec<String> = actions.into_iter().filter_map(&change).collect();
        (!left.is_empty()).then(|| format!("{name} {}", left.join(", ")))
    };
    clauses(expression).into_iter().filter_map(clause).collect::<Vec<_>>().join(" ")
}

/// The actions of each clause.
fn clauses(expression: &str) -> Vec<(&str, Vec<&str>)> {
    let words = |name: &'static str| expression.match_indices(name).collect::<Vec<_>>();
    // Names and values have placeholders, so these words are clauses.
    let mut begins: Vec<(usize, &str)> = CLAUSES.into_iter().flat_map(words).collect();
    begins.sort_unstable();
    let ends = begins.iter().skip(1).map(|(at, _)| *at).chain(once(expression.len()));
    begins.iter().zip(ends).map(|((at, word), end)| (*word, actions(&expression[at + word.len()..end]))).collect()
}

/// What stands between the commas that are in no parentheses.
fn actions(clause: &str) -> Vec<&str> {
    let (mut depth, mut begin, mut actions) = (0, 0, Vec::new());
    for (at, character) in clause.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                actions.push(clause[begin..at].trim());
                begin = at + 1;
            }
            _ => {}
        }
    }
    actions.push(clause[begin..].trim());
    actions
}
