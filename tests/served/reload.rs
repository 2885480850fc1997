//! `keyfold serve` loads its schema again: on SIGHUP and when the file changes, without the loss of a request, a write
//! or an event.

use super::dynamo::Dynamo;
use super::process::{KEY, Process, keyfold, run};
use super::server::{Answer, Server};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{Notify, Semaphore};

const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK", stream: NEW_AND_OLD_IMAGES)

type Note @item(keys: { PK: "ROOM#{room}", SK: "Note#{id}" }) @cacheControl(maxAge: 300) {
  room: ID!
  id: ID!
  version: Int!
}

type NoteChange {
  change: ChangeKind!
  node: Note
}

type Query {
  note(room: ID!, id: ID!): Note @find
}

type Mutation {
  putNote(room: ID!, id: ID!, version: Int!): Note @put(replace: true)
}

type Subscription {
  notes(room: ID!): NoteChange @watch
}
"#;

const RELOADED: &str = "the schema was reloaded";
const NOT_RELOADED: &str = "the schema was not reloaded";
/// Longer than anything that a test waits for.
const BOUND: Duration = Duration::from_secs(60);

/// `keyfold serve` with a schema file of its own.
struct Notes {
    server: Server,
    schema: PathBuf,
}

impl Notes {
    fn start(options: &[&str]) -> Self {
        let (dynamo, directory) = (Dynamo::start(), tempfile::tempdir().unwrap());
        let schema = directory.path().join("schema.graphql");
        fs::write(&schema, SCHEMA).unwrap();
        let url = dynamo.url();
        run(directory.path(), &["tables", "--create", "--endpoint-url", &url]).well();
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--endpoint-url", &url, "--log-format", "json"];
        let mut process = Process::start(keyfold(directory.path(), &[&arguments[..], options].concat()));
        let line: Value = serde_json::from_str(&process.wait_for("\"serving\"")).unwrap();
        let url = format!("http://{}", line["address"].as_str().unwrap());
        let server =
            Server { url, process, client: reqwest::Client::new(), dynamo: Some(dynamo), _directory: directory };
        Self { server, schema }
    }

    /// Writes the schema's file as deployments do: whole, under its name at once.
    fn rename(&self, text: &str) {
        let new = self.schema.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &self.schema).unwrap();
    }

    fn hang_up(&self) {
        assert!(Command::new("kill").args(["-HUP", &self.server.process.id().to_string()]).status().unwrap().success());
    }

    /// The next line of the log about a reload with these words.
    fn wait_for_line(&mut self, words: &str) -> Value {
        serde_json::from_str(&self.server.process.wait_for(words)).unwrap()
    }

    /// How many lines of the log have these words.
    fn times(&mut self, words: &str) -> usize {
        self.server.process.said_so_far().iter().filter(|line| line.contains(words)).count()
    }

    async fn knows(&self, field: &str) -> bool {
        let answer = self.server.ask(&format!("{{ {field}(room: \"r\", id: \"none\") {{ id }} }}"), json!({})).await;
        answer.status == 200 && answer.body.get("errors").is_none()
    }
}

/// The schema whose only query has this name.
fn named(field: &str) -> String {
    SCHEMA.replace("  note(", &format!("  {field}("))
}

/// A schema that has the query `note` and another one.
fn with(field: &str) -> String {
    SCHEMA.replace("type Query {", &format!("type Query {{\n  {field}(room: ID!, id: ID!): Note @find"))
}

/// What sends operations from another task.
#[derive(Clone)]
struct Asker {
    client: reqwest::Client,
    url: String,
}

impl Asker {
    async fn ask(&self, query: &str, variables: Value) -> Answer {
        let request = self.client.post(format!("{}/graphql", self.url)).header("x-api-key", KEY);
        let response = request.json(&json!({ "query": query, "variables": variables })).send().await.unwrap();
        Answer { status: response.status().as_u16(), body: response.json().await.unwrap() }
    }
}

/// Writes one note again and again and reads what it has written, until it must stop. Gives the last version.
async fn write(asker: Asker, id: String, (stop, answered): (Arc<AtomicBool>, Arc<Semaphore>)) -> i64 {
    let put = "mutation($id: ID!, $version: Int!) { putNote(room: \"r\", id: $id, version: $version) { version } }";
    let mut version = 0;
    while !stop.load(Ordering::Relaxed) {
        version += 1;
        let made = asker.ask(put, json!({"id": id, "version": version})).await;
        assert_eq!(made.data(), &json!({"putNote": {"version": version}}));
        for _ in 0..2 {
            let read =
                asker.ask("query($id: ID!) { note(room: \"r\", id: $id) { version } }", json!({ "id": id })).await;
            assert_eq!(read.data(), &json!({"note": {"version": version}}), "what was written is read");
            answered.add_permits(1);
        }
    }
    version
}

