//! The examples of docs/language.md are correct: each loads without a mistake inside the schema
//! `tests/language/<heading>.graphql` (the second of a heading: `<heading>-2.graphql`), and every directive has an
//! example. The tests and the gates that docs/guarantees.md names exist.

use keyfold::schema;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The place of the example in its frame.
const PLACE: &str = "# example";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

/// The GraphQL examples of the language reference, each with the name of its frame.
fn examples() -> Vec<(String, String)> {
    let text = std::fs::read_to_string(root().join("docs/language.md")).unwrap();
    let (mut heading, mut of_heading) = (String::new(), HashMap::<String, usize>::new());
    let mut examples = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match &mut open {
            Some(_) if line == "```" => examples.extend(open.take()),
            Some((_, example)) => *example += &format!("{line}\n"),
            None if line.starts_with("```graphql") => {
                let number = of_heading.entry(heading.clone()).or_default();
                *number += 1;
                let frame = if *number == 1 { heading.clone() } else { format!("{heading}-{number}") };
                open = Some((frame, String::new()));
            }
            None if line.starts_with('#') => heading = slug(line),
            None => {}
        }
    }
    examples
}

fn slug(heading: &str) -> String {
    heading.trim_start_matches(['#', ' ']).to_lowercase().replace(' ', "-")
}

#[test]
fn every_example_loads_in_its_frame() {
    let mut trouble = String::new();
    let mut frames = HashSet::new();
    for (name, example) in examples() {
        let file = root().join("tests/language").join(format!("{name}.graphql"));
        frames.insert(file.clone());
        let Ok(frame) = std::fs::read_to_string(&file) else {
            trouble += &format!("{} is missing for this example:\n{example}\n", file.display());
            continue;
        };
        assert_eq!(frame.matches(PLACE).count(), 1, "{}", file.display());
        if let Err(mistakes) = schema::load(&name, &frame.replace(PLACE, &example), &|_| None) {
            trouble += &mistakes.render(false);
        }
    }
    for file in std::fs::read_dir(root().join("tests/language")).unwrap().map(|entry| entry.unwrap().path()) {
        if !frames.contains(&file) {
            trouble += &format!("{} is the frame of no example\n", file.display());
        }
    }
    assert!(trouble.is_empty(), "{trouble}");
}

#[test]
fn every_directive_has_an_example() {
    let all: String = examples().into_iter().map(|(_, example)| example).collect();
    let named = |word: &str| {
        all.match_indices(word).any(|(at, _)| !all[at + word.len()..].starts_with(|next: char| next.is_alphanumeric()))
    };
    let definitions = std::fs::read_to_string(root().join("src/schema/syntax/directives.graphql")).unwrap();
    let directives = definitions.lines().filter_map(|line| line.strip_prefix("directive ")?.split(['(', ' ']).next());
    // This one has no effect yet, and the reference says so.
    let without: Vec<&str> = directives.filter(|directive| *directive != "@watch" && !named(directive)).collect();
    assert_eq!(without, Vec::<&str>::new());
}

/// The tests that the guarantees name, each as `file::test`.
fn named_tests() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("docs/guarantees.md")).unwrap();
    let codes = text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`').skip(1).step_by(2));
    codes.filter(|code| code.starts_with("tests/")).map(str::to_owned).collect()
}

#[test]
fn every_test_that_the_guarantees_name_is_there() {
    let is_there = |named: &String| {
        let (file, test) = named.split_once("::")?;
        let text = std::fs::read_to_string(root().join(file)).ok()?;
        text.contains(&format!("fn {test}(")).then_some(())
    };
    let named = named_tests();
    let missing: Vec<&String> = named.iter().filter(|named| is_there(named).is_none()).collect();
    assert_eq!(missing, Vec::<&String>::new());
    assert!(named.len() >= 19, "each kind of write names its test: {}", named.len());
}

/// The gates of the worlds, by their names.
fn gates() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("tests/world/gates.rs")).unwrap();
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split_once("\", TakenGate::"));
    names.map(|(name, _)| name.to_owned()).collect()
}

/// What stands between backticks.
fn coded(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_line_of_the_guarantees_is_broken_without_a_gate() {
    let text = std::fs::read_to_string(root().join("docs/guarantees.md")).unwrap();
    let rows = text.lines().filter(|line| line.starts_with("| ") && line.contains("`tests/"));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split('|').map(str::trim).collect()).collect();
    assert!(rows.len() >= 30, "{} lines", rows.len());
    let mut named = BTreeSet::new();
    for row in &rows {
        let missed = coded(row[4]);
        assert!(!row[3].is_empty() && !missed.is_empty(), "no world or no gate: {row:?}");
        named.extend(missed);
    }
    assert_eq!(named, gates(), "the gates that lines name, and those that there are");
}
