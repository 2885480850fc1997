//! The values of a key's fields in; one map of values for each key or range that they make, on each shard that is read,
//! out.

use super::bound::BoundFields;
use super::sharding;
use super::values::{Combinations, FieldValues, MAX_COMBINATIONS};
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::values::bound::BoundValue;
use crate::plan::tree::KeyBinding;
use serde_json::Value;
use smallvec::smallvec;
use std::sync::Arc;

/// One map of values for each combination of list values and each shard that is read.
pub fn combinations<'s>(key: &KeyBinding, fields: BoundFields<'s>) -> Result<Combinations<'s>, Arc<Failure>> {
    let is_list = |(_, value): &(Arc<str>, BoundValue<'s>)| value.is_list();
    let (lists, single): (Vec<_>, BoundFields<'s>) = match fields.iter().any(is_list) {
        true => {
            let (lists, single): (Vec<_>, Vec<_>) = fields.into_iter().partition(is_list);
            (lists, single.into())
        }
        false => (Vec::new(), fields),
    };
    let mut all: Combinations<'s> = smallvec![FieldValues::new(single)];
    for (field, list) in lists {
        let values: Vec<BoundValue<'s>> = match list {
            BoundValue::Json(list) => {
                list.as_array().into_iter().flatten().filter(|value| !value.is_null()).map(BoundValue::Json).collect()
            }
            own => match own.into_json() {
                Value::Array(values) => {
                    values.into_iter().filter(|value| !value.is_null()).map(BoundValue::from).collect()
                }
                _ => Vec::new(),
            },
        };
        if all.len() * values.len() > MAX_COMBINATIONS {
            let message =
                format!("The arguments name too many keys: more than {MAX_COMBINATIONS} combinations of values.");
            return Err(Failure::new(ErrorCode::LimitExceeded, message));
        }
        let mut crossed = Combinations::with_capacity(all.len() * values.len());
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
