//! Every metric and every log field is documented, and nothing else is.

use crate::process::repository;
use keyfold::serve::telemetry::definitions::{ALL, OF_PROCESS};
use keyfold::serve::telemetry::metrics::Metrics;
use std::collections::BTreeSet;

/// A section of the page about running Keyfold.
fn section(title: &str) -> String {
    let page = std::fs::read_to_string(repository("docs/operations.md")).unwrap();
    let (_, rest) =
        page.split_once(&format!("\n## {title}\n")).unwrap_or_else(|| panic!("there is no section \"{title}\""));
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
    let mut all: BTreeSet<(String, String)> =
        ALL.iter().map(|metric| (metric.name.to_owned(), metric.labels.join(", "))).collect();
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

/// The metrics that a text names, without the endings of a histogram's series.
fn named(text: &str) -> BTreeSet<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| {
        ["keyfold_", "graphql_", "http_server_", "db_client_", "process_"].iter().any(|start| word.starts_with(start))
    });
    let labels: BTreeSet<&str> = ALL.iter().flat_map(|metric| metric.labels).copied().collect();
    let whole = |word: &str| {
        ["_bucket", "_sum", "_count"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word).to_owned()
    };
    words.filter(|word| !labels.contains(word)).map(whole).collect()
}

/// Every text of a JSON value under this key.
fn texts<'v>(value: &'v serde_json::Value, key: &str, found: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::Object(members) => {
            for (name, member) in members {
                found.extend(member.as_str().filter(|_| name == key));
                texts(member, key, found);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| texts(value, key, found)),
        _ => {}
    }
}

#[test]
fn the_dashboard_and_the_alerts_ask_for_metrics_that_exist() {
    let known: BTreeSet<String> =
        ALL.iter().map(|metric| metric.name).chain(OF_PROCESS.iter().copied()).map(str::to_owned).collect();
    let dashboard = std::fs::read_to_string(repository("docs/deploy/grafana/keyfold.json")).unwrap();
    let dashboard: serde_json::Value = serde_json::from_str(&dashboard).unwrap();
    let mut queries = Vec::new();
    texts(&dashboard, "expr", &mut queries);
    texts(&dashboard, "query", &mut queries);
    let asked = named(&queries.join("\n"));
    assert!(asked.is_subset(&known), "{:?}", asked.difference(&known));
    assert!(asked.len() > 25, "the dashboard shows {} metrics", asked.len());
    // An alert names its metrics in its expression alone: comments may name others.
    let alerts = std::fs::read_to_string(repository("docs/deploy/prometheus/alerts.yaml")).unwrap();
    let asked =
        named(&alerts.lines().filter(|line| !line.trim_start().starts_with('#')).collect::<Vec<_>>().join("\n"));
    assert!(asked.is_subset(&known), "{:?}", asked.difference(&known));
}
