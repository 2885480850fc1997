//! The global id of an item: its type and the values of its key's fields in, an opaque text out, and back. Must not
//! know items or requests.
//!
//! The text is the type's name and each value, with `:` between them, in base64 for URLs without padding (RFC 4648,
//! section 5). A value is in the form that keys have; `%` and `:` in it are escaped. **It is a format that clients
//! keep**: caches and links hold such ids.

use crate::schema::scalar::value_type::ValueType;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use std::borrow::Borrow;

/// How the items of a type are identified among those of all types.
#[derive(Debug)]
pub struct GlobalId {
    type_name: String,
    fields: Vec<(String, ValueType)>,
    /// What every id of the type begins with, so that most ids of other types need not be decoded.
    beginning: String,
}

impl GlobalId {
    /// The ids of a type, made of these fields.
    pub fn new(type_name: &str, fields: Vec<(String, ValueType)>) -> Self {
        // Each group of three bytes is four digits, whatever follows.
        let whole = type_name.len() / 3 * 3;
        let beginning = URL_SAFE_NO_PAD.encode(&type_name.as_bytes()[..whole]);
        Self { type_name: type_name.to_owned(), fields, beginning }
    }

    /// The type.
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// The fields whose values make an id, in order, each with how it is stored.
    pub fn fields(&self) -> &[(String, ValueType)] {
        &self.fields
    }

    /// The id of the item with these values of the fields; `None` if one is missing or does not fit.
    pub fn encode<V: Borrow<Value>>(&self, values: &[V]) -> Option<String> {
        if values.len() != self.fields.len() {
            return None;
        }
        let mut text = self.type_name.clone();
        for ((_, kind), value) in self.fields.iter().zip(values) {
            text.push(':');
            text.push_str(&kind.to_text(value.borrow())?.replace('%', "%25").replace(':', "%3A"));
        }
        Some(URL_SAFE_NO_PAD.encode(text))
    }

    /// The values of the fields that an id holds; `None` for every text that is not exactly an id of the type.
    pub fn decode(&self, id: &str) -> Option<Vec<Value>> {
        if !id.starts_with(&self.beginning) {
            return None;
        }
        let text = String::from_utf8(URL_SAFE_NO_PAD.decode(id).ok()?).ok()?;
        let mut parts = text.split(':');
        if parts.next() != Some(&self.type_name) {
            return None;
        }
        let mut fields = self.fields.iter();
        let value = |part: &str| {
            fields.next().and_then(|(_, kind)| kind.from_text(&part.replace("%3A", ":").replace("%25", "%")))
        };
        let values: Vec<Value> = parts.map(value).collect::<Option<_>>()?;
        // An item has one id: another spelling of it is none.
        (self.encode(&values)? == id).then_some(values)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::scalar::value_type::{EnumValues, Moment};
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;

    fn global_id(kinds: &[ValueType]) -> GlobalId {
        GlobalId::new("User", kinds.iter().enumerate().map(|(at, kind)| (format!("field{at}"), kind.clone())).collect())
    }

    #[test]
    fn an_id_names_type_and_key() {
        let text = |id: &str| String::from_utf8(URL_SAFE_NO_PAD.decode(id).unwrap()).unwrap();
        let two = global_id(&[ValueType::Id, ValueType::Int]);
        let id = two.encode(&[json!("a:b%3A"), json!(7)]).unwrap();
        assert_eq!(text(&id), "User:a%3Ab%253A:7");
        assert_eq!(two.decode(&id), Some(vec![json!("a:b%3A"), json!(7)]));
        assert_eq!(text(&global_id(&[]).encode::<Value>(&[]).unwrap()), "User");
        assert_eq!(global_id(&[]).decode("VXNlcg"), Some(vec![]));
    }

    #[test]
    fn what_is_no_id_of_the_type_is_refused() {
        let id = global_id(&[ValueType::Int]);
        let of_text = |text: &str| id.decode(&URL_SAFE_NO_PAD.encode(text));
        assert_eq!(of_text("User:7"), Some(vec![json!(7)]));
        for text in [
            "", "User", "User:", "User:7:8", "User:07", "User:+7", "User:%37", "User:x", "Users:7", "Use:7", "user:7",
            ":7",
        ] {
            assert_eq!(of_text(text), None, "{text}");
        }
        // The last digit of base64 has bits that mean nothing, and padding adds nothing.
        for text in ["", "VXNlcjo3", "VXNlcjo3=", "VXNlcjo3 ", "VXNlcjo_", "ä", "User:7"] {
            assert_eq!(id.decode(text).is_some(), text == "VXNlcjo3", "{text}");
        }
        let texts = global_id(&[ValueType::String]);
        let once = texts.encode(&[json!("ab")]).unwrap();
        let other = format!("{}h", once.strip_suffix('g').unwrap());
        assert_eq!((texts.decode(&once).is_some(), texts.decode(&other)), (true, None));
        assert_eq!(texts.encode(&[json!(1)]), None);
        assert_eq!(texts.encode::<Value>(&[]), None);
    }

    fn kind_and_value() -> impl Strategy<Value = (ValueType, Value)> {
        let stored = [("OPEN", "open:%"), ("DONE", "")].map(|(name, text)| (name.to_owned(), text.to_owned()));
        let status =
            ValueType::Enum(Arc::new(EnumValues { name: "Status".into(), stored: stored.into_iter().collect() }));
        prop_oneof![
            any::<String>().prop_map(|text| (ValueType::Id, json!(text))),
            "[%:3A25a-c]{0,12}".prop_map(|text| (ValueType::String, json!(text))),
            any::<i32>().prop_map(|number| (ValueType::Int, json!(number))),
            any::<i64>().prop_map(|number| (ValueType::Long, json!(number))),
            any::<bool>().prop_map(|truth| (ValueType::Boolean, json!(truth))),
            (0u8..60).prop_map(|second| {
                (ValueType::DateTime(Moment::EpochSeconds), json!(format!("2026-11-20T09:30:{second:02}.000Z")))
            }),
            prop_oneof![Just("OPEN"), Just("DONE")].prop_map(move |name| (status.clone(), json!(name))),
        ]
    }

    proptest! {
        #[test]
        fn an_id_is_read_back_as_it_was_written(fields in prop::collection::vec(kind_and_value(), 0..4)) {
            let (kinds, values): (Vec<ValueType>, Vec<Value>) = fields.into_iter().unzip();
            let id = global_id(&kinds);
            prop_assert_eq!(id.decode(&id.encode(&values).unwrap()), Some(values));
        }

        #[test]
        fn any_text_is_an_id_or_none(text in any::<String>(), bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            for kinds in [vec![], vec![ValueType::Id], vec![ValueType::Int, ValueType::Date]] {
                let id = global_id(&kinds);
                let of_user = [b"User:", bytes.as_slice()].concat();
                for given in [text.clone(), URL_SAFE_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(of_user)] {
                    if let Some(values) = id.decode(&given) {
                        prop_assert_eq!(id.encode(&values), Some(given));
                    }
                }
            }
        }
    }
}
