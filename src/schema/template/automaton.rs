//! Sets of texts as automata over bytes: built from the left to the right, and compared by walks through two of them at
//! once.

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The most pairs of states to visit: more than two templates with keys of full length and a few enums have.
const MAX_PAIRS: usize = 1 << 24;

/// The most sets of states to visit when one language is looked for in another.
const MAX_SETS: usize = 1 << 14;

/// The most bytes of a free text that are counted.
const MAX_COUNTED: usize = 256;

/// A set of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteSet([u128; 2]);

impl ByteSet {
    /// No byte.
    pub const NONE: ByteSet = ByteSet([0; 2]);
    /// Every byte.
    pub const ANY: ByteSet = ByteSet([u128::MAX; 2]);
    /// The bytes of ASCII.
    pub const ASCII: ByteSet = ByteSet([u128::MAX, 0]);
    /// The digits.
    pub const DIGITS: ByteSet = ByteSet::new("0123456789");

    /// The bytes of a text.
    pub const fn new(text: &str) -> Self {
        let (mut set, mut at) = (ByteSet::NONE, 0);
        while at < text.len() {
            set = set.with(text.as_bytes()[at]);
            at += 1;
        }
        set
    }

    /// One more byte.
    pub const fn with(self, byte: u8) -> Self {
        let ByteSet([low, high]) = self;
        if byte < 128 { ByteSet([low | 1 << byte, high]) } else { ByteSet([low, high | 1 << (byte - 128)]) }
    }

    /// The bytes of both.
    pub const fn or(self, other: ByteSet) -> Self {
        ByteSet([self.0[0] | other.0[0], self.0[1] | other.0[1]])
    }

    /// Whether the byte is in the set.
    pub const fn has(self, byte: u8) -> bool {
        self.0[byte as usize / 128] >> (byte % 128) & 1 == 1
    }

    /// Whether a byte is in both.
    pub const fn meets(self, other: ByteSet) -> bool {
        self.0[0] & other.0[0] != 0 || self.0[1] & other.0[1] != 0
    }

