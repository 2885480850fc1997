//! One distinct Query of a wave: its ranges read page by page until enough is found, and merged in order.

use super::cursor::Positions;
use super::keys::{KeyRange, compare};
use crate::plan::tree::Recogniser;
use crate::schema::template::Template;
use crate::table::attribute::{Attribute, Item, KeyValue};
use crate::table::call::{Expression, Query};
use crate::table::error::TableError;
use crate::table::loaders::Loaders;
use futures_util::future::try_join_all;
use std::cmp::Ordering;
use std::sync::Arc;

/// The most items that one call reads; a page of 1,000 small items stays far below DynamoDB's 1 MB.
const MAX_LIMIT: u32 = 1_000;
/// What a filtered Query reads at least, as most of it may not meet the filter.
const MIN_FILTERED_LIMIT: u32 = 50;

/// A Query with everything that it needs.
#[derive(Debug)]
pub struct Search {
    /// The table.
    pub table: Arc<str>,
    /// The index.
    pub index: Option<Arc<str>>,
    /// The ranges, in the order of the values that made them.
    pub ranges: Vec<KeyRange>,
    /// The sort key's template, to read ranged fields back.
    pub sort: Option<Template>,
    /// The sort key attribute.
    pub sort_attribute: Option<String>,
    /// What items must meet after they are read.
    pub filter: Option<Expression>,
    /// The attributes that are asked for.
    pub projection: Arc<[String]>,
    /// Ascending order in which the items are read.
    pub forward: bool,
    /// Whether to read strongly.
    pub consistent: bool,
    /// How many items are wanted; `None` counts all of them.
    pub wanted: Option<u32>,
    /// Where each range starts: after this key.
    pub starts: Positions,
    /// How items of the type are told from others.
    pub recognise: Arc<Recogniser>,
}

/// What a search found.
#[derive(Debug, Default)]
pub struct Hits {
    /// The items in the order in which they were read.
    pub items: Vec<Arc<Item>>,
    /// For several ranges, the range of each item.
    pub of_range: Vec<usize>,
    /// How many there are, where they are only counted.
    pub count: u64,
}

impl Search {
    /// Two searches with equal keys find the same.
    pub fn identity(&self) -> String {
        let Self { table, index, ranges, filter, projection, forward, consistent, wanted, starts, .. } = self;
        let starts: Vec<_> =
            starts.iter().map(|start| start.as_ref().map(|item| item.iter().collect::<std::collections::BTreeMap<_, _>>())).collect();
        format!("{table}\0{index:?}\0{ranges:?}\0{filter:?}\0{projection:?}\0{forward}{consistent}{wanted:?}\0{starts:?}")
    }

    /// Reads until `wanted` items are found in order, or the data ends.
    pub async fn run(&self, loaders: &Loaders) -> Result<Hits, TableError> {
        let ranges = self.ranges.iter().zip(&self.starts).map(|(range, start)| self.read(range, start.clone(), loaders));
        let mut found = try_join_all(ranges).await?;
        let count = found.iter().map(|(_, count)| count).sum();
        if found.len() == 1 {
            let (items, _) = found.swap_remove(0);
            return Ok(Hits { items, of_range: Vec::new(), count });
        }
        let lists = found.into_iter().map(|(items, _)| items).collect();
        let (items, of_range) = self.merge(lists);
        Ok(Hits { items, of_range, count })
    }

    async fn read(&self, range: &KeyRange, mut start: Option<Item>, loaders: &Loaders) -> Result<(Vec<Arc<Item>>, u64), TableError> {
        let (mut items, mut count) = (Vec::new(), 0);
        loop {
            let missing = self.wanted.map_or(MAX_LIMIT, |wanted| wanted.saturating_sub(items.len() as u32));
            if missing == 0 {
                return Ok((items, count));
            }
            let limit = match self.filter {
                None => missing.min(MAX_LIMIT),
                Some(_) => missing.saturating_mul(4).clamp(MIN_FILTERED_LIMIT, MAX_LIMIT),
            };
            let page = loaders.query(&self.call(range, limit, start)).await?;
            for item in page.items.into_iter().filter(|item| self.belongs(range, item)) {
                match self.wanted {
                    None => count += 1,
                    Some(wanted) if items.len() as u32 == wanted => break,
                    Some(_) => items.push(item),
                }
            }
            start = page.last_key;
            if start.is_none() {
                return Ok((items, count));
            }
        }
    }

    fn call(&self, range: &KeyRange, limit: u32, start: Option<Item>) -> Query {
        Query {
            table: self.table.clone(),
            index: self.index.clone(),
            partition: range.partition.clone(),
            sort: range.sort.clone(),
            filter: self.filter.clone(),
            projection: Some(self.projection.clone()),
            forward: self.forward,
            limit,
            start,
            consistent: self.consistent,
        }
    }

    /// Whether an item is of the type and really within the range.
    fn belongs(&self, range: &KeyRange, item: &Item) -> bool {
        let sort = self.sort_attribute.as_ref().and_then(|name| item.get(name));
        let within = sort.is_none_or(|sort| !range.excludes(sort));
        let begins = match (&range.begins_with, &self.sort, sort) {
            (Some((field, start)), Some(template), Some(Attribute::S(text))) => template.read(text).is_some_and(|fields| {
                fields.iter().any(|(name, value)| name == field && value.as_str().is_some_and(|value| value.starts_with(start)))
            }),
            _ => true,
        };
        within && begins && self.recognise.recognises(item)
    }

    /// Merges lists that are each in order; equal sort keys come in the order of their ranges.
    fn merge(&self, lists: Vec<Vec<Arc<Item>>>) -> (Vec<Arc<Item>>, Vec<usize>) {
        let wanted = self.wanted.map_or(usize::MAX, |wanted| wanted as usize);
        let mut heads: Vec<_> = lists.into_iter().map(|list| list.into_iter().peekable()).collect();
        let (mut items, mut of_range) = (Vec::new(), Vec::new());
        while items.len() < wanted {
            let mut best: Option<(usize, Option<KeyValue>)> = None;
            for (position, head) in heads.iter_mut().enumerate() {
                let Some(item) = head.peek() else { continue };
                let key = self.merge_key(&self.ranges[position], item);
                let better = match &best {
                    None => true,
                    Some((_, than)) => self.precedes(key.as_ref(), than.as_ref()),
                };
                if better {
                    best = Some((position, key));
                }
            }
            let Some((position, _)) = best else { break };
            items.extend(heads[position].next());
            of_range.push(position);
        }
        (items, of_range)
    }

    /// What of an item's sort key is compared: all that comes after what is the same in its range.
    fn merge_key(&self, range: &KeyRange, item: &Item) -> Option<KeyValue> {
        match item.get(self.sort_attribute.as_ref()?)? {
            Attribute::S(text) => Some(KeyValue::S(text.get(range.prefix..).unwrap_or_default().to_owned())),
            Attribute::N(text) => Some(KeyValue::N(text.clone())),
            Attribute::B(bytes) => Some(KeyValue::B(bytes.clone())),
            _ => None,
        }
    }

    fn precedes(&self, left: Option<&KeyValue>, right: Option<&KeyValue>) -> bool {
        let (Some(left), Some(right)) = (left, right) else { return false };
        let wanted = if self.forward { Ordering::Less } else { Ordering::Greater };
        compare(left, right) == wanted
    }
}
