//! A planned Query for one row → a search, and how its hits become items and a page.

use super::context::ExecutionContext;
use super::cursor::{Cursors, Position};
use super::cut::Cut;
use super::error::ErrorCode;
use super::filter::{self, Scope, Sieve};
use super::keys::{self, KeyRange};
use super::list_identity::List;
use super::paging::{Paging, paging};
use super::search::{Hits, Search};
use super::state::{Failure, Found, PageOf, State};
use crate::plan::passes::shared_query::Reaches;
use crate::plan::tree::{ArgumentsId, QueryBinding, Read, Want};
use crate::schema::condition::Condition;
use crate::schema::table::Table;
use crate::table::attribute::Item;
use crate::table::call::Expression;
use std::sync::Arc;

/// How the hits of a search are to be understood.
pub struct Wanted {
    want: Want,
    page: Option<Paging>,
    cursors: Option<Arc<Cursors>>,
    /// Of a page whose items only lead to its elements, which may be missing: how many items are looked at first.
    filled: Option<usize>,
}

/// The search of a read for a row; `None` where nothing can be found.
pub fn wanted(
    context: &ExecutionContext<'_>,
    state: &State<'_>,
    read: &Read,
    query: &QueryBinding,
    row: usize,
) -> Result<Option<(Search, Wanted)>, Arc<Failure>> {
    let table = &context.model.tables[read.table];
    let mut ranges = Vec::new();
    for values in keys::combinations(state, (table, &query.key), read.space, row)? {
        let range = keys::range(state, (table, read.index), query, &values, (read.space, row))?;
        ranges.extend(range.filter(|range| !ranges.contains(range)));
    }
    let page = match query.want {
        Want::Page { arguments, sizes, .. } => {
            let values = state.arguments[arguments].as_ref().map_err(Clone::clone)?;
            Some(paging(values, &state.plan.arguments[arguments].given, sizes)?)
        }
        _ => None,
    };
    let cursors = page.as_ref().map(|_| {
        let attributes = key_attributes(table, read.index);
        let index = read.index.map(|index| table.indexes[index].name.as_str());
        let list = List { coordinate: &read.page_of, table: &table.name, index, ranges: &ranges, descending: query.descending };
        Arc::new(Cursors::new(context.cursor_key.clone(), &list, attributes))
    });
    let start: Option<Position> = match (&cursors, page.as_ref().and_then(|page| page.from.as_ref())) {
        (Some(cursors), Some(cursor)) => Some(cursors.decode(cursor)?),
        _ => None,
    };
    let backward = page.as_ref().is_some_and(|page| page.backward);
    let wanted = match (query.want, &page) {
        (Want::First, _) => Some(1),
        (Want::Whole { max }, _) => Some(max.saturating_add(1)),
        (Want::Page { probe, .. }, Some(page)) => Some(page.size.saturating_add(u32::from(probe))),
        (Want::Page { .. }, None) | (Want::Count { .. }, _) => None,
    };
    // A page of nothing reads an item only to tell whether there is one.
    if ranges.is_empty() || wanted == Some(0) {
        return Ok(None);
    }
    let forward = query.descending == backward;
    let search = Search {
        table: table.name.as_str().into(),
        index: read.index.map(|index| table.indexes[index].name.as_str().into()),
        ranges: left(ranges, start.as_ref(), query.key.sort_attribute.as_deref(), (forward, backward)),
        sort: query.key.sort.clone(),
        sort_attribute: query.key.sort_attribute.clone(),
        filter: filter_of(context, state, query.filter.as_ref())?,
        projection: (query.want != Want::Count { looked_at: false }).then(|| read.projection.clone()),
        forward,
        last_first: backward,
        consistent: read.consistent,
        wanted,
        start,
        others: query.others,
        discriminator: read.discriminator.clone(),
    };
    let filled = wanted.filter(|_| !read.elements.is_empty()).map(|wanted| wanted as usize);
    Ok(Some((search, Wanted { want: query.want, page, cursors, filled })))
}

/// What is left of each range after a position; the position's own goes on behind its key.
fn left(
    ranges: Vec<KeyRange>,
    start: Option<&Position>,
    sort: Option<&str>,
    (ascending, last_first): (bool, bool),
) -> Vec<Option<KeyRange>> {
    let Some(start) = start else { return ranges.into_iter().map(Some).collect() };
    let compared = |name: &str| Some((name.to_owned(), ranges.get(start.range)?.compared(start.key.get(name)?)?));
    let cut = Cut { range: start.range, key: sort.and_then(compared), ascending, last_first };
    let left =
        |(position, range): (usize, &KeyRange)| if position == start.range { Some(range.clone()) } else { cut.rest_of(position, range) };
    ranges.iter().enumerate().map(left).collect()
}

