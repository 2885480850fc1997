//! Rust files in, the lines wider than 120 columns out. Must not know the other rules.
//!
//! A line may be wider where a text literal goes over its end, so that a whole sentence can be searched for, and where
//! it is a row of a table in a comment, which has no second line.

use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};

/// The columns of a line.
pub const MAX_WIDTH: usize = 120;

/// What breaks the rule in these files, each a path and a text. `known` is how many lines of a file may be wider.
pub fn wide_lines(files: &[(String, String)], known: &[(&str, usize)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut known: BTreeMap<&str, usize> = known.iter().copied().collect();
    for (path, text) in files {
        let wide = wide(path, text);
        let allowed = known.remove(path.as_str()).unwrap_or_default();
        if wide.len() > allowed {
            found.extend(wide.iter().map(|line| format!("{path}:{line}: a line has at most {MAX_WIDTH} columns")));
        } else if wide.len() < allowed {
            found.push(format!("{path}: {} lines are wide, not {allowed}; say so in the exceptions", wide.len()));
        }
    }
    found.extend(known.keys().map(|path| format!("{path}: this exception names no file")));
    found
}

/// The numbers of the wide lines, from 1.
fn wide(path: &str, text: &str) -> Vec<usize> {
    let lines = text.lines().zip(1..).filter(|(line, _)| line.chars().count() > MAX_WIDTH);
    let lines: Vec<(&str, usize)> = lines.filter(|(line, _)| !is_table_row(line)).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let mut over = BTreeSet::new();
    let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{path}: {error}"));
    add_lines_of_text(tokens, &mut over);
    // To the parser, docs are text literals, too.
    let is_wide = |(line, number): &(&str, usize)| line.trim_start().starts_with("//") || !over.contains(number);
    lines.into_iter().filter(is_wide).map(|(_, number)| number).collect()
}

fn is_table_row(line: &str) -> bool {
    line.trim_start().trim_start_matches(['/', '!']).trim_start().starts_with('|')
}

/// The lines whose end a text literal goes over.
fn add_lines_of_text(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => add_lines_of_text(group.stream(), lines),
            TokenTree::Literal(literal) if literal.to_string().ends_with(['"', '#']) => {
                let (start, end) = (literal.span().start(), literal.span().end());
                lines.extend(start.line..end.line);
                if end.column > MAX_WIDTH {
                    lines.insert(end.line);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, known: &[(&str, usize)]) -> Vec<String> {
        wide_lines(&[("src/a.rs".to_owned(), text.to_owned())], known)
    }

    #[test]
    fn wide_code_and_comments_are_found() {
        let code = format!("fn a() {{\n    let {} = 1;\n}}\n", "b".repeat(MAX_WIDTH));
        assert_eq!(found(&code, &[]), ["src/a.rs:2: a line has at most 120 columns"]);
        assert_eq!(found(&format!("//! {}\n", "ö".repeat(116)), &[]), [""; 0]);
        assert_eq!(found(&format!("//! {}\n", "ö".repeat(117)), &[]).len(), 1);
    }

    #[test]
    fn texts_and_tables_may_be_wide() {
        let long = "x".repeat(MAX_WIDTH);
        assert_eq!(
            found(&format!("const A: &str = \"{long}\";\nconst B: &str = \"\n{long}\n{long}\";\n"), &[]),
            [""; 0]
        );
        assert_eq!(found(&format!("//! | {long} |\n"), &[]), [""; 0]);
        assert_eq!(found(&format!("fn a() {{\n    b(\"c\", {long});\n}}\n"), &[]).len(), 1, "the text ends before");
    }

    #[test]
    fn an_exception_is_exact() {
        let text = format!("//! {}\n", "x".repeat(MAX_WIDTH));
        assert_eq!(found(&text, &[("src/a.rs", 1)]), [""; 0]);
        assert_eq!(found(&text, &[("src/a.rs", 2)]).len(), 1);
        assert_eq!(found(&text, &[("src/a.rs", 1), ("src/b.rs", 1)]), ["src/b.rs: this exception names no file"]);
    }
}
