//! The results of a wave in; the state with these results, and with the rows that follow from them, out. Only this file
//! changes a state. Must not know how a result was found.

use super::row_results::RowResult;
use super::state::{ItemState, ReadResult, ReadState, ResolvedValue};
use crate::execute::error::{ErrorCode, Failure};
use crate::execute::key::values::key_of;
use crate::execute::page::filler::PageFiller;
use crate::execute::page::result::PageResult;
use crate::execute::values::{decode, encode};
use crate::plan::tree::{Holder, Origin, ReadId, ServiceCallId, Space, SpaceId};
use crate::schema::scalar::global_id::GlobalId;
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use serde_json::Value;
use smallvec::SmallVec;
use std::sync::Arc;

/// Adds the items of a seed: those of a write or of a change.
pub fn seed(state: &mut ReadState<'_>, space: SpaceId, items: Vec<Arc<Item>>) {
    state.set_seed(space, items);
    expand_rows(state);
}

/// Stores what each row of a read found, and makes the rows of the space that it opens. The response may have
/// `max_nodes` objects.
pub fn apply_results(state: &mut ReadState<'_>, id: ReadId, rows: Vec<RowResult>, max_nodes: usize) {
    let Some(space) = state.plan().reads[id].opens() else {
        let one = |row: RowResult| match row.page.failure {
            Some(why) => ItemState::Failed(why),
            None => first_present(row.items),
        };
        state.set_result(id, ReadResult::One(rows.into_iter().map(one).collect()));
        return;
    };
    let (mut items, mut pages): (Vec<SmallVec<[ItemState; 1]>>, Vec<PageResult>) =
        rows.into_iter().map(|row| (row.items, row.page)).unzip();
    let made: usize = items.iter().map(SmallVec::len).sum();
    if row_count(state) + made > max_nodes {
        let message = format!("The response would have more than {max_nodes} objects. Ask for smaller pages.");
        let why = Failure::new(ErrorCode::LimitExceeded, message);
        items.iter_mut().for_each(SmallVec::clear);
        pages.iter_mut().for_each(|page| *page = PageResult::failed(why.clone()));
    }
    state.set_rows(space, items.iter().map(SmallVec::len));
    state.set_result(id, ReadResult::Many(items.into_iter().flatten().collect(), pages));
}

/// Stores what services computed for the rows of a call.
pub fn apply_resolved(state: &mut ReadState<'_>, call: ServiceCallId, values: Vec<ResolvedValue>) {
    state.set_resolved(call, values);
}

/// The rows of all spaces together. The rows of a variant, and those of one type of an id, are rows of their parent.
pub fn row_count(state: &ReadState<'_>) -> usize {
    let is_own =
        |space: &Space| !matches!(space.origin, Origin::Variant(..) | Origin::SeedVariant(..) | Origin::OfId(..));
    let spaces = state.plan().spaces.iter().enumerate();
    spaces.filter(|(_, space)| is_own(space)).map(|(id, _)| state.len(id)).sum()
}

/// The first present item of several keys; one that could not be read may have been present.
fn first_present(items: SmallVec<[ItemState; 1]>) -> ItemState {
    let rank = |item: &ItemState| match item {
        ItemState::Item(_) => 0,
        ItemState::Failed(_) => 1,
        ItemState::Absent => 2,
    };
    items.into_iter().min_by_key(rank).unwrap_or(ItemState::Absent)
}

/// Ends a wave (from 1): records the links of pages that it found to be dangling, and makes the rows that follow from
/// its results. If there are new dangling links, forgets the results of their pages and gives the wave from which to
/// run again.
pub fn end_wave(state: &mut ReadState<'_>, filler: &mut PageFiller, tables: &[Table], wave: usize) -> Option<usize> {
    let again = record_dangling(filler, state, tables, wave);
    if let Some(again) = again {
        state.forget_from(again);
    }
    expand_rows(state);
    again
}

