//! A store that sees which items are asked for by their keys although an earlier read has brought them. It knows
//! nothing of plans: what a call brings counts for the calls that begin when no other is under way any more, as those
//! of the next wave do, until the next write.

use futures_util::future::{BoxFuture, FutureExt};
use keyfold::schema::table::Table;
use keyfold::table::call_scope::CallScope;
use keyfold::table::data::attribute::{Attribute, Item, Key, KeyValue};
use keyfold::table::data::call::{Page, Query, SortCondition};
use keyfold::table::data::error::TableError;
use keyfold::table::data::write::{BatchWrite, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::retry::budget::RetryBudget;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard};

/// Passes calls on to a store, and notes what they bring and what they ask for again.
pub struct Rereads {
    store: Arc<dyn DataStore>,
    seen: Mutex<Seen>,
}

/// What calls did since the last look.
#[derive(Debug, Default)]
pub struct Seen {
    /// The items that calls have brought since the last write.
    brought: Vec<Brought>,
    /// How many of them were there when no call was under way.
    settled: usize,
    under_way: usize,
    /// Keys that a Get asked for.
    pub gets: usize,
    /// All calls, in words.
    pub calls: Vec<String>,
    /// The Gets of what an earlier read had brought: with all attributes that the Get asks for.
    pub again: Vec<String>,
    /// The Gets that found no attribute that an earlier read had not brought, though it had not asked for all of them.
    pub in_vain: Vec<String>,
}

/// What a call has brought of a table.
#[derive(Debug)]
struct Brought {
    table: String,
    /// None are all.
    attributes: BTreeSet<String>,
    consistent: bool,
    items: Vec<Arc<Item>>,
    what: What,
}

#[derive(Debug)]
enum What {
    /// The item of a key.
    Item(Key),
    /// A page, and whether it holds all items up to its end.
    Page(Box<Query>, Option<Item>),
}

impl Rereads {
    /// Over a store.
    pub fn new(store: impl Into<Arc<dyn DataStore>>) -> Arc<Self> {
        Arc::new(Self { store: store.into(), seen: Mutex::default() })
    }

    /// What calls did since the last look. Then nothing has been brought.
    pub fn take(&self) -> Seen {
        std::mem::take(&mut *self.seen())
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap()
    }

    /// Forgets what was brought before a write, and what is brought by calls that began before it.
    fn forget(&self) {
        let mut seen = self.seen();
        seen.brought.clear();
        seen.settled = 0;
    }

    /// Notes that a read begins.
    fn begin(&self) -> MutexGuard<'_, Seen> {
        let mut seen = self.seen();
        if seen.under_way == 0 {
            seen.settled = seen.brought.len();
        }
        seen.under_way += 1;
        seen
    }

    /// Notes that a read has ended.
    fn end(&self) -> MutexGuard<'_, Seen> {
        let mut seen = self.seen();
        seen.under_way -= 1;
        seen
    }
}

/// Waits until the other calls of the wave have begun. A batch begins some turns later than a Query.
async fn others_begin() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

fn names(list: &[Arc<str>]) -> BTreeSet<String> {
    list.iter().map(ToString::to_string).collect()
}

fn has_key(item: &Item, key: &Key) -> bool {
    std::iter::once(&key.partition)
        .chain(&key.sort)
        .all(|(name, value)| item.get(name) == Some(&Attribute::from(value.clone())))
}

impl Brought {
    /// What it tells of a key: its item, or that there is none.
    fn tells(&self, request: &ItemRequest<'_>) -> Option<Option<&Arc<Item>>> {
        if self.table != request.table || (request.consistent && !self.consistent) {
            return None;
        }
        if let Some(item) = self.items.iter().find(|item| has_key(item, request.key)) {
            return Some(Some(item));
        }
        match &self.what {
            What::Item(key) => (key == request.key).then_some(None),
            What::Page(query, last) => covers(query, last.as_ref(), request.key).then_some(None),
        }
    }

    fn has_all(&self, request: &ItemRequest<'_>) -> bool {
        let asked = names(request.projection);
        self.attributes.is_empty() || (!asked.is_empty() && asked.is_subset(&self.attributes))
    }
}

