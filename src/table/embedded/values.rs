//! Attribute values and expressions of calls in, the engine's out; its items in, ours out, by move. Must not know kinds
//! of calls.

use crate::table::data::attribute::{Attribute, AttributeName, AttributeNames, Item, Key, KeyValue};
use crate::table::data::expressions::{Expressions, PlaceholderValue};
use crate::table::data::shared_names::{GrowingItems, SharedNames};
use dynoxide::DynoxideError;
use dynoxide::types::{AttributeValue, ConsumedCapacity, validate_dynamo_number};
use std::collections::HashMap;
use std::sync::Arc;

/// An item as the engine holds it.
pub(in crate::table) type EngineItem = HashMap<String, AttributeValue>;

/// The item of a call as the engine's. Refuses numbers that DynamoDB cannot hold.
pub(in crate::table) fn item(item: &Item) -> Result<EngineItem, DynoxideError> {
    check_item(item)?;
    Ok(item_to_engine(item.clone()))
}

/// A key as the engine's item of one or two attributes. Refuses numbers that DynamoDB cannot hold.
pub(in crate::table) fn key(key: &Key) -> Result<EngineItem, DynoxideError> {
    let attributes = std::iter::once(&key.partition).chain(&key.sort);
    attributes.map(|(name, value)| Ok((name.to_string(), key_value(value)?))).collect()
}

/// `ExpressionAttributeValues`; `None` if there are none. Refuses numbers that DynamoDB cannot hold.
pub(in crate::table) fn values(built: &Expressions<'_>) -> Result<Option<EngineItem>, DynoxideError> {
    values_or(built, |_, refusal| refusal)
}

/// `ExpressionAttributeValues` of Scan and TransactWriteItems, whose refusal of a number names its placeholder.
pub(in crate::table) fn named_values(built: &Expressions<'_>) -> Result<Option<EngineItem>, DynoxideError> {
    values_or(built, |placeholder, refusal| {
        let said = format!("ExpressionAttributeValues contains invalid value: {refusal} for key {placeholder}");
        DynoxideError::ValidationException(said)
    })
}

fn values_or(
    built: &Expressions<'_>,
    refused: impl Fn(&str, DynoxideError) -> DynoxideError,
) -> Result<Option<EngineItem>, DynoxideError> {
    let value = |placeholder: &str, value| {
        let value = match value {
            PlaceholderValue::Key(value) => key_value(value),
            PlaceholderValue::Attribute(value) => check_numbers(value).map(|()| attribute_to_engine(value.clone())),
        };
        value.map_err(|refusal| refused(placeholder, refusal))
    };
    let values =
        || built.values.iter().map(|(placeholder, held)| Ok((placeholder.to_string(), value(placeholder, *held)?)));
    (!built.values.is_empty()).then(|| values().collect()).transpose()
}

/// Our item as the engine's.
pub(super) fn item_to_engine(item: Item) -> EngineItem {
    item.into_iter().map(|(name, value)| (name.to_string(), attribute_to_engine(value))).collect()
}

/// The items of a list as ours, with these attributes, which share their names. The engine reads whole items. So calls
/// have no `ProjectionExpression`: the engine would parse it, and copy its attributes out of each item.
pub(in crate::table) fn items(
    list: impl IntoIterator<Item = EngineItem>,
    projection: AttributeNames,
) -> impl Iterator<Item = Arc<Item>> {
    let mut names = SharedNames::default();
    list.into_iter().map(move |mut item| {
        if projection.is_empty() {
            return Arc::new(item_from_engine(item, &mut names));
        }
        let member =
            |name: &AttributeName| Some((name.clone(), attribute_from_engine(item.remove(&**name)?, &mut names)));
        Arc::new(Item::from_members(projection.iter().filter_map(member).collect()))
    })
}

/// The item of an answer; `None` if there is none.
pub(in crate::table) fn present(item: Option<EngineItem>) -> Option<Item> {
    item.filter(|item| !item.is_empty()).map(|item| item_from_engine(item, &mut SharedNames::default()))
}

/// The capacity units of an answer.
pub(in crate::table) fn units<'c>(consumed: impl IntoIterator<Item = &'c ConsumedCapacity>) -> f64 {
    consumed.into_iter().fold(0.0, |sum, part| sum + part.capacity_units)
}

