//! Ranges of keys, and what else distinguishes one query from another, in; bytes out that differ wherever they differ.
//! Must not know what the bytes are for.
//!
//! A length, or a tag of one byte, precedes each part. **The encoding of ranges is a storage format**: cursors depend
//! on it.

use super::range::KeyRange;
use crate::table::data::attribute::{Attribute, Item, KeyValue};
use crate::table::data::call::{Expression, SortCondition};

/// The bytes of most encodings.
const USUAL_BYTES: usize = 512;

/// The bytes so far.
#[derive(Debug)]
pub struct Encoding(Vec<u8>);

impl Default for Encoding {
    /// Nothing yet.
    fn default() -> Self {
        Self(Vec::with_capacity(USUAL_BYTES))
    }
}

impl Encoding {
    /// A byte that says what follows.
    pub fn tag(&mut self, tag: u8) {
        self.0.push(tag);
    }

    /// A number in eight bytes.
    pub fn number(&mut self, number: usize) {
        self.0.extend_from_slice(&(number as u64).to_be_bytes());
    }

    /// Bytes, after their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.extend_from_slice(bytes);
    }

    /// What may be missing, after whether it is there.
    pub fn option<T>(&mut self, option: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.tag(u8::from(option.is_some()));
        if let Some(value) = option {
            write(self, value);
        }
    }

    /// A range of keys.
    pub fn range(&mut self, range: &KeyRange) {
        let KeyRange { partition, equal, sort, excluded, prefix, begins_with, values } = range;
        self.option(partition.as_ref(), |encoding, (name, value)| {
            encoding.bytes(name.as_bytes());
            encoding.value(value);
        });
        if !equal.is_empty() {
            // No range without them has this tag here.
            self.tag(2);
            self.number(equal.len());
            for (name, value) in equal {
                self.bytes(name.as_bytes());
                self.value(value);
            }
        }
        self.option(sort.as_ref(), |encoding, (name, condition)| {
            encoding.bytes(name.as_bytes());
            encoding.condition(condition);
        });
        self.number(excluded.len());
        excluded.iter().for_each(|value| self.value(value));
        self.number(*prefix);
        self.option(begins_with.as_ref(), |encoding, (field, start)| {
            encoding.bytes(field.as_bytes());
            encoding.bytes(start.as_bytes());
        });
        self.number(values.len());
        for (field, value) in values {
            self.bytes(field.as_bytes());
            self.bytes(value.to_string().as_bytes());
        }
    }

    fn condition(&mut self, condition: &SortCondition) {
        use SortCondition::{BeginsWith, Between, Equal, Greater, GreaterOrEqual, Less, LessOrEqual};
        let (tag, value, upper) = match condition {
            Equal(value) => (0, value, None),
            Less(value) => (1, value, None),
            LessOrEqual(value) => (2, value, None),
            Greater(value) => (3, value, None),
            GreaterOrEqual(value) => (4, value, None),
            Between(lower, upper) => (5, lower, Some(upper)),
            BeginsWith(value) => (6, value, None),
        };
        self.tag(tag);
        self.value(value);
        upper.into_iter().for_each(|upper| self.value(upper));
    }

    /// The value of a key attribute, with its type.
    pub fn value(&mut self, value: &KeyValue) {
        let (tag, bytes) = match value {
            KeyValue::S(text) => (b'S', text.as_bytes()),
            KeyValue::N(text) => (b'N', text.as_bytes()),
            KeyValue::B(bytes) => (b'B', bytes.as_slice()),
        };
        self.tagged(tag, bytes);
    }

    /// A filter that DynamoDB applies.
    pub fn expression(&mut self, Expression { text, names, values }: &Expression) {
        self.bytes(text.as_bytes());
        self.number(names.len());
        for (placeholder, name) in names {
            self.bytes(placeholder.as_bytes());
            self.bytes(name.as_bytes());
        }
        self.number(values.len());
        for (placeholder, value) in values {
            self.bytes(placeholder.as_bytes());
            self.attribute(value);
        }
    }

    /// The attributes of an item.
    pub fn item(&mut self, item: &Item) {
        self.number(item.len());
        for (name, value) in item.iter() {
            self.bytes(name.as_bytes());
            self.attribute(value);
        }
    }

    fn attribute(&mut self, value: &Attribute) {
        match value {
            Attribute::S(text) => self.tagged(b'S', text.as_bytes()),
            Attribute::N(text) => self.tagged(b'N', text.as_bytes()),
            Attribute::B(bytes) => self.tagged(b'B', bytes),
            Attribute::Bool(truth) => self.tag(u8::from(*truth)),
            Attribute::Null => self.tag(2),
            Attribute::Ss(texts) => self.all(b's', texts, |encoding, text| encoding.bytes(text.as_bytes())),
            Attribute::Ns(texts) => self.all(b'n', texts, |encoding, text| encoding.bytes(text.as_bytes())),
            Attribute::Bs(all) => self.all(b'b', all, |encoding, bytes| encoding.bytes(bytes)),
            Attribute::L(values) => self.all(b'L', values, Self::attribute),
            Attribute::M(item) => {
                self.tag(b'M');
                self.item(item);
            }
        }
    }

    fn tagged(&mut self, tag: u8, bytes: &[u8]) {
        self.tag(tag);
        self.bytes(bytes);
    }

    fn all<T>(&mut self, tag: u8, values: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.tag(tag);
        self.number(values.len());
        values.iter().for_each(|value| write(self, value));
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }
}
