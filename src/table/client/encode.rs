//! Calls as plain data in, the JSON bodies of their requests out (DynamoDB low-level API, JSON 1.0). Must not know how they are sent.

use crate::table::data::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::call::Query;
use crate::table::data::expressions::{Expressions, PlaceholderValue};
use crate::table::data::write::{BatchWrite, WriteAction, WriteCall};
use crate::table::data_store::ItemRequest;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The bytes of most bodies.
const USUAL_BYTES: usize = 512;

/// A JSON object while it is written.
struct Object {
    out: Vec<u8>,
}

/// The body of a GetItem.
pub(super) fn get_item(request: ItemRequest<'_>) -> Vec<u8> {
    let mut body = Object::begin();
    body.text("TableName", request.table);
    body.name("Key");
    key(&mut body.out, request.key);
    body.projected(request.projection, request.consistent);
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

/// The body of a BatchGetItem: for each table its requests, which have one projection.
pub(super) fn batch_get_item(tables: Vec<(&str, Vec<ItemRequest<'_>>)>) -> Vec<u8> {
    let mut body = Object::begin();
    body.name("RequestItems");
    body.object(tables, |body, (table, requests)| {
        body.name(table);
        body.nested(|body| {
            body.name("Keys");
            list(&mut body.out, &requests, |out, request| key(out, request.key));
            let projection = requests.first().map_or(&[][..], |request| request.projection);
            body.projected(projection, requests.iter().any(|request| request.consistent));
        });
    });
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

/// The body of a Query, or of a Scan where the query names no partition.
pub(super) fn query(query: &Query) -> Vec<u8> {
    let mut built = Expressions::with_filter(query.filter.as_ref());
    if let Some(attributes) = &query.projection {
        built = built.project(attributes);
    }
    if let Some(partition) = &query.partition {
        built = built.key_condition(partition, query.sort.as_ref().map(|(name, condition)| (name.as_str(), condition)));
    }
    let mut body = Object::begin();
    body.text("TableName", &query.table);
    if let Some(index) = &query.index {
        body.text("IndexName", index);
    }
    body.expressions(&built);
    if query.projection.is_none() {
        body.text("Select", "COUNT");
    }
    if query.partition.is_some() && !query.forward {
        body.literal("ScanIndexForward", "false");
    }
    body.name("Limit");
    let mut limit = itoa::Buffer::new();
    // A limit may not be zero, and has 31 bits.
    body.out.extend_from_slice(limit.format(query.limit.clamp(1, i32::MAX as u32)).as_bytes());
    if let Some(start) = &query.start {
        body.name("ExclusiveStartKey");
        item(&mut body.out, start);
    }
    if query.consistent {
        body.literal("ConsistentRead", "true");
    }
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

/// The body of a PutItem, an UpdateItem or a DeleteItem. A failed condition returns the item.
pub(super) fn write(call: &WriteCall) -> Vec<u8> {
    let mut body = Object::begin();
    body.write(call);
    let is_update = matches!(call.action, WriteAction::Update(..));
    body.text("ReturnValues", if is_update { "ALL_NEW" } else { "ALL_OLD" });
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

/// The body of a TransactWriteItems. A failed condition returns its item.
pub(super) fn transact_write_items(calls: &[WriteCall], token: &str) -> Vec<u8> {
    let mut body = Object::begin();
    body.name("TransactItems");
    list(&mut body.out, calls, |out, call| {
        let mut action = Object::within(std::mem::take(out));
        action.name(match &call.action {
            WriteAction::Put(_) => "Put",
            WriteAction::Update(_, Some(_)) => "Update",
            WriteAction::Delete(_) => "Delete",
            // A transaction has no update without an expression. A check of its condition is the same.
            WriteAction::Check(_) | WriteAction::Update(_, None) => "ConditionCheck",
        });
        action.nested(|action| action.write(call));
        *out = action.end();
    });
    body.text("ClientRequestToken", token);
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

/// The body of a BatchWriteItem.
pub(super) fn batch_write_item(table: &str, writes: &[BatchWrite]) -> Vec<u8> {
    let mut body = Object::begin();
    body.name("RequestItems");
    body.nested(|body| {
        body.name(table);
        list(&mut body.out, writes, |out, write| match write {
            BatchWrite::Put(new) => {
                out.extend_from_slice(br#"{"PutRequest":{"Item":"#);
                item(out, new);
                out.extend_from_slice(b"}}");
            }
            BatchWrite::Delete(of) => {
                out.extend_from_slice(br#"{"DeleteRequest":{"Key":"#);
                key(out, of);
                out.extend_from_slice(b"}}");
            }
        });
    });
    body.text("ReturnConsumedCapacity", "TOTAL");
    body.end()
}

impl Object {
    fn begin() -> Self {
        Self::within(Vec::with_capacity(USUAL_BYTES))
    }

    /// An object that begins at the end of what is written.
    fn within(mut out: Vec<u8>) -> Self {
        out.push(b'{');
        Self { out }
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(b'}');
        self.out
    }

    /// Begins a member.
    fn name(&mut self, name: &str) {
        if self.out.last() != Some(&b'{') {
            self.out.push(b',');
        }
        text(&mut self.out, name);
        self.out.push(b':');
    }

    fn text(&mut self, name: &str, value: &str) {
        self.name(name);
        text(&mut self.out, value);
    }

    fn literal(&mut self, name: &str, value: &str) {
        self.name(name);
        self.out.extend_from_slice(value.as_bytes());
    }

    fn nested(&mut self, write: impl FnOnce(&mut Self)) {
        self.out.push(b'{');
        write(self);
        self.out.push(b'}');
    }

    fn object<T>(&mut self, members: impl IntoIterator<Item = T>, mut write: impl FnMut(&mut Self, T)) {
        self.nested(|body| members.into_iter().for_each(|member| write(body, member)));
    }

    /// The members that say which attributes a Get reads, and how.
    fn projected(&mut self, projection: &[String], consistent: bool) {
        self.expressions(&Expressions::default().project(projection));
        if consistent {
            self.literal("ConsistentRead", "true");
        }
    }

    /// The members of a write, alone or in a transaction.
    fn write(&mut self, call: &WriteCall) {
        self.text("TableName", &call.table);
        let update = match &call.action {
            WriteAction::Put(new) => {
                self.name("Item");
                item(&mut self.out, new);
                None
            }
            WriteAction::Update(of, update) => {
                self.name("Key");
                key(&mut self.out, of);
                update.as_ref()
            }
            WriteAction::Delete(of) | WriteAction::Check(of) => {
                self.name("Key");
                key(&mut self.out, of);
                None
            }
        };
        self.expressions(&Expressions::of_write(call.condition.as_ref(), update));
        self.text("ReturnValuesOnConditionCheckFailure", "ALL_OLD");
    }

    fn expressions(&mut self, built: &Expressions<'_>) {
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
            self.name("ExpressionAttributeNames");
            self.object(&built.names, |body, (placeholder, name)| body.text(placeholder, name));
        }
        if !built.values.is_empty() {
            self.name("ExpressionAttributeValues");
            self.object(&built.values, |body, (placeholder, operand)| {
                body.name(placeholder);
                match operand {
                    PlaceholderValue::Key(value) => key_value(&mut body.out, value),
                    PlaceholderValue::Attribute(value) => attribute(&mut body.out, value),
                }
            });
        }
    }
}

/// A JSON string. Writing to a vector cannot fail.
fn text(out: &mut Vec<u8>, text: &str) {
    let _ = serde_json::to_writer(out, text);
}

fn list<T>(out: &mut Vec<u8>, values: &[T], mut write: impl FnMut(&mut Vec<u8>, &T)) {
    out.push(b'[');
    for (position, value) in values.iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        write(out, value);
    }
    out.push(b']');
}

/// An object of named values.
fn members<'m, T>(out: &mut Vec<u8>, members: impl IntoIterator<Item = (&'m String, T)>, mut write: impl FnMut(&mut Vec<u8>, T)) {
    out.push(b'{');
    for (position, (name, value)) in members.into_iter().enumerate() {
        if position > 0 {
            out.push(b',');
        }
        text(out, name);
        out.push(b':');
        write(out, value);
    }
    out.push(b'}');
}

fn key(out: &mut Vec<u8>, key: &Key) {
    let attributes = std::iter::once(&key.partition).chain(&key.sort);
    members(out, attributes.map(|(name, value)| (name, value)), key_value);
}

fn key_value(out: &mut Vec<u8>, value: &KeyValue) {
    match value {
        KeyValue::S(value) => tagged(out, "S", |out| text(out, value)),
        KeyValue::N(number) => tagged(out, "N", |out| text(out, number)),
        KeyValue::B(bytes) => tagged(out, "B", |out| binary(out, bytes)),
    }
}

fn item(out: &mut Vec<u8>, item: &Item) {
    members(out, item, attribute);
}

fn attribute(out: &mut Vec<u8>, value: &Attribute) {
    match value {
        Attribute::S(value) => tagged(out, "S", |out| text(out, value)),
        Attribute::N(number) => tagged(out, "N", |out| text(out, number)),
        Attribute::B(bytes) => tagged(out, "B", |out| binary(out, bytes)),
        Attribute::Bool(truth) => tagged(out, "BOOL", |out| out.extend_from_slice(if *truth { b"true" } else { b"false" })),
        Attribute::Null => tagged(out, "NULL", |out| out.extend_from_slice(b"true")),
        Attribute::Ss(texts) => tagged(out, "SS", |out| list(out, texts, |out, value| text(out, value))),
        Attribute::Ns(numbers) => tagged(out, "NS", |out| list(out, numbers, |out, number| text(out, number))),
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
    text(out, &STANDARD.encode(bytes));
}
