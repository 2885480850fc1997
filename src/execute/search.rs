//! One distinct Query of a request: its ranges read page by page until enough is found, and merged in order. What was found can be added
//! to later without reading anything twice.

use super::cursor::Position;
use super::fold::Neighbour;
use super::keys::{KeyRange, compare};
use crate::plan::tree::Recogniser;
use crate::schema::template::Template;
use crate::table::attribute::{Attribute, Item, KeyValue};
use crate::table::call::{Expression, Query, SortCondition};
use crate::table::error::TableError;
use crate::table::loaders::Loaders;
use futures_util::future::try_join_all;
use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// The most items that one call reads; a page of 1,000 small items stays far below DynamoDB's 1 MB.
const MAX_LIMIT: u32 = 1_000;
/// How many items a count reads by its first call: 1 MB, which ends a page, of items of 260 bytes.
const FIRST_COUNT: u32 = 4_000;
/// How many it reads by each further call once the first held so many: 1 MB of items of 16 bytes, smaller than which hardly any is. The
/// embedded store takes up memory for all of them at once, so that this is not asked of it before items are known to be small.
const FURTHER_COUNT: u32 = 64_000;
/// What a filtered Query reads at least, as most of it may not meet the filter.
const MIN_FILTERED_LIMIT: u32 = 50;

/// A Query with everything that it needs.
#[derive(Debug)]
pub struct Search {
    /// The table.
    pub table: Arc<str>,
    /// The index.
    pub index: Option<Arc<str>>,
    /// The ranges, in the order of the values that made them. No two of them hold the same item. `None` where nothing is left of one.
    pub ranges: Vec<Option<KeyRange>>,
    /// The sort key's template, to read ranged fields back.
    pub sort: Option<Template>,
    /// The sort key attribute.
    pub sort_attribute: Option<String>,
    /// What items must meet after they are read.
    pub filter: Option<Expression>,
    /// The attributes that are asked for; `None` where all that is found counts, unseen.
    pub projection: Option<Arc<[String]>>,
    /// Ascending order in which the items are read.
    pub forward: bool,
    /// Whether of equal sort keys those of the last range come first: the way back through a list in which they come last.
    pub last_first: bool,
    /// Whether to read strongly.
    pub consistent: bool,
    /// How many items are wanted at first; `None` counts all of them.
    pub wanted: Option<u32>,
    /// Where the range of the position starts: after its key.
    pub start: Option<Position>,
    /// Whether there may be items of other types between.
    pub others: bool,
    /// How items of the type are told from others.
    pub recognise: Arc<Recogniser>,
    /// An item beside the only range that is read along. It takes no part in what the search finds.
    pub neighbour: Option<Neighbour>,
}

/// What a search found so far. It only grows at its end.
#[derive(Debug, Default)]
pub struct Hits {
    /// The items in order.
    pub items: Vec<Arc<Item>>,
    /// For several ranges, the range of each item.
    pub of_range: Vec<usize>,
    /// How many there are, where they are only counted.
    pub count: u64,
    rests: Vec<Rest>,
}

/// How far a range was read.
#[derive(Debug, Default)]
struct Rest {
    /// What was read and is not yet among the hits, in order.
    read: VecDeque<Arc<Item>>,
    /// Where to go on reading: after this key.
    after: Option<Item>,
    /// Whether there is nothing more to read.
    ended: bool,
    /// What is read along with the range.
    neighbour: Option<Neighbour>,
}

impl Hits {
    /// Whether nothing more can be found.
    pub fn ended(&self) -> bool {
        self.rests.iter().all(|rest| rest.ended && rest.read.is_empty())
    }

    /// The item that was read along, if it is the one of this sort key.
    pub fn neighbour(&self, key: &str) -> Option<&Neighbour> {
        self.rests.iter().filter_map(|rest| rest.neighbour.as_ref()).find(|neighbour| neighbour.key.1 == key)
    }
}

impl Search {
    /// Two searches with equal keys find the same.
    pub fn identity(&self) -> String {
        let Self { table, index, ranges, filter, projection, forward, last_first, consistent, wanted, start, recognise, .. } = self;
        let start = start.as_ref().map(|start| (start.range, start.key.iter().collect::<BTreeMap<_, _>>()));
        let order = (forward, last_first);
        // Items of different types may lie in one range.
        let types: Vec<&str> = recognise.types.iter().map(|marks| marks.item.as_str()).collect();
        format!("{types:?}\0{table}\0{index:?}\0{ranges:?}\0{filter:?}\0{projection:?}\0{order:?}{consistent}{wanted:?}\0{start:?}")
    }

    /// What is found before anything is read.
    pub fn begin(&self) -> Hits {
        let rest = |(position, range): (usize, &Option<KeyRange>)| {
            let start = self.start.as_ref().filter(|start| start.range == position);
            let neighbour = self.neighbour.clone();
            Rest { after: start.map(|start| start.key.clone()), ended: range.is_none(), neighbour, ..Rest::default() }
        };
        Hits { rests: self.ranges.iter().enumerate().map(rest).collect(), ..Hits::default() }
    }

