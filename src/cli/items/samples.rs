//! A directory of sample items in, the empty tables filled with them out.

use super::import;
use super::item_file::{ItemFile, KEPT};
use crate::cli::store_choice::explained;
use crate::schema::table::Table;
use crate::table::sdk::store::SdkStore;
use anyhow::{Context, Result, ensure};
use futures_util::future::FutureExt;
use futures_util::stream::{self, StreamExt};
use std::fs;
use std::path::Path;
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// How long the check whether a table is empty may take.
const LOOK_BOUND: Duration = Duration::from_secs(10);

/// Which samples to load.
#[derive(Debug, Clone, Copy)]
pub enum Samples<'a> {
    /// None.
    None,
    /// Those in a directory, if it exists.
    IfThere(&'a Path),
    /// Those in a directory that must exist.
    In(&'a Path),
}

impl<'a> Samples<'a> {
    /// The directory, if there is one to look at.
    pub fn directory(&self) -> Option<&'a Path> {
        match *self {
            Self::None => None,
            Self::IfThere(directory) | Self::In(directory) => Some(directory),
        }
    }
}

/// Parses the small sample files before the tables are known. [`load`] reports their mistakes.
pub fn parsed_ahead(directory: &Path) -> Vec<ItemFile> {
    let mut room = KEPT;
    let paths = names(directory).into_iter().map(|name| directory.join(name)).filter(|path| path.is_file());
    let small = paths.filter_map(|path| {
        let mut file = ItemFile::at(&path).ok()?;
        room = room.checked_sub(file.size().ok()?)?;
        file.parse().ok()?;
        Some(file)
    });
    small.collect()
}

/// Loads `<directory>/<table>.jsonl` into each empty table. Gives the tables that it filled, with the number of their items. Files that were
/// [parsed ahead](parsed_ahead) are not read again.
pub async fn load(store: &SdkStore, tables: &[Table], samples: &Samples<'_>, mut parsed: Vec<ItemFile>) -> Result<Vec<(String, u64)>> {
    let directory = match *samples {
        Samples::None => return Ok(Vec::new()),
        Samples::IfThere(directory) => directory,
        Samples::In(directory) => {
            ensure!(directory.is_dir(), "there is no directory of samples at {}", directory.display());
            directory
        }
    };
    warn_of_strays(directory, tables, matches!(samples, Samples::In(_)));
    let mut files = Vec::new();
    for table in tables {
        let path = directory.join(format!("{}.jsonl", table.name));
        if path.is_file() && is_empty(store, table).await? {
            let file = parsed.iter().position(|file| file.path == path).map(|place| parsed.swap_remove(place));
            files.push((file.map_or_else(|| ItemFile::at(&path), Ok)?, table));
        }
    }
    // The next file is read while the items of the one before are written.
    let mut checked = stream::iter(files)
        .map(|(file, table)| {
            let of = table.clone();
            spawn_blocking(move || file.check(&of)).map(move |checked| (checked, table))
        })
        .buffered(2);
    let mut loaded = Vec::new();
    while let Some((items, table)) = checked.next().await {
        let mut items = items.context("the task that reads the samples has ended")?.context("the samples cannot be loaded")?;
        loaded.push((table.name.clone(), import::load(store, table, &mut items, &|_| {}).await?));
    }
    Ok(loaded)
}

async fn is_empty(store: &SdkStore, table: &Table) -> Result<bool> {
    let empty = store.is_empty(&table.name, Instant::now() + LOOK_BOUND).await;
    empty.map_err(|error| explained(error, &format!("cannot read {}", table.name)))
}

/// Warns of sample files that match no table: they are for another schema, or their names are misspelt. If the user named the directory,
/// it also warns of a directory without sample files.
pub fn warn_of_strays(directory: &Path, tables: &[Table], named: bool) {
    let names = names(directory);
    let is_stray = |name: &&String| !tables.iter().any(|table| name.strip_suffix(".jsonl") == Some(table.name.as_str()));
    let strays: Vec<&str> = names.iter().filter(is_stray).map(String::as_str).collect();
    let what = match (strays.is_empty(), names.is_empty() && named) {
        (false, _) => format!("no table of the schema matches {} in {}", strays.join(", "), directory.display()),
        (true, true) => format!("{} contains no sample files", directory.display()),
        (true, false) => return,
    };
    if let Some(table) = tables.first() {
        eprintln!(
            "warning: {what}\n  Name a sample file after its table, as in {}.jsonl; --sample DIR chooses another directory",
            table.name
        );
    }
}

/// The names of the sample files in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".jsonl")).collect();
    names.sort();
    names
}
