//! The metrics after operations whose cost is known.

use super::observed::Observed;
use super::{FLAT, FRIDGE, NESTED};
use crate::server::TABLE;
use serde_json::json;
use std::io::Write;
use std::process::{Command, Stdio};

const NAMED: &[(&str, &str)] = &[("graphql_operation_name", "Nested"), ("graphql_operation_type", "query")];

/// `KEYFOLD_PROMTOOL` names `promtool`, and must then be right. Where it is not installed, it is not asked.
fn promtool() -> Option<String> {
    let named = std::env::var("KEYFOLD_PROMTOOL").ok();
    let program = named.clone().unwrap_or_else(|| "promtool".to_owned());
    if named.is_none() && Command::new(&program).arg("--version").output().is_err() {
        eprintln!("`promtool` is not installed: it checks nothing");
        return None;
    }
    Some(program)
}

#[tokio::test(flavor = "multi_thread")]
async fn operations_are_counted_with_what_they_cost() {
    let observed = Observed::start(&["--slow", "1h"], &[]).await;
    let body = json!({ "query": NESTED, "variables": { "group": FLAT, "id": FRIDGE } });
    let mut units = 0.0;
    for _ in 0..3 {
        let answer = observed.send(body.clone(), &[("x-keyfold-explain", "1")]).await;
        units += answer["extensions"]["keyfold"]["capacity"]["read"].as_f64().unwrap();
    }
    observed
        .send(
            json!({ "query": "mutation Rename($g: ID!) { renameGroup(id: $g, name: \"Flat\") { name } }", "variables": { "g": FLAT } }),
            &[],
        )
        .await;
    observed.send(json!({ "query": "query Wrong { nothing }" }), &[]).await;
    let metrics = observed.metrics().await;

    assert_eq!(metrics.sum("graphql_operations_total", &[NAMED, &[("outcome", "ok")]].concat()), 3.0);
    assert_eq!(metrics.sum("graphql_operation_duration_seconds_count", NAMED), 3.0);
    assert_eq!(
        (
            metrics.sum("keyfold_operation_waves_sum", &NAMED[..1]),
            metrics.sum("keyfold_operation_waves_count", &NAMED[..1])
        ),
        (9.0, 3.0)
    );
    assert_eq!(
        metrics.sum("keyfold_capacity_units_total", &[NAMED[0], ("direction", "read"), ("db_collection_name", TABLE)]),
        units
    );
    let renamed = [("graphql_operation_name", "Rename"), ("direction", "write")];
    assert!(metrics.sum("keyfold_capacity_units_total", &renamed) >= 1.0);
    let refused = [("graphql_operation_type", "unknown"), ("outcome", "refused")];
    assert_eq!(metrics.sum("graphql_operations_total", &refused), 1.0);
    assert_eq!(metrics.sum("graphql_errors_total", &[("code", "GRAPHQL_VALIDATION_FAILED")]), 1.0);
    let calls = metrics.sum("keyfold_operation_calls_sum", &[]);
    assert_eq!(metrics.sum("db_client_operation_duration_seconds_count", &[]), calls, "each call once");
    assert_eq!(metrics.sum("keyfold_phase_duration_seconds_count", &[("phase", "wait")]), 5.0);
    let parts = metrics.sum("keyfold_phase_duration_seconds_sum", &[]);
    let whole = metrics.sum("graphql_operation_duration_seconds_sum", &[]);
    assert!(parts <= whole * 1.01 && parts >= whole * 0.8, "the parts of {whole} s take {parts} s");
    let http = [("http_route", "/graphql"), ("http_request_method", "POST"), ("http_response_status_code", "200")];
    assert!(metrics.sum("http_server_request_duration_seconds_count", &http) >= 4.0);
    assert_eq!(
        (
            metrics.sum("keyfold_cache_hits_total", &[("cache", "documents")]),
            metrics.sum("keyfold_cache_misses_total", &[("cache", "documents")])
        ),
        (2.0, 3.0)
    );
    assert!(metrics.sum("process_resident_memory_bytes", &[]) > 1e6 && metrics.sum("keyfold_build_info", &[]) == 1.0);

    if let Some(promtool) = promtool() {
        let mut child = Command::new(promtool)
            .args(["check", "metrics"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(observed.text().await.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success() && said.is_empty(), "{}", String::from_utf8_lossy(&said));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_table_that_throttles_is_named() {
    let observed = Observed::start(&[], &[]).await;
    *observed.proxy.throttles.lock().unwrap() = ("develop.Favorite".to_owned(), 2);
    let query = "query Mine { me { name favorites { nodes { title } } } }";
    let answer = observed.send(json!({ "query": query }), &[]).await;
    assert!(answer.get("errors").is_none(), "{answer:#}");
    let metrics = observed.metrics().await;
    assert_eq!(metrics.sum("keyfold_dynamodb_throttles_total", &[("db_collection_name", "develop.Favorite")]), 2.0);
    assert_eq!(metrics.sum("keyfold_dynamodb_retries_total", &[("db_collection_name", "develop.Favorite")]), 2.0);
    assert_eq!(metrics.sum("keyfold_dynamodb_throttles_total", &[]), 2.0, "no other");
    assert_eq!(metrics.sum("keyfold_dynamodb_failures_total", &[]), 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_names_of_operations_are_bounded_and_the_frequent_ones_are_kept() {
    let observed = Observed::start(&[], &[]).await;
    for round in 0..3 {
        for number in 0..250 {
            observed.send(json!({ "query": format!("query Random{round}x{number} {{ me {{ name }} }}") }), &[]).await;
        }
        for _ in 0..20 {
            observed.send(json!({ "query": "query Frequent { me { name } }" }), &[]).await;
        }
    }
    let metrics = observed.metrics().await;
    let names = metrics.values_of("graphql_operation_name");
    assert!(names.len() <= 202, "{}", names.len());
    assert!(names.contains("Frequent") && names.contains("(other)"));
    let all = metrics.sum("graphql_operations_total", &[("outcome", "ok")]);
    // What counted for a name before it gave its place away is gone with it: two uses at most for each.
    assert!((700.0..=810.0).contains(&all), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_are_counted_by_their_bound() {
    let observed = Observed::start(&["--rate-limit", "2/m"], &[]).await;
    for _ in 0..5 {
        observed.send(json!({ "query": "{ me { name } }" }), &[]).await;
    }
    let metrics = observed.metrics().await;
    assert_eq!(metrics.sum("keyfold_refusals_total", &[("bound", "rate")]), 3.0);
    assert_eq!(metrics.sum("graphql_operations_total", &[("outcome", "ok")]), 2.0);
    assert_eq!(metrics.sum("http_server_request_duration_seconds_count", &[("http_response_status_code", "429")]), 3.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_public_address_has_no_metrics() {
    let observed = Observed::start(&[], &[]).await;
    let status = observed.caller.client.get(format!("{}/metrics", observed.caller.url)).send().await.unwrap().status();
    assert_eq!(status, 404);
}
