//! Recorded calls in, the same calls with placeholders for generated ids, times, hashes and tokens out: equal in every
//! run.

use super::recording::records::Records;
use crate::schema::model::Model;
use crate::schema::scalar::date_time::{canonical_instant, epoch_millis, instant_text};
use crate::schema::scalar::spread::SpreadKind;
use crate::schema::template::Template;
use crate::schema::template::part::{Part, spread_of};
use crate::table::bulk::export_lines::write_line;
use serde_json::{Map, Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// A time further away from now than this, in hours, is not generated: `{now+24h}` is a usual distance.
const FAR: i64 = 10 * 366 * 24;

/// The values of the samples and the schema, which are not generated.
pub struct KnownValues {
    text: String,
    /// Key attributes and those of their templates that spread items over shards.
    sharded: Vec<(String, Template)>,
}

impl KnownValues {
    /// The values of the samples, and the text of the schema, in which a default may be a fixed time.
    pub fn new(model: &Model, schema: &str, records: &Records) -> Self {
        let keys = model.types.values().filter_map(|object| Some(&model.item(&object.name)?.1.keys)).flatten();
        let templates =
            keys.flat_map(|(attribute, templates)| templates.iter().map(move |template| (attribute, template)));
        let is_sharded = |template: &Template| template.spread().is_some_and(|spread| spread.kind == SpreadKind::Shard);
        let sharded = templates
            .filter(|(_, template)| is_sharded(template))
            .map(|(attribute, template)| (attribute.clone(), template.clone()));
        let samples: String = records.list.iter().map(|record| write_line(&record.item)).collect();
        Self { text: format!("{samples}{schema}"), sharded: sharded.collect() }
    }

    /// A value with placeholders for everything that is in neither the samples nor the operation.
    pub fn normalize_generated(&self, value: &Value, operation: &str) -> Value {
        match value {
            Value::String(text) => self.text(text, operation).into(),
            Value::Array(values) => values.iter().map(|value| self.normalize_generated(value, operation)).collect(),
            Value::Object(members) => {
                let name = |(name, value): (&String, &Value)| match (name.as_str(), value) {
                    ("ClientRequestToken", Value::String(_)) => (name.clone(), "<token>".into()),
                    // Only a number may be a time in seconds or milliseconds.
                    ("N", Value::String(number)) => (name.clone(), self.number(number, operation).into()),
                    _ => (name.clone(), self.normalize_generated(value, operation)),
                };
                let mut named: Map<String, Value> = members.iter().map(name).collect();
                // The shard of an item follows from its key: a generated key has a generated shard.
                if named != *members {
                    for (attribute, value) in &mut named {
                        let number =
                            value.get("S").and_then(Value::as_str).and_then(|text| self.without_shard(attribute, text));
                        if let Some(text) = number {
                            *value = json!({ "S": text });
                        }
                    }
                }
                Value::Object(named)
            }
            other => other.clone(),
        }
    }

    /// A key with `<shard>` in place of its shard's number, if its template has one.
    fn without_shard(&self, attribute: &str, text: &str) -> Option<String> {
        let templates = self.sharded.iter().filter(|(name, _)| name == attribute);
        templates.filter_map(|(_, template)| Some((template, template.spread()?))).find_map(|(template, spread)| {
            spread.numbers().find_map(|number| {
                let fields = template.numbered(number).read(text)?;
                let named = |part: &Part| match spread_of(part) {
                    Some(_) => Part::Literal("<shard>".into()),
                    None => part.clone(),
                };
                let template = Template::made_of(template.parts.iter().map(named).collect());
                let value = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
                template.render(&value).ok().flatten()
            })
        })
    }

    fn is_known(&self, token: &str, operation: &str) -> bool {
        self.text.contains(token) || operation.contains(token)
    }

    fn text(&self, text: &str, operation: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(start) = rest.find(|sign: char| sign.is_ascii_alphanumeric()) {
            out.push_str(&rest[..start]);
            rest = &rest[start..];
            let (length, name) = self.token(rest, operation);
            out.push_str(&name);
            rest = &rest[length..];
        }
        out + rest
    }

    /// The length of the first token of a text, and the token or its placeholder.
    fn token(&self, text: &str, operation: &str) -> (usize, String) {
        let word = |more: &[char]| {
            text.find(|sign: char| !sign.is_ascii_alphanumeric() && !more.contains(&sign)).unwrap_or(text.len())
        };
        let instant =
            text.get(..24).filter(|text| text.ends_with('Z') && canonical_instant(text).as_deref() == Some(text));
        if let Some(instant) = instant.filter(|instant| !self.is_known(instant, operation)) {
            return (24, epoch_millis(instant).map_or_else(|| instant.to_owned(), |millis| time(millis, instant)));
        }
        let long = &text[..word(&['-'])];
        if is_uuid(long) && !self.is_known(long, operation) {
            return (long.len(), "<uuid>".into());
        }
        let short = &text[..word(&[])];
        let is_digest = matches!(short.len(), 32 | 64) && short.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_digest && !self.is_known(short, operation) {
            (short.len(), "<hash>".into())
        } else {
            (short.len(), short.to_owned())
        }
    }

    fn number(&self, number: &str, operation: &str) -> String {
        let millis = match (number.len(), number.parse::<i64>()) {
            (10, Ok(seconds)) => seconds * 1000,
            (13, Ok(millis)) => millis,
            _ => return number.to_owned(),
        };
        let known = instant_text(millis).is_some_and(|text| self.is_known(&text, operation))
            || self.is_known(number, operation);
        if known { number.to_owned() } else { time(millis, number) }
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok()
}

/// A generated time as its distance from now in hours; a time that is far away stays as it is.
fn time(millis: i64, written: &str) -> String {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    // Half an hour is more than has passed since the operation.
    let hours = (millis - now + 1_800_000).div_euclid(3_600_000);
    match hours {
        0 => "<now>".into(),
        hours if hours.abs() <= FAR => format!("<now{hours:+}h>"),
        _ => written.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::scalar::spread::Spread;
    use crate::schema::scalar::value_type::ValueType;

    #[test]
    fn what_is_made_up_has_a_name_and_what_is_known_keeps_its_own() {
        let known = KnownValues {
            sharded: Vec::new(),
            text: "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa 2026-01-02T03:04:05.000Z".into(),
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64);
        let instant = |millis: i64| instant_text(millis).unwrap_or_default();
        let value = json!({
            "ClientRequestToken": "8f3",
            "id": { "S": "POST#0194f1c2-0000-7000-8000-000000000000#x" },
            "known": ["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "2026-01-02T03:04:05.000Z", "é漢"],
            "asked": "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb",
            "hash": "0123456789abcdef0123456789abcdef",
            "times": [instant(now), format!("a#{}", instant(now + 24 * 3_600_000))],
            "seconds": { "N": ((now + 3_600_000) / 1000).to_string() },
            "count": { "N": "1234567890" },
        });
        let expected = json!({
            "ClientRequestToken": "<token>",
            "id": { "S": "POST#<uuid>#x" },
            "known": ["aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa", "2026-01-02T03:04:05.000Z", "é漢"],
            "asked": "bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb",
            "hash": "<hash>",
            "times": ["<now>", "a#<now+24h>"],
            "seconds": { "N": "<now+1h>" },
            "count": { "N": "1234567890" },
        });
        assert_eq!(known.normalize_generated(&value, "{ a(id: \"bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb\") }"), expected);
    }
    #[test]
    fn the_shard_of_what_is_made_up_has_a_name() {
        let literal = |text: &str| Part::Literal(text.into());
        let spread = Spread { kind: SpreadKind::Shard, count: 12, assigned: None };
        let shard = Part::Placeholder {
            field: spread.placeholder(),
            value: ValueType::Spread(spread),
            width: None,
            limits: None,
        };
        let day = Part::Placeholder { field: "day".into(), value: ValueType::Date, width: None, limits: None };
        let template = Template::made_of(vec![literal("due#"), shard, literal("#"), day]);
        let known = KnownValues { text: String::new(), sharded: vec![("due".into(), template)] };
        let item = |id: &str, due: &str| json!({ "pk": { "S": id }, "due": { "S": due } });
        let made = "0194f1c2-0000-7000-8000-000000000000";
        assert_eq!(
            known.normalize_generated(&item(made, "due#11#2026-01-02"), ""),
            item("<uuid>", "due#<shard>#2026-01-02")
        );
        assert_eq!(
            known.normalize_generated(&item(made, "due#1"), ""),
            item("<uuid>", "due#1"),
            "what is no such key stays as it is"
        );
        assert_eq!(known.normalize_generated(&item("a", "due#11#2026-01-02"), ""), item("a", "due#11#2026-01-02"));
    }
}