    /// Reads on until there are `wanted` hits in order (`None`: until all are counted), or the data ends.
    pub async fn extend(&self, mut hits: Hits, wanted: Option<u32>, loaders: &Loaders) -> Result<Hits, TableError> {
        let missing = wanted.map(|wanted| (wanted as usize).saturating_sub(hits.items.len()));
        let ranges = self.ranges.iter().zip(std::mem::take(&mut hits.rests));
        let read = try_join_all(ranges.map(|(range, rest)| self.read(range.as_ref(), rest, missing, loaders))).await?;
        for (rest, count) in read {
            hits.rests.push(rest);
            hits.count += count;
        }
        match (missing, hits.rests.as_mut_slice()) {
            (None, _) => {}
            (Some(missing), [only]) => hits.items.extend(only.read.drain(..missing.min(only.read.len()))),
            (Some(missing), _) => self.merge(&mut hits, missing),
        }
        Ok(hits)
    }

    /// Reads a range until `missing` items of it are there.
    async fn read(
        &self,
        range: Option<&KeyRange>,
        mut rest: Rest,
        missing: Option<usize>,
        loaders: &Loaders,
    ) -> Result<(Rest, u64), TableError> {
        let (mut count, mut strangers) = (0, false);
        let (mut pages, mut of_count) = (0, FIRST_COUNT);
        let Some(range) = range else { return Ok((rest, count)) };
        while !rest.ended && missing.is_none_or(|missing| rest.read.len() < missing) {
            let open = missing.map(|missing| u32::try_from(missing - rest.read.len()).unwrap_or(MAX_LIMIT));
            // A single type is mostly by itself; where it turns out not to be, no more round trips are made than with a filter.
            let sparse = self.filter.is_some() || strangers || (self.others && self.recognise.types.len() > 1);
            let limit = match open {
                None => of_count,
                Some(open) if sparse => open.saturating_mul(4).clamp(MIN_FILTERED_LIMIT, MAX_LIMIT),
                Some(open) => open.min(MAX_LIMIT),
            };
            let mut call = self.call(range, limit, rest.after.take());
            if let Some(neighbour) = &rest.neighbour {
                neighbour.widen(&mut call);
            }
            let mut page = loaders.query_after(&call, pages).await?;
            pages += 1;
            if page.scanned >= limit {
                of_count = FURTHER_COUNT;
            }
            (rest.after, rest.ended) = match &mut rest.neighbour {
                Some(neighbour) => neighbour.take(&mut page),
                None => (page.last_key.clone(), page.last_key.is_none()),
            };
            let read = page.items.len();
            let found: Vec<Arc<Item>> = page.items.into_iter().filter(|item| self.belongs(range, item)).collect();
            strangers |= found.len() < read;
            match missing {
                None if self.projection.is_none() => count += u64::from(page.count),
                None => count += found.len() as u64,
                Some(_) => rest.read.extend(found),
            }
        }
        Ok((rest, count))
    }

    fn call(&self, range: &KeyRange, limit: u32, start: Option<Item>) -> Query {
        Query {
            table: self.table.clone(),
            index: self.index.clone(),
            partition: range.partition.clone(),
            sort: range.sort.clone(),
            filter: self.filter.clone(),
            projection: self.projection.clone(),
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
        let begins = match (&self.sort, sort) {
            (Some(template), Some(Attribute::S(text))) => range.is_meant(template, text),
            _ => true,
        };
        // A wider range holds items beside the one that was meant.
        let inside = match (&range.sort, sort) {
            (Some((_, SortCondition::BeginsWith(KeyValue::S(start)))), Some(Attribute::S(text))) => text.starts_with(start.as_str()),
            _ => true,
        };
        within && inside && begins && self.recognise.recognises(item)
    }

    /// Takes the next `missing` items of all ranges, each of which is in order; equal sort keys come in the order of their ranges, or in
    /// the reverse of it.
    fn merge(&self, hits: &mut Hits, missing: usize) {
        for _ in 0..missing {
            let mut best: Option<(usize, Option<KeyValue>)> = None;
            for (position, rest) in hits.rests.iter().enumerate() {
                let Some(item) = rest.read.front() else { continue };
                let key = self.compared(position, item);
                let better = match &best {
                    None => true,
                    Some((_, than)) => self.precedes(key.as_ref(), than.as_ref()),
                };
                if better {
                    best = Some((position, key));
                }
            }
            let Some((position, _)) = best else { break };
            hits.items.extend(hits.rests[position].read.pop_front());
            hits.of_range.push(position);
        }
    }

    fn compared(&self, position: usize, item: &Item) -> Option<KeyValue> {
        self.ranges.get(position)?.as_ref()?.compared(item.get(self.sort_attribute.as_ref()?)?)
    }

    /// Whether an item of a later range comes before one of an earlier range, by their compared keys.
    fn precedes(&self, later: Option<&KeyValue>, earlier: Option<&KeyValue>) -> bool {
        let order = match (later, earlier) {
            (Some(later), Some(earlier)) => compare(later, earlier),
            _ => Ordering::Equal,
        };
        match order {
            Ordering::Equal => self.last_first,
            Ordering::Less => self.forward,
            Ordering::Greater => !self.forward,
        }
    }
}
