//! `keyfold explain`: an operation in, its plan, what it costs at most and, if it is run, what it did cost out.

use super::measured::RunChoice;
use super::output::{self, OutputFormat};
use super::price_choice::PriceChoice;
use super::schema_file::{self, SchemaChoice};
use crate::execute::error::GraphqlError;
use crate::execute::gateway;
use crate::execute::request::{Request, Settings};
use anyhow::{Context, Result, anyhow, bail, ensure};
use clap::Args;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Print the plan of an operation: its waves, the calls in each, and what it costs at most
///
/// With --run, it also runs the operation and prints the calls that it made. Otherwise it makes no call.
#[derive(Debug, Args)]
pub struct Explain {
    /// The file with the operation; - is standard input
    query: PathBuf,

    #[command(flatten)]
    choice: SchemaChoice,

    /// Variables as JSON, or @FILE
    #[arg(long, value_name = "JSON")]
    variables: Option<String>,

    /// Which operation, if the file has several
    #[arg(long, value_name = "NAME")]
    operation: Option<String>,

    #[command(flatten)]
    execution: RunChoice,

    #[command(flatten)]
    price: PriceChoice,

    /// Form of the plan
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,
}

impl Explain {
    /// Runs the command.
    pub async fn run(self) -> Result<ExitCode> {
        let price = self.price.price()?;
        let model = schema_file::load(&self.choice.schema)?.model;
        ensure!(
            self.query.exists() || !self.query.to_string_lossy().contains('{'),
            "the operation is read from a file: save it and name the file, or send it by `-`: \
             echo '{{ … }}' | keyfold explain -"
        );
        let query = schema_file::read_argument(&self.query)?;
        let variables = variables(self.variables.as_deref())?;
        let request = Request { query, operation_name: self.operation, variables, ..Request::default() };
        let (plan, cost) = gateway::plan(&model, &request, &Settings::default())
            .map_err(|errors| anyhow!(listed(&errors, &self.query)))?;
        let (mut text, mut json) = (format!("{}{}", plan.to_text(&model), cost.to_text(&price)), plan.to_json(&model));
        json["cost"] = cost.to_json(&price);
        json["price"] = price.to_json();
        if self.execution.run {
            let measurement = self.execution.measure(model, request).await?;
            text += &measurement.to_text(&price);
            json["measured"] = serde_json::to_value(&measurement)?;
            json["measured"]["dollarsAMillion"] = measurement.dollars_a_million(&price).0.into();
        }
        output::print(&match self.format {
            OutputFormat::Text => text,
            OutputFormat::Json => format!("{json:#}\n"),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Errors of an operation, one per line, each with its place. An error of a file begins with the file's name.
fn listed(errors: &[GraphqlError], file: &Path) -> String {
    let file = if file == Path::new("-") { String::new() } else { format!("{}:", file.display()) };
    let line = |error: &GraphqlError| match error.locations.first() {
        Some((line, column)) => format!("{file}{line}:{column}: {}", error.message),
        None => error.message.clone(),
    };
    errors.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn variables(argument: Option<&str>) -> Result<Map<String, Value>> {
    let text = match argument {
        None => return Ok(Map::new()),
        Some(argument) => match argument.strip_prefix('@') {
            Some(file) => schema_file::read_argument(Path::new(file))?,
            None => argument.to_owned(),
        },
    };
    match serde_json::from_str(&text).context("--variables is not valid JSON")? {
        Value::Object(map) => Ok(map),
        _ => bail!("--variables must be a JSON object: {{\"id\": \"1\"}}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn variables_come_from_the_argument_or_a_file() {
        assert!(variables(None).unwrap().is_empty());
        assert_eq!(variables(Some(r#"{"id": "1"}"#)).unwrap()["id"], "1");
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), r#"{"id": "2"}"#).unwrap();
        assert_eq!(variables(Some(&format!("@{}", file.path().display()))).unwrap()["id"], "2");
    }

    #[test]
    fn variables_that_are_no_object_are_refused() {
        for wrong in ["[1]", "{", "", "@/no/such/file"] {
            assert!(variables(Some(wrong)).is_err(), "{wrong}");
        }
    }
}
