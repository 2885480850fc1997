//! A golden: schema and operation → plan → exact DynamoDB calls → response, each compared with its file. With `UPDATE_EXPECT=1` the files
//! are written.
//!
//! The operation is `tests/golden/<system>/<case>.golden`, or one of an example's `operations/`; a first line `# {…}` holds its
//! variables, and one `# as {…}` the claims of its caller. Without it, the caller is the first of the system's `callers.json`, or nobody. `tests/golden/<system>/` has `<case>.plan.txt`, `<case>.calls.json` (every call in order; another call fails the test) and
//! `<case>.response.json`.

use keyfold::execute::gateway::plan;
use keyfold::execute::request::Request;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A case: the system it runs on, its name, and the file of its operation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Case {
    pub system: String,
    pub name: String,
    pub operation: PathBuf,
}

/// Every case of every system, sorted. A case found in two places is a failure.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for system in std::fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap()) {
        let system = system.file_name().to_string_lossy().into_owned();
        let (schema, _) = super::places(&system);
        for place in [folder(&system), schema.with_file_name("operations")] {
            for file in std::fs::read_dir(place).into_iter().flatten().map(|entry| entry.unwrap().path()) {
                if file.extension().is_some_and(|extension| extension == "golden" || extension == "graphql") {
                    let name = file.file_stem().unwrap().to_string_lossy().into_owned();
                    cases.push(Case { system: system.clone(), name, operation: file });
                }
            }
        }
    }
    cases.sort();
    assert!(!cases.is_empty(), "there are no goldens");
    for pair in cases.windows(2) {
        assert!((&pair[0].system, &pair[0].name) != (&pair[1].system, &pair[1].name), "{pair:?} is one case in two places");
    }
    cases
}

fn folder(system: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(system)
}

impl Case {
    /// One of the case's three files.
    pub fn golden(&self, ending: &str) -> PathBuf {
        folder(&self.system).join(format!("{}.{ending}", self.name))
    }

    /// The operation with its variables.
    pub fn request(&self) -> Result<Request, Failed> {
        let text = std::fs::read_to_string(&self.operation)?;
        let comment = |start: &str| text.lines().take_while(|line| line.starts_with('#')).find_map(|line| line.strip_prefix(start));
        let variables = comment("# {").map_or_else(|| Ok(json!({})), |rest| serde_json::from_str(&format!("{{{rest}")))?;
        let caller = match comment("# as ") {
            Some(claims) => super::caller(serde_json::from_str(claims)?),
            None => super::first_caller(&self.system),
        };
        Ok(Request { caller, ..super::request(&text, variables) })
    }

    /// Plans and runs the operation, and compares the results with the files.
    pub fn check(&self) -> Result<(), Failed> {
        let request = self.request()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (planned, calls, response) = runtime.block_on(async {
            let (gateway, recorder) = super::system(&self.system).await;
            let planned = match plan(gateway.model(), &request, &super::settings()).map(|(plan, _)| plan) {
                Ok(plan) => plan.to_text(gateway.model()),
                Err(errors) => errors.iter().map(|error| format!("refused: {}\n", error.message)).collect(),
            };
            let response = super::run(&gateway, &request, false).await;
            (planned, recorder.take(), response)
        });
        let mut names = super::made::Names::besides(&self.system, &request.query);
        let calls: Vec<Value> = calls.into_iter().map(|(operation, body)| json!({ "operation": operation, "body": body })).collect();
        let mut differences = String::new();
        for (ending, is) in [("plan.txt", planned), ("calls.json", pretty(&json!(calls))), ("response.json", pretty(&response))] {
            differences += &compare(&self.golden(ending), &names.replace(&is))?;
        }
        if differences.is_empty() { Ok(()) } else { Err(differences.into()) }
    }
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
