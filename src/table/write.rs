//! Writes as plain data: what the layers above ask to be written, and how it can fail. Sent by [`super::writer`].

use super::attribute::{Item, Key};
use super::call::Expression;
use super::error::{TableError, TableErrorKind};
use std::sync::Arc;

/// One write, alone or as a part of a transaction.
#[derive(Debug, Clone, PartialEq)]
pub struct WriteCall {
    /// The table's name.
    pub table: Arc<str>,
    /// What is done.
    pub action: WriteAction,
    /// What must hold of the item as it is.
    pub condition: Option<Expression>,
}

/// What a write does.
#[derive(Debug, Clone, PartialEq)]
pub enum WriteAction {
    /// PutItem: the whole item.
    Put(Item),
    /// UpdateItem: an update expression on the item with this key; without one, the item is only made if it is not there.
    Update(Key, Option<Expression>),
    /// DeleteItem.
    Delete(Key),
    /// ConditionCheck: only the condition; in transactions only.
    Check(Key),
}

/// Why nothing was written, or why that is not known.
#[derive(Debug, Clone)]
pub enum WriteError {
    /// Conditions did not hold; nothing was written.
    Conditions(Vec<ConditionFailure>),
    /// No answer came, or one that does not tell whether it was written (a timeout, a reset, a 500 on a call without a token).
    Uncertain(TableError),
    /// Nothing was written.
    Failed(TableError),
    /// More than a transaction takes, 100 items and 4 MB (DynamoDB developer guide, "Amazon DynamoDB transactions: how it works"), or than
    /// an item, 400 KB ("Quotas in Amazon DynamoDB"). The text says which. Nothing was written.
    TooLarge(String),
}

impl WriteError {
    /// What a refusal means for a write of which nothing was written: of what an update makes of an item, only the server knows the size.
    pub(super) fn refused(error: TableError) -> Self {
        if error.kind == TableErrorKind::Invalid && error.detail.contains("Item size") && error.detail.contains("maximum allowed size") {
            return Self::TooLarge("An item has at most 400 KB, and this one would have more.".to_owned());
        }
        Self::Failed(error)
    }
}

/// A condition that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionFailure {
    /// The write's position in the transaction; 0 for a single write.
    pub position: usize,
    /// The item as it is; `None` if there is none.
    pub item: Option<Item>,
}
