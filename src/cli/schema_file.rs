//! The path of a schema in, its checked model out, or a message that says what to do.

use super::output;
use crate::schema;
use crate::schema::ParsedSchema;
use crate::schema::diagnostics::diagnostic::Diagnostics;
use crate::schema::diagnostics::suggestion::{list, near};
use crate::schema::model::Model;
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The most entries of a directory that are looked at for a schema.
const MOST_ENTRIES: usize = 10_000;

/// Which schema a command works on.
#[derive(Debug, Clone, Args)]
pub struct SchemaChoice {
    /// The schema file
    #[arg(long, env = "KEYFOLD_SCHEMA", value_name = "FILE", default_value = "schema.graphql")]
    pub schema: PathBuf,
}

/// A schema that was loaded.
pub struct LoadedSchema {
    /// The text it was loaded from.
    pub text: String,
    /// The model.
    pub model: Model,
    /// What is doubtful in it. `keyfold check` and `keyfold dev` show it.
    pub warnings: Diagnostics,
}

/// Loads a schema. Its mistakes are the error.
pub fn load(path: &Path) -> Result<LoadedSchema> {
    let loaded = checked(path, read(path)?, |_| ()).map_err(|mistakes| mistaken(path, &mistakes))?;
    Ok(loaded.0)
}

/// Checks the text of a schema. `begin` is called as soon as its tables are known, and begins what needs nothing else.
pub fn checked<T>(
    path: &Path,
    text: String,
    begin: impl FnOnce(&ParsedSchema<'_>) -> T,
) -> Result<(LoadedSchema, T), Diagnostics> {
    let file = path.display().to_string();
    let ((model, warnings), begun) = ParsedSchema::parse(&file, &text, &environment).and_then(|parsed| {
        let begun = begin(&parsed);
        Ok((parsed.check()?, begun))
    })?;
    Ok((LoadedSchema { text, model, warnings }, begun))
}

/// The mistakes of a schema, for whoever starts a command that needs it without them.
pub fn mistaken(path: &Path, mistakes: &Diagnostics) -> anyhow::Error {
    anyhow!("{} has mistakes\n\n{}", path.display(), mistakes.render(output::color()).trim_end())
}

/// The text of a schema.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound => missing(path),
        ErrorKind::InvalidData => not_text(path),
        ErrorKind::IsADirectory => {
            let file = match schemas_in(path).as_slice() {
                [] => "schema.graphql".to_owned(),
                [first, ..] => first.clone(),
            };
            anyhow!("{} is a directory: name the file in it, --schema {}", path.display(), path.join(file).display())
        }
        _ => anyhow::Error::new(error).context(format!("cannot read the schema {}", path.display())),
    })
}

/// The error of a schema that is not there.
fn missing(path: &Path) -> anyhow::Error {
    let looked = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let directory = looked.parent().unwrap_or(Path::new("."));
    let beside = schemas_in(directory);
    let next = match beside.as_slice() {
        [] => {
            "Name another with --schema FILE or KEYFOLD_SCHEMA, or write one: `keyfold init` begins a project, and\n  \
               `keyfold schema --directives` lists what says where items live"
                .to_owned()
        }
        files => {
            let names: Vec<&str> = files.iter().map(String::as_str).collect();
            let meant = path.file_name().and_then(|name| near(name.to_str()?, &names)).unwrap_or(names[0]);
            format!("The directory has {}: write --schema {}", list(&names), path.with_file_name(meant).display())
        }
    };
    anyhow!("there is no schema at {}\n  {next}", looked.display())
}

/// The names of the files in a directory that may be schemas, in order.
fn schemas_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().take(MOST_ENTRIES);
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_schema = |name: &String| [".graphql", ".graphqls", ".gql"].iter().any(|ending| name.ends_with(ending));
    let mut names: Vec<String> = names.filter(is_schema).collect();
    names.sort();
    names
}

/// The error of a file whose bytes are no UTF-8: in which coding it probably is, or where the first wrong byte stands.
fn not_text(path: &Path) -> anyhow::Error {
    let bytes = std::fs::read(path).unwrap_or_default();
    let place = match (bytes.as_slice(), std::str::from_utf8(&bytes)) {
        ([0xff, 0xfe, ..] | [0xfe, 0xff, ..], _) => ", but UTF-16".to_owned(),
        (_, Err(error)) => {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            format!(": line {line} has a character in another coding")
        }
        (_, Ok(_)) => String::new(),
    };
    anyhow!(
        "{} is not UTF-8 text{place}\n  Save it as UTF-8, which editors offer beside the name of the file",
        path.display()
    )
}

/// Checks the text of a schema. `${NAME}` in it stands for an environment variable.
pub fn parse(path: &Path, text: &str) -> Result<(Model, Diagnostics), Diagnostics> {
    schema::load(&path.display().to_string(), text, &environment)
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Fails for a schema with rules, or with claims in its keys, if nobody can sign in: both need callers who do.
pub fn check_sign_in(path: &Path, model: &Model, can_sign_in: bool) -> Result<()> {
    let has_claims = model.types.keys().filter_map(|name| model.item(name)).any(|(_, keys)| !keys.claims().is_empty());
    let trouble = match (model.ruled, has_claims) {
        _ if can_sign_in => return Ok(()),
        (true, _) => "has `@auth` rules, but no sign-in is configured, so nobody could be let in",
        (false, true) => "has claims in its keys, but no sign-in is configured, so nobody could find anything",
        (false, false) => return Ok(()),
    };
    bail!("{} {trouble}: name an --issuer or an --api-keys-file", path.display())
}

/// Shows diagnostics, if there are any, on standard error.
pub fn show(diagnostics: &Diagnostics) {
    if !diagnostics.list.is_empty() {
        eprintln!("{}", diagnostics.render(output::color()).trim_end());
    }
}

/// The text of a file, or of standard input for `-`.
pub fn read_argument(path: &Path) -> Result<String> {
    if path == Path::new("-") {
        return std::io::read_to_string(std::io::stdin()).context("cannot read standard input");
    }
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_missing_schema_says_where_it_looked_and_how_to_go_on() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("schema.graphql");
        let message = read(&path).unwrap_err().to_string();
        assert!(message.contains(&path.display().to_string()) && message.contains("--schema"), "{message}");
    }

    #[test]
    fn a_missing_schema_says_which_files_are_there() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["kanban.graphql", "shop.gql", "notes.txt"] {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let said = |name: &str| read(&directory.path().join(name)).unwrap_err().to_string();
        let message = said("schema.graphql");
        assert!(message.contains("The directory has `kanban.graphql` and `shop.gql`: write --schema "), "{message}");
        assert!(message.ends_with("kanban.graphql") && said("shop.graphql").ends_with("shop.gql"), "{message}");
        let message = read(directory.path()).unwrap_err().to_string();
        assert!(
            message.contains("is a directory: name the file in it, --schema ") && message.ends_with("kanban.graphql")
        );
    }

    #[test]
    fn a_schema_that_is_not_text_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("schema.graphql");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("is not UTF-8 text, but UTF-16\n"));
        std::fs::write(&path, b"type A { a: Int }\n# caf\xe9\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("UTF-8 text: line 2 has a character in another coding"));
    }
}
