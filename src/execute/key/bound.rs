//! The values of a key for one row, as plain data: rows give them, and keys are made of them.

use serde_json::Value;
use std::sync::Arc;

/// The values of a key for one row.
#[derive(Debug)]
pub struct BoundKey {
    /// Field → value. A list gives several keys or ranges.
    pub fields: Vec<(Arc<str>, Value)>,
    /// The values of the key's range, if it has one.
    pub range: Option<RangeValues>,
}

/// The values of a range on a sort key.
#[derive(Debug)]
pub enum RangeValues {
    /// The lower and the upper bound, and whether each is inclusive; `None` is open.
    Between(Option<(Value, bool)>, Option<(Value, bool)>),
    /// The prefix of the field; `None` lets in everything.
    BeginsWith(Option<Value>),
}
