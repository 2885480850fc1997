//! `keyfold test`: operations with what they must lead to, and the words for what differs.

use crate::golden_file::{GoldenFile, Section, folder, read};
use crate::process::{Ended, repository, run};
use keyfold::cli::selftest::goldens::systems::places;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const SCHEMA: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK", sortKey: "SK", timeToLive: "ttl")

type Note @item(keys: { PK: "{userId}", SK: "Note#{id}" }) @auth(signedIn: true) {
  userId: ID!
  id: ID! @default(value: "{uuid}")
  text: String!
  at: DateTime! @default(value: "{now}")
}

type Query {
  notes: [Note!]! @find(where: { userId: "{auth.sub}" })
}

type Mutation {
  write(text: String!, key: ID): Note! @idempotent(key: "{key}") @put(set: { userId: "{auth.sub}" })
}
"#;

const CALLERS: &str = r#"[{ "name": "Ann", "claims": { "sub": "u1" } }, { "name": "Ben", "claims": { "sub": "u2" } }]"#;

/// A schema with its samples, and two cases that say nothing yet.
fn notes() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("schema.graphql", SCHEMA);
    write("samples/callers.json", CALLERS);
    let item = |user: &str, text: &str| {
        format!(
            r#"{{ "Item": {{ "PK": {{ "S": "{user}" }}, "SK": {{ "S": "Note#1" }}, "text": {{ "S": "{text}" }}, "at": {{ "S": "2026-01-01T00:00:00.000Z" }} }} }}"#
        )
    };
    write("samples/notes.jsonl", &format!("{}\n{}\n", item("u1", "of Ann"), item("u2", "of Ben")));
    write("cases/ben/notes.golden", "==== operation\n{ notes { id text at } }\n==== caller\n\"Ben\"\n");
    write(
        "cases/write.golden",
        "==== operation\nmutation ($text: String!) { write(text: $text) { id text at } }\n\
         ==== headers\n{ \"Idempotency-Key\": \"k1\" }\n==== variables\n{ \"text\": \"new\" }\n",
    );
    directory
}

fn test(directory: &Path, arguments: &[&str]) -> Ended {
    run(directory, &[&["test", "cases"], arguments].concat())
}

fn case(directory: &Path, name: &str) -> GoldenFile {
    read(&directory.join("cases").join(name)).unwrap()
}

#[test]
fn what_is_blessed_stays_as_it_is() {
    let directory = notes();
    let path = directory.path();
    let open = test(path, &[]);
    assert_eq!(open.code, Some(1), "{open:?}");
    assert!(open.out.starts_with("cases/ben/notes.golden: it does not say yet what comes of it; --bless writes it\n"));
    assert!(open.out.contains("\n2 cases, 2 without results yet; "), "{open:?}");
    let blessed = test(path, &["--bless"]).well();
    assert!(
        blessed.starts_with("cases/ben/notes.golden: written\ncases/write.golden: written\n2 cases, 2 written; "),
        "{blessed}"
    );
    let notes = case(path, "ben/notes.golden");
    assert!(notes.get(Section::Plan).unwrap().contains("rule  Note: signed in"), "{notes:?}");
    assert!(notes.get(Section::Calls).unwrap().contains("\"operation\": \"Query\""), "{notes:?}");
    let response = notes.get(Section::Response).unwrap();
    assert!(response.contains("of Ben") && !response.contains("of Ann"), "{response}");
    let written = case(path, "write.golden");
    let response = written.get(Section::Response).unwrap();
    assert!(response.contains("\"id\": \"<uuid 1>\"") && response.contains("\"at\": \"<now>\""), "{response}");
    assert!(written.get(Section::Calls).unwrap().contains("Idempotent#Mutation.write"), "the header's key counts");
    for _ in 0..2 {
        let same = test(path, &[]).well();
        assert!(
            same.starts_with("2 cases, 2 as their files say; "),
            "what a case writes is not there for others: {same}"
        );
    }
    assert!(test(path, &["--bless"]).well().starts_with("2 cases, 2 as their files say; "));
}

