//! Items and keys of requests in; the place of an item in a table out, or why DynamoDB refuses its key (developer
//! guide, "Quotas in Amazon DynamoDB", "Partition keys and sort keys").

use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::definition::{Definition, KeyAttribute, KeySchema};
use crate::store::error::{Answer, ModelError};

const PARTITION_KEY_BYTES: usize = 2048;
const SORT_KEY_BYTES: usize = 1024;

/// The primary key of an item. Keys are in the order of partitions, and within one in the order of sort keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub partition: Attribute,
    pub sort: Option<Attribute>,
}

impl Key {
    /// The key of an item that is written.
    pub fn in_item(item: &Item, schema: &KeySchema) -> Answer<Self> {
        let value = |key: &KeyAttribute| -> Answer<Attribute> {
            let missing = || ModelError::parameters(&format!("Missing the key {} in the item", key.name));
            let value = item.get(&key.name).ok_or_else(missing)?;
            if !key.is_of_type(value) {
                let (name, expected, actual) = (&key.name, &key.kind, value.kind());
                let message = format!("Type mismatch for key {name} expected: {expected} actual: {actual}");
                return Err(ModelError::parameters(&message));
            }
            Ok(value.clone())
        };
        Self { partition: value(&schema.partition)?, sort: schema.sort.as_ref().map(value).transpose()? }.checked()
    }

    /// The key that a request names: the key attributes and no others.
    pub fn exactly(item: &Item, schema: &KeySchema) -> Answer<Self> {
        let mismatch = || ModelError::invalid("The provided key element does not match the schema");
        if item.len() != schema.attributes().count() {
            return Err(mismatch());
        }
        let value = |key: &KeyAttribute| {
            item.get(&key.name).filter(|value| key.is_of_type(value)).cloned().ok_or_else(mismatch)
        };
        Self { partition: value(&schema.partition)?, sort: schema.sort.as_ref().map(value).transpose()? }.checked()
    }

    /// The key attributes by their names.
    pub fn item(&self, schema: &KeySchema) -> Item {
        let partition = (schema.partition.name.clone(), self.partition.clone());
        let sort = schema.sort.as_ref().zip(self.sort.as_ref()).map(|(key, value)| (key.name.clone(), value.clone()));
        std::iter::once(partition).chain(sort).collect()
    }

    fn checked(self) -> Answer<Self> {
        check(&self.partition, PARTITION_KEY_BYTES)?;
        self.sort.iter().try_for_each(|value| check(value, SORT_KEY_BYTES))?;
        Ok(self)
    }
}

/// The keys of the indexes in an item that is written: of their types, not empty and not too long.
pub fn check_index_keys(item: &Item, definition: &Definition) -> Answer<()> {
    for index in &definition.indexes {
        for key in index.keys.attributes() {
            let Some(value) = item.get(&key.name) else { continue };
            if !key.is_of_type(value) {
                let (name, expected, actual) = (&key.name, &key.kind, value.kind());
                let message = format!("Type mismatch for Index Key {name} Expected: {expected} Actual: {actual}");
                return Err(ModelError::parameters(&format!("{message} IndexName: {}", index.name)));
            }
            let most = if key.name == index.keys.partition.name { PARTITION_KEY_BYTES } else { SORT_KEY_BYTES };
            check(value, most)?;
        }
    }
    Ok(())
}

/// No key attribute is empty.
pub fn check_not_empty(item: &Item, schema: &KeySchema) -> Answer<()> {
    let given = schema.attributes().filter_map(|key| item.get(&key.name).filter(|value| key.is_of_type(value)));
    given.into_iter().try_for_each(|value| check(value, usize::MAX))
}

/// A key is not empty and not too long.
pub fn check(value: &Attribute, most: usize) -> Answer<()> {
    let bytes = match value {
        Attribute::S(text) => text.len(),
        Attribute::B(bytes) => bytes.len(),
        _ => return Ok(()),
    };
    if bytes == 0 {
        let message = "The AttributeValue for a key attribute cannot contain an empty value";
        return Err(ModelError::invalid(format!("One or more parameter values are not valid. {message}.")));
    }
    match bytes > most {
        true => {
            Err(ModelError::parameters(&format!("Size of a key has exceeded the maximum size limit of {most} bytes")))
        }
        false => Ok(()),
    }
}
