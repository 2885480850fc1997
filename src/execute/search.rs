//! One distinct Query of a request: its ranges read page by page until enough is found, and merged in order. What was found can be added
//! to later without reading anything twice.

use super::cursor::Position;
use super::keys::{KeyRange, compare};
use super::span::{Side, Span};
use crate::plan::tree::TypeDiscriminator;
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
pub const MAX_LIMIT: u32 = 1_000;
/// How many items a count reads by its first call: 1 MB, which ends a page, of items of 260 bytes.
const FIRST_COUNT: u32 = 4_000;
/// How many it reads by each further call once the first held so many: 1 MB of items of 16 bytes, smaller than which hardly any is. The
/// embedded store takes up memory for all of them at once, so that this is not asked of it before items are known to be small.
const FURTHER_COUNT: u32 = 64_000;
/// What a filtered Query reads at least, as most of it may not meet the filter.
const MIN_FILTERED_LIMIT: u32 = 50;
/// What a Query reads at least where its range may hold items of other types: ten items of 400 bytes cost as much as one, half a read unit
/// (DynamoDB developer guide, "Read and write operations"), and a single item among them takes one call.
const MIN_MIXED_LIMIT: u32 = 10;

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
    pub discriminator: Arc<TypeDiscriminator>,
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
}

impl Hits {
    /// Whether nothing more can be found.
    pub fn ended(&self) -> bool {
        self.rests.iter().all(|rest| rest.ended && rest.read.is_empty())
    }
}

impl Search {
    /// Two searches with equal keys find the same.
    pub fn identity(&self) -> String {
        let Self { table, index, ranges, filter, projection, forward, last_first, consistent, wanted, start, discriminator, .. } = self;
        let start = start.as_ref().map(|start| (start.range, start.key.iter().collect::<BTreeMap<_, _>>()));
        let order = (forward, last_first);
        // Items of different types may lie in one range.
        let types: Vec<&str> = discriminator.types.iter().map(|marks| marks.item.as_str()).collect();
        format!("{types:?}\0{table}\0{index:?}\0{ranges:?}\0{filter:?}\0{projection:?}\0{order:?}{consistent}{wanted:?}\0{start:?}")
    }

    /// What is found before anything is read.
    pub fn begin(&self) -> Hits {
        let rest = |(position, range): (usize, &Option<KeyRange>)| {
            let start = self.start.as_ref().filter(|start| start.range == position);
            Rest { after: start.map(|start| start.key.clone()), ended: range.is_none(), ..Rest::default() }
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
            let limit = open.map_or(of_count, |open| self.limit(open, strangers));
            let page = loaders.query_after(&self.call(range, limit, rest.after.take()), pages).await?;
            pages += 1;
            if page.scanned >= limit {
                of_count = FURTHER_COUNT;
            }
            (rest.after, rest.ended) = (page.last_key.clone(), page.last_key.is_none());
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

    /// How many items a call reads to find as many as are open; `strangers` tells that it met items of other types.
    pub fn limit(&self, open: u32, strangers: bool) -> u32 {
        // A single type is mostly by itself; where it turns out not to be, no more round trips are made than with a filter.
        let sparse = self.filter.is_some() || strangers || (self.others && self.discriminator.types.len() > 1);
        match sparse {
            true => open.saturating_mul(4).clamp(MIN_FILTERED_LIMIT, MAX_LIMIT),
            false if self.others => open.clamp(MIN_MIXED_LIMIT, MAX_LIMIT),
            false => open.min(MAX_LIMIT),
        }
    }

    /// The only range, and the part of it that is yet to be read; `None` where there are several, or where a place in an index does not
    /// tell the part.
    pub fn span(&self) -> Option<(&KeyRange, Span)> {
        let [Some(range)] = self.ranges.as_slice() else { return None };
        let mut span = Span::of(range.sort.as_ref().map(|(_, condition)| condition));
        if let Some(start) = &self.start {
            let own = self.index.is_none().then_some(self.sort_attribute.as_ref()).flatten();
            let end = Some((KeyValue::of(start.key.get(own?)?)?, false));
            *(if self.forward { &mut span.low } else { &mut span.high }) = end;
        }
        Some((range, span))
    }

    /// What is found in a page that was read for others, too, and is in this order. `last` is where the page ends; `None` is the end of
    /// the data. `None` where the page does not begin with what the search wants first.
    pub fn take(&self, page: &[Arc<Item>], (forward, last): (bool, Option<&Item>), needed: Option<u32>) -> Option<Hits> {
        let (range, span) = self.span()?;
        let sort = |item: &Item| KeyValue::of(item.get(self.sort_attribute.as_ref()?)?);
        let (ahead, end) = if forward { (Side::Above, &span.high) } else { (Side::Below, &span.low) };
        // On a table no other item has the key at the end.
        let is_end = |key: &KeyValue| self.index.is_none() && end.as_ref().is_some_and(|(end, _)| compare(end, key).is_eq());
        let place = |last: &Item| sort(last).map_or((Side::Within, false), |key| (span.side(&key), is_end(&key)));
        let last_place = last.map(place);
        let passed = last_place.is_none_or(|(side, is_end)| side == ahead || is_end);
        if !passed && (forward != self.forward || last_place.is_none_or(|(side, _)| side != Side::Within)) {
            return None;
        }
        let own = page.iter().filter(|item| span.holds(self.sort_attribute.as_ref().and_then(|name| item.get(name))));
        let mut read: VecDeque<Arc<Item>> = own.filter(|item| self.belongs(range, item)).cloned().collect();
        if forward != self.forward {
            read = read.into_iter().rev().collect();
        }
        let count = if self.wanted.is_none() { std::mem::take(&mut read).len() } else { 0 };
        let items = read.drain(..read.len().min(needed.unwrap_or(0) as usize)).collect();
        let rest = Rest { read, after: last.filter(|_| !passed).cloned(), ended: passed };
        Some(Hits { items, of_range: Vec::new(), count: count as u64, rests: vec![rest] })
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
        within && inside && begins && self.discriminator.recognises(item)
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
