//! What a wave found → the state: results of reads and the rows that follow from them. Must not know how it was found.

use super::admit::VisibleItem;
use super::requests::{ReadRequests, RowRequest};
use super::results::WaveResults;
use super::rows::Rows;
use super::state::{ItemState, ReadResult, ReadState};
use crate::execute::context::ExecutionContext;
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::expression::filter::ItemFilter;
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::{PageResult, list_too_long};
use crate::execute::values::decode;
use crate::plan::tree::{Holder, Origin, Read, ReadId, SpaceId};
use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use std::sync::Arc;

/// Stores the result of a read, and makes the rows of the space that it opens.
pub fn apply_results(
    context: &ExecutionContext<'_>,
    state: &mut ReadState<'_>,
    requests: ReadRequests,
    results: &WaveResults<'_>,
    filler: &PageFiller,
) {
    let ReadRequests { read: id, rows } = requests;
    let read = &state.plan.reads[id];
    let filter = state.arguments.item_filter(context, read);
    let taken = rows.into_iter().map(|row| match row {
        RowRequest::Absent => (Vec::new(), PageResult::default()),
        RowRequest::Failed(why) => (Vec::new(), PageResult::failed(why)),
        RowRequest::Gets(positions) => items_of_gets(read, positions.into_iter().map(|at| filtered(&filter, results.item(read, at)))),
        RowRequest::Query(position, page) => match results.query(position) {
            Some(Ok(found)) => {
                let table = &context.model.tables[read.table];
                let (items, page) = page.into_page(&found.found(), &|item: &VisibleItem| filler.is_dangling(id, key_of(table, item)));
                (items.into_iter().map(ItemState::Item).collect(), page)
            }
            Some(Err(why)) => (Vec::new(), PageResult::failed(why.clone())),
            None => (Vec::new(), PageResult::default()),
        },
    });
    let (mut items, mut pages): (Vec<Vec<ItemState>>, Vec<PageResult>) = taken.unzip();
    let Some(space) = read.yields else {
        let one = |(items, page): (Vec<ItemState>, PageResult)| match page.failure {
            Some(why) => ItemState::Failed(why),
            None => first_present(items),
        };
        state.results[id] = ReadResult::One(items.into_iter().zip(pages).map(one).collect());
        return;
    };
    let made: usize = items.iter().map(Vec::len).sum();
    if row_count(state) + made > context.max_nodes {
        let message = format!("The response would have more than {} objects. Ask for smaller pages.", context.max_nodes);
        let why = Failure::new(ErrorCode::LimitExceeded, message);
        items.iter_mut().for_each(Vec::clear);
        pages.iter_mut().for_each(|page| *page = PageResult::failed(why.clone()));
    }
    state.rows[space] = Some(Rows::of_sizes(items.iter().map(Vec::len)));
    state.results[id] = ReadResult::Many(items.into_iter().flatten().collect(), pages);
}

/// The items of a row's Gets, unless there are more than a list may have.
fn items_of_gets(read: &Read, items: impl Iterator<Item = ItemState>) -> (Vec<ItemState>, PageResult) {
    let items: Vec<ItemState> = items.collect();
    let present = items.iter().filter(|item| matches!(item, ItemState::Item(_))).count();
    match read.max.filter(|max| present > *max as usize) {
        Some(max) => (Vec::new(), PageResult::failed(list_too_long(max))),
        None => (items, PageResult::default()),
    }
}

/// The rows of all spaces together. The rows of a variant are rows of its parent.
fn row_count(state: &ReadState<'_>) -> usize {
    let own = state.rows.iter().zip(&state.plan.spaces).filter(|(_, space)| !matches!(space.origin, Origin::Variant(..)));
    own.filter_map(|(rows, _)| rows.as_ref()).map(|rows| rows.parents.len()).sum()
}

/// The first present item of several keys; one that could not be read may have been present.
fn first_present(items: Vec<ItemState>) -> ItemState {
    let rank = |item: &ItemState| match item {
        ItemState::Item(_) => 0,
        ItemState::Failed(_) => 1,
        ItemState::Absent => 2,
    };
    items.into_iter().min_by_key(rank).unwrap_or(ItemState::Absent)
}

