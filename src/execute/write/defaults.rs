//! `@default`: the value of a field that nothing brings. To be written.

use crate::schema::value_type::ValueType;
use crate::schema::write::DefaultValue;
use serde_json::Value;

/// The value, for a field of this type at this time (milliseconds since 1970); `other` gives the item's other fields. `None` where a
/// field that it is made of has no value.
pub fn value(_default: &DefaultValue, _kind: &ValueType, _now: i64, _other: &dyn Fn(&str) -> Option<Value>) -> Option<Value> {
    todo!()
}
