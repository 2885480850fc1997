//! A draft and DynamoDB's answer → what follows. Deletes what does not fit into a transaction, classifies failed
//! conditions, finds out whether a call without an answer was made, and keeps replicas equal.

pub mod cascade;
pub mod classify;
pub mod record;
pub mod repeated;
pub mod replicas;
pub mod results;
pub mod unanswered;
