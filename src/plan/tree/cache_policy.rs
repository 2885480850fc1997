//! How long a response may be kept, and by whom. Must not know HTTP.

use std::time::Duration;

/// How long a response may be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CachePolicy {
    /// The greatest age in seconds: the least of its fields. 0: it is not kept.
    pub max_age: u32,
    /// Whether it is for its caller only: a field is `PRIVATE`, or rules or claims decide what the caller gets.
    pub private: bool,
}

impl CachePolicy {
    /// It is not kept.
    pub const NONE: Self = Self { max_age: 0, private: false };

    /// The same, for this time at most.
    pub fn at_most(self, age: Duration) -> Self {
        Self { max_age: self.max_age.min(u32::try_from(age.as_secs()).unwrap_or(u32::MAX)), ..self }
    }
}
