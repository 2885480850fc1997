//! `keyfold check`: a schema in; its mistakes and warnings, and how each field is read and written or who may do so,
//! out.

mod access_paths;
mod rules_table;

use crate::cli::output::{self, OutputFormat};
use crate::cli::price_choice::PriceChoice;
use crate::cli::schema_file::{self, SchemaChoice};
use crate::schema::diagnostics::diagnostic::{Diagnostic, Diagnostics, Severity};
use crate::schema::diagnostics::help::Edit;
use anyhow::{Result, bail};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a schema and show how each field is read and written; exit code 1 if it has mistakes
#[derive(Debug, Args)]
pub struct Check {
    /// The schema file [default: that of --schema]
    file: Option<PathBuf>,

    #[command(flatten)]
    choice: SchemaChoice,

    /// Show the fields of this type only
    #[arg(long = "type", value_name = "TYPE")]
    of: Option<String>,

    /// Show who may read and write each type and field instead
    #[arg(long, conflicts_with = "format")]
    rules: bool,

    #[command(flatten)]
    price: PriceChoice,

    /// Form of the output; JSON includes mistakes and warnings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let price = self.price.price()?;
        let file = self.file.unwrap_or(self.choice.schema);
        let text = schema_file::read(&file)?;
        let (model, found) = match schema_file::parse(&file, &text) {
            Ok((model, warnings)) => (Some(model), warnings),
            Err(mistakes) => (None, mistakes),
        };
        if let (Some(model), Some(name)) = (&model, &self.of)
            && !model.types.contains_key(name)
        {
            bail!("{} has no object type {name}", file.display());
        }
        let rows = model.as_ref().map(|model| access_paths::rows(model, self.of.as_deref(), &price));
        match self.format {
            OutputFormat::Json => {
                let fields = rows.as_deref().map(access_paths::json);
                let services = model.as_ref().map(|model| access_paths::services_json(model, self.of.as_deref()));
                let said = json!({ "found": listed(&found), "fields": fields, "services": services });
                output::print(&format!("{said:#}\n"))?;
            }
            OutputFormat::Text => {
                schema_file::show(&found);
                if let (Some(model), Some(rows)) = (&model, &rows) {
                    output::print(&match self.rules {
                        true => rules_table::table(model, self.of.as_deref()),
                        false => access_paths::table((model, self.of.as_deref()), rows, &price),
                    })?;
                }
            }
        }
        Ok(if model.is_some() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Mistakes and warnings, each with the line and the column of its beginning, counted from 1, and the edits that make
/// what its help says.
fn listed(found: &Diagnostics) -> Vec<Value> {
    let place = |offset: usize| {
        let before = found.text.get(..offset).unwrap_or(&found.text);
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        (before.matches('\n').count() + 1, column)
    };
    let edit = |edit: &Edit| {
        let ((line, column), (end_line, end_column)) = (place(edit.span.start), place(edit.span.end));
        json!({ "line": line, "column": column, "endLine": end_line, "endColumn": end_column, "text": edit.text })
    };
    let one = |diagnostic: &Diagnostic| {
        let (line, column) = place(diagnostic.span.start);
        let severity = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        json!({
            "code": diagnostic.code, "severity": severity, "message": diagnostic.message, "help": diagnostic.help,
            "line": line, "column": column, "fix": diagnostic.fix.iter().map(edit).collect::<Vec<_>>(),
        })
    };
    found.list.iter().map(one).collect()
}
