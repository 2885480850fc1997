//! The tests and the gates that docs/guarantees.md names exist.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
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
