//! JSON of an answer in; its items and its capacity out, read once. Must not know kinds of calls.
//!
//! The texts of items stay where they are in the answer. The items of a list mostly have the same attributes, so their
//! names are shared.

use super::reader::{JsonReader, JsonResult, JsonString, LIST, OBJECT};
use crate::table::data::attribute::{Attribute, AttributeName, Item};
use crate::table::data::shared_names::{GrowingItems, SharedNames};
use crate::table::data::text::Text;
use crate::table::data::text::plain_length;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny};
use serde_json::value::RawValue;
use std::sync::Arc;

/// What an answer of a kind of call says.
pub(in crate::table) trait AnswerJson: Default {
    /// Reads the value of a member.
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()>;
}

/// Reads the whole of an answer into what is known of it already.
pub(in crate::table) fn read_answer<A: AnswerJson>(text: &Arc<String>, mut answer: A) -> JsonResult<A> {
    let mut reader = AnswerReader::new(text);
    reader.members(|reader, name| answer.member(name, reader))?;
    reader.json.end()?;
    Ok(answer)
}

/// An answer while it is read.
pub(in crate::table) struct AnswerReader<'t> {
    /// The answer, which its items share.
    text: &'t Arc<String>,
    json: JsonReader<'t>,
    names: SharedNames,
}

impl<'t> AnswerReader<'t> {
    fn new(text: &'t Arc<String>) -> Self {
        Self { text, json: JsonReader::new(text), names: SharedNames::default() }
    }

    /// Reads an object. `member` reads the value of each of its members.
    pub(in crate::table) fn members(
        &mut self,
        mut member: impl FnMut(&mut Self, &str) -> JsonResult<()>,
    ) -> JsonResult<()> {
        let mut members = self.json.begin(OBJECT)?;
        while let Some(name) = self.json.next_name(&mut members)? {
            member(self, &name)?;
        }
        Ok(())
    }

