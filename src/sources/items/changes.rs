//! Files of changes in (an incremental export to S3), the last image of each item out. Reads the files twice: 40 bytes
//! for each key are kept between.

use super::delivery::Delivery;
use super::element::KeyChange;
use super::lines;
use crate::sources::error::SourceError;
use crate::sources::file::SourceFile;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// A key, as short as two keys are still different.
type ShortKey = [u8; 16];

/// Which change of a key is the last: when it was made, and which of all changes it is.
type LastChange = (u64, u64);

/// Delivers the last image of each key. Deleted items have none.
pub fn read(files: &[SourceFile], delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let mut last: HashMap<ShortKey, LastChange> = HashMap::new();
    let mut count = 0;
    for file in files {
        for change in lines::changes(file)? {
            let (_, change) = change?;
            count += 1;
            match last.entry(short(&change)) {
                Entry::Vacant(vacant) => _ = vacant.insert((change.time, count)),
                Entry::Occupied(mut known) if known.get().0 <= change.time => _ = known.insert((change.time, count)),
                Entry::Occupied(_) => {}
            }
        }
    }
    count = 0;
    for file in files {
        delivery.file.clone_from(&file.name);
        for change in lines::changes(file)? {
            let (number, change) = change?;
            count += 1;
            let is_last = last.get(&short(&change)).is_some_and(|(_, place)| *place == count);
            delivery.line = Some(number);
            if let (true, Some(image)) = (is_last, change.image) {
                delivery.members(None, image)?;
            }
            if delivery.is_enough {
                return Ok(());
            }
        }
    }
    Ok(())
}

fn short(change: &KeyChange) -> ShortKey {
    let mut names: Vec<(&String, &Value)> = change.keys.iter().collect();
    names.sort_by_key(|(name, _)| *name);
    let mut hash = Sha256::new();
    for (name, value) in names {
        hash.update(format!("{name:?}={value};"));
    }
    let mut short = ShortKey::default();
    short.copy_from_slice(&hash.finalize()[..16]);
    short
}
