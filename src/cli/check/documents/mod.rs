//! The operations of clients in, as files; what does not fit the schema, and what each operation costs at most, out.

mod assembly;
mod sources;

use crate::cli::folder::{files_below, text};
use crate::cli::output::aligned;
use crate::plan::cost::price::UnitPrice;
use crate::plan::error::PlanError;
use crate::plan::operation::budget::OperationBudgets;
use crate::plan::operation::definitions::{ExecutableDefinition, definitions};
use crate::plan::operation::document::Document;
use crate::plan::worst_case::{WorstCase, worst_case};
use crate::schema::diagnostics::diagnostic::Diagnostics;
use crate::schema::model::Model;
use anyhow::{Result, ensure};
use assembly::assembled;
use serde_json::{Value, json};
use sources::{ClientFile, ClientFiles};
use std::path::Path;

/// The endings of files with operations.
const ENDINGS: [&str; 2] = ["graphql", "gql"];

/// An operation of a client.
pub struct ClientOperation {
    /// Its name, if it has one.
    name: Option<String>,
    /// Its file.
    file: String,
    /// The line of its name.
    line: usize,
    /// What it costs at most; `None` if it is wrong.
    cost: Option<WorstCase>,
}

/// What the files of a folder hold.
pub struct CheckedDocuments {
    /// What is wrong, file by file.
    pub found: Vec<Diagnostics>,
    /// The operations.
    pub operations: Vec<ClientOperation>,
}

/// Checks all operations below a folder. Fragments may stand in other files than those that spread them.
pub fn check(model: &Model, folder: &Path) -> Result<CheckedDocuments> {
    let budgets = OperationBudgets::default();
    let mut files = Vec::new();
    for path in files_below(folder, &ENDINGS)? {
        let mut file = ClientFile::new(path.display().to_string(), text(&path)?);
        match definitions(&model.api, &file.text) {
            Ok(definitions) => file.definitions = definitions,
            Err(errors) => errors.iter().for_each(|error| file.report_error(error)),
        }
        files.push(file);
    }
    let mut sources = ClientFiles::new(files);
    let all: Vec<(usize, ExecutableDefinition)> = sources.definitions().map(|(at, one)| (at, one.clone())).collect();
    sources.report_doubles();
    let mut operations = Vec::new();
    for (file, definition) in all.iter().filter(|(_, definition)| !definition.is_fragment) {
        let cost = check_one(model, &mut sources, (*file, definition), &budgets);
        let source = &sources.files[*file];
        operations.push(ClientOperation {
            name: definition.name.clone(),
            file: source.name.clone(),
            line: source.position(definition.head.start).0,
            cost,
        });
    }
    sources.report_unused();
    ensure!(
        !operations.is_empty() || sources.has_findings(),
        "{} has no operations: no file *.graphql or *.gql with one",
        folder.display()
    );
    Ok(CheckedDocuments { found: sources.into_diagnostics(), operations })
}

/// Checks one operation with the fragments that it needs.
fn check_one(
    model: &Model,
    sources: &mut ClientFiles,
    (file, definition): (usize, &ExecutableDefinition),
    budgets: &OperationBudgets,
) -> Option<WorstCase> {
    let assembly = assembled(sources, file, definition);
    let checked = Document::parse(&model.api, &assembly.text, budgets).and_then(|document| {
        let operation = document.operation(None).map_err(|error| vec![error])?;
        worst_case(model, &document, operation).map_err(|error| vec![error])
    });
    match checked {
        Ok(cost) => Some(cost),
        Err(errors) => {
            for error in errors {
                let place = error.locations.first().and_then(|place| assembly.place(*place));
                let message = sources.with_meant(error.message);
                let error = PlanError { message, ..error };
                let (file, place) = place.unwrap_or((file, sources.files[file].position(definition.head.start)));
                sources.files[file].report_error(&PlanError { locations: vec![place], ..error });
            }
            None
        }
    }
}

impl CheckedDocuments {
    /// The operations with their costs, as a table.
    pub fn table(&self, price: &UnitPrice) -> String {
        let head = ["OPERATION", "CALLS", "WAVES", "READ UNITS", "WRITE UNITS", "A MILLION", "AT"].map(str::to_owned);
        let (mut rows, mut incomplete) = (vec![head.to_vec()], false);
        for ClientOperation { name, file, line, cost } in &self.operations {
            let name = name.clone().unwrap_or_else(|| "(no name)".to_owned());
            let numbers = match cost {
                Some(WorstCase { calls, waves, read_units, write_units, untried, .. }) => {
                    incomplete |= *untried > 0;
                    let calls = if *untried > 0 { format!("{calls}*") } else { calls.to_string() };
                    let dollars = price.dollars_a_million(*read_units, *write_units);
                    let (reads, writes) = (read_units.to_string(), write_units.to_string());
                    [calls, waves.to_string(), reads, writes, dollars.to_string()]
                }
                None => ["–"; 5].map(str::to_owned),
            };
            rows.push([vec![name], numbers.to_vec(), vec![format!("{file}:{line}")]].concat());
        }
        let mut note = format!("Each costs at most so much, whatever its variables are ({}).\n", price.place());
        if incomplete {
            note += "* Its variables have more choices than are tried, so others may cost more.\n";
        }
        if self.operations.is_empty() { String::new() } else { format!("{}\n{note}", aligned(&rows)) }
    }

    /// The operations with their costs, for programs.
    pub fn json(&self, price: &UnitPrice) -> Value {
        let one = |ClientOperation { name, file, line, cost }: &ClientOperation| {
            let cost = cost.map(|WorstCase { calls, waves, read_units, write_units, objects, untried }| {
                json!({
                    "untried": untried,
                    "calls": calls, "waves": waves, "capacity": { "read": read_units, "write": write_units },
                    "dollarsAMillion": price.dollars_a_million(read_units, write_units).0, "objects": objects,
                })
            });
            json!({ "operation": name, "file": file, "line": line, "atMost": cost })
        };
        self.operations.iter().map(one).collect()
    }
}