    /// The bytes that are in both.
    pub const fn and(self, other: ByteSet) -> Self {
        ByteSet([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }

    /// The bytes of the one that are not in the other.
    pub const fn without(self, other: ByteSet) -> Self {
        ByteSet([self.0[0] & !other.0[0], self.0[1] & !other.0[1]])
    }
}

/// For each state, the bytes that it accepts and the states that they lead to. The walk starts at state 0, and accepts
/// at each of `ends`.
#[derive(Debug, Clone)]
pub struct Automaton {
    steps: Vec<Vec<(ByteSet, usize)>>,
    ends: Vec<usize>,
}

impl Automaton {
    /// The empty text.
    pub fn empty() -> Self {
        Self { steps: vec![Vec::new()], ends: vec![0] }
    }

    /// One of these bytes.
    pub fn then(&mut self, bytes: ByteSet) {
        let next = self.state();
        self.step(bytes, next);
        self.ends = vec![next];
    }

    /// Any number of these bytes, including none.
    pub fn many(&mut self, bytes: ByteSet) {
        let next = self.state();
        self.step(bytes, next);
        self.steps[next].push((bytes, next));
        self.ends.push(next);
    }

    /// These bytes, so many times. A large number counts as any.
    pub fn times(&mut self, bytes: ByteSet, least: usize, most: Option<usize>) {
        (0..least.min(MAX_COUNTED)).for_each(|_| self.then(bytes));
        let Some(most) = most.filter(|most| *most <= MAX_COUNTED) else { return self.many(bytes) };
        let mut ends = self.ends.clone();
        for _ in least..most {
            self.then(bytes);
            ends.extend(&self.ends);
        }
        self.ends = ends;
    }

    /// A text.
    pub fn text(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.then(ByteSet::NONE.with(byte)));
    }

    /// What one of these adds.
    pub fn either(&mut self, choices: impl IntoIterator<Item = impl FnOnce(&mut Self)>) {
        let from = self.ends.clone();
        let mut ends = Vec::new();
        for choice in choices {
            self.ends.clone_from(&from);
            choice(self);
            ends.append(&mut self.ends);
        }
        self.ends = ends;
    }

    /// What this adds, or nothing.
    pub fn maybe(&mut self, choice: impl FnOnce(&mut Self)) {
        let from = self.ends.clone();
        choice(self);
        self.ends.extend(from);
    }

    /// What this adds, any number of times, including none. It adds one byte at least.
    pub fn repeated(&mut self, once: impl FnOnce(&mut Self)) {
        let from = std::mem::take(&mut self.ends);
        let first = self.state();
        self.ends.push(first);
        once(self);
        let begin = self.steps[first].clone();
        self.ends.extend(from);
        for end in &self.ends {
            self.steps[*end].extend_from_slice(&begin);
        }
    }

    /// Any text of these bytes that ends with the literal, and in which it occurs only there.
    pub fn until(&mut self, literal: &str, bytes: ByteSet) {
        let literal = literal.as_bytes();
        let states: Vec<usize> = literal.iter().chain(&[0]).map(|_| self.state()).collect();
        // The state after a byte is the number of bytes of the literal that end the text so far. Where the literal does
        // not go on, it is the state that the longest text within both its beginning and its end so far leads to.
        let mut rows: Vec<BTreeMap<usize, ByteSet>> = Vec::with_capacity(literal.len());
        // Once a byte of the literal is none of these, the text must go on as the literal does.
        let (mut shorter, mut may_go_back) = (0, true);
        for (position, byte) in literal.iter().enumerate() {
            let own = ByteSet::NONE.with(*byte);
            let back = match position {
                _ if !may_go_back => BTreeMap::new(),
                0 => BTreeMap::from([(0, bytes)]),
                _ => rows[shorter].clone(),
            };
            may_go_back &= bytes.has(*byte);
            let next = back.iter().find(|(_, bytes)| bytes.meets(own)).map_or(0, |(to, _)| *to);
            let mut row: BTreeMap<usize, ByteSet> =
                back.into_iter().map(|(to, bytes)| (to, bytes.without(own))).collect();
            row.insert(position + 1, own);
            rows.push(row);
            shorter = if position == 0 { 0 } else { next };
        }
        for (from, row) in rows.iter().enumerate() {
            for (to, bytes) in row.iter().filter(|(_, bytes)| **bytes != ByteSet::NONE) {
                self.steps[states[from]].push((*bytes, states[*to]));
                if from == 0 {
                    self.step(*bytes, states[*to]);
                }
            }
        }
        self.ends = vec![states[literal.len()]];
    }

    /// The bytes with which a text begins.
    pub fn first(&self) -> ByteSet {
        self.steps.iter().take(1).flatten().fold(ByteSet::NONE, |all, (bytes, _)| all.or(*bytes))
    }

    /// The bytes of the texts.
    pub fn bytes(&self) -> ByteSet {
        self.steps.iter().flatten().fold(ByteSet::NONE, |all, (bytes, _)| all.or(*bytes))
    }

    /// Whether some text is of both. If that takes too long to say, it is.
    pub fn meets(&self, other: &Automaton) -> bool {
        let pairs = self.steps.len().saturating_mul(other.steps.len());
        if pairs > MAX_PAIRS {
            return true;
        }
        let mut seen = vec![false; pairs];
        let mut open = vec![(0, 0)];
        while let Some((a, b)) = open.pop() {
            if self.ends.contains(&a) && other.ends.contains(&b) {
                return true;
            }
            for (bytes, to_a) in &self.steps[a] {
                for (_, to_b) in other.steps[b].iter().filter(|(others, _)| bytes.meets(*others)) {
                    if !std::mem::replace(&mut seen[*to_a * other.steps.len() + *to_b], true) {
                        open.push((*to_a, *to_b));
                    }
                }
            }
        }
        false
    }

    /// Whether every text is one of these as well. If that takes too long to say, it is not.
    pub fn is_within(&self, others: &[Automaton]) -> bool {
        let classes = classes(std::iter::once(self).chain(others));
        let first: BTreeSet<(usize, usize)> = (0..others.len()).map(|other| (other, 0)).collect();
        let mut seen = HashSet::from([(0, first.clone())]);
        let mut open = vec![(0, first)];
        while let Some((at, set)) = open.pop() {
            if self.ends.contains(&at) && !set.iter().any(|(other, state)| others[*other].ends.contains(state)) {
                return false;
            }
            if seen.len() > MAX_SETS {
                return false;
            }
            for (bytes, to) in &self.steps[at] {
                for byte in classes.iter().filter(|byte| bytes.has(**byte)) {
                    let steps = |(other, state): &(usize, usize)| {
                        let other = *other;
                        let own = others[other].steps[*state].iter().filter(|(bytes, _)| bytes.has(*byte));
                        own.map(move |(_, to)| (other, *to))
                    };
                    let next = (*to, set.iter().flat_map(steps).collect::<BTreeSet<_>>());
                    if seen.insert(next.clone()) {
                        open.push(next);
                    }
                }
            }
        }
        true
    }

    fn step(&mut self, bytes: ByteSet, to: usize) {
        for from in &self.ends {
            self.steps[*from].push((bytes, to));
        }
    }

    fn state(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.steps.len() - 1
    }
}

/// One byte of each class of bytes that no step of the automata distinguishes.
fn classes<'a>(automata: impl Iterator<Item = &'a Automaton>) -> Vec<u8> {
    let sets: BTreeSet<ByteSet> =
        automata.flat_map(|automaton| automaton.steps.iter().flatten().map(|(bytes, _)| *bytes)).collect();
    let of: BTreeMap<Vec<bool>, u8> =
        (0..=u8::MAX).map(|byte| (sets.iter().map(|set| set.has(byte)).collect(), byte)).collect();
    of.into_values().collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> Automaton {
        let mut automaton = Automaton::empty();
        automaton.text(text);
        automaton
    }

    proptest! {
        #[test]
        fn a_text_until_a_literal_ends_with_its_first_occurrence(value in "[ab#é]{0,8}", literal in "[ab#é]{1,4}") {
            let mut until = Automaton::empty();
            until.until(&literal, ByteSet::ANY);
            let is_first = value.find(&literal).is_some_and(|at| at + literal.len() == value.len());
            prop_assert_eq!(until.meets(&text(&value)), is_first, "{} until {}", value, literal);
            prop_assert_eq!(text(&value).is_within(&[until]), is_first);
        }

        #[test]
        fn texts_are_within_the_choices_that_have_them(texts in prop::collection::vec("[ab]{0,3}", 1..4), value in "[ab]{0,3}") {
            let mut choice = Automaton::empty();
            choice.either(texts.iter().map(|text| |automaton: &mut Automaton| automaton.text(text)));
            prop_assert_eq!(text(&value).is_within(std::slice::from_ref(&choice)), texts.contains(&value));
            prop_assert!(choice.is_within(&texts.iter().map(|own| text(own)).collect::<Vec<_>>()));
            let mut any = Automaton::empty();
            any.many(ByteSet::new("ab"));
            prop_assert!(choice.is_within(&[any.clone()]) && !any.is_within(&[choice]));
        }
    }
}
