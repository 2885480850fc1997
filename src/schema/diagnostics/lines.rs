//! A text in; the line and the column of each of its offsets, and back, out. Lines and columns count from 1, and
//! columns count characters.

use std::ops::Range;

/// A line and a column.
pub type LinePlace = (usize, usize);

/// Where the lines of a text begin.
#[derive(Debug, Clone)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// The lines of a text.
    pub fn new(text: &str) -> Self {
        Self { starts: std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect() }
    }

    /// The line of an offset.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// The line and the column of an offset of the same text. An offset within a character is at that character, and
    /// one beyond the text at its end.
    pub fn place(&self, text: &str, offset: usize) -> LinePlace {
        let offset = text.floor_char_boundary(offset);
        let line = self.line(offset);
        (line, text[self.bytes(text, line).start..offset].chars().count() + 1)
    }

    /// The bytes of a line of the same text with its end; none behind the last line.
    pub fn bytes(&self, text: &str, line: usize) -> Range<usize> {
        let start = |line: usize| self.starts.get(line).copied().unwrap_or(text.len());
        start(line.saturating_sub(1))..start(line.max(1))
    }

    /// Where each line begins, in their order.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_counts_lines_and_characters() {
        let text = "a\néb\n\nc";
        let lines = LineIndex::new(text);
        let places = [0, 1, 2, 3, 4, 5, 6, 7, 8, 99].map(|offset| lines.place(text, offset));
        assert_eq!(places, [(1, 1), (1, 2), (2, 1), (2, 1), (2, 2), (2, 3), (3, 1), (4, 1), (4, 2), (4, 2)]);
        let bytes = [0, 1, 2, 3, 4, 5].map(|line| &text[lines.bytes(text, line)]);
        assert_eq!(bytes, ["a\n", "a\n", "éb\n", "\n", "c", ""]);
        assert_eq!(LineIndex::new("").place("", 0), (1, 1));
    }
}