/// The filter of a read by keys, which the gateway evaluates; `None` where it has none.
pub fn sieve<'a>(context: &'a ExecutionContext<'_>, state: &'a State<'_>, read: &Read) -> Result<Option<Sieve<'a>>, Arc<Failure>> {
    let Some((condition, arguments)) = &read.filter else { return Ok(None) };
    let arguments = state.arguments[*arguments].as_ref().map_err(Clone::clone)?;
    let sieve = Sieve::new(condition, Scope { arguments, now: context.now });
    sieve.map(Some).map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
}

fn filter_of(
    context: &ExecutionContext<'_>,
    state: &State<'_>,
    filter: Option<&(Condition, ArgumentsId)>,
) -> Result<Option<Expression>, Arc<Failure>> {
    let Some((condition, arguments)) = filter else { return Ok(None) };
    let arguments = state.arguments[*arguments].as_ref().map_err(Clone::clone)?;
    let scope = Scope { arguments, now: context.now };
    filter::expression(condition, &scope).map_err(|message| Failure::new(ErrorCode::BadUserInput, message))
}

/// The key attributes of the table and of the index, each once: what a position in the index is made of.
fn key_attributes(table: &Table, index: Option<usize>) -> Vec<String> {
    let mut names: Vec<String> = table.primary_key().map(|key| key.name.clone()).collect();
    let (partition, sort) = table.keys_of(index);
    for key in std::iter::once(partition).chain(sort) {
        if !names.contains(&key.name) {
            names.push(key.name.clone());
        }
    }
    names
}

/// Why a plain list is not given.
pub fn too_long(max: u32) -> Arc<Failure> {
    Failure::new(ErrorCode::LimitExceeded, format!("There are more than {max} items in this list, and it has no pages."))
}

impl Wanted {
    /// Whether what is wanted reaches to the end of its range, as far as it tells.
    pub fn reaches(&self) -> Reaches {
        match (self.want, &self.page) {
            (Want::Whole { .. }, _) => Reaches::Always,
            (Want::Page { .. }, Some(page)) => Reaches::of_page(page.size),
            (Want::Page { .. } | Want::Count { .. }, _) => Reaches::Mostly,
            (Want::First, _) => Reaches::Rarely,
        }
    }

    /// Whether all of the range is wanted, in whichever order.
    pub fn wants_all(&self) -> bool {
        matches!(self.want, Want::Whole { .. } | Want::Count { .. })
    }

    /// The items of the field and what is known of them as a page. `leads_nowhere` tells the items whose elements are known to be
    /// missing.
    pub fn understand(&self, hits: &Hits, leads_nowhere: &dyn Fn(&Item) -> bool) -> (Vec<Found>, PageOf) {
        if let (Some(first), Some(paging)) = (self.filled, &self.page) {
            let leading: Vec<usize> = (0..hits.items.len()).filter(|position| !leads_nowhere(&hits.items[*position])).collect();
            let reserve = hits.items.len() - leading.len();
            return self.fill(hits, paging, leading.into_iter().take(first + reserve).collect());
        }
        let mut page = PageOf { count: hits.count, ..PageOf::default() };
        let mut items: Vec<Found> = hits.items.iter().cloned().map(Found::Item).collect();
        match (self.want, &self.page) {
            (Want::Whole { max }, _) if items.len() as u64 > u64::from(max) => {
                items.clear();
                page.failure = Some(too_long(max));
            }
            (Want::Page { .. }, Some(paging)) => {
                let size = paging.size as usize;
                page = self.page(paging, items.len() > size);
                items.truncate(size);
                page.of_range = hits.of_range.iter().copied().take(size).collect();
                if paging.backward {
                    items.reverse();
                    page.of_range.reverse();
                }
            }
            _ => {}
        }
        (items, page)
    }

    fn page(&self, paging: &Paging, more: bool) -> PageOf {
        let continued = paging.from.is_some();
        let (has_next, has_previous) = if paging.backward { (continued, more) } else { (more, continued) };
        PageOf { has_next, has_previous, cursors: self.cursors.clone(), ..PageOf::default() }
    }

    /// A page of the hits that lead somewhere, as far as is known. The rest stands behind it, to take the place of those that turn out
    /// not to.
    fn fill(&self, hits: &Hits, paging: &Paging, mut positions: Vec<usize>) -> (Vec<Found>, PageOf) {
        let shown = positions.len().min(paging.size as usize);
        let mut page = self.page(paging, positions.len() > shown);
        if paging.backward {
            positions[..shown].reverse();
        }
        page.shown = Some(shown);
        page.of_range = positions.iter().filter_map(|position| hits.of_range.get(*position).copied()).collect();
        (positions.into_iter().map(|position| Found::Item(hits.items[position].clone())).collect(), page)
    }
}
