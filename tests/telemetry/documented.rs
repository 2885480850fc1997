//! Every metric and every log field is documented, and nothing else is.

use crate::process::repository;
use keyfold::serve::telemetry::definitions::{ALL, OF_PROCESS};
use keyfold::serve::telemetry::metrics::Metrics;
use std::collections::BTreeSet;

/// A section of the page about running Keyfold.
fn section(title: &str) -> String {
    let page = std::fs::read_to_string(repository("docs/operations.md")).unwrap();
    let (_, rest) = page.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("there is no section \"{title}\""));
    rest.split("\n## ").next().unwrap().to_owned()
}

/// The cells of each row of the tables in a text, without backticks.
fn rows(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().replace('`', "")).collect()).collect()
}

#[test]
fn every_metric_is_documented_with_its_labels() {
    let documented: BTreeSet<(String, String)> =
        rows(&section("Metrics")).into_iter().map(|row| (row[0].clone(), row[1].clone())).collect();
    let mut all: BTreeSet<(String, String)> = ALL.iter().map(|metric| (metric.name.to_owned(), metric.labels.join(", "))).collect();
    all.extend(OF_PROCESS.iter().map(|name| ((*name).to_owned(), String::new())));
    assert_eq!(documented, all);
}

#[test]
fn every_metric_is_registered() {
    let text = String::from_utf8(Metrics::new(None).unwrap().text().unwrap()).unwrap();
    // A metric with labels appears with its first value. Those of the process are there from the start.
    for name in OF_PROCESS.iter().chain(&["keyfold_build_info", "keyfold_write_races_total"]) {
        assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
    }
}

/// The names of the fields of the log macros with these messages.
fn fields(path: &str, message: &str) -> BTreeSet<String> {
    let source = std::fs::read_to_string(repository(path)).unwrap();
    let before = source
        .split(&format!("\"{message}\""))
        .next()
        .filter(|before| before.len() < source.len())
        .unwrap_or_else(|| panic!("{path}: {message}"));
    let fields = &before[before.rfind("!(").unwrap() + 2..];
    let names = fields.split(',').map(|field| field.split('=').next().unwrap().trim());
    names
        .filter(|name| !name.is_empty())
        .map(|name| name.trim_start_matches(['%', '?']).to_owned())
        .filter(|name| name.chars().all(|c| c.is_ascii_lowercase() || c == '_'))
        .collect()
}

#[test]
fn every_field_of_a_log_line_is_documented() {
    let documented: BTreeSet<String> = rows(&section("Logs")).into_iter().map(|row| row[0].clone()).collect();
    let mut all = fields("src/serve/http/request_log.rs", "request");
    all.extend(fields("src/serve/http/request_log.rs", "operation over a WebSocket"));
    all.extend(fields("src/serve/telemetry/observer.rs", "slow operation"));
    assert_eq!(documented, all);
}
