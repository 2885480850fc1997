//! The ids of Gets in; what they found out. Each Get is read once until the next write: 100 keys in each BatchGetItem,
//! side by side, or a single one by GetItem. Must not know how its callers join.

use super::cached_reads::{CachedGet, read_items};
use super::interner::GetId;
use super::known_items::KnownItems;
use super::session::{Session, lost};
use crate::table::data::attribute::{AttributeName, AttributeNames, Key, KeyValue};
use crate::table::data::call::Get;
use crate::table::data::key_identity::{canonical, key_can_exist};
use crate::table::data_store::{GetResult, ItemRequest};
use dataloader::BatchFn;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::iter::{once, repeat};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What the Gets of a request have found since its last write.
#[derive(Debug, Default)]
pub(super) struct FoundGets {
    results: Mutex<Vec<Option<GetResult>>>,
    /// What all reads since then have found of the tables.
    pub(super) known: Arc<KnownItems>,
}

impl FoundGets {
    /// The results of these Gets; `None` if one of them is not read yet.
    pub(super) fn all(&self, ids: &[GetId]) -> Option<Vec<GetResult>> {
        let results = self.results();
        ids.iter().map(|id| results.get(id.place()).cloned().flatten()).collect()
    }

    /// The Gets that are not read yet, each once, in the order of their ids.
    fn missing(&self, ids: &[GetId]) -> Vec<GetId> {
        let results = self.results();
        let mut missing: Vec<GetId> =
            ids.iter().copied().filter(|id| !matches!(results.get(id.place()), Some(Some(_)))).collect();
        missing.sort_unstable();
        missing.dedup();
        missing
    }

    /// The Gets of what is not known. What is known is kept as their result.
    fn without_known(&self, mut gets: SmallVec<[(GetId, Arc<Get>); 1]>) -> SmallVec<[(GetId, Arc<Get>); 1]> {
        if !self.known.is_empty() {
            gets.retain(|(id, get)| match self.known.item(get.request()) {
                Some(item) => {
                    self.keep([(*id, Ok(item))]);
                    false
                }
                None => true,
            });
        }
        gets
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
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
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
struct PendingGet<'a> {
    id: GetId,
    get: &'a Get,
    /// Its key with canonical numbers.
    key: Cow<'a, Key>,
}

impl PendingGet<'_> {
    /// What identifies its item. The keys of a table have the same attributes.
    fn item(&self) -> (&str, &KeyValue, Option<&KeyValue>) {
        (&self.get.table, &self.key.partition.1, self.key.sort.as_ref().map(|(_, value)| value))
    }
}

async fn read_missing(session: &Session, found: &FoundGets, ids: &[GetId]) {
    // Most batches have one Get.
    let gets: SmallVec<[(GetId, Arc<Get>); 1]> = {
        let interner = session.interner.lock().unwrap_or_else(PoisonError::into_inner);
        ids.iter().filter_map(|id| Some((*id, interner.get(*id)?))).collect()
    };
    // DynamoDB refuses a batch with an impossible key. No item has such a key, so it needs no call.
    let is_possible = |(_, get): &&(GetId, Arc<Get>)| key_can_exist(&get.key);
    let gets = found.without_known(gets);
    found.keep(gets.iter().filter(|get| !is_possible(get)).map(|(id, _)| (*id, Ok(None))));
    let asked = gets.iter().filter(is_possible).map(|(id, get)| PendingGet { id: *id, get, key: canonical(&get.key) });
    let mut asked: SmallVec<[PendingGet<'_>; 1]> = asked.collect();
    asked.sort_by(|a, b| a.item().cmp(&b.item()).then_with(|| a.get.cmp(b.get)));
    let tables: SmallVec<[(&[PendingGet<'_>], AttributeNames); 1]> =
        asked.chunk_by(|a, b| a.get.table == b.get.table).map(|of_table| (of_table, projection(of_table))).collect();
    let items = || {
        tables
            .iter()
            .flat_map(|(of_table, projection)| of_table.chunk_by(|a, b| a.item() == b.item()).zip(repeat(projection)))
    };
    let wanted = items().filter_map(|(item, projection)| {
        let PendingGet { get, key, .. } = item.first()?;
        let consistent = item.iter().any(|asked| asked.id.consistent());
        // The cache answers only if it may answer every Get of the item.
        let max_age = item.iter().map(|asked| asked.get.max_age).min().flatten().filter(|_| !consistent);
        Some(CachedGet { request: ItemRequest { table: &get.table, key, projection, consistent }, max_age })
    });
    let outcomes = read_items(session, &found.known, &wanted.collect::<SmallVec<[CachedGet<'_>; 1]>>()).await;
    found.keep(
        items()
            .zip(outcomes)
            .flat_map(|((item, _), outcome)| item.iter().map(move |asked| (asked.id, outcome.clone()))),
    );
}

/// The attributes to read of a table. BatchGetItem takes one list for each table: the union, if its Gets differ.
fn projection(of_table: &[PendingGet<'_>]) -> AttributeNames {
    let lists = || of_table.iter().map(|asked| &asked.get.projection);
    // The keys of a table have the same attributes.
    let keys = || {
        of_table
            .iter()
            .take(1)
            .flat_map(|asked| once(&asked.key.partition).chain(&asked.key.sort))
            .map(|(name, _)| name)
    };
    // A list without names asks for all.
    if lists().any(|list| list.is_empty()) {
        return AttributeNames::default();
    }
    // A returned item is identified by its key alone.
    if let Some(first) = lists().next()
        && lists().all(|list| Arc::ptr_eq(list, first))
        && keys().all(|key| first.contains(key))
    {
        return first.clone();
    }
    let names: BTreeSet<&AttributeName> = lists().flat_map(|list| list.iter()).chain(keys()).collect();
    names.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(projection: &[&str]) -> Get {
        let value = |text: &str| KeyValue::S(text.into());
        let key = Key { partition: ("PK".into(), value("p")), sort: Some(("SK".into(), value("s"))) };
        let projection = projection.iter().map(|name| (*name).into()).collect();
        Get { table: "t".into(), key, projection, consistent: false, max_age: None }
    }

    fn asked(gets: &[Get]) -> AttributeNames {
        let mut interner = crate::table::request::interner::Interner::default();
        let asked = gets.iter().map(|get| PendingGet {
            id: interner.id(Arc::new(get.clone())),
            get,
            key: Cow::Borrowed(&get.key),
        });
        projection(&asked.collect::<Vec<_>>())
    }

    #[test]
    fn a_table_has_one_list_with_its_keys() {
        let usual = get(&["PK", "SK", "name"]);
        assert!(Arc::ptr_eq(&asked(&[usual.clone(), usual.clone()]), &usual.projection));
        let names = |gets: &[Get]| asked(gets).iter().map(|name| name.to_string()).collect::<Vec<_>>();
        assert_eq!(names(&[get(&["name"])]), ["PK", "SK", "name"]);
        assert_eq!(names(&[usual.clone(), get(&["PK", "SK", "age"])]), ["PK", "SK", "age", "name"]);
        assert_eq!(names(&[usual, get(&[])]), [""; 0], "all attributes");
    }
}
