//! `keyfold import`: a file of items in, the items in a table out.

use super::item_file::ItemFile;
use super::schema_file::{self, SchemaChoice};
use super::store_choice::{StoreChoice, explained, table_named};
use crate::schema::table::Table;
use crate::table::store::Store;
use anyhow::{Result, anyhow};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// How long one batch may take, waiting for throttled tables included.
const BATCH_BOUND: Duration = Duration::from_secs(120);

/// Load items from a file into a table
///
/// One item a line in DynamoDB JSON, {"Item": {"PK": {"S": "…"}, …}}, as DynamoDB's export to S3 writes them. The whole file is checked
/// before the first item is written; items that have the same key as one in the table replace it.
#[derive(Debug, Args)]
pub struct Import {
    /// The file; - is standard input
    file: PathBuf,

    /// The table
    #[arg(long, value_name = "NAME")]
    table: String,

    #[command(flatten)]
    choice: SchemaChoice,

    #[command(flatten)]
    store: StoreChoice,
}

impl Import {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let tables = schema_file::load(&self.choice.schema)?.model.tables;
        let table = table_named(&tables, &self.table)?;
        let file = ItemFile::at(&self.file)?;
        let total = file.check(table)?;
        let store = self.store.open_for(table).await?;
        let bar = bar(total);
        let loaded = load(&store, table, &file, &|items| bar.set_position(items)).await;
        bar.finish_and_clear();
        eprintln!("{} items were loaded into {}.", loaded?, table.name);
        Ok(ExitCode::SUCCESS)
    }
}

/// Loads the items of a file that was checked; `progress` is told how many are in. The error says how far it came.
pub async fn load(store: &Store, table: &Table, file: &ItemFile, progress: &dyn Fn(u64)) -> Result<u64> {
    let mut loaded = 0;
    for batch in file.batches(table)? {
        let so_far = |error: anyhow::Error| {
            anyhow!("{error:#}\n  {loaded} items were loaded before that, and perhaps some after; loading them again does no harm")
        };
        let batch = batch.map_err(so_far)?;
        let items = batch.len() as u64;
        let put = store.load(table, batch, Instant::now() + BATCH_BOUND).await;
        put.map_err(|error| so_far(explained(error, &format!("cannot write to {}", table.name))))?;
        loaded += items;
        progress(loaded);
    }
    Ok(loaded)
}

/// A progress bar on standard error, shown only where that is a terminal.
fn bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} items, {per_sec}, {eta} left");
    style.map_or_else(|_| ProgressBar::new(total), |style| ProgressBar::new(total).with_style(style))
}
