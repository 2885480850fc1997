//! The commands: arguments in, text and an exit code out. Each command is a file or a folder; the other files are shared.

mod access_paths;
mod check;
mod docs;
mod explain;
mod items;
mod measured;
mod output;
mod rules_table;
mod schema;
mod schema_file;
mod server;
mod shards;
mod store_choice;
mod tables;
mod token;

use crate::serve::lambda::runtime_api;
use anyhow::Result;
use clap::{Parser, Subcommand};
use std::ffi::OsString;
use std::process::ExitCode;

/// A GraphQL gateway for DynamoDB single-table designs: one schema.graphql describes the API and where its items live.
#[derive(Debug, Parser)]
#[command(name = "keyfold", version, max_term_width = 120)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Dev(server::dev::Dev),
    Serve(server::serve::Serve),
    Check(check::Check),
    Explain(explain::Explain),
    Schema(schema::PrintSchema),
    Tables(tables::Tables),
    Docs(docs::Docs),
    Import(items::import::Import),
    Export(items::export::Export),
    Shards(shards::Shards),
    Token(token::PrintToken),
}

impl Cli {
    /// The command line of this process. Lambda starts a function without arguments, and then the command is `serve`.
    pub fn of_process() -> Self {
        let mut arguments: Vec<OsString> = std::env::args_os().collect();
        if arguments.len() == 1 && std::env::var_os(runtime_api::VARIABLE).is_some() {
            arguments.push("serve".into());
        }
        Self::parse_from(arguments)
    }

    /// Runs the command. An error is for the user: `main` prints its causes and exits with 1.
    pub async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Dev(command) => command.run().await,
            Command::Serve(command) => command.run().await,
            Command::Check(command) => command.run(),
            Command::Explain(command) => command.run().await,
            Command::Schema(command) => command.run(),
            Command::Tables(command) => command.run().await,
            Command::Docs(command) => command.run().await,
            Command::Import(command) => command.run().await,
            Command::Export(command) => command.run().await,
            Command::Shards(command) => command.run(),
            Command::Token(command) => command.run(),
        }
    }
}

/// Whether the error is that the reader of the output is gone (`keyfold schema | head -1`), which is no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::CommandFactory;
    use clap::error::ErrorKind;

    fn refusal(arguments: &str) -> ErrorKind {
        Cli::try_parse_from(arguments.split(' ')).unwrap_err().kind()
    }

    #[test]
    fn the_commands_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn contradictions_are_mistakes_of_usage() {
        assert_eq!(refusal("keyfold dev --memory --data d"), ErrorKind::ArgumentConflict);
        assert_eq!(refusal("keyfold dev --sample s --no-sample"), ErrorKind::ArgumentConflict);
        assert_eq!(refusal("keyfold import --table t --data d --endpoint-url http://localhost:8000 f"), ErrorKind::ArgumentConflict);
        assert_eq!(refusal("keyfold tables --endpoint-url http://localhost:8000"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refusal("keyfold serve --cursor-key short"), ErrorKind::ValueValidation);
    }

    #[test]
    fn a_switch_takes_no_word_that_follows() {
        for arguments in ["keyfold serve --introspection", "keyfold serve --introspection=false", "keyfold dev --no-introspection"] {
            assert!(Cli::try_parse_from(arguments.split(' ')).is_ok(), "{arguments}");
        }
        assert_eq!(refusal("keyfold serve --introspection false"), ErrorKind::UnknownArgument);
    }
}
