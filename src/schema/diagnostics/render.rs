//! Findings in, text for a terminal out, in the form that rustc made familiar. Must not know what the rules are.

use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity};
use std::fmt::Write;

const RED: &str = "\x1b[1;31m";
const YELLOW: &str = "\x1b[1;33m";
const BLUE: &str = "\x1b[1;34m";
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
const TAB: usize = 4;

impl Diagnostics {
    /// Every finding with its place underlined, and a closing line that counts them; empty where there are none.
    pub fn render(&self, color: bool) -> String {
        render(self, color)
    }
}

/// Every finding with its line and an underline, then a line that counts errors and warnings.
fn render(diagnostics: &Diagnostics, color: bool) -> String {
    let mut out = String::new();
    for finding in &diagnostics.list {
        render_one(&mut out, diagnostics, finding, color);
    }
    let count = |severity| diagnostics.list.iter().filter(|finding| finding.severity == severity).count();
    let counts = [(count(Severity::Error), "error"), (count(Severity::Warning), "warning")];
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    if !said.is_empty() {
        let _ = writeln!(out, "{}: {}", diagnostics.file, said.join(", "));
    }
    out
}

fn render_one(out: &mut String, diagnostics: &Diagnostics, finding: &Diagnostic, color: bool) {
    let paint = |code: &'static str| if color { code } else { "" };
    let (plain, blue, bold) = (paint(PLAIN), paint(BLUE), paint(BOLD));
    let (word, accent) = match finding.severity {
        Severity::Error => ("error", paint(RED)),
        Severity::Warning => ("warning", paint(YELLOW)),
    };
    let text = &diagnostics.text;
    let start = boundary(text, finding.span.start);
    let end = boundary(text, finding.span.end.max(start));
    let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    let number = text[..line_start].matches('\n').count() + 1;
    let column = text[line_start..start].chars().count() + 1;
    let gutter = " ".repeat(number.to_string().len());

    let before = shown(&text[line_start..start]);
    let marked = shown(&text[start..end.min(line_end)]);
    let after = shown(text[end.min(line_end)..line_end].trim_end());
    let indent = " ".repeat(width(&before));
    let underline = "^".repeat(width(&marked).max(1));

    // Writing to a String cannot fail.
    let _ = writeln!(out, "{accent}{word}[{}]{plain}{bold}: {}{plain}", finding.code, sentence(&finding.message));
    let _ = writeln!(out, "{gutter}{blue}-->{plain} {}:{number}:{column}", diagnostics.file);
    let _ = writeln!(out, "{gutter} {blue}|{plain}");
    let _ = writeln!(out, "{blue}{number} |{plain} {before}{marked}{after}");
    let _ = writeln!(out, "{gutter} {blue}|{plain} {indent}{accent}{underline}{plain}");
    if let Some(help) = &finding.help {
        let _ = writeln!(out, "{gutter} {blue}={plain} {bold}help{plain}: {}", sentence(help));
    }
    out.push('\n');
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
    text.split_whitespace().collect::<Vec<_>>().join(" ").chars().map(visible).collect()
}

/// Source text as it is printed: tabs as spaces, and control characters (an escape sequence, say) made harmless.
fn shown(text: &str) -> String {
    text.chars().map(|c| if c == '\t' { " ".repeat(TAB) } else { visible(c).to_string() }).collect()
}

fn visible(c: char) -> char {
    if c.is_control() { '\u{FFFD}' } else { c }
}

/// How many terminal columns the text takes.
fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// 0 for combining marks, 2 for wide East Asian characters and emoji, else 1: the blocks of Unicode Standard Annex 11 that occur in
/// schema files, not the whole of it.
fn columns(c: char) -> usize {
    match u32::from(c) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F | 0x20D0..=0x20FF => 0,
        0x1100..=0x115F | 0x2E80..=0xA4CF | 0xAC00..=0xD7A3 | 0xF900..=0xFAFF | 0xFE30..=0xFE6F | 0xFF00..=0xFF60 | 0xFFE0..=0xFFE6 => 2,
        0x1F300..=0x1F64F | 0x1F680..=0x1F6FF | 0x1F900..=0x1F9FF | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(text: &str, span: std::ops::Range<usize>) -> String {
        let finding = Diagnostic { code: "KF0000", severity: Severity::Error, message: "It is wrong.".into(), span, help: None };
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
    fn any_span_is_rendered() {
        for span in [0..0, 3..999, 999..1000, 2..3, 1..9] {
            assert!(one("äö\r\nb\u{1b}[31m", span.clone()).contains('^'), "{span:?}");
        }
        assert!(one("", 0..0).contains("s:1:1"));
        assert!(!one("\u{1b}[31m", 0..1).contains('\u{1b}'));
    }
}
