//! `keyfold dev` and a schema with mistakes: they are shown at every path until the file is right, and by the pages
//! that are open.

use super::process::{Process, keyfold};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;

const RIGHT: &str = r#"extend schema @table(name: "notes")
type Note @item(keys: { pk: "NOTE#{id}" }) { id: ID! text: String }
type Query { note(id: ID!): Note @find }
"#;
const SAMPLE: &str = r#"{"Item":{"pk":{"S":"NOTE#1"},"text":{"S":"milk"}}}"#;
/// Longer than anything that a test waits for.
const BOUND: Duration = Duration::from_secs(60);

/// `keyfold dev` that was started with a wrong schema, and waits for a right one.
struct Waiting {
    process: Process,
    client: reqwest::Client,
    url: String,
    schema: PathBuf,
    _directory: TempDir,
}

impl Waiting {
    fn start(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let schema = directory.path().join("schema.graphql");
        fs::write(&schema, text).unwrap();
        fs::create_dir(directory.path().join("samples")).unwrap();
        fs::write(directory.path().join("samples/notes.jsonl"), SAMPLE).unwrap();
        let mut process = Process::start(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]));
        let line = process.wait_for("http://");
        let url = line.split_whitespace().find(|word| word.starts_with("http://")).unwrap().trim_end_matches('/');
        // The waiting server closes its connections before the API begins. A browser repeats a request whose connection
        // closes, and this client does not.
        let client = reqwest::Client::builder().pool_max_idle_per_host(0).build().unwrap();
        let url = url.to_owned();
        Self { process, client, url, schema, _directory: directory }
    }

    /// Writes the file whole, under its name at once.
    fn write(&self, text: &str) {
        let new = self.schema.with_extension("new");
        fs::write(&new, text).unwrap();
        fs::rename(new, &self.schema).unwrap();
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> reqwest::Response {
        let request = self.client.get(format!("{}{path}", self.url));
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)).send().await.unwrap()
    }

    async fn ask(&self, query: &str) -> (u16, Value) {
        let request = self.client.post(format!("{}/graphql", self.url)).header("origin", "http://localhost:3000");
        let response = request.json(&json!({ "query": query })).send().await.unwrap();
        assert!(response.headers().contains_key("access-control-allow-origin"), "{response:?}");
        (response.status().as_u16(), response.json().await.unwrap())
    }

    async fn news(&self) -> News {
        let response = self.get("/dev/schema", &[]).await;
        assert_eq!(response.headers()["content-type"], "text/event-stream; charset=utf-8");
        News { response, text: String::new() }
    }
}

/// The news of the schema, as a page receives them.
struct News {
    response: reqwest::Response,
    text: String,
}

impl News {
    /// The next event; null if the server has ended the stream.
    async fn next(&mut self) -> Value {
        tokio::time::timeout(BOUND, async {
            loop {
                while let Some((event, rest)) = self.text.split_once("\n\n") {
                    let data = event.strip_prefix("data: ").map(|data| serde_json::from_str(data).unwrap());
                    self.text = rest.to_owned();
                    if let Some(data) = data {
                        return data;
                    }
                }
                let Some(chunk) = self.response.chunk().await.unwrap() else { return Value::Null };
                self.text.push_str(std::str::from_utf8(&chunk).unwrap());
            }
        })
        .await
        .unwrap()
    }
}

