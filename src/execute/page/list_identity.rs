//! The identity of a list, to which its cursors are tied: a list in, a digest out. Must not know cursors.
//!
//! The identity is the field, the table and its index, the key ranges that the field's bindings make, and the direction. It leaves out what
//! moves no item of the list: the page size, the end from which a page is counted, and the values of a filter.
//!
//! **The encoding is a storage format**, since clients keep cursors. It is canonical: a length, or a tag of one byte, precedes each part,
//! so different lists never have equal encodings.

use crate::execute::key::range::KeyRange;
use crate::table::data::attribute::KeyValue;
use crate::table::data::call::SortCondition;
use sha2::{Digest as _, Sha256};

/// A digest of an identity (SHA-256).
pub type Digest = [u8; 32];

/// A list that has pages.
pub struct List<'a> {
    /// The field coordinate.
    pub coordinate: &'a str,
    /// The table's name.
    pub table: &'a str,
    /// The index's name.
    pub index: Option<&'a str>,
    /// The ranges that are read, in the order in which they are merged.
    pub ranges: &'a [KeyRange],
    /// The order of the list.
    pub descending: bool,
}

impl List<'_> {
    /// The digest of the list's identity.
    pub fn digest(&self) -> Digest {
        let mut writer = Writer(Sha256::new());
        writer.bytes(b"keyfold list 1");
        writer.bytes(self.coordinate.as_bytes());
        writer.bytes(self.table.as_bytes());
        writer.option(self.index, |writer, index| writer.bytes(index.as_bytes()));
        writer.tag(u8::from(self.descending));
        writer.number(self.ranges.len());
        self.ranges.iter().for_each(|range| writer.range(range));
        writer.0.finalize().into()
    }
}

struct Writer(Sha256);

impl Writer {
    fn tag(&mut self, tag: u8) {
        self.0.update([tag]);
    }

    fn number(&mut self, number: usize) {
        self.0.update((number as u64).to_be_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len());
        self.0.update(bytes);
    }

    fn option<T>(&mut self, option: Option<T>, write: impl FnOnce(&mut Self, T)) {
        self.tag(u8::from(option.is_some()));
        if let Some(value) = option {
            write(self, value);
        }
    }

    fn range(&mut self, range: &KeyRange) {
        let KeyRange { partition, sort, excluded, prefix, begins_with, values } = range;
        self.option(partition.as_ref(), |writer, (name, value)| {
            writer.bytes(name.as_bytes());
            writer.value(value);
        });
        self.option(sort.as_ref(), |writer, (name, condition)| {
            writer.bytes(name.as_bytes());
            writer.condition(condition);
        });
        self.number(excluded.len());
        excluded.iter().for_each(|value| self.value(value));
        self.number(*prefix);
        self.option(begins_with.as_ref(), |writer, (field, start)| {
            writer.bytes(field.as_bytes());
            writer.bytes(start.as_bytes());
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

    fn value(&mut self, value: &KeyValue) {
        let (tag, bytes) = match value {
            KeyValue::S(text) => (b'S', text.as_bytes()),
            KeyValue::N(text) => (b'N', text.as_bytes()),
            KeyValue::B(bytes) => (b'B', bytes.as_slice()),
        };
        self.tag(tag);
        self.bytes(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::HashSet;

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    fn range(partition: &str) -> KeyRange {
        let partition = Some(("pk".to_owned(), s(partition)));
        KeyRange { partition, sort: None, excluded: vec![], prefix: 0, begins_with: None, values: vec![] }
    }

    #[test]
    fn lists_that_differ_in_anything_have_different_identities() {
        use SortCondition::*;
        let of = |ranges: &[KeyRange]| List { coordinate: "A.b", table: "t", index: None, ranges, descending: false }.digest();
        let sorted = |name: &str, condition: SortCondition| KeyRange { sort: Some((name.to_owned(), condition)), ..range("p") };
        let number = |text: &str| KeyValue::N(text.to_owned());
        let ranges = [
            vec![],
            vec![range("p")],
            vec![range("p"), range("q")],
            vec![range("q"), range("p")],
            vec![range("pq")],
            vec![KeyRange { partition: None, ..range("") }],
            vec![KeyRange { partition: Some(("pk".to_owned(), number("1"))), ..range("") }],
            vec![range("1")],
            vec![KeyRange { partition: Some(("pk2".to_owned(), s("p"))), ..range("") }],
            vec![sorted("sk", Equal(s("a")))],
            vec![sorted("sk2", Equal(s("a")))],
            vec![sorted("sk", Less(s("a")))],
            vec![sorted("sk", LessOrEqual(s("a")))],
            vec![sorted("sk", Greater(s("a")))],
            vec![sorted("sk", GreaterOrEqual(s("a")))],
            vec![sorted("sk", BeginsWith(s("a")))],
            vec![sorted("sk", BeginsWith(KeyValue::B(b"a".to_vec())))],
            vec![sorted("sk", Between(s("a"), s("bc")))],
            vec![sorted("sk", Between(s("ab"), s("c")))],
            vec![KeyRange { excluded: vec![s("a")], ..range("p") }],
            vec![KeyRange { prefix: 1, ..range("p") }],
            vec![KeyRange { begins_with: Some(("f".to_owned(), "a".to_owned())), ..range("p") }],
            vec![KeyRange { values: vec![("f".to_owned(), json!("a"))], ..range("p") }],
            vec![KeyRange { values: vec![("f".to_owned(), json!(1))], ..range("p") }],
        ];
        let base = [range("p")];
        let lists = [
            List { coordinate: "A.c", table: "t", index: None, ranges: &base, descending: false },
            List { coordinate: "A.b", table: "u", index: None, ranges: &base, descending: false },
            List { coordinate: "A.b", table: "t", index: Some("i"), ranges: &base, descending: false },
            List { coordinate: "A.b", table: "t", index: Some(""), ranges: &base, descending: false },
            List { coordinate: "A.b", table: "t", index: None, ranges: &base, descending: true },
        ];
        let digests: HashSet<Digest> = ranges.iter().map(|ranges| of(ranges)).chain(lists.iter().map(List::digest)).collect();
        assert_eq!(digests.len(), ranges.len() + lists.len());
    }
}
