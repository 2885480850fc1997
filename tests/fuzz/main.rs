//! Odd inputs from outside: a document, a schema, a cursor, a line of an import. None may make Keyfold panic, take long or say much.
//!
//! Each target runs the inputs of its corpus, `tests/fuzz/corpus/<target>/`, and then changes them by bytes and by tokens until its time
//! is over. An input whose outcome is new joins the corpus of this run. The input under way stands in a file, so that it is known even if
//! the process dies of it. Put an input that broke something into the corpus.
//!
//! `KEYFOLD_FUZZ_SECONDS` is the time of each target, 2 unless it is set; `KEYFOLD_FUZZ_SEED` is the seed of the changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod change;
mod cursor;
mod document;
mod import_line;
mod run;
mod schema;
