//! `keyfold serve` and its tables: missing, different, or unreachable for a while.

use super::dynamo::Dynamo;
use super::process::{keyfold, run};
use super::server::{Answer, Server, TABLE, load, samples, schema};
use serde_json::json;
use std::time::{Duration, Instant};

#[test]
fn a_missing_table_is_reported_and_nothing_served() {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    let ended = run(
        directory.path(),
        &["serve", "--listen", "127.0.0.1:0", "--schema", &schema(), "--endpoint-url", &dynamo.url()],
    );
    let said = ended.badly(1);
    assert!(said.contains(TABLE) && said.contains("keyfold tables"), "{said}");
}

#[test]
fn an_export_of_a_missing_table_leaves_no_file() {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    let arguments = ["export", "all.jsonl", "--table", TABLE, "--schema", &schema(), "--endpoint-url", &dynamo.url()];
    let said = run(directory.path(), &arguments).badly(1);
    assert!(said.contains("keyfold tables --create"), "{said}");
    assert!(!directory.path().join("all.jsonl").exists());
}

#[test]
fn every_difference_of_the_tables_is_reported() {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    let text = std::fs::read_to_string(schema()).unwrap();
    let path = directory.path().join("other.graphql");
    let changed = text.replace("projection: INCLUDE, include: [\"LinkExpiryDatetime\"]", "projection: KEYS_ONLY");
    // Leave out the index on e-mail addresses, and the finds that read it.
    let without = |text: &str, from: &str, to: &str| {
        let (start, end) = (text.find(from).unwrap(), text.find(to).unwrap());
        format!("{}{}", &text[..start], &text[end..])
    };
    let changed = without(&changed, "{ name: \"EMailAndUserIdRelationship\"", "{ name: \"InvitationHash\"");
    let changed = without(&changed, "\"The user who signed up with", "\"Whether a user belongs")
        .replace(", EMailAddress: \"{email}\"", "");
    std::fs::write(&path, changed).unwrap();
    run(directory.path(), &["tables", "--create", "--schema", path.to_str().unwrap(), "--endpoint-url", &dynamo.url()])
        .well();

    let ended = run(
        directory.path(),
        &["serve", "--listen", "127.0.0.1:0", "--schema", &schema(), "--endpoint-url", &dynamo.url()],
    );
    let said = ended.badly(1);
    assert!(said.contains("EMailAndUserIdRelationship") && said.contains("InvitationHash"), "{said}");
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let (mut dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    dynamo.stop();
    let ended = run(
        directory.path(),
        &["serve", "--listen", "127.0.0.1:0", "--schema", &schema(), "--endpoint-url", &dynamo.url()],
    );
    let said = ended.badly(1);
    assert!(said.contains("Check the address, and whether the server is running"), "{said}");
}

#[tokio::test]
async fn a_server_that_stops_is_reported_at_each_path_and_used_again_when_it_is_back() {
    let (mut server, aiko) = with_short_requests();
    let query = "query($id: ID!) { user(id: $id) { name } again: user(id: $id) { id groups { nodes { name } } } }";
    let before = server.ask(query, aiko.clone()).await;
    assert_eq!(
        (before.data()["user"]["name"].as_str(), server.status("/health/ready").await),
        (Some("Aiko Tanaka"), 200)
    );

    server.dynamo.as_mut().unwrap().stop();
    let while_gone = server.ask(query, aiko.clone()).await;
    assert_gone(&while_gone);
    let paths = (&while_gone.body["errors"][0]["path"], &while_gone.body["errors"][1]["path"]);
    assert_eq!(paths, (&json!(["user"]), &json!(["again"])));
    assert_eq!(while_gone.body["data"], json!({"user": null, "again": null}));
    assert_eq!((server.status("/health/live").await, server.status("/health/ready").await), (200, 503));

    server.dynamo.as_mut().unwrap().start_again();
    assert_eq!(once_back(&server, query, aiko).await.data(), before.data());
}

#[tokio::test]
async fn a_server_that_hangs_is_not_waited_for() {
    let (mut server, aiko) = with_short_requests();
    let dynamo = server.dynamo.as_mut().unwrap();
    dynamo.stop();
    let silent = dynamo.hang();
    assert_gone(&server.ask("query($id: ID!) { user(id: $id) { name } }", aiko.clone()).await);
    drop(silent);
    server.dynamo.as_mut().unwrap().start_again();
    let back = once_back(&server, "query($id: ID!) { user(id: $id) { name } }", aiko).await;
    assert_eq!(back.data()["user"]["name"], "Aiko Tanaka");
}

/// The first answer without errors. A table that did not answer is asked once a second.
async fn once_back(server: &Server, query: &str, variables: serde_json::Value) -> Answer {
    let begun = Instant::now();
    loop {
        let answer = server.ask(query, variables.clone()).await;
        if answer.body.get("errors").is_none() {
            return answer;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{:#}", answer.body);
    }
}

/// The pantry's samples behind a gateway whose requests may take five seconds, and the variables that name a user.
fn with_short_requests() -> (Server, serde_json::Value) {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    load(&dynamo, directory.path(), &samples());
    (Server::serve(dynamo, directory, "5s"), json!({"id": "11111111-1111-4111-8111-111111111111"}))
}

fn assert_gone(answer: &Answer) {
    let (status, code, _) = answer.error();
    assert!(matches!((status, code), (200, "UNAVAILABLE" | "TIMEOUT")), "{:#}", answer.body);
    assert!(!answer.body["errors"].to_string().contains(TABLE), "{:#}", answer.body);
}

#[tokio::test]
async fn introspection_and_explanations_are_off_unless_asked_for() {
    let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
    run(directory.path(), &["tables", "--create", "--schema", &schema(), "--endpoint-url", &dynamo.url()]).well();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--schema", &schema(), "--endpoint-url", &dynamo.url()];
    let mut process = super::process::Process::start(keyfold(directory.path(), &arguments));
    let line = process.wait_for("serving");
    let address = line.split_once("address=").unwrap().1.split(' ').next().unwrap();
    let server = Server {
        url: format!("http://{address}"),
        process,
        client: reqwest::Client::new(),
        dynamo: Some(dynamo),
        _directory: directory,
    };
    let answer = server.ask("{ __schema { queryType { name } } }", json!({})).await;
    assert_eq!(answer.error().1, "GRAPHQL_VALIDATION_FAILED");
    let answer = server.ask("{ user(id: \"1\") { name } }", json!({})).await;
    assert_eq!(answer.body, json!({"data": {"user": null}}));
    let page = server.client.get(&server.url).header("accept", "text/html").send().await.unwrap();
    assert!(page.headers()["content-type"].to_str().unwrap().starts_with("text/plain"));
}
