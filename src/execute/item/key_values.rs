//! The values of an item's fields → the values of its key attributes, within DynamoDB's limits. Must not know what is
//! done with the item.

use crate::execute::item::key_condition::is_met;
use crate::execute::values::encode;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::{Part, RenderMistake};
use crate::table::data::attribute::{Attribute, KeyValue};
use serde_json::Value;

/// The longest partition key value, in bytes (DynamoDB developer guide, "Quotas in Amazon DynamoDB", partition key
/// length).
const MAX_PARTITION: usize = 2048;
/// The longest sort key value, in bytes (same page, sort key length).
const MAX_SORT: usize = 1024;

/// Gives a field's value. `None` and null mean the same.
pub type FieldLookup<'a> = &'a dyn Fn(&str) -> Option<Value>;

/// The value of a key attribute, from the first template whose fields all have values and whose condition holds. `None`
/// if there is no such template.
pub fn key_value(
    table: &Table,
    key: &KeyAttribute,
    templates: &[Template],
    value: FieldLookup<'_>,
) -> Result<Option<KeyValue>, InvalidValue> {
    let there = |field: &str| value(field).is_some_and(|value| !value.is_null());
    let applies = |template: &&Template| template.fields().into_iter().all(there) && is_met(template, value);
    match templates.iter().find(applies) {
        Some(template) => rendered(table, key, template, value).map(Some),
        None => Ok(None),
    }
}

/// Checks an attribute that is written to a table. DynamoDB refuses a key attribute that is empty or too long.
pub fn check_attribute(table: &Table, name: &str, attribute: &Attribute) -> Result<(), InvalidValue> {
    match table.key_attributes().into_iter().find(|key| key.name == name) {
        Some(key) => check(table, key, &KeyValue::new(attribute), name),
        None => Ok(()),
    }
}

fn rendered(
    table: &Table,
    key: &KeyAttribute,
    template: &Template,
    value: FieldLookup<'_>,
) -> Result<KeyValue, InvalidValue> {
    let field = longest_field(template, value).unwrap_or_else(|| key.name.clone());
    let made = match (key.kind, template.parts.as_slice()) {
        (KeyType::S, _) => match template.render(value) {
            Ok(text) => text.map(KeyValue::S),
            Err(RenderMistake::Unfit(field, message)) => {
                // The number of a shard is called by its word: `shard:01..10` is no name for callers.
                let word = field.split_once(':').map_or(field.as_str(), |(word, _)| word);
                return Err(InvalidValue { field: word.to_owned(), message });
            }
        },
        // A number or binary key consists of one field, in the field's stored form.
        (KeyType::N | KeyType::B, [Part::Placeholder { value: kind, .. }]) => {
            let value = value(&field).unwrap_or_default();
            match encode::attribute(kind, &value) {
                Some(attribute) => KeyValue::new(&attribute),
                None => {
                    return Err(InvalidValue {
                        field,
                        message: kind.coerce(&value).err().unwrap_or_else(|| UNFIT.to_owned()),
                    });
                }
            }
        }
        _ => None,
    };
    check(table, key, &made, &field)?;
    made.ok_or_else(|| InvalidValue { field, message: UNFIT.to_owned() })
}

const UNFIT: &str = "It cannot be part of a key.";

fn check(table: &Table, key: &KeyAttribute, value: &Option<KeyValue>, field: &str) -> Result<(), InvalidValue> {
    let (kind, length) = match value {
        Some(KeyValue::S(text)) => (KeyType::S, text.len()),
        Some(KeyValue::B(bytes)) => (KeyType::B, bytes.len()),
        Some(KeyValue::N(_)) => (KeyType::N, 1),
        None => return Err(InvalidValue { field: field.to_owned(), message: UNFIT.to_owned() }),
    };
    let longest = if sorts(table, &key.name) { MAX_SORT } else { MAX_PARTITION };
    let message = match length {
        _ if kind != key.kind => UNFIT.to_owned(),
        0 => "It must not be empty, because it is a key.".to_owned(),
        _ if length > longest => format!("It gives a key of {length} bytes, but this key has at most {longest}."),
        _ => return Ok(()),
    };
    Err(InvalidValue { field: field.to_owned(), message })
}

/// Whether the attribute is the sort key of the table or of an index.
fn sorts(table: &Table, name: &str) -> bool {
    let indexes = (0..table.indexes.len()).map(Some);
    indexes.chain([None]).any(|index| table.keys_of(index).sort.iter().any(|key| key.name == name))
}

/// The field that contributes most to a key's length.
fn longest_field(template: &Template, value: FieldLookup<'_>) -> Option<String> {
    let length = |part: &Part| match part {
        Part::Placeholder { field, value: kind, .. } => {
            value(field).and_then(|value| kind.to_text(&value)).map_or(0, |text| text.len())
        }
        Part::Literal(_) => 0,
    };
    let placeholders = template.parts.iter().filter(|part| matches!(part, Part::Placeholder { .. }));
    match placeholders.max_by_key(|part| length(part))? {
        Part::Placeholder { field, .. } => Some(field.clone()),
        Part::Literal(_) => None,
    }
}