/// The item of a Get, if it meets the filter of its read.
fn filtered(filter: &Result<Option<ItemFilter<'_>>, Arc<Failure>>, item: ItemState) -> ItemState {
    match (filter, &item) {
        (Err(why), _) => ItemState::Failed(why.clone()),
        (Ok(Some(filter)), ItemState::Item(found)) => match filter.lets_through(found) {
            Ok(true) => item,
            Ok(false) => ItemState::Absent,
            Err(message) => ItemState::Failed(Failure::new(ErrorCode::BadUserInput, message)),
        },
        _ => item,
    }
}

/// Makes the rows of embedded lists whose items are there, and those of the types that items turned out to be of.
pub fn expand_rows(state: &mut ReadState<'_>) {
    let plan = state.plan;
    for (id, space) in plan.spaces.iter().enumerate() {
        let Some(parent) = space.parent.filter(|_| state.rows[id].is_none()) else { continue };
        match &space.origin {
            Origin::Elements(holder, reader) if is_known(state, *holder) => {
                let elements = (0..state.len(parent)).map(|row| match state.held(*holder, parent, row) {
                    Ok(Some(item)) => decode::maps(reader, item),
                    _ => Vec::new(),
                });
                let elements: Vec<Vec<Arc<Item>>> = elements.collect();
                state.rows[id] = Some(Rows::of_sizes(elements.iter().map(Vec::len)));
                state.elements[id] = elements.into_iter().flatten().collect();
            }
            Origin::Variant(read, member) if is_known(state, Holder::Read(*read)) => {
                state.rows[id] = Some(rows_of_type(state, (*read, *member), parent));
            }
            _ => {}
        }
    }
}

fn is_known(state: &ReadState<'_>, holder: Holder) -> bool {
    match holder {
        Holder::Read(read) => !matches!(state.results[read], ReadResult::Pending),
        Holder::Element(space) => state.rows[space].is_some(),
    }
}

/// The rows of a space whose item is of one of the types that a read is after.
fn rows_of_type(state: &ReadState<'_>, (read, member): (ReadId, usize), parent: SpaceId) -> Rows {
    let types = &state.plan.reads[read].discriminator;
    let is_of_type = |row: usize| match state.found(read, parent, row) {
        ItemState::Item(item) => types.type_of(item) == Some(member),
        ItemState::Absent | ItemState::Failed(_) => false,
    };
    Rows::of_sizes((0..state.len(parent)).map(|row| usize::from(is_of_type(row))))
}

/// Records the links of pages that a wave (from 1) found to be dangling. If there are new ones, gives the wave from which to run again.
pub fn record_dangling(filler: &mut PageFiller, state: &ReadState<'_>, tables: &[Table], wave: usize) -> Option<usize> {
    let plan = state.plan;
    let mut again: Option<usize> = None;
    for &page in &state.filled {
        let of = &plan.reads[page];
        let (Some(space), Some(&last)) = (of.yields, of.elements.last()) else { continue };
        if plan.reads[last].wave != wave {
            continue;
        }
        for row in 0..state.len(space) {
            if let (ItemState::Absent, ItemState::Item(link)) = (state.found(last, space, row), state.found(page, space, row))
                && let Some(key) = key_of(&tables[of.table], link)
                && filler.record_dangling(page, key)
            {
                again = Some(again.map_or(of.wave, |first| first.min(of.wave)));
            }
        }
    }
    again
}

/// Forgets the results of a wave (from 1) and of all waves after it.
pub fn reset_to_wave(state: &mut ReadState<'_>, wave: usize) {
    let plan = state.plan;
    for (id, _) in plan.reads.iter().enumerate().filter(|(_, read)| read.wave >= wave) {
        state.results[id] = ReadResult::Pending;
    }
    for (id, space) in plan.spaces.iter().enumerate() {
        let is_forgotten = match space.origin {
            Origin::Operation | Origin::Seed => false,
            Origin::Read(read) | Origin::Variant(read, _) => plan.reads[read].wave >= wave,
            // Their holders may be forgotten. The rows of the others are made again as they were.
            Origin::Elements(..) => true,
        };
        if is_forgotten {
            state.rows[id] = None;
            state.elements[id].clear();
        }
    }
}