/// Makes the rows of embedded lists whose items are there, those of the types that items turned out to be of, and those
/// of ids.
pub fn expand_rows(state: &mut ReadState<'_>) {
    let plan = state.plan();
    for (id, space) in plan.spaces.iter().enumerate() {
        let is_next = |parent: &SpaceId| state.rows(id).is_none() && state.rows(*parent).is_some();
        let Some(parent) = space.parent.filter(is_next) else { continue };
        let rows = 0..state.len(parent);
        match &space.origin {
            Origin::Elements(holder, reader) if state.is_known(*holder) => {
                let elements = rows.map(|row| match state.held(*holder, parent, row) {
                    Ok(Some(item)) => decode::maps(reader, item),
                    _ => Vec::new(),
                });
                let elements: Vec<Vec<Arc<Item>>> = elements.collect();
                let sizes: Vec<usize> = elements.iter().map(Vec::len).collect();
                state.set_elements(id, sizes.into_iter(), elements.into_iter().flatten().collect());
            }
            Origin::Ids(argument) => {
                // Ids that are refused make no rows: the response says why.
                let ids = state.ids(argument).map_or(0, |ids| ids.len());
                state.set_rows(id, rows.map(|_| ids));
            }
            Origin::OfId(argument, named) => {
                let ids = state.ids(argument).unwrap_or_default();
                let of_row =
                    |row| state.rows(parent).and_then(|rows| rows.position(row)).and_then(|position| ids.get(position));
                let keys: Vec<Option<Arc<Item>>> =
                    rows.map(|row| key_of_id(named, of_row(row)?).map(Arc::new)).collect();
                let sizes: Vec<usize> = keys.iter().map(|key| usize::from(key.is_some())).collect();
                state.set_elements(id, sizes.into_iter(), keys.into_iter().flatten().collect());
            }
            Origin::SeedVariant(types, member) => {
                let is_of_type = |row: usize| match state.held(Holder::Element(parent), parent, row) {
                    Ok(Some(item)) => types.type_of(item) == Some(*member),
                    Ok(None) | Err(_) => false,
                };
                let sizes: Vec<usize> = rows.map(|row| usize::from(is_of_type(row))).collect();
                state.set_rows(id, sizes.into_iter());
            }
            Origin::Variant(read, member) if state.is_known(Holder::Read(*read)) => {
                let types = &plan.reads[*read].discriminator;
                let is_of_type = |row: usize| match state.found(*read, parent, row) {
                    ItemState::Item(item) => types.type_of(item) == Some(*member),
                    ItemState::Absent | ItemState::Failed(_) => false,
                };
                let sizes: Vec<usize> = rows.map(|row| usize::from(is_of_type(row))).collect();
                state.set_rows(id, sizes.into_iter());
            }
            _ => {}
        }
    }
}

/// The fields of a key that an id names, each in an attribute of the field's name; `None` if the id names no item of
/// the type.
fn key_of_id(named: &GlobalId, id: &str) -> Option<Item> {
    let values = named.decode(id)?;
    let field = |((name, kind), value): (&(String, ValueType), &Value)| {
        let attribute = encode::attribute(kind, value)?;
        // An instant that is stored as seconds has no milliseconds.
        (decode::scalar(kind, &attribute).as_ref() == Some(value)).then(|| (name.clone(), attribute))
    };
    named.fields().iter().zip(&values).map(field).collect()
}

/// Records the links of pages that a wave (from 1) found to be dangling. If there are new ones, gives the wave from
/// which to run again.
fn record_dangling(filler: &mut PageFiller, state: &ReadState<'_>, tables: &[Table], wave: usize) -> Option<usize> {
    let plan = state.plan();
    let mut again: Option<usize> = None;
    for &page in state.filled() {
        let of = &plan.reads[page];
        let (Some(space), Some(&last)) = (of.opens(), of.elements().last()) else { continue };
        if plan.reads[last].wave != wave {
            continue;
        }
        for row in 0..state.len(space) {
            // Below what is missing nothing is read, so nothing says that a link is dangling.
            if state.is_below_missing(page, (space, row)) {
                continue;
            }
            if let (ItemState::Absent, ItemState::Item(link)) =
                (state.found(last, space, row), state.found(page, space, row))
                && let Some(key) = key_of(&tables[of.table], link)
                && filler.record_dangling(page, key)
            {
                again = Some(again.map_or(of.wave, |first| first.min(of.wave)));
            }
        }
    }
    again
}
