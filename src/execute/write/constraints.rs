//! `@constraint`: what a value must be. To be written.

use crate::schema::write::Constraint;
use serde_json::Value;

/// What is wrong with a value, one sentence for each rule that it breaks; lists are checked element by element. Null breaks none.
pub fn broken(_constraint: &Constraint, _value: &Value) -> Vec<String> {
    todo!()
}
