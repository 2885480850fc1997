//! Where each of many items stands, kept as runs: items that follow each other in one file are one.

use crate::sources::material::{Place, Position};

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
    position: Position,
}

impl Run {
    /// Where the item of a number stands, if the run has it.
    fn position(&self, item: u64) -> Position {
        match self.position {
            Position::Line(line) => Position::Line(line + item - self.first),
            Position::Item(number) => Position::Item(number + item - self.first),
        }
    }
}

impl Places {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds the place of the next item.
    pub fn push(&mut self, place: Place) {
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
    pub fn get(&self, item: u64) -> Option<Place> {
        let run = &self.runs[..self.runs.partition_point(|run| run.first <= item)].last()?;
        Some(Place { file: self.files[run.file].clone(), position: run.position(item) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_come_back_whatever_is_between() {
        let line = |file: &str, line| Place { file: file.into(), position: Position::Line(line) };
        let item = |file: &str, item| Place { file: file.into(), position: Position::Item(item) };
        let all = [line("a", 1), line("a", 2), line("a", 5), line("b", 1), item("c", 6), item("c", 7), line("a", 6)];
        let mut places = Places::default();
        assert!(places.is_empty() && places.get(0).is_none());
        all.iter().for_each(|place| places.push(place.clone()));
        let read: Vec<Option<Place>> = (0..all.len() as u64).map(|number| places.get(number)).collect();
        assert_eq!(read, all.clone().map(Some));
        assert_eq!(places.runs.len(), 5);
    }
}
