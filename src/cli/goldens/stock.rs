//! The items of tables that cases run on: loaded once, and put back after what a case wrote. Must not know cases.

use crate::cli::store_choice::explained;
use crate::schema::table::{Index, KeyAttribute, Projection, Table};
use crate::table::bulk::export_lines::item_to_json;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::call::Query;
use crate::table::data::limits::WRITES_PER_BATCH;
use crate::table::data::write::{BatchWrite, WriteError};
use crate::table::data_store::DataStore;
use crate::table::store::TableStore;
use anyhow::{Result, anyhow, bail, ensure};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Longest time of a page or a batch.
const CALL_LIMIT: Duration = Duration::from_secs(60);
/// Longest time until an index shows what its table has. Mostly, it takes less than a second.
const INDEX_LIMIT: Duration = Duration::from_secs(60);
/// The first wait for an index, which doubles up to a second.
const FIRST_WAIT: Duration = Duration::from_millis(50);
/// The most items of a page. DynamoDB ends it at a megabyte.
const PAGE: u32 = 1_000;

/// The writes among the operations that a gateway makes.
const WRITES: [&str; 5] = ["PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchWriteItem"];

/// Whether an operation changes items.
pub fn is_write(operation: &str) -> bool {
    WRITES.contains(&operation)
}

/// A table with the items that it must have whenever a case begins.
pub struct Stock {
    table: Table,
    /// As the store gave them back: it writes numbers in a form of its own.
    items: HashMap<Key, Item>,
}

impl Stock {
    /// Loads the items of a table that has none.
    pub async fn load(store: &TableStore, table: &Table, items: Vec<Item>) -> Result<Self> {
        let cannot = |error| explained(error, &format!("cannot load the items of {}", table.name));
        store.put_batch(table, items.clone(), Instant::now() + CALL_LIMIT).await.map_err(cannot)?;
        let stock = Self::take(store, table).await?;
        let lost = items.iter().find(|item| key(table, item).is_none_or(|key| !stock.items.contains_key(&key)));
        ensure!(lost.is_none(), "{} lacks an item that was loaded into it: {lost:?}", table.name);
        stock.wait_for_indexes(store).await?;
        Ok(stock)
    }

    /// The items that a table has now.
    pub async fn take(store: &TableStore, table: &Table) -> Result<Self> {
        Ok(Self { items: items_by_key(store, table, None).await?, table: table.clone() })
    }

    /// The items as lines of an export.
    pub fn text(&self) -> String {
        self.items.values().map(|item| format!("{}\n", Value::Object(item_to_json(item)))).collect()
    }

    /// Puts back what differs.
    pub async fn restore(&self, store: &TableStore) -> Result<()> {
        let found = items_by_key(store, &self.table, None).await?;
        let puts = self.items.iter().filter(|(key, item)| found.get(key).is_none_or(|found| !is_same(found, item)));
        let puts = puts.map(|(_, item)| BatchWrite::Put(item.clone()));
        let deletes = found.keys().filter(|key| !self.items.contains_key(key)).cloned().map(BatchWrite::Delete);
        let writes: Vec<BatchWrite> = puts.chain(deletes).collect();
        for batch in writes.chunks(WRITES_PER_BATCH) {
            let written =
                store.write_batch(&self.table.name, batch.to_vec(), (Instant::now() + CALL_LIMIT).into()).await;
            written.map_err(|error| not_restored(&self.table, error))?;
        }
        match writes.is_empty() {
            true => Ok(()),
            false => self.wait_for_indexes(store).await,
        }
    }

    /// Waits until each global index shows what the table has.
    async fn wait_for_indexes(&self, store: &TableStore) -> Result<()> {
        if !store.has_eventual_indexes() {
            return Ok(());
        }
        for index in self.table.indexes.iter().filter(|index| !index.local) {
            let (end, mut wait) = (Instant::now() + INDEX_LIMIT, FIRST_WAIT);
            let expected = self.shown_by(index);
            while !are_same(&items_by_key(store, &self.table, Some(index)).await?, &expected) {
                let (index, table, limit) = (&index.name, &self.table.name, INDEX_LIMIT.as_secs());
                ensure!(Instant::now() < end, "the index {index} of {table} does not show its items after {limit} s");
                sleep(wait).await;
                wait = (wait * 2).min(Duration::from_secs(1));
            }
        }
        Ok(())
    }