    /// Reads any value.
    pub(in crate::table) fn value<T: Deserialize<'t>>(&mut self) -> JsonResult<T> {
        self.json.value()
    }

    /// Ignores a value.
    pub(in crate::table) fn ignore(&mut self) -> JsonResult<()> {
        self.value::<IgnoredAny>().map(|_| ())
    }

    /// Reads the capacity units of a call, or those of each of its tables.
    pub(in crate::table) fn units(&mut self) -> JsonResult<f64> {
        let mut units = 0.0;
        match self.json.peek() {
            Some(b'[') => {
                let mut tables = self.json.begin(LIST)?;
                while self.json.next(&mut tables)? {
                    units += self.units()?;
                }
            }
            Some(b'{') => self.members(|answer, name| match name {
                "CapacityUnits" => answer.value::<Option<f64>>().map(|held| units += held.unwrap_or_default()),
                _ => answer.ignore(),
            })?,
            _ => self.value::<()>()?,
        }
        Ok(units)
    }

    /// Reads the items of a list that have these attributes or others; `null` has none. Each of them also has the
    /// attribute that is known of all.
    pub(in crate::table) fn items(
        &mut self,
        asked: &[AttributeName],
        known: Option<(&AttributeName, Attribute)>,
    ) -> JsonResult<Vec<Arc<Item>>> {
        if self.is_null()? {
            return Ok(Vec::new());
        }
        self.names.learn(asked);
        let known = known.map(|(name, value)| (self.names.name(name), value));
        let (mut items, mut list) = (GrowingItems::default(), self.json.begin(LIST)?);
        let mut rest = Some(self.json.rest().len());
        while self.json.next(&mut list)? {
            if let Some((name, value)) = &known {
                items.add(name.clone(), value.clone());
            }
            self.attributes(&mut items)?;
            items.end_item();
            if let Some(before) = rest.take() {
                let rest = self.json.rest().len();
                items.reserve_for_rest(before - rest, rest);
            }
        }
        Ok(items.into_items())
    }

    /// Reads an item that has these attributes or others, or `null`.
    pub(in crate::table) fn asked_item(&mut self, asked: &[AttributeName]) -> JsonResult<Option<Item>> {
        self.names.learn(asked);
        self.item_or_null()
    }

    /// Reads an item or `null`. An item that has none of the attributes that were asked for is empty.
    fn item_or_null(&mut self) -> JsonResult<Option<Item>> {
        if self.is_null()? { Ok(None) } else { self.item().map(Some) }
    }

    /// Reads an item that has attributes, if there is one. Some compatible servers send an empty map instead of
    /// nothing.
    pub(in crate::table) fn present(&mut self) -> JsonResult<Option<Item>> {
        Ok(self.item_or_null()?.filter(|item| !item.is_empty()))
    }

    /// Reads an item, or a map within one.
    fn item(&mut self) -> JsonResult<Item> {
        let mut item = GrowingItems::for_one(&self.names);
        self.attributes(&mut item)?;
        Ok(item.into_item())
    }

    /// Reads the attributes of an item.
    fn attributes(&mut self, item: &mut GrowingItems) -> JsonResult<()> {
        let mut members = self.json.begin(OBJECT)?;
        while self.json.next(&mut members)? {
            self.json.expect(b'"')?;
            let name = match self.names.in_json(self.json.rest()) {
                Some((name, length)) => {
                    if let Some(value) = self.usual_value(length, b"\":") {
                        item.add(name, value);
                        continue;
                    }
                    self.json.advance(length + 1);
                    self.json.expect(b':')?;
                    name
                }
                None => self.names.name(&self.json.rest_of_name()?),
            };
            let value = self.attribute()?;
            item.add(name, value);
        }
        Ok(())
    }

    /// Reads an attribute value as most of them are: a text or a number without escapes and white space, after so many
    /// bytes that were looked at and these. Of anything else, it reads nothing.
    #[inline]
    fn usual_value<const L: usize>(&mut self, known: usize, before: &[u8; L]) -> Option<Attribute> {
        let value = self.json.rest().get(known..)?.strip_prefix(before)?;
        let (kind, text) = value.split_first_chunk::<6>()?;
        let is_text = match kind {
            b"{\"S\":\"" => true,
            b"{\"N\":\"" => false,
            _ => return None,
        };
        let length = plain_length(text);
        if text.get(length..)?.first_chunk() != Some(b"\"}") {
            return None;
        }
        let start = self.json.advance(known + L + kind.len());
        self.json.advance(length + 2);
        let text = Text::from_answer(self.text, start..start + length);
        Some(if is_text { Attribute::S(text) } else { Attribute::N(text) })
    }

    /// Reads an attribute value: an object whose only member names the type.
    fn attribute(&mut self) -> JsonResult<Attribute> {
        if let Some(value) = self.usual_value(0, b"") {
            return Ok(value);
        }
        let mut members = self.json.begin(OBJECT)?;
        // An item with a gap would be wrong, so an unknown type fails the whole answer.
        let Some(name) = self.json.next_name(&mut members)? else {
            return self.json.fail("an attribute value has no type");
        };
        let value = match &*name {
            "S" => Attribute::S(self.text()?),
            "N" => Attribute::N(self.text()?),
            "B" => Attribute::B(self.value::<Binary>()?.0),
            "BOOL" => Attribute::Bool(self.value()?),
            "NULL" => {
                self.ignore()?;
                Attribute::Null
            }
            "SS" => Attribute::Ss(self.texts()?),
            "NS" => Attribute::Ns(self.texts()?),
            "BS" => Attribute::Bs(self.value::<Vec<Binary>>()?.into_iter().map(|Binary(bytes)| bytes).collect()),
            "L" => {
                let (mut values, mut list) = (Vec::new(), self.json.begin(LIST)?);
                while self.json.next(&mut list)? {
                    values.push(self.attribute()?);
                }
                Attribute::L(values)
            }
            "M" => Attribute::M(self.item()?),
            other => return self.json.fail(format!("an attribute value has the unknown type {other:?}")),
        };
        match self.json.next(&mut members)? {
            false => Ok(value),
            true => self.json.fail("an attribute value has two types"),
        }
    }

    fn text(&mut self) -> JsonResult<Text> {
        let text = self.json.string()?;
        Ok(self.shared(text))
    }

    fn texts(&mut self) -> JsonResult<Vec<Text>> {
        let (mut texts, mut list) = (Vec::new(), self.json.begin(LIST)?);
        while self.json.next(&mut list)? {
            texts.push(self.text()?);
        }
        Ok(texts)
    }

    fn shared(&self, text: JsonString) -> Text {
        match text {
            JsonString::Plain(place) => Text::from_answer(self.text, place),
            JsonString::Escaped(text) => text.into(),
        }
    }

    fn is_null(&mut self) -> JsonResult<bool> {
        let is_null = self.json.peek() == Some(b'n');
        if is_null {
            self.value::<()>()?;
        }
        Ok(is_null)
    }
}

