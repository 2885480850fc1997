//! `keyfold schema`: a schema in, the API as clients see it out; or the directives that a schema may use, or what its
//! services get and answer.

use super::output;
use super::schema_file::{self, SchemaChoice};
use super::service_schemas::service_schemas;
use crate::schema::syntax::definitions::DIRECTIVES;
use anyhow::Result;
use clap::Args;
use std::process::ExitCode;

/// Print the API as clients see it, in the schema definition language
#[derive(Debug, Args)]
pub struct PrintSchema {
    /// Print the definitions of Keyfold's directives and scalars instead, for editors and other tools
    #[arg(long)]
    directives: bool,

    /// Print what services get and answer instead, as JSON Schema
    #[arg(long, conflicts_with = "directives")]
    services: bool,

    #[command(flatten)]
    choice: SchemaChoice,
}

impl PrintSchema {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let text = if self.directives {
            DIRECTIVES.to_owned()
        } else if self.services {
            serde_json::to_string_pretty(&service_schemas(&schema_file::load(&self.choice.schema)?.model))?
        } else {
            schema_file::load(&self.choice.schema)?.model.api.to_string()
        };
        output::print(&format!("{}\n", text.trim_end()))?;
        Ok(ExitCode::SUCCESS)
    }
}
