//! A mistake in the arguments, as clap has it, in; the same with what was probably meant out. Clap itself knows names
//! that are nearly right; these are words of other tools, and values in the wrong place.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};
use std::error::Error as _;
use std::ffi::OsString;
use std::num::ParseIntError;

/// What other tools call a command, and the command.
const COMMANDS: [(&str, &str); 18] = [
    ("start", "dev"),
    ("run", "dev"),
    ("up", "dev"),
    ("watch", "dev"),
    ("deploy", "serve"),
    ("validate", "check"),
    ("lint", "check"),
    ("introspect", "schema"),
    ("print", "schema"),
    ("new", "init"),
    ("create", "init"),
    ("seed", "import"),
    ("load", "import"),
    ("dump", "export"),
    ("login", "token"),
    ("jwt", "token"),
    ("plan", "explain"),
    ("ping", "health"),
];

/// What other tools call an option, and the option.
const OPTIONS: [(&str, &str); 14] = [
    ("--port", "listen"),
    ("-p", "listen"),
    ("--host", "listen"),
    ("--bind", "listen"),
    ("--address", "listen"),
    ("-s", "schema"),
    ("-f", "schema"),
    ("--file", "schema"),
    ("--samples", "sample"),
    ("--seed", "sample"),
    ("--cors", "allow-origin"),
    ("--origin", "allow-origin"),
    ("--endpoint", "endpoint-url"),
    ("--user", "sub"),
];

/// The commands that print what others write into a file.
const PRINTS: [&str; 4] = ["schema", "tables", "explain", "export"];

/// What stands for an argument that a command needs, by its name.
const NEEDED: [(&str, &str); 3] = [
    ("<CASES>", "name the folder with the cases: `keyfold test operations`"),
    ("<OPERATION>", "name the file with the operation, or `-` for the standard input"),
    ("<FILE>", "name the file"),
];

/// The mistake with a tip, if there is one. `arguments` begin with the program's name.
pub fn with_tip(mut error: Error, command: &Command, arguments: &[OsString]) -> Error {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    let arguments: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => meant_command(&text(ContextKind::InvalidSubcommand)),
        ErrorKind::UnknownArgument => unknown(&text(ContextKind::InvalidArg), command, &arguments),
        ErrorKind::MissingRequiredArgument => needed(&error),
        ErrorKind::ValueValidation if error.source().is_some_and(|source| source.is::<ParseIntError>()) => {
            Some(number(&text(ContextKind::InvalidValue)))
        }
        _ => None,
    };
    if let Some(tip) = tip {
        // What clap guesses by letters is further off.
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// What to write for the first argument that is missing.
fn needed(error: &Error) -> Option<String> {
    let Some(ContextValue::Strings(missing)) = error.get(ContextKind::InvalidArg) else { return None };
    let known = NEEDED.iter().find(|(name, _)| missing.iter().any(|missing| missing == name));
    known.map(|(_, said)| (*said).to_owned())
}

fn meant_command(word: &str) -> Option<String> {
    let (_, command) = COMMANDS.iter().find(|(other, _)| *other == word)?;
    Some(format!("write `keyfold {command}`"))
}

/// An option that the command does not have, or a value that no option takes.
fn unknown(wrong: &str, command: &Command, arguments: &[&str]) -> Option<String> {
    let place =
        arguments.iter().position(|argument| *argument == wrong || argument.starts_with(&format!("{wrong}=")))?;
    let at = arguments.iter().skip(1).position(|argument| command.find_subcommand(argument).is_some())? + 1;
    let (name, this) = (arguments[at], command.find_subcommand(arguments[at])?);
    if place < at && wrong.strip_prefix("--").is_some_and(|long| long_option(this, long).is_some()) {
        return Some(format!("write it behind the command: `keyfold {name} {}`", arguments[place..at].join(" ")));
    }
    if let (true, Some(long)) = (PRINTS.contains(&name), wrong.strip_prefix("--"))
        && ["out", "output", "file", "o"].contains(&long)
    {
        return Some(format!("it prints to the standard output: `keyfold {name} > FILE`"));
    }
    if !wrong.starts_with('-') {
        return stray(wrong, this, arguments.get(place.checked_sub(1)?)?);
    }
    let given = arguments[place].split_once('=').map(|(_, value)| value).or(arguments.get(place + 1).copied());
    let value = given.filter(|value| !value.starts_with('-'));
    let known = OPTIONS.iter().find(|(other, _)| *other == wrong).map(|(_, option)| *option);
    if let Some(option) = known.and_then(|long| long_option(this, long)) {
        return Some(format!("write '{}'", shown(option, value)));
    }
    let long = wrong.strip_prefix("--")?;
    let others = command.get_subcommands().filter(|other| long_option(other, long).is_some());
    let others: Vec<String> = others.map(|other| format!("`keyfold {}`", other.get_name())).collect();
    let [others @ .., last] = others.as_slice() else { return None };
    let list = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
    Some(format!("'{wrong}' is an option of {list}"))
}

/// A value without an option.
fn stray(value: &str, this: &Command, before: &str) -> Option<String> {
    let switch = before.strip_prefix("--").filter(|long| long_option(this, long).is_some());
    if let (Some(switch), "true" | "false") = (switch, value) {
        return Some(format!("write '--{switch}={value}'"));
    }
    let file = |endings: &[&str]| endings.iter().any(|ending| value.ends_with(ending));
    let long = match value {
        _ if file(&[".graphql", ".gql", ".graphqls"]) => "schema",
        _ if value.contains("://") && long_option(this, "url").is_some() => "url",
        _ if value.parse::<u16>().is_ok() => "listen",
        _ => this.get_arguments().find(|option| option.is_required_set()).and_then(Arg::get_long)?,
    };
    long_option(this, long).map(|option| format!("write '{}'", shown(option, Some(value))))
}

fn long_option<'c>(command: &'c Command, long: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|option| option.get_long() == Some(long))
}

