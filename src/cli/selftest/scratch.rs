//! Tables as schemas declare them in; the same tables under names of their own, which are deleted at the end, out. A
//! table that exists already is never touched.

use super::tap::{Meter, Tap};
use crate::cli::store_choice::{Remote, explained, in_memory, reachable};
use crate::schema::table::{Billing, Table};
use crate::table::store::TableStore;
use anyhow::{Result, bail, ensure};
use std::sync::{Arc, Mutex, PoisonError};

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
    /// Those that this run created, or is creating.
    made: Mutex<Vec<String>>,
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
        Ok(Self { stores, prefix, made: Mutex::default(), meter: Arc::default() })
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
        let tables: Vec<Table> = tables.iter().map(plain).collect();
        // Noted first: what is being created when the run is stopped must go, too.
        self.made().extend(tables.iter().map(|table| table.name.clone()));
        let created = self.stores[0].create_missing(&tables).await;
        let created = created.map_err(|error| explained(error, "cannot create the scratch tables"))?;
        if let Some(table) = tables.iter().find(|table| !created.contains(&table.name)) {
            // Another process was faster.
            self.made().retain(|name| *name != table.name);
            bail!("{}", taken(&table.name));
        }
        Ok(())
    }

    /// The names of the tables that were created and not deleted yet.
    pub fn left(&self) -> Vec<String> {
        self.made().clone()
    }

    /// Deletes all tables that this run created.
    pub async fn delete(&self) -> Result<()> {
        let mut failed = None;
        for name in self.left() {
            match self.stores[0].delete_table(&name).await {
                Ok(()) => self.made().retain(|left| *left != name),
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

    fn made(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
