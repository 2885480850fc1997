//! Names, keys, items and expressions in, the JSON body of a request out (DynamoDB low-level API, JSON 1.0). Must not
//! know kinds of calls, nor how they are sent.

use super::string::push_json_text;
use crate::table::data::attribute::{Attribute, AttributeName, Item, Key, KeyValue};
use crate::table::data::expressions::{Expressions, PlaceholderValue};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use std::sync::Arc;

/// The bytes of most bodies.
const USUAL_BYTES: usize = 512;

/// The JSON object of a request's body while it is written. Members are in the order of the calls.
pub(in crate::table) struct BodyWriter {
    out: Vec<u8>,
}

impl BodyWriter {
    /// An empty object.
    pub(in crate::table) fn begin() -> Self {
        let mut out = Vec::with_capacity(USUAL_BYTES);
        out.push(b'{');
        Self { out }
    }

    /// The whole object.
    pub(in crate::table) fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }

    /// Begins a member.
    fn name(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        push_json_text(&mut self.out, name);
        self.out.push(b':');
    }

    /// A text.
    pub(in crate::table) fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        push_json_text(&mut self.out, value);
    }

    /// A Boolean.
    pub(in crate::table) fn flag(&mut self, name: &str, value: bool) {
        self.name(name);
        self.out.extend_from_slice(truth(value));
    }

    /// A number.
    pub(in crate::table) fn number(&mut self, name: &str, value: i32) {
        self.name(name);
        self.out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
    }

    /// `ConsistentRead`; left out if false, its default.
    pub(in crate::table) fn consistent(&mut self, consistent: bool) {
        if consistent {
            self.flag("ConsistentRead", true);
        }
    }

    /// An item.
    pub(in crate::table) fn item(&mut self, name: &str, value: &Item) {
        self.name(name);
        item(&mut self.out, value);
    }

    /// A key.
    pub(in crate::table) fn key(&mut self, name: &str, value: &Key) {
        self.name(name);
        key(&mut self.out, value);
    }

    /// A list of keys.
    pub(in crate::table) fn keys<'k>(&mut self, name: &str, values: impl ExactSizeIterator<Item = &'k Key>) {
        self.name(name);
        let (start, mut others, mut labels) = (self.out.len(), values.len(), Vec::new());
        list(&mut self.out, values, |out, value| {
            labelled_key(out, value, &mut labels);
            // The other keys are about as long as the first.
            out.reserve(std::mem::take(&mut others) * (out.len() - start));
        });
    }

    /// An object.
    pub(in crate::table) fn object(&mut self, name: &str, write: impl FnOnce(&mut Self)) {
        self.name(name);
        self.nested(write);
    }

    /// A list of objects.
    pub(in crate::table) fn list<T>(&mut self, name: &str, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.name(name);
        self.out.push(b'[');
        for (position, value) in values.iter().enumerate() {
            if position > 0 {
                self.out.push(b',');
            }
            self.nested(|body| write(body, value));
        }
        self.out.push(b']');
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.out.push(b'{');
        write(self);
        self.out.push(b'}');
    }

    /// The expressions of a call and what their placeholders stand for.
    pub(in crate::table) fn expressions(&mut self, built: &Expressions<'_>) {
        let texts = [
            ("KeyConditionExpression", built.key_condition.as_deref()),
            ("FilterExpression", built.filter.as_deref()),
            ("ProjectionExpression", built.projection.as_deref()),
            ("ConditionExpression", built.condition.as_deref()),
            ("UpdateExpression", built.update.as_deref()),
        ];
        for (name, text) in texts {
            if let Some(text) = text {
                self.text(name, text);
            }
        }
        if !built.names.is_empty() {
            self.object("ExpressionAttributeNames", |body| {
                built.names.iter().for_each(|(placeholder, name)| body.text(placeholder, name))
            });
        }
        if !built.values.is_empty() {
            self.object("ExpressionAttributeValues", |body| {
                for (placeholder, operand) in &built.values {
                    body.name(placeholder);
                    match operand {
                        PlaceholderValue::Key(value) => key_value(&mut body.out, value),
                        PlaceholderValue::Attribute(value) => attribute(&mut body.out, value),
                    }
                }
            });
        }
    }
}

