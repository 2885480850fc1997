//! The JSON body of an answer in; its items, keys and capacity out, read once. Must not know what was asked.

use crate::table::attempt::failure::CancelReason;
use crate::table::attempt::maker::BatchRead;
use crate::table::data::attribute::{Attribute, Item};
use crate::table::data::call::Page;
use crate::table::data::write::BatchWrite;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::{Deserialize, de};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The answer to a GetItem.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct GetItemAnswer {
    item: Option<Attributes>,
    consumed_capacity: Option<Capacity>,
}

/// The answer to a BatchGetItem.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct BatchGetItemAnswer {
    responses: Option<HashMap<String, Vec<Attributes>>>,
    unprocessed_keys: Option<HashMap<String, Keys>>,
    consumed_capacity: Option<Vec<Capacity>>,
}

/// The answer to a Query or a Scan.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct PageAnswer {
    items: Option<Vec<Attributes>>,
    #[serde(default)]
    count: u32,
    #[serde(default)]
    scanned_count: u32,
    last_evaluated_key: Option<Attributes>,
    consumed_capacity: Option<Capacity>,
}

/// The answer to a PutItem, an UpdateItem or a DeleteItem.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WriteAnswer {
    attributes: Option<Attributes>,
    consumed_capacity: Option<Capacity>,
}

/// The answer to a TransactWriteItems or a BatchWriteItem.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(super) struct WritesAnswer {
    unprocessed_items: Option<HashMap<String, Vec<Unprocessed>>>,
    consumed_capacity: Option<Vec<Capacity>>,
}

/// The body of a refusal: its code, why a transaction was canceled, and the item of a failed condition.
#[derive(Deserialize, Default)]
pub(super) struct RefusalBody {
    #[serde(rename = "__type")]
    pub(super) kind: Option<String>,
    #[serde(alias = "Message")]
    pub(super) message: Option<String>,
    #[serde(rename = "CancellationReasons", default)]
    reasons: Vec<ReasonBody>,
    #[serde(rename = "Item")]
    item: Option<Attributes>,
}

/// Why one write of a transaction was refused.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ReasonBody {
    code: Option<String>,
    message: Option<String>,
    item: Option<Attributes>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Keys {
    keys: Vec<Attributes>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Unprocessed {
    put_request: Option<UnprocessedPut>,
    delete_request: Option<UnprocessedDelete>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedPut {
    item: Attributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedDelete {
    key: Attributes,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Capacity {
    capacity_units: Option<f64>,
}

/// An item as DynamoDB writes it.
struct Attributes(Item);

fn units<'c>(parts: impl IntoIterator<Item = &'c Capacity>) -> f64 {
    parts.into_iter().filter_map(|part| part.capacity_units).sum()
}

fn items(all: Vec<Attributes>) -> Vec<Arc<Item>> {
    all.into_iter().map(|Attributes(item)| Arc::new(item)).collect()
}

/// The item of an answer; `None` if there is none. Some compatible servers send an empty map instead of nothing.
fn present(item: Option<Attributes>) -> Option<Item> {
    item.map(|Attributes(item)| item).filter(|item| !item.is_empty())
}

impl GetItemAnswer {
    /// The item, and the capacity units consumed.
    pub(super) fn item(self) -> (Option<Arc<Item>>, f64) {
        (self.item.map(|Attributes(item)| Arc::new(item)), units(&self.consumed_capacity))
    }
}

impl BatchGetItemAnswer {
    /// What was read, and the capacity units consumed.
    pub(super) fn read(self) -> (BatchRead, f64) {
        let capacity = units(self.consumed_capacity.iter().flatten());
        let of_table = |(table, all): (String, Vec<Attributes>)| items(all).into_iter().map(move |item| (table.clone(), item));
        let items = self.responses.into_iter().flatten().flat_map(of_table).collect();
        let of_table = |(table, rest): (String, Keys)| rest.keys.into_iter().map(move |Attributes(key)| (table.clone(), key));
        let unprocessed = self.unprocessed_keys.into_iter().flatten().flat_map(of_table).collect();
        (BatchRead { items, unprocessed }, capacity)
    }
}

impl PageAnswer {
    /// The page, and the capacity units consumed.
    pub(super) fn page(self) -> (Page, f64) {
        let page = Page {
            items: items(self.items.unwrap_or_default()),
            count: self.count,
            scanned: self.scanned_count,
            last_key: present(self.last_evaluated_key),
        };
        (page, units(&self.consumed_capacity))
    }
}

impl WriteAnswer {
    /// The item that the write returns, and the capacity units consumed.
    pub(super) fn item(self) -> (Option<Item>, f64) {
        (present(self.attributes), units(&self.consumed_capacity))
    }
}

impl WritesAnswer {
    /// The capacity units consumed.
    pub(super) fn capacity(&self) -> f64 {
        units(self.consumed_capacity.iter().flatten())
    }

    /// The writes that were not made, some of those that were sent; `None` if one cannot be read.
    pub(super) fn unprocessed(self, sent: &[BatchWrite]) -> Option<Vec<BatchWrite>> {
        let write = |rest: Unprocessed| match (rest.put_request, rest.delete_request) {
            (Some(put), _) => Some(BatchWrite::Put(put.item.0)),
            (None, Some(delete)) => BatchWrite::delete_of(&delete.key.0, sent),
            (None, None) => None,
        };
        self.unprocessed_items.into_iter().flatten().flat_map(|(_, rest)| rest).map(write).collect()
    }
}

impl RefusalBody {
    /// The item of a failed condition.
    pub(super) fn item(self) -> Option<Item> {
        present(self.item)
    }

    /// Why the writes of a transaction were refused, in their order.
    pub(super) fn reasons(self) -> Vec<CancelReason> {
        let reason = |ReasonBody { code, message, item }: ReasonBody| CancelReason {
            code: code.unwrap_or_else(|| "None".to_owned()),
            message,
            item: present(item),
        };
        self.reasons.into_iter().map(reason).collect()
    }
}

impl<'de> Deserialize<'de> for Attributes {
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
        deserializer.deserialize_map(Members).map(Attributes)
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
            Tag::M => Attribute::M(map.next_value::<Attributes>()?.0),
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
