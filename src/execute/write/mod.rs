//! A mutation field's actions → one write, and the items that it returns.
//!
//! ```text
//! arguments ─▶ rules ─▶ draft ─▶ dispatch ─▶ table
//!                 lookup ─┘  ▲        │
//!                            └─ race ─┴─▶ classified outcome ─▶ items or messages
//! ```
//!
//! `executor` runs it. `rules` check values against constraints. `draft` makes the calls of the actions, from what
//! `lookup` reads and [`super::item`] makes of values. `dispatch` cascades, classifies failures and keeps replicas
//! equal. `calls` are what a draft consists of. `idempotency` knows a request again. `services` are called before
//! the write. `messages` are the errors that a
//! caller gets.

mod calls;
mod dispatch;
mod draft;
mod elements;
pub mod executor;
mod idempotency;
mod job;
mod lookup;
mod made_calls;
mod messages;
pub mod rules;
mod services;
