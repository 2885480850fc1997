//! `keyfold selftest`: in memory, on a server that does what DynamoDB does, and on servers that do not.

use super::super::dynamo::Dynamo;
use crate::process::{Process, keyfold, repository, run};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use tokio::net::TcpListener;

/// The number of golden operations in the repository.
fn goldens() -> usize {
    let systems = std::fs::read_dir(repository("tests/golden")).unwrap();
    systems.map(|system| std::fs::read_dir(system.unwrap().path()).unwrap().count()).sum()
}

fn report(out: &str) -> Value {
    serde_json::from_str(out).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn every_golden_is_proved_in_memory_without_a_question() {
    let arguments = ["selftest", "--cases", "6", "--seed", "7", "--format", "json"];
    let report = report(&run(Path::new("/"), &arguments).well());
    assert_eq!((&report["agrees"], &report["seed"], &report["estimate"]), (&true.into(), &7.into(), &Value::Null));
    let result = &report["result"];
    assert_eq!(number(&result["cases"]) as usize, goldens());
    assert!(number(&result["queries"]) > 10.0, "{result}");
    let histories = &result["histories"];
    assert_eq!((&histories["histories"], &histories["undecided"]), (&9.into(), &0.into()));
    assert!(number(&histories["operations"]) > 9.0 * 15.0 && number(&histories["open"]) > 0.0, "{histories}");
    assert!(number(&report["measured"]["write_units"]) > 1000.0, "{report}");
}

#[test]
fn a_server_is_proved_within_the_estimate_and_left_as_it_was() {
    let (dynamo, url) = server();
    let on = |more: &[&str]| {
        let all = [&["selftest", "--endpoint-url", &url, "--table-prefix", "proof", "--cases", "4"], more].concat();
        run(Path::new("/"), &all)
    };
    let said = on(&[]).badly(1);
    assert!(said.contains(&format!("{} golden operations, ", goldens())), "{said}");
    assert!(said.contains("--yes goes on without asking"), "{said}");
    assert!(dynamo.tables().is_empty());

    let ended = on(&["--yes", "--format", "json"]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(ended.err.contains("on demand in us-east-1. About "), "{}", ended.err);
    let report = report(&ended.out);
    assert_eq!(number(&report["result"]["cases"]) as usize, goldens());
    for name in ["calls", "read_units", "write_units", "dollars"] {
        let [measured, estimate] = ["measured", "estimate"].map(|of| number(&report[of][name]));
        assert!(measured <= estimate && measured * 4.0 > estimate, "{name}: {measured} of {estimate}");
    }
    assert!(dynamo.tables().is_empty(), "{:?}", dynamo.tables());
}

#[test]
fn a_table_that_exists_is_never_touched() {
    let (dynamo, url) = server();
    let on = |more: &[&str]| {
        let all = ["selftest", "--endpoint-url", &url, "--table-prefix", "mine", "--only", "staff", "--cases", "0"];
        run(Path::new("/"), &[&all, more].concat())
    };
    assert!(on(&["--yes", "--keep"]).well().contains(" 0 of them differ"));
    let kept = dynamo.tables();
    assert_eq!(kept, ["mine-staff-staff"]);
    let said = on(&["--yes"]).badly(1);
    assert!(said.contains("the table mine-staff-staff exists") && said.contains("--table-prefix"), "{said}");
    assert_eq!(dynamo.tables(), kept);
}

#[test]
fn an_unknown_system_and_a_wrong_prefix_are_mistakes() {
    let said = run(Path::new("/"), &["selftest", "--only", "staff,bakery"]).badly(1);
    assert!(said.contains("there is no system \"bakery\"; there are: ") && said.contains(" staff,"), "{said}");
    let said = run(Path::new("/"), &["selftest", "--table-prefix", "a b"]).badly(2);
    assert!(said.contains("letters, digits, hyphens, dots and underscores"), "{said}");
}

#[test]
fn a_signal_deletes_the_tables() {
    let (dynamo, url) = server();
    let arguments = ["selftest", "--endpoint-url", &url, "--yes", "--cases", "40"];
    let mut process = Process::start(keyfold(Path::new("/"), &arguments));
    process.wait_for("on demand in us-east-1");
    let begun = std::time::Instant::now();
    while dynamo.tables().is_empty() {
        assert!(begun.elapsed().as_secs() < 180, "no table is created");
        // The program prepares what it expects first, and needs the processors for it.
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(Command::new("kill").args(["-INT", &process.id().to_string()]).status().unwrap().success());
    assert_eq!(process.ended().code(), Some(1));
    assert!(process.said.iter().any(|line| line.contains("stopped by SIGINT")), "{:?}", process.said);
    assert!(dynamo.tables().is_empty(), "{:?}", dynamo.tables());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_answers_otherwise_is_found_out() {
    let (dynamo, url) = server();
    // It forgets one attribute of what it reads.
    let other = in_front(url, |body| body, |answer| answer.replace("\"title\":", "\"tittle\":")).await;
    let ended = proof(&other, &["--only", "staff", "--cases", "0"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("staff::") && ended.out.contains("differs in its response:\n@@ line "), "{}", ended.out);
    assert!(ended.out.lines().any(|line| line.starts_with('-') && line.contains("title")), "{}", ended.out);
    assert!(dynamo.tables().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_makes_a_transaction_twice_is_found_out() {
    let (dynamo, url) = server();
    // It does not know the token of a transaction.
    let forgets = |body: String| body.replace("\"ClientRequestToken\":", "\"Forgotten\":");
    let other = in_front(url, forgets, |answer| answer).await;
    let ended = proof(&other, &["--only", "staff", "--cases", "16", "--seed", "1"]).await;
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("No order explains what callers got (--seed 1) of "), "{}", ended.out);
    assert!(dynamo.tables().is_empty());
}

fn server() -> (Dynamo, String) {
    let dynamo = Dynamo::start();
    let url = dynamo.url();
    (dynamo, url)
}

/// Runs the command on a server of this process.
async fn proof(url: &str, more: &[&str]) -> crate::process::Ended {
    let all = [&["selftest", "--yes", "--endpoint-url", url], more].concat();
    let all: Vec<String> = all.into_iter().map(str::to_owned).collect();
    let ended =
        tokio::task::spawn_blocking(move || run(Path::new("/"), &all.iter().map(String::as_str).collect::<Vec<_>>()));
    ended.await.unwrap()
}

/// The address of a server that changes what is sent to another one, and what that one answers.
async fn in_front(url: String, sent: fn(String) -> String, answered: fn(String) -> String) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let app = Router::new().fallback(move |mut headers: HeaderMap, body: Bytes| {
        let (client, url) = (client.clone(), url.clone());
        async move {
            headers.remove("content-length");
            let body = sent(String::from_utf8(body.to_vec()).unwrap());
            let answer = client.post(&url).headers(headers).body(body).send().await.unwrap();
            let status = StatusCode::from_u16(answer.status().as_u16()).unwrap();
            let body = answered(answer.text().await.unwrap());
            (status, [("content-type", "application/x-amz-json-1.0")], body).into_response()
        }
    });
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}