/// An item or a key within JSON that serde reads.
pub(in crate::table) struct JsonItem(pub(in crate::table) Item);

impl<'de> Deserialize<'de> for JsonItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text: Box<str> = Box::<RawValue>::deserialize(deserializer)?.into();
        let text = Arc::new(String::from(text));
        AnswerReader::new(&text).item().map(Self).map_err(|error| D::Error::custom(error.what))
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
    use proptest::prelude::*;
    use serde_json::Value;

    /// What an item's JSON means, as read by serde_json into a tree of values.
    fn model(json: &str) -> Option<Item> {
        let Value::Object(members) = serde_json::from_str(json).ok()? else { return None };
        members.iter().map(|(name, value)| Some((name.as_str(), attribute(value)?))).collect()
    }

    fn attribute(value: &Value) -> Option<Attribute> {
        let (name, value) =
            value.as_object()?.iter().next().filter(|_| value.as_object().is_some_and(|members| members.len() == 1))?;
        let text = |value: &Value| Some(Text::from(value.as_str()?));
        let bytes = |value: &Value| STANDARD.decode(value.as_str()?).ok();
        Some(match name.as_str() {
            "S" => Attribute::S(text(value)?),
            "N" => Attribute::N(text(value)?),
            "B" => Attribute::B(bytes(value)?),
            "BOOL" => Attribute::Bool(value.as_bool()?),
            "NULL" => Attribute::Null,
            "SS" => Attribute::Ss(value.as_array()?.iter().map(text).collect::<Option<_>>()?),
            "NS" => Attribute::Ns(value.as_array()?.iter().map(text).collect::<Option<_>>()?),
            "BS" => Attribute::Bs(value.as_array()?.iter().map(bytes).collect::<Option<_>>()?),
            "L" => Attribute::L(value.as_array()?.iter().map(attribute).collect::<Option<_>>()?),
            "M" => Attribute::M(model(&value.to_string())?),
            _ => return None,
        })
    }

    fn read(json: &str) -> JsonResult<Item> {
        let text = Arc::new(json.to_owned());
        let mut reader = AnswerReader::new(&text);
        let item = reader.item()?;
        reader.json.end()?;
        Ok(item)
    }

    /// Pieces of which items consist, and others that look like them.
    const PIECES: [&str; 34] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        " ",
        "\n",
        "\"S\"",
        "\"N\"",
        "\"BOOL\"",
        "\"NULL\"",
        "\"L\"",
        "\"M\"",
        "\"SS\"",
        "{\"S\":\"",
        "{\"N\":\"",
        "\"}",
        "true",
        "null",
        "7",
        "\"a\":",
        "\"b\":",
        "\"a\"",
        "{\"S\":\"x\"}",
        "{\"B\":\"AP8=\"}",
        "{\"BS\":[\"AA==\"]}",
        "{ \"L\" : [ ] }",
        "{\"M\":{\"b\":{\"N\":\"1\"}}}",
        "\\u00e4\\\"",
        "\\",
        "ä€",
        "\t",
    ];

    fn item() -> impl Strategy<Value = String> {
        let text = prop::sample::select(vec![
            "",
            "x",
            "1.5",
            "ä€😀",
            "\\\"",
            "\\u00e4",
            "\\ud83d\\ude00",
            "a text of more than eight bytes",
            "a\\\\b",
        ]);
        let texts = prop::collection::vec(text.clone().prop_map(|text| format!("\"{text}\"")), 0..3);
        let leaf = prop_oneof![
            (prop::sample::select(vec!["S", "N"]), text.clone())
                .prop_map(|(tag, text)| format!("{{\"{tag}\":\"{text}\"}}")),
            (prop::sample::select(vec!["SS", "NS"]), texts)
                .prop_map(|(tag, texts)| format!("{{\"{tag}\": [{}]}}", texts.join(" , "))),
            prop::sample::select(vec![
                "{\"BOOL\":true}",
                "{\"NULL\":true}",
                "{\"B\":\"AP8=\"}",
                "{ \"S\" : \"x\" }",
                "{\"\\u0053\":\"x\"}"
            ])
            .prop_map(str::to_owned),
        ];
        let members = move |value: BoxedStrategy<String>| {
            prop::collection::vec((text.clone(), value), 0..6).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .enumerate()
                    .map(|(i, (name, value))| format!("\"{name}{i}\":{value}"))
                    .collect();
                format!("{{{}}}", members.join(", "))
            })
        };
        let nested = members.clone();
        let value = leaf.prop_recursive(3, 20, 4, move |inner| {
            let list = prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|values| format!("{{\"L\":[{}]}}", values.join(",")));
            prop_oneof![list, nested(inner.boxed()).prop_map(|map| format!("{{\"M\":{map}}}"))]
        });
        members(value.boxed())
    }

    proptest! {
        #[test]
        fn an_item_is_what_a_tree_of_values_tells(json in item()) {
            prop_assert_eq!(read(&json).ok(), model(&json), "{}", json);
        }

        #[test]
        fn what_is_no_item_is_none(
            json in item(), at in 0..200_usize, piece in prop::sample::select(&PIECES[..]), gone in 0..3_usize
        ) {
            let at = json.floor_char_boundary(at.min(json.len()));
            let after = json.ceil_char_boundary((at + gone).min(json.len()));
            let json = format!("{}{piece}{}", &json[..at], &json[after..]);
            prop_assert_eq!(read(&json).ok(), model(&json), "{}", json);
        }
    }

    #[test]
    fn items_of_a_list_share_their_names_and_the_answer() {
        let json = r#"[{"b":{"S":"1"},"a":{"M":{"x":{"N":"1"}}}},{"b":{"S":"2"},"a":{"L":[{"M":{"x":{"N":"2"}}}]}},{"c":{"NULL":true},"b":{"S":""}}]"#;
        let text = Arc::new(json.to_owned());
        let items = AnswerReader::new(&text).items(&[], None).unwrap();
        let name = |item: usize, name: &str| items[item].keys().find(|known| ***known == *name).cloned().unwrap();
        assert!(Arc::ptr_eq(&name(0, "b"), &name(1, "b")) && Arc::ptr_eq(&name(0, "b"), &name(2, "b")));
        assert_eq!(*items[2], Item::from([("b", Attribute::S("".into())), ("c", Attribute::Null)]));
        assert_eq!(items[1]["a"], Attribute::L(vec![Attribute::M(Item::from([("x", Attribute::N("2".into()))]))]));
        assert_eq!(Arc::strong_count(&text), 1 + 5);
        let kept: Vec<Item> = items.iter().map(|item| item.detached()).collect();
        drop(items);
        assert_eq!((Arc::strong_count(&text), kept.len()), (1, 3));
    }

    #[test]
    fn a_name_with_quotation_marks_is_no_beginning_of_json() {
        let strange = r#""a\":{\"S\":\"x":{"S":"y"}"#;
        let json = format!("[{{{strange}}},{{\"a\":{{\"S\":\"x\"}}}}]");
        let text = Arc::new(json);
        let items = AnswerReader::new(&text).items(&[], None).unwrap();
        assert_eq!(*items[0], Item::from([("a\":{\"S\":\"x", Attribute::S("y".into()))]));
        assert_eq!(*items[1], Item::from([("a", Attribute::S("x".into()))]));
    }

    #[test]
    fn levels_are_bounded() {
        let nested =
            |levels: usize| format!("{{\"a\":{}{{\"NULL\":true}}{}}}", "{\"L\":[".repeat(levels), "]}".repeat(levels));
        assert!(read(&nested(32)).is_ok());
        assert_eq!(read(&nested(100_000)).unwrap_err().what, "the text has too many levels");
    }
}
