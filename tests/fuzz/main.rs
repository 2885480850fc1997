//! Unusual inputs from outside: a document, a schema, a cursor, a line of an import, a file that somebody brings. None
//! makes Keyfold panic, take long or answer long.
//!
//! Each target runs the inputs of its corpus, `tests/fuzz/corpus/<target>/`, and then changes them by bytes and by
//! tokens until its time is over. An input with a new outcome joins the corpus of this run. A file holds the current
//! input, so that it is known even if the process dies. Add an input that broke something to the corpus.
//!
//! `KEYFOLD_FUZZ_SECONDS` is the time of each target, 2 by default; `KEYFOLD_FUZZ_SEED` is the seed of the changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod change;
mod cursor;
mod document;
#[path = "../support/golden_file.rs"]
mod golden_file;
mod import_line;
mod run;
mod schema;
mod source;
