//! A distinct query of a request: reads its ranges page by page until it has enough items, and merges them in order. It
//! can fetch more later without reading anything twice.

use super::admit::{ItemGate, VisibleItem};

use crate::execute::context::ExecutionContext;
use crate::execute::key::range::KeyRange;
use crate::execute::key::span::{KeySpan, SpanSide};
use crate::execute::key::values::compare;
use crate::execute::page::cursor::Position;
use crate::execute::page::result::FoundItems;
use crate::execute::page::yields::{FOUND_AMONG, RangeKind, UsualPage};
use crate::schema::template::Template;
use crate::table::data::attribute::{Attribute, AttributeNames, Item, KeyValue};
use crate::table::data::call::{Expression, Get, Query, SortCondition};
use crate::table::data::error::TableError;
use futures_util::future::try_join_all;
use indexmap::IndexMap;
use std::cmp::Ordering;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The most items that one call reads; a page of 1,000 small items stays far below DynamoDB's 1 MB.
pub const MAX_LIMIT: u32 = 1_000;
/// How many items the first call of a count reads: 1 MB, which ends a page, holds that many items of 260 bytes.
const FIRST_COUNT: u32 = 4_000;
/// How many items each further call reads after a full first one: 1 MB holds that many items of 16 bytes, and hardly
/// any are smaller. The embedded store allocates memory for all of them, so the first call asks for fewer.
const FURTHER_COUNT: u32 = 64_000;
/// The least that a filtered Query reads, since most items may not meet the filter.
const MIN_FILTERED_LIMIT: u32 = 50;
/// The least that a Query reads if its range may hold items of other types. Ten items of 400 bytes cost as much as one,
/// half a read unit (DynamoDB developer guide, "Read and write operations"), and one call then gets past a few other
/// items.
const MIN_LIMIT_AMONG_OTHERS: u32 = 10;

/// A query over one or more ranges of a table or an index.
#[derive(Debug)]
pub struct RangeQuery {
    /// The table.
    pub table: Arc<str>,
    /// The index.
    pub index: Option<Arc<str>>,
    /// The ranges, in the order of the values that made them. No two hold the same item. `None`: nothing of the range
    /// remains.
    pub ranges: Vec<Option<KeyRange>>,
    /// The sort key's template, if keys of a range have to be read back.
    pub sort: Option<Template>,
    /// The sort key attribute.
    pub sort_attribute: Option<String>,
    /// The filter that DynamoDB applies to the items that it read.
    pub filter: Option<Expression>,
    /// The attributes to read; `None` counts the items without reading them.
    pub projection: Option<AttributeNames>,
    /// Whether to read in ascending order of the sort key.
    pub forward: bool,
    /// Break ties by descending range position: for paging backward.
    pub last_first: bool,
    /// Whether to read strongly.
    pub consistent: bool,
    /// The greatest age in seconds of what the cache may answer.
    pub max_age: Option<u32>,
    /// How many items are wanted at first; `None` counts all of them.
    pub wanted: Option<u32>,
    /// The position to resume at: its range starts after its key.
    pub start: Option<Position>,
    /// Whether items of other types may lie within the ranges.
    pub others: bool,
    /// Whether its items are remembered for later reads.
    pub keeps: bool,
    /// Whether other queries may read the same ranges.
    pub has_twins: bool,
    /// Distinguishes the items that the caller may see from others.
    pub gate: ItemGate,
}

/// What a query found so far. It grows at its end only.
#[derive(Debug, Default)]
pub struct QueryResult {
    /// The items in order.
    pub items: Vec<VisibleItem>,
    /// For several ranges, the range of each item.
    pub of_range: Vec<usize>,
    /// The number of items, if they are only counted.
    pub count: u64,
    progress: Vec<RangeProgress>,
}

/// A range of a query that another one has read, to its end or as far as is wanted.
pub struct KnownRange<'r> {
    /// The position of the range among those of the query that asks.
    pub asked: usize,
    /// What the other query found.
    pub result: &'r QueryResult,
    /// The position of the range among those of the other query.
    pub position: usize,
    /// The order of the other query.
    pub forward: bool,
}

/// What a page has of a range.
#[derive(Debug)]
pub struct RangePart {
    progress: RangeProgress,
    count: u64,
}

