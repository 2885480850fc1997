//! The commands that end by themselves: arguments in; output, errors and the exit code out.

mod cases;
mod checks;
mod configuration;
mod documents;
mod init;
mod live_table;
mod prices;
mod selftest;
mod services;
mod verify;

use crate::process::{Ended, keyfold, repository, run};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use tempfile::TempDir;

const TABLE: &str = "nishiki-table-dev-db";

/// All tables of the schema.
const TABLES: [&str; 3] = [TABLE, "develop.Favorite", "data"];

/// A directory with the project's own schema in it.
fn pantry() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::copy(repository("schema.graphql"), directory.path().join("schema.graphql")).unwrap();
    directory
}

fn in_pantry(arguments: &[&str]) -> Ended {
    run(pantry().path(), arguments)
}

/// Runs a command with this text on its standard input.
fn with_input(directory: &Path, arguments: &[&str], input: &str) -> Ended {
    let mut command = keyfold(directory, arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ended::from(child.wait_with_output().unwrap())
}

#[test]
fn check_shows_how_each_field_is_read() {
    let printed = in_pantry(&["check"]).well();
    let at = printed.lines().position(|line| line.starts_with("User.memberships ")).unwrap();
    let lines: Vec<&str> = printed.lines().skip(at).take(3).collect();
    assert!(
        lines[0].contains("Query nishiki-table-dev-db ")
            && lines[0].split_whitespace().collect::<Vec<_>>().ends_with(&["userId", "=", "parent.id", "5"]),
        "{lines:?}"
    );
    assert!(
        lines[1].trim_start().starts_with("PK = {userId} AND") && lines[2].ends_with("  begins_with(SK, \"Group#\")"),
        "{lines:?}"
    );
    assert!(
        printed.lines().any(|line| line.starts_with("Group.users ") && line.contains("through memberships.user")),
        "{printed}"
    );
    let named = run(Path::new("/"), &["check", "--schema", repository("schema.graphql").to_str().unwrap()]).well();
    assert_eq!(named, printed);
}

#[test]
fn check_fits_100_columns_for_every_schema() {
    for schema in [
        "schema.graphql",
        "examples/patterns/schema.graphql",
        "tests/systems/timeline/schema.graphql",
        "tests/schemas/reads.graphql",
    ] {
        let printed = in_pantry(&["check", repository(schema).to_str().unwrap()]).well();
        let wide: Vec<&str> = printed.lines().filter(|line| line.chars().count() > 100).collect();
        assert!(wide.is_empty() && printed.lines().count() > 50, "{schema}: {wide:?}");
    }
}

#[test]
fn check_shows_one_type_and_says_it_as_json() {
    let printed = in_pantry(&["check", "--type", "Membership"]).well();
    assert!(
        printed.lines().any(|line| line.starts_with("Membership.user ")) && !printed.contains("User.memberships"),
        "{printed}"
    );
    assert!(in_pantry(&["check", "--type", "Membershp"]).badly(1).contains("no object type Membershp"));
    let printed: serde_json::Value =
        serde_json::from_str(&in_pantry(&["check", "--type", "User", "--format", "json"]).well()).unwrap();
    let row = printed["fields"].as_array().unwrap().iter().find(|row| row["field"] == "User.memberships").unwrap();
    assert_eq!(
        row["bound"][0],
        serde_json::json!({ "field": "userId", "operator": "=", "source": "parent.id", "rule": 5 })
    );
    assert_eq!(
        (&row["operation"], &row["table"], &row["index"]),
        (&"Query".into(), &"nishiki-table-dev-db".into(), &().into())
    );
    let wrong = run(
        Path::new("/"),
        &["check", "--format", "json", repository("tests/diagnostics/ten_mistakes.graphql").to_str().unwrap()],
    );
    let printed: serde_json::Value = serde_json::from_str(&wrong.out).unwrap();
    assert_eq!((printed["found"].as_array().unwrap().len(), &printed["fields"]), (10, &serde_json::Value::Null));
}

#[test]
fn check_tells_ten_mistakes_at_once_each_underlined() {
    let said = in_pantry(&["check", repository("tests/diagnostics/ten_mistakes.graphql").to_str().unwrap()]).badly(1);
    assert_eq!(said.lines().filter(|line| line.starts_with("error[KF")).count(), 10, "{said}");
    assert_eq!(said.lines().filter(|line| line.contains('^')).count(), 10, "{said}");
    assert_eq!(
        said.lines().filter(|line| line.contains("ten_mistakes.graphql:") && line.contains("-->")).count(),
        10,
        "{said}"
    );
    let end = "ten_mistakes.graphql: 10 errors\n`keyfold check --explain KF0106` shows what is right.";
    assert!(said.trim_end().ends_with(end), "{said}");
}

#[test]
fn a_schema_that_is_missing_or_no_text_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    for command in
        [&["check"][..], &["schema"], &["tables"], &["explain", "-"], &["serve"], &["import", "-", "--table", "t"]]
    {
        let said = run(directory.path(), command).badly(1);
        assert!(
            said.starts_with("error: there is no schema at ") && said.contains("--schema FILE"),
            "{command:?}: {said}"
        );
    }
    fs::write(directory.path().join("schema.graphql"), b"\xff").unwrap();
    assert!(run(directory.path(), &["check"]).badly(1).contains("is not UTF-8 text"));
    fs::write(directory.path().join("schema.graphql"), "").unwrap();
    assert!(run(directory.path(), &["check"]).badly(1).contains("error[KF"));
}

