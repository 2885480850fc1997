//! Subscriptions: the changes of a store's items in, responses to those who listen out. Must not know HTTP or WebSockets.
//!
//! ```text
//! stream ─▶ hub ─▶ group ─▶ delivery ─▶ subscriber ─▶ responses
//!            │       │         └ one run of the plan for all subscribers of the group
//!            │       └ subscribers of one operation with the same variables and caller, in the order of the changes
//!            └ finds the groups that a change concerns by the values of its bound fields
//! ```
//!
//! `interest` says which images a group wants, `log` keeps the last changes for those who come back with an `event_id`, `resume` gives them
//! what they missed, and `initial` gives the item as it is.

pub mod delivery;
pub mod event_id;
pub mod group;
pub mod hub;
pub mod initial;
pub mod interest;
pub mod log;
pub mod resume;
pub mod subscriber;