/// An option with a value. A port alone becomes an address.
fn shown(option: &Arg, value: Option<&str>) -> String {
    let long = option.get_long().unwrap_or_default();
    let names = option.get_value_names().and_then(<[_]>::first).map_or("VALUE", |name| name.as_str());
    match value {
        Some(port) if long == "listen" && port.parse::<u16>().is_ok() => format!("--listen 127.0.0.1:{port}"),
        Some(host) if long == "listen" && !host.contains(':') => format!("--listen {host}:4000"),
        Some(value) => format!("--{long} {value}"),
        None if long == "listen" => "--listen 127.0.0.1:4001".to_owned(),
        None => format!("--{long} <{names}>"),
    }
}

/// A number with a unit, or with more than digits.
fn number(text: &str) -> String {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let factor = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "k" | "kb" => Some(1_000),
        "m" | "mb" => Some(1_000_000),
        "g" | "gb" => Some(1_000_000_000),
        "kib" => Some(1 << 10),
        "mib" => Some(1 << 20),
        "gib" => Some(1 << 30),
        _ => None,
    };
    let whole = factor.and_then(|factor: u64| digits.parse::<u64>().ok()?.checked_mul(factor));
    whole.map_or_else(
        || "write a whole number in digits, without a unit".to_owned(),
        |whole| format!("write the number in digits, without a unit: {whole}"),
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::cli::command;

    fn said(line: &str) -> String {
        let arguments: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = command().try_get_matches_from(&arguments).unwrap_err();
        with_tip(error, &command(), &arguments).to_string()
    }

    #[test]
    fn words_of_other_tools_are_known() {
        for (line, tip) in [
            ("keyfold start", "tip: write `keyfold dev`"),
            ("keyfold dev --port 4001", "tip: write '--listen 127.0.0.1:4001'"),
            ("keyfold dev --port=4001", "tip: write '--listen 127.0.0.1:4001'"),
            ("keyfold dev -p 4001", "tip: write '--listen 127.0.0.1:4001'"),
            ("keyfold serve --host 0.0.0.0", "tip: write '--listen 0.0.0.0:4000'"),
            ("keyfold dev --samples seed", "tip: write '--sample seed'"),
            ("keyfold token --user me", "tip: write '--sub me'"),
            ("keyfold dev --file", "tip: write '--schema <FILE>'"),
            ("keyfold --schema a.graphql dev", "tip: write it behind the command: `keyfold dev --schema a.graphql`"),
            ("keyfold schema --out a.graphql", "tip: it prints to the standard output: `keyfold schema > FILE`"),
            ("keyfold test", "tip: name the folder with the cases: `keyfold test operations`"),
        ] {
            assert!(said(line).contains(tip), "{line}: {}", said(line));
        }
    }

    #[test]
    fn an_option_of_another_command_names_it() {
        let tip = said("keyfold dev --region us-east-1");
        assert!(tip.contains("tip: '--region' is an option of ") && tip.contains("`keyfold serve`"), "{tip}");
    }

    #[test]
    fn a_value_in_the_wrong_place_is_put_right() {
        for (line, tip) in [
            ("keyfold dev other.graphql", "tip: write '--schema other.graphql'"),
            ("keyfold dev 4001", "tip: write '--listen 127.0.0.1:4001'"),
            ("keyfold dev --playground false", "tip: write '--playground=false'"),
            ("keyfold token me", "tip: write '--sub me'"),
            ("keyfold health http://127.0.0.1:4001", "tip: write '--url http://127.0.0.1:4001'"),
            ("keyfold dev --body-limit 1MB", "tip: write the number in digits, without a unit: 1000000"),
            ("keyfold dev --body-limit 2MiB", "without a unit: 2097152"),
            ("keyfold dev --body-limit many", "tip: write a whole number in digits"),
        ] {
            assert!(said(line).contains(tip), "{line}: {}", said(line));
        }
    }

    #[test]
    fn what_clap_guesses_by_letters_stays() {
        assert!(said("keyfold dev --schemas x").contains("a similar argument exists: '--schema'"));
        assert!(!said("keyfold dev --nothing-like-it").contains("tip:"));
    }
}
