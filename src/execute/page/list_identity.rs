//! The identity of a list, to which its cursors are tied: a list in, the bytes out whose digest it is. Must not know
//! cursors.
//!
//! The identity is the field, the table and its index, the key ranges that the field's bindings make, and the
//! direction. It leaves out what moves no item of the list: the page size, the end from which a page is counted, and
//! the values of a filter.
//!
//! **The encoding is a storage format**, since clients keep cursors. It is canonical, so different lists never have
//! equal encodings.

use crate::execute::key::encoding::Encoding;
use crate::execute::key::range::KeyRange;

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
    /// What the digest of the list's identity is made of.
    pub fn encoded(&self) -> Vec<u8> {
        let mut encoding = Encoding::default();
        encoding.bytes(b"keyfold list 1");
        encoding.bytes(self.coordinate.as_bytes());
        encoding.bytes(self.table.as_bytes());
        encoding.option(self.index, |encoding, index| encoding.bytes(index.as_bytes()));
        encoding.tag(u8::from(self.descending));
        encoding.number(self.ranges.len());
        self.ranges.iter().for_each(|range| encoding.range(range));
        encoding.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::data::attribute::KeyValue;
    use crate::table::data::call::SortCondition;
    use serde_json::json;
    use std::collections::HashSet;

    fn s(text: &str) -> KeyValue {
        KeyValue::S(text.to_owned())
    }

    fn range(partition: &str) -> KeyRange {
        let partition = Some(("pk".to_owned(), s(partition)));
        KeyRange {
            partition,
            equal: vec![],
            sort: None,
            excluded: vec![],
            prefix: 0,
            begins_with: None,
            values: vec![],
        }
    }

    #[test]
    fn lists_that_differ_in_anything_have_different_identities() {
        use SortCondition::*;
        let of = |ranges: &[KeyRange]| {
            List { coordinate: "A.b", table: "t", index: None, ranges, descending: false }.encoded()
        };
        let sorted =
            |name: &str, condition: SortCondition| KeyRange { sort: Some((name.to_owned(), condition)), ..range("p") };
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
            vec![KeyRange { equal: vec![("sk".to_owned(), s("a"))], ..range("p") }],
            vec![KeyRange { equal: vec![("sk".to_owned(), s("b"))], ..range("p") }],
            vec![KeyRange { equal: vec![("sk".to_owned(), s("a"))], ..sorted("n", Equal(s("a"))) }],
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
        let identities: HashSet<Vec<u8>> =
            ranges.iter().map(|ranges| of(ranges)).chain(lists.iter().map(List::encoded)).collect();
        assert_eq!(identities.len(), ranges.len() + lists.len());
    }
}
