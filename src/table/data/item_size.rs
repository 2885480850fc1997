//! An item in, its approximate size in bytes out (DynamoDB developer guide, "DynamoDB item sizes and formats").

use super::attribute::{Attribute, Item, Key, KeyValue};
use super::text::Text;

/// Bytes of a list or a map itself.
const CONTAINER: usize = 3;
/// Bytes of each element of a list or a map, besides its value.
const ELEMENT: usize = 1;

/// The size of an item: its attributes' names and values.
pub fn item_size(item: &Item) -> usize {
    item.members().map(|(name, value)| name.len() + attribute_size(value)).sum()
}

/// The size of a key's attributes.
pub(in crate::table) fn key_size(key: &Key) -> usize {
    let value = |value: &KeyValue| match value {
        KeyValue::S(text) => text.len(),
        KeyValue::N(text) => number_size(text.as_bytes()),
        KeyValue::B(bytes) => bytes.len(),
    };
    std::iter::once(&key.partition).chain(key.sort.as_ref()).map(|(name, held)| name.len() + value(held)).sum()
}

/// The size of a value.
pub(in crate::table) fn attribute_size(value: &Attribute) -> usize {
    match value {
        Attribute::S(text) => text.len(),
        Attribute::N(text) => number_size(text.as_bytes()),
        Attribute::B(bytes) => bytes.len(),
        Attribute::Bool(_) | Attribute::Null => 1,
        Attribute::Ss(texts) => texts.iter().map(Text::len).sum(),
        Attribute::Ns(texts) => texts.iter().map(|text| number_size(text.as_bytes())).sum(),
        Attribute::Bs(all) => all.iter().map(Vec::len).sum(),
        Attribute::L(values) => CONTAINER + values.iter().map(|value| ELEMENT + attribute_size(value)).sum::<usize>(),
        Attribute::M(item) => CONTAINER + ELEMENT * item.len() + item_size(item),
    }
}

/// About one byte for two significant digits, plus one.
fn number_size(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_digit()).count().div_ceil(2) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_values_count() {
        let s = |text: &str| Attribute::S(text.into());
        for (value, size) in [
            (s("äb"), 3),
            (Attribute::N("-12.5".into()), 3),
            (Attribute::Bool(true), 1),
            (Attribute::Null, 1),
            (Attribute::Ss(vec!["a".into(), "bc".into()]), 3),
            (Attribute::L(vec![s("abc"), Attribute::Null]), 3 + 4 + 2),
            (Attribute::M(Item::from([("ab".to_owned(), s("c"))])), 3 + 1 + 3),
        ] {
            assert_eq!(attribute_size(&value), size, "{value:?}");
        }
        assert_eq!(item_size(&Item::from([("name".to_owned(), s("x"))])), 5);
        let key = Key {
            partition: ("PK".into(), KeyValue::S("abc".into())),
            sort: Some(("n".into(), KeyValue::N("12".into()))),
        };
        assert_eq!(key_size(&key), 2 + 3 + 1 + 2);
    }
}
