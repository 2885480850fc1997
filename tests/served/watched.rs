//! A schema that watches a table: the stream that the table needs, and where it is read.

use super::dynamo::Dynamo;
use super::process::{KEY, Process, keyfold, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK", stream: NEW_AND_OLD_IMAGES)

type Note @item(keys: { PK: "ROOM#{room}", SK: "Note#{id}" }) {
  room: ID!
  id: ID!
}

type Query {
  note(room: ID!, id: ID!): Note @find
}

type Mutation {
  putNote(room: ID!, id: ID!): Note @put(replace: true)
}

type Subscription {
  notes(room: ID!): Note @watch
}
"#;

const NEEDS: &str = "but the schema watches its changes (`@watch`), which takes a stream with NEW_AND_OLD_IMAGES";

/// The schema, which watches nothing, on a table with this stream.
fn unwatched(stream: &str) -> String {
    let (rest, _) = SCHEMA.split_once("type Subscription").unwrap();
    rest.replace(", stream: NEW_AND_OLD_IMAGES", stream)
}

/// A server with the table of a schema.
fn with_table(directory: &Path, schema: &str) -> Dynamo {
    let dynamo = Dynamo::start();
    fs::write(directory.join("schema.graphql"), schema).unwrap();
    run(directory, &["tables", "--create", "--endpoint-url", &dynamo.url()]).well();
    dynamo
}

fn address(process: &mut Process) -> String {
    let line: Value = serde_json::from_str(&process.wait_for("\"serving\"")).unwrap();
    format!("http://{}/graphql", line["address"].as_str().unwrap())
}

#[tokio::test]
async fn a_watched_table_without_both_images_is_refused_at_the_start_and_at_a_reload() {
    for (stream, there) in
        [("", "Table notes: it has no stream, "), (", stream: NEW_IMAGE", "Table notes: its stream has NEW_IMAGE, ")]
    {
        let directory = tempfile::tempdir().unwrap();
        let (path, dynamo) = (directory.path(), with_table(directory.path(), &unwatched(stream)));
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--endpoint-url", &dynamo.url()];
        let mut process = Process::start(keyfold(path, &arguments));
        let url = address(&mut process);
        fs::write(path.join("schema.graphql"), SCHEMA).unwrap();
        let line: Value = serde_json::from_str(&process.wait_for("the schema was not reloaded")).unwrap();
        let reason = line["reason"].as_str().unwrap();
        assert!(reason.contains(there) && reason.contains(NEEDS), "{line}");
        // The schema before is served.
        let request = reqwest::Client::new().post(&url).header("x-api-key", KEY);
        let answer = request.json(&json!({ "query": "{ note(room: \"r\", id: \"1\") { id } }" })).send().await.unwrap();
        assert_eq!(answer.json::<Value>().await.unwrap(), json!({ "data": { "note": null } }));

        let said = run(path, &arguments).badly(1);
        assert!(said.contains(there) && said.contains(NEEDS), "{said}");
    }
}

#[test]
fn a_directory_whose_table_has_no_stream_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    fs::write(path.join("schema.graphql"), unwatched("")).unwrap();
    let arguments = ["dev", "--listen", "127.0.0.1:0", "--data", "data", "--no-sample"];
    let mut process = Process::start(keyfold(path, &arguments));
    process.wait_for("Ctrl-C stops it");
    process.terminate();
    process.ended();
    fs::write(path.join("schema.graphql"), SCHEMA).unwrap();
    let said = run(path, &arguments).badly(1);
    assert!(said.contains("Table notes: it has no stream, ") && said.contains(NEEDS), "{said}");
}

#[tokio::test]
async fn streams_are_read_where_the_environment_says_that_the_tables_are() {
    let directory = tempfile::tempdir().unwrap();
    let (path, dynamo) = (directory.path(), with_table(directory.path(), SCHEMA));
    let (here, nowhere) = (dynamo.url(), "http://127.0.0.1:9".to_owned());
    for variables in [
        &[("AWS_ENDPOINT_URL_DYNAMODB", &here)][..],
        &[("AWS_ENDPOINT_URL", &here)],
        &[
            ("AWS_ENDPOINT_URL_DYNAMODB", &here),
            ("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", &here),
            ("AWS_ENDPOINT_URL", &nowhere),
        ],
    ] {
        let mut command = keyfold(path, &["serve", "--listen", "127.0.0.1:0", "--log-format", "json"]);
        command.env("AWS_REGION", "eu-central-1").env("AWS_ACCESS_KEY_ID", "any").env("AWS_SECRET_ACCESS_KEY", "any");
        command.envs(variables.iter().copied());
        let mut process = Process::start(command);
        let (url, client) = (address(&mut process), reqwest::Client::new());
        let ask = |query: &str| client.post(&url).header("x-api-key", KEY).json(&json!({ "query": query }));
        let events = ask("subscription { notes(room: \"r\") { id } }").header("accept", "text/event-stream");
        let mut events = events.send().await.unwrap();
        let hear = async {
            let mut text = String::new();
            while !text.contains("\n\n") || !text.contains("data: {") {
                text.push_str(std::str::from_utf8(&events.chunk().await.unwrap().expect("it goes on")).unwrap());
            }
            text
        };
        let write = async {
            // A write that changes nothing is no change.
            for number in 0.. {
                let put = format!("mutation {{ putNote(room: \"r\", id: \"n{number}\") {{ id }} }}");
                ask(&put).send().await.unwrap();
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let heard = tokio::select! {
            heard = hear => heard,
            () = write => String::new(),
            () = tokio::time::sleep(Duration::from_secs(30)) => "nothing in time".to_owned(),
        };
        assert!(heard.contains(r#"{"data":{"notes":{"id":"n"#), "{variables:?}: {heard}");
    }
}