/// The notes and versions that a subscriber receives, until it has received `last`.
async fn listen(
    asker: Asker,
    heard_first: Arc<Notify>,
    mut last: tokio::sync::watch::Receiver<Option<Vec<(String, i64)>>>,
) -> Vec<(String, i64)> {
    let body = json!({"query": "subscription { notes(room: \"r\") { node { id version } } }"});
    let request = asker
        .client
        .post(format!("{}/graphql", asker.url))
        .header("x-api-key", KEY)
        .header("accept", "text/event-stream");
    let mut response = request.json(&body).send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let (mut text, mut heard) = (String::new(), Vec::new());
    loop {
        let all = |heard: &Vec<(String, i64)>| {
            last.borrow().as_ref().is_some_and(|last| last.iter().all(|one| heard.contains(one)))
        };
        if all(&heard) {
            return heard;
        }
        let chunk = tokio::select! {
            chunk = response.chunk() => chunk.unwrap().expect("the subscription goes on"),
            _ = last.changed() => continue,
        };
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        while let Some((event, rest)) = text.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: "));
            if let Some(data) = data {
                let event: Value = serde_json::from_str(data).unwrap();
                let node = &event["data"]["notes"]["node"];
                heard.push((
                    node["id"].as_str().unwrap_or_else(|| panic!("{event}")).to_owned(),
                    node["version"].as_i64().unwrap(),
                ));
                heard_first.notify_one();
            }
            text = rest.to_owned();
        }
    }
}

