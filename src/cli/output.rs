//! Text in, lines for the terminal out.

use anyhow::Result;
use clap::ValueEnum;
use std::io::{IsTerminal, Write};

/// Form of what a command prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
}

/// Writes the text to standard output.
pub fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Whether standard error is a terminal that wants colours (<https://no-color.org>).
pub fn color() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// A number of things.
pub fn counted(number: u64, word: &str) -> String {
    format!("{number} {word}{}", if number == 1 { "" } else { "s" })
}

/// Rows as lines with aligned columns, two spaces between them.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0))
        .collect();
    rows.iter().map(|row| line(&widths, row)).collect()
}

/// Cells as a line with columns of these widths, two spaces between them.
pub fn line(widths: &[usize], cells: &[impl AsRef<str>]) -> String {
    let padded: Vec<String> =
        cells.iter().zip(widths).map(|(cell, width)| format!("{:width$}", cell.as_ref())).collect();
    format!("{}\n", padded.join("  ").trim_end())
}

/// A text in lines of a width, broken at spaces. Lines after the first are indented by two more. A longer word is
/// broken.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let indent = text.chars().take_while(|letter| *letter == ' ').count();
    let mut lines = Vec::new();
    let mut line = " ".repeat(indent);
    let mut empty = true;
    for word in text.split_whitespace() {
        let mut letters: Vec<char> = word.chars().collect();
        if !empty && line.chars().count() + 1 + letters.len() > width {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent + 2)));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        while line.chars().count() + letters.len() > width && width > indent + 2 {
            let room = width - line.chars().count();
            line.extend(letters.drain(..room));
            lines.push(std::mem::replace(&mut line, " ".repeat(indent + 2)));
        }
        line.extend(letters);
        empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_characters() {
        let rows = [vec!["é".to_owned(), "b".to_owned()], vec!["long".to_owned(), String::new()]];
        assert_eq!(aligned(&rows), "é     b\nlong\n");
        assert_eq!(aligned(&[]), "");
    }

    #[test]
    fn a_text_is_wrapped_at_spaces_and_within_long_words() {
        assert_eq!(wrapped("a bc def", 20), ["a bc def"]);
        assert_eq!(wrapped("  abc defg h", 8), ["  abc", "    defg", "    h"]);
        assert_eq!(wrapped("ab cdefghijkl", 6), ["ab", "  cdef", "  ghij", "  kl"]);
        assert_eq!(wrapped("", 6), [""]);
    }
}
