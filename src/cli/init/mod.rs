//! `keyfold init`: what a person has in; a project that serves it, with a schema, samples and operations, out.

mod live;
mod project;

use super::items::coverage::Coverage;
use super::items::scan::ScanPace;
use super::output::{self, counted};
use super::schema_file;
use super::store_choice::Remote;
use crate::infer::infer;
use crate::infer::material::{Gathered, Material};
use crate::infer::write::repair::{WrittenSchema, written};
use crate::sources::read;
use anyhow::{Result, bail, ensure};
use clap::Args;
use project::Project;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write a schema and a project for a table that exists
///
/// Each source is a file or a directory: items (a DynamoDB export, the output of `aws dynamodb scan`, JSON or CSV), a
/// model of NoSQL Workbench or of AWS's MCP server, a CreateTable request, a template. The format is recognised. Name
/// several to put them together, such as a template and items. The schema passes `keyfold check`; each guess in it is a
/// comment.
#[derive(Debug, Args)]
pub struct Init {
    /// Files and directories to read; - is standard input
    sources: Vec<PathBuf>,

    /// Read a table that exists instead, or as well
    #[arg(long, value_name = "NAME")]
    table: Option<String>,

    #[command(flatten)]
    remote: Remote,

    /// The most items of each table to look at
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    sample: usize,

    /// Read capacity units a second to take of a table
    #[arg(long, value_name = "N", default_value_t = 50)]
    units: u32,

    /// Directory of the project, created if it is missing
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,

    /// Write no sample items
    #[arg(long)]
    no_samples: bool,

    /// Replace files that exist
    #[arg(long)]
    force: bool,
}

impl Init {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        ensure!(
            !self.sources.is_empty() || self.table.is_some(),
            "name what you have: `keyfold init FILE…` with items, a model or a template, or `keyfold init --table NAME`\n  \
             such as the output of `aws dynamodb scan --table-name NAME > items.json`"
        );
        ensure!(self.sample > 0 && self.units > 0, "--sample and --units are at least 1");
        Project::check(&self.dir, self.force)?;
        let mut gathered = Gathered::new(self.sample);
        let summaries = read::read(&self.sources, &mut gathered)?;
        for summary in summaries {
            eprintln!("Read {}: {}, {}", summary.name, summary.format, counted(summary.items, "item"));
        }
        if let Some(table) = &self.table {
            let pace = ScanPace { most: self.sample, units: self.units };
            live::read(table, &self.remote, pace, &mut gathered).await?;
        }
        let material = gathered.material();
        ensure!(!material.tables.is_empty(), "there is no table, and no item that would show one");
        let draft = infer(&material);
        if draft.types.is_empty() {
            bail!(
                "there are no items and no types to write a schema for: add some items, such as the output of `aws dynamodb scan`"
            );
        }
        let written = written(draft);
        ensure!(
            !written.draft.types.is_empty(),
            "no schema serves what was read:\n  {}",
            written.left_out.join("\n  ")
        );
        let project = Project { directory: &self.dir, material: &material, written: &written };
        project.write(!self.no_samples)?;
        report(&material, &written, &self.dir)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Prints the coverage of each table, the parts that are left out, and the next command.
fn report(material: &Material, written: &WrittenSchema, directory: &Path) -> Result<()> {
    let (model, _) = match schema_file::parse(Path::new("schema.graphql"), &written.text) {
        Ok(parsed) => parsed,
        Err(mistakes) => bail!("the schema that was made has mistakes\n\n{}", mistakes.render(false).trim_end()),
    };
    let mut text = String::new();
    for of in &material.tables {
        let Some(table) = model.tables.iter().find(|table| table.name == of.table.name) else { continue };
        let mut coverage = Coverage::new(&model, table);
        of.items.iter().for_each(|item| _ = coverage.see(item));
        text.push_str(&coverage.text());
    }
    if !written.left_out.is_empty() {
        text.push_str("\nLeft out:\n");
        written.left_out.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    }
    material.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
    let change = if directory == Path::new(".") { String::new() } else { format!("cd {} && ", directory.display()) };
    text.push_str(&format!("\nNext: {change}keyfold dev\n"));
    output::print(&text)
}
