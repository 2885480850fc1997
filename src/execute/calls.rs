//! The calls of a wave: what the rows of its reads want in; each distinct search once, the Queries that they share, and what all of them
//! bring out. Must not know rows or the response.

use super::collection::{self, Offer, Part, Shared};
use super::error::ErrorCode;
use super::memory::Memory;
use super::search::{Hits, Search};
use super::searches::Wanted;
use super::span::Span;
use super::state::{Failure, Found};
use crate::plan::passes::shared_query::{GroupMember, Reaches};
use crate::plan::tree::{Plan, Read, ReadId};
use crate::schema::model::Model;
use crate::table::attribute::{Item, Key};
use crate::table::call::{Get, Page, Query};
use crate::table::error::{TableError, TableErrorKind};
use crate::table::loaders::Loaders;
use futures_util::future::{join, join_all};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tokio::task::coop::unconstrained;

/// A position that no Get has: nothing can have that key.
pub const NOTHING: usize = usize::MAX;

/// How many items of a count a shared Query reads: a longer count goes on by itself, which transfers no items.
const COUNTED: u32 = 100;

/// What one row of a read wants of the wave.
pub enum Slot {
    /// Nothing: it is not there.
    Absent,
    /// Nothing: it cannot be read.
    Failed(Arc<Failure>),
    /// Positions in the wave's Gets.
    Gets(Vec<usize>),
    /// A position in the wave's searches, and how its page is to be understood.
    Search(usize, Box<Wanted>),
}

/// The calls of a wave while they are gathered.
pub struct Calls<'m> {
    /// What the request has searched for before.
    pub memory: &'m Memory,
    gets: Vec<Get>,
    searches: Vec<Asked>,
    known: HashMap<String, usize>,
}

/// A search of a wave and how many hits of it are needed.
struct Asked {
    identity: String,
    search: Search,
    needed: Option<u32>,
    /// Whether no read that makes it is waited for.
    may_wait: bool,
}

impl<'m> Calls<'m> {
    /// No calls yet.
    pub fn new(memory: &'m Memory) -> Self {
        Self { memory, gets: Vec::new(), searches: Vec::new(), known: HashMap::new() }
    }

    /// Adds a Get, and gives its position.
    pub fn get(&mut self, get: Get) -> usize {
        self.gets.push(get);
        self.gets.len() - 1
    }

    /// Adds a search unless it is there already, and gives its position.
    pub fn search(&mut self, search: Search, needed: Option<u32>, may_wait: bool) -> usize {
        let identity = search.identity();
        if let Some(known) = self.known.get(&identity) {
            let asked = &mut self.searches[*known];
            asked.needed = asked.needed.max(needed);
            asked.may_wait &= may_wait;
            return *known;
        }
        self.known.insert(identity.clone(), self.searches.len());
        self.searches.push(Asked { identity, search, needed, may_wait });
        self.searches.len() - 1
    }

    /// The Queries that reads of the wave share.
    pub fn shared(&self, model: &Model, plan: &Plan, slots: &[(ReadId, Vec<Slot>)]) -> Vec<Shared> {
        let mut taken: HashSet<Part> = HashSet::new();
        let mut shared: Vec<Shared> = Vec::new();
        for collection in &plan.collections {
            let of = slots.iter().filter(|(read, _)| collection.reads.contains(read));
            let offers = of.flat_map(|(read, slots)| slots.iter().filter_map(|slot| self.offer(&plan.reads[*read], slot)));
            let offers: Vec<Offer> = offers.collect();
            let Some(read) = collection.reads.first().map(|read| &plan.reads[*read]).filter(|_| offers.len() > 1) else { continue };
            let table = &model.tables[read.table];
            let call = Query {
                table: table.name.as_str().into(),
                index: read.index.map(|index| table.indexes[index].name.as_str().into()),
                partition: None,
                sort: None,
                filter: None,
                projection: None,
                forward: true,
                limit: 0,
                start: None,
                consistent: read.consistent,
            };
            let sort = table.keys_of(read.index).1.map(|key| key.name.as_str());
            shared.extend(collection::shared(collection, (&call, sort), offers, &mut taken));
        }
        // Where the wave has a batch of Gets, a key more in it costs no call, and nothing has to wait.
        if (0..self.gets.len()).any(|get| !taken.contains(&Part::Get(get))) {
            shared.retain_mut(Shared::leave_to_batch);
        }
        shared
    }

