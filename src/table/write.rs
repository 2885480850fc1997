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
    /// What a write makes of its item is nothing that an item can be; its position in the transaction, if the server tells it. Nothing was
    /// written.
    Unfit(Option<usize>, Unfit),
}

/// Why a change cannot be made of an item: what only the item as it is, or the values of a request, bring about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfit {
    /// An update goes into a map or a list that is not there.
    NoPath,
    /// An update calculates with a value that is not there, or is of another type.
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
    /// What a text of DynamoDB's `ValidationException` means; `None` if it is a mistake of the call itself. DynamoDB tells these by their
    /// texts alone.
    pub(super) fn of(text: &str) -> Option<Self> {
        let texts: [(Self, &[&str]); 6] = [
            (Self::NoPath, &["document path provided in the update expression is invalid"]),
            (
                Self::NoOperand,
                &[
                    "refers to an attribute that does not exist in the item",
                    "operand in the update expression has an incorrect data type",
                    "Type mismatch for attribute to update",
                ],
            ),
            (Self::Number, &["Number overflow", "Number underflow", "38 significant digits", "magnitude larger", "magnitude smaller"]),
            (Self::Depth, &["Nesting Levels have exceeded"]),
            (Self::Key, &["cannot contain an empty", "exceeded the maximum size limit", "to update a secondary index key to a value"]),
            (Self::Twice, &["multiple operations on one item"]),
        ];
        texts.into_iter().find(|(_, texts)| texts.iter().any(|part| text.contains(part))).map(|(unfit, _)| unfit)
    }
}

impl WriteError {
    /// What a refusal means for a write of which nothing was written: of what an update makes of an item, only the server knows.
    pub(super) fn refused(error: TableError) -> Self {
        if error.kind != TableErrorKind::Invalid {
            return Self::Failed(error);
        }
        let has = |text: &str| error.detail.contains(text);
        if has("Item size") && has("maximum allowed size") {
            return Self::TooLarge("An item has at most 400 KB, and this one would have more.".to_owned());
        }
        if has("ItemCollectionSizeLimitExceeded") {
            let why = "The items under one partition key have at most 10 GB in a table with a local index, and these would have more.";
            return Self::TooLarge(why.to_owned());
        }
        Unfit::of(&error.detail).map_or(Self::Failed(error), |unfit| Self::Unfit(None, unfit))
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
