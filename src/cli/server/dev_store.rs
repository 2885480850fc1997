//! The tables and the samples of `keyfold dev` in, its store with both out. A store in memory is filled while the
//! schema is still checked.

use crate::cli::items::item_file::ItemFile;
use crate::cli::items::samples::{self, Samples};
use crate::cli::store_choice::{embedded, explained, in_memory};
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::table::store::TableStore;
use anyhow::{Result, ensure};
use futures_util::future::{BoxFuture, FutureExt};
use std::path::Path;
use tokio::task::spawn_blocking;

/// A store in memory leaves nothing behind if the schema has mistakes, so its work begins at once, on other threads.
/// Only large samples wait, as all of a store in a directory does, until the store is asked for.
pub struct DevStore {
    in_memory: bool,
    opening: BoxFuture<'static, Result<TableStore>>,
    /// The files of the samples, if they are small.
    parsing: BoxFuture<'static, Result<Option<Vec<ItemFile>>>>,
    samples: Samples,
}

/// A store that is being filled.
pub type Filling = BoxFuture<'static, Result<FilledStore>>;

/// A store with its tables.
pub struct FilledStore {
    /// The store.
    pub store: TableStore,
    /// The tables that samples were loaded into, with the number of their items.
    pub filled: Vec<(String, u64)>,
}

impl DevStore {
    /// The store in a directory, or in memory. Must be called in a Tokio runtime.
    pub fn begin(directory: Option<&Path>, samples: Samples) -> Self {
        if let Some(directory) = directory.map(Path::to_owned) {
            let opening = async move { embedded(&directory) }.boxed();
            return Self { in_memory: false, opening, parsing: async { Ok(None) }.boxed(), samples };
        }
        let opened = spawn_blocking(in_memory);
        let opening = async { opened.await? };
        let of = samples.clone();
        let parsed = spawn_blocking(move || of.directory().and_then(samples::parsed_ahead));
        Self { in_memory: true, opening: opening.boxed(), parsing: async { Ok(parsed.await?) }.boxed(), samples }
    }

    /// Creates the missing tables and loads the samples into the empty ones.
    pub fn fill(self, tables: Vec<Table>) -> Filling {
        let Self { in_memory, opening, parsing, samples } = self;
        let begun = async move {
            let store = opening.await?;
            create(&store, &tables).await?;
            let filled = match parsing.await? {
                Some(parsed) => Some(samples::load(&store, &tables, &samples, parsed).await?),
                None => None,
            };
            anyhow::Ok((store, tables, samples, filled))
        };
        let begun = if in_memory {
            let task = tokio::spawn(begun);
            async { task.await? }.boxed()
        } else {
            begun.boxed()
        };
        let ended = async {
            let (store, tables, samples, filled) = begun.await?;
            let filled = match filled {
                Some(filled) => filled,
                None => samples::load(&store, &tables, &samples, Vec::new()).await?,
            };
            Ok(FilledStore { store, filled })
        };
        ended.boxed()
    }
}

impl FilledStore {
    /// Checks that the tables which a schema watches have the streams that it needs.
    pub async fn check_streams(&self, model: &Model) -> Result<()> {
        let compared = self.store.differences_and_streams(&model.tables, &model.watched_tables()).await;
        matching(&compared.map_err(|error| explained(error, "cannot describe the tables"))?)
    }
}

/// Creates the missing tables. Those that were there must match the schema.
async fn create(store: &TableStore, tables: &[Table]) -> Result<()> {
    let made = store.create_missing(tables).await.map_err(|error| explained(error, "cannot create the tables"))?;
    let found: Vec<Table> = tables.iter().filter(|table| !made.contains(&table.name)).cloned().collect();
    let differences =
        store.differences(&found).await.map_err(|error| explained(error, "cannot describe the tables"))?;
    matching(&differences)
}

fn matching(differences: &[String]) -> Result<()> {
    ensure!(
        differences.is_empty(),
        "the existing tables do not match the schema; name another directory with --data, or delete this one\n  {}",
        differences.join("\n  ")
    );
    Ok(())
}
