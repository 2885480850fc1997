//! The rows of a space, and to which row of the parent space each belongs. Must not know items or reads.

use std::ops::Range;

/// The rows of a space, in the order of their parents.
#[derive(Debug, Default)]
pub struct Rows {
    /// Row → row of the parent space.
    pub parents: Vec<usize>,
    /// The first row of each row of the parent space. One longer than the parent space, so that each range has an end.
    pub starts: Vec<usize>,
}

impl Rows {
    /// Rows for parents, with the number of rows that each has.
    pub fn from_sizes(sizes: impl Iterator<Item = usize>) -> Self {
        let mut rows = Self { parents: Vec::new(), starts: vec![0] };
        for (parent, size) in sizes.enumerate() {
            rows.parents.extend(std::iter::repeat_n(parent, size));
            rows.starts.push(rows.parents.len());
        }
        rows
    }

    /// The rows that belong to a range of parent rows.
    pub fn under_parents(&self, parents: Range<usize>) -> Range<usize> {
        let start = |row: usize| self.starts.get(row).copied().unwrap_or(self.parents.len());
        start(parents.start)..start(parents.end)
    }

    /// The position of a row among those of its parent.
    pub fn position(&self, row: usize) -> Option<usize> {
        row.checked_sub(*self.starts.get(*self.parents.get(row)?)?)
    }
}