/// How far a range was read.
#[derive(Debug, Default)]
struct RangeProgress {
    /// How many of its items are in the result.
    given: usize,
    /// Items that were read and are not yet in the result, in order.
    read: VecDeque<VisibleItem>,
    /// The key after which to continue.
    after: Option<Item>,
    /// Whether there is nothing more to read.
    ended: bool,
}

impl QueryResult {
    /// The items as a page takes them.
    pub fn found(&self) -> FoundItems<'_, VisibleItem> {
        FoundItems { items: &self.items, of_range: &self.of_range, count: self.count }
    }

    /// All items that were read, each with the position of its range. Those of one range are in order.
    fn found_by_range(&self) -> impl Iterator<Item = (usize, &VisibleItem)> {
        let given = self.items.iter().enumerate();
        let given = given.map(|(at, item)| (self.of_range.get(at).copied().unwrap_or_default(), item));
        let read = self.progress.iter().map(|progress| &progress.read).enumerate();
        given.chain(read.flat_map(|(range, read)| read.iter().map(move |item| (range, item))))
    }

    /// Whether the range at a position was read to its end.
    pub fn has_read_all(&self, range: usize) -> bool {
        self.progress.get(range).is_some_and(|progress| progress.ended)
    }

    /// How many items were read of the range at a position, from its beginning on.
    pub fn read_of(&self, range: usize) -> usize {
        self.progress.get(range).map_or(0, |progress| progress.given + progress.read.len())
    }

    /// Whether nothing more can be found.
    pub fn has_ended(&self) -> bool {
        self.progress.iter().all(|progress| progress.ended && progress.read.is_empty())
    }
}

