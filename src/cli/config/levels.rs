//! The arguments of a command and the settings of a file in, arguments with both out. What the command line or the
//! environment sets comes first: the file's value for it does not count, nor one that it excludes.
//!
//! The parser of arguments then checks the values of the file as it checks options: their form, what excludes and what
//! needs what.

use super::file::{CommandSettings, variable};
use super::tips;
use anyhow::{Result, anyhow};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgMatches, Command};
use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::{OsStr, OsString};

/// Arguments with the settings of a file among them.
#[derive(Debug)]
pub struct LayeredArguments {
    arguments: Vec<OsString>,
    /// The same without the file's settings.
    own: Vec<OsString>,
    /// The options that the file sets, with their lines.
    pub lines: BTreeMap<String, usize>,
}

/// The name of the command among the arguments, and its place. `--config` may stand before it.
pub fn command_of(arguments: &[OsString]) -> Option<(usize, &str)> {
    let mut place = 1;
    loop {
        let argument = arguments.get(place)?.to_str()?;
        match argument {
            "--config" => place += 2,
            option if option.starts_with('-') => place += 1,
            name => return Some((place, name)),
        }
    }
}

/// The value of an option among the arguments, the last one if there are several.
pub fn given<'a>(arguments: &'a [OsString], option: &str) -> Option<&'a OsStr> {
    let flag = format!("--{option}");
    let before_values: Vec<&OsString> = arguments.iter().take_while(|argument| *argument != "--").collect();
    let joined = format!("{flag}=");
    let value = |(place, argument): (usize, &&'a OsString)| match argument.to_str() {
        Some(text) if text == flag => {
            before_values.get(place + 1).map(|value| value.as_os_str()).or(Some(OsStr::new("")))
        }
        Some(text) => text.strip_prefix(&joined).map(OsStr::new),
        // What is not UTF-8 is the value of an option, or an argument of its own.
        None => None,
    };
    before_values.iter().enumerate().filter_map(value).next_back()
}

/// Puts the settings of a file behind the name of the command.
pub fn leveled(command: &Command, name: &str, settings: &CommandSettings, own: Vec<OsString>) -> LayeredArguments {
    let (mut arguments, mut lines) = (own.clone(), BTreeMap::new());
    let (Some(this), Some((place, _))) = (command.find_subcommand(name), command_of(&own)) else {
        return LayeredArguments { arguments, own, lines };
    };
    let is_set = |option: &Arg| {
        option.get_long().is_some_and(|long| given(&own, long).is_some())
            || variable(this, option).is_some_and(|name| std::env::var_os(name).is_some())
    };
    let set: Vec<&Arg> = this.get_arguments().filter(|option| is_set(option)).collect();
    let mut added: Vec<OsString> = Vec::new();
    for option in this.get_arguments().filter(|option| option.get_env().is_some()) {
        let Some((long, entry)) = option.get_long().and_then(|long| Some((long, settings.get(long)?))) else {
            continue;
        };
        let excludes = |one: &Arg, other: &Arg| {
            this.get_arg_conflicts_with(one).iter().any(|excluded| excluded.get_id() == other.get_id())
        };
        let is_out = set
            .iter()
            .any(|higher| higher.get_id() == option.get_id() || excludes(higher, option) || excludes(option, higher));
        if !is_out {
            added.extend(entry.arguments(option).into_iter().map(OsString::from));
            lines.insert(long.to_owned(), entry.line);
        }
    }
    arguments.splice(place + 1..place + 1, added);
    LayeredArguments { arguments, own, lines }
}

impl LayeredArguments {
    /// Reads the arguments. A mistake of the file is an error; another one is printed as clap prints it,
    /// and ends the process.
    pub fn matches(&self, command: &Command, settings: &CommandSettings) -> Result<ArgMatches> {
        let error = match command.clone().try_get_matches_from(&self.arguments) {
            Ok(matches) => return Ok(matches),
            Err(error) => error,
        };
        let (wrong, prior) = (named(&error, ContextKind::InvalidArg), named(&error, ContextKind::PriorArg));
        if error.kind() == ErrorKind::MissingRequiredArgument && command.clone().try_get_matches_from(&self.own).is_ok()
        {
            return Err(anyhow!("{}: what it sets needs `{}`, too", settings.file, wrong.join("` and `")));
        }
        let Some((name, line)) = wrong.iter().chain(&prior).find_map(|name| Some((name, self.lines.get(name)?))) else {
            tips::with_tip(error, command, &self.own).exit()
        };
        let said = match (
            error.source(),
            error.get(ContextKind::ValidValue),
            wrong.iter().chain(&prior).find(|other| *other != name),
        ) {
            (Some(reason), ..) => reason.to_string(),
            (None, Some(ContextValue::Strings(valid)), _) if !valid.is_empty() => {
                format!("write {}", valid.join(" or "))
            }
            (.., Some(other)) => format!("excludes `{other}`"),
            _ => error.kind().to_string(),
        };
        Err(anyhow!("{}, line {line}: `{name}`: {said}", settings.file))
    }
}

/// The options that an error names, without their hyphens and values.
fn named(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    let shown = match error.get(kind) {
        Some(ContextValue::String(text)) => std::slice::from_ref(text),
        Some(ContextValue::Strings(all)) => all.as_slice(),
        _ => &[],
    };
    shown
        .iter()
        .map(|text| text.trim_start_matches("--").split([' ', '=', '[']).next().unwrap_or_default().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_command_stands_behind_the_options_of_all_commands() {
        for text in
            ["keyfold serve --listen a", "keyfold --config dev serve", "keyfold --config=a serve", "keyfold --x serve"]
        {
            assert_eq!(command_of(&arguments(text)).map(|(_, name)| name), Some("serve"), "{text}");
        }
        assert_eq!(command_of(&arguments("keyfold --config")), None);
        assert_eq!(command_of(&[]), None);
    }

    #[test]
    fn an_option_is_found_in_both_forms_and_not_among_what_follows_two_hyphens() {
        for (text, value) in [
            ("k serve --listen a", Some("a")),
            ("k serve --listen=a --listen=b", Some("b")),
            ("k serve --listen", Some("")),
            ("k serve --listener a", None),
            ("k serve -- --listen a", None),
        ] {
            assert_eq!(given(&arguments(text), "listen"), value.map(OsStr::new), "{text}");
        }
    }
}