#[test]
fn a_change_is_shown_section_by_section() {
    let directory = notes();
    let path = directory.path();
    test(path, &["--bless"]).well();
    let changed = SCHEMA
        .replace(r#"@find(where: { userId: "{auth.sub}" })"#, r#"@find(where: { userId: "{auth.sub}" }, order: DESC)"#);
    let changed = changed.replace("text: String!\n", "text: String! @attribute(name: \"body\")\n");
    fs::write(path.join("schema.graphql"), changed).unwrap();
    let items = fs::read_to_string(path.join("samples/notes.jsonl")).unwrap();
    fs::write(path.join("samples/notes.jsonl"), items.replace("\"text\"", "\"body\"")).unwrap();
    let ended = test(path, &[]);
    assert_eq!(ended.code, Some(1));
    let said = ended.out;
    assert!(said.starts_with("cases/ben/notes.golden: plan and calls changed\n==== plan\n@@ line "), "{said}");
    assert!(
        said.contains("\n-     asks  PK, SK, at, text\n") && said.contains("\n+     asks  PK, SK, at, body\n"),
        "{said}"
    );
    assert!(said.contains("\n==== calls\n@@ line ") && !said.contains("==== response"), "{said}");
    assert!(said.contains("\n2 cases, 2 changed; "), "{said}");
    let one = run(path, &["test", "cases/ben/notes.golden"]);
    assert!(one.out.contains("\n1 case, 1 changed; "), "a file stands for itself: {one:?}");
    test(path, &["--bless"]).well();
    test(path, &[]).well();
}

#[test]
fn a_case_that_cannot_be_run_is_named_and_the_others_run() {
    let directory = notes();
    let path = directory.path();
    test(path, &["--bless"]).well();
    let add = |name: &str, text: &str| fs::write(path.join("cases").join(name), text).unwrap();
    add("a.golden", "{ notes { id } }\n");
    add("b.golden", "==== caller\nnull\n");
    add("c.golden", "==== operation\n{ notes { id } }\n==== caller\n\"Cid\"\n");
    add("d.golden", "==== operation\n{ notes { id } }\n==== variables\n{\n");
    let ended = test(path, &["--bless"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for line in [
        "cases/a.golden: line 1: the first line is `==== <section>`\n",
        "cases/b.golden: it has no section `operation`, and there is neither cases/b.graphql nor operations/b.gr",
        "cases/c.golden: the samples have no caller \"Cid\"; they have: Ann, Ben\n",
        "cases/d.golden: its section `variables` is not JSON such as { \"id\": \"1\" }: ",
        "\n6 cases, 2 as their files say, 4 that cannot be run; ",
    ] {
        assert!(ended.out.contains(line), "{line}: {}", ended.out);
    }
    let read = fs::read_to_string(path.join("cases/c.golden")).unwrap();
    assert!(!read.contains("==== plan"), "nothing is written: {read}");
    fs::create_dir(path.join("none")).unwrap();
    assert!(run(path, &["test", "none"]).badly(1).contains("none has no cases: no file *.golden, and no operation"));
    assert!(run(path, &["test", "nowhere"]).badly(1).contains("there is no file or folder at nowhere"));
}

#[test]
fn a_refusal_is_a_result() {
    let directory = notes();
    let path = directory.path();
    fs::write(path.join("cases/refused.golden"), "==== operation\n{ notes { colour } }\n").unwrap();
    test(path, &["--bless"]).well();
    let refused = case(path, "refused.golden");
    assert!(refused.get(Section::Plan).unwrap().starts_with("refused: "), "{refused:?}");
    assert_eq!(refused.get(Section::Calls), Some("[]\n"));
    assert!(refused.get(Section::Response).unwrap().contains("GRAPHQL_VALIDATION_FAILED"));
}

#[test]
fn a_subscription_without_a_first_response_ends_with_its_time() {
    let directory = notes();
    let path = directory.path();
    let watched = SCHEMA.replace("timeToLive: \"ttl\"", "timeToLive: \"ttl\", stream: NEW_AND_OLD_IMAGES");
    let watched = format!(
        "{watched}type Subscription {{ written(id: ID!): Note @watch(where: {{ userId: \"{{auth.sub}}\" }}) }}"
    );
    fs::write(path.join("schema.graphql"), watched).unwrap();
    fs::write(path.join("cases/late.golden"), "==== operation\nsubscription { written(id: 1) { id } }\n").unwrap();
    let ended = run(path, &["test", "cases/late.golden", "--case-timeout", "100ms", "--bless"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with("cases/late.golden: the subscription has no first response: only one with"),
        "{ended:?}"
    );
    assert!(!fs::read_to_string(path.join("cases/late.golden")).unwrap().contains("==== plan"), "nothing is written");
}

#[test]
fn an_operation_in_a_file_of_its_own_is_a_case() {
    let directory = notes();
    let path = directory.path();
    let write = |name: &str, text: &str| fs::write(path.join(name), text).unwrap();
    fs::create_dir(path.join("operations")).unwrap();
    write("operations/all.graphql", "{ notes { text } }\n");
    write("operations/parts.graphql", "fragment F on Note { id }\n");
    write("cases/all.golden", "==== caller\n\"Ben\"\n");
    let blessed = run(path, &["test", "operations", "--bless"]).well();
    assert!(blessed.starts_with("operations/all.golden: written\n1 case, 1 written; "), "{blessed}");
    test(path, &["--bless"]).well();
    for (name, text) in [("operations/all.golden", "of Ann"), ("cases/all.golden", "of Ben")] {
        let golden = read(&path.join(name)).unwrap();
        assert!(golden.get(Section::Operation).is_none() && golden.get(Section::Response).unwrap().contains(text));
    }
    for folder in ["operations", "cases", "operations/all.graphql"] {
        run(path, &["test", folder]).well();
    }
    write("operations/all.graphql", "{ notes { colour } }\n");
    assert!(
        run(path, &["test", "operations"]).out.contains("operations/all.golden: plan, calls and response changed\n")
    );
    assert!(run(path, &["test", "."]).out.contains("\n4 cases, "), "a schema is no case");
}

/// The project's own operations, which other tests hold to the same files one by one, each on tables of its own.
#[test]
fn the_goldens_of_the_project_are_cases() {
    let systems = fs::read_dir(folder("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    for system in systems {
        let (schema, samples) = places(&system);
        let [schema, samples] = [schema, samples].map(|path| repository(&path).display().to_string());
        let cases = folder(&system).display().to_string();
        let places = ["test", &cases, "--schema", &schema, "--sample", &samples];
        let ended = run(Path::new("/"), &[&places[..], &["--case-timeout", "60s"]].concat());
        assert_eq!(ended.code, Some(0), "{system}: {}{}", ended.out, ended.err);
    }
}
