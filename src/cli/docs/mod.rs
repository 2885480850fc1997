//! `keyfold docs`: a schema and its samples in, a design document in Markdown out: tables, item types, access patterns
//! with their requests, and samples.

mod descriptions;
mod generated;
mod markdown;
mod patterns;
pub mod recording;
mod specification;
mod views;

use super::items::callers::{self, SampleCaller};
use super::items::samples::Samples;
use super::output;
use super::schema_file::{self, LoadedSchema, SchemaChoice};
use crate::execute::caller::Caller;
use anyhow::{Context, Result};
use clap::Args;
use descriptions::Descriptions;
use generated::KnownValues;
use patterns::Patterns;
use recording::bench::Bench;
use recording::examples::Examples;
use recording::records::Records;
use recording::ways::{Ways, is_item};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Write the design document of a schema, in Markdown
///
/// It describes tables and indexes, item types with their keys, every access pattern with its exact requests and the
/// samples that they return, and shows each index as a table of samples. The requests are recorded on a store in
/// memory.
#[derive(Debug, Args)]
pub struct Docs {
    #[command(flatten)]
    choice: SchemaChoice,

    /// Directory of the sample items, one <table>.jsonl, .json or .csv for each table [default: samples, if it exists]
    #[arg(long, value_name = "DIR")]
    sample: Option<PathBuf>,

    /// Write to this file, replacing it, instead of standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Docs {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let loaded = schema_file::load(&self.choice.schema)?;
        let samples = Samples::new(self.sample.as_deref());
        samples.check(&loaded.model.tables)?;
        let text = sample_document(loaded, samples.directory()).await?;
        match &self.out {
            Some(file) => std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?,
            None => output::print(&text)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The document of a schema and of the samples in a directory.
pub async fn sample_document(loaded: LoadedSchema, directory: Option<&Path>) -> Result<String> {
    let Some(directory) = directory else { return document(loaded, &Records::default(), Caller::anonymous()).await };
    let records = Records::read(&loaded.model, directory)?;
    let caller = callers::read(directory)?.first().map(SampleCaller::caller).unwrap_or_default();
    document(loaded, &records, caller).await
}

/// The document.
async fn document(loaded: LoadedSchema, records: &Records, caller: Caller) -> Result<String> {
    let descriptions = Descriptions::new(&loaded.text);
    // The requests are those of the first caller of the samples, whom all rules let in.
    let model = Arc::new(loaded.model.without_rules());
    let ways = Ways::new(&model);
    let examples = Examples { model: &model, records, ways: &ways };
    let patterns = Patterns {
        model: &model,
        descriptions: &descriptions,
        examples,
        known: KnownValues::new(&model, &loaded.text, records),
    };
    let mut bench = Bench::new(model.clone(), records, caller);
    let chapters = patterns.chapters(&mut bench).await?;
    let head =
        [overview(&patterns, records), specification::tables(&model), specification::items(&model, &descriptions)];
    let rest = [chapters, views::views(&model, records)];
    let chapters: Vec<String> = head.into_iter().chain(specification::records(&model)).chain(rest).collect();
    Ok(chapters.join("\n"))
}

fn overview(patterns: &Patterns<'_>, records: &Records) -> String {
    let model = patterns.model;
    let (reads, writes) = patterns.counts();
    let indexes: usize = model.tables.iter().map(|table| table.indexes.len()).sum();
    let items = model.types.values().filter(|object| is_item(object)).count();
    let counted = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
    let list = [
        (counted(model.tables.len(), "table", "tables"), "tables"),
        (counted(indexes, "index", "indexes"), "tables"),
        (counted(items, "item type", "item types"), "item-types"),
        (counted(reads, "access pattern", "access patterns"), "access-patterns"),
        (counted(writes, "write", "writes"), if writes == 0 { "access-patterns" } else { "writes" }),
        (counted(records.list.len(), "sample item", "sample items"), "samples"),
    ];
    let lines: String = list.iter().map(|(count, chapter)| format!("- [{count}](#{chapter})\n")).collect();
    format!(
        "# DynamoDB design\n\n{lines}\nThe requests below are those that the API makes on the samples. A value that a write generates is shown by its kind: `<uuid>`, `<now>`,\n`<now+24h>`, `<hash>`, `<shard>`, `<token>`. For a field inside an object, the requests for the object itself are left out.\n"
    )
}
