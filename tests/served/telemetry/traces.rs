//! The spans of a query: which there are, what contains what, and when there are none.

use super::observed::Observed;
use super::{FLAT, FRIDGE, NESTED};
use crate::collector::{Collected, attribute, over_grpc, over_http};
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

/// Runs the nested query as a part of the caller's trace, and ends the gateway.
async fn nested(variables: &[(&str, &str)], flags: &str) -> serde_json::Value {
    let mut observed = Observed::start(&[], variables).await;
    let body = json!({ "query": NESTED, "variables": { "group": FLAT, "id": FRIDGE } });
    let parent = format!("00-{TRACE}-{PARENT}-{flags}");
    let answer = observed.send(body, &[("traceparent", &parent), ("x-keyfold-explain", "1")]).await;
    assert!(answer.get("errors").is_none(), "{answer:#}");
    observed.end();
    answer["extensions"]["keyfold"].clone()
}

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn only<'a>(spans: &'a [Span], name: &str) -> &'a Span {
    let found = named(spans, name);
    assert_eq!(found.len(), 1, "{name}");
    found[0]
}

/// The spans of the nested query: request, operation, its phases, three waves, and the calls in their waves.
fn check(collected: &Collected, explained: &serde_json::Value) {
    let spans = collected.spans();
    let ids: BTreeSet<_> = spans.iter().map(|span| span.span_id.clone()).collect();
    assert_eq!(ids.len(), spans.len(), "no id is used twice");
    assert!(spans.iter().all(|span| hex::encode(&span.trace_id) == TRACE), "all are of the caller's trace");

    let request = only(&spans, "POST /graphql");
    assert_eq!((hex::encode(&request.parent_span_id), request.kind()), (PARENT.to_owned(), SpanKind::Server));
    assert_eq!(attribute(request, "http.response.status_code").as_deref(), Some("200"));
    let operation = only(&spans, "query Nested");
    assert_eq!(operation.parent_span_id, request.span_id);
    assert_eq!(attribute(operation, "graphql.operation.name").as_deref(), Some("Nested"));
    for phase in ["parse", "plan", "write"] {
        assert_eq!(only(&spans, phase).parent_span_id, operation.span_id, "{phase}");
    }
    let waves = named(&spans, "wave");
    assert_eq!(waves.len(), 3);
    assert!(waves.iter().all(|wave| wave.parent_span_id == operation.span_id));
    let by_id: BTreeMap<_, _> = spans.iter().map(|span| (span.span_id.clone(), span)).collect();
    for span in spans.iter().filter(|span| span.span_id != request.span_id) {
        let parent = by_id[&span.parent_span_id];
        assert!(
            parent.start_time_unix_nano <= span.start_time_unix_nano,
            "{} begins inside {}",
            span.name,
            parent.name
        );
        assert!(span.end_time_unix_nano <= parent.end_time_unix_nano, "{} ends inside {}", span.name, parent.name);
    }

    let calls: Vec<&Span> = spans.iter().filter(|span| span.kind() == SpanKind::Client).collect();
    let wave_of = |call: &Span| {
        let wave = waves.iter().find(|wave| wave.span_id == call.parent_span_id).expect("a call is inside a wave");
        attribute(wave, "keyfold.wave").unwrap()
    };
    let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut seen: Vec<_> = calls
        .iter()
        .map(|call| {
            (
                wave_of(call),
                attribute(call, "db.operation.name").unwrap(),
                attribute(call, "aws.dynamodb.table_names").unwrap(),
            )
        })
        .collect();
    let mut listed: Vec<_> = explained["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (text(&call["wave"]), text(&call["operation"]), text(&call["table"])))
        .collect();
    seen.sort();
    listed.sort();
    assert_eq!(seen, listed, "the calls of the explanation, each in its wave");
    assert!(calls.iter().all(|call| attribute(call, "aws.request_id").is_some_and(|id| id.starts_with("ANSWER"))));
    let units: f64 =
        calls.iter().map(|call| attribute(call, "keyfold.capacity").unwrap().parse::<f64>().unwrap()).sum();
    assert_eq!(Some(units), explained["capacity"]["read"].as_f64());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_over_http_gets_the_spans_of_three_waves() {
    let (url, collected) = over_http().await;
    let explained = nested(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)], "01").await;
    assert_eq!(explained["waves"], 3);
    check(&collected, &explained);
    assert_eq!(collected.services().first().map(String::as_str), Some("keyfold"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_over_grpc_gets_the_same() {
    let (url, collected) = over_grpc().await;
    let variables = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_SERVICE_NAME", "shop"),
    ];
    let explained = nested(&variables, "01").await;
    check(&collected, &explained);
    assert_eq!(collected.services().first().map(String::as_str), Some("shop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_caller_does_not_record_is_not_recorded() {
    let (url, collected) = over_http().await;
    nested(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)], "00").await;
    assert!(collected.spans().is_empty());
    // Without a parent, the share decides.
    let share = [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", &*url),
        ("OTEL_TRACES_SAMPLER", "traceidratio"),
        ("OTEL_TRACES_SAMPLER_ARG", "0"),
    ];
    nested(&share, "01").await;
    assert!(collected.spans().is_empty());
    nested(&[("OTEL_EXPORTER_OTLP_ENDPOINT", &url), ("OTEL_SDK_DISABLED", "true")], "01").await;
    assert!(collected.spans().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_collector_that_is_gone_harms_no_request() {
    let mut observed = Observed::start(
        &[],
        &[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9"), ("OTEL_BSP_SCHEDULE_DELAY", "50")],
    )
    .await;
    for _ in 0..50 {
        assert_eq!(
            observed.send(json!({ "query": "{ me { name } }" }), &[]).await["data"]["me"]["name"],
            "Aiko Tanaka"
        );
    }
    observed.end();
}

#[test]
fn a_variable_that_cannot_be_used_is_reported_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    for (name, value, message) in [
        (
            "OTEL_EXPORTER_OTLP_PROTOCOL",
            "http/json",
            "the protocol of OTLP is \"http/json\": write http/protobuf or grpc",
        ),
        ("OTEL_TRACES_EXPORTER", "zipkin", "OTEL_TRACES_EXPORTER is \"zipkin\": write otlp or none"),
    ] {
        let schema = crate::server::schema();
        let mut command = crate::process::keyfold(
            directory.path(),
            &["dev", "--memory", "--listen", "127.0.0.1:0", "--schema", &schema],
        );
        command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9").env(name, value);
        let ended = crate::process::Ended::from(command.output().unwrap());
        assert!(ended.badly(1).contains(message));
    }
}

/// A gateway whose containers have a label by a service, which answers or is not there.
async fn labelled(url: &str, service: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("schema.graphql");
    let text = std::fs::read_to_string(crate::server::schema()).unwrap();
    let field = "  label: String @resolve(service: \"labels\", requires: \"name\")\n";
    let (before, after) = text.split_once("type Container\n").unwrap();
    let after = after.replacen("{\n", &format!("{{\n{field}"), 1);
    let declared = format!("extend schema @service(name: \"labels\", url: \"{service}\")\n");
    std::fs::write(&file, format!("{declared}{before}type Container\n{after}")).unwrap();
    let variables = [("OTEL_EXPORTER_OTLP_ENDPOINT", url)];
    let mut observed = Observed::start_on(file.to_str().unwrap(), &[], &variables).await;
    let query = "query Nested($group: ID!, $id: ID!) { group(id: $group) { container(containerId: $id) { label } } }";
    let body = json!({ "query": query, "variables": { "group": FLAT, "id": FRIDGE } });
    observed.send(body, &[("traceparent", &format!("00-{TRACE}-{PARENT}-01"))]).await;
    observed.end();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_a_service_has_a_span_in_its_wave() {
    let answer = || async { r#"{"results":[{"data":"cold"}]}"# };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let service = format!("http://{}/?key=hidden", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, axum::Router::new().fallback(answer)).await });
    for (service, failure) in [(&*service, None), ("http://127.0.0.1:9/?key=hidden", Some("unavailable"))] {
        let (url, collected) = over_http().await;
        labelled(&url, service).await;
        let spans = collected.spans();
        let call = only(&spans, "service labels");
        assert_eq!(attribute(call, "error.type").as_deref(), failure);
        assert_eq!(attribute(call, "keyfold.field").as_deref(), Some("Container.label"));
        assert_eq!(attribute(call, "keyfold.objects").as_deref(), Some("1"));
        let wave = spans.iter().find(|span| span.span_id == call.parent_span_id).unwrap();
        assert_eq!((wave.name.as_str(), attribute(wave, "keyfold.service_calls").as_deref()), ("wave", Some("1")));
        assert!(wave.start_time_unix_nano <= call.start_time_unix_nano);
        assert!(call.end_time_unix_nano <= wave.end_time_unix_nano);
        assert!(!format!("{spans:?}").contains("hidden"), "an address may hold a secret");
    }
}
