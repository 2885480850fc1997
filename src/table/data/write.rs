//! Writes as plain data, and how they can fail.

use super::attribute::{Item, Key};
use super::call::Expression;
use super::error::{TableError, TableErrorKind};
use super::limits::WRITES_PER_BATCH;
use std::sync::Arc;

/// One write, alone or as a part of a transaction.
#[derive(Debug, Clone, PartialEq, Hash)]
pub struct WriteCall {
    /// The table's name.
    pub table: Arc<str>,
    /// What it does.
    pub action: WriteAction,
    /// The condition on the current item.
    pub condition: Option<Expression>,
}

/// What a write does.
#[derive(Debug, Clone, PartialEq, Hash)]
pub enum WriteAction {
    /// PutItem: the whole item.
    Put(Item),
    /// UpdateItem: an update expression on the item with this key; without one, a missing item is created.
    Update(Key, Option<Expression>),
    /// DeleteItem.
    Delete(Key),
    /// ConditionCheck: only the condition, and only in transactions.
    Check(Key),
}

impl WriteAction {
    /// The operation of a single write; `None` for a check, which must be part of a transaction.
    pub(in crate::table) fn operation(&self) -> Option<&'static str> {
        match self {
            Self::Put(_) => Some("PutItem"),
            Self::Update(..) => Some("UpdateItem"),
            Self::Delete(_) => Some("DeleteItem"),
            Self::Check(_) => None,
        }
    }
}

/// A write without a condition, for batches.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchWrite {
    /// Puts the whole item, replacing an item with the same key.
    Put(Item),
    /// Deletes the item with this key.
    Delete(Key),
}

impl BatchWrite {
    /// A delete of an item by its key attributes, of which one of these writes determines the order.
    pub(in crate::table) fn delete_of(attributes: &Item, like: &[Self]) -> Option<Self> {
        let shape = like.iter().find_map(|write| if let Self::Delete(key) = write { Some(key) } else { None })?;
        let sort = shape.sort.as_ref().map(|(name, _)| &**name);
        Some(Self::Delete(Key::new(attributes, &shape.partition.0, sort)?))
    }
}

/// Most concurrent BatchWriteItems of one job.
pub(in crate::table) const BATCHES_AT_ONCE: usize = 8;

/// Splits writes into batches.
pub(in crate::table) fn batches(mut writes: impl Iterator<Item = BatchWrite>) -> Vec<Vec<BatchWrite>> {
    let batch = || {
        let batch: Vec<BatchWrite> = writes.by_ref().take(WRITES_PER_BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    };
    std::iter::from_fn(batch).collect()
}

/// Why nothing was written, or why it is not known whether something was.
#[derive(Debug, Clone)]
pub enum WriteError {
    /// Conditions did not hold; nothing was written.
    Conditions(Vec<ConditionFailure>),
    /// It may have been written: there was no answer, or an answer that does not say (a timeout, a reset, a 500 without
    /// a token).
    Uncertain(TableError),
    /// Nothing was written.
    Failed(TableError),
    /// More than a transaction may have, or than an item may have (see [`super::limits`]). The text says which. Nothing
    /// was written.
    TooLarge(String),
    /// The write cannot be made of its item; the position of the write in the transaction, if the server says it.
    /// Nothing was written.
    Unfit(Option<usize>, Unfit),
}

/// Why a change is impossible for the current item or for the values of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// An update names a path in a map or a list that does not exist.
    NoPath,
    /// An update calculates with a value that is missing or has another type.
    NoOperand,
    /// A number would have more than 38 digits, or be out of range.
    Number,
    /// A value would be nested deeper than 32 levels.
    Depth,
    /// A key would be empty, or too long.
    Key,
    /// A transaction would write one item twice.
    Twice,
}

impl Unfit {
    /// The meaning of a text of DynamoDB's `ValidationException`; `None` if the call itself is wrong. Only the texts
    /// differ. DynamoDB Local has some of its own.
    pub(in crate::table) fn new(text: &str) -> Option<Self> {
        let texts: [(Self, &[&str]); 6] = [
            (Self::NoPath, &["document path provided in the update expression is invalid"]),
            (
                Self::NoOperand,
                &[
                    "refers to an attribute that does not exist in the item",
                    "operand in the update expression has an incorrect data type",
                    "Type mismatch for attribute",
                ],
            ),
            (
                Self::Number,
                &["Number overflow", "Number underflow", "38 significant digits", "precision up to 38 digits"],
            ),
            (Self::Depth, &["Nesting Levels have exceeded"]),
            (
                Self::Key,
                &[
                    "cannot contain an empty",
                    "exceeded the maximum size limit",
                    "primary key values must be under",
                    "to update a secondary index key to a value",
                ],
            ),
            (Self::Twice, &["multiple operations on one item"]),
        ];
        texts.into_iter().find(|(_, texts)| texts.iter().any(|part| text.contains(part))).map(|(unfit, _)| unfit)
    }
}

impl WriteError {
    /// The error of a write that the server refused, so that nothing was written. Only the server knows what an update
    /// makes of an item.
    pub(in crate::table) fn refused(error: TableError) -> Self {
        if error.kind != TableErrorKind::Invalid {
            return Self::Failed(error);
        }
        let has = |text: &str| error.detail.contains(text);
        if has("Item size") && has("maximum allowed size") {
            return Self::TooLarge("An item has at most 400 KB, but this one would be larger.".to_owned());
        }
        if has("ItemCollectionSizeLimitExceeded") {
            let why = "In a table with a local index, the items of one partition key have at most 10 GB. This write would exceed that.";
            return Self::TooLarge(why.to_owned());
        }
        Unfit::new(&error.detail).map_or(Self::Failed(error), |unfit| Self::Unfit(None, unfit))
    }
}

/// A condition that did not hold.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionFailure {
    /// The write's position in the transaction; 0 for a single write.
    pub position: usize,
    /// The current item; `None` if there is none.
    pub item: Option<Item>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of DynamoDB, and of DynamoDB Local where it has its own.
    #[test]
    fn each_server_s_text_for_a_write_that_cannot_be_made_is_known() {
        for (unfit, text) in [
            (Unfit::NoPath, "The document path provided in the update expression is invalid for update"),
            (Unfit::NoOperand, "The provided expression refers to an attribute that does not exist in the item"),
            (Unfit::NoOperand, "An operand in the update expression has an incorrect data type"),
            (Unfit::NoOperand, "Type mismatch for attribute to update"),
            (Unfit::NoOperand, "Type mismatch for attributes specified for update"),
            (Unfit::Number, "Number overflow. Attempting to store a number with magnitude larger than supported range"),
            (
                Unfit::Number,
                "Number underflow. Attempting to store a number with magnitude smaller than supported range",
            ),
            (Unfit::Number, "Attempting to store more than 38 significant digits in a Number"),
            (Unfit::Number, "DynamoDB only supports precision up to 38 digits"),
            (Unfit::Depth, "Nesting Levels have exceeded supported limits"),
            (
                Unfit::Key,
                "One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value.",
            ),
            (
                Unfit::Key,
                "One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes",
            ),
            (
                Unfit::Key,
                "Hash primary key values must be under 2048 bytes, and range primary key values must be under 1024 bytes",
            ),
            (Unfit::Twice, "Transaction request cannot include multiple operations on one item"),
        ] {
            assert_eq!(Unfit::new(text), Some(unfit), "{text}");
        }
        assert_eq!(Unfit::new("Invalid UpdateExpression: Syntax error"), None);
    }
}
