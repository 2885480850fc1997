//! A planned read and the values of its key for a row in; the keys to get, or the query to run and what the field wants of its items, out.

use super::arguments::FieldArguments;
use super::range_query::RangeQuery;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::key::bind_range::key_range;
use crate::execute::key::bound::BoundKey;
use crate::execute::key::combinations::combinations;
use crate::execute::key::range::KeyRange;
use crate::execute::key::resume::ResumePoint;
use crate::execute::key::values::primary_key;
use crate::execute::page::arguments::{Paging, paging};
use crate::execute::page::cursor::{Cursors, Position};
use crate::execute::page::list_identity::List;
use crate::execute::page::result::PageRequest;
use crate::plan::tree::{KeyBinding, QueryBinding, Read, Want};
use crate::table::data::attribute::Key;
use std::collections::HashSet;
use std::sync::Arc;

/// The keys of a read for a row; `None` stands for a key that no item can have.
pub fn item_keys(read: &Read, binding: &KeyBinding, key: BoundKey) -> Result<Vec<Option<Key>>, Arc<Failure>> {
    let combinations = combinations(binding, key.fields)?;
    let mut keys: Vec<Option<Key>> = combinations.iter().map(|values| primary_key(binding, values)).collect();
    if !read.answers_each_value {
        // A list has each item once, where its value comes first.
        let mut seen = HashSet::new();
        keys.retain(|key| seen.insert(key.clone()));
    }
    Ok(keys)
}

/// The query of a read for a row, and what the field wants of its items. `None` if nothing can be found.
pub fn range_query(
    context: &ExecutionContext<'_>,
    arguments: &FieldArguments<'_>,
    read: &Read,
    query: &QueryBinding,
    key: BoundKey,
) -> Result<Option<(RangeQuery, PageRequest)>, Arc<Failure>> {
    let table = &context.model.tables[read.table];
    let mut ranges = Vec::new();
    for values in combinations(&query.key, key.fields)? {
        let range = key_range(query, &values, key.range.as_ref());
        ranges.extend(range.filter(|range| !ranges.contains(range)));
    }
    let page = page_of(arguments, query)?;
    let cursors = page.as_ref().map(|_| {
        let index = read.index.map(|index| table.indexes[index].name.as_str());
        let list = List { coordinate: &read.page_of, table: &table.name, index, ranges: &ranges, descending: query.descending };
        Arc::new(Cursors::new(context.cursor_key.clone(), &list, query.position_attributes.clone()))
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
    // A page of size 0 reads an item only to tell whether there is one.
    if ranges.is_empty() || wanted == Some(0) {
        return Ok(None);
    }
    let forward = query.descending == backward;
    let range_query = RangeQuery {
        table: table.name.as_str().into(),
        index: read.index.map(|index| table.indexes[index].name.as_str().into()),
        ranges: remaining(ranges, start.as_ref(), query.key.sort_attribute.as_ref().map(|key| key.name.as_str()), (forward, backward)),
        sort: query.key.sort.clone(),
        sort_attribute: query.key.sort_attribute.as_ref().map(|key| key.name.clone()),
        filter: arguments.query_filter(context, query)?,
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
    Ok(Some((range_query, PageRequest { want: query.want, page, cursors, filled })))
}

/// The page that a field's arguments ask for; `None` for a read of no page.
pub fn page_of(arguments: &FieldArguments<'_>, query: &QueryBinding) -> Result<Option<Paging>, Arc<Failure>> {
    match query.want {
        Want::Page { arguments: id, sizes, .. } => paging(arguments.values(id)?, arguments.given(id), sizes).map(Some),
        _ => Ok(None),
    }
}

/// What remains of each range after a position. The range of the position itself resumes after its key.
fn remaining(
    ranges: Vec<KeyRange>,
    start: Option<&Position>,
    sort: Option<&str>,
    (ascending, last_first): (bool, bool),
) -> Vec<Option<KeyRange>> {
    let Some(start) = start else { return ranges.into_iter().map(Some).collect() };
    let compared = |name: &str| Some((name.to_owned(), ranges.get(start.range)?.compared(start.key.get(name)?)?));
    let cut = ResumePoint { range: start.range, key: sort.and_then(compared), ascending, last_first };
    let remaining =
        |(position, range): (usize, &KeyRange)| if position == start.range { Some(range.clone()) } else { cut.rest_of(position, range) };
    ranges.iter().enumerate().map(remaining).collect()
}