#[tokio::test]
async fn the_mistakes_of_a_schema_are_served_until_it_is_right() {
    let mut waiting = Waiting::start(&RIGHT.replace(": Note @find", ": Nota @find"));
    assert!(
        waiting.process.said.iter().any(|line| line.starts_with("error[KF")) || {
            waiting.process.wait_for("error[KF");
            true
        }
    );

    let (status, body) = waiting.ask("{ note(id: 1) { text } }").await;
    let error = &body["errors"][0];
    let message = error["message"].as_str().unwrap();
    assert_eq!((status, &error["extensions"]["code"]), (503, &json!("UNAVAILABLE")), "{body}");
    assert!(
        message.contains("schema.graphql, line 3: ") && message.contains("`Nota`") && message.contains("(KF"),
        "{message}"
    );

    for path in ["/", "/data", "/design", "/any/other/path"] {
        let page = waiting.get(path, &[("accept", "text/html")]).await;
        assert_eq!(
            (page.status().as_u16(), &page.headers()["content-type"]),
            (503, &"text/html; charset=utf-8".parse().unwrap())
        );
        assert!(
            page.headers()["content-security-policy"]
                .to_str()
                .unwrap()
                .starts_with("default-src 'none'; script-src 'self'")
        );
        let page = page.text().await.unwrap();
        let own: Vec<&str> = page.split('"').filter(|text| text.contains("console/")).collect();
        assert_eq!(own.len(), 3, "{page}");
        for file in own {
            let url = reqwest::Url::parse(&waiting.url).unwrap().join(path).unwrap().join(file).unwrap();
            assert_eq!(waiting.get(url.path(), &[]).await.status().as_u16(), 200, "{url}");
        }
    }
    let text = waiting.get("/design.md", &[]).await;
    assert_eq!(text.status().as_u16(), 503);
    let text = text.text().await.unwrap();
    assert!(text.contains("error[KF") && text.contains(" --> ") && text.contains("schema.graphql:3:"), "{text}");
    for (path, status) in
        [("/health/live", 200), ("/health/ready", 503), ("/docs/language/README.md", 200), ("/graphql/ws", 503)]
    {
        assert_eq!(waiting.get(path, &[]).await.status().as_u16(), status, "{path}");
    }
    for path in ["/", "/design.md", "/dev/schema"] {
        for site in ["cross-site", "same-site"] {
            assert_eq!(waiting.get(path, &[("sec-fetch-site", site)]).await.status().as_u16(), 403, "{path} {site}");
        }
        let link = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
        let followed = waiting.get(path, &link).await.status().as_u16();
        assert_eq!(followed, if path == "/dev/schema" { 403 } else { 503 }, "{path}");
        assert_eq!(waiting.get(path, &[("host", "rebound.example")]).await.status().as_u16(), 421, "{path}");
    }

    let mut news = waiting.news().await;
    let event = news.next().await;
    let first = &event["trouble"]["findings"][0];
    assert_eq!(
        (&event["served"], &first["line"], &first["marked"]),
        (&Value::Null, &json!(3), &json!("Nota")),
        "{event}"
    );
    assert_eq!(
        (first["before"].as_str().unwrap(), first["after"].as_str().unwrap()),
        ("type Query { note(id: ID!): ", " @find }")
    );
    let page = first["page"].as_str().unwrap();
    let (path, anchor) = page.split_once('#').unwrap();
    let text = waiting.get(&format!("/{path}"), &[]).await.text().await.unwrap();
    assert!(text.contains(&format!("id=\"{anchor}\"")), "{page}");

    waiting.write(&RIGHT.replace("text: String", "text: Strong"));
    assert_eq!(news.next().await["trouble"]["findings"][0]["marked"], "Strong");
    waiting.process.wait_for("`Strong`");
    fs::remove_file(&waiting.schema).unwrap();
    assert!(news.next().await["trouble"]["reason"].as_str().unwrap().starts_with("the file cannot be read"));

    waiting.write(RIGHT);
    assert_eq!(news.next().await, Value::Null, "the stream ends with the page that it is for");
    waiting.process.wait_for("notes (1 sample items)");
    assert_eq!(waiting.ask("{ note(id: 1) { text } }").await, (200, json!({ "data": { "note": { "text": "milk" } } })));
    assert_eq!(waiting.get("/health/ready", &[]).await.status().as_u16(), 200);
    let event = waiting.news().await.next().await;
    assert!(event["served"].is_string() && event["trouble"].is_null(), "{event}");
    waiting.process.terminate();
    assert_eq!(waiting.process.ended().code(), Some(0));
}

#[tokio::test]
async fn the_pages_hear_of_mistakes_and_of_other_schemas() {
    let mut served = Waiting::start(&RIGHT.replace("Note @find", "Nota @find"));
    served.write(RIGHT);
    served.process.wait_for("notes (1 sample items)");
    let mut news = served.news().await;
    let first = news.next().await;
    assert!(first["trouble"].is_null(), "{first}");

    served.write(&RIGHT.replace("note(id: ID!)", "note(ide: ID!)"));
    let event = news.next().await;
    assert_eq!((&event["served"], &event["trouble"]["file"]), (&first["served"], &json!("schema.graphql")), "{event}");
    assert!(!event["trouble"]["findings"].as_array().unwrap().is_empty());
    assert_eq!(served.ask("{ note(id: 1) { text } }").await.0, 200, "the last right schema goes on");
    let design = served.get("/design.md", &[]).await;
    assert_eq!(design.status().as_u16(), 200);
    assert!(design.text().await.unwrap().contains("Query.note"));

    // What is no mistake of the text, and passes.
    let wrong = fs::read_to_string(&served.schema).unwrap();
    fs::remove_file(&served.schema).unwrap();
    assert!(news.next().await["trouble"]["reason"].is_string());
    served.write(&wrong);
    assert_eq!(news.next().await["trouble"], event["trouble"]);

    served.write(&RIGHT.replace("note(id", "noteById(id"));
    let event = news.next().await;
    assert!(event["trouble"].is_null() && event["served"] != first["served"], "{event}");
    assert_eq!(served.ask("{ noteById(id: 1) { text } }").await.0, 200);

    served.process.terminate();
    assert_eq!(news.next().await, Value::Null, "the server does not wait for the pages");
    assert_eq!(served.process.ended().code(), Some(0));
}

#[test]
fn a_server_that_waits_for_a_schema_stops_when_it_is_asked_to() {
    let mut waiting = Waiting::start("type Query { user(id: ID!): User @find }");
    waiting.process.terminate();
    assert_eq!(waiting.process.ended().code(), Some(0), "{:?}", waiting.process.said);
}

/// A pipe cannot be read again, and what is not there is no mistake in a text.
#[test]
fn what_cannot_become_right_ends_it_with_1() {
    let directory = tempfile::tempdir().unwrap();
    let ended = |schema: &Path| {
        let options = ["dev", "--listen", "127.0.0.1:0", "--schema", schema.to_str().unwrap()];
        super::process::run(directory.path(), &options).badly(1)
    };
    assert!(ended(Path::new("schema.graphql")).contains("there is no schema at"));
    assert!(ended(Path::new("/dev/null")).contains("/dev/null has mistakes"));
}
