//! Runs a plan wave by wave: the keys of all its reads, one batch of Gets and the distinct Queries side by side, then the rows they make.

use super::calls::{Answers, Calls, NOTHING, Slot};
use super::context::ExecutionContext;
use super::decode;
use super::error::ErrorCode;
use super::filter::Sieve;
use super::keys::{self, key_of};
use super::memory::{Memory, rewind};
use super::searches::{sieve, too_long, wanted};
use super::state::{Failure, Found, Outcome, PageOf, Rows, State};
use crate::plan::tree::{Holder, KeyBinding, Origin, Read, ReadAction, ReadId, SpaceId};
use crate::table::attribute::{Item, Key};
use crate::table::call::Get;
use futures_util::FutureExt;
use std::collections::HashSet;
use std::sync::Arc;

/// Runs every wave.
pub async fn run_waves(context: &ExecutionContext<'_>, state: &mut State<'_>) {
    let plan = state.plan;
    let mut memory = Memory::default();
    // Reads of the wave before that a shared Query did not reach.
    let mut waiting: Vec<ReadId> = Vec::new();
    let mut number = 0;
    loop {
        let planned = plan.waves.get(number).map(Vec::as_slice).unwrap_or_default();
        if number >= plan.waves.len() && waiting.is_empty() {
            break;
        }
        number += 1;
        context.loaders.begin_wave();
        expand_elements(state);
        let mut calls = Calls::new(&memory);
        let reads = planned.iter().chain(&waiting);
        let slots: Vec<(ReadId, Vec<Slot>)> = reads.map(|read| (*read, slots(context, state, *read, &mut calls))).collect();
        let shared = if context.share_queries { calls.shared(context.model, plan, &slots[..planned.len()]) } else { Vec::new() };
        let gathered = calls.finish();
        let mut answers = Answers { gathered, memory: &mut memory };
        // Boxed, so that the type of a request's future stays shallow.
        answers.call(&shared, &slots, plan, context.loaders).boxed().await;
        waiting.clear();
        for (read, slots) in slots {
            match answers.lacks(&slots) {
                true => waiting.push(read),
                false => settle(context, state, (read, slots), &answers),
            }
        }
        if let Some(again) = memory.note(state, &context.model.tables, number) {
            rewind(state, again);
            // They are asked for anew by the waves that run again.
            waiting.clear();
            number = again - 1;
        }
    }
    expand_elements(state);
}

/// What each row of a read wants.
fn slots(context: &ExecutionContext<'_>, state: &State<'_>, id: ReadId, calls: &mut Calls<'_>) -> Vec<Slot> {
    let space = state.plan.reads[id].space;
    (0..state.len(space)).map(|row| slot(context, state, id, row, calls).unwrap_or_else(Slot::Failed)).collect()
}

fn slot(context: &ExecutionContext<'_>, state: &State<'_>, id: ReadId, row: usize, calls: &mut Calls<'_>) -> Result<Slot, Arc<Failure>> {
    let read = &state.plan.reads[id];
    if let Some(idle) = idle(state, id, row) {
        return Ok(idle);
    }
    // A value that does not fit the filter is told before anything is read.
    sieve(context, state, read)?;
    match &read.action {
        ReadAction::Get(key) => gets(context, state, read, key, row, calls),
        ReadAction::FetchMissing(of) => match state.found(*of, read.space, row) {
            Found::Unread | Found::Absent => Ok(Slot::Absent),
            Found::Failed(failure) => Ok(Slot::Failed(failure.clone())),
            Found::Item(item) => Ok(match key_of(&context.model.tables[read.table], item) {
                Some(key) => Slot::Gets(vec![calls.get(get(context, read, key))]),
                None => Slot::Absent,
            }),
        },
        ReadAction::Query(query) => {
            let found = wanted(context, state, read, query, row)?;
            Ok(match found {
                Some((search, wanted)) => {
                    let needed = calls.memory.needed((id, &context.model.tables[read.table]), &search, context.max_nodes)?;
                    Slot::Search(calls.search(search, needed, read.may_wait), Box::new(wanted))
                }
                None => Slot::Absent,
            })
        }
    }
}

