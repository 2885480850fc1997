//! `keyfold import`: a file of items in, the items in a table out.

use super::coverage::Coverage;
use super::item_file::{CheckedItems, ItemFile};
use crate::cli::schema_file::{self, SchemaChoice};
use crate::cli::store_choice::{StoreChoice, explained, table_named};
use crate::schema::table::Table;
use crate::table::store::TableStore;
use anyhow::{Result, anyhow};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// How long one batch may take, including waits for a throttled table.
const BATCH_BOUND: Duration = Duration::from_secs(120);

/// Load items from a file into a table
///
/// The file may be an export to S3 (its directory), the output of `aws dynamodb scan`, a request of writes, a list or
/// lines of items in DynamoDB's JSON or in plain JSON, a CSV file, or a model of NoSQL Workbench. gzip may pack it.
/// The format is recognised. The whole file is checked before the first item is written. An item replaces the item with
/// the same key. Items that other programs wrote otherwise than Keyfold would are counted: keys and times in another
/// spelling, and items without the constants of their type.
#[derive(Debug, Args)]
pub struct Import {
    /// The file, or a directory of files; - is standard input
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
        let model = schema_file::load(&self.choice.schema)?.model;
        let table = table_named(&model.tables, &self.table)?;
        let mut coverage = Coverage::new(&model, table);
        let mut items = ItemFile::for_table(&self.file, &table.name, &mut |note| eprintln!("note: {note}"))?
            .check(table, &mut |item| _ = coverage.see(item))?;
        coverage.warn();
        let store = self.store.open_for(table).await?;
        let bar = bar(items.total);
        let loaded = load(&store, table, &mut items, &|items| bar.set_position(items)).await;
        bar.finish_and_clear();
        eprintln!("Loaded {} items into {}.", loaded?, table.name);
        Ok(ExitCode::SUCCESS)
    }
}

/// Loads items into their table. `progress` gets the number of loaded items. The error says how far it came.
pub async fn load(
    store: &TableStore,
    table: &Table,
    items: &mut CheckedItems,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64> {
    let mut loaded = 0;
    for batch in items.batches(table)? {
        let so_far = |error: anyhow::Error| {
            anyhow!("{error:#}\n  at least {loaded} items were loaded; repeat the import to load the rest")
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

/// A progress bar on standard error, shown only if that is a terminal.
fn bar(total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} items, {per_sec}, {eta} left");
    style.map_or_else(|_| ProgressBar::new(total), |style| ProgressBar::new(total).with_style(style))
}
