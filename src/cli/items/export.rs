//! `keyfold export`: a table in, a file of its items out.

use crate::cli::schema_file::{self, SchemaChoice};
use crate::cli::store_choice::{StoreChoice, explained, table_named};
use crate::table::bulk::export_lines;
use anyhow::{Error, Result, anyhow};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// The most items of one page; DynamoDB ends a page at a megabyte.
const PAGE: u32 = 1000;

/// How long one page may take, including waits for a throttled table.
const PAGE_BOUND: Duration = Duration::from_secs(120);

/// Save all items of a table to a file
///
/// The file has one item per line in DynamoDB JSON, as `keyfold import` and DynamoDB's import from S3 read it. An
/// existing file is never overwritten.
#[derive(Debug, Args)]
pub struct Export {
    /// The file; - is standard output
    file: PathBuf,

    /// The table
    #[arg(long, value_name = "NAME")]
    table: String,

    #[command(flatten)]
    choice: SchemaChoice,

    #[command(flatten)]
    store: StoreChoice,
}

impl Export {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let tables = schema_file::load(&self.choice.schema)?.model.tables;
        let table = table_named(&tables, &self.table)?;
        let store = self.store.open(table).await?;
        // The file is created with the first page: a table that cannot be read leaves no file.
        let mut out = None;
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} items, {per_sec}") {
            bar.set_style(style);
        }
        let mut items: u64 = 0;
        let mut start = None;
        loop {
            let page = store.scan_page(&table.name, start, PAGE, Instant::now() + PAGE_BOUND).await;
            let page =
                page.map_err(|error| explained(error, &format!("cannot read {} after {items} items", table.name)))?;
            let out = match &mut out {
                Some(out) => out,
                None => out.insert(self.output()?),
            };
            for item in &page.items {
                writeln!(out, "{}", export_lines::write_line(item))?;
            }
            items += page.items.len() as u64;
            bar.set_position(items);
            start = page.last_key;
            if start.is_none() {
                break;
            }
        }
        if let Some(mut out) = out {
            out.flush()?;
        }
        bar.finish_and_clear();
        eprintln!("Saved {items} items of {}.", table.name);
        Ok(ExitCode::SUCCESS)
    }

    fn output(&self) -> Result<Box<dyn Write>> {
        if self.file == Path::new("-") {
            return Ok(Box::new(BufWriter::new(std::io::stdout())));
        }
        let file = File::create_new(&self.file).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                anyhow!("{} exists, and an export never overwrites a file: choose another name", self.file.display())
            }
            _ => Error::new(error).context(format!("cannot create {}", self.file.display())),
        })?;
        Ok(Box::new(BufWriter::new(file)))
    }
}
