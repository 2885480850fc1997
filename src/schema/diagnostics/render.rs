//! Findings in, text for a terminal out, in the style of rustc. Must not know what the rules are.

use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::schema::diagnostics::lines::LineIndex;
use std::fmt::Write;
use std::ops::Range;

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
const TAB: usize = 4;

/// The most findings that are shown. The last line counts all of them.
const MAX_SHOWN: usize = 100;

/// The longest line that is shown whole, and the longest place that is underlined whole, in characters.
const MAX_LINE_LENGTH: usize = 200;

/// In a longer line, the number of characters that are shown on each side of a place.
const AROUND: usize = 60;

/// The longest message or help, in characters. They may contain names of any length.
const MAX_SENTENCE_LENGTH: usize = 2_000;

/// A finding as people read it: its place cut out of the text, and sentences of bounded length without control
/// characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFinding {
    /// The stable code.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What stands before the place in its line.
    pub before: String,
    /// The place.
    pub marked: String,
    /// What stands behind it.
    pub after: String,
}

impl Diagnostics {
    /// The findings with their places underlined, at most 100 of them, and a last line that counts all; empty if there
    /// are none. Of a long line, only the part around the place is shown, so the output is bounded for any schema.
    pub fn render(&self, color: bool) -> String {
        let mut out = String::new();
        for finding in self.shown() {
            render_one(&mut out, &self.file, &finding, color);
        }
        if self.not_shown() > 0 {
            let _ = writeln!(out, "and {} more", self.not_shown());
        }
        let count = |severity| self.list.iter().filter(|finding| finding.severity == severity).count();
        let counts = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")];
        let said: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}{}", if *count == 1 { "" } else { "s" }))
            .collect();
        if !said.is_empty() {
            let _ = writeln!(out, "{}: {}", self.file, said.join(", "));
        }
        out
    }

    /// The first findings, at most 100.
    pub fn shown(&self) -> impl Iterator<Item = ShownFinding> {
        let lines = LineIndex::new(&self.text);
        self.list.iter().take(MAX_SHOWN).map(move |finding| ShownFinding::new((&self.text, &lines), finding))
    }

    /// How many further findings there are.
    pub fn not_shown(&self) -> usize {
        self.list.len().saturating_sub(MAX_SHOWN)
    }
}

impl ShownFinding {
    fn new((text, lines): (&str, &LineIndex), finding: &Diagnostic) -> Self {
        let start = boundary(text, finding.span.start);
        let end = boundary(text, finding.span.end.max(start));
        let (line, column) = lines.place(text, start);
        let Range { start: line_start, end: line_end } = lines.bytes(text, line);
        let line_end = line_start + text[line_start..line_end].trim_end_matches('\n').len();
        let (before, marked, after) =
            excerpt(&text[line_start..line_end], start - line_start..end.min(line_end) - line_start);
        Self {
            code: finding.code,
            severity: finding.severity,
            message: sentence(&finding.message),
            help: finding.help.as_deref().map(sentence),
            line,
            column,
            before,
            marked,
            after,
        }
    }
}

fn render_one(out: &mut String, file: &str, finding: &ShownFinding, color: bool) {
    let paint = |code: &'static str| if color { code } else { "" };
    let (plain, blue, bold) = (paint(PLAIN), paint(BLUE), paint(BOLD));
    let (word, accent) = match finding.severity {
        Severity::Error => ("error", paint(RED)),
        Severity::Warning => ("warning", paint(YELLOW)),
    };
    let ShownFinding { code, message, help, line, column, before, marked, after, .. } = finding;
    let gutter = " ".repeat(line.to_string().len());
    let indent = " ".repeat(width(before));
    let underline = "^".repeat(width(marked).max(1));

    // Writing to a String cannot fail.
    let _ = writeln!(out, "{accent}{word}[{code}]{plain}{bold}: {message}{plain}");
    let _ = writeln!(out, "{gutter}{blue}-->{plain} {file}:{line}:{column}");
    let _ = writeln!(out, "{gutter} {blue}|{plain}");
    let _ = writeln!(out, "{blue}{line} |{plain} {before}{marked}{after}");
    let _ = writeln!(out, "{gutter} {blue}|{plain} {indent}{accent}{underline}{plain}");
    if let Some(help) = help {
        let _ = writeln!(out, "{gutter} {blue}={plain} {bold}help{plain}: {help}");
    }
    out.push('\n');
}

