//! `keyfold verify`: a schema and items in; how many items each type covers, and which ones none does, out.

mod guard_deletes;
mod guard_report;
mod guard_writes;
mod references;

use self::guard_deletes::delete_guards;
use self::guard_report::GuardReport;
use self::guard_writes::{WrittenGuards, write_guards};
use self::references::References;
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
/// Reads files and directories in every form that `keyfold init` knows, or a table. Says of the items that have a type
/// what surprises about them: values that their fields cannot read, nulls where none may be, stale and missing index
/// keys, keys in another spelling, and unique values without a guard. It changes nothing but these guards, and only
/// with --write-guards --yes.
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

    /// Say which guards of unique values the table lacks, which it has of values that no item has, and which values
    /// several items have; exit code 1 if there are any
    #[arg(long, requires = "table")]
    write_guards: bool,

    /// Write the guards, and delete those of values that no item has; values that several items have get none
    #[arg(long, requires = "write_guards")]
    yes: bool,

    /// Say which fields that find one item by its key find none; exit code 1 if there are any
    #[arg(long)]
    references: bool,

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
        let mut references = self.references.then(|| References::new(&model));
        let (found, has_all) = self.source_coverage(&model, &mut references)?;
        self.print(&found, (references.as_ref(), None))?;
        let leads_to_items = references.is_none_or(|references| references.is_whole());
        Ok(exit_code(has_all && leads_to_items && found.iter().all(Coverage::is_whole)))
    }

    fn print(
        &self,
        found: &[Coverage<'_>],
        (references, guards): (Option<&References<'_>>, Option<&GuardReport<'_>>),
    ) -> Result<()> {
        match self.format {
            OutputFormat::Text => {
                let tables: Vec<String> = found.iter().map(Coverage::text).collect();
                let more = [references.map(References::text), guards.map(GuardReport::text)];
                output::print(&format!("{}{}", tables.join("\n"), more.into_iter().flatten().collect::<String>()))
            }
            OutputFormat::Json => {
                let tables: Vec<_> = found.iter().map(Coverage::json).collect();
                let mut report = json!({ "tables": tables });
                if let Some(references) = references {
                    report["references"] = references.json();
                }
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
        let mut references = self.references.then(|| References::new(model));
        let mut coverage = self.table_coverage((&store, model, table), pace, &mut references).await?;
        let leads_to_items = references.as_ref().is_none_or(References::is_whole);
        if !self.write_guards {
            self.print(std::slice::from_ref(&coverage), (references.as_ref(), None))?;
            return Ok(exit_code(coverage.is_whole() && leads_to_items));
        }
        let written = self.guards((&store, table), &mut coverage, pace).await?;
        let guards = &coverage.survey.guards;
        let report = GuardReport {
            table: &table.name,
            fields: guards.fields(),
            conflicts: guards.conflicts(),
            orphans: guards.orphans(),
            written,
        };
        self.print(std::slice::from_ref(&coverage), (references.as_ref(), Some(&report)))?;
        Ok(exit_code(coverage.is_whole() && leads_to_items && report.is_whole()))
    }

    /// Deletes the guards of values that no item has, and then writes those that are missing, where that is asked for.
    async fn guards(
        &self,
        (store, table): (&TableStore, &Table),
        coverage: &mut Coverage<'_>,
        pace: ScanPace,
    ) -> Result<Option<WrittenGuards>> {
        let guards = &coverage.survey.guards;
        ensure!(!guards.is_over(), "{} has more unique values than fit in 256 MiB", table.name);
        let (orphans, missing) = (guards.orphans(), guards.to_write());
        if !self.yes || orphans + missing == 0 {
            return Ok(None);
        }
        let deleted = match orphans {
            0 => 0,
            orphans => delete_guards(store, coverage, pace, &bar_of(orphans)).await?,
        };
        let written = match missing {
            0 => WrittenGuards::default(),
            missing => write_guards(store, coverage, pace, &bar_of(missing)).await?,
        };
        Ok(Some(WrittenGuards { deleted, ..written }))
    }

    /// The coverage of each table, and whether every item is of one.
    fn source_coverage<'m>(
        &self,
        model: &'m Model,
        references: &mut Option<References<'m>>,
    ) -> Result<(Vec<Coverage<'m>>, bool)> {
        ensure!(
            !self.sources.is_empty(),
            "name the items: `keyfold verify FILE…`, or `keyfold verify --table NAME` for a table"
        );
        let mut seen = SeenItems { model, tables: Vec::new(), references, file: String::new(), strays: 0 };
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
        references: &mut Option<References<'m>>,
    ) -> Result<Coverage<'m>> {
        let position = position(model, table);
        let mut coverage = Coverage::new(model, table);
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} items, {per_sec}") {
            bar.set_style(style);
        }
        scan(store, &table.name, pace, &bar, &mut |item| {
            let ty = coverage.see(&item);
            if let Some(references) = references {
                references.see(position, ty, &item);
            }
            ControlFlow::Continue(())
        })
        .await?;
        Ok(coverage)
    }
}

/// A progress bar for so many guards.
fn bar_of(guards: u64) -> ProgressBar {
    let bar = ProgressBar::new(guards);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len} guards, {eta} left") {
        bar.set_style(style);
    }
    bar
}

fn exit_code(is_well: bool) -> ExitCode {
    if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The position of a table in its schema.
fn position(model: &Model, table: &Table) -> usize {
    model.tables.iter().position(|known| known.name == table.name).unwrap_or_default()
}

/// Items of files, each counted for its table.
struct SeenItems<'m, 'r> {
    model: &'m Model,
    tables: Vec<Coverage<'m>>,
    references: &'r mut Option<References<'m>>,
    /// The file that is read.
    file: String,
    /// Items of no table.
    strays: u64,
}

impl Receiver for SeenItems<'_, '_> {
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
        let known = self.tables.iter().position(|coverage| coverage.is_of(table)).unwrap_or_else(|| {
            self.tables.push(Coverage::new(self.model, table));
            self.tables.len() - 1
        });
        let ty = self.tables[known].see(&item);
        if let Some(references) = self.references {
            references.see(position(self.model, table), ty, &item);
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
