//! JSON of an answer in; its items and its capacity out, read once. Must not know kinds of calls.

use crate::table::data::attribute::{Attribute, Item};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, de};
use std::fmt;

/// What a call or one of its tables consumed.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(in crate::table) struct JsonCapacity {
    capacity_units: Option<f64>,
}

/// An item or a key as DynamoDB writes it.
pub(in crate::table) struct JsonItem(pub(in crate::table) Item);

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
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Item;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of attribute values")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
                let mut item = Item::with_capacity(map.size_hint().unwrap_or(8));
                while let Some(name) = map.next_key()? {
                    item.insert(name, map.next_value_seed(OneAttribute)?);
                }
                Ok(item)
            }
        }
        deserializer.deserialize_map(Members).map(JsonItem)
    }
}

/// Reads one attribute value: an object whose only member names the type.
struct OneAttribute;

impl<'de> DeserializeSeed<'de> for OneAttribute {
    type Value = Attribute;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Attribute, D::Error> {
        deserializer.deserialize_map(self)
    }
}

/// The types of attribute values.
#[derive(Deserialize, Debug)]
#[serde(rename_all = "UPPERCASE")]
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

impl<'de> Visitor<'de> for OneAttribute {
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
                map.next_value::<de::IgnoredAny>()?;
                Attribute::Null
            }
            Tag::Ss => Attribute::Ss(map.next_value()?),
            Tag::Ns => Attribute::Ns(map.next_value()?),
            Tag::Bs => Attribute::Bs(map.next_value::<Vec<Binary>>()?.into_iter().map(|Binary(bytes)| bytes).collect()),
            Tag::L => Attribute::L(map.next_value::<Vec<Element>>()?.into_iter().map(|Element(value)| value).collect()),
            Tag::M => Attribute::M(map.next_value::<JsonItem>()?.0),
        };
        match map.next_key::<de::IgnoredAny>()? {
            None => Ok(value),
            Some(_) => Err(A::Error::custom("an attribute value has two types")),
        }
    }
}

/// An element of a list.
struct Element(Attribute);

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        OneAttribute.deserialize(deserializer).map(Element)
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