impl RangeQuery {
    /// What it finds, by what other queries have found of its ranges. It reads on where they stopped.
    pub fn answer(&self, known: &[KnownRange<'_>]) -> QueryResult {
        let part = |_| RangePart { progress: RangeProgress { ended: true, ..RangeProgress::default() }, count: 0 };
        let mut parts: Vec<RangePart> = self.ranges.iter().map(part).collect();
        for KnownRange { asked, result, position, .. } in known {
            let (Some(part), Some(of)) = (parts.get_mut(*asked), result.progress.get(*position)) else { continue };
            (part.progress.after, part.progress.ended) = (of.after.clone(), of.ended);
        }
        // Many ranges are mostly those of one query, whose items are gone through once.
        let mut of_results: IndexMap<*const QueryResult, Vec<&KnownRange<'_>>> = IndexMap::new();
        known.iter().for_each(|range| of_results.entry(std::ptr::from_ref(range.result)).or_default().push(range));
        for ranges in of_results.into_values() {
            let of: HashMap<usize, &KnownRange<'_>> = ranges.iter().map(|range| (range.position, *range)).collect();
            for (position, item) in ranges.iter().take(1).flat_map(|range| range.result.found_by_range()) {
                let Some(range) = of.get(&position) else { continue };
                let Some(RangePart { progress, count }) = parts.get_mut(range.asked) else { continue };
                match (self.wanted, range.forward == self.forward) {
                    (None, _) => *count += 1,
                    (Some(_), true) => progress.read.push_back(item.clone()),
                    (Some(_), false) => progress.read.push_front(item.clone()),
                }
            }
        }
        self.join(parts, self.wanted)
    }

    /// The result before anything is read.
    pub fn begin(&self) -> QueryResult {
        let progress = |(position, range): (usize, &Option<KeyRange>)| {
            let start = self.start.as_ref().filter(|start| start.range == position);
            RangeProgress {
                after: start.map(|start| start.key.clone()),
                ended: range.is_none(),
                ..RangeProgress::default()
            }
        };
        QueryResult { progress: self.ranges.iter().enumerate().map(progress).collect(), ..QueryResult::default() }
    }

    /// Reads on until there are `wanted` items (`None`: until all are counted), or the data ends.
    pub async fn fetch_more(
        &self,
        mut result: QueryResult,
        wanted: Option<u32>,
        context: &ExecutionContext<'_>,
    ) -> Result<QueryResult, TableError> {
        let missing = wanted.map(|wanted| (wanted as usize).saturating_sub(result.items.len()));
        let ranges = self.ranges.iter().zip(std::mem::take(&mut result.progress));
        let read =
            try_join_all(ranges.map(|(range, progress)| self.read(range.as_ref(), progress, missing, context))).await?;
        for (progress, count) in read {
            result.progress.push(progress);
            result.count += count;
        }
        self.take_read(&mut result, missing);
        Ok(result)
    }

    /// Adds what was read to the items, until there are `missing` more. Several ranges are merged once each has as
    /// many, or has ended.
    fn take_read(&self, result: &mut QueryResult, missing: Option<usize>) {
        match (missing, result.progress.as_mut_slice()) {
            (None, _) => {}
            (Some(missing), [only]) => {
                let taken = missing.min(only.read.len());
                only.given += taken;
                result.items.extend(only.read.drain(..taken));
            }
            (Some(missing), all) => {
                if all.iter().all(|progress| progress.ended || progress.read.len() >= missing) {
                    self.merge(result, missing);
                }
            }
        }
    }

    /// Reads a range until it has `missing` more items.
    async fn read(
        &self,
        range: Option<&KeyRange>,
        mut progress: RangeProgress,
        missing: Option<usize>,
        context: &ExecutionContext<'_>,
    ) -> Result<(RangeProgress, u64), TableError> {
        let (mut count, mut strangers) = (0, false);
        let (mut pages, mut of_count) = (0, FIRST_COUNT);
        let Some(range) = range else { return Ok((progress, count)) };
        let kind = missing.and_then(|_| self.kind(context));
        while !progress.ended && missing.is_none_or(|missing| progress.read.len() < missing) {
            let open = missing.map(|missing| u32::try_from(missing - progress.read.len()).unwrap_or(MAX_LIMIT));
            let limit = match (open, kind) {
                (None, _) => of_count,
                (Some(open), Some(kind)) if pages == 0 => {
                    let (first, sparse) = (self.limit(open, false), self.limit(open, true));
                    let usual = UsualPage { first, sparse, least: MIN_LIMIT_AMONG_OTHERS };
                    context.yields.first_page(kind, open, usual).min(MAX_LIMIT)
                }
                (Some(open), _) => self.limit(open, strangers),
            };
            let before =
                if progress.after.is_none() && missing.is_some() { range.excluded_first(self.forward) } else { 0 };
            let limit = limit.saturating_add(before);
            let call = self.call(range, limit, progress.after.take());
            if pages > 0 {
                context.loaders.may_read_on().await;
            }
            let page = context.loaders.query_after(&call, pages, self.keeps).await?;
            pages += 1;
            if page.scanned >= limit {
                of_count = FURTHER_COUNT;
            }
            progress.ended = page.last_key.as_ref().is_none_or(|last| self.ends_with(range, last));
            progress.after = page.last_key.clone();
            self.gate.look_up(context, page.items.iter()).await?;
            let read = page.items.len();
            let found: Vec<VisibleItem> = page.items.iter().filter_map(|item| self.visible(range, item)).collect();
            strangers |= found.len() < read;
            if let Some(kind) = kind {
                context.yields.add(kind, page.scanned, found.len());
            }
            match missing {
                None if self.projection.is_none() => count += u64::from(page.count),
                None => count += found.len() as u64,
                Some(_) => progress.read.extend(found),
            }
        }
        Ok((progress, count))
    }

    /// Whether a page that ends with this key has all of a range. No other item of a table has the key of the bound.
    fn ends_with(&self, range: &KeyRange, last: &Item) -> bool {
        let KeySpan { low, high } = KeySpan::new(range.sort.as_ref().map(|(_, condition)| condition));
        let end = if self.forward { high } else { low };
        let sort = || KeyValue::new(last.get(self.sort_attribute.as_ref()?)?);
        self.index.is_none() && end.zip(sort()).is_some_and(|((end, _), sort)| compare(&end, &sort).is_eq())
    }

    /// The key attributes that all items of each range have.
    pub fn known_keys(&self) -> impl Iterator<Item = Item> {
        let known = |range: &KeyRange| {
            let whole = range.partition.iter().chain(&range.equal);
            range.partition.is_some().then(|| Item::from_iter(whole.cloned().map(|(name, value)| (name, value.into()))))
        };
        self.ranges.iter().flatten().filter_map(known)
    }

    /// Whether rules look up items for its items.
    pub fn looks_up(&self) -> bool {
        self.gate.types().lookups() > 0
    }

    /// Looks up what rules demand for those items of a page that was read for others, too, that are its own.
    pub async fn look_up(&self, page: &[Arc<Item>], context: &ExecutionContext<'_>) -> Result<(), TableError> {
        let is_own = |item: &&Arc<Item>| {
            self.gate.types().recognises(item)
                && self.ranges.iter().flatten().any(|range| self.is_in_range(range, item))
        };
        self.gate.look_up(context, page.iter().filter(is_own)).await
    }

    /// Whether the query brings what a Get asks for, if it reads its ranges to their ends. What the cache may answer
    /// brings nothing.
    pub fn covers(&self, get: &Get) -> bool {
        let Get { table, key, projection, consistent, .. } = get;
        let within = |range: &KeyRange| {
            let is_partition =
                range.partition.as_ref().is_some_and(|(_, value)| compare(value, &key.partition.1).is_eq());
            let span = || KeySpan::new(range.sort.as_ref().map(|(_, condition)| condition));
            is_partition && key.sort.as_ref().is_none_or(|(_, sort)| span().side(sort) == SpanSide::Within)
        };
        let is_whole = self.max_age.is_none() && self.index.is_none() && self.filter.is_none() && self.start.is_none();
        let is_fresh = self.consistent || !consistent;
        let has = |own: &AttributeNames| projection.iter().all(|name| own.binary_search(name).is_ok());
        let is_remembered = self.keeps && self.table == *table && self.projection.as_ref().is_some_and(has);
        is_whole && is_fresh && is_remembered && self.ranges.iter().flatten().any(within)
    }

    /// The kind of its ranges, of which the process learns what a page yields; `None` if each item is wanted, or if the
    /// cache may answer, which knows pages by their length.
    fn kind(&self, context: &ExecutionContext<'_>) -> Option<RangeKind> {
        let learns = (self.filter.is_some() || self.others) && self.max_age.is_none() && context.yields.learns();
        let filter = self.filter.as_ref().map(|filter| (&filter.text, &filter.names));
        let types = || self.gate.types().types.iter().map(|marks| marks.item.as_str()).collect::<Vec<_>>();
        learns.then(|| context.yields.kind((&self.table, &self.index, filter, types())))
    }

    /// How many items a call reads to find `open` items. `strangers`: it has met items of other types.
    pub fn limit(&self, open: u32, strangers: bool) -> u32 {
        // The items of a single type mostly lie side by side. If they do not, a read takes no more round trips than one
        // with a filter.
        let sparse = self.filter.is_some() || strangers || (self.others && self.gate.types().types.len() > 1);
        match sparse {
            // What has expired may lie side by side, as the sessions of a user do.
            true if strangers && self.gate.expires() => MAX_LIMIT,
            true => open.saturating_mul(FOUND_AMONG).clamp(MIN_FILTERED_LIMIT, MAX_LIMIT),
            false if self.others => open.clamp(MIN_LIMIT_AMONG_OTHERS, MAX_LIMIT),
            false => open.min(MAX_LIMIT),
        }
    }

    /// Its ranges, each with the part of it that remains to be read. None if it resumes in one of several ranges, or if
    /// a position in an index does not show the part.
    pub fn spans(&self) -> impl Iterator<Item = (&KeyRange, KeySpan)> {
        let is_shown = self.ranges.len() == 1 || self.start.is_none();
        let spans: Option<Vec<_>> =
            if is_shown { (0..self.ranges.len()).map(|range| self.span(range)).collect() } else { None };
        spans.into_iter().flatten()
    }

    /// A range, and the part of it that remains to be read.
    fn span(&self, range: usize) -> Option<(&KeyRange, KeySpan)> {
        let range = self.ranges.get(range)?.as_ref()?;
        let mut span = KeySpan::new(range.sort.as_ref().map(|(_, condition)| condition));
        if let Some(start) = &self.start {
            let own = self.index.is_none().then_some(self.sort_attribute.as_ref()).flatten();
            let end = Some((KeyValue::new(start.key.get(own?)?)?, false));
            *(if self.forward { &mut span.low } else { &mut span.high }) = end;
        }
        Some((range, span))
    }

    /// A page of a shared Query in, in the order of `forward`; its part of a range out. `last` is the key at which the
    /// page ends; `None` is the end of the data. The result is `None` if the page does not begin with the items that
    /// the query wants first.
    pub fn take(&self, range: usize, page: &[Arc<Item>], (forward, last): (bool, Option<&Item>)) -> Option<RangePart> {
        let (range, span) = self.span(range)?;
        let sort = |item: &Item| KeyValue::new(item.get(self.sort_attribute.as_ref()?)?);
        let (ahead, end) = if forward { (SpanSide::Above, &span.high) } else { (SpanSide::Below, &span.low) };
        // No other item of a table has the key of the bound.
        let is_end =
            |key: &KeyValue| self.index.is_none() && end.as_ref().is_some_and(|(end, _)| compare(end, key).is_eq());
        let place = |last: &Item| sort(last).map_or((SpanSide::Within, false), |key| (span.side(&key), is_end(&key)));
        let last_place = last.map(place);
        let passed = last_place.is_none_or(|(side, is_end)| side == ahead || is_end);
        if !passed && (forward != self.forward || last_place.is_none_or(|(side, _)| side != SpanSide::Within)) {
            return None;
        }
        let own = page.iter().filter(|item| span.holds(self.sort_attribute.as_ref().and_then(|name| item.get(name))));
        let mut read: VecDeque<VisibleItem> = own.filter_map(|item| self.visible(range, item)).collect();
        if forward != self.forward {
            read = read.into_iter().rev().collect();
        }
        let count = if self.wanted.is_none() { std::mem::take(&mut read).len() } else { 0 };
        let progress = RangeProgress { given: 0, read, after: last.filter(|_| !passed).cloned(), ended: passed };
        Some(RangePart { progress, count: count as u64 })
    }

    /// The result from what pages have of each range.
    pub fn join(&self, parts: Vec<RangePart>, needed: Option<u32>) -> QueryResult {
        let mut result = QueryResult { count: parts.iter().map(|part| part.count).sum(), ..QueryResult::default() };
        result.progress = parts.into_iter().map(|part| part.progress).collect();
        self.take_read(&mut result, needed.map(|needed| needed as usize));
        result
    }

    fn call(&self, range: &KeyRange, limit: u32, start: Option<Item>) -> Query {
        Query {
            table: self.table.clone(),
            index: self.index.clone(),
            partition: range.partition.clone(),
            equal: range.equal.clone(),
            sort: range.sort.clone(),
            filter: self.filter.clone(),
            projection: self.projection.clone(),
            forward: self.forward,
            limit,
            start,
            consistent: self.consistent,
            max_age: self.max_age,
        }
    }

    /// An item that is really within the range, if the caller may see it.
    #[inline]
    fn visible(&self, range: &KeyRange, item: &Arc<Item>) -> Option<VisibleItem> {
        self.is_in_range(range, item).then(|| VisibleItem::in_range(&self.gate, item)).flatten()
    }

    /// Whether an item is really within the range: a key condition may let in more.
    #[inline]
    fn is_in_range(&self, range: &KeyRange, item: &Item) -> bool {
        let sort = self.sort_attribute.as_ref().and_then(|name| item.get(name));
        let within = sort.is_none_or(|sort| !range.excludes(sort));
        let begins = match (&self.sort, sort) {
            (Some(template), Some(Attribute::S(text))) => range.is_meant(template, text),
            _ => true,
        };
        // A shared Query has a wider range than this one.
        let inside = match (&range.sort, sort) {
            (Some((_, SortCondition::BeginsWith(KeyValue::S(start)))), Some(Attribute::S(text))) => {
                text.starts_with(start.as_str())
            }
            _ => true,
        };
        within && inside && begins
    }

    /// Merges the next `missing` items of all ranges, each of which is in order. Items with equal sort keys come in the
    /// order of their ranges, or in reverse.
    fn merge(&self, result: &mut QueryResult, missing: usize) {
        for _ in 0..missing {
            let mut best: Option<(usize, Option<KeyValue>)> = None;
            for (position, progress) in result.progress.iter().enumerate() {
                let Some(item) = progress.read.front() else { continue };
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
            result.progress[position].given += 1;
            result.items.extend(result.progress[position].read.pop_front());
            result.of_range.push(position);
        }
    }

    fn compared(&self, position: usize, item: &Item) -> Option<KeyValue> {
        self.ranges.get(position)?.as_ref()?.compared(item.get(self.sort_attribute.as_ref()?)?)
    }

    /// Whether an item of a later range comes before an item of an earlier one, by their compared keys.
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
