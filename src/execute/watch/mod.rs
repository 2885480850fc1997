//! Subscriptions: the changes of a store's items in, responses to those who listen out. Must not know HTTP or
//! WebSockets.
//!
//! ```text
//! stream ─▶ feeds ─▶ registry ─▶ group ─▶ delivery ─▶ subscriber ─▶ responses
//!                       │          │         └ one run of the plan for all subscribers of the group
//!                       │          └ subscribers of one operation, variables and caller, in the order of the changes
//!                       └ finds the groups that a change concerns by the values of its bound fields
//! ```
//!
//! `hub` puts each subscriber into its group. `operation` checks what it asks for, and `interest` says which images it
//! wants. `beginning` gives it what comes before the changes of its group: the item as it is, or what it has missed,
//! from `history`. `seen` knows which of the group's changes it has had then. An `event` is one response for all
//! subscribers of a group, and `bounds` counts what waits for clients.

pub mod beginning;
pub mod bounds;
pub mod delivery;
pub mod event;
pub mod feeds;
pub mod group;
pub mod history;
pub mod hub;
pub mod interest;
pub mod operation;
pub mod registry;
pub mod seen;
pub mod subscriber;
