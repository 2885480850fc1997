//! What `keyfold docs` writes: the documents of two systems, each compared with its file (`UPDATE_EXPECT=1` refreshes
//! it), and rules for every document.

use crate::process::{repository, run};
use std::path::{Path, PathBuf};

/// The document of a schema with its samples.
fn document(schema: &Path, samples: &Path) -> String {
    run(Path::new("/"), &["docs", "--schema", schema.to_str().unwrap(), "--sample", samples.to_str().unwrap()]).well()
}

/// Every schema of the project that has samples, with the directory of the samples.
fn systems() -> Vec<(PathBuf, PathBuf)> {
    let mut systems = vec![(repository("schema.graphql"), repository("samples"))];
    for folder in ["tests/systems", "examples"] {
        for directory in std::fs::read_dir(repository(folder)).into_iter().flatten().map(|entry| entry.unwrap().path())
        {
            let schema = directory.join("schema.graphql");
            if schema.is_file() {
                let samples = directory.join("samples");
                systems.push((schema, if samples.is_dir() { samples } else { directory }));
            }
        }
    }
    systems
}

fn compare(name: &str, is: &str) {
    let golden = repository("tests/design").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(golden, is).unwrap();
        return;
    }
    let was = std::fs::read_to_string(&golden).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(was.as_str(), is).unified_diff().context_radius(3).to_string();
    assert!(was == is, "{} differs (UPDATE_EXPECT=1 takes the new form):\n{difference}", golden.display());
}

#[test]
fn the_document_of_the_default_schema() {
    compare("default.md", &document(&repository("schema.graphql"), &repository("samples")));
}

#[test]
fn the_document_of_a_schema_with_optional_arguments_filters_and_several_tables() {
    let patterns = repository("examples/patterns");
    compare("patterns.md", &document(&patterns.join("schema.graphql"), &patterns.join("samples")));
}

