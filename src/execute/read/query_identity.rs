//! A query in; out, as bytes: what is equal of all queries that find the same, and of all that find the same items in a
//! range. Must not know results.

use super::range_query::RangeQuery;
use crate::execute::key::encoding::Encoding;
use crate::execute::key::range::KeyRange;

impl RangeQuery {
    /// Two queries with equal identities find the same.
    pub fn identity(&self) -> Vec<u8> {
        let Self { ranges, projection, forward, last_first, wanted, start, .. } = self;
        let mut encoding = self.begin_identity();
        encoding.number(ranges.len());
        ranges.iter().for_each(|range| encoding.option(range.as_ref(), Encoding::range));
        encoding.option(projection.as_ref(), |encoding, names| {
            encoding.number(names.len());
            names.iter().for_each(|name| encoding.bytes(name.as_bytes()));
        });
        // A single range has no ties.
        [*forward, *last_first && ranges.len() > 1].into_iter().for_each(|flag| encoding.tag(u8::from(flag)));
        encoding.option(*wanted, |encoding, wanted| encoding.number(wanted as usize));
        encoding.option(start.as_ref(), |encoding, start| {
            encoding.number(start.range);
            encoding.item(&start.key);
        });
        encoding.finish()
    }

    /// For each of its ranges, what is equal of all queries that find the same items in it, perhaps in another order,
    /// not as far, or with other attributes; `None` where nothing of the range remains.
    pub fn range_identities(&self) -> Vec<Option<Vec<u8>>> {
        let of_range = |range: &KeyRange| {
            let mut encoding = self.begin_identity();
            encoding.range(range);
            encoding.finish()
        };
        self.ranges.iter().map(|range| range.as_ref().map(of_range)).collect()
    }

    /// What decides which items it finds, apart from its ranges.
    fn begin_identity(&self) -> Encoding {
        let Self { table, index, filter, consistent, max_age, gate, .. } = self;
        let types = &gate.types().types;
        let mut encoding = Encoding::default();
        // Items of different types may lie in one range, so the types are part of it.
        encoding.number(types.len());
        types.iter().for_each(|marks| encoding.bytes(marks.item.as_bytes()));
        encoding.bytes(table.as_bytes());
        encoding.option(index.as_ref(), |encoding, index| encoding.bytes(index.as_bytes()));
        encoding.option(filter.as_ref(), Encoding::expression);
        encoding.tag(u8::from(*consistent));
        encoding.option(*max_age, |encoding, age| encoding.number(age as usize));
        encoding
    }
}
