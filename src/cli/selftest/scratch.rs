//! Tables as schemas declare them in; the same tables under names of their own, which are deleted at the end, out. A
//! table that exists already is never touched.

use super::tap::{Meter, Tap};
use crate::cli::store_choice::{Remote, explained, in_memory, reachable};
use crate::schema::table::{Billing, Table};
use crate::table::store::TableStore;
use anyhow::{Context, Result, ensure};
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::RwLock;

/// The longest prefix. DynamoDB's names have up to 255 characters.
const MAX_PREFIX: usize = 100;

/// Where the scratch tables are.
#[derive(Debug, Clone)]
pub enum ScratchPlace {
    /// In memory.
    Memory,
    /// On DynamoDB or a compatible server.
    Remote(Remote),
}

/// The scratch tables of a run.
pub struct Scratch {
    stores: Vec<TableStore>,
    prefix: String,
    /// Those that this run created.
    made: Arc<Mutex<Vec<String>>>,
    /// Read by who creates tables.
    creating: Arc<RwLock<()>>,
    /// What all calls take.
    pub meter: Arc<Meter>,
}

impl Scratch {
    /// No tables yet. Two stores of one place, as two copies of the gateway have them.
    pub async fn new(place: &ScratchPlace, prefix: String) -> Result<Self> {
        let stores = match place {
            ScratchPlace::Memory => vec![in_memory()?; 2],
            ScratchPlace::Remote(remote) => vec![remote.store().await?, remote.store().await?],
        };
        Ok(Self { stores, prefix, made: Arc::default(), creating: Arc::default(), meter: Arc::default() })
    }

    /// One of the two stores, with a tap of its own.
    pub fn tapped(&self, number: usize, tap: &Arc<Tap>) -> TableStore {
        self.stores[number % self.stores.len()].clone().with_wire(tap.clone())
    }

    /// What the names of a ground's tables have before them.
    pub fn before(&self, ground: &str) -> String {
        format!("{}-{ground}-", self.prefix)
    }

    /// Gives tables of a ground their names here.
    pub fn rename(&self, ground: &str, tables: &mut [Table]) {
        let before = self.before(ground);
        tables.iter_mut().for_each(|table| table.name.insert_str(0, &before));
    }

    /// Fails if one of the tables exists, or if no server answers.
    pub async fn refuse_existing(&self, tables: &[Table]) -> Result<()> {
        reachable(&self.stores[0], tables).await?;
        for table in tables {
            let exists = self.stores[0].exists(&table.name).await;
            let exists = exists.map_err(|error| explained(error, "cannot look for tables"))?;
            ensure!(!exists, "{}", taken(&table.name));
        }
        Ok(())
    }

    /// Creates tables that have their names here already. They are paid by request, and nothing in them expires.
    pub async fn create(&self, tables: &[Table]) -> Result<()> {
        self.refuse_existing(tables).await?;
        let plain = |table: &Table| {
            let mut plain = Table {
                billing: Billing::PayPerRequest,
                time_to_live: None,
                point_in_time_recovery: false,
                ..table.clone()
            };
            plain.indexes.iter_mut().for_each(|index| index.capacity = None);
            plain
        };
        // In a task, which goes on when the run is stopped: what is being created then must be deleted, too.
        let (store, made) = (self.stores[0].clone(), self.made.clone());
        let (tables, busy) = (tables.iter().map(plain).collect::<Vec<_>>(), self.creating.clone().read_owned().await);
        let task = tokio::spawn(async move {
            let created = join_all(tables.iter().map(|table| create(&store, table, &made))).await;
            drop(busy);
            created.into_iter().collect::<Result<()>>()
        });
        task.await.context("the task that creates tables has ended")?
    }

    /// The names of the tables that were created and not deleted yet.
    pub fn left(&self) -> Vec<String> {
        locked(&self.made).clone()
    }

    /// Deletes all tables that this run created, when those that it is creating are there.
    pub async fn delete(&self) -> Result<()> {
        let _all_are_there = self.creating.write().await;
        let mut failed = None;
        for name in self.left() {
            match self.stores[0].delete_table(&name).await {
                Ok(()) => locked(&self.made).retain(|left| *left != name),
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            None => Ok(()),
            Some(error) => Err(explained(
                error,
                &format!("cannot delete scratch tables; delete them yourself: {}", self.left().join(", ")),
            )),
        }
    }
}

/// Creates a table that did not exist a moment ago, and notes it.
async fn create(store: &TableStore, table: &Table, made: &Mutex<Vec<String>>) -> Result<()> {
    let created = store.create_missing(std::slice::from_ref(table)).await;
    let is_of_another = created.as_ref().is_ok_and(Vec::is_empty);
    ensure!(!is_of_another, "{}", taken(&table.name));
    // Also after an error, since it may be there.
    locked(made).push(table.name.clone());
    created.map(drop).map_err(|error| explained(error, "cannot create the scratch tables"))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn taken(name: &str) -> String {
    format!("the table {name} exists, and only new tables are used\n  Choose another --table-prefix")
}

/// Reads a prefix: what DynamoDB allows in names of tables.
pub fn prefix(text: &str) -> Result<String, String> {
    let is_allowed = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'_' | b'.' | b'-');
    match (1..=MAX_PREFIX).contains(&text.len()) && text.bytes().all(is_allowed) {
        true => Ok(text.to_owned()),
        false => Err(format!("write 1 to {MAX_PREFIX} letters, digits, hyphens, dots and underscores")),
    }
}

/// A prefix that no other run has.
pub fn any_prefix() -> String {
    let mut rng = fastrand::Rng::new();
    format!("keyfold-selftest-{}", std::iter::repeat_with(|| rng.lowercase()).take(8).collect::<String>())
}
