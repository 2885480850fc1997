//! Slips of somebody's first hour: a wrong argument, file, sample, token or request. Each message says what is wrong,
//! where, and what to write instead; where the remedy is a command or a text, the test does what the message says.
//!
//! `kanban.graphql` is the schema of all of them. Slips in a schema are in `tests/schema/slips.rs`.

mod arguments;
mod files;
mod hints;
mod requests;
mod samples;
mod tokens;

use super::process::keyfold;
use super::server::Server;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// The schema.
const KANBAN: &str = include_str!("kanban.graphql");

/// A directory with the schema.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("schema.graphql"), KANBAN).unwrap();
    directory
}

/// `keyfold` with these arguments, without the keys of other tests.
fn plain(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = keyfold(directory, arguments);
    command.env_remove("KEYFOLD_API_KEYS_FILE");
    command
}

/// What a command says of a slip, which ends it.
fn said(directory: &Path, arguments: &[&str]) -> String {
    let output = plain(directory, arguments).output().unwrap();
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// `keyfold dev` in a directory, with these options.
fn dev(directory: TempDir, options: &[&str]) -> Server {
    let arguments = [&["dev", "--listen", "127.0.0.1:0"], options].concat();
    let command = plain(directory.path(), &arguments);
    Server::dev_by(command, directory)
}

/// The first message of an answer.
fn message(answer: &Value) -> &str {
    answer["errors"][0]["message"].as_str().unwrap_or_default()
}
