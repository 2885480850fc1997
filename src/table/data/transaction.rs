//! The writes of a transaction in; what keeps them from being one out: too many, too large, or two of one item. Makes
//! no call.

use super::attribute::Key;
use super::call::joined_tables;
use super::item_size::{attribute_size, item_size, key_size};
use super::key_identity::canonical;
use super::limits::{BYTES_PER_TRANSACTION, WRITES_PER_TRANSACTION};
use super::write::{Unfit, WriteAction, WriteCall, WriteError};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Checks what can be known of a transaction before it is sent. Only the server knows what an update makes of its item,
/// and which key a put has in a table that no other write of the transaction names.
pub(in crate::table) fn check(calls: &[WriteCall]) -> Result<(), WriteError> {
    if calls.len() > WRITES_PER_TRANSACTION {
        let text =
            format!("A transaction writes at most {WRITES_PER_TRANSACTION} items, but this one has {}.", calls.len());
        return Err(WriteError::TooLarge(text));
    }
    if calls.iter().map(write_size).sum::<usize>() > BYTES_PER_TRANSACTION {
        return Err(too_many_bytes());
    }
    match written_twice(calls) {
        Some(position) => Err(WriteError::Unfit(Some(position), Unfit::Twice)),
        None => Ok(()),
    }
}

/// The error of a transaction whose items are larger than it takes.
pub(in crate::table) fn too_many_bytes() -> WriteError {
    WriteError::TooLarge("A transaction writes at most 4 MB, but these items are larger.".to_owned())
}

/// The tables of the writes, each once, joined by a comma.
pub(in crate::table) fn tables_of(calls: &[WriteCall]) -> Arc<str> {
    joined_tables(calls.iter().map(|call| &*call.table))
}

/// The bytes of a write: of its item, or of its key and the values of its update.
pub(in crate::table) fn write_size(call: &WriteCall) -> usize {
    match &call.action {
        WriteAction::Put(item) => item_size(item),
        WriteAction::Update(key, update) => {
            key_size(key) + update.iter().flat_map(|update| update.values.values()).map(attribute_size).sum::<usize>()
        }
        WriteAction::Delete(key) | WriteAction::Check(key) => key_size(key),
    }
}

/// The position of the second write of one item. The key attributes of a put are those of another write of its table.
fn written_twice(calls: &[WriteCall]) -> Option<usize> {
    let key = |call: &WriteCall| match &call.action {
        WriteAction::Put(_) => None,
        WriteAction::Update(key, _) | WriteAction::Delete(key) | WriteAction::Check(key) => Some(key.clone()),
    };
    let shapes: HashMap<&str, Key> = calls.iter().filter_map(|call| Some((&*call.table, key(call)?))).collect();
    let mut seen: HashSet<(&str, Key)> = HashSet::new();
    for (position, call) in calls.iter().enumerate() {
        let key = match &call.action {
            WriteAction::Put(item) => shapes.get(&*call.table).and_then(|shape| {
                let sort = shape.sort.as_ref().map(|(name, _)| &**name);
                Key::new(item, &shape.partition.0, sort)
            }),
            _ => key(call),
        };
        if let Some(key) = key
            && !seen.insert((&call.table, canonical(&key).into_owned()))
        {
            return Some(position);
        }
    }
    None
}
