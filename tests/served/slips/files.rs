//! Files that are missing, that are something else, or that hold something else.

use super::{KANBAN, dev, message, project, said};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// A slip: what is done to a project, the arguments that find it, and what the message holds.
type Slip = (&'static str, fn(&Path), &'static str, &'static [&'static str]);

const SLIPS: [Slip; 20] = [
    (
        "no schema",
        |path| fs::remove_file(path.join("schema.graphql")).unwrap(),
        "check",
        &["`keyfold init`", "--schema FILE"],
    ),
    (
        "a schema of another name",
        |path| fs::rename(path.join("schema.graphql"), path.join("kanban.gql")).unwrap(),
        "dev",
        &["The directory has `kanban.gql`: write --schema kanban.gql"],
    ),
    ("a misspelt name", |_| (), "check --schema shema.graphql", &["write --schema schema.graphql"]),
    ("a directory", |_| (), "check --schema .", &["is a directory", "--schema ./schema.graphql"]),
    (
        "UTF-16",
        |path| {
            let units = std::iter::once(0xfeff).chain(KANBAN.encode_utf16());
            fs::write(path.join("schema.graphql"), units.flat_map(u16::to_le_bytes).collect::<Vec<u8>>()).unwrap();
        },
        "check",
        &["not UTF-8 text, but UTF-16", "Save it as UTF-8"],
    ),
    (
        "Latin-1",
        |path| fs::write(path.join("schema.graphql"), b"type Query {\n  a: Int # caf\xe9\n}\n").unwrap(),
        "check",
        &["line 2 has a character in another coding", "Save it as UTF-8"],
    ),
    (
        "an empty file",
        |path| fs::write(path.join("schema.graphql"), "").unwrap(),
        "check",
        &["defines nothing", "keyfold init"],
    ),
    (
        "JSON as a schema",
        |path| fs::write(path.join("schema.graphql"), "{ \"data\": {} }").unwrap(),
        "check",
        &["this is JSON", "keyfold init"],
    ),
    (
        "a setting without quotes",
        |path| fs::write(path.join("keyfold.toml"), "# mine\nlisten = 127.0.0.1:0\n").unwrap(),
        "dev",
        &["keyfold.toml, line 2", "in quotes, as in `listen = \"127.0.0.1:4000\"`"],
    ),
    (
        "a setting of another tool",
        |path| fs::write(path.join("keyfold.toml"), "port = 4000\n").unwrap(),
        "dev",
        &["line 1: `port` is no setting", "listen = \"127.0.0.1:4000\""],
    ),
    (
        "settings in JSON",
        |path| fs::write(path.join("keyfold.toml"), "{ \"listen\": \"127.0.0.1:0\" }").unwrap(),
        "dev",
        &["the file is TOML, not JSON"],
    ),
    (
        "keys of machines without hashes",
        |path| fs::write(path.join("keys.json"), "[{ \"name\": \"a\", \"key\": \"secret\" }]").unwrap(),
        "dev --api-keys-file keys.json",
        &["keys.json", "unknown field `key`", "\"sha256\""],
    ),
    (
        "a file in place of a directory",
        |_| (),
        "dev --data schema.graphql",
        &["--data names a directory", "schema.graphql.d"],
    ),
    (
        "no directory of samples",
        |_| (),
        "dev --sample seeds",
        &["there is no directory of samples at seeds", "kanban.jsonl"],
    ),
    ("no file to import", |_| (), "import --table kanban --data d items.jsonl", &["cannot read items.jsonl"]),
    (
        "settings of a command under another name",
        |path| fs::write(path.join("keyfold.toml"), "[development]\nlisten = \"127.0.0.1:0\"\n").unwrap(),
        "dev",
        &["line 1: `[development]` is no command", "did you mean `[dev]`?"],
    ),
    (
        "a list of documents in another form",
        |path| {
            fs::create_dir(path.join("app")).unwrap();
            fs::write(path.join("app/list.json"), "[\"{ __typename }\"]").unwrap();
        },
        "dev --documents app",
        &["app/list.json", "an object of ids and documents, { \"team\": \"{ team { name } }\" }"],
    ),
    (
        "a fragment of another name in another file",
        |path| {
            fs::create_dir(path.join("app")).unwrap();
            fs::write(path.join("app/a.graphql"), "query A { team(id: \"1\") { ...TeamParts } }\n").unwrap();
            fs::write(path.join("app/b.graphql"), "fragment TeamPart on Team { name }\n").unwrap();
        },
        "check --documents app",
        &["app/a.graphql:1:27", "Did you mean `TeamPart`?"],
    ),
    ("no folder of cases", |_| (), "test cases", &["there is no file or folder at cases"]),
    ("no file of settings", |_| (), "dev --config settings.toml", &["cannot read settings.toml"]),
];

#[test]
fn a_wrong_file_says_where_it_is_and_what_to_do() {
    for (slip, spoil, line, parts) in SLIPS {
        let directory = project();
        spoil(directory.path());
        let said = said(directory.path(), &line.split(' ').collect::<Vec<_>>());
        for part in parts {
            assert!(said.contains(part), "{slip}: {part}\n{said}");
        }
    }
}

#[test]
fn the_named_schema_is_one_that_loads() {
    let directory = project();
    fs::rename(directory.path().join("schema.graphql"), directory.path().join("kanban.gql")).unwrap();
    let said = said(directory.path(), &["check"]);
    let named = said.trim().rsplit("--schema ").next().unwrap();
    super::super::process::run(directory.path(), &["check", "--schema", named]).well();
}

#[tokio::test]
async fn a_file_of_answers_that_is_wrong_is_named_by_the_log() {
    let directory = project();
    let priced = KANBAN.replacen(
        "  title: String!\n",
        "  title: String!\n  price: Int @resolve(service: \"pricing\", requires: \"title\")\n",
        1,
    );
    let schema = format!("extend schema @service(name: \"pricing\")\n{priced}");
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let team = json!({ "PK": "TEAM#t", "SK": "TEAM", "id": "t", "name": "a" });
    fs::create_dir(directory.path().join("samples")).unwrap();
    fs::write(directory.path().join("samples/kanban.jsonl"), team.to_string()).unwrap();
    fs::create_dir(directory.path().join("services")).unwrap();
    fs::write(directory.path().join("services/pricing.json"), "{ \"Card.price\": [").unwrap();
    let mut server = dev(directory, &[]);
    let made = "mutation { createCard(teamId: \"t\", title: \"a\", points: 1) { price } }";
    let request = server.client.post(format!("{}/graphql", server.url)).json(&json!({ "query": made }));
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    let said = "services/pricing.json is wrong: EOF while parsing a list at line 1 column 17. Write { \"Card.price\": ";
    assert!(message(&answer).starts_with(said), "{answer}");
    let named = "a file of answers is wrong file=\"services/pricing.json\" error=EOF while parsing a list";
    if !server.process.said_so_far().iter().any(|line| line.contains(named)) {
        server.process.wait_for(named);
    }
}