#[test]
fn a_constant_has_one_row_with_its_value_and_its_field() {
    let editions = repository("tests/systems/editions");
    let document = document(&editions.join("schema.graphql"), &editions);
    let rows: Vec<&str> = document.lines().filter(|line| line.contains("always ")).collect();
    let expected = [
        "| `onPaper` | `onPaper` | `Boolean!` | BOOL | always `true` |",
        "| `entity-version` | `version` | `Decimal!` | N | always `2` |",
        "| `entity type` | `kind` | `Kind!` | S | always `print` |",
        "| `onPaper` | `onPaper` | `Boolean` | BOOL | always `false` |",
        "| `entity-version` | `version` | `Int!` | N | always `2` |",
        "| `entity-version` | `version` | `Float!` | N | always `1.5` |",
        "| `onPaper` |  |  | BOOL | always `false` |",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn the_records_of_requests_have_a_chapter() {
    let bank = repository("examples/bank");
    let document = document(&bank.join("schema.graphql"), &bank.join("samples"));
    let (_, records) = document.split_once("## Records of requests\n").unwrap();
    let (records, _) = records.split_once("\n## ").unwrap();
    let rows: Vec<&str> = records.lines().filter(|line| line.starts_with("| `")).collect();
    let expected = "| `Mutation.pay` | `key`, or the header `Idempotency-Key` | `bank` | `Idempotent#Mutation.pay#<hash>` | `Idempotent#Mutation.pay` | `expiresAt` |";
    assert_eq!(rows, [expected]);
    assert!(records.contains("A record counts for 24 hours") && records.contains("`idempotentItems`"), "{records}");
}

/// Whether lines that begin with `|` form whole tables: each row has as many cells as its heading.
fn check_tables(document: &str, schema: &Path) {
    let mut columns = None;
    let mut fence: Option<String> = None;
    for line in document.lines() {
        let ticks: String = line.chars().take_while(|sign| *sign == '`').collect();
        match &fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => fence = Some(ticks),
            None if line.starts_with('|') => {
                let cells = line.replace("\\|", "").matches('|').count();
                assert_eq!(*columns.get_or_insert(cells), cells, "{}: {line}", schema.display());
                continue;
            }
            None => {}
        }
        columns = None;
    }
    assert_eq!(fence, None, "{}", schema.display());
}

#[test]
fn every_system_has_a_document() {
    for (schema, samples) in systems() {
        let text = document(&schema, &samples);
        check_tables(&text, &schema);
        // Every operation is valid for the schema.
        let refused = text.lines().filter(|line| line.starts_with("On these samples it answers with an error"));
        for error in refused {
            for mistake in
                ["does not have", "not a valid", "is required", "Cannot query", "must be", "conflict", "syntax"]
            {
                assert!(!error.contains(mistake), "{}: {error}", schema.display());
            }
        }
    }
}

#[test]
fn what_a_write_makes_up_is_the_same_each_time() {
    for (system, samples, made) in
        [("examples/cycle-items", "samples", "<now>"), ("tests/systems/shards", "", "<shard>")]
    {
        let (schema, samples) = (repository(system).join("schema.graphql"), repository(system).join(samples));
        let text = document(&schema, &samples);
        assert!(text.contains("<token>") && text.contains(made), "{system}: {text}");
        let again = document(&schema, &samples);
        let difference = similar::TextDiff::from_lines(text.as_str(), &again).unified_diff().to_string();
        assert!(text == again, "{system}\n{difference}");
    }
}

const ODD: &str = r##"
extend schema @table(name: "odd", sortKey: "sk", timeToLive: "a|b")

"""
# No heading
```
A fence that | nobody closes, with `ticks`.
"""
type Thing @item(keys: { pk: "T|{id}", sk: "`{kind}" }) {
  "First line | of\n`two`."
  id: ID!
  kind: String!
  note: String @attribute(name: "no|te`s")
}

type Query {
  "Reads | one."
  thing(id: ID!, kind: String!): Thing @find
}
"##;

#[test]
fn odd_names_and_texts_stay_what_they_are() {
    let directory = tempfile::tempdir().unwrap();
    let schema = directory.path().join("schema.graphql");
    std::fs::write(&schema, ODD).unwrap();
    let item = serde_json::json!({ "Item": { "pk": { "S": "T|1" }, "sk": { "S": "`a|b\n``c" }, "no|te`s": { "S": "| ``` |\n# x" } } });
    std::fs::write(directory.path().join("odd.jsonl"), format!("{item}\n")).unwrap();
    let text = document(&schema, directory.path());
    check_tables(&text, &schema);
    let headings: Vec<&str> = text.lines().filter(|line| line.starts_with('#')).collect();
    assert!(!headings.contains(&"# No heading") && text.contains("> # No heading"), "{headings:?}");
    // A sign replaces a line break within a value; bars are escaped, and a longer delimiter encloses backticks.
    assert!(text.contains("````\\| ``` \\|\u{FFFD}# x````"), "{text}");
    assert!(text.contains("``` `a\\|b\u{FFFD}``c ```"), "{text}");
}

#[test]
fn a_document_needs_no_samples_and_no_writes() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("schema.graphql"), ODD).unwrap();
    let text = run(directory.path(), &["docs"]).well();
    assert!(text.contains("### Query.thing") && text.contains("\"Key\"") && text.contains("0 sample items"), "{text}");
    assert!(!text.contains("## Writes"));
    assert_eq!(run(directory.path(), &["docs", "--out", "design.md"]).well(), "");
    assert_eq!(std::fs::read_to_string(directory.path().join("design.md")).unwrap(), text);
    assert!(
        run(directory.path(), &["docs", "--sample", "none"])
            .badly(1)
            .contains("there is no directory of samples at none")
    );
    assert!(
        run(directory.path(), &["docs", "--out", "none/design.md"]).badly(1).contains("cannot write none/design.md")
    );
    std::fs::create_dir(directory.path().join("samples")).unwrap();
    std::fs::write(directory.path().join("samples/odd.jsonl"), "nonsense\n").unwrap();
    assert!(run(directory.path(), &["docs"]).badly(1).contains("odd.jsonl is text that begins with"));
}

#[test]
fn fragments_name_anew_only_what_has_several_types() {
    let directory = tempfile::tempdir().unwrap();
    let schema = r#"
extend schema @table(name: "log", partitionKey: "pk", sortKey: "sk")
union Entry = Rise | Note
enum Size { SMALL LARGE }
type Step { by: Int! }
type Rise @item(keys: { pk: "{day}", sk: "rise#{id}" }) { day: Date! id: ID! step: Step value: Int! size: Size }
type Note @item(keys: { pk: "{day}", sk: "note#{id}" }) { day: Date! id: ID! step: Step value: String }
type Query { entries(day: Date!): [Entry!]! @find }
type Mutation { rise(day: Date!, id: ID!, value: Int! = 3, size: Size = SMALL): Rise! @put }
"#;
    std::fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let text = run(directory.path(), &["docs"]).well();
    let step = "      step {\n        by\n      }\n";
    let rise = format!("    ... on Rise {{\n      day\n      id\n{step}      Rise_value: value\n      size\n    }}\n");
    let note = format!("    ... on Note {{\n      day\n      id\n{step}      Note_value: value\n    }}\n");
    assert!(text.contains(&format!("    __typename\n{rise}{note}  }}\n")), "{text}");
    assert!(text.contains("`rise(day: Date!, id: ID!, value: Int! = 3, size: Size = SMALL): Rise!`"), "{text}");
}
