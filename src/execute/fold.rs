//! A Get whose item stands beside a Query's range → the wider range in which the Query of a row reads both; and what is done where it did
//! not come as far. Must not know how the plan found the two.
//!
//! Where the item comes first in the order of reading, it is the first that the Query reads. Where it comes last, it is read if the range
//! is read to its end, which large pages and whole lists mostly are; if a page fills before, the Get is made with those of the next wave.

use super::ends::{between, ends};
use super::keys;
use super::search::Search;
use super::searches::{Wanted, wanted};
use super::state::{Found, Outcome, State};
use super::waves::{Answers, Calls, Run, Slot};
use crate::plan::fold::REACHING_PAGE;
use crate::plan::tree::{self, Action, KeyBinding, Read, ReadId};
use crate::table::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::call::{Get, Page, Query, SortCondition};
use std::sync::Arc;

/// An item that a search reads along with its only range.
#[derive(Debug, Clone)]
pub struct Neighbour {
    /// Its sort key. Its partition is the range's.
    pub key: (String, String),
    /// The text with which all keys of the range begin, and its own does not.
    pub start: String,
    /// The range up to the item.
    pub range: keys::KeyRange,
    /// The attributes that are asked for, for both.
    pub projection: Arc<[String]>,
    /// The most items that lie from it to the range, itself among them.
    pub items: u32,
    /// Whether it comes first in the order of reading; it comes last otherwise.
    pub first: bool,
    /// Whether it is still to be read.
    pub open: bool,
    /// What is known of it.
    pub found: Found,
}

/// Where a place is to a range and its neighbour.
enum Side {
    /// From the neighbour to the range.
    Near,
    Within,
    /// At the other end, where BETWEEN takes in a key that is out.
    Far,
}

impl Neighbour {
    /// Makes a Query of the range one that reads this item as well, as long as it is to be read.
    pub fn widen(&self, call: &mut Query) {
        if self.open {
            call.sort = self.range.sort.clone();
            call.projection = Some(self.projection.clone());
            call.limit = call.limit.saturating_add(self.items);
        }
    }

    /// Takes the item out of a page that was read, and notes if it is not there. Gives where the range goes on, and whether it has ended:
    /// between the item and the range there may be anything that the schema does not know, and of that no second page is read.
    pub fn take(&mut self, page: &mut Page) -> (Option<Item>, bool) {
        let begun = !page.items.is_empty();
        if let Some(position) = page.items.iter().position(|item| self.is(item)) {
            self.found = Found::Item(page.items.remove(position));
        }
        let last = page.last_key.take();
        if self.open && matches!(self.found, Found::Unread) && (last.is_none() || self.first && begun) {
            self.found = Found::Absent;
        }
        let was_open = self.open;
        self.open &= !self.first;
        let Some(last) = last else { return (None, true) };
        match (was_open, self.side(&last), self.first) {
            (true, Side::Near, true) => (None, false),
            (true, Side::Near, false) | (true, Side::Far, true) => (None, true),
            _ => (Some(last), false),
        }
    }

    /// On which side of the range a place of the partition is.
    fn side(&self, place: &Item) -> Side {
        match place.get(&self.key.0) {
            Some(Attribute::S(text)) if text.starts_with(&self.start) => Side::Within,
            Some(Attribute::S(text)) if (*text < self.start) == (self.key.1 < self.start) => Side::Near,
            _ => Side::Far,
        }
    }

    /// Whether an item of the partition, or a place in it, is this one. As the partition is the same, the sort key tells.
    fn is(&self, item: &Item) -> bool {
        matches!(item.get(&self.key.0), Some(Attribute::S(text)) if *text == self.key.1)
    }
}

