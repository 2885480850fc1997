//! Whether two templates can make the same text: the parts of both in, a yes or no out. A no is always right; a yes is conservative.
//!
//! Each template becomes an automaton over bytes that accepts at least every text that the template reads (free text is any text; an
//! instant is any text of its characters that begins with a date). Both accept a common text iff a walk through both at once reaches both
//! ends.

use crate::schema::scalar::claim_text;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::template::part::Part;

/// The most pairs of states to visit: more than two templates with keys of full length and a few enums have. Above it, the answer is yes.
const MOST_PAIRS: usize = 1 << 24;

/// Whether some text could match both sequences of parts.
pub fn overlap<'a>(left: impl Iterator<Item = &'a Part>, right: impl Iterator<Item = &'a Part>) -> bool {
    let (left, right) = (Automaton::of(left), Automaton::of(right));
    let pairs = left.steps.len().saturating_mul(right.steps.len());
    if pairs > MOST_PAIRS {
        return true;
    }
    let mut seen = vec![false; pairs];
    let mut open = vec![(0, 0)];
    while let Some((a, b)) = open.pop() {
        if (a, b) == (left.end, right.end) {
            return true;
        }
        for (x, to_a) in &left.steps[a] {
            for (_, to_b) in right.steps[b].iter().filter(|(y, _)| x.meets(*y)) {
                let pair = *to_a * right.steps.len() + *to_b;
                if !std::mem::replace(&mut seen[pair], true) {
                    open.push((*to_a, *to_b));
                }
            }
        }
    }
    false
}

/// The bytes that a step accepts.
#[derive(Clone, Copy)]
enum Bytes {
    Any,
    One(u8),
    Of(&'static str),
}

const DIGIT: Bytes = Bytes::Of("0123456789");
const NUMERAL: Bytes = Bytes::Of("0123456789+-.eE");
const CLOCK: Bytes = Bytes::Of("0123456789+-.,:Zz");

impl Bytes {
    /// Whether both accept some byte.
    fn meets(self, other: Bytes) -> bool {
        match (self, other) {
            (Bytes::Any, _) | (_, Bytes::Any) => true,
            (Bytes::One(a), Bytes::One(b)) => a == b,
            (Bytes::One(byte), Bytes::Of(set)) | (Bytes::Of(set), Bytes::One(byte)) => set.bytes().any(|member| member == byte),
            (Bytes::Of(a), Bytes::Of(b)) => a.bytes().any(|byte| b.bytes().any(|member| member == byte)),
        }
    }
}

/// For each state, the bytes that it accepts and the states that they lead to. The walk starts at state 0 and accepts at `end`.
struct Automaton {
    steps: Vec<Vec<(Bytes, usize)>>,
    end: usize,
}

impl Automaton {
    fn of<'a>(parts: impl Iterator<Item = &'a Part>) -> Self {
        let mut automaton = Self { steps: vec![Vec::new()], end: 0 };
        for part in parts {
            match part {
                Part::Literal(literal) => automaton.any_of(&[literal]),
                Part::Placeholder { value, width, .. } => automaton.value(value, *width),
            }
        }
        automaton
    }

    fn value(&mut self, kind: &ValueType, width: Option<u8>) {
        match (kind, width) {
            (ValueType::Enum(values), _) => self.any_of(&values.stored.values().map(String::as_str).collect::<Vec<_>>()),
            (ValueType::Boolean, _) => self.any_of(&["true", "false"]),
            (ValueType::Spread(spread), _) => {
                let numbers: Vec<String> = (0..spread.count).map(|number| number.to_string()).collect();
                self.any_of(&numbers.iter().map(String::as_str).collect::<Vec<_>>());
            }
            (ValueType::Int | ValueType::Long, Some(width)) => (0..width).for_each(|_| self.then(DIGIT)),
            (ValueType::Int | ValueType::Long, None) => {
                self.then(Bytes::Of("-0123456789"));
                self.many(DIGIT);
            }
            (ValueType::Float | ValueType::Decimal, _) => {
                self.then(NUMERAL);
                self.many(NUMERAL);
            }
            (ValueType::Claim, _) => self.many(Bytes::Of(claim_text::CHARACTERS)),
            (ValueType::Date, _) => self.date(),
            (ValueType::DateTime(_), _) => {
                self.date();
                self.then(Bytes::Of("Tt "));
                self.many(CLOCK);
            }
            _ => self.many(Bytes::Any),
        }
    }

    fn date(&mut self) {
        for digits in [4, 2, 2] {
            if digits == 2 {
                self.then(Bytes::One(b'-'));
            }
            (0..digits).for_each(|_| self.then(DIGIT));
        }
    }

    /// One of these bytes.
    fn then(&mut self, bytes: Bytes) {
        let next = self.state();
        self.steps[self.end].push((bytes, next));
        self.end = next;
    }

    /// Any number of these bytes, including none.
    fn many(&mut self, bytes: Bytes) {
        let end = self.end;
        self.steps[end].push((bytes, end));
    }

    /// One of these texts, none of which is empty.
    fn any_of(&mut self, texts: &[&str]) {
        let end = self.state();
        for text in texts {
            let mut at = self.end;
            for (position, byte) in text.bytes().enumerate() {
                let next = if position + 1 == text.len() { end } else { self.state() };
                self.steps[at].push((Bytes::One(byte), next));
                at = next;
            }
        }
        self.end = end;
    }

    fn state(&mut self) -> usize {
        self.steps.push(Vec::new());
        self.steps.len() - 1
    }
}
