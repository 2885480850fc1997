//! A step with all that is known of it: when it was, which copy answered, what its client got, and what it did.

use crate::copy::REQUEST_LIMIT;
use crate::program::Step;
use serde_json::Value;

/// The longest wait before a retry, in milliseconds: a request for which the next one would come too late ends so much
/// before its deadline.
const LONGEST_WAIT: u64 = 2000;

#[derive(Debug, Clone)]
pub struct StepReport {
    pub step: Step,
    /// The number of the copy among all that ever began.
    pub copy: usize,
    /// In milliseconds since 1970, as is the end.
    pub begun: u64,
    pub ended: u64,
    /// What its client got.
    pub answer: Option<Value>,
    /// What it answered, whether or not its client was still there.
    pub made: Option<Value>,
}

impl StepReport {
    /// The codes of its errors.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        let errors = self.answer.as_ref().and_then(|answer| answer["errors"].as_array());
        errors.into_iter().flatten().filter_map(|error| error["extensions"]["code"].as_str())
    }

    /// That it gave up a busy table although there was time left.
    pub fn gave_up_early(&self) -> Option<String> {
        let lasted = self.ended.saturating_sub(self.begun);
        let is_early = lasted + LONGEST_WAIT < REQUEST_LIMIT.as_millis() as u64;
        let gave_up = is_early && self.codes().any(|code| code == "THROTTLED");
        gave_up.then(|| format!("step {} gives a busy table up after {lasted} ms", self.step.number))
    }
}