    /// What a row of a read may share a Query for; `None` where it is read by itself.
    fn offer(&self, read: &Read, slot: &Slot) -> Option<Offer> {
        let item = GroupMember {
            low: 0,
            high: 0,
            forward: None,
            wants_all: false,
            reaches: Reaches::Always,
            may_wait: read.may_wait,
            resumes: false,
            is_item: true,
        };
        match slot {
            Slot::Gets(positions) => {
                let ([position], true) = (positions.as_slice(), read.yields.is_none()) else { return None };
                let Key { partition, sort } = &self.gets.get(*position)?.key;
                let (part, span) = (Part::Get(*position), Span::of_key(&sort.as_ref()?.1));
                Some(Offer { part, partition: partition.clone(), span, condition: None, member: item, need: 1 })
            }
            Slot::Search(position, wanted) => {
                let Asked { identity, search, needed, may_wait } = &self.searches[*position];
                let (range, span) = search.span().filter(|_| !self.memory.searches.contains_key(identity))?;
                let member = GroupMember {
                    forward: Some(search.forward),
                    wants_all: wanted.wants_all(),
                    reaches: wanted.reaches(),
                    may_wait: *may_wait,
                    resumes: search.start.is_some(),
                    is_item: false,
                    ..item
                };
                let condition = range.sort.as_ref().map(|(_, condition)| condition.clone());
                let need = needed.map_or(COUNTED, |needed| search.limit(needed, false));
                Some(Offer { part: Part::Search(*position), partition: range.partition.clone()?, span, condition, member, need })
            }
            Slot::Absent | Slot::Failed(_) => None,
        }
    }

    /// The calls, to be made.
    pub fn finish(self) -> Gathered {
        Gathered { items: vec![None; self.gets.len()], gets: self.gets, searches: self.searches }
    }
}

/// The calls of a wave, with what its Gets brought.
pub struct Gathered {
    gets: Vec<Get>,
    searches: Vec<Asked>,
    /// What each Get found; `None` where it is yet to be made.
    items: Vec<Option<Result<Option<Arc<Item>>, TableError>>>,
}

/// The calls of a wave and what they brought.
pub struct Answers<'a> {
    /// The calls.
    pub gathered: Gathered,
    /// What the searches found.
    pub memory: &'a mut Memory,
}

/// What of a wave is called at once.
struct Round<'r> {
    gets: Vec<usize>,
    searches: Vec<usize>,
    shared: &'r [Shared],
}

/// A call of a round that is to be made: a search from what it found so far, or a shared Query by its position.
enum Work {
    Search(usize, Hits),
    Shared(usize),
}

/// What came of it.
enum Came {
    Hits(usize, Result<Hits, TableError>),
    Page(usize, Result<Page, TableError>),
}

