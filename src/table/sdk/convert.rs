//! Attribute values and expressions of calls in, the AWS SDK's out; its items in, ours out, by move. Must not know
//! kinds of calls.

use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::error::TableErrorKind;
use crate::table::data::expressions::{Expressions, PlaceholderValue};
use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::{AttributeValue, ConsumedCapacity};
use std::collections::HashMap;
use std::sync::Arc;

/// An item as the SDK holds it.
pub(in crate::table) type SdkItem = HashMap<String, AttributeValue>;

/// An item of the SDK as ours; `None` if a value has a type that this SDK does not know, because an item with a gap
/// would be wrong.
pub(in crate::table) fn item_from_sdk(item: SdkItem) -> Option<Item> {
    item.into_iter().map(|(name, value)| Some((name, attribute_from_sdk(value)?))).collect()
}

/// An item of an answer as ours.
pub(in crate::table) fn arc_from_sdk(item: SdkItem) -> Result<Arc<Item>, AttemptFailure> {
    item_from_sdk(item).map(Arc::new).ok_or_else(unknown_type)
}

/// The item of a refusal; `None` if there is none.
pub(in crate::table) fn present(item: Option<SdkItem>) -> Option<Item> {
    item.and_then(item_from_sdk).filter(|item| !item.is_empty())
}

/// The failure of an attempt whose answer has a value that this SDK does not know.
pub(in crate::table) fn unknown_type() -> AttemptFailure {
    AttemptFailure::unusable(TableErrorKind::Invalid, "an item has an attribute of an unknown type".to_owned())
}

/// The capacity units of an answer.
pub(in crate::table) fn units(consumed: &[ConsumedCapacity]) -> f64 {
    consumed.iter().filter_map(|part| part.capacity_units).fold(0.0, |sum, units| sum + units)
}

/// `ConsistentRead`; left out if false, its default.
pub(in crate::table) fn strong(consistent: bool) -> Option<bool> {
    consistent.then_some(true)
}

/// Our item as the SDK's.
pub(in crate::table) fn item_to_sdk(item: Item) -> SdkItem {
    item.into_iter().map(|(name, value)| (name.to_string(), attribute_to_sdk(value))).collect()
}

/// A key as the SDK's item of one or two attributes.
pub(in crate::table) fn key_to_sdk(key: &Key) -> SdkItem {
    let attributes = std::iter::once(&key.partition).chain(key.sort.as_ref());
    attributes.map(|(name, value)| (name.to_string(), key_value_to_sdk(value))).collect()
}

/// The value of a key attribute as the SDK's.
pub(in crate::table) fn key_value_to_sdk(value: &KeyValue) -> AttributeValue {
    match value {
        KeyValue::S(text) => AttributeValue::S(text.clone()),
        KeyValue::N(text) => AttributeValue::N(text.clone()),
        KeyValue::B(bytes) => AttributeValue::B(Blob::new(bytes.clone())),
    }
}

/// `ExpressionAttributeValues`; `None` if there are none.
pub(in crate::table) fn values(built: &Expressions<'_>) -> Option<SdkItem> {
    let value = |operand: &PlaceholderValue<'_>| match operand {
        PlaceholderValue::Key(value) => key_value_to_sdk(value),
        PlaceholderValue::Attribute(value) => attribute_to_sdk((*value).clone()),
    };
    let values = || built.values.iter().map(|(placeholder, operand)| (placeholder.to_string(), value(operand)));
    (!built.values.is_empty()).then(|| values().collect())
}

/// Gives a builder of a write its condition; a failed one returns the item. The SDK's seven builders of writes share no
/// trait.
macro_rules! conditioned {
    ($builder:expr, $built:expr) => {
        $builder
            .set_condition_expression($crate::table::data::expressions::text(&$built.condition))
            .set_expression_attribute_names($built.names_map())
            .set_expression_attribute_values($crate::table::sdk::convert::values(&$built))
            .return_values_on_condition_check_failure(
                aws_sdk_dynamodb::types::ReturnValuesOnConditionCheckFailure::AllOld,
            )
    };
}
pub(in crate::table) use conditioned;

