//! The values of a key's fields in; one map of values for each key or range that they make, on each shard that is read, out.

use super::sharding;
use super::values::{FieldValues, MAX_COMBINATIONS};
use crate::execute::error::{ErrorCode, Failure};
use crate::plan::tree::KeyBinding;
use serde_json::Value;
use std::sync::Arc;

/// One map of values for each combination of list values and each shard that is read.
pub fn combinations(key: &KeyBinding, mut fields: Vec<(Arc<str>, Value)>) -> Result<Vec<FieldValues>, Arc<Failure>> {
    let lists: Vec<(Arc<str>, Value)> = fields.extract_if(.., |(_, value)| value.is_array()).collect();
    let mut all = vec![FieldValues::of(fields)];
    for (field, values) in lists {
        let Value::Array(mut values) = values else { continue };
        values.retain(|value| !value.is_null());
        if all.len() * values.len() > MAX_COMBINATIONS {
            let message = format!("The arguments name too many keys: more than {MAX_COMBINATIONS} combinations of values.");
            return Err(Failure::new(ErrorCode::LimitExceeded, message));
        }
        if let [value] = values.as_slice() {
            all.iter_mut().for_each(|known| known.insert(field.clone(), value.clone()));
            continue;
        }
        let mut crossed = Vec::with_capacity(all.len() * values.len());
        for value in &values {
            for known in &all {
                let mut known = known.clone();
                known.insert(field.clone(), value.clone());
                crossed.push(known);
            }
        }
        all = crossed;
    }
    match &key.spread {
        Some(reading) => sharding::expand_shards(key, *reading, all),
        None => Ok(all),
    }
}
