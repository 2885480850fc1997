//! What people bring is read: each file of `formats/<format>/` gives the tables, items and hints of its listing, or its
//! message; random items come back from every form of items; a file of any size takes little memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod formats;
mod listing;
mod memory;
mod round_trip;
