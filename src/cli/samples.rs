//! A directory of sample items in, the items in the tables that are empty out.

use super::import;
use super::item_file::ItemFile;
use super::store_choice::explained;
use crate::schema::table::Table;
use crate::table::store::Store;
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How long a table may take to tell whether it is empty.
const LOOK_BOUND: Duration = Duration::from_secs(10);

/// Which samples are wanted.
#[derive(Debug, Clone, Copy)]
pub enum Samples<'a> {
    /// None.
    None,
    /// Those in a directory, if it is there.
    IfThere(&'a Path),
    /// Those in a directory that must be there.
    In(&'a Path),
}

/// Loads `<directory>/<table>.jsonl` into each table that is empty; gives the tables that got items, and how many.
pub async fn load(store: &Store, tables: &[Table], samples: &Samples<'_>) -> Result<Vec<(String, u64)>> {
    let directory = match *samples {
        Samples::None => return Ok(Vec::new()),
        Samples::IfThere(directory) => directory,
        Samples::In(directory) => {
            ensure!(directory.is_dir(), "there is no directory of samples at {}", directory.display());
            directory
        }
    };
    let mut loaded = Vec::new();
    for table in tables {
        let path = directory.join(format!("{}.jsonl", table.name));
        if !path.is_file() {
            continue;
        }
        let empty = store.is_empty(&table.name, Instant::now() + LOOK_BOUND).await;
        if !empty.map_err(|error| explained(error, &format!("cannot look into {}", table.name)))? {
            continue;
        }
        let file = ItemFile::at(&path)?;
        file.check(table).context("the samples cannot be loaded")?;
        loaded.push((table.name.clone(), import::load(store, table, &file, &|_| {}).await?));
    }
    Ok(loaded)
}
