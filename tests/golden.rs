//! Goldens: schema and operation → plan → exact DynamoDB calls → response, one test a case. `UPDATE_EXPECT=1` writes them anew.
//!
//! `tests/golden/<system>/<case>.graphql` holds the operation; a first line `# {…}` holds its variables. Beside it stand
//! `<case>.plan.txt`, `<case>.calls.json` (every call in order; another call fails the test) and `<case>.response.json`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod support;

use keyfold::execute::gateway::plan;
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

fn main() {
    let arguments = Arguments::from_args();
    let trials = cases().into_iter().map(|(system, file)| {
        let name = format!("{system}::{}", file.file_stem().unwrap().to_string_lossy());
        Trial::test(name, move || check(&system, &file))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit();
}

fn cases() -> Vec<(String, PathBuf)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases = Vec::new();
    for system in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()) {
        for file in std::fs::read_dir(&system).unwrap().map(|entry| entry.unwrap().path()) {
            if file.extension().is_some_and(|extension| extension == "graphql") {
                cases.push((system.file_name().unwrap().to_string_lossy().into_owned(), file));
            }
        }
    }
    cases.sort();
    assert!(!cases.is_empty(), "there are no goldens");
    cases
}

fn check(system: &str, file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let variables = match text.lines().next().and_then(|line| line.strip_prefix("# {")) {
        Some(rest) => serde_json::from_str(&format!("{{{rest}"))?,
        None => json!({}),
    };
    let request = support::request(&text, variables);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (planned, calls, response) = runtime.block_on(async {
        let (gateway, recorder) = support::system(system).await;
        let planned = match plan(gateway.model(), &request, &support::settings()) {
            Ok(plan) => plan.to_text(gateway.model()),
            Err(errors) => errors.iter().map(|error| format!("refused: {}\n", error.message)).collect(),
        };
        let response = support::run(&gateway, &request, false).await;
        (planned, recorder.take(), response)
    });
    let mut names = support::made::Names::besides(system, &text);
    let calls: Vec<Value> = calls.into_iter().map(|(operation, body)| json!({ "operation": operation, "body": body })).collect();
    let mut differences = String::new();
    for (ending, is) in [("plan.txt", planned), ("calls.json", pretty(&json!(calls))), ("response.json", pretty(&response))] {
        differences += &compare(&file.with_extension(ending), &names.replace(&is))?;
    }
    if differences.is_empty() { Ok(()) } else { Err(differences.into()) }
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

fn compare(golden: &Path, is: &str) -> Result<String, Failed> {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(golden, is)?;
        return Ok(String::new());
    }
    let was = std::fs::read_to_string(golden).unwrap_or_default();
    if was == is {
        return Ok(String::new());
    }
    let diff = similar::TextDiff::from_lines(was.as_str(), is);
    Ok(format!("{} differs (UPDATE_EXPECT=1 takes the new form):\n{}\n", golden.display(), diff.unified_diff().context_radius(3)))
}
