//! What `keyfold check` says to programs, and when it fails: formats, warnings, comments that allow them.

use super::in_pantry;
use crate::process::{Ended, repository, run};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A directory with a schema of warnings, or one of mistakes, of `tests/diagnostics`.
fn with_schema(case: &str) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::copy(repository(&format!("tests/diagnostics/{case}.graphql")), directory.path().join("schema.graphql"))
        .unwrap();
    directory
}

fn check(directory: &Path, arguments: &[&str]) -> Ended {
    run(directory, &[&["check"], arguments].concat())
}

#[test]
fn warnings_fail_where_they_are_denied() {
    let directory = with_schema("KF0433");
    let path = directory.path();
    check(path, &[]).well();
    for format in ["text", "json", "github", "sarif"] {
        assert_eq!(check(path, &["--deny-warnings", "--format", format]).code, Some(1), "{format}");
        assert_eq!(in_pantry(&["check", "--deny-warnings", "--format", format]).code, Some(0), "{format}");
    }
}

#[test]
fn an_allowed_warning_is_neither_shown_nor_counted() {
    let directory = with_schema("KF0433");
    let path = directory.path().join("schema.graphql");
    let text = fs::read_to_string(&path).unwrap();
    let allow = "# keyfold: allow KF0433, keys of an existing table";
    let allowed =
        text.replace("  NAME\n", &format!("  {allow}\n  NAME\n")).replace("  STATE\n", &format!("  STATE {allow}\n"));
    fs::write(&path, allowed.replace("  TEAM\n", &format!("  TEAM {allow}\n"))).unwrap();
    let ended = check(directory.path(), &["--deny-warnings"]);
    assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{ended:?}");
    fs::write(&path, text.replace("  SLUG\n", &format!("  SLUG {allow}\n"))).unwrap();
    let ended = check(directory.path(), &["--deny-warnings"]);
    assert!(ended.err.contains("warning[KF1202]: there is no warning KF0433 on line 29\n"), "{ended:?}");
    assert!(ended.err.contains("schema.graphql: 4 warnings\n`keyfold check --explain KF"), "{ended:?}");
}

#[test]
fn only_check_and_dev_show_warnings() {
    let directory = with_schema("KF0433");
    let path = directory.path();
    assert!(check(path, &[]).err.contains("warning[KF0433]"));
    fs::write(path.join("q.graphql"), "{ people { id } }").unwrap();
    for arguments in [&["tables"][..], &["schema"], &["explain", "q.graphql"], &["docs"]] {
        let ended = run(path, arguments);
        assert_eq!((ended.code, ended.err.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn findings_are_commands_of_github_actions() {
    let directory = with_schema("KF0605");
    let ended = check(directory.path(), &["--format", "github"]);
    let lines: Vec<&str> = ended.out.lines().collect();
    assert_eq!((ended.code, ended.err.as_str(), lines.len()), (Some(1), "", 4), "{ended:?}");
    assert_eq!(
        lines[0],
        "::error file=schema.graphql,line=5,col=46,title=KF0605::`@auth` does not enforce `hide:` on a field, so the rule would \
         let everybody in%0Ahelp: leave `hide:` out: the field is then null, with an error; or put the rule on the type"
    );
    assert!(lines[1].starts_with("::warning file=schema.graphql,line=6,col=3,title=KF0617::"), "{}", lines[1]);
}

#[test]
fn findings_are_a_log_of_sarif() {
    let directory = with_schema("KF1202");
    fs::create_dir(directory.path().join("app")).unwrap();
    fs::write(directory.path().join("app/a b.graphql"), "{ people { naem } }\n").unwrap();
    let ended = check(directory.path(), &["--format", "sarif", "--documents", "app"]);
    let log: Value = serde_json::from_str(&ended.out).unwrap();
    let run = &log["runs"][0];
    assert_eq!(
        (ended.code, &log["version"], &run["tool"]["driver"]["name"]),
        (Some(1), &json!("2.1.0"), &json!("Keyfold"))
    );
    let results = run["results"].as_array().unwrap();
    let codes: Vec<&str> = results.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(codes, ["KF1202", "GRAPHQL_VALIDATION_FAILED"]);
    for result in results {
        let rule = &run["tool"]["driver"]["rules"][result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    let place = &results[1]["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "app/a%20b.graphql");
    assert_eq!(place["region"], json!({ "startLine": 1, "startColumn": 12, "endLine": 1, "endColumn": 16 }));
    let replacement = &results[0]["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let line = json!({ "startLine": 14, "startColumn": 1, "endLine": 15, "endColumn": 1 });
    assert_eq!(replacement["deletedRegion"], line, "the comment has a line of its own");
    assert_eq!(replacement["insertedContent"]["text"], "");
    assert_eq!((&results[0]["level"], &results[1]["level"]), (&json!("warning"), &json!("error")));
}