impl Answers<'_> {
    /// Makes the calls of a wave: first the shared Queries and what shares none, then what is waited for and was not reached. What is not
    /// waited for and was not reached is left over.
    pub async fn call(&mut self, shared: &[Shared], slots: &[(ReadId, Vec<Slot>)], plan: &Plan, loaders: &Loaders) {
        let parts: HashSet<Part> = shared.iter().flat_map(Shared::parts).collect();
        let gets = (0..self.gathered.gets.len()).filter(|get| !parts.contains(&Part::Get(*get))).collect();
        let searches = (0..self.gathered.searches.len()).filter(|search| !parts.contains(&Part::Search(*search))).collect();
        self.round(Round { gets, searches, shared }, loaders).await;
        if parts.is_empty() {
            return;
        }
        let awaited = slots.iter().filter(|(read, slots)| !plan.reads[*read].may_wait && self.lacks(slots));
        let (mut gets, mut searches) = (Vec::new(), Vec::new());
        for slot in awaited.flat_map(|(_, slots)| slots) {
            match slot {
                Slot::Gets(positions) => gets.extend(positions.iter().filter(|position| self.lacks_get(**position))),
                Slot::Search(position, _) => searches.push(*position),
                Slot::Absent | Slot::Failed(_) => {}
            }
        }
        searches.sort_unstable();
        searches.dedup();
        self.round(Round { gets, searches, shared: &[] }, loaders).await;
    }

    /// Makes calls side by side, and takes in what they bring.
    async fn round(&mut self, round: Round<'_>, loaders: &Loaders) {
        let works = self.works(&round);
        let Gathered { gets, searches, items } = &mut self.gathered;
        let calling = join_all(works.into_iter().map(async |work| match work {
            Work::Search(search, hits) => {
                let asked = &searches[search];
                Came::Hits(search, asked.search.extend(hits, asked.needed, loaders).await)
            }
            Work::Shared(position) => Came::Page(position, loaders.query(&round.shared[position].query()).await),
        }));
        let own: Vec<Get> = round.gets.iter().map(|get| gets[*get].clone()).collect();
        // The calls of a task that has used up its budget would go on in the reverse order. How many there are is bounded, and each of
        // them waits for its answer.
        let (got, came) = unconstrained(join(loaders.get(own), calling)).await;
        for (position, item) in round.gets.into_iter().zip(got) {
            items[position] = Some(item);
        }
        let mut known: Vec<(Get, Option<Arc<Item>>)> = Vec::new();
        for came in came {
            match came {
                Came::Hits(search, hits) => self.keep(search, hits.map_err(|error| failure(&error))),
                Came::Page(position, Ok(page)) => known.extend(self.take(&round.shared[position], &page)),
                Came::Page(position, Err(error)) => self.fail(&round.shared[position], &error),
            }
        }
        // Gets of later waves need no call for what was read along.
        if !known.is_empty() {
            loaders.know(known).await;
        }
    }

    /// The Queries of a round, in the order in which they were asked for.
    fn works(&mut self, round: &Round<'_>) -> Vec<Work> {
        let mut works: Vec<(usize, Work)> = Vec::new();
        for position in &round.searches {
            let Asked { identity, search, needed, .. } = &self.gathered.searches[*position];
            if self.memory.lacks(identity, *needed) {
                let known = self.memory.searches.remove(identity).and_then(Result::ok);
                works.push((*position, Work::Search(*position, known.unwrap_or_else(|| search.begin()))));
            }
        }
        for (position, shared) in round.shared.iter().enumerate() {
            let searches = shared.parts().filter_map(|part| if let Part::Search(search) = part { Some(search) } else { None });
            works.push((searches.min().unwrap_or_default(), Work::Shared(position)));
        }
        works.sort_by_key(|(position, _)| *position);
        works.into_iter().map(|(_, work)| work).collect()
    }

    /// Takes in what those that share a Query found in its page. Gives the items, or that there are none, of the Gets that it spared.
    fn take(&mut self, shared: &Shared, page: &Page) -> Vec<(Get, Option<Arc<Item>>)> {
        let asked = |search: usize| {
            let Asked { search, needed, .. } = &self.gathered.searches[search];
            (search, *needed)
        };
        let mut known = Vec::new();
        for found in shared.take(page, &asked) {
            match found {
                collection::Found::Hits(search, hits) => self.keep(search, Ok(hits)),
                collection::Found::Item(gets, item) => {
                    known.extend(gets.first().map(|get| (self.gathered.gets[*get].clone(), item.clone())));
                    gets.into_iter().for_each(|get| self.gathered.items[get] = Some(Ok(item.clone())));
                }
            }
        }
        known
    }

    /// Fails all that share a Query.
    fn fail(&mut self, shared: &Shared, error: &TableError) {
        let why = failure(error);
        for part in shared.parts() {
            match part {
                Part::Get(get) => self.gathered.items[get] = Some(Err(error.clone())),
                Part::Search(search) => self.keep(search, Err(why.clone())),
            }
        }
    }

    fn keep(&mut self, search: usize, hits: Result<Hits, Arc<Failure>>) {
        self.memory.searches.insert(self.gathered.searches[search].identity.clone(), hits);
    }

    /// What the Get at a position found for a read.
    pub fn got(&self, read: &Read, position: usize) -> Found {
        recognised(
            read,
            match self.gathered.items.get(position) {
                Some(Some(Ok(Some(item)))) => Found::Item(item.clone()),
                Some(Some(Err(error))) => Found::Failed(failure(error)),
                None | Some(None | Some(Ok(None))) => Found::Absent,
            },
        )
    }

    /// What the search at a position found.
    pub fn hits(&self, position: usize) -> Option<&Result<Hits, Arc<Failure>>> {
        self.memory.searches.get(&self.gathered.searches[position].identity)
    }

    /// Whether something that a read's rows want is yet to be read.
    pub fn lacks(&self, slots: &[Slot]) -> bool {
        slots.iter().any(|slot| match slot {
            Slot::Gets(positions) => positions.iter().any(|position| self.lacks_get(*position)),
            Slot::Search(position, _) => {
                let Asked { identity, needed, .. } = &self.gathered.searches[*position];
                self.memory.lacks(identity, *needed)
            }
            Slot::Absent | Slot::Failed(_) => false,
        })
    }

    fn lacks_get(&self, position: usize) -> bool {
        matches!(self.gathered.items.get(position), Some(None))
    }
}

/// What was found by a key, if its constants are the type's: its key is.
fn recognised(read: &Read, found: Found) -> Found {
    match found {
        Found::Item(item) if !read.discriminator.is_of_key(&item) => Found::Absent,
        found => found,
    }
}

/// What a caller is told of trouble below.
pub fn failure(error: &TableError) -> Arc<Failure> {
    let (code, message) = match error.kind {
        TableErrorKind::Throttled => (ErrorCode::Throttled, "The table is asked too much at the moment; try again later."),
        TableErrorKind::Timeout => (ErrorCode::Timeout, "The table did not answer in time."),
        TableErrorKind::Unavailable => (ErrorCode::Unavailable, "The table cannot be reached at the moment."),
        TableErrorKind::NoSuchTable => (ErrorCode::Unavailable, "The table does not exist."),
        TableErrorKind::Denied => (ErrorCode::Unavailable, "The gateway may not read the table."),
        TableErrorKind::Condition => (ErrorCode::Conflict, "A condition did not hold."),
        TableErrorKind::Invalid => (ErrorCode::Internal, "The gateway made a call that the table refused."),
    };
    tracing::warn!(kind = ?error.kind, detail = %error.detail, "a table call failed");
    Failure::new(code, message)
}
