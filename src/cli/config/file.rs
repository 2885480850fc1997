//! The text of keyfold.toml in, the settings of a command out. A mistake names the file, the line and the key.
//!
//! A key is the long name of an option that has an environment variable. A key at the top is for every command that has
//! the option, one in a table is for the command with the table's name, and comes first.

use crate::schema::diagnostics::lines::LineIndex;
use crate::schema::diagnostics::suggestion::{near, suggest};
use anyhow::{Context, Result, bail};
use clap::{Arg, ArgAction, Command};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

/// The file that is read if no other is named.
pub const USUAL: &str = "keyfold.toml";
/// The most bytes of a file.
const MAX_BYTES: u64 = 1 << 20;
/// How many mistakes are shown.
const MISTAKES_SHOWN: usize = 20;

/// The settings of the command that runs, for the variables that it reads itself.
static RUNNING: OnceLock<CommandSettings> = OnceLock::new();

/// The settings of a file for every command.
#[derive(Debug, Default)]
pub struct ConfigFile {
    /// The name of the file, as it is shown.
    name: String,
    entries: Vec<ConfigEntry>,
}

/// A key with its values.
#[derive(Debug, Clone)]
pub struct ConfigEntry {
    /// The command to whose table it belongs; `None` for every command.
    command: Option<String>,
    key: String,
    /// Its values as an option takes them.
    pub values: Vec<String>,
    form: Form,
    /// Its line in the file, from 1.
    pub line: usize,
}

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Switch,
    One,
    List,
}

/// The settings of one command, by the names of its options.
#[derive(Debug, Clone, Default)]
pub struct CommandSettings {
    /// The name of the file, as it is shown.
    pub file: String,
    entries: BTreeMap<String, ConfigEntry>,
}

/// The environment variable of a command's option.
///
/// A command reads some variables itself: by clap, a variable that is set would exclude what its option excludes.
pub fn variable(command: &Command, option: &Arg) -> Option<String> {
    let named = option.get_env().map(|name| name.to_string_lossy().into_owned());
    named.or_else(|| match (command.get_name(), option.get_long()?) {
        (_, long @ ("endpoint-url" | "region")) | ("dev", long @ "data") => {
            Some(format!("KEYFOLD_{}", long.to_uppercase().replace('-', "_")))
        }
        _ => None,
    })
}

impl ConfigFile {
    /// Reads a file, and checks it against the options of the commands. A missing file is an error if it `is_named`,
    /// and has no settings otherwise.
    pub fn read(path: &Path, is_named: bool, command: &Command) -> Result<Self> {
        let name = path.display().to_string();
        let mut text = String::new();
        let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_string(&mut text));
        match read.map(u64::try_from) {
            Ok(Ok(0..=MAX_BYTES)) => {}
            Ok(_) => bail!("{name} is longer than {} MiB", MAX_BYTES >> 20),
            Err(error) if error.kind() == ErrorKind::NotFound && !is_named => return Ok(Self::default()),
            Err(error) if error.kind() == ErrorKind::InvalidData => bail!("{name} is not UTF-8 text"),
            Err(error) => return Err(error).with_context(|| format!("cannot read {name}")),
        }
        Self::parse(&name, &text, command)
    }

    /// Reads the text of a file.
    pub fn parse(name: &str, text: &str, command: &Command) -> Result<Self> {
        let lines = LineIndex::new(text);
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                bail!("{name}, line {}: {}{}", lines.line(at), error.message(), toml_help(text, at))
            }
        };
        let mut found = FileReader { command, lines: &lines, entries: Vec::new(), mistakes: Vec::new() };
        for (key, value) in &table {
            match value.get_ref() {
                DeValue::Table(inner) if command.find_subcommand(&**key.get_ref()).is_some() => {
                    inner.iter().for_each(|(inner_key, value)| found.add(Some(key.get_ref()), inner_key, value));
                }
                _ => found.add(None, key, value),
            }
        }
        let FileReader { entries, mut mistakes, .. } = found;
        if mistakes.is_empty() {
            return Ok(Self { name: name.to_owned(), entries });
        }
        mistakes.sort();
        let shown: Vec<String> =
            mistakes.iter().take(MISTAKES_SHOWN).map(|(line, said)| format!("{name}, line {line}: {said}")).collect();
        bail!("{}", shown.join("\n  "))
    }

    /// The settings of one command.
    pub fn for_command(&self, name: &str) -> CommandSettings {
        let own = |entry: &&ConfigEntry| entry.command.as_deref() == Some(name);
        let general = self.entries.iter().filter(|entry| entry.command.is_none());
        let entries =
            general.chain(self.entries.iter().filter(own)).map(|entry| (entry.key.clone(), entry.clone())).collect();
        CommandSettings { file: self.name.clone(), entries }
    }
}

/// What to write where a text is no TOML.
fn toml_help(text: &str, at: usize) -> &'static str {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    match line.split_once('=') {
        _ if text.trim_start().starts_with('{') => "; the file is TOML, not JSON: write `listen = \"127.0.0.1:4000\"`",
        Some((_, value)) if !value.trim_start().starts_with(['"', '\'', '[', '{']) => {
            "; write a text in quotes, as in `listen = \"127.0.0.1:4000\"`"
        }
        None if line.contains(':') => "; the file is TOML: write `listen = \"127.0.0.1:4000\"`",
        _ => "",
    }
}

