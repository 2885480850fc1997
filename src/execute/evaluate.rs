//! Conditions evaluated in the gateway, with DynamoDB's semantics. To be written.

use super::filter::Scope;
use crate::schema::condition::Condition;
use crate::table::attribute::Item;

/// Whether a condition holds of an item (`None`: there is none). `Err` is a sentence: a value of the request does not fit its use.
pub fn holds(_condition: &Condition, _item: Option<&Item>, _scope: &Scope<'_>) -> Result<bool, String> {
    todo!()
}
