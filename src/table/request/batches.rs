//! The ids of Gets in; what they found out. Each Get is read once until the next write: 100 keys in each BatchGetItem, side by side, or a
//! single one by GetItem. Must not know how its callers join.

use super::cached_reads::{Wanted, read_items};
use super::interner::GetId;
use super::session::{Session, lost};
use crate::table::data::attribute::{AttributeName, Key, KeyValue};
use crate::table::data::call::Get;
use crate::table::data::key_identity::{canonical, key_can_exist};
use crate::table::data_store::{GetResult, ItemRequest};
use dataloader::BatchFn;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the Gets of a request have found since its last write.
#[derive(Debug, Default)]
pub(super) struct FoundGets(Mutex<Vec<Option<GetResult>>>);

impl FoundGets {
    /// The results of these Gets; `None` if one of them is not read yet.
    pub(super) fn all(&self, ids: &[GetId]) -> Option<Vec<GetResult>> {
        let results = self.results();
        ids.iter().map(|id| results.get(id.place()).cloned().flatten()).collect()
    }

    /// The Gets that are not read yet, each once, in the order of their ids.
    fn missing(&self, ids: &[GetId]) -> Vec<GetId> {
        let results = self.results();
        let mut missing: Vec<GetId> = ids.iter().copied().filter(|id| !matches!(results.get(id.place()), Some(Some(_)))).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// Keeps a result. That of a strong Get answers an eventually consistent one, too.
    pub(super) fn keep(&self, found: impl IntoIterator<Item = (GetId, GetResult)>) {
        let mut results = self.results();
        let mut keep = |id: GetId, result: GetResult| {
            if results.len() <= id.place() {
                // Results come in the order of their places.
                let most = (id.place() + 1).max(2 * results.len());
                results.resize(most, None);
            }
            results[id.place()] = Some(result);
        };
        for (id, result) in found {
            if id.consistent() {
                keep(id.eventual(), result.clone());
            }
            keep(id, result);
        }
    }

    fn results(&self) -> MutexGuard<'_, Vec<Option<GetResult>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads what is missing of these Gets, and gives all results in their order.
pub(super) async fn read(session: &Session, found: &FoundGets, ids: &[GetId]) -> Vec<GetResult> {
    read_missing(session, found, &found.missing(ids)).await;
    found.all(ids).unwrap_or_else(|| vec![Err(lost()); ids.len()])
}

/// Reads the Gets that a loader has collected from several tasks.
pub(super) struct JoinedGets {
    /// The request.
    pub(super) session: Arc<Session>,
    /// What it has found.
    pub(super) found: Arc<FoundGets>,
}

impl BatchFn<GetId, GetResult> for JoinedGets {
    async fn load(&mut self, ids: &[GetId]) -> HashMap<GetId, GetResult> {
        let results = read(&self.session, &self.found, ids).await;
        ids.iter().copied().zip(results).collect()
    }
}

/// A Get to read.
struct Asked<'a> {
    id: GetId,
    get: &'a Get,
    /// Its key with canonical numbers.
    key: &'a Key,
}

impl Asked<'_> {
    /// What identifies its item. The keys of a table have the same attributes.
    fn item(&self) -> (&str, &KeyValue, Option<&KeyValue>) {
        (&self.get.table, &self.key.partition.1, self.key.sort.as_ref().map(|(_, value)| value))
    }
}

async fn read_missing(session: &Session, found: &FoundGets, ids: &[GetId]) {
    let gets: Vec<(GetId, Arc<Get>)> = {
        let interner = session.interner.lock().unwrap_or_else(PoisonError::into_inner);
        ids.iter().filter_map(|id| Some((*id, interner.get(*id)?))).collect()
    };
    // DynamoDB refuses a batch with an impossible key. No item has such a key, so it needs no call.
    let (possible, impossible): (Vec<_>, Vec<_>) = gets.iter().partition(|(_, get)| key_can_exist(&get.key));
    found.keep(impossible.into_iter().map(|(id, _)| (*id, Ok(None))));
    let keys: Vec<Cow<'_, Key>> = possible.iter().map(|(_, get)| canonical(&get.key)).collect();
    let mut asked: Vec<Asked<'_>> = possible.into_iter().zip(&keys).map(|((id, get), key)| Asked { id: *id, get, key }).collect();
    asked.sort_by(|a, b| a.item().cmp(&b.item()).then_with(|| a.get.cmp(b.get)));
    let items: Vec<&[Asked<'_>]> = asked.chunk_by(|a, b| a.item() == b.item()).collect();
    let projections = projections(&asked);
    let wanted: Vec<Wanted<'_>> = items
        .iter()
        .filter_map(|item| {
            let Get { table, key, .. } = item.first()?.get;
            let projection = projections.get(&**table).map_or(&[][..], Vec::as_slice);
            let consistent = item.iter().any(|asked| asked.id.consistent());
            // The cache answers only if it may answer every Get of the item.
            let max_age = item.iter().map(|asked| asked.get.max_age).min().flatten().filter(|_| !consistent);
            Some(Wanted { request: ItemRequest { table, key, projection, consistent }, max_age })
        })
        .collect();
    let outcomes = read_items(session, &wanted).await;
    found.keep(items.into_iter().zip(outcomes).flat_map(|(item, outcome)| item.iter().map(move |asked| (asked.id, outcome.clone()))));
}

/// The attributes to read of each table. BatchGetItem takes one list for each table: the union, if the Gets differ.
fn projections<'a>(asked: &[Asked<'a>]) -> HashMap<&'a str, Vec<AttributeName>> {
    let mut attributes: BTreeMap<&str, BTreeSet<&AttributeName>> = BTreeMap::new();
    let mut last: Option<&Get> = None;
    for get in asked.iter().map(|asked| asked.get) {
        let key_names = |get: &'a Get| std::iter::once(&get.key.partition).chain(get.key.sort.as_ref()).map(|(name, _)| name);
        // The Gets of a table usually share one list, which is added once.
        let is_same_list = |other: &'a Get| Arc::ptr_eq(&other.projection, &get.projection) && other.table == get.table;
        if last.replace(get).is_some_and(is_same_list) {
            continue;
        }
        let names = attributes.entry(&*get.table).or_default();
        names.extend(get.projection.iter());
        if !get.projection.is_empty() {
            // A returned item is identified by its key alone.
            names.extend(key_names(get));
        }
    }
    attributes.into_iter().map(|(table, names)| (table, names.into_iter().cloned().collect())).collect()
}