#[tokio::test]
async fn nothing_is_lost_while_the_schema_is_reloaded_twenty_times() {
    let mut notes = Notes::start(&["--reload=false"]);
    let asker = Asker { client: notes.server.client.clone(), url: notes.server.url.clone() };
    let (last, lasts) = tokio::sync::watch::channel(None);
    let first = Arc::new(Notify::new());
    let listener = tokio::spawn(listen(asker.clone(), first.clone(), lasts));
    // The subscription has begun when it reports a change. A write that changes nothing is none.
    let warm = async {
        let put = "mutation($version: Int!) { putNote(room: \"r\", id: \"warm\", version: $version) { version } }";
        for version in 0.. {
            asker.ask(put, json!({ "version": version })).await.data();
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::select! { () = first.notified() => {}, () = warm => {}, () = tokio::time::sleep(BOUND) => panic!("nothing was received") }

    let stop = Arc::new(AtomicBool::new(false));
    let answered = Arc::new(Semaphore::new(0));
    let writer = |number| tokio::spawn(write(asker.clone(), format!("n{number}"), (stop.clone(), answered.clone())));
    let writers: Vec<_> = (0..3).map(writer).collect();
    for round in 0..20 {
        let (text, expected) = match round % 4 {
            0 => (with(&format!("more{round}")), RELOADED),
            1 => (SCHEMA.replace("Note @find", "Nope @find"), NOT_RELOADED),
            2 => (SCHEMA.to_owned(), RELOADED),
            _ => (SCHEMA.replace("name: \"notes\"", "name: \"missing\""), NOT_RELOADED),
        };
        notes.rename(&text);
        notes.hang_up();
        // Requests are answered before, during and after the reload.
        answered.acquire_many(20).await.unwrap().forget();
        let line = notes.wait_for_line("the schema was ");
        assert!(line["message"].as_str().unwrap().starts_with(expected), "{round}: {line}");
        assert_eq!(notes.knows(&format!("more{round}")).await, round % 4 == 0, "{round}");
    }
    stop.store(true, Ordering::Relaxed);
    let mut written = Vec::new();
    for (number, writer) in writers.into_iter().enumerate() {
        written.push((format!("n{number}"), writer.await.unwrap()));
    }
    last.send_replace(Some(written.clone()));
    let heard = tokio::time::timeout(BOUND, listener).await.unwrap().unwrap();
    for (id, last) in written {
        let versions: Vec<i64> = heard.iter().filter(|(heard, _)| *heard == id).map(|(_, version)| *version).collect();
        assert!(last > 20, "{id} was written {last} times");
        assert_eq!(versions, (1..=last).collect::<Vec<_>>(), "each change of {id} is received once, in order");
    }
    assert_eq!((notes.times(RELOADED), notes.times(NOT_RELOADED)), (10, 10));
}

#[tokio::test]
async fn a_changed_file_is_loaded_and_one_with_mistakes_or_none_is_not() {
    let mut notes = Notes::start(&[]);
    notes.rename(&named("first"));
    assert_eq!(notes.wait_for_line(RELOADED)["cause"], "file");
    assert!(notes.knows("first").await && !notes.knows("note").await);

    fs::write(&notes.schema, SCHEMA.replace("ROOM#{room}", "ROOM#{house}")).unwrap();
    let line = notes.wait_for_line(NOT_RELOADED);
    let reason = line["reason"].as_str().unwrap();
    assert!(reason.starts_with("KF") && reason.contains("house") && reason.contains("line 4"), "{line}");
    assert!(notes.knows("first").await);

    fs::remove_file(&notes.schema).unwrap();
    let line = notes.wait_for_line(NOT_RELOADED);
    assert!(line["reason"].as_str().unwrap().contains("the file cannot be read"), "{line}");
    assert!(notes.knows("first").await);

    notes.rename(&named("second"));
    notes.wait_for_line(RELOADED);
    assert!(notes.knows("second").await);
    assert_eq!((notes.times(RELOADED), notes.times(NOT_RELOADED)), (2, 2), "each change is reported once");
}

#[tokio::test]
async fn a_signal_loads_the_schema_in_any_case() {
    let mut notes = Notes::start(&["--reload=false"]);
    // The same text is loaded again: what it says of the environment and of tables may have changed.
    notes.hang_up();
    assert_eq!(notes.wait_for_line(RELOADED)["cause"], "SIGHUP");

    notes.rename(&named("first"));
    notes.hang_up();
    notes.hang_up();
    notes.wait_for_line(RELOADED);
    assert!(notes.knows("first").await);

    fs::remove_file(&notes.schema).unwrap();
    notes.hang_up();
    notes.wait_for_line(NOT_RELOADED);
    fs::write(&notes.schema, "type Query {").unwrap();
    notes.hang_up();
    notes.wait_for_line(NOT_RELOADED);
    fs::write(&notes.schema, "").unwrap();
    notes.hang_up();
    notes.wait_for_line(NOT_RELOADED);
    assert!(notes.knows("first").await);
    let reloaded = notes.times(RELOADED);
    assert!(matches!(reloaded, 2 | 3), "two signals at once are one reload or two: {reloaded}");
    notes.server.process.terminate();
    assert_eq!(notes.server.process.ended().code(), Some(0), "a server that was reloaded stops as others do");
}

#[tokio::test]
async fn a_schema_is_not_taken_unless_its_tables_match() {
    let mut notes = Notes::start(&["--reload=false"]);
    notes.rename(&SCHEMA.replace("sortKey: \"SK\"", "sortKey: \"SORT\"").replace(", SK:", ", SORT:"));
    notes.hang_up();
    let line = notes.wait_for_line(NOT_RELOADED);
    assert!(
        line["reason"].as_str().unwrap().contains("the tables do not match it: ") && line.to_string().contains("SORT"),
        "{line}"
    );

    // The table goes away under a server that stays up.
    notes.rename(&named("first"));
    notes.server.dynamo.as_ref().unwrap().drop_table("notes");
    notes.hang_up();
    let line = notes.wait_for_line(NOT_RELOADED);
    assert!(line["reason"].as_str().unwrap().contains("Table notes does not exist"), "{line}");

    notes.server.dynamo.as_mut().unwrap().stop();
    notes.hang_up();
    let line = notes.wait_for_line(NOT_RELOADED);
    assert!(line["reason"].as_str().unwrap().contains("cannot describe its tables"), "{line}");

    notes.server.dynamo.as_mut().unwrap().start_again();
    let (url, directory) = (notes.server.dynamo.as_ref().unwrap().url(), notes.server._directory.path());
    run(directory, &["tables", "--create", "--endpoint-url", &url]).well();
    notes.hang_up();
    notes.wait_for_line(RELOADED);
    assert!(notes.knows("first").await);
}

#[tokio::test]
async fn trusted_documents_are_read_again_with_the_schema() {
    let documents = tempfile::tempdir().unwrap();
    let (list, directory) = (documents.path().join("list.json"), documents.path().to_str().unwrap());
    let write = |id: &str, name: &str| {
        let document = format!("{{ {name}(room: \"r\", id: \"none\") {{ id }} }}");
        fs::write(&list, json!({ id: document }).to_string()).unwrap();
    };
    write("one", "note");
    let mut notes = Notes::start(&["--reload=false", "--documents", directory, "--only-documents"]);
    let server = &notes.server;
    let asked = async |id: &str| server.send(json!({ "documentId": id }).to_string().into_bytes(), false).await;
    assert_eq!(asked("one").await.body, json!({"data": {"note": null}}));
    write("two", "first");
    assert_eq!(asked("two").await.error().1, "PERSISTED_QUERY_NOT_FOUND");

    notes.rename(&named("first"));
    notes.hang_up();
    notes.wait_for_line(RELOADED);
    let server = &notes.server;
    let asked = async |id: &str| server.send(json!({ "documentId": id }).to_string().into_bytes(), false).await;
    assert_eq!(asked("two").await.body, json!({"data": {"first": null}}));
    assert_eq!(asked("one").await.error().1, "PERSISTED_QUERY_NOT_FOUND");

    // With a mistake in one of the two, both stay.
    fs::write(&list, "[").unwrap();
    notes.rename(SCHEMA);
    notes.hang_up();
    let line = notes.wait_for_line(NOT_RELOADED);
    assert!(line["reason"].as_str().unwrap().contains("list.json"), "{line}");
    let answer = notes.server.send(json!({ "documentId": "two" }).to_string().into_bytes(), false).await;
    assert_eq!(answer.body, json!({"data": {"first": null}}));
}