/// `ReturnConsumedCapacity` of every call.
pub(in crate::table) fn total() -> Option<String> {
    Some("TOTAL".to_owned())
}

fn key_value(value: &KeyValue) -> Result<AttributeValue, DynoxideError> {
    Ok(match value {
        KeyValue::S(text) => AttributeValue::S(text.clone()),
        KeyValue::N(number) => {
            check_number(number)?;
            AttributeValue::N(number.clone())
        }
        KeyValue::B(bytes) => AttributeValue::B(bytes.clone()),
    })
}

/// A server checks all numbers when it reads a request, before it looks at anything else. The engine itself checks some
/// of them, later.
fn check_number(number: &str) -> Result<(), DynoxideError> {
    validate_dynamo_number(number).map_err(|refusal| DynoxideError::EnvelopedValidation(refusal.to_string()))
}

fn check_numbers(value: &Attribute) -> Result<(), DynoxideError> {
    match value {
        Attribute::N(number) => check_number(number),
        Attribute::Ns(numbers) => numbers.iter().try_for_each(|number| check_number(number)),
        Attribute::L(values) => values.iter().try_for_each(check_numbers),
        Attribute::M(item) => check_item(item),
        _ => Ok(()),
    }
}

fn check_item(item: &Item) -> Result<(), DynoxideError> {
    item.iter().try_for_each(|(_, value)| check_numbers(value))
}

fn attribute_to_engine(value: Attribute) -> AttributeValue {
    match value {
        Attribute::S(text) => AttributeValue::S(text.into()),
        Attribute::N(text) => AttributeValue::N(text.into()),
        Attribute::B(bytes) => AttributeValue::B(bytes),
        Attribute::Bool(truth) => AttributeValue::BOOL(truth),
        Attribute::Null => AttributeValue::NULL(true),
        Attribute::Ss(texts) => AttributeValue::SS(texts.into_iter().map(Into::into).collect()),
        Attribute::Ns(texts) => AttributeValue::NS(texts.into_iter().map(Into::into).collect()),
        Attribute::Bs(all) => AttributeValue::BS(all),
        Attribute::L(values) => AttributeValue::L(values.into_iter().map(attribute_to_engine).collect()),
        Attribute::M(item) => AttributeValue::M(item_to_engine(item)),
    }
}

fn item_from_engine(item: EngineItem, names: &mut SharedNames) -> Item {
    let mut members = GrowingItems::for_one(names);
    for (name, value) in item {
        let name = names.name(&name);
        let value = attribute_from_engine(value, names);
        members.add(name, value);
    }
    members.into_item()
}

fn attribute_from_engine(value: AttributeValue, names: &mut SharedNames) -> Attribute {
    match value {
        AttributeValue::S(text) => Attribute::S(text.into()),
        AttributeValue::N(text) => Attribute::N(text.into()),
        AttributeValue::B(bytes) => Attribute::B(bytes),
        AttributeValue::BOOL(truth) => Attribute::Bool(truth),
        AttributeValue::NULL(_) => Attribute::Null,
        AttributeValue::SS(texts) => Attribute::Ss(texts.into_iter().map(Into::into).collect()),
        AttributeValue::NS(texts) => Attribute::Ns(texts.into_iter().map(Into::into).collect()),
        AttributeValue::BS(all) => Attribute::Bs(all),
        AttributeValue::L(values) => {
            Attribute::L(values.into_iter().map(|value| attribute_from_engine(value, names)).collect())
        }
        AttributeValue::M(item) => Attribute::M(item_from_engine(item, names)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::sdk::convert::tests::every_type;

    #[test]
    fn every_type_survives_the_way_there_and_back() {
        assert_eq!(present(Some(item(&every_type()).unwrap())), Some(every_type()));
    }

    #[test]
    fn items_of_a_list_share_their_names() {
        let list: Vec<Arc<Item>> =
            items([item(&every_type()).unwrap(), item(&every_type()).unwrap()], AttributeNames::default()).collect();
        assert!(list[0].keys().zip(list[1].keys()).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
