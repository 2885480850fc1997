//! `keyfold verify`: a schema and items in; how many items each type covers, and which ones none does, out.

mod guard_report;
mod guard_writes;

use self::guard_report::GuardReport;
use self::guard_writes::write_guards;
use super::coverage::Coverage;
use super::scan::{ScanPace, scan};
use crate::cli::output::{self, OutputFormat, counted};
use crate::cli::schema_file::{self, SchemaChoice};
use crate::cli::store_choice::{StoreChoice, table_named};
use crate::infer::material::{CALLERS, table_name};
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::sources::material::{PatternHint, Receiver, SourcePlace, TypeHint};
use crate::sources::read;
use crate::table::data::attribute::Item;
use crate::table::store::TableStore;
use anyhow::{Result, ensure};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;

/// Say which items a schema covers; exit code 1 if an item has no type
///
/// Reads files and directories in every form that `keyfold init` knows, or a table. It changes nothing but the guards
/// of unique values, and these only with --write-guards --yes.
#[derive(Debug, Args)]
pub struct Verify {
    /// Files and directories with items; - is standard input
    sources: Vec<PathBuf>,

    /// Read this table of the schema instead
    #[arg(long, value_name = "NAME", conflicts_with = "sources")]
    table: Option<String>,

    #[command(flatten)]
    choice: SchemaChoice,

    #[command(flatten)]
    store: StoreChoice,

    /// Say which guards of unique values the table lacks, and which values several items have; exit code 1 if there are
    /// any
    #[arg(long, requires = "table")]
    write_guards: bool,

    /// Write the guards; values that several items have get none
    #[arg(long, requires = "write_guards")]
    yes: bool,

    /// Read capacity units a second to take of a table, and write capacity units for guards
    #[arg(long, value_name = "N", default_value_t = 50)]
    units: u32,

    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl Verify {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let model = schema_file::load(&self.choice.schema)?.model;
        if let Some(name) = &self.table {
            return self.table(&model, table_named(&model.tables, name)?).await;
        }
        let (found, has_all) = self.source_coverage(&model)?;
        self.print(&found, None)?;
        Ok(exit_code(has_all && found.iter().all(Coverage::is_whole)))
    }

    fn print(&self, found: &[Coverage<'_>], guards: Option<&GuardReport<'_>>) -> Result<()> {
        match self.format {
            OutputFormat::Text => {
                let tables: Vec<String> = found.iter().map(Coverage::text).collect();
                output::print(&format!("{}{}", tables.join("\n"), guards.map(GuardReport::text).unwrap_or_default()))
            }
            OutputFormat::Json => {
                let tables: Vec<_> = found.iter().map(Coverage::json).collect();
                let mut report = json!({ "tables": tables });
                if let Some(guards) = guards {
                    report["uniqueValues"] = guards.json();
                }
                output::print(&format!("{report:#}\n"))
            }
        }
    }

    /// Reads a table, and writes its guards where that is asked for.
    async fn table(&self, model: &Model, table: &Table) -> Result<ExitCode> {
        let store = self.store.open(table).await?;
        let pace = ScanPace { most: usize::MAX, units: self.units };
        let coverage = self.table_coverage((&store, model, table), pace).await?;
        if !self.write_guards {
            self.print(std::slice::from_ref(&coverage), None)?;
            return Ok(exit_code(coverage.is_whole()));
        }
        let guards = &coverage.survey.guards;
        ensure!(!guards.is_over(), "{} has more unique values than fit in 256 MiB", table.name);
        let mut report =
            GuardReport { table: &table.name, fields: guards.fields(), conflicts: guards.conflicts(), written: None };
        if self.yes && report.to_write() > 0 {
            let bar = ProgressBar::new(report.to_write());
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} guards, {eta} left") {
                bar.set_style(style);
            }
            report.written = Some(write_guards(&store, &coverage, pace, &bar).await?);
        }
        self.print(std::slice::from_ref(&coverage), Some(&report))?;
        Ok(exit_code(coverage.is_whole() && report.is_whole()))
    }

    /// The coverage of each table, and whether every item is of one.
    fn source_coverage<'m>(&self, model: &'m Model) -> Result<(Vec<Coverage<'m>>, bool)> {
        ensure!(
            !self.sources.is_empty(),
            "name the items: `keyfold verify FILE…`, or `keyfold verify --table NAME` for a table"
        );
        let mut seen = SeenItems { model, tables: Vec::new(), file: String::new(), strays: 0 };
        for summary in read::read(&self.sources, &mut seen)? {
            eprintln!("Read {}: {}, {}", summary.name, summary.format, counted(summary.items, "item"));
        }
        if seen.strays > 0 {
            eprintln!(
                "warning: {} left out: their file names no table of the schema, and their keys are not those of one only",
                counted(seen.strays, "item")
            );
        }
        Ok((seen.tables, seen.strays == 0))
    }

    async fn table_coverage<'m>(
        &self,
        (store, model, table): (&TableStore, &'m Model, &'m Table),
        pace: ScanPace,
    ) -> Result<Coverage<'m>> {
        let mut coverage = Coverage::new(model, table);
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} items, {per_sec}") {
            bar.set_style(style);
        }
        scan(store, &table.name, pace, &bar, &mut |item| {
            coverage.see(&item);
            ControlFlow::Continue(())
        })
        .await?;
        Ok(coverage)
    }
}

fn exit_code(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Items of files, each counted for its table.
struct SeenItems<'m> {
    model: &'m Model,
    tables: Vec<Coverage<'m>>,
    /// The file that is read.
    file: String,
    /// Items of no table.
    strays: u64,
}

impl Receiver for SeenItems<'_> {
    fn table(&mut self, _table: Table) {}

    fn item(&mut self, table: Option<&str>, item: Item) -> ControlFlow<()> {
        if self.file.ends_with(CALLERS) {
            return ControlFlow::Continue(());
        }
        let has_key = |table: &&Table| table.primary_key().all(|key| item.contains_key(&key.name));
        let named = table.map_or_else(|| table_name(&self.file), str::to_owned);
        let mut fitting = self.model.tables.iter().filter(has_key);
        let known = self.model.tables.iter().find(|known| known.name == named);
        let Some(table) = known.or_else(|| fitting.next().filter(|_| fitting.next().is_none())) else {
            self.strays += 1;
            return ControlFlow::Continue(());
        };
        match self.tables.iter_mut().find(|coverage| coverage.is_of(table)) {
            Some(coverage) => coverage.see(&item),
            None => {
                let mut coverage = Coverage::new(self.model, table);
                coverage.see(&item);
                self.tables.push(coverage);
            }
        }
        ControlFlow::Continue(())
    }

    fn type_hint(&mut self, _table: Option<&str>, _hint: TypeHint) {}

    fn pattern_hint(&mut self, _hint: PatternHint) {}

    fn place(&mut self, place: &SourcePlace) {
        if self.file != place.file {
            self.file.clone_from(&place.file);
        }
    }

    fn note(&mut self, note: String) {
        eprintln!("note: {note}");
    }
}
