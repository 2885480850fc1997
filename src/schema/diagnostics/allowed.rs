//! Findings in; the same without the warnings that comments of the schema allow, out:
//!
//! ```graphql
//! # keyfold: allow KF0433, keys of an existing table
//! ```

use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity, clause};
use crate::schema::diagnostics::help::Edit;
use crate::schema::diagnostics::lines::LineIndex;
use crate::schema::diagnostics::rule::Rule;
use crate::schema::diagnostics::rules::{self, rule_of};
use crate::schema::diagnostics::span::Span;
use apollo_parser::{Lexer, TokenKind};

/// What such a comment begins with.
const BEGINNING: &str = "keyfold: allow";
/// How one is written.
const FORM: &str = "write `# keyfold: allow KF0433, keys of an existing table`";

/// A comment that allows a warning.
struct AllowComment<'t> {
    span: Span,
    /// What goes with it: its line if it stands alone, and otherwise the spaces before it.
    whole: Span,
    /// The code of the warning; or what is wrong with the comment.
    code: Result<&'t str, String>,
    /// The line that it is about, from 0.
    line: usize,
    used: bool,
}

/// Leaves out the warnings that comments allow, and adds one for each comment that allows none. Of a schema whose
/// mistakes ended the check, nobody knows which warnings it has: then nothing is said of such comments.
pub fn leave_out(diagnostics: &mut Diagnostics, is_complete: bool) {
    let Diagnostics { text, list, .. } = diagnostics;
    // Most schemas have none.
    if !text.contains(BEGINNING) {
        return;
    }
    let lines = LineIndex::new(text);
    let mut comments = comments(text, lines.starts());
    list.retain(|found| {
        let line = lines.line(found.span.start) - 1;
        let allows = |comment: &&mut AllowComment<'_>| {
            comment.line == line && comment.code.as_ref().is_ok_and(|code| *code == found.code)
        };
        let is_warning = found.severity == Severity::Warning;
        let allowing = comments.iter_mut().find(allows).filter(|_| is_warning);
        allowing.map(|comment| comment.used = true).is_none()
    });
    for comment in comments.iter().filter(|comment| !comment.used) {
        match &comment.code {
            Err(why) => list.push(warning(rules::KF1201, &comment.span, (why, FORM))),
            Ok(code) if is_complete => {
                let message = format!("there is no warning {code} on line {}", comment.line + 1);
                let mut found = warning(rules::KF1202, &comment.span, (&message, "remove the comment"));
                found.fix = vec![Edit { span: comment.whole.clone(), text: String::new() }];
                list.push(found);
            }
            Ok(_) => {}
        }
    }
    list.sort_by_key(|found| (found.span.start, found.span.end));
}

fn warning(rule: &'static Rule, span: &Span, (message, help): (&str, &str)) -> Diagnostic {
    let (message, help) = (clause(message), Some(help.to_owned()));
    Diagnostic { code: rule.code, severity: Severity::Warning, message, span: span.clone(), help, fix: Vec::new() }
}

/// The comments of a text that allow something. `starts` are those of its lines.
fn comments<'t>(text: &'t str, starts: &[usize]) -> Vec<AllowComment<'t>> {
    let mut found: Vec<AllowComment<'t>> = Vec::new();
    for token in Lexer::new(text).filter_map(Result::ok).filter(|token| token.kind() == TokenKind::Comment) {
        let span = token.index()..token.index() + token.data().trim_end().len();
        let Some(said) = text.get(span.start + 1..span.end).and_then(|said| said.trim_start().strip_prefix(BEGINNING))
        else {
            continue;
        };
        let own = starts.partition_point(|start| *start <= span.start).saturating_sub(1);
        let before = text[starts[own]..span.start].trim_end();
        let is_alone = before.is_empty();
        let is_comment = |line: &&usize| text[**line..].trim_start_matches([' ', '\t']).starts_with('#');
        // Several comments stand above one line.
        let above = starts.iter().skip(own + 1).take_while(is_comment).count();
        let line = if is_alone { own + 1 + above } else { own };
        let next = starts.get(own + 1).copied().filter(|_| is_alone);
        let whole = starts[own] + before.len()..next.unwrap_or(span.end);
        found.push(AllowComment { code: code(said), span, whole, line, used: false });
    }
    found
}

