//! Goldens: every operation under `tests/golden/` and of the examples, one test a case (`support::golden` says what is compared).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use libtest_mimic::{Arguments, Trial};
use support::golden::cases;

fn main() {
    let arguments = Arguments::from_args();
    let trials = cases().into_iter().map(|case| Trial::test(format!("{}::{}", case.system, case.name), move || case.check()));
    libtest_mimic::run(&arguments, trials.collect()).exit();
}
