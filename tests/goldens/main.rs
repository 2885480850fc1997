//! What has its expected result in a file: operations, rows of docs/systems.md, messages about schemas, printed tables.
//!
//! | file | proves |
//! |---|---|
//! | `golden` | every golden operation has its plan, its calls and its response; one test a case |
//! | `systems` | every row of docs/systems.md is proved by the goldens with its id; one test a row |
//! | `second_store` | a second implementation of DynamoDB gives every golden's response; one test a case |
//! | `diagnostics` | every mistake of a schema has its message; one test a schema |
//! | `worst_case` | no golden's variables cost more than the worst case of its operation |
//! | `infrastructure` | every schema has its tables in every format; one test a snapshot |
//!
//! The tests are made of files, so they have names of files: `cargo test --test goldens golden::pantry::` runs those of
//! the pantry. A golden runs once in a process, however many rows it proves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod diagnostics;
mod errors_page;
mod golden;
mod infrastructure;
#[path = "../support/policy.rs"]
mod policy;
#[path = "../support/process.rs"]
mod process;
mod second_store;
#[path = "../support/mod.rs"]
mod support;
mod systems;
mod worst_case;

use libtest_mimic::{Arguments, Trial};

fn main() {
    let arguments = Arguments::from_args();
    let goldens = golden::goldens();
    let moto = second_store::moto();
    let mut trials: Vec<Trial> = golden::trials(&goldens);
    trials.extend(systems::trials(&goldens));
    trials.extend(second_store::trials(moto.as_ref()));
    trials.extend(diagnostics::trials());
    trials.extend(infrastructure::trials());
    trials.extend(worst_case::trials());
    let conclusion = libtest_mimic::run(&arguments, trials);
    // `exit` drops nothing, and the second store is a process.
    drop(moto);
    conclusion.exit();
}
