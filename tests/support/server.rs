//! The project's own schema behind a running `keyfold`, on either store: operations in, status and body out.

use super::dynamo::Dynamo;
use super::process::{KEY, Process, keyfold, repository, run};
use apollo_compiler::ast::{Definition, DirectiveList, Document};
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;
use tempfile::TempDir;

/// The pantry's table.
pub const TABLE: &str = "nishiki-table-dev-db";

/// All tables of the schema.
pub const TABLES: [&str; 3] = [TABLE, "develop.Favorite", "data"];

/// The store behind the gateway.
#[derive(Debug, Clone, Copy)]
pub enum Behind {
    /// `keyfold dev` with its store in memory.
    Embedded,
    /// `keyfold serve` and a server at the other end of a socket. `keyfold` creates its tables and loads its items.
    Socket,
}

/// A gateway that answers.
pub struct Server {
    pub process: Process,
    pub client: reqwest::Client,
    pub url: String,
    pub dynamo: Option<Dynamo>,
    /// The directory in which it was started; nothing of the repository is there.
    pub _directory: TempDir,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Server {
    /// A gateway on the items of a directory, `<table>.jsonl`.
    pub fn start(behind: Behind, items: &Path) -> Self {
        Self::start_with(&schema(), behind, items)
    }

    /// The same without the rules of the schema: Aiko may read everything.
    pub fn start_unruled(behind: Behind, items: &Path) -> Self {
        Self::start_with(&unruled(), behind, items)
    }

    fn start_with(schema: &str, behind: Behind, items: &Path) -> Self {
        match behind {
            Behind::Embedded => Self::dev_with(schema, &["--sample", items.to_str().unwrap()]),
            Behind::Socket => {
                let dynamo = Dynamo::start();
                let directory = tempfile::tempdir().unwrap();
                load(&dynamo, directory.path(), items);
                Self::serve_with(schema, dynamo, directory, "30s")
            }
        }
    }

    /// `keyfold dev` with these additional options.
    pub fn dev(options: &[&str]) -> Self {
        Self::dev_with(&schema(), options)
    }

    fn dev_with(schema: &str, options: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let arguments = [&["dev", "--listen", "127.0.0.1:0", "--schema", schema], options].concat();
        Self::dev_by(keyfold(directory.path(), &arguments), directory)
    }

    /// `keyfold dev` with this command.
    pub fn dev_by(command: std::process::Command, directory: TempDir) -> Self {
        let mut process = Process::start(command);
        let line = process.wait_for("http://");
        let url = line.split_once("http://").unwrap().1.trim_end_matches("/graphql");
        Self {
            url: format!("http://{url}"),
            process,
            client: reqwest::Client::new(),
            dynamo: None,
            _directory: directory,
        }
    }

    /// `keyfold serve` on a server whose tables exist, with this time for a request.
    pub fn serve(dynamo: Dynamo, directory: TempDir, timeout: &str) -> Self {
        Self::serve_with(&schema(), dynamo, directory, timeout)
    }

    fn serve_with(schema: &str, dynamo: Dynamo, directory: TempDir, timeout: &str) -> Self {
        let url = dynamo.url();
        let arguments =
            ["serve", "--listen", "127.0.0.1:0", "--schema", schema, "--endpoint-url", &url, "--log-format", "json"];
        let features = ["--explain", "--introspection", "--request-timeout", timeout];
        let mut process = Process::start(keyfold(directory.path(), &[&arguments[..], &features].concat()));
        let line: Value = serde_json::from_str(&process.wait_for("\"serving\"")).unwrap();
        let address = line["address"].as_str().or(line["fields"]["address"].as_str()).unwrap();
        Self {
            url: format!("http://{address}"),
            process,
            client: reqwest::Client::new(),
            dynamo: Some(dynamo),
            _directory: directory,
        }
    }

    /// Sends an operation, with an explanation of its calls.
    pub async fn ask(&self, query: &str, variables: Value) -> Answer {
        self.send(json!({ "query": query, "variables": variables }).to_string().into_bytes(), true).await
    }

    /// Sends a body unchanged, as Aiko.
    pub async fn send(&self, body: Vec<u8>, explain: bool) -> Answer {
        let request =
            self.client.post(format!("{}/graphql", self.url)).header("content-type", "application/json").body(body);
        let mut request = request.header("accept", "application/graphql-response+json").header("x-api-key", KEY);
        if explain {
            request = request.header("x-keyfold-explain", "1");
        }
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        Answer { status, body: serde_json::from_slice(&response.bytes().await.unwrap()).unwrap() }
    }

    /// The status of a path.
    pub async fn status(&self, path: &str) -> u16 {
        self.client.get(format!("{}{path}", self.url)).send().await.unwrap().status().as_u16()
    }
}

impl Answer {
    /// The data, if the operation succeeded.
    pub fn data(&self) -> &Value {
        assert_eq!((self.status, self.body.get("errors")), (200, None), "{:#}", self.body);
        &self.body["data"]
    }

    /// Status, code and path of the first error.
    pub fn error(&self) -> (u16, &str, &Value) {
        let error = &self.body["errors"][0];
        (self.status, error["extensions"]["code"].as_str().unwrap_or_else(|| panic!("{:#}", self.body)), &error["path"])
    }

    /// The explanation.
    pub fn explained(&self) -> &Value {
        &self.body["extensions"]["keyfold"]
    }

    /// The calls of an operation, such as `BatchGetItem`: wave, keys and items of each.
    pub fn calls(&self, operation: &str) -> Vec<(u64, u64, u64)> {
        let number = |call: &Value, name: &str| call[name].as_u64().unwrap();
        let calls = self.explained()["calls"].as_array().unwrap().iter().filter(|call| call["operation"] == operation);
        calls.map(|call| (number(call, "wave"), number(call, "keys"), number(call, "items"))).collect()
    }
}

/// Creates the tables and loads the items of a directory into them.
pub fn load(dynamo: &Dynamo, directory: &Path, items: &Path) {
    let (schema, url) = (schema(), dynamo.url());
    run(directory, &["tables", "--create", "--schema", &schema, "--endpoint-url", &url]).well();
    for table in TABLES {
        let file = items.join(format!("{table}.jsonl"));
        if file.is_file() {
            run(
                directory,
                &["import", file.to_str().unwrap(), "--table", table, "--schema", &schema, "--endpoint-url", &url],
            )
            .well();
        }
    }
}

/// The project's own schema.
pub fn schema() -> String {
    repository("schema.graphql").to_str().unwrap().to_owned()
}

/// The project's own schema without its rules, as a file of the tests.
fn unruled() -> String {
    let mut document = Document::parse(std::fs::read_to_string(schema()).unwrap(), "schema.graphql").unwrap();
    let strip = |directives: &mut DirectiveList| directives.0.retain(|directive| directive.name != "auth");
    for definition in &mut document.definitions {
        if let Definition::ObjectTypeDefinition(ty) = definition {
            let ty = ty.make_mut();
            strip(&mut ty.directives);
            ty.fields.iter_mut().for_each(|field| strip(&mut field.make_mut().directives));
        }
    }
    // Several tests write the file at once, each the same.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let mut file = tempfile::NamedTempFile::new_in(folder).unwrap();
    file.write_all(document.to_string().as_bytes()).unwrap();
    let path = folder.join("unruled.graphql");
    file.persist(&path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// Its sample items.
pub fn samples() -> std::path::PathBuf {
    repository("samples")
}
