//! Laws that hold for every operation and all data, each tried on random ones: pages put together are the whole list (`pages`), items of
//! several types are what they are one by one (`mixed`), the copies of an item never differ (`copies`), reads of one partition that share a
//! Query change no response (`folds`, `sharing`), and any valid operation gets a well-formed response by few batches (`operations`). What a
//! query gives at all, `tests/reads.rs` says. Data and operations are made of a list of numbers (`choices`), so that a failing case shrinks
//! to a small one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

#[path = "laws/choices.rs"]
mod choices;
#[path = "laws/copies.rs"]
mod copies;
#[path = "laws/folds.rs"]
mod folds;
#[path = "laws/mixed.rs"]
mod mixed;
#[path = "laws/operations.rs"]
mod operations;
#[path = "laws/pages.rs"]
mod pages;
#[path = "laws/selection.rs"]
mod selection;
#[path = "laws/sharing.rs"]
mod sharing;
#[path = "laws/world.rs"]
mod world;
