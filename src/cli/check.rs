//! `keyfold check`: a schema in, its mistakes and warnings out, and how each field is read and written.

use super::schema_file::{self, SchemaChoice};
use super::{access_paths, output};
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check a schema and show how each field is read and written; exit code 1 if it has mistakes
#[derive(Debug, Args)]
pub struct Check {
    /// The schema, if it is not what --schema names
    file: Option<PathBuf>,

    #[command(flatten)]
    choice: SchemaChoice,
}

impl Check {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let file = self.file.unwrap_or(self.choice.schema);
        let text = schema_file::read(&file)?;
        match schema_file::parse(&file, &text) {
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