impl CommandSettings {
    /// The entry of an option.
    pub fn get(&self, option: &str) -> Option<&ConfigEntry> {
        self.entries.get(option)
    }

    /// Makes them those of the command that runs. Only the first ones count: a process runs one command.
    pub fn run(self) {
        let _ = RUNNING.set(self);
    }
}

/// What the file sets in place of an environment variable that a command reads itself.
pub fn in_place_of(variable: &str) -> Option<String> {
    let option = variable.strip_prefix("KEYFOLD_")?.to_lowercase().replace('_', "-");
    RUNNING.get()?.get(&option).map(|entry| entry.values.join(","))
}

/// What is found in a file.
struct FileReader<'a> {
    command: &'a Command,
    lines: &'a LineIndex,
    entries: Vec<ConfigEntry>,
    mistakes: Vec<(usize, String)>,
}

impl FileReader<'_> {
    fn add(&mut self, of: Option<&str>, key: &Spanned<impl AsRef<str>>, value: &Spanned<DeValue<'_>>) {
        let line = self.lines.line(key.span().start);
        match self.entry(of, key.get_ref().as_ref(), value.get_ref()) {
            Ok(entry) => self.entries.push(ConfigEntry { line, ..entry }),
            Err(mistake) => self.mistakes.push((line, mistake)),
        }
    }

    fn entry(&self, of: Option<&str>, key: &str, value: &DeValue<'_>) -> Result<ConfigEntry, String> {
        let commands =
            self.command.get_subcommands().filter(|command| of.is_none_or(|name| command.get_name() == name));
        let settings =
            |command| Command::get_arguments(command).filter(move |option| variable(command, option).is_some());
        let options: Vec<&Arg> = commands.flat_map(settings).collect();
        let Some(option) = options.iter().find(|option| option.get_long() == Some(key)) else {
            let known: BTreeSet<&str> = options.iter().filter_map(|option| option.get_long()).collect();
            // An option with a hyphen for each underscore is what is meant.
            let meant = key.replace('_', "-");
            let help = if let (DeValue::Table(_), None) = (value, of) {
                let commands: Vec<&str> = self.command.get_subcommands().map(Command::get_name).collect();
                return Err(no_command(key, &commands));
            } else if let ("port" | "host", true) = (key, known.contains("listen")) {
                Some("write `listen = \"127.0.0.1:4000\"`".to_owned())
            } else if known.contains(&*meant) {
                Some(format!("did you mean `{meant}`?"))
            } else {
                suggest(key, known).map(|help| help.text)
            };
            let whose = of.map(|name| format!(" of `keyfold {name}`")).unwrap_or_default();
            let help = help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(format!("`{key}` is no setting{whose}{help}"));
        };
        let (values, form) = match value {
            DeValue::Array(list) => {
                let one = |value: &Spanned<DeValue<'_>>| scalar(key, value.get_ref());
                (list.iter().map(one).collect::<Result<_, _>>()?, Form::List)
            }
            DeValue::Boolean(value) => (vec![value.to_string()], Form::Switch),
            value => (vec![scalar(key, value)?], Form::One),
        };
        let is_switch = matches!(option.get_action(), ArgAction::SetTrue);
        let takes_list = option.get_value_delimiter().is_some();
        match form {
            Form::One | Form::List if is_switch => Err(format!("`{key}` is true or false")),
            Form::List if !takes_list => Err(format!("`{key}` has one value, not a list")),
            _ => Ok(ConfigEntry { command: of.map(str::to_owned), key: key.to_owned(), values, form, line: 0 }),
        }
    }
}

/// A table that is named after no command. One of `dev` and `serve` is meant most often.
fn no_command(key: &str, commands: &[&str]) -> String {
    let usual = match key {
        "development" | "local" => Some("dev"),
        "production" | "prod" | "server" => Some("serve"),
        _ => near(key, commands),
    };
    let help = usual.map_or_else(
        || "name it after a command, as in `[dev]`, or write its settings above all tables".to_owned(),
        |command| format!("did you mean `[{command}]`?"),
    );
    format!("`[{key}]` is no command; {help}")
}

/// A single value as an option takes it.
fn scalar(key: &str, value: &DeValue<'_>) -> Result<String, String> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        DeValue::Integer(number) => integer(number).ok_or_else(|| format!("the number of `{key}` is too large")),
        DeValue::Float(number) => Ok(number.as_str().to_owned()),
        DeValue::Boolean(value) => Ok(value.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => {
            Err(format!("`{key}` is a text, a number, true or false, or a list of these"))
        }
    }
}

/// The decimal digits of a number, which a file may write in hexadecimal digits, too.
fn integer(number: &DeInteger<'_>) -> Option<String> {
    i128::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
}

impl ConfigEntry {
    /// The arguments that set the option to these values.
    pub fn arguments(&self, option: &Arg) -> Vec<String> {
        let key = &self.key;
        match (option.get_action(), self.form) {
            (ArgAction::SetTrue, _) if self.values == ["true"] => vec![format!("--{key}")],
            (ArgAction::SetTrue, _) => Vec::new(),
            _ => self.values.iter().map(|value| format!("--{key}={value}")).collect(),
        }
    }
}
