//! A world in one process: the store that it stands on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod store;
