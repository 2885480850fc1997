//! The calls that pages of docs/language/ show are those that the gateway makes: each block `graphql request` runs on
//! the example above it, and the block after it has the calls. `UPDATE_EXPECT=1` writes them. Every page of a directive
//! that leads to calls shows some.
//!
//! Beside the frame of an example may be items, one a line as in an export (`<frame>.jsonl`), and the answers of a
//! service (`<frame>.<service>.json`). An operation that begins with `# caller: {…}` is that of a caller with these
//! claims.

use super::book::{Fence, Page, pages, root};
use super::calls_text;
use super::support::{caller, deadline, request, run, settings};
use keyfold::cli::goldens::made::GeneratedNames;
use keyfold::cli::service_answers::WrittenServices;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::json;
use std::fs::read_to_string;
use std::path::PathBuf;
use std::sync::Arc;

/// What a block says that holds an operation, and one that holds its calls.
const OPERATION: &str = "graphql request";
const CALLS: &str = "yaml";
/// The directives that lead to no call of their own.
const WITHOUT_CALLS: [&str; 2] = ["claims", "service"];

/// The files beside a frame, each with what stands between the frame's name and its ending.
fn beside(frame: &str, ending: &str) -> Vec<(String, PathBuf)> {
    let files = std::fs::read_dir(root().join("tests/language")).unwrap().map(|entry| entry.unwrap().path());
    let middle = |path: &PathBuf| {
        let name = path.file_name()?.to_str()?;
        Some(name.strip_prefix(frame)?.strip_prefix('.')?.strip_suffix(ending)?.to_owned())
    };
    files.filter_map(|path| Some((middle(&path)?, path))).collect()
}

/// The calls of an operation on an example.
async fn calls(frame: &str, example: &str, operation: &str) -> String {
    let text = read_to_string(root().join(format!("tests/language/{frame}.graphql"))).unwrap();
    let (model, _) = schema::load(frame, &text.replace("# example", example), &|_| None)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let mut known = operation.to_owned();
    for (_, file) in beside(frame, "jsonl") {
        let lines = read_to_string(&file).unwrap();
        let items = lines.lines().filter_map(|line| parse_line(line).unwrap()).collect();
        store.load(&model.tables[0], items, deadline()).await.unwrap();
        known += &lines;
    }
    let mut services = WrittenServices::default();
    for (name, file) in beside(frame, ".json") {
        services.add(&name, &read_to_string(&file).unwrap()).unwrap();
    }
    recorder.take();
    let gateway = Gateway::new(Arc::new(model), store, Settings { services: Some(Arc::new(services)), ..settings() });
    let claims = operation.lines().next().and_then(|line| line.strip_prefix("# caller: "));
    let claims = claims.map_or(json!(null), |claims| serde_json::from_str(claims).unwrap());
    let request = Request { caller: caller(claims), ..request(operation, json!({})) };
    let response = run(&gateway, &request, false).await;
    assert!(response.get("errors").is_none(), "{frame}: {response:#}");
    let calls: Vec<_> = recorder.take().into_iter().filter(|(operation, _)| !is_of_a_stream(operation)).collect();
    GeneratedNames::besides(known).replace(&calls_text::text(&calls))
}

/// Whether a call follows a stream: its names are others in each run.
fn is_of_a_stream(operation: &str) -> bool {
    ["DescribeTable", "DescribeStream", "GetShardIterator", "GetRecords"].contains(&operation)
}

/// The operations of a page, each with the block of its calls.
fn operations(page: &Page) -> Vec<(Fence, Fence)> {
    let mut fences = page.fences().into_iter().peekable();
    let mut found = Vec::new();
    while let Some(fence) = fences.next() {
        if fence.kind == OPERATION {
            let calls = fences.next_if(|next| next.kind == CALLS);
            found.push((fence, calls.unwrap_or_else(|| panic!("{}: no calls after an operation", page.name))));
        }
    }
    found
}

#[tokio::test]
async fn every_operation_becomes_the_calls_beside_it() {
    let mut differences = String::new();
    for page in pages() {
        let mut lines: Vec<String> = page.text.lines().map(str::to_owned).collect();
        let examples = page.examples();
        // From the last one on, so that the lines of those before stay where they are.
        for (operation, shown) in operations(&page).into_iter().rev() {
            let example = examples.iter().rev().find(|(line, _)| *line < operation.line);
            let (_, example) = example.unwrap_or_else(|| panic!("{}: no example before an operation", page.name));
            let calls = calls(&example.frame, &example.text, &operation.text).await;
            if calls != shown.text {
                let diff = similar::TextDiff::from_lines(&shown.text, &calls).unified_diff().to_string();
                differences += &format!("{} (UPDATE_EXPECT=1 takes the new form):\n{diff}\n", page.name);
                let place = shown.line + 1..shown.line + 1 + shown.text.lines().count();
                lines.splice(place, calls.lines().map(str::to_owned));
            }
        }
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(root().join(format!("docs/language/{}.md", page.name)), lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(differences.is_empty() || std::env::var_os("UPDATE_EXPECT").is_some(), "{differences}");
}

#[test]
fn every_directive_shows_its_request() {
    let pages = pages();
    let directives = pages.iter().filter_map(|page| Some((page.name.strip_prefix("directives/")?, page)));
    let without = directives.filter(|(name, page)| operations(page).is_empty() && !WITHOUT_CALLS.contains(name));
    assert_eq!(without.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0]);
}