/// Whether a page would have held the item of a key of texts.
fn covers(query: &Query, last: Option<&Item>, key: &Key) -> bool {
    let (Some((_, partition)), None, Some((name, KeyValue::S(sort)))) = (&query.partition, &query.filter, &key.sort)
    else {
        return false;
    };
    let text = |value: &KeyValue| if let KeyValue::S(text) = value { text.clone() } else { String::new() };
    let place = |item: &Item| match item.get(name) {
        Some(Attribute::S(text)) => text.as_str().to_owned(),
        _ => String::new(),
    };
    let meets = query.sort.as_ref().is_none_or(|(_, condition)| match condition {
        SortCondition::Equal(bound) => *sort == text(bound),
        SortCondition::Less(bound) => *sort < text(bound),
        SortCondition::LessOrEqual(bound) => *sort <= text(bound),
        SortCondition::Greater(bound) => *sort > text(bound),
        SortCondition::GreaterOrEqual(bound) => *sort >= text(bound),
        SortCondition::Between(low, high) => (text(low)..=text(high)).contains(sort),
        SortCondition::BeginsWith(start) => sort.starts_with(&text(start)),
    });
    let after = |place: String| if query.forward { *sort > place } else { *sort < place };
    let begun = query.start.as_ref().is_none_or(|start| after(place(start)));
    let ended = last.is_some_and(|last| after(place(last)));
    partition == &key.partition.1 && meets && begun && !ended
}

impl DataStore for Rereads {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        async move {
            // What was brought when the call begins: of each key, the attributes, and whether they are all.
            let before: Vec<Vec<(BTreeSet<String>, bool)>> = {
                let seen = self.begin();
                let known = |request| {
                    let known = seen.brought[..seen.settled].iter().filter_map(move |brought: &Brought| {
                        let item = brought.tells(request)?;
                        let names = item.map(|item| item.members().map(|(name, _)| name.to_string()).collect());
                        Some((names.unwrap_or_default(), brought.has_all(request)))
                    });
                    known.collect()
                };
                requests.iter().map(known).collect()
            };
            others_begin().await;
            let (found, units) = self.store.get_items(requests, scope).await;
            let mut seen = self.end();
            let keys: Vec<_> = requests.iter().map(|request| request.key).collect();
            seen.calls.push(format!("Get {keys:?}"));
            seen.gets += requests.len();
            for ((request, found), before) in requests.iter().zip(&found).zip(before) {
                let item = found.as_ref().unwrap();
                let gained = |had: &BTreeSet<String>| {
                    item.iter().flat_map(|item| item.members()).any(|(name, _)| !had.contains(&name.to_string()))
                };
                let key = format!("{} {:?}", request.table, request.key);
                if before.iter().any(|(_, has_all)| *has_all) {
                    seen.again.push(key);
                } else if before.iter().any(|(had, _)| !gained(had)) {
                    seen.in_vain.push(key);
                }
                seen.brought.push(Brought {
                    table: request.table.to_owned(),
                    attributes: names(request.projection),
                    consistent: request.consistent,
                    items: item.iter().cloned().collect(),
                    what: What::Item(request.key.clone()),
                });
            }
            drop(seen);
            (found, units)
        }
        .boxed()
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        async move {
            drop(self.begin());
            others_begin().await;
            let answer = self.store.read_page(query, scope).await;
            let mut seen = self.end();
            let (page, units) = answer?;
            let Query { index, partition, sort, limit, projection, .. } = query;
            seen.calls.push(format!("Query {index:?} {partition:?} {sort:?} limit {limit} for {projection:?}"));
            if let (None, Some(projection)) = (&query.index, &query.projection) {
                seen.brought.push(Brought {
                    table: query.table.to_string(),
                    attributes: names(projection),
                    consistent: query.consistent,
                    items: page.items.clone(),
                    what: What::Page(Box::new(query.clone()), page.last_key.clone()),
                });
            }
            drop(seen);
            Ok((page, units))
        }
        .boxed()
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        async move {
            let answer = self.store.write(call, scope).await;
            self.forget();
            answer
        }
        .boxed()
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move {
            let answer = self.store.transact(calls, token, scope).await;
            self.forget();
            answer
        }
        .boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move {
            let answer = self.store.write_batch(table, writes, scope).await;
            self.forget();
            answer
        }
        .boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        self.store.ready(tables)
    }

    fn retries(&self) -> &RetryBudget {
        self.store.retries()
    }

    fn has_eventual_indexes(&self) -> bool {
        self.store.has_eventual_indexes()
    }
}