    /// What an index has of the items: those with its key, and of them what it projects.
    fn shown_by(&self, index: &Index) -> HashMap<Key, Item> {
        let has_key =
            |item: &Item| index.keys().all().all(|key| item.get(&key.name).is_some_and(|value| fits(key, value)));
        let is_shown = |name: &str| match &index.projection {
            Projection::All => true,
            Projection::KeysOnly => is_key(&self.table, index, name),
            Projection::Include(names) => is_key(&self.table, index, name) || names.iter().any(|one| one == name),
        };
        let shown = |item: &Item| -> Item {
            let members = item.iter().filter(|(name, _)| is_shown(name));
            members.map(|(name, value)| (name.clone(), value.clone())).collect()
        };
        let items = self.items.iter().filter(|(_, item)| has_key(item));
        items.map(|(key, item)| (key.clone(), shown(item))).collect()
    }
}

fn not_restored(table: &Table, error: WriteError) -> anyhow::Error {
    let tried = format!("cannot put the items of {} back", table.name);
    match error {
        WriteError::Uncertain(error) | WriteError::Failed(error) => explained(error, &tried),
        other => anyhow!("{tried}: {other:?}"),
    }
}

fn is_key(table: &Table, index: &Index, name: &str) -> bool {
    table.primary_key().chain(index.keys().all()).any(|key| key.name == name)
}

/// Whether a value can be in an index whose key it is.
fn fits(key: &KeyAttribute, value: &Attribute) -> bool {
    use crate::schema::table::KeyType;
    matches!(
        (key.kind, value),
        (KeyType::S, Attribute::S(_)) | (KeyType::N, Attribute::N(_)) | (KeyType::B, Attribute::B(_))
    )
}

fn key(table: &Table, item: &Item) -> Option<Key> {
    Key::new(item, &table.partition.name, table.sort.as_ref().map(|key| key.name.as_str()))
}

/// Whether two answers have the same items.
fn are_same(one: &HashMap<Key, Item>, other: &HashMap<Key, Item>) -> bool {
    let is_there = |(key, item): (&Key, &Item)| other.get(key).is_some_and(|other| is_same(item, other));
    one.len() == other.len() && one.iter().all(is_there)
}

/// Whether two answers are the same item.
fn is_same(one: &Item, other: &Item) -> bool {
    one == other || with_ordered_sets(one) == with_ordered_sets(other)
}

/// An item with the elements of its sets in one order: a store keeps none, and two answers may differ.
fn with_ordered_sets(item: &Item) -> Item {
    fn sorted<T: Ord + Clone>(elements: &[T]) -> Vec<T> {
        let mut elements = elements.to_vec();
        elements.sort();
        elements
    }
    fn ordered(value: &Attribute) -> Attribute {
        match value {
            Attribute::Ss(elements) => Attribute::Ss(sorted(elements)),
            Attribute::Ns(elements) => Attribute::Ns(sorted(elements)),
            Attribute::Bs(elements) => Attribute::Bs(sorted(elements)),
            Attribute::L(elements) => Attribute::L(elements.iter().map(ordered).collect()),
            Attribute::M(members) => Attribute::M(with_ordered_sets(members)),
            other => other.clone(),
        }
    }
    item.iter().map(|(name, value)| (name.clone(), ordered(value))).collect()
}

/// All items of a table, read strongly, or of an index.
async fn items_by_key(store: &TableStore, table: &Table, index: Option<&Index>) -> Result<HashMap<Key, Item>> {
    let mut query = Query {
        table: table.name.as_str().into(),
        index: index.map(|index| index.name.as_str().into()),
        partition: None,
        equal: Vec::new(),
        sort: None,
        filter: None,
        // No names are all attributes.
        projection: Some(Arc::new([])),
        forward: true,
        limit: PAGE,
        start: None,
        consistent: index.is_none(),
        max_age: None,
    };
    let mut items = HashMap::new();
    loop {
        let page = store.read_page(&query, (Instant::now() + CALL_LIMIT).into()).await;
        let (page, _) = page.map_err(|error| explained(error, &format!("cannot read {}", table.name)))?;
        for item in page.items {
            let Some(key) = key(table, &item) else { bail!("{} has an item without its key", table.name) };
            items.insert(key, Arc::unwrap_or_clone(item));
        }
        match page.last_key {
            Some(last) => query.start = Some(last),
            None => return Ok(items),
        }
    }
}
