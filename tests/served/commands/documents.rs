//! `keyfold check --documents`: the operations of clients in, what does not fit the schema and what each costs out.

use super::pantry;
use crate::process::{Ended, repository, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The pantry with these files of a client.
fn client(files: &[(&str, &str)]) -> TempDir {
    let directory = pantry();
    for (name, text) in files {
        let path = directory.path().join("app").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    directory
}

fn check(directory: &Path, arguments: &[&str]) -> Ended {
    run(directory, &[&["check", "--documents", "app"], arguments].concat())
}

const NAMES: &str = "fragment Names on User { id ...More }\n";
const MORE: &str = "fragment More on User { name memberships { nodes { group { name } } } }\n";
const USER: &str = "query User($id: ID!) {\n  user(id: $id) { ...Names }\n}\n\nquery Me { me { id } }\n";

#[test]
fn operations_with_fragments_of_other_files_have_their_costs() {
    let directory = client(&[("user.graphql", USER), ("parts/names.gql", NAMES), ("parts/more.graphql", MORE)]);
    let printed = check(directory.path(), &[]).well();
    let rows: Vec<Vec<&str>> = printed.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "OPERATION CALLS WAVES READ UNITS WRITE UNITS A MILLION AT");
    assert_eq!((rows[1][0], rows[1].last().unwrap()), ("User", &"app/user.graphql:1"));
    assert_eq!(rows[2].join(" "), "Me 1 1 0.5 0 $0.0625 app/user.graphql:5");
    let json: Value = serde_json::from_str(&check(directory.path(), &["--format", "json"]).well()).unwrap();
    let user = &json["documents"][0];
    assert_eq!(
        (&user["operation"], &user["file"], &user["line"]),
        (&json!("User"), &json!("app/user.graphql"), &json!(1))
    );
    fs::write(directory.path().join("all.graphql"), format!("{USER}{NAMES}{MORE}")).unwrap();
    let explain =
        ["explain", "all.graphql", "--operation", "User", "--variables", r#"{ "id": "1" }"#, "--format", "json"];
    let cost = serde_json::from_str::<Value>(&run(directory.path(), &explain).well()).unwrap()["cost"].clone();
    for number in ["calls", "waves", "capacity", "dollarsAMillion", "objects"] {
        assert_eq!(user["atMost"][number], cost[number], "{number}: {user} {cost}");
    }
    assert_eq!(json["found"], json!([]));
}

#[test]
fn the_worst_case_is_that_of_the_dearest_variables() {
    let text = "query A($with: Boolean!, $id: ID!, $first: Int) { me { id } user(id: $id) @include(if: $with) { name }\n\
                group(id: $id) @skip(if: $with) { name users(first: $first) { nodes { name } } } }";
    let directory = client(&[("a.graphql", text)]);
    let json: Value = serde_json::from_str(&check(directory.path(), &["--format", "json"]).well()).unwrap();
    let cost = &json["documents"][0]["atMost"];
    let explained = |variables: Value| -> Value {
        let variables = variables.to_string();
        let arguments = ["explain", "app/a.graphql", "--variables", &variables, "--format", "json"];
        serde_json::from_str::<Value>(&run(directory.path(), &arguments).well()).unwrap()["cost"].clone()
    };
    let other = explained(json!({ "with": true, "id": "1" }));
    let dearest = explained(json!({ "with": false, "id": "1", "first": 1000 }));
    let cheaper = explained(json!({ "with": false, "id": "1", "first": 10 }));
    assert!(other["calls"].as_u64() < cheaper["calls"].as_u64(), "{other} {cheaper}");
    assert!(cheaper["capacity"]["read"].as_f64() < dearest["capacity"]["read"].as_f64(), "{cheaper} {dearest}");
    for number in ["calls", "waves", "capacity", "objects"] {
        assert_eq!(cost[number], dearest[number], "{number}: {cost} {dearest}");
    }
}

#[test]
fn mistakes_have_file_line_and_column_wherever_they_stand() {
    let directory = client(&[
        ("a.graphql", "query A { me { ...Wrong } }\n"),
        ("b.graphql", "query B {\n  me { ...Wrong colour }\n}\n"),
        ("c.graphql", "query C { me {\n"),
        ("d.graphql", "query D { me { ...Nowhere } }\n"),
        ("e.graphql", "query E($id: Int!) { user(id: $id) { name } }\n"),
        (
            "parts/wrong.graphql",
            "# a comment\n\nfragment Wrong on User {\n  id naem\n}\nfragment Unused on User { id }\n",
        ),
        ("schema.graphql", "type Query { other: Int }\n"),
    ]);
    let ended = check(directory.path(), &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    for place in ["app/b.graphql:2:17", "app/d.graphql:1:16", "app/e.graphql:1:27", "app/parts/wrong.graphql:4:6"] {
        assert!(ended.err.contains(&format!(" --> {place}\n")), "{place}: {}", ended.err);
    }
    assert!(ended.err.contains("error[GRAPHQL_PARSE_FAILED]: ") && ended.err.contains(" --> app/c.graphql:"));
    assert_eq!(ended.err.matches(" --> app/parts/wrong.graphql:4:6\n").count(), 1, "once for both operations");
    assert!(ended.err.contains("field `naem`. Did you mean `name`?\n"), "{}", ended.err);
    let warning =
        "warning[GRAPHQL_VALIDATION_FAILED]: no operation spreads the fragment `Unused`, so nothing checks it";
    assert!(ended.err.contains(warning), "{}", ended.err);
    assert!(ended.out.contains("A          –"), "{}", ended.out);
    let json: Value = serde_json::from_str(&check(directory.path(), &["--format", "json"]).out).unwrap();
    let found = json["found"].as_array().unwrap();
    let place = |one: &Value| (one["file"].clone(), one["line"].clone(), one["column"].clone());
    assert!(found.iter().any(|one| place(one) == (json!("app/parts/wrong.graphql"), json!(4), json!(6))), "{found:?}");
    assert_eq!(json["documents"][0], json!({ "operation": "A", "file": "app/a.graphql", "line": 1, "atMost": null }));
}

#[test]
fn a_fragment_of_two_files_is_a_mistake_and_a_folder_without_operations_too() {
    let fragment = "fragment F on User { id }\n";
    let directory =
        client(&[("a.graphql", "query A { me { ...F } }\n"), ("b.graphql", fragment), ("c.graphql", fragment)]);
    let said = check(directory.path(), &[]).badly(1);
    assert!(said.contains("error[GRAPHQL_VALIDATION_FAILED]: the fragment `F` is also in app/b.graphql\n"), "{said}");
    assert!(said.contains(" --> app/c.graphql:1:10\n"), "{said}");
    let empty = client(&[("a.txt", "")]);
    assert!(check(empty.path(), &[]).badly(1).contains("app has no operations: no file *.graphql or *.gql with one"));
}

/// One operation of the examples is there to be refused.
#[test]
fn the_operations_of_the_examples_fit_their_schemas() {
    let mut operations = 0;
    for example in fs::read_dir(repository("examples")).unwrap().map(|entry| entry.unwrap().path()) {
        let [schema, folder] = ["schema.graphql", "operations"].map(|name| example.join(name).display().to_string());
        if !Path::new(&folder).is_dir() {
            continue;
        }
        let ended = run(Path::new("/"), &["check", &schema, "--documents", &folder, "--format", "json"]);
        let json: Value = serde_json::from_str(&ended.out).unwrap();
        operations += json["documents"].as_array().unwrap().len();
        let errors = json["found"].as_array().unwrap().iter().filter(|one| one["severity"] == "error");
        let wrong: Vec<&str> = errors.map(|one| one["file"].as_str().unwrap().rsplit('/').next().unwrap()).collect();
        let expected: &[&str] = match example.ends_with("tournaments") {
            true => &["t04_a_bracket_without_its_round.graphql"],
            false => &[],
        };
        assert_eq!(wrong, expected, "{folder}");
        assert_eq!(ended.code, Some(i32::from(!wrong.is_empty())), "{folder}");
    }
    assert!(operations > 100, "{operations}");
}
