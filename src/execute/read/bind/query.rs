//! A planned Query, its ranges and its arguments in; the query to run, and what the field wants of its items, out. Must
//! not know rows.

use crate::execute::arguments::ReadArguments;
use crate::execute::context::ExecutionContext;
use crate::execute::error::Failure;
use crate::execute::item::conditions::Conditions;
use crate::execute::key::range::KeyRange;
use crate::execute::key::resume::ResumePoint;
use crate::execute::page::arguments::Paging;
use crate::execute::page::cursor::{Cursors, Position};
use crate::execute::page::list_identity::List;
use crate::execute::page::result::PageRequest;
use crate::execute::read::admit::ItemGate;
use crate::execute::read::range_query::RangeQuery;
use crate::plan::tree::{QueryBinding, Read, Want};
use crate::table::data::call::Expression;
use std::sync::Arc;

/// A read whose rows are queries.
pub struct QueryRead<'r> {
    /// The read.
    pub read: &'r Read,
    /// What it queries.
    pub query: &'r QueryBinding,
    /// What the caller may see of its items.
    pub gate: &'r ItemGate,
    /// What its arguments ask for.
    pub arguments: &'r ReadArguments<'r>,
}

/// The query of a row and what the field wants of its items. `None` if nothing can be found.
pub type RowQuery = Result<Option<(RangeQuery, PageRequest)>, Arc<Failure>>;

/// The query of these ranges, and what the field wants of its items. `None` if nothing can be found.
pub fn range_query(context: &ExecutionContext<'_>, of: &QueryRead<'_>, ranges: Vec<KeyRange>) -> RowQuery {
    let QueryRead { read, query, gate, arguments } = *of;
    let table = &context.model.tables[read.table];
    let index = read.index.map(|index| table.indexes[index].name.as_str());
    let page = arguments.page.clone();
    let cursors = page.as_ref().map(|_| {
        let list = List {
            coordinate: read.list_of(),
            table: &table.name,
            index,
            ranges: &ranges,
            descending: query.descending,
        };
        Arc::new(Cursors::new(context.cursor_key.clone(), &list, query.position_attributes.clone()))
    });
    let start: Option<Position> = match (&cursors, page.as_ref().and_then(|page| page.from.as_ref())) {
        (Some(cursors), Some(cursor)) => Some(cursors.decode(cursor)?),
        _ => None,
    };
    let backward = page.as_ref().is_some_and(|page| page.backward);
    let wanted = count_wanted(query.want, page.as_ref());
    // A page of size 0 reads an item only to know whether there is one.
    if ranges.is_empty() || wanted == Some(0) {
        return Ok(None);
    }
    let forward = query.descending == backward;
    let sort_attribute = query.key.sort_attribute.as_ref().map(|key| key.name.clone());
    let ranges = match &start {
        None => ranges.into_iter().map(Some).collect(),
        Some(start) => {
            let compared =
                |name: &String| Some((name.clone(), ranges.get(start.range)?.compared(start.key.get(name)?)?));
            let key = sort_attribute.as_ref().and_then(compared);
            ResumePoint { range: start.range, key, ascending: forward, last_first: backward }.rest_of_all(&ranges)
        }
    };
    let sort = query.key.sort.as_ref().filter(|_| ranges.iter().flatten().any(KeyRange::reads_keys)).cloned();
    let is_counted = query.want == Want::Count { looked_at: false };
    let range_query = RangeQuery {
        table: table.name.as_str().into(),
        index: index.map(Arc::from),
        ranges,
        sort,
        sort_attribute,
        filter: if is_counted { counted_filter(gate, arguments) } else { arguments.query_filter.clone() },
        projection: (!is_counted).then(|| read.projection.clone()),
        forward,
        last_first: backward,
        consistent: read.consistent,
        max_age: read.max_age,
        wanted,
        start,
        others: query.others,
        keeps: read.known.is_kept,
        has_twins: read.known.has_twins,
        gate: gate.clone(),
    };
    let filled = wanted.filter(|_| !read.elements().is_empty()).map(|wanted| wanted as usize);
    Ok(Some((range_query, PageRequest { want: query.want, page, cursors, filled })))
}

/// The filter of a count that DynamoDB makes: it leaves out what has expired, too.
fn counted_filter(gate: &ItemGate, arguments: &ReadArguments<'_>) -> Option<Expression> {
    let own = arguments.query_filter.clone();
    let Some(unexpired) = gate.unexpired() else { return own };
    let mut conditions = Conditions::default();
    own.into_iter().for_each(|own| conditions.and(own));
    conditions.extend(Some(unexpired));
    conditions.build()
}

/// How many items are enough for the field. `None` if it needs all of them.
fn count_wanted(want: Want, page: Option<&Paging>) -> Option<u32> {
    match (want, page) {
        (Want::First, _) => Some(1),
        (Want::Whole { max }, _) => Some(max.saturating_add(1)),
        (Want::Page { probe, .. }, Some(page)) => Some(page.size.saturating_add(u32::from(probe))),
        (Want::Page { .. }, None) | (Want::Count { .. }, _) => None,
    }
}
