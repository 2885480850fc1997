//! A range of keys within one partition: the key condition of a Query, and which of the keys that it lets in are meant.

use super::bounds::bounds;
use super::values::compare;
use crate::schema::template::Template;
use crate::table::data::attribute::{Attribute, KeyValue};
use crate::table::data::call::SortCondition;
use serde_json::Value;
use std::cmp::Ordering;

/// A range of one partition.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyRange {
    /// The partition key attribute and its value; `None` is everything (Scan).
    pub partition: Option<(String, KeyValue)>,
    /// The other attributes of an index's key that have one value each in the range.
    pub equal: Vec<(String, KeyValue)>,
    /// The sort key attribute and its condition.
    pub sort: Option<(String, SortCondition)>,
    /// Bounds of the range that are exclusive, since BETWEEN includes them.
    pub excluded: Vec<KeyValue>,
    /// The length in bytes of the prefix that all sort keys of the range share. Merged ranges are ordered by what
    /// follows it.
    pub prefix: usize,
    /// If the key condition lets in more than the range: the field of the range, and the prefix of its value.
    pub begins_with: Option<(String, String)>,
    /// If keys with other values have the same prefix ([`Template::runs_on`]): the values that are meant.
    pub values: Vec<(String, Value)>,
}

impl KeyRange {
    /// Whether a sort key that meets the condition is an exclusive bound.
    #[inline]
    pub fn excludes(&self, sort: &Attribute) -> bool {
        !self.excluded.is_empty()
            && KeyValue::new(sort)
                .is_some_and(|sort| self.excluded.iter().any(|end| compare(end, &sort) == Ordering::Equal))
    }

    /// How many items a Query of a table reads at the beginning that are none of the range: the one of an exclusive
    /// bound.
    pub fn excluded_first(&self, forward: bool) -> u32 {
        if self.excluded.is_empty() {
            return 0;
        }
        let (low, high) = bounds(self.sort.as_ref().map(|(_, condition)| condition));
        let begin = if forward { low } else { high };
        u32::from(begin.is_some_and(|(begin, _)| self.excluded.iter().any(|end| compare(end, &begin).is_eq())))
    }

    /// Whether sort keys have to be read back to know which are meant.
    pub fn reads_keys(&self) -> bool {
        self.begins_with.is_some() || !self.values.is_empty()
    }

    /// Whether a sort key that meets the condition has the values that are meant.
    pub fn is_meant(&self, template: &Template, sort: &str) -> bool {
        if !self.reads_keys() {
            return true;
        }
        let fields = template.read_folded(sort);
        let value = |field: &str| fields.iter().flatten().find(|(name, _)| name == field).map(|(_, value)| value);
        let begins = self.begins_with.as_ref().is_none_or(|(field, start)| {
            value(field).and_then(Value::as_str).is_some_and(|value| value.starts_with(start))
        });
        begins && self.values.iter().all(|(field, meant)| value(field).is_none_or(|value| value == meant))
    }

    /// The part of a sort key by which merged ranges are ordered: what follows the common prefix.
    pub fn compared(&self, sort: &Attribute) -> Option<KeyValue> {
        match sort {
            Attribute::S(text) => Some(KeyValue::S(text.get(self.prefix..).unwrap_or_default().to_owned())),
            other => KeyValue::new(other),
        }
    }
}