/// The neighbour of a search, if the search of this row may read it along.
fn neighbour(planned: &tree::Neighbour, search: &Search, wanted: &Wanted, key: &Key) -> Option<Neighbour> {
    let ([Some(range)], Some((attribute, KeyValue::S(text)))) = (search.ranges.as_slice(), &key.sort) else { return None };
    let Some((_, condition @ SortCondition::BeginsWith(KeyValue::S(start)))) = &range.sort else { return None };
    let before = text < start;
    if range.partition.as_ref() != Some(&key.partition) || text.starts_with(start.as_str()) || before != planned.before {
        return None;
    }
    let first = before == search.forward;
    let reaches = match first {
        true => search.start.is_none(),
        false => planned.may_wait && wanted.size().is_none_or(|size| i64::from(size) >= i64::from(REACHING_PAGE)),
    };
    if !reaches {
        return None;
    }
    let own = Some((KeyValue::S(text.clone()), true));
    let (lower, upper) = ends(Some(condition));
    let (lower, upper) = if before { (own, upper) } else { (lower, own) };
    let mut wider = range.clone();
    wider.sort = Some((attribute.clone(), between(lower, upper, &mut wider.excluded)?));
    Some(Neighbour {
        key: (attribute.clone(), text.clone()),
        start: start.clone(),
        range: wider,
        projection: planned.projection.clone(),
        items: planned.items,
        first,
        open: true,
        found: Found::Unread,
    })
}

/// A Get that was left to a search which did not come as far.
pub(super) struct Late {
    /// The read, and the row of its space.
    pub read: ReadId,
    pub row: usize,
    /// The Get, to be made with those of the next wave.
    pub get: Get,
}

impl Run<'_> {
    /// The slot of a Get whose item the Query of the same row reads along; `None` where the Get is to be made.
    pub(super) fn beside(&self, state: &State<'_>, read: &Read, key: &KeyBinding, row: usize, calls: &mut Calls<'_>) -> Option<Slot> {
        let id = read.within?;
        let query = &state.plan.reads[id];
        let Action::Query(binding) = &query.action else { return None };
        if self.idle(state, id, row).is_some() {
            return None;
        }
        let table = &self.model.tables[read.table];
        let combinations = keys::combinations(state, (table, key), read.space, row).ok()?;
        let [values] = combinations.as_slice() else { return None };
        let key = keys::primary_key(table, key, values)?;
        let (mut search, wanted) = wanted(self, state, query, binding, row).ok()??;
        let neighbour = neighbour(binding.neighbour.as_ref()?, &search, &wanted, &key)?;
        let text = neighbour.key.1.clone();
        search.neighbour = Some(neighbour);
        let needed = calls.memory.needed((id, table), &search, self.max_nodes).ok()?;
        let is_known = match calls.memory.searches.get(&search.identity()) {
            None => false,
            Some(Ok(hits)) if hits.neighbour(&text).is_some_and(|neighbour| !matches!(neighbour.found, Found::Unread)) => true,
            // It was made without the item, or did not come as far.
            Some(_) => return None,
        };
        let search = calls.search(search, needed);
        // Another Get may have come before.
        let is_own = calls.neighbour(search).as_ref().is_some_and(|neighbour| neighbour.key.1 == text);
        is_own.then(|| Slot::Beside { search, get: Box::new(self.get(read, key)), is_known })
    }

    /// Tells the Gets of later waves what was read along.
    pub(super) async fn know(&self, slots: &[(ReadId, Vec<Slot>)], answers: &Answers<'_>) {
        let along = slots.iter().flat_map(|(_, slots)| slots).filter_map(|slot| match slot {
            Slot::Beside { search, get, .. } => match answers.beside(*search, get) {
                Found::Item(item) => Some(((**get).clone(), Some(item))),
                Found::Absent => Some(((**get).clone(), None)),
                Found::Unread | Found::Failed(_) => None,
            },
            _ => None,
        });
        let along: Vec<_> = along.collect();
        if !along.is_empty() {
            self.loaders.know(along).await;
        }
    }
}

/// Makes Gets of what was left to searches, where the wave has other Gets: they are no call more then, and nothing has to wait.
pub(super) fn prefer_gets(slots: &mut [(ReadId, Vec<Slot>)], calls: &mut Calls<'_>) {
    for slot in slots.iter_mut().flat_map(|(_, slots)| slots) {
        if let Slot::Beside { search, get, is_known: false } = slot {
            *calls.neighbour(*search) = None;
            *slot = Slot::Gets(vec![calls.get((**get).clone())]);
        }
    }
}

/// Takes in what late Gets brought.
pub(super) fn settle(state: &mut State<'_>, late: &[Late], found: Vec<Found>) {
    for (late, found) in late.iter().zip(found) {
        if let Outcome::One(items) = &mut state.outcomes[late.read]
            && let Some(item) = items.get_mut(late.row)
        {
            *item = found;
        }
    }
}