#[test]
fn explain_prints_the_plan_as_text_and_as_json() {
    let directory = pantry();
    let query = "query Q($id: ID!) { user(id: $id) { name groups { nodes { users { nodes { name } } } } } } query Other { __typename }";
    fs::write(directory.path().join("q.graphql"), query).unwrap();
    let arguments = ["explain", "q.graphql", "--operation", "Q", "--variables", r#"{"id": "1"}"#];
    let text = run(directory.path(), &arguments).well();
    assert_eq!(
        text.lines().filter(|line| line.starts_with("wave ")).collect::<Vec<_>>(),
        ["wave 1", "wave 2", "wave 3"]
    );
    let plan: Value =
        serde_json::from_str(&run(directory.path(), &[&arguments[..], &["--format", "json"]].concat()).well()).unwrap();
    assert_eq!((&plan["waves"], plan["reads"].as_array().unwrap().len()), (&Value::from(3), 6));

    let measured = run(directory.path(), &[&arguments[..], &["--run", "--sub", "1"]].concat()).well();
    assert!(
        measured.starts_with(&text)
            && measured.contains("measured\n  wave 1\n")
            && measured.contains("    Query on nishiki-table-dev-db: 0 items, 0.5 units, "),
        "{measured}"
    );
    let json: Value = serde_json::from_str(
        &run(directory.path(), &[&arguments[..], &["--run", "--sub", "1", "--format", "json"]].concat()).well(),
    )
    .unwrap();
    assert_eq!(json["measured"]["calls"].as_array().unwrap().len(), 1);
    assert!(run(directory.path(), &["explain", "q.graphql"]).badly(1).contains("several operations, `Q` and `Other`"));
    assert!(run(directory.path(), &["explain", "q.graphql", "--operation", "Q"]).badly(1).contains("is missing"));
    let said = with_input(directory.path(), &["explain", "-"], "{\n  nope\n}").badly(1);
    assert_eq!(said, "error: 2:3: Type `Query` does not have a field `nope`.\n");
    fs::write(directory.path().join("wrong.graphql"), "{\n  nope\n}").unwrap();
    let said = run(directory.path(), &["explain", "wrong.graphql"]).badly(1);
    assert_eq!(said, "error: wrong.graphql:2:3: Type `Query` does not have a field `nope`.\n");
    assert!(run(directory.path(), &["explain", "none.graphql"]).badly(1).contains("cannot read none.graphql"));
}

#[test]
fn schema_prints_what_clients_see_and_what_tools_need() {
    let api = in_pantry(&["schema"]).well();
    assert!(
        api.contains("type Group {")
            && !api.contains("GroupContainer")
            && !api.contains("@find")
            && !api.contains("links"),
        "{api}"
    );
    let directives = in_pantry(&["schema", "--directives"]).well();
    assert!(directives.contains("directive @find(") && directives.contains("scalar Decimal"), "{directives}");
    // With the definitions in front, the schema is valid for every tool.
    let whole = format!("{directives}\n{}", fs::read_to_string(repository("schema.graphql")).unwrap());
    apollo_compiler::Schema::parse_and_validate(whole, "whole.graphql").unwrap();
    apollo_compiler::Schema::parse_and_validate(api, "api.graphql").unwrap();
}

#[test]
fn tables_prints_the_request_that_makes_each() {
    let all = in_pantry(&["tables"]).well();
    let requests: Vec<Value> = serde_json::Deserializer::from_str(&all).into_iter().map(Result::unwrap).collect();
    assert_eq!(requests.iter().map(|request| request["TableName"].as_str().unwrap()).collect::<Vec<_>>(), TABLES);
    assert_eq!(requests[1]["LocalSecondaryIndexes"].as_array().map(Vec::len), Some(3));
    let request: Value = serde_json::from_str(&in_pantry(&["tables", "--table", TABLE]).well()).unwrap();
    assert_eq!(request, requests[0]);
    assert_eq!(
        (&request["TableName"], &request["BillingMode"]),
        (&Value::from(TABLE), &Value::from("PAY_PER_REQUEST"))
    );
    let indexes = request["GlobalSecondaryIndexes"].as_array().unwrap();
    assert_eq!(indexes.len(), 4);
    assert_eq!(indexes[3]["Projection"]["NonKeyAttributes"], serde_json::json!(["LinkExpiryDatetime"]));
    assert!(in_pantry(&["tables", "--table", "other"]).badly(1).contains(&format!("it has: {}", TABLES.join(", "))));
}

#[test]
fn tables_in_another_format_are_the_same_tables() {
    let template: Value = serde_json::from_str(&in_pantry(&["tables", "--format", "cloudformation"]).well()).unwrap();
    assert_eq!(template["Resources"]["NishikiTableDevDb"]["Properties"]["TableName"], TABLE);
    let resources = in_pantry(&["tables", "--format", "terraform", "--table", TABLE]).well();
    assert!(resources.starts_with("resource \"aws_dynamodb_table\" \"nishiki_table_dev_db\" {"), "{resources}");
    assert!(
        in_pantry(&["tables", "--format", "yaml"])
            .badly(2)
            .contains("[possible values: cli, cloudformation, terraform, iam]")
    );
    assert!(in_pantry(&["tables", "--format", "cli", "--create"]).badly(2).contains("cannot be used with"));
}

#[test]
fn items_go_out_and_in_again_unchanged() {
    let directory = pantry();
    let samples = repository("samples").join(format!("{TABLE}.jsonl"));
    let import = |from: &str, data: &str| run(directory.path(), &["import", from, "--table", TABLE, "--data", data]);
    let export = |to: &str, data: &str| run(directory.path(), &["export", to, "--table", TABLE, "--data", data]);
    let done = import(samples.to_str().unwrap(), "one");
    assert!(done.err.contains("Loaded 213 items"), "{done:?}");
    export("one.jsonl", "one").well();
    import("one.jsonl", "two").well();
    assert_eq!(with_input(directory.path(), &["import", "-", "--table", TABLE, "--data", "two"], "\n").code, Some(0));
    let twice = export("-", "two").well();
    let piped = fs::read_to_string(&samples).unwrap();
    let done = with_input(directory.path(), &["import", "/dev/stdin", "--table", TABLE, "--data", "piped"], &piped);
    assert!(cfg!(windows) || done.err.contains("Loaded 213 items"), "a pipe can be read once: {done:?}");

    let items = |text: &str| {
        let mut items: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        items.sort_by_key(|item| {
            (item["Item"]["PK"]["S"].as_str().unwrap().to_owned(), item["Item"]["SK"]["S"].as_str().unwrap().to_owned())
        });
        items
    };
    let original = items(&fs::read_to_string(samples).unwrap());
    assert_eq!((original.len(), items(&twice)), (213, original.clone()));

    let said = export("one.jsonl", "two").badly(1);
    assert_eq!(said, "error: one.jsonl exists, and an export never overwrites a file: choose another name\n");
    assert!(
        export("three.jsonl", "no-such-directory").badly(1).contains("there is no data directory at no-such-directory")
    );
    assert!(!directory.path().join("no-such-directory").exists() && !directory.path().join("three.jsonl").exists());
}

#[test]
fn samples_of_another_schema_are_reported() {
    let directory = tempfile::tempdir().unwrap();
    let schema = "extend schema @table(name: \"notes\")\ntype Note @item(keys: { pk: \"{id}\" }) { id: ID! }\n";
    fs::write(directory.path().join("schema.graphql"), format!("{schema}type Query {{ note(id: ID!): Note @find }}"))
        .unwrap();
    let complaint = |arguments: &[&str]| {
        let ended = run(directory.path(), arguments);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        ended.err
    };
    assert_eq!(complaint(&["docs"]), "");
    let samples = directory.path().join("samples");
    fs::create_dir(&samples).unwrap();
    assert_eq!(complaint(&["docs"]), "");
    let help = "  Name a sample file after its table, as in notes.jsonl; --sample DIR chooses another directory\n";
    let said = format!("warning: samples contains no sample files\n{help}");
    assert_eq!(complaint(&["docs", "--sample", "samples"]), said);
    fs::write(samples.join("notes.jsonl"), "{\"Item\": {\"pk\": {\"S\": \"1\"}}}\n").unwrap();
    assert_eq!(complaint(&["docs", "--sample", "samples"]), "");
    for stray in ["tasks.jsonl", "Notes.jsonl", "README.md"] {
        fs::write(samples.join(stray), "").unwrap();
    }
    let said = format!("warning: no table of the schema matches Notes.jsonl, tasks.jsonl in samples\n{help}");
    assert_eq!(complaint(&["docs"]), said);
}

#[test]
fn a_bad_line_is_named_and_nothing_is_loaded() {
    let directory = pantry();
    let good = r#"{"Item": {"PK": {"S": "1"}, "SK": {"S": "User"}, "UserName": {"S": "Ann"}}}"#;
    let bad = [
        ("not JSON", "2"),
        (r#"{"PK": {"S": "1"}}"#, "2"),
        (r#"{"Item": {"PK": {"S": "1"}}}"#, "\"SK\" is missing"),
        (r#"{"Item": {"PK": {"N": "1"}, "SK": {"S": "User"}}}"#, "2"),
        (r#"{"Item": {"PK": {"S": "1"}, "SK": {"X": "User"}}}"#, "2"),
    ];
    for (line, said) in bad {
        fs::write(directory.path().join("items.jsonl"), format!("{good}\n{line}\n{good}\n")).unwrap();
        let complaint = run(directory.path(), &["import", "items.jsonl", "--table", TABLE, "--data", "data"]).badly(1);
        assert!(
            complaint.contains("nothing was loaded")
                && complaint.contains("items.jsonl:2: ")
                && complaint.contains(said),
            "{complaint}"
        );
    }
    assert!(!directory.path().join("data").exists());
    let said = run(directory.path(), &["import", "items.jsonl", "--table", "other", "--data", "data"]).badly(1);
    assert!(said.contains("the schema has no table \"other\""), "{said}");
}

#[test]
fn items_come_in_from_any_form() {
    let directory = pantry();
    let item = |name: &str| json!({ "PK": { "S": name }, "SK": { "S": "User" }, "UserName": { "S": "Ann" } });
    let put = |name: &str| json!({ "PutRequest": { "Item": item(name) } });
    let mut loaded = 0;
    let mut import = |text: &str, data: &str| {
        loaded += 1;
        let file = format!("items{loaded}.json");
        fs::write(directory.path().join(&file), text).unwrap();
        run(directory.path(), &["import", &file, "--table", TABLE, "--data", data])
    };
    let scan = serde_json::to_string_pretty(&json!({ "Items": [item("1"), item("2")], "Count": 2 })).unwrap();
    assert!(import(&scan, "scan").err.contains("Loaded 2 items"));
    assert!(import("PK,SK,UserName\r\n1,User,Ann\r\n", "csv").err.contains("Loaded 1 items"));
    let done = with_input(directory.path(), &["import", "-", "--table", TABLE, "--data", "input"], &scan);
    assert!(done.err.contains("Loaded 2 items"), "{done:?}");

    // Items of other tables.
    let done = import(&json!({ TABLE: [put("1")], "other": [put("2"), put("3")] }).to_string(), "requests");
    assert!(done.err.contains("note: items of other tables are left out: of other (2 items)\n"), "{done:?}");
    assert!(done.err.contains("Loaded 1 items"), "{done:?}");
    let done = import(&json!({ "other": [put("1"), put("2")] }).to_string(), "other");
    assert!(done.err.contains(&format!("note: 2 items of the table other are loaded into {TABLE}\n")), "{done:?}");
    assert!(done.err.contains("Loaded 2 items"), "{done:?}");
    let said = import(&json!({ "other": [put("1")], "more": [put("2")] }).to_string(), "none").badly(1);
    assert_eq!(said, format!("error: there are no items of the table {TABLE}, but of other (1 item), more (1 item)\n"));

    // Nothing is written before all is checked.
    let twice = json!([item("1"), item("2"), item("1")]).to_string();
    let said = import(&twice, "none").badly(1);
    assert!(
        said.contains("nothing was loaded\n  items6.json, item 3: the item has the key of items6.json, item 1"),
        "{said}"
    );
    let said = import(&format!("{}\n{{\"PK\": {{\"X\": 1}}, \"SK\": {{}}}}\n", item("1")), "none").badly(1);
    assert!(said.contains("nothing was loaded\n  items7.json:2: attribute PK: unknown type"), "{said}");
    let said = import(&scan[..scan.len() - 20], "none").badly(1);
    assert!(said.contains("items8.json ends in the middle, behind 2 items: it is cut off"), "{said}");
    let said =
        import(&json!({ "TableName": "t", "KeySchema": [{ "AttributeName": "a" }] }).to_string(), "none").badly(1);
    assert_eq!(said, "error: items9.json is a CreateTable request or a table's description: it has no items\n");
    assert!(!directory.path().join("none").exists());

    fs::create_dir(directory.path().join("samples")).unwrap();
    fs::write(directory.path().join("samples").join(format!("{TABLE}.jsonl")), &scan).unwrap();
    // Samples come in any form, too.
    run(directory.path(), &["docs"]).well();
}

#[test]
fn usage_is_explained() {
    assert_eq!(in_pantry(&["--version"]).well().trim(), format!("keyfold {}", env!("CARGO_PKG_VERSION")));
    let help = in_pantry(&["--help"]).well();
    for command in
        ["dev", "serve", "check", "explain", "schema", "tables", "docs", "import", "export", "config", "selftest"]
    {
        assert!(help.lines().any(|line| line.trim_start().starts_with(command)), "{command}: {help}");
        assert!(in_pantry(&[command, "--help"]).well().contains("Usage: keyfold"));
    }
    assert!(in_pantry(&[]).badly(2).contains("Usage: keyfold"));
    assert!(in_pantry(&["chekc"]).badly(2).contains("'check'"));
    assert!(in_pantry(&["dev", "--request-timeout", "never"]).badly(2).contains("500ms, 30s, 2m"));
}

/// A schema of one type with these keys and rules.
fn small(keys: &str, rules: &str) -> String {
    format!(
        "extend schema @table(name: \"data\", partitionKey: \"pk\")
type Note @item(keys: {{ pk: \"{keys}\" }}) {rules} {{ id: ID! }}
type Query {{ note(id: ID!): Note @find }}
"
    )
}

#[test]
fn serve_does_not_start_with_rules_or_claims_that_nobody_can_meet() {
    for (keys, rules, says) in [
        ("{id}", "@auth(signedIn: true)", "has `@auth` rules, but no sign-in is configured, so nobody could be let in"),
        (
            "{auth.tenant}#{id}",
            "",
            "has claims in its keys, but no sign-in is configured, so nobody could find anything",
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("schema.graphql"), small(keys, rules)).unwrap();
        let mut command = keyfold(directory.path(), &["serve", "--endpoint-url", "http://127.0.0.1:9"]);
        let error = Ended::from(command.env_remove("KEYFOLD_API_KEYS_FILE").output().unwrap()).badly(1);
        assert!(error.contains(says) && error.contains("--issuer"), "{error}");
    }
}

/// The settings of a command: each option, with what the help says of it.
fn settings(command: &str) -> Vec<(String, String)> {
    let help = in_pantry(&[command, "--help"]).well();
    let mut settings: Vec<(String, String)> = Vec::new();
    for line in help.lines() {
        match (line.strip_prefix("      --"), settings.last_mut()) {
            (Some(rest), _) => settings.push((format!("--{}", option_name(rest)), String::new())),
            (None, Some((_, text))) => *text += &format!("{} ", line.trim()),
            (None, None) => {}
        }
    }
    settings.sort();
    settings
}

/// The name at the beginning of `name <VALUE>`.
fn option_name(text: &str) -> String {
    text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect()
}

#[test]
fn every_setting_of_a_server_is_documented() {
    let page = fs::read_to_string(repository("docs/operations.md")).unwrap();
    let begin = page.find("\n## Settings\n").unwrap();
    let section = &page[begin..page.find("\n## Health\n").unwrap()];
    let rows = section
        .lines()
        .filter(|line| line.starts_with("| "))
        .map(|row| row.trim_matches('|').split('|').map(str::trim));
    // The option is the first cell of a setting, and the third of a limit. Other cells mention options.
    let options =
        rows.map(|cells| cells.collect::<Vec<_>>()).map(|cells| if cells.len() == 3 { cells[0] } else { cells[2] });
    let mut documented: Vec<String> = options
        .filter_map(|option| option.strip_prefix("`--"))
        .map(|rest| format!("--{}", option_name(rest)))
        .collect();
    documented.sort();
    documented.dedup();
    let settings = settings("serve");
    let names: Vec<&String> = settings.iter().map(|(name, _)| name).collect();
    assert_eq!(names, documented.iter().collect::<Vec<_>>(), "left: `keyfold serve --help`, right: docs/operations.md");
    for (name, text) in settings.iter().filter(|(name, _)| name != "--no-introspection") {
        let variable = name.replace("--", "KEYFOLD_").replace('-', "_").to_uppercase();
        assert!(text.contains(&format!("[env: {variable}")), "{name}: {text}");
    }
}

#[test]
fn an_idle_connection_outlasts_those_of_load_balancers() {
    let settings = settings("serve");
    let of = |name: &str| {
        settings.iter().find(|(found, _)| found == name).map(|(_, text)| text.as_str()).unwrap_or_default()
    };
    // Load balancers of AWS keep theirs for 60 s.
    assert!(of("--keep-alive").contains("[default: 75s]"), "{}", of("--keep-alive"));
    assert!(of("--header-timeout").contains("[default: 10s]"), "{}", of("--header-timeout"));
}
