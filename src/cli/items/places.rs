//! Where each of many items stands, kept as runs: items that follow each other in one file are one.

use crate::sources::material::{SourcePlace, SourcePosition};

/// The places of items, in their order.
#[derive(Debug, Default)]
pub struct Places {
    files: Vec<String>,
    runs: Vec<Run>,
    count: u64,
}

/// Items that stand side by side.
#[derive(Debug)]
struct Run {
    /// The number of the first, from 0.
    first: u64,
    file: usize,
    position: SourcePosition,
}

impl Run {
    /// Where the item of a number stands, if the run has it.
    fn position(&self, item: u64) -> SourcePosition {
        match self.position {
            SourcePosition::Line(line) => SourcePosition::Line(line + item - self.first),
            SourcePosition::Item(number) => SourcePosition::Item(number + item - self.first),
        }
    }
}

impl Places {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the place of the next item.
    pub fn push(&mut self, place: SourcePlace) {
        if self.files.last() != Some(&place.file) {
            self.files.push(place.file);
        }
        let file = self.files.len() - 1;
        let is_next = |run: &Run| run.file == file && run.position(self.count) == place.position;
        if !self.runs.last().is_some_and(is_next) {
            self.runs.push(Run { first: self.count, file, position: place.position });
        }
        self.count += 1;
    }

    /// The place of an item by its number, from 0.
    pub fn get(&self, item: u64) -> Option<SourcePlace> {
        let run = &self.runs[..self.runs.partition_point(|run| run.first <= item)].last()?;
        Some(SourcePlace { file: self.files[run.file].clone(), position: run.position(item) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_whatever_is_between() {
        let line = |file: &str, line| SourcePlace { file: file.into(), position: SourcePosition::Line(line) };
        let item = |file: &str, item| SourcePlace { file: file.into(), position: SourcePosition::Item(item) };
        let all = [line("a", 1), line("a", 2), line("a", 5), line("b", 1), item("c", 6), item("c", 7), line("a", 6)];
        let mut places = Places::default();
        assert!(places.is_empty() && places.get(0).is_none());
        all.iter().for_each(|place| places.push(place.clone()));
        let read: Vec<Option<SourcePlace>> = (0..all.len() as u64).map(|number| places.get(number)).collect();
        assert_eq!(read, all.clone().map(Some));
        assert_eq!(places.runs.len(), 5);
    }
}