/// The code in what follows the beginning.
fn code(said: &str) -> Result<&str, String> {
    let (code, reason) = said.split_once(',').unwrap_or((said, ""));
    let code = code.trim();
    match rule_of(code) {
        None if code.is_empty() => Err("it does not say which warning is allowed".to_owned()),
        None => Err(format!("there is no warning `{code}`")),
        Some(_) if reason.trim().is_empty() => Err(format!("it does not say why {code} is allowed")),
        Some(_) => Ok(code),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The codes that are left of two warnings `KF0433` and an error, at these texts.
    fn left(text: &str, is_complete: bool) -> Vec<String> {
        let found = |(mark, code, severity): (&str, &'static str, Severity)| {
            let at = text.find(mark)?;
            let (message, span) = (String::new(), at..at + mark.len());
            Some(Diagnostic { code, severity, message, span, help: None, fix: Vec::new() })
        };
        let (warning, error) = (Severity::Warning, Severity::Error);
        let list = [("one", "KF0433", warning), ("two", "KF0433", warning), ("bad", "KF0201", error)];
        let list = list.into_iter().filter_map(found).collect();
        let mut diagnostics = Diagnostics { file: String::new(), text: text.to_owned(), list };
        leave_out(&mut diagnostics, is_complete);
        diagnostics.list.iter().map(|found| format!("{} {}", found.code, &text[found.span.clone()])).collect()
    }

    #[test]
    fn a_comment_allows_the_next_line_or_its_own() {
        let allow = "# keyfold: allow KF0433, old";
        assert_eq!(left(&format!("{allow}\none\ntwo"), true), ["KF0433 two"]);
        assert_eq!(left(&format!("a one {allow}\ntwo\n"), true), ["KF0433 two"]);
        assert_eq!(
            left(&format!("  {allow}\n # another\n#keyfold: allow KF0444, x\none"), true),
            ["KF1202 #keyfold: allow KF0444, x"]
        );
        assert_eq!(left(&format!("{allow}\none two"), true), Vec::<String>::new());
    }

    #[test]
    fn a_comment_that_allows_nothing_is_a_warning() {
        let allow = "# keyfold: allow KF0433, old";
        assert_eq!(left(&format!("{allow}\n\none"), true), [format!("KF1202 {allow}"), "KF0433 one".to_owned()]);
        assert_eq!(left(&format!("{allow}\n\none"), false), ["KF0433 one"]);
        assert_eq!(left(&format!("{allow}\n"), true), [format!("KF1202 {allow}")]);
        let of_error = "# keyfold: allow KF0201, old";
        assert_eq!(left(&format!("bad {of_error}"), true), ["KF0201 bad".to_owned(), format!("KF1202 {of_error}")]);
        for wrong in ["KF0433", "KF0433,", "KF0433, ", "", ", why", "KF9999, why", "KF0433 KF0434, why"] {
            let wrong = format!("# keyfold: allow {wrong}");
            let expected = [format!("KF1201 {}", wrong.trim_end()), "KF0433 one".to_owned()];
            for is_complete in [true, false] {
                assert_eq!(left(&format!("{wrong}\none"), is_complete), expected);
            }
        }
    }

    #[test]
    fn a_text_that_looks_like_a_comment_is_none() {
        assert_eq!(left("\"\"\"\n# keyfold: allow KF0433, old\none \"\"\"\n", true), ["KF0433 one"]);
        assert_eq!(left("# see keyfold: allow KF0433, old\none", true), ["KF0433 one"]);
    }
}
