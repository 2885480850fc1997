//! The values of a key for one row, where they stand: rows give them, and keys are made of them.

use crate::execute::values::bound::BoundValue;
use serde_json::Value;
use smallvec::SmallVec;
use std::sync::Arc;

/// Field → value, for one key. Most keys have one or two fields.
pub type BoundFields<'s> = SmallVec<[(Arc<str>, BoundValue<'s>); 2]>;

/// The values of a key for one row.
#[derive(Debug)]
pub struct BoundKey<'s> {
    /// Field → value. A list gives several keys or ranges.
    pub fields: BoundFields<'s>,
    /// The values of the key's range, if it has one.
    pub range: Option<Box<RangeValues>>,
}

/// The values of a range on a sort key.
#[derive(Debug)]
pub enum RangeValues {
    /// The lower and the upper bound, and whether each is inclusive; `None` is open.
    Between(Option<(Value, bool)>, Option<(Value, bool)>),
    /// The prefix of the field; `None` lets in everything.
    BeginsWith(Option<Value>),
}
