//! The commands: arguments in, text and an exit code out. Each command is a file or a folder; the other files are
//! shared.

mod check;
pub mod config;
mod docs;
mod explain;
mod folder;
pub mod goldens;
mod health;
mod init;
pub mod items;
mod measured;
mod output;
mod price_choice;
mod schema;
mod schema_file;
pub mod selftest;
mod server;
pub mod service_answers;
mod service_schemas;
mod store_choice;
mod tables;
mod test;
mod token;

use crate::serve::lambda::runtime_api;
use anyhow::Result;
use clap::{Arg, CommandFactory, FromArgMatches, Parser, Subcommand, value_parser};
use config::file::{ConfigFile, USUAL};
use config::levels;
use config::tips;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
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
    Init(init::Init),
    Dev(server::dev::Dev),
    Serve(server::serve::Serve),
    Check(check::Check),
    Explain(explain::Explain),
    Schema(schema::PrintSchema),
    Tables(tables::Tables),
    Docs(docs::Docs),
    Test(test::Test),
    Verify(items::verify::Verify),
    Import(items::import::Import),
    Export(items::export::Export),
    Health(health::Health),
    Token(token::PrintToken),
    Selftest(selftest::Selftest),
    Config(config::ShowConfig),
}

/// The environment variable that names the file of settings.
const CONFIG_VARIABLE: &str = "KEYFOLD_CONFIG";

/// The command line. `--config` is read before the rest, because the file that it names is part of the rest.
fn command() -> clap::Command {
    let help = "File of settings, below options and variables [default: keyfold.toml, if it exists]";
    let parser = value_parser!(PathBuf);
    Cli::command().arg(
        Arg::new("config")
            .long("config")
            .env(CONFIG_VARIABLE)
            .value_name("FILE")
            .global(true)
            .value_parser(parser)
            .help(help),
    )
}

impl Cli {
    /// Reads the arguments of the process, its environment, and the file of settings, which is given, too. Wrong
    /// arguments and requests for help end the process; an error is a mistake in the file. Lambda starts a function
    /// without arguments, and then the command is `serve`.
    pub fn read() -> Result<(Self, ConfigFile)> {
        let (command, mut arguments) = (command(), std::env::args_os().collect::<Vec<_>>());
        if arguments.len() == 1 && std::env::var_os(runtime_api::VARIABLE).is_some() {
            arguments.push("serve".into());
        }
        let name = levels::command_of(&arguments)
            .map(|(_, name)| name.to_owned())
            .filter(|name| command.find_subcommand(name).is_some());
        let path =
            levels::given(&arguments, "config").map(OsStr::to_owned).or_else(|| std::env::var_os(CONFIG_VARIABLE));
        let (Some(name), false) =
            (name, asks_for_help(&arguments) || path.as_ref().is_some_and(|path| path.is_empty()))
        else {
            let read = command.clone().try_get_matches_from(&arguments);
            let matches = read.unwrap_or_else(|error| tips::with_tip(error, &command, &arguments).exit());
            return Ok((Self::new(&matches), ConfigFile::default()));
        };
        let file = ConfigFile::read(path.as_deref().map_or(Path::new(USUAL), Path::new), path.is_some(), &command)?;
        let settings = file.for_command(&name);
        let matches = levels::leveled(&command, &name, &settings, arguments).matches(&command, &settings)?;
        settings.run();
        Ok((Self::new(&matches), file))
    }

    fn new(matches: &clap::ArgMatches) -> Self {
        Self::from_arg_matches(matches).unwrap_or_else(|error| error.exit())
    }

    /// Runs the command. An error is for the user: `main` prints its causes and exits with 1.
    pub async fn run(self, file: &ConfigFile) -> Result<ExitCode> {
        match self.command {
            Command::Init(command) => command.run().await,
            Command::Dev(command) => command.run().await,
            Command::Serve(command) => command.run().await,
            Command::Check(command) => command.run(),
            Command::Explain(command) => command.run().await,
            Command::Schema(command) => command.run(),
            Command::Tables(command) => command.run().await,
            Command::Docs(command) => command.run().await,
            Command::Test(command) => command.run().await,
            Command::Verify(command) => command.run().await,
            Command::Import(command) => command.run().await,
            Command::Export(command) => command.run().await,
            Command::Health(command) => command.run().await,
            Command::Token(command) => command.run(),
            Command::Selftest(command) => command.run().await,
            Command::Config(shown) => shown.run(&command(), |name| file.for_command(name)),
        }
    }
}

fn asks_for_help(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--help" || argument == "-h")
}

/// Whether the error is that the reader of the output is gone (`keyfold schema | head -1`), which is no failure.
pub fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::error::ErrorKind;

    #[test]
    fn the_help_names_the_variable_of_each_option() {
        for command in command().get_subcommands() {
            for option in command.get_arguments().filter(|option| option.get_env().is_none()) {
                let help = option.get_help().map(ToString::to_string).unwrap_or_default();
                let named = help.split_once("[env: ").and_then(|(_, rest)| rest.split_once(']'));
                let variable = config::file::variable(command, option);
                assert_eq!(variable.as_deref(), named.map(|(name, _)| name), "{} {option}", command.get_name());
            }
        }
    }

    fn refusal(arguments: &str) -> ErrorKind {
        Cli::try_parse_from(arguments.split(' ')).unwrap_err().kind()
    }

    #[test]
    fn the_commands_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn contradictions_are_mistakes_of_usage() {
        assert_eq!(refusal("keyfold dev --memory --data d"), ErrorKind::ArgumentConflict);
        assert_eq!(refusal("keyfold dev --sample s --no-sample"), ErrorKind::ArgumentConflict);
        assert_eq!(
            refusal("keyfold import --table t --data d --endpoint-url http://localhost:8000 f"),
            ErrorKind::ArgumentConflict
        );
        assert_eq!(refusal("keyfold tables --endpoint-url http://localhost:8000"), ErrorKind::MissingRequiredArgument);
        assert_eq!(refusal("keyfold serve --cursor-key short"), ErrorKind::ValueValidation);
    }

    #[test]
    fn a_switch_takes_no_word_that_follows() {
        for arguments in
            ["keyfold serve --introspection", "keyfold serve --introspection=false", "keyfold dev --no-introspection"]
        {
            assert!(Cli::try_parse_from(arguments.split(' ')).is_ok(), "{arguments}");
        }
        assert_eq!(refusal("keyfold serve --introspection false"), ErrorKind::UnknownArgument);
    }
}
