//! CommandSettings from a file beside options and variables, and `keyfold config`, which shows them with where they
//! come from.
//!
//! [`mod@file`] reads keyfold.toml, [`levels`] puts its values below the options and variables of a command. [`tips`]
//! knows what is meant by arguments that no command takes.

pub mod file;
pub mod levels;
pub mod tips;

use super::output::{self, OutputFormat};
use anyhow::{Result, anyhow};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, ValueEnum};
use file::{CommandSettings, variable};
use levels::{LayeredArguments, leveled};
use serde_json::{Value, json};
use std::ffi::OsString;
use std::process::ExitCode;

/// Show the settings of a server, with where each comes from
///
/// An option comes before its environment variable, the variable before keyfold.toml, and the file before the default.
/// Secrets are shown as (set).
#[derive(Debug, Args)]
pub struct ShowConfig {
    /// The command whose settings are shown
    #[arg(value_name = "COMMAND", default_value = "serve")]
    of: ServerCommand,

    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: OutputFormat,

    /// Options of that command, as in `keyfold config serve -- --max-depth 30`
    #[arg(last = true, value_name = "OPTIONS")]
    options: Vec<OsString>,
}

/// A command with settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ServerCommand {
    Serve,
    Dev,
}

/// A setting as it is now.
struct SettingRow {
    name: String,
    /// Its values; none if it is not set.
    values: Vec<String>,
    is_secret: bool,
    /// Whether it is repeated for several values.
    is_list: bool,
    /// What holds if it is not set, in words.
    otherwise: Option<String>,
    source: String,
}

impl ShowConfig {
    /// Runs the command. `command` is the whole command line, and `settings` gives those of the file for a command.
    pub fn run(self, command: &Command, settings: impl Fn(&str) -> CommandSettings) -> Result<ExitCode> {
        let name = match self.of {
            ServerCommand::Serve => "serve",
            ServerCommand::Dev => "dev",
        };
        let settings = settings(name);
        let arguments = [OsString::from("keyfold"), name.into()].into_iter().chain(self.options).collect();
        let leveled = leveled(command, name, &settings, arguments);
        let matches = leveled.matches(command, &settings)?;
        let (Some(server), Some(matches)) = (command.find_subcommand(name), matches.subcommand_matches(name)) else {
            return Err(anyhow!("there is no command {name}"));
        };
        let shown: Vec<SettingRow> =
            options(server).map(|option| shown(option, (server, matches), (&leveled, &settings))).collect();
        output::print(&match self.format {
            OutputFormat::Text => text(&shown),
            OutputFormat::Json => format!("{:#}\n", Value::Array(shown.iter().map(SettingRow::json).collect())),
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The options of a command that are settings, in the order of its help.
fn options(command: &Command) -> impl Iterator<Item = &Arg> {
    command
        .get_arguments()
        .filter(|option| option.get_long().is_some_and(|name| name != "help") && !option.is_global_set())
}

/// A setting with its source.
fn shown(
    option: &Arg,
    (command, matches): (&Command, &ArgMatches),
    (leveled, settings): (&LayeredArguments, &CommandSettings),
) -> SettingRow {
    let name = option.get_long().unwrap_or_default().to_owned();
    let id = option.get_id().as_str();
    let from_file = |line: usize| format!("{}, line {line}", settings.file);
    let raw = matches.get_raw(id).into_iter().flatten();
    let mut values: Vec<String> = raw.map(|value| value.to_string_lossy().into_owned()).collect();
    if !option.get_action().takes_values() {
        values = vec![matches.get_flag(id).to_string()];
    }
    let mut source = match matches.value_source(id) {
        Some(ValueSource::CommandLine) => match leveled.lines.get(&name) {
            Some(line) => from_file(*line),
            None => format!("--{name}"),
        },
        Some(ValueSource::EnvVariable) => variable(command, option).unwrap_or_default(),
        _ => "default".to_owned(),
    };
    if option.get_env().is_none()
        && values.is_empty()
        && let Some(variable) = variable(command, option)
    {
        // The command reads this variable itself.
        if let Some(value) = std::env::var(&variable).ok().filter(|value| !value.is_empty()) {
            (values, source) = (vec![value], variable);
        } else if let Some(entry) = settings.get(&name) {
            (values, source) = (entry.values.clone(), from_file(entry.line));
        }
    }
    let help = option.get_help().map(ToString::to_string).unwrap_or_default();
    let otherwise =
        help.split_once("[default: ").and_then(|(_, rest)| rest.split_once(']')).map(|(words, _)| words.to_owned());
    let is_list = option.get_value_delimiter().is_some();
    SettingRow { name, values, is_secret: option.is_hide_env_values_set(), is_list, otherwise, source }
}

impl SettingRow {
    fn json(&self) -> Value {
        let value = match self.values.as_slice() {
            [] => Value::Null,
            _ if self.is_secret => json!("(set)"),
            values if self.is_list => json!(values),
            values => json!(values.join(",")),
        };
        json!({ "name": self.name, "value": value, "source": self.source })
    }
}

fn text(shown: &[SettingRow]) -> String {
    let row = |setting: &SettingRow| {
        let value = match (setting.values.as_slice(), &setting.otherwise) {
            ([], Some(otherwise)) => format!("({otherwise})"),
            ([], None) => "(none)".to_owned(),
            _ if setting.is_secret => "(set)".to_owned(),
            (values, _) => values.join(","),
        };
        vec![setting.name.clone(), value, setting.source.clone()]
    };
    output::aligned(&shown.iter().map(row).collect::<Vec<_>>())
}