/// The slot of a row for which a read needs no call.
fn idle(state: &State<'_>, id: ReadId, row: usize) -> Option<Slot> {
    let read = &state.plan.reads[id];
    if state.is_behind(id, read.space, row) {
        return Some(Slot::Absent);
    }
    // A parent that is known to be missing needs no children; one that is still being read may have them read beside it.
    let parent = read.parent?;
    let known = !matches!(state.outcomes[parent], Outcome::Pending);
    match state.found(parent, read.space, row) {
        Found::Absent if known => Some(Slot::Absent),
        Found::Failed(failure) => Some(Slot::Failed(failure.clone())),
        _ => None,
    }
}

fn gets(
    context: &ExecutionContext<'_>,
    state: &State<'_>,
    read: &Read,
    key: &KeyBinding,
    row: usize,
    calls: &mut Calls<'_>,
) -> Result<Slot, Arc<Failure>> {
    let table = &context.model.tables[read.table];
    let combinations = keys::combinations(state, (table, key), read.space, row)?;
    let mut keys: Vec<Option<Key>> = combinations.iter().map(|values| keys::primary_key(table, key, values)).collect();
    if !read.answers_each_value {
        // A list has each item once, where its value comes first.
        let mut seen = HashSet::new();
        keys.retain(|key| seen.insert(key.clone()));
    }
    let positions = keys.into_iter().map(|key| match key {
        Some(key) => calls.get(get(context, read, key)),
        None => NOTHING,
    });
    Ok(Slot::Gets(positions.collect()))
}

fn get(context: &ExecutionContext<'_>, read: &Read, key: Key) -> Get {
    let table = context.model.tables[read.table].name.as_str().into();
    Get { table, key, projection: read.projection.clone(), consistent: read.consistent }
}

/// Takes in what a read's rows got: its outcome, and the rows of the space it opens.
fn settle(context: &ExecutionContext<'_>, state: &mut State<'_>, (id, slots): (ReadId, Vec<Slot>), answers: &Answers<'_>) {
    let read = &state.plan.reads[id];
    let table = &context.model.tables[read.table];
    let sieve = sieve(context, state, read);
    let mut found: Vec<Vec<Found>> = Vec::with_capacity(slots.len());
    let mut pages: Vec<PageOf> = Vec::with_capacity(slots.len());
    for slot in slots {
        let (row, page) = match slot {
            Slot::Absent => (Vec::new(), PageOf::default()),
            Slot::Failed(why) => (vec![], PageOf { failure: Some(why), ..PageOf::default() }),
            Slot::Gets(positions) => {
                let got = positions.into_iter().map(|position| sifted(&sieve, answers.got(read, position)));
                let got: Vec<Found> = got.collect();
                let there = got.iter().filter(|found| matches!(found, Found::Item(_))).count();
                match read.max.filter(|max| there > *max as usize) {
                    Some(max) => (vec![], PageOf { failure: Some(too_long(max)), ..PageOf::default() }),
                    None => (got, PageOf::default()),
                }
            }
            Slot::Search(position, wanted) => match answers.hits(position) {
                Some(Ok(hits)) => answers.memory.understand((id, table), &wanted, hits),
                Some(Err(why)) => (vec![], PageOf { failure: Some(why.clone()), ..PageOf::default() }),
                None => (vec![], PageOf::default()),
            },
        };
        found.push(row);
        pages.push(page);
    }
    match read.yields {
        None => {
            let one = |(row, page): (Vec<Found>, &PageOf)| match &page.failure {
                Some(why) => Found::Failed(why.clone()),
                None => any(row),
            };
            state.outcomes[id] = Outcome::One(found.into_iter().zip(&pages).map(one).collect());
        }
        Some(space) => {
            let made: usize = found.iter().map(Vec::len).sum();
            // The rows of a variant are rows of its parent.
            let own = state.rows.iter().zip(&state.plan.spaces).filter(|(_, space)| !matches!(space.origin, Origin::Variant(..)));
            let all: usize = own.filter_map(|(rows, _)| rows.as_ref()).map(|rows| rows.parents.len()).sum();
            if all + made > context.max_nodes {
                let message = format!("The response would have more than {} objects; ask for smaller pages.", context.max_nodes);
                let why = Failure::new(ErrorCode::LimitExceeded, message);
                found.iter_mut().for_each(Vec::clear);
                pages.iter_mut().for_each(|page| *page = PageOf { failure: Some(why.clone()), ..PageOf::default() });
            }
            state.rows[space] = Some(rows_of(found.iter().map(Vec::len)));
            state.outcomes[id] = Outcome::Many(found.into_iter().flatten().collect(), pages);
        }
    }
}

