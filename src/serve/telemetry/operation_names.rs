//! Names of operations in; the bounded set of those that have metrics of their own out.
//!
//! A client may name its operations as it likes, and each name of a metric's label takes memory here and in Prometheus.
//! So only the most frequent names are tracked. All others count as one.

use std::collections::HashMap;
use std::sync::Arc;

/// The name under which all others count.
pub const OTHER: &str = "(other)";
/// The name of operations without one.
pub const ANONYMOUS: &str = "(anonymous)";
/// The longest name, in bytes. What is longer counts as another.
const MAX_LENGTH: usize = 128;

/// The most frequent names.
#[derive(Debug)]
pub struct OperationNames {
    most: usize,
    tracked: HashMap<Arc<str>, u64>,
    /// Names that may become frequent, with at least as many uses as they had (Metwally et al., "Efficient computation
    /// of frequent and top-k elements in data streams", "Space-Saving").
    candidates: HashMap<Arc<str>, u64>,
}

/// What a use of a name means.
#[derive(Debug, PartialEq, Eq)]
pub enum NameUse {
    /// It is tracked.
    Tracked,
    /// It counts among the others.
    Other,
    /// It is tracked from now on, in place of another.
    Replaces(Arc<str>),
}

impl OperationNames {
    /// No names yet, and at most this many.
    pub fn new(most: usize) -> Self {
        Self { most, tracked: HashMap::new(), candidates: HashMap::new() }
    }

    /// Counts a use of a name. A name takes the place of another once it has been used twice as often.
    pub fn count(&mut self, name: &Arc<str>) -> NameUse {
        if let Some(uses) = self.tracked.get_mut(name) {
            *uses += 1;
            return NameUse::Tracked;
        }
        if name.len() > MAX_LENGTH {
            return NameUse::Other;
        }
        if self.tracked.len() < self.most {
            self.tracked.insert(name.clone(), 1);
            return NameUse::Tracked;
        }
        let uses = self.candidate(name);
        let Some((rarest, least)) =
            self.tracked.iter().min_by_key(|(_, uses)| **uses).map(|(name, uses)| (name.clone(), *uses))
        else {
            return NameUse::Other;
        };
        if uses < least.saturating_mul(2).max(2) {
            return NameUse::Other;
        }
        self.tracked.remove(&rarest);
        self.candidates.remove(name);
        self.tracked.insert(name.clone(), uses);
        NameUse::Replaces(rarest)
    }

    /// Counts a use of a name that is not tracked. If there are too many candidates, it takes the place of the one with
    /// the fewest uses.
    fn candidate(&mut self, name: &Arc<str>) -> u64 {
        if let Some(uses) = self.candidates.get_mut(name) {
            *uses += 1;
            return *uses;
        }
        if self.candidates.len() >= self.most
            && let Some(rarest) = self.candidates.iter().min_by_key(|(_, uses)| **uses).map(|(name, _)| name.clone())
        {
            self.candidates.remove(&rarest);
        }
        self.candidates.insert(name.clone(), 1);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Arc<str> {
        text.into()
    }

    #[test]
    fn the_first_names_are_tracked_until_there_are_too_many() {
        let mut names = OperationNames::new(2);
        assert_eq!(
            [names.count(&name("a")), names.count(&name("b")), names.count(&name("a"))],
            [NameUse::Tracked, NameUse::Tracked, NameUse::Tracked]
        );
        assert_eq!(names.count(&name("c")), NameUse::Other);
        assert_eq!(names.count(&name("c")), NameUse::Replaces(name("b")), "b was used once, c twice");
        assert_eq!((names.count(&name("c")), names.count(&name("b"))), (NameUse::Tracked, NameUse::Other));
    }

    #[test]
    fn names_that_never_come_again_displace_none_that_do() {
        let mut names = OperationNames::new(10);
        for round in 0..1000 {
            for frequent in 0..10 {
                assert_eq!(names.count(&name(&format!("f{frequent}"))), NameUse::Tracked, "{round}");
            }
            assert_eq!(names.count(&name(&format!("r{round}"))), NameUse::Other);
            assert!(names.tracked.len() <= 10 && names.candidates.len() <= 10);
        }
    }

    #[test]
    fn a_long_name_is_another() {
        let mut names = OperationNames::new(10);
        assert_eq!(names.count(&name(&"x".repeat(MAX_LENGTH + 1))), NameUse::Other);
        assert_eq!(names.count(&name(&"x".repeat(MAX_LENGTH))), NameUse::Tracked);
    }
}