fn truth(value: bool) -> &'static [u8] {
    if value { b"true" } else { b"false" }
}

fn list<T>(out: &mut Vec<u8>, values: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'[');
    for (position, value) in values.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(out, value);
    }
    out.push(b']');
}

/// An object of named values.
fn members<'m, T>(
    out: &mut Vec<u8>,
    members: impl IntoIterator<Item = (&'m str, T)>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'{');
    for (position, (name, value)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        push_json_text(out, name);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}

fn key(out: &mut Vec<u8>, key: &Key) {
    let attributes = std::iter::once(&key.partition).chain(&key.sort);
    members(out, attributes.map(|(name, value)| (&**name, value)), key_value);
}

/// The name of a key attribute, and `"name":`.
type Label<'k> = (&'k AttributeName, Vec<u8>);

/// A key like others. The keys of a table share their two names, which are written as they were written before.
fn labelled_key<'k>(out: &mut Vec<u8>, key: &'k Key, labels: &mut Vec<Label<'k>>) {
    for (position, (name, value)) in std::iter::once(&key.partition).chain(&key.sort).enumerate() {
        out.push(if position == 0 { b'{' } else { b',' });
        match labels.iter().find(|(known, _)| Arc::ptr_eq(known, name)) {
            Some((_, label)) => out.extend_from_slice(label),
            None => {
                let start = out.len();
                push_json_text(out, name);
                out.push(b':');
                if labels.len() < 2 {
                    labels.push((name, out[start..].to_vec()));
                }
            }
        }
        key_value(out, value);
    }
    out.push(b'}');
}

fn key_value(out: &mut Vec<u8>, value: &KeyValue) {
    match value {
        KeyValue::S(value) => tagged(out, "S", |out| push_json_text(out, value)),
        KeyValue::N(number) => tagged(out, "N", |out| push_json_text(out, number)),
        KeyValue::B(bytes) => tagged(out, "B", |out| binary(out, bytes)),
    }
}

fn item(out: &mut Vec<u8>, item: &Item) {
    members(out, item.iter().map(|(name, value)| (&**name, value)), attribute);
}

fn attribute(out: &mut Vec<u8>, value: &Attribute) {
    match value {
        Attribute::S(value) => tagged(out, "S", |out| push_json_text(out, value)),
        Attribute::N(number) => tagged(out, "N", |out| push_json_text(out, number)),
        Attribute::B(bytes) => tagged(out, "B", |out| binary(out, bytes)),
        Attribute::Bool(value) => tagged(out, "BOOL", |out| out.extend_from_slice(truth(*value))),
        Attribute::Null => tagged(out, "NULL", |out| out.extend_from_slice(b"true")),
        Attribute::Ss(texts) => tagged(out, "SS", |out| list(out, texts, |out, value| push_json_text(out, value))),
        Attribute::Ns(numbers) => {
            tagged(out, "NS", |out| list(out, numbers, |out, number| push_json_text(out, number)))
        }
        Attribute::Bs(all) => tagged(out, "BS", |out| list(out, all, |out, bytes| binary(out, bytes))),
        Attribute::L(values) => tagged(out, "L", |out| list(out, values, attribute)),
        Attribute::M(map) => tagged(out, "M", |out| item(out, map)),
    }
}

/// A value under the name of its type.
fn tagged(out: &mut Vec<u8>, tag: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b"{\"");
    out.extend_from_slice(tag.as_bytes());
    out.extend_from_slice(b"\":");
    write(out);
    out.push(b'}');
}

fn binary(out: &mut Vec<u8>, bytes: &[u8]) {
    push_json_text(out, &STANDARD.encode(bytes));
}
