//! What each caller gets: `rules` let callers through or refuse them, and `subscriptions` notify them of changes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules;
mod subscriptions;
#[path = "../support/mod.rs"]
mod support;
