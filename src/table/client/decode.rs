//! JSON of an answer in; its items and its capacity out, read once. Must not know kinds of calls.
//!
//! The items of a list mostly have the same attributes in the same order, so their names are read once and shared.

use crate::table::data::attribute::{Attribute, AttributeName, Item, SharedNames};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::sync::Arc;

/// What a call or one of its tables consumed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::table) struct JsonCapacity {
    capacity_units: Option<f64>,
}

/// An item or a key as DynamoDB writes it.
pub(in crate::table) struct JsonItem(pub(in crate::table) Item);

/// A list of items.
pub(in crate::table) struct JsonItems(pub(in crate::table) Vec<Arc<Item>>);

/// The capacity units of an answer.
pub(in crate::table) fn units<'c>(parts: impl IntoIterator<Item = &'c JsonCapacity>) -> f64 {
    parts.into_iter().filter_map(|part| part.capacity_units).sum()
}

/// The item of an answer; `None` if there is none. Some compatible servers send an empty map instead of nothing.
pub(in crate::table) fn present(item: Option<JsonItem>) -> Option<Item> {
    item.map(|JsonItem(item)| item).filter(|item| !item.is_empty())
}

impl<'de> Deserialize<'de> for JsonItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        OneItem(&mut SharedNames::default()).deserialize(deserializer).map(Self)
    }
}

impl<'de> Deserialize<'de> for JsonItems {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = JsonItems;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of items")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<JsonItems, A::Error> {
                let (mut items, mut names) = (Vec::new(), SharedNames::default());
                while let Some(item) = seq.next_element_seed(OneItem(&mut names))? {
                    items.push(Arc::new(item));
                }
                Ok(JsonItems(items))
            }
        }
        deserializer.deserialize_seq(List)
    }
}

/// Reads one item, or a map within one.
struct OneItem<'n>(&'n mut SharedNames);

impl<'de> DeserializeSeed<'de> for OneItem<'_> {
    type Value = Item;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Item, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneItem<'_> {
    type Value = Item;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map of attribute values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
        let mut members = Vec::with_capacity(self.0.usual_attributes());
        while let Some(name) = map.next_key_seed(OneName(self.0))? {
            members.push((name, map.next_value_seed(OneAttribute(self.0))?));
        }
        Ok(Item::of_members(members))
    }
}

/// Reads the name of an attribute.
struct OneName<'n>(&'n mut SharedNames);

impl<'de> DeserializeSeed<'de> for OneName<'_> {
    type Value = AttributeName;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<AttributeName, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for OneName<'_> {
    type Value = AttributeName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an attribute")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<AttributeName, E> {
        Ok(self.0.name(text))
    }
}

/// Reads one attribute value: an object whose only member names the type.
struct OneAttribute<'n>(&'n mut SharedNames);

impl<'de> DeserializeSeed<'de> for OneAttribute<'_> {
    type Value = Attribute;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Attribute, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The types of attribute values.
#[derive(Debug, Clone, Copy)]
enum Tag {
    S,
    N,
    B,
    Bool,
    Null,
    Ss,
    Ns,
    Bs,
    L,
    M,
}

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Tag;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the type of an attribute value")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Tag, E> {
                Ok(match text {
                    "S" => Tag::S,
                    "N" => Tag::N,
                    "B" => Tag::B,
                    "BOOL" => Tag::Bool,
                    "NULL" => Tag::Null,
                    "SS" => Tag::Ss,
                    "NS" => Tag::Ns,
                    "BS" => Tag::Bs,
                    "L" => Tag::L,
                    "M" => Tag::M,
                    other => return Err(E::custom(format_args!("an attribute value has the unknown type {other:?}"))),
                })
            }
        }
        deserializer.deserialize_str(Name)
    }
}

impl<'de> Visitor<'de> for OneAttribute<'_> {
    type Value = Attribute;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an attribute value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Attribute, A::Error> {
        // An item with a gap would be wrong, so an unknown type fails the whole answer.
        let Some(tag) = map.next_key::<Tag>()? else { return Err(A::Error::custom("an attribute value has no type")) };
        let value = match tag {
            Tag::S => Attribute::S(map.next_value()?),
            Tag::N => Attribute::N(map.next_value()?),
            Tag::B => Attribute::B(map.next_value::<Binary>()?.0),
            Tag::Bool => Attribute::Bool(map.next_value()?),
            Tag::Null => {
                map.next_value::<IgnoredAny>()?;
                Attribute::Null
            }
            Tag::Ss => Attribute::Ss(map.next_value()?),
            Tag::Ns => Attribute::Ns(map.next_value()?),
            Tag::Bs => Attribute::Bs(map.next_value::<Vec<Binary>>()?.into_iter().map(|Binary(bytes)| bytes).collect()),
            Tag::L => Attribute::L(map.next_value_seed(Elements(self.0))?),
            Tag::M => Attribute::M(map.next_value_seed(OneItem(self.0))?),
        };
        match map.next_key::<IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(A::Error::custom("an attribute value has two types")),
        }
    }
}

/// Reads the elements of a list.
struct Elements<'n>(&'n mut SharedNames);

impl<'de> DeserializeSeed<'de> for Elements<'_> {
    type Value = Vec<Attribute>;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<Attribute>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = Vec<Attribute>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of attribute values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<Attribute>, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element_seed(OneAttribute(self.0))? {
            elements.push(element);
        }
        Ok(elements)
    }
}

/// Bytes in base64.
struct Binary(Vec<u8>);

impl<'de> Deserialize<'de> for Binary {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        STANDARD.decode(text.as_bytes()).map(Binary).map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn items_of_a_list_share_their_names() {
        let text = r#"[{"b":{"S":"1"},"a":{"M":{"x":{"N":"1"}}}},{"b":{"S":"2"},"a":{"L":[{"M":{"x":{"N":"2"}}}]}},{"c":{"NULL":true},"b":{"S":""}}]"#;
        let JsonItems(items) = serde_json::from_str(text).unwrap();
        let name = |item: usize, name: &str| items[item].keys().find(|known| ***known == *name).cloned().unwrap();
        assert!(Arc::ptr_eq(&name(0, "b"), &name(1, "b")) && Arc::ptr_eq(&name(0, "b"), &name(2, "b")));
        assert_eq!(*items[2], Item::from([("b", Attribute::S(String::new())), ("c", Attribute::Null)]));
        assert_eq!(items[1]["a"], Attribute::L(vec![Attribute::M(Item::from([("x", Attribute::N("2".into()))]))]));
    }

    #[test]
    fn any_number_of_names_can_be_read() {
        let members: Vec<String> = (0..3 * SharedNames::MOST).map(|number| format!(r#""n{number}":{{"N":"{number}"}}"#)).collect();
        let JsonItems(items) = serde_json::from_str(&format!("[{{{0}}},{{{0}}}]", members.join(","))).unwrap();
        assert_eq!((items.len(), items[0].len()), (2, 3 * SharedNames::MOST));
        assert_eq!(items[0], items[1]);
    }
}
