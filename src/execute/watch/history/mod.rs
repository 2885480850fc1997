//! The changes of a table that have been read in; those that a subscriber has missed out, for one that comes back. Must not know who else
//! subscribes.
//!
//! `event_id` names a change for clients, `log` keeps the last ones, and `resume` sends those after an event: from the log, or by reading
//! the stream again.

pub mod event_id;
pub mod log;
pub mod resume;
