//! `keyfold check`: a schema in; its mistakes and warnings, and how each field is read and written or who may do so,
//! out. With operations of clients, what does not fit the schema, and what each costs at most.

mod access_paths;
mod documents;
mod explanation;
mod github;
mod listing;
mod rules_table;
mod sarif;

use crate::cli::output;
use crate::cli::price_choice::PriceChoice;
use crate::cli::schema_file::{self, SchemaChoice};
use crate::plan::cost::price::UnitPrice;
use crate::schema::describe::PathRow;
use crate::schema::diagnostics::diagnostic::{Diagnostics, Severity};
use crate::schema::diagnostics::rules::rule_of;
use crate::schema::diagnostics::suggestion::near;
use crate::schema::model::Model;
use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use documents::CheckedDocuments;
use listing::{PlacedFinding, placed};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
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
    #[arg(long, conflicts_with_all = ["format", "documents"])]
    rules: bool,

    /// Check the operations of clients below this directory instead, and show what each costs at most
    #[arg(long, value_name = "DIR", conflicts_with = "of")]
    documents: Option<PathBuf>,

    /// Explain a code, with the smallest schema that has the mistake and what is right, and check nothing
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,

    /// Exit with 1 also if there are warnings
    #[arg(long)]
    deny_warnings: bool,

    #[command(flatten)]
    price: PriceChoice,

    /// Form of the output; all but text include mistakes and warnings
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CheckFormat,
}

/// Form of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CheckFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// Commands that GitHub Actions shows at the lines
    Github,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

/// What a check found.
struct CheckResult<'m> {
    /// Of the schema, and of the files with operations.
    found: Vec<Diagnostics>,
    model: Option<&'m Model>,
    rows: Option<Vec<PathRow>>,
    documents: Option<CheckedDocuments>,
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        if let Some(code) = &self.explain {
            output::print(&explanation::explanation(code)?)?;
            return Ok(ExitCode::SUCCESS);
        }
        let price = self.price.price()?;
        let file = self.file.as_ref().unwrap_or(&self.choice.schema);
        let text = schema_file::read(file)?;
        let (model, found) = match schema_file::parse(file, &text) {
            Ok((model, warnings)) => (Some(model), warnings),
            Err(mistakes) => (None, mistakes),
        };
        let findings = self.findings(file, model.as_ref(), (found, &price))?;
        match self.format {
            CheckFormat::Json => output::print(&format!("{:#}\n", self.json(&findings, &price)))?,
            CheckFormat::Github => output::print(&github::commands(&findings.found))?,
            CheckFormat::Sarif => output::print(&format!("{:#}\n", sarif::log(&findings.found)))?,
            CheckFormat::Text => {
                findings.found.iter().for_each(schema_file::show);
                // The codes of operations are those that a client gets.
                let mut codes = placed(&findings.found).map(|finding| finding.diagnostic.code);
                if let Some(code) = codes.find(|code| rule_of(code).is_some()) {
                    eprintln!("`keyfold check --explain {code}` shows what is right.");
                }
                output::print(&self.table(&findings, &price))?;
            }
        }
        let has = |severity| placed(&findings.found).any(|finding| finding.diagnostic.severity == severity);
        let is_bad = has(Severity::Error) || (self.deny_warnings && has(Severity::Warning));
        Ok(if is_bad { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }

    fn findings<'m>(
        &self,
        file: &Path,
        model: Option<&'m Model>,
        (of_schema, price): (Diagnostics, &UnitPrice),
    ) -> Result<CheckResult<'m>> {
        let mut found = vec![of_schema];
        let Some(model) = model else { return Ok(CheckResult { found, model: None, rows: None, documents: None }) };
        if let Some(name) = self.of.as_deref().filter(|name| !model.types.contains_key(*name)) {
            let near = near(name, &model.types.keys().map(String::as_str).collect::<Vec<_>>());
            let meant = near.map(|near| format!(": did you mean {near}?")).unwrap_or_default();
            bail!("{} has no object type {name}{meant}", file.display());
        }
        let mut documents = self.documents.as_deref().map(|folder| documents::check(model, folder)).transpose()?;
        found.extend(documents.iter_mut().flat_map(|documents| std::mem::take(&mut documents.found)));
        let rows = Some(access_paths::rows(model, self.of.as_deref(), price));
        Ok(CheckResult { found, model: Some(model), rows, documents })
    }

    fn json(&self, findings: &CheckResult<'_>, price: &UnitPrice) -> Value {
        let CheckResult { found, model, rows, documents } = findings;
        let found: Vec<Value> = placed(found).map(|finding| PlacedFinding::json(&finding)).collect();
        let fields = rows.as_deref().map(access_paths::json);
        let services = model.map(|model| access_paths::services_json(model, self.of.as_deref()));
        let mut said = json!({ "found": found, "fields": fields, "services": services });
        if self.documents.is_some() {
            said["documents"] = documents.as_ref().map_or(Value::Null, |documents| documents.json(price));
        }
        said
    }

    fn table(&self, findings: &CheckResult<'_>, price: &UnitPrice) -> String {
        let of = self.of.as_deref();
        match (findings.model, &findings.documents, &findings.rows) {
            (Some(_), Some(documents), _) => documents.table(price),
            (Some(model), None, _) if self.rules => rules_table::table(model, of),
            (Some(model), None, Some(rows)) => access_paths::table((model, of), rows, price),
            _ => String::new(),
        }
    }
}