/// The shown parts of a line: before the place, the place, and after it.
fn excerpt(line: &str, place: Range<usize>) -> (String, String, String) {
    let (before, marked, after) = (&line[..place.start], &line[place.clone()], line[place.end..].trim_end());
    if line.chars().nth(MAX_LINE_LENGTH).is_none() {
        return (shown(before), shown(marked), shown(after));
    }
    let before = match before.char_indices().rev().nth(AROUND - 1) {
        Some((at, _)) if at > 0 => format!("…{}", shown(&before[at..])),
        _ => shown(before),
    };
    match marked.char_indices().nth(MAX_LINE_LENGTH) {
        Some((at, _)) => (before, format!("{}…", shown(&marked[..at])), String::new()),
        None => (before, shown(marked), shown(&cut(after, AROUND))),
    }
}

/// The first `most` characters of a text, with `…` if more follow.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The nearest character boundary at or before the offset.
fn boundary(text: &str, offset: usize) -> usize {
    let mut at = offset.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Text on one line, without control characters.
fn sentence(text: &str) -> String {
    cut(&text.split_whitespace().collect::<Vec<_>>().join(" "), MAX_SENTENCE_LENGTH).chars().map(visible).collect()
}

/// Source text as it is printed: tabs become spaces, and control characters (such as escape sequences) are replaced.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { " ".repeat(TAB) } else { visible(c).to_string() }).collect()
}

fn visible(c: char) -> char {
    if c.is_control() { '\u{FFFD}' } else { c }
}

/// The number of terminal columns that the text takes.
fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The columns of a character: 0 for combining marks, 2 for wide East Asian characters and emoji, otherwise 1. Covers
/// the blocks of Unicode Standard Annex 11 that occur in schema files, not all of it.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F | 0x20D0..=0x20FF => 0,
        0x1100..=0x115F
        | 0x2E80..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6 => 2,
        0x1F300..=0x1F64F | 0x1F680..=0x1F6FF | 0x1F900..=0x1F9FF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    fn one(text: &str, span: Range<usize>) -> String {
        let finding = Diagnostic {
            code: "KF0000",
            severity: Severity::Error,
            message: "It is wrong.".into(),
            span,
            help: None,
            fix: Vec::new(),
        };
        Diagnostics { file: "s".into(), text: text.into(), list: vec![finding] }.render(false)
    }

    #[test]
    fn tabs_and_wide_characters_keep_the_underline_in_place() {
        let text = "a\n\t\"漢字\" x: Y";
        let at = text.find('Y').unwrap_or_default();
        let rendered = one(text, at..at + 1);
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[1], " --> s:2:10");
        assert_eq!(lines[3], "2 |     \"漢字\" x: Y");
        assert_eq!(lines[4], "  |               ^");
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}wrong{}", "a".repeat(5_000), "b".repeat(5_000));
        let rendered = one(&text, 5_000..5_005);
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[1], " --> s:1:5001");
        assert_eq!(lines[3], format!("1 | …{}wrong{}…", "a".repeat(60), "b".repeat(60)));
        assert_eq!(lines[4], format!("  | {}^^^^^", " ".repeat(61)));
        let whole = one(&text, 0..text.len());
        assert!(whole.len() < 1_000, "{}", whole.len());
    }

    #[test]
    fn output_is_bounded_whatever_the_mistakes() {
        let fields: String = (0..20_000).map(|n| format!(" field{n}: Missing{n}")).collect();
        let text = format!("type Query {{{fields} }}");
        let Err(mistakes) = crate::schema::load("s", &text, &|_| None) else { panic!("the schema loads") };
        assert!(mistakes.list.len() >= 20_000, "{}", mistakes.list.len());
        let rendered = mistakes.render(false);
        assert!(rendered.len() < 100_000, "{} bytes", rendered.len());
        assert!(rendered.contains(&format!(
            "\nand {} more\ns: {} errors\n",
            mistakes.list.len() - 100,
            mistakes.list.len()
        )));

        let name = "x".repeat(1_000_000);
        let Err(mistakes) = crate::schema::load("s", &format!("type Query {{ a: {name} }}"), &|_| None) else {
            panic!("the schema loads")
        };
        assert!(mistakes.render(false).len() < 10_000);
    }

    #[test]
    fn any_span_is_rendered() {
        for span in [0..0, 3..999, 999..1000, 2..3, 1..9] {
            assert!(one("äö\r\nb\u{1b}[31m", span.clone()).contains('^'), "{span:?}");
        }
        assert!(one("", 0..0).contains("s:1:1"));
        assert!(!one("\u{1b}[31m", 0..1).contains('\u{1b}'));
    }
}
