//! What a request has searched for so far, and how pages whose elements are missing are filled.
//!
//! A page through relations is a page of links. Where a link leads to nothing its element is left out, and the page would be short though
//! more follows. So the links that lead nowhere are noted here, and the waves from the page's own on run again: searches are read on from
//! where they stopped, Gets of keys that were read need no call, and the page is made of the links that are left.

use super::error::ErrorCode;
use super::keys::key_of;
use super::search::{Hits, Search};
use super::searches::Wanted;
use super::state::{Failure, Found, Outcome, State};
use crate::plan::tree::{Origin, ReadId};
use crate::schema::table::Table;
use crate::table::attribute::Key;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What is known over all waves of a request.
#[derive(Default)]
pub struct Memory {
    /// What searches found, by their identity.
    pub searches: HashMap<String, Result<Hits, Arc<Failure>>>,
    /// The links of each page that lead nowhere.
    nowhere: HashMap<ReadId, HashSet<Key>>,
}

impl Memory {
    /// How many hits a search needs for a page of a read: as many as it wants, one more for each that leads nowhere, and as many again
    /// in reserve, so that a long run of such links is passed in ever larger steps. The failure says that there are more than `most`.
    pub fn needed(&self, (read, table): (ReadId, &Table), search: &Search, most: usize) -> Result<Option<u32>, Arc<Failure>> {
        let (Some(wanted), Some(nowhere)) = (search.wanted, self.nowhere.get(&read)) else { return Ok(search.wanted) };
        let Some(Ok(hits)) = self.searches.get(&search.identity()) else { return Ok(search.wanted) };
        let missing = hits.items.iter().filter(|item| key_of(table, item).is_some_and(|key| nowhere.contains(&key))).count();
        if missing > most {
            let message = format!("More than {most} links of this page lead to nothing.");
            return Err(Failure::new(ErrorCode::LimitExceeded, message));
        }
        Ok(Some(wanted.saturating_add(u32::try_from(missing).unwrap_or(u32::MAX).saturating_mul(2))))
    }

    /// Whether a search is yet to be run, or to be run on, to have as many hits as are needed.
    pub fn lacks(&self, identity: &str, needed: Option<u32>) -> bool {
        match (self.searches.get(identity), needed) {
            (None, _) => true,
            (Some(Ok(hits)), needed) => needed.is_none_or(|needed| hits.items.len() < needed as usize) && !hits.ended(),
            _ => false,
        }
    }

    /// Reads a search's hits as the page, list or item that a read wants.
    pub fn understand(&self, (read, table): (ReadId, &Table), wanted: &Wanted, hits: &Hits) -> (Vec<Found>, super::state::PageOf) {
        let nowhere = self.nowhere.get(&read);
        wanted.understand(hits, &|item| nowhere.is_some_and(|nowhere| key_of(table, item).is_some_and(|key| nowhere.contains(&key))))
    }

    /// Notes the links of a wave (from 1) that turned out to lead nowhere. The wave from which on all is to be run again, if there are new
    /// ones.
    pub fn note(&mut self, state: &State<'_>, tables: &[Table], wave: usize) -> Option<usize> {
        let plan = state.plan;
        let mut again: Option<usize> = None;
        for &page in &state.filled {
            let of = &plan.reads[page];
            let (Some(space), Some(&tells)) = (of.yields, of.elements.last()) else { continue };
            if plan.reads[tells].wave != wave {
                continue;
            }
            for row in 0..state.len(space) {
                if let (Found::Absent, Found::Item(link)) = (state.found(tells, space, row), state.found(page, space, row))
                    && let Some(key) = key_of(&tables[of.table], link)
                    && self.nowhere.entry(page).or_default().insert(key)
                {
                    again = Some(again.map_or(of.wave, |first| first.min(of.wave)));
                }
            }
        }
        again
    }
}

/// Forgets what the reads of a wave (from 1) and of all after it found.
pub fn rewind(state: &mut State<'_>, wave: usize) {
    let plan = state.plan;
    for (id, _) in plan.reads.iter().enumerate().filter(|(_, read)| read.wave >= wave) {
        state.outcomes[id] = Outcome::Pending;
    }
    for (id, space) in plan.spaces.iter().enumerate() {
        let gone = match space.origin {
            Origin::Operation | Origin::Seed => false,
            Origin::Read(read) | Origin::Variant(read, _) => plan.reads[read].wave >= wave,
            // Their holders may be gone; the rows of those that are not come back as they were.
            Origin::Elements(..) => true,
        };
        if gone {
            state.rows[id] = None;
            state.elements[id].clear();
        }
    }
}
