//! What DynamoDB leaves open in; what the world decides out: how far a reading lags, which part of a batch is done, who
//! is in a transaction's way.

use crate::store::error::ModelError;

/// The world's decisions. The model asks in an order that depends on nothing but the calls.
pub trait Chance {
    /// The most milliseconds by which an eventually consistent read, or an index, may lag. With 0, [`Chance::lag`] is
    /// not asked.
    fn most_lag(&self) -> u64 {
        0
    }

    /// By how many milliseconds the item, or the partition of a table, is seen as it was: at most `most`.
    fn lag(&mut self, most: u64) -> u64 {
        let _ = most;
        0
    }

    /// How many of the parts of a batch are done. DynamoDB does one at least.
    fn processed(&mut self, parts: usize) -> usize {
        parts
    }

    /// How many of the records that are there an answer of a stream has. It may have none.
    fn delivered(&mut self, records: usize) -> usize {
        records
    }

    /// What another transaction, or the same one, does to a transaction of so many actions.
    fn transaction(&mut self, actions: usize) -> TransactionFate {
        let _ = actions;
        TransactionFate::Alone
    }

    /// Whether a transaction is at work on the item of a single write, which is then refused.
    fn conflicts(&mut self) -> bool {
        false
    }
}

/// What may happen to a transaction besides its conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionFate {
    /// Nothing.
    Alone,
    /// Another transaction is at work on the item of this action.
    Conflict(usize),
    /// A transaction with the same token is still at work.
    InProgress,
}

/// Nothing lags, and nothing is in the way.
#[derive(Debug, Default, Clone, Copy)]
pub struct Calm;

impl Chance for Calm {}

/// A single write met a transaction.
pub fn conflict() -> ModelError {
    ModelError::new("TransactionConflictException", "Transaction is ongoing for the item")
}

/// A transaction with the same token is at work.
pub fn in_progress() -> ModelError {
    ModelError::new("TransactionInProgressException", "Transaction is in progress for the given client request token")
}
