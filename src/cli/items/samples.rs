//! A directory of sample items in, the empty tables filled with them out.

use super::callers;
use super::import;
use super::item_file::{ItemFile, KEPT};
use crate::cli::store_choice::explained;
use crate::schema::table::Table;
use crate::table::store::TableStore;
use anyhow::{Context, Result, ensure};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

/// How long the check whether a table is empty may take.
const LOOK_BOUND: Duration = Duration::from_secs(10);

/// How the name of a sample file goes on after that of its table. Of two files of a table, the first one counts.
const ENDINGS: [&str; 3] = [".jsonl", ".json", ".csv"];

/// Which samples to load.
#[derive(Debug, Clone)]
pub enum Samples {
    /// None.
    None,
    /// Those in a directory, if it exists.
    IfThere(PathBuf),
    /// Those in a directory that must exist.
    In(PathBuf),
}

impl Samples {
    /// Those in the directory that the user named, or else in `samples`.
    pub fn new(named: Option<&Path>) -> Self {
        named.map_or_else(|| Self::IfThere("samples".into()), |named| Self::In(named.to_owned()))
    }

    /// The directory, if there is one to look at.
    pub fn directory(&self) -> Option<&Path> {
        match self {
            Self::None => None,
            Self::IfThere(directory) | Self::In(directory) => Some(directory),
        }
    }

    /// Fails if the directory must exist and does not. Warns of sample files that match no table: they are for another
    /// schema, or their names are misspelt. If the user named the directory, it also warns of one without sample files.
    pub fn check(&self, tables: &[Table]) -> Result<()> {
        let Some(directory) = self.directory() else { return Ok(()) };
        let is_named = matches!(self, Self::In(_));
        ensure!(
            !is_named || directory.is_dir(),
            "there is no directory of samples at {0}: make it, with a file {1}.jsonl, or leave --sample out",
            directory.display(),
            tables.first().map_or("<table>", |table| table.name.as_str())
        );
        let names = names(directory);
        let is_stray = |name: &&String| !tables.iter().any(|table| table_of(name) == Some(table.name.as_str()));
        let strays: Vec<&str> = names.iter().filter(is_stray).map(String::as_str).collect();
        let what = match (strays.is_empty(), names.is_empty() && is_named) {
            (false, _) => format!("no table of the schema matches {} in {}", strays.join(", "), directory.display()),
            (true, true) => format!("{} contains no sample files", directory.display()),
            (true, false) => return Ok(()),
        };
        if let Some(table) = tables.first() {
            eprintln!(
                "warning: {what}\n  Name a sample file after its table, as in {}.jsonl; --sample DIR chooses another directory",
                table.name
            );
        }
        Ok(())
    }
}

/// Parses the sample files before the tables are known; `None` if they are too large together, or one cannot be read.
/// [`load`] reports their mistakes.
pub fn parsed_ahead(directory: &Path) -> Option<Vec<ItemFile>> {
    let paths = names(directory).into_iter().filter(|name| directory.join(name).is_file());
    let opened = paths.map(|name| ItemFile::for_table(&directory.join(&name), table_of(&name)?, &mut |_| {}).ok());
    let mut files: Vec<ItemFile> = opened.collect::<Option<_>>()?;
    let bytes: u64 = files.iter().map(|file| file.size().ok()).sum::<Option<_>>()?;
    if bytes > KEPT {
        return None;
    }
    files.iter_mut().try_for_each(ItemFile::parse).ok()?;
    Some(files)
}

/// Loads the [file of samples](file_for) of each empty table. Gives the tables that it filled, with the number of their
/// items. Files that were [parsed ahead](parsed_ahead) are not read again. Without a directory, nothing is loaded.
pub async fn load(
    store: &TableStore,
    tables: &[Table],
    samples: &Samples,
    mut parsed: Vec<ItemFile>,
) -> Result<Vec<(String, u64)>> {
    let Some(directory) = samples.directory() else { return Ok(Vec::new()) };
    let mut loads = Vec::new();
    for table in tables {
        if let Some(path) = file_for(directory, &table.name)
            && is_empty(store, table).await?
        {
            let file = parsed.iter().position(|file| file.is_at(&path)).map(|place| parsed.swap_remove(place));
            loads.push(load_file(store, table, (path, file)));
        }
    }
    // The next file is read while the items of the one before are written.
    stream::iter(loads).buffered(2).try_collect().await
}

/// Loads a file into its table. Gives the table's name and the number of the items.
async fn load_file(
    store: &TableStore,
    table: &Table,
    (path, file): (PathBuf, Option<ItemFile>),
) -> Result<(String, u64)> {
    let of = table.clone();
    let checked = spawn_blocking(move || open(&path, file, &of.name)?.check(&of, &mut |_| {}))
        .await
        .context("the task that reads the samples has ended")?;
    let mut items = checked.context("the samples cannot be loaded")?;
    Ok((table.name.clone(), import::load(store, table, &mut items, &|_| {}).await?))
}

/// The file, if it is not open yet. What a person may want to know of it is a warning.
pub fn open(path: &Path, opened: Option<ItemFile>, table: &str) -> Result<ItemFile> {
    let warn = &mut |note: &str| eprintln!("warning: {note}");
    opened.map_or_else(|| ItemFile::for_table(path, table, warn), Ok)
}

/// The sample file of a table in a directory: `<table>.jsonl`, `<table>.json` or `<table>.csv`, with items in any form
/// that `keyfold import` reads.
pub fn file_for(directory: &Path, table: &str) -> Option<PathBuf> {
    let paths = ENDINGS.iter().map(|ending| format!("{table}{ending}")).filter(|name| table_of(name).is_some());
    paths.map(|name| directory.join(name)).find(|path| path.is_file())
}

/// The table whose samples a file of this name has.
fn table_of(name: &str) -> Option<&str> {
    let is_sample = name != callers::FILE;
    ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)).filter(|table| is_sample && !table.is_empty())
}

async fn is_empty(store: &TableStore, table: &Table) -> Result<bool> {
    let empty = store.is_empty(&table.name, Instant::now() + LOOK_BOUND).await;
    empty.map_err(|error| explained(error, &format!("cannot read {}", table.name)))
}

/// The names of the sample files in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| table_of(name).is_some()).collect();
    names.sort();
    names
}