/// Our value as the SDK's.
pub(in crate::table) fn attribute_to_sdk(value: Attribute) -> AttributeValue {
    match value {
        Attribute::S(text) => AttributeValue::S(text.into()),
        Attribute::N(text) => AttributeValue::N(text.into()),
        Attribute::B(bytes) => AttributeValue::B(Blob::new(bytes)),
        Attribute::Bool(truth) => AttributeValue::Bool(truth),
        Attribute::Null => AttributeValue::Null(true),
        Attribute::Ss(texts) => AttributeValue::Ss(texts.into_iter().map(Into::into).collect()),
        Attribute::Ns(texts) => AttributeValue::Ns(texts.into_iter().map(Into::into).collect()),
        Attribute::Bs(all) => AttributeValue::Bs(all.into_iter().map(Blob::new).collect()),
        Attribute::L(values) => AttributeValue::L(values.into_iter().map(attribute_to_sdk).collect()),
        Attribute::M(item) => AttributeValue::M(item_to_sdk(item)),
    }
}

fn attribute_from_sdk(value: AttributeValue) -> Option<Attribute> {
    Some(match value {
        AttributeValue::S(text) => Attribute::S(text.into()),
        AttributeValue::N(text) => Attribute::N(text.into()),
        AttributeValue::B(bytes) => Attribute::B(bytes.into_inner()),
        AttributeValue::Bool(truth) => Attribute::Bool(truth),
        AttributeValue::Null(_) => Attribute::Null,
        AttributeValue::Ss(texts) => Attribute::Ss(texts.into_iter().map(Into::into).collect()),
        AttributeValue::Ns(texts) => Attribute::Ns(texts.into_iter().map(Into::into).collect()),
        AttributeValue::Bs(all) => Attribute::Bs(all.into_iter().map(Blob::into_inner).collect()),
        AttributeValue::L(values) => Attribute::L(values.into_iter().map(attribute_from_sdk).collect::<Option<_>>()?),
        AttributeValue::M(item) => Attribute::M(item_from_sdk(item)?),
        _ => return None,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
pub(in crate::table) mod tests {
    use super::*;

    /// An item with a value of every type, nested ones among them.
    pub(in crate::table) fn every_type() -> Item {
        let inner = Item::from([("n".to_owned(), Attribute::N("12345678901234567890123456789012345678".into()))]);
        Item::from([
            ("PK".to_owned(), Attribute::S("p".into())),
            ("s".to_owned(), Attribute::S(String::new().into())),
            ("n".to_owned(), Attribute::N("-0.00001".into())),
            ("b".to_owned(), Attribute::B(vec![0, 255])),
            ("yes".to_owned(), Attribute::Bool(true)),
            ("nothing".to_owned(), Attribute::Null),
            ("ss".to_owned(), Attribute::Ss(vec!["a".into(), "b".into()])),
            ("ns".to_owned(), Attribute::Ns(vec!["1".into(), "2".into()])),
            ("bs".to_owned(), Attribute::Bs(vec![vec![1], vec![]])),
            ("l".to_owned(), Attribute::L(vec![Attribute::Null, Attribute::L(vec![]), Attribute::M(inner.clone())])),
            ("m".to_owned(), Attribute::M(inner)),
        ])
    }

    #[test]
    fn every_type_survives_the_way_there_and_back() {
        assert_eq!(item_from_sdk(item_to_sdk(every_type())), Some(every_type()));
    }

    #[test]
    fn a_key_is_read_out_of_an_item() {
        let key = Key::new(&every_type(), "PK", Some("n")).unwrap();
        assert_eq!(key.partition, ("PK".into(), KeyValue::S("p".into())));
        assert_eq!(key.sort, Some(("n".into(), KeyValue::N("-0.00001".into()))));
        assert_eq!(Key::new(&every_type(), "PK", Some("missing")), None);
        assert_eq!(Key::new(&every_type(), "yes", None), None, "a Boolean is no key");
    }
}