/// Makes the rows of embedded lists whose items are there, and those of the types that items turned out to be of.
fn expand_elements(state: &mut State<'_>) {
    let plan = state.plan;
    for (space, origin) in plan.spaces.iter().enumerate().map(|(id, space)| (id, &space.origin)) {
        let Some(parent) = plan.spaces[space].parent else { continue };
        let (holder, reader) = match origin {
            Origin::Elements(holder, reader) => (holder, reader),
            Origin::Variant(read, member) => {
                if state.rows[space].is_none() && holder_is_known(state, Holder::Read(*read)) {
                    state.rows[space] = Some(rows_of_type(state, (*read, *member), parent));
                }
                continue;
            }
            _ => continue,
        };
        if state.rows[space].is_some() || !holder_is_known(state, *holder) {
            continue;
        }
        let elements: Vec<Vec<Arc<Item>>> = (0..state.len(parent))
            .map(|row| match state.held(*holder, parent, row) {
                Ok(Some(item)) => decode::maps(reader, item),
                _ => Vec::new(),
            })
            .collect();
        state.rows[space] = Some(rows_of(elements.iter().map(Vec::len)));
        state.elements[space] = elements.into_iter().flatten().collect();
    }
}
/// Of what several keys were asked for, the first item that is there; what could not be read may have been one.
fn any(found: Vec<Found>) -> Found {
    let weight = |found: &Found| match found {
        Found::Item(_) => 0,
        Found::Failed(_) => 1,
        Found::Unread => 2,
        Found::Absent => 3,
    };
    found.into_iter().min_by_key(weight).unwrap_or(Found::Absent)
}

/// What was found by a key, if it meets the filter of its read.
fn sifted(sieve: &Result<Option<Sieve<'_>>, Arc<Failure>>, found: Found) -> Found {
    match (sieve, &found) {
        (Err(why), _) => Found::Failed(why.clone()),
        (Ok(Some(sieve)), Found::Item(item)) => match sieve.lets_through(item) {
            Ok(true) => found,
            Ok(false) => Found::Absent,
            Err(message) => Found::Failed(Failure::new(ErrorCode::BadUserInput, message)),
        },
        _ => found,
    }
}

fn holder_is_known(state: &State<'_>, holder: Holder) -> bool {
    match holder {
        Holder::Read(read) => !matches!(state.outcomes[read], Outcome::Pending),
        Holder::Element(space) => state.rows[space].is_some(),
    }
}

/// The rows of a space whose item is of one of the types that a read is after.
fn rows_of_type(state: &State<'_>, (read, member): (ReadId, usize), parent: SpaceId) -> Rows {
    let discriminator = &state.plan.reads[read].discriminator;
    let is_of_type = |row: usize| match state.found(read, parent, row) {
        Found::Item(item) => discriminator.type_of(item) == Some(member),
        Found::Absent | Found::Failed(_) | Found::Unread => false,
    };
    rows_of((0..state.len(parent)).map(|row| usize::from(is_of_type(row))))
}

fn rows_of(sizes: impl Iterator<Item = usize>) -> Rows {
    let mut rows = Rows { parents: Vec::new(), starts: vec![0] };
    for (parent, size) in sizes.enumerate() {
        rows.parents.extend(std::iter::repeat_n(parent, size));
        rows.starts.push(rows.parents.len());
    }
    rows
}
