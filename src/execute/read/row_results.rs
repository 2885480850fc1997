//! The requests of a read's rows and what the wave found for them in; the items and the page of each row out. Must not
//! know the state.

use super::admit::{ItemGate, VisibleItem};
use super::requests::{ReadRequests, RowRequest};
use super::results::WaveResults;
use super::state::ItemState;
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::filter::ItemFilter;
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::{PageResult, list_too_long};
use crate::plan::tree::{Read, ReadAction};
use smallvec::SmallVec;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a read found for one row.
#[derive(Default)]
pub struct RowResult {
    /// The items; of a read by keys, one for each key.
    pub items: SmallVec<[ItemState; 1]>,
    /// What is known of them as a page or a list.
    pub page: PageResult,
}

impl RowResult {
    fn failed(why: Arc<Failure>) -> Self {
        Self { items: SmallVec::new(), page: PageResult::failed(why) }
    }
}

/// What a read found for each row of its space.
pub fn row_results(
    context: &ExecutionContext<'_>,
    requests: ReadRequests<'_>,
    results: &WaveResults<'_>,
    filler: &PageFiller,
) -> Vec<RowResult> {
    let ReadRequests { id, read, gate, filter, rows } = requests;
    let row_result = |row: RowRequest| match row {
        RowRequest::Absent => RowResult::default(),
        RowRequest::Failed(why) => RowResult::failed(why),
        RowRequest::Gets(positions) => {
            // To collect them would take longer, as most rows have one.
            let mut items = SmallVec::with_capacity(positions.len());
            for position in positions {
                items.push(item((context, &gate), filter.as_ref(), results, position));
            }
            within_maximum(read, items)
        }
        RowRequest::Query(position, page) => match results.query(position) {
            Some(Ok(found)) => {
                let table = &context.model.tables[read.table];
                let (items, page) = page
                    .into_page(&found.found(), &|item: &VisibleItem| filler.is_dangling(id, || key_of(table, item)));
                RowResult { items: items.into_iter().map(ItemState::Item).collect(), page }
            }
            Some(Err(why)) => RowResult::failed(why.clone()),
            None => RowResult::default(),
        },
    };
    rows.into_iter().map(row_result).collect()
}

/// The item of a Get, if the caller may see it and it meets the filter of its read.
fn item(
    (context, gate): (&ExecutionContext<'_>, &ItemGate),
    filter: Option<&ItemFilter<'_>>,
    results: &WaveResults<'_>,
    position: usize,
) -> ItemState {
    let item = match results.item(position) {
        Some(Ok(Some(item))) => VisibleItem::by_key(gate, item),
        Some(Err(error)) => return ItemState::Failed(Failure::from_table(error)),
        Some(Ok(None)) => {
            context.misses.store(true, Ordering::Relaxed);
            None
        }
        None => None,
    };
    let Some(item) = item else { return ItemState::Absent };
    match filter.map_or(Ok(true), |filter| filter.lets_through(&item)) {
        Ok(true) => ItemState::Item(item),
        Ok(false) => ItemState::Absent,
        Err(message) => ItemState::Failed(Failure::new(ErrorCode::BadUserInput, message)),
    }
}

/// The items of a row's Gets, unless there are more than a list may have.
fn within_maximum(read: &Read, items: SmallVec<[ItemState; 1]>) -> RowResult {
    let present = items.iter().filter(|item| matches!(item, ItemState::Item(_))).count();
    let max = if let ReadAction::Get(get) = &read.action { get.max } else { None };
    match max.filter(|max| present > *max as usize) {
        Some(max) => RowResult::failed(list_too_long(max)),
        None => RowResult { items, page: PageResult::default() },
    }
}
