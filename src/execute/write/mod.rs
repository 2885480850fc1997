//! A mutation field's actions → one write, and the items that it gives back.
//!
//! ```text
//! arguments ─▶ rules ─▶ draft ─▶ dispatch ─▶ table
//!                 lookup ─┘  ▲        │
//!                            └─ race ─┴─▶ classified outcome ─▶ items or messages
//! ```
//!
//! `executor` runs it. `rules` hold what comes in to the constraints. `draft` makes the calls of the actions, with what `lookup` reads first
//! and what `item` makes of values. `dispatch` cascades, classifies failures and keeps replicas alike. `lanes` lets writers of one item
//! take turns, and `messages` are what a caller is told.

mod dispatch;
mod draft;
pub mod executor;
pub mod item;
mod job;
pub mod lanes;
mod lookup;
mod messages;
pub mod rules;
