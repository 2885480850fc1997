//! The changes of a table that have been read in; the last of them out, for subscribers that come back. Must not know
//! subscribers.
//!
//! `event_id` names a change for clients, and `log` keeps the last ones.

pub mod event_id;
pub mod log;
