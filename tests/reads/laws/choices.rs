//! A list of numbers in, choices out. When the list is used up, each choice is the first option.

use proptest::prelude::*;

/// A source of choices.
#[derive(Debug, Clone)]
pub struct Choices {
    numbers: Vec<u16>,
    at: usize,
}

impl Choices {
    /// Any choices, up to this number.
    pub fn any(most: usize) -> impl Strategy<Value = Choices> {
        proptest::collection::vec(any::<u16>(), 0..most).prop_map(|numbers| Choices { numbers, at: 0 })
    }

    /// One of `0..count`.
    pub fn below(&mut self, count: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(number) % count
    }

    /// True once in this many times.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// One of several.
    pub fn of<'t, T>(&mut self, several: &'t [T]) -> &'t T {
        &several[self.below(several.len())]
    }
}
