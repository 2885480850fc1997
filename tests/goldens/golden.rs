//! Goldens: every operation under `tests/golden/` and of the examples, one test a case (`support::golden` says what is
//! compared).

use crate::support::golden::{Case, cases};
use libtest_mimic::{Failed, Trial};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// A case that runs once, however many tests ask for its outcome.
#[derive(Debug)]
pub struct Golden {
    case: Case,
    outcome: OnceLock<Result<(), String>>,
}

impl Golden {
    /// Whether plan, calls and response are the golden's. The first who asks runs the case; others wait for it.
    pub fn check(&self) -> Result<(), Failed> {
        let run = || self.case.check().map_err(|failed| failed.message().unwrap_or_default().to_owned());
        self.outcome.get_or_init(run).clone().map_err(Failed::from)
    }
}

impl Deref for Golden {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.case
    }
}

/// Every case of every system, sorted.
pub fn goldens() -> Vec<Arc<Golden>> {
    cases().into_iter().map(|case| Arc::new(Golden { case, outcome: OnceLock::new() })).collect()
}

/// A test a case.
pub fn trials(goldens: &[Arc<Golden>]) -> Vec<Trial> {
    let trial = |golden: &Arc<Golden>| {
        let golden = golden.clone();
        Trial::test(format!("golden::{}::{}", golden.system, golden.name), move || golden.check())
    };
    goldens.iter().map(trial).collect()
}
