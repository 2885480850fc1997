//! A subscriber in; what it gets before the changes of its group out. Must not know who else subscribes.
//!
//! `begin` sends the item as it is, or has `resume` send the changes after an event: from the log of the feed, or by
//! reading the stream again.

pub mod begin;
mod resume;
