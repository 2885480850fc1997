//! `keyfold check`: a schema in, its mistakes and warnings out, and how each field is read and written.

use super::{access_paths, output, schema_file};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a schema and show how each field is read and written; exit code 1 if it has mistakes
#[derive(Debug, Args)]
pub struct Check {
    /// The schema
    #[arg(env = "KEYFOLD_SCHEMA", default_value = "schema.graphql")]
    file: PathBuf,
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let text = schema_file::read(&self.file)?;
        match schema_file::parse(&self.file, &text) {
            Ok((model, warnings)) => {
                schema_file::show(&warnings);
                output::print(&access_paths::table(&model))?;
                Ok(ExitCode::SUCCESS)
            }
            Err(mistakes) => {
                schema_file::show(&mistakes);
                Ok(ExitCode::FAILURE)
            }
        }
    }
}
