//! What `keyfold tables` prints: every schema of the project in every format, compared with its snapshot. `UPDATE_EXPECT=1` refreshes it.
//!
//! `tests/infrastructure/<schema>.<format>.…` is the standard output; lines of standard error follow the JSON of the AWS CLI
//! behind `#`. A snapshot whose schema is gone fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

#[path = "served/process.rs"]
mod process;

use libtest_mimic::{Arguments, Failed, Trial};
use process::{repository, run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each format with the suffix of its snapshots.
const FORMATS: [(&str, &str); 3] = [("cli", "cli.txt"), ("cloudformation", "cloudformation.json"), ("terraform", "terraform.tf")];

fn main() {
    let arguments = Arguments::from_args();
    let schemas = schemas();
    let expected: BTreeSet<PathBuf> = schemas.iter().flat_map(|(name, _)| FORMATS.map(|(_, ending)| snapshot(name, ending))).collect();
    let mut trials = vec![Trial::test("every_snapshot_has_a_schema", move || every_snapshot_has_a_schema(&expected))];
    for (name, schema) in schemas {
        for (format, ending) in FORMATS {
            let (name, schema) = (name.clone(), schema.clone());
            trials.push(Trial::test(format!("{name}::{format}"), move || check(&schema, format, &snapshot(&name, ending))));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

/// Every schema of the project with a unique name.
fn schemas() -> Vec<(String, PathBuf)> {
    let mut schemas = vec![
        ("default".to_owned(), repository("schema.graphql")),
        ("everything".to_owned(), repository("tests/infrastructure/everything.graphql")),
    ];
    for folder in ["tests/systems", "examples"] {
        for directory in std::fs::read_dir(repository(folder)).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            let schema = directory.join("schema.graphql");
            if schema.is_file() {
                schemas.push((directory.file_name().unwrap().to_string_lossy().into_owned(), schema));
            }
        }
    }
    schemas.sort();
    schemas
}

fn snapshot(name: &str, ending: &str) -> PathBuf {
    repository("tests/infrastructure").join(format!("{name}.{ending}"))
}

fn check(schema: &Path, format: &str, snapshot: &Path) -> Result<(), Failed> {
    let ended = run(Path::new("/"), &["tables", "--schema", schema.to_str().unwrap(), "--format", format]);
    if ended.code != Some(0) {
        return Err(ended.err.into());
    }
    let mut is = ended.out;
    if format == "cli" {
        // Skip warnings about the schema: they are not about the tables.
        is.extend(ended.err.lines().filter(|line| line.starts_with("Then, ")).map(|line| format!("# {line}\n")));
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        return Ok(std::fs::write(snapshot, is)?);
    }
    let was = std::fs::read_to_string(snapshot).unwrap_or_default();
    if was == is {
        return Ok(());
    }
    let difference = similar::TextDiff::from_lines(was.as_str(), &is).unified_diff().to_string();
    Err(format!("{} differs (UPDATE_EXPECT=1 takes the new form):\n{difference}", snapshot.display()).into())
}

fn every_snapshot_has_a_schema(expected: &BTreeSet<PathBuf>) -> Result<(), Failed> {
    let there = std::fs::read_dir(repository("tests/infrastructure"))?.map(|entry| entry.unwrap().path());
    let lost: Vec<PathBuf> =
        there.filter(|path| path.extension().is_none_or(|ending| ending != "graphql") && !expected.contains(path)).collect();
    if lost.is_empty() { Ok(()) } else { Err(format!("no schema gives {lost:?}").into()) }
}
