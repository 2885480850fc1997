//! The house rules that no compiler checks: the files under `src/` in, every line that breaks a rule out.
//!
//! A rule is a function from files to sentences; each is tried on the repository and on a small sample that breaks it.
//! Code under `#[cfg(test)]`, and in files named `…tests.rs`, is free of the rules about layers, crates and unfinished code, and its
//! lines are not counted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "tidy/code.rs"]
mod code;

use code::{crate_paths, line_of, module_depth, product, test_items, words};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// A file: its path from the repository's root with `/`, and its text.
struct File {
    path: String,
    text: String,
}

/// The folders of `src/`, with the layers that each may name (ARCHITECTURE.md, "Layers").
const ARROWS: [(&str, &[&str]); 6] = [
    ("schema", &[]),
    ("plan", &["schema"]),
    ("table", &["schema::table"]),
    ("execute", &["plan", "schema", "table"]),
    ("serve", &["execute", "plan", "schema"]),
    ("cli", &["schema", "plan", "table", "execute", "serve"]),
];

/// Crates, by the beginning of their names, and the only layers that may name them.
const CRATES: [(&str, &[&str]); 7] = [
    ("axum", &["serve"]),
    ("async_graphql", &["serve"]),
    ("aws_", &["table"]),
    ("dynoxide", &["table"]),
    ("rusqlite", &["table"]),
    ("tokio", &["table", "execute", "serve", "cli"]),
    ("anyhow", &["cli"]),
];

const MOST_LINES: usize = 500;
const USUAL_LINES: usize = 350;
const DEEPEST: usize = 3;
const VAGUE_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "core"];
const UNFINISHED: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];
/// The examples, and the folder of `tests/golden/` that holds what comes of their operations.
const EXAMPLES: [(&str, &str); 3] = [("cycle-items", "cycles"), ("patterns", "patterns"), ("audiobook-sync", "audiobooks")];
const COMPANIONS: [&str; 3] = ["plan.txt", "calls.json", "response.json"];

// ---------------------------------------------------------------- rules

fn module_docs(files: &[File]) -> Vec<String> {
    let silent =
        |file: &&File| file.text.lines().next().is_none_or(|line| line.strip_prefix("//!").is_none_or(|rest| rest.trim().is_empty()));
    files
        .iter()
        .filter(silent)
        .map(|file| format!("{}:1: a file opens with `//!` and says what comes in and what goes out", file.path))
        .collect()
}

fn file_sizes(files: &[File]) -> Vec<String> {
    let sizes: Vec<(usize, &str)> = files.iter().map(|file| (lines_of_product(&file.text), file.path.as_str())).collect();
    let (large, _): (Vec<_>, Vec<_>) = sizes.iter().partition(|(lines, _)| *lines > USUAL_LINES);
    let mut found: Vec<String> = Vec::new();
    for (lines, path) in large.iter().filter(|(lines, _)| *lines > MOST_LINES) {
        found.push(format!("{path}:{}: {lines} lines, {MOST_LINES} is the most", MOST_LINES + 1));
    }
    if large.len() * 10 > sizes.len() {
        let list: Vec<&str> = large.iter().map(|(_, path)| *path).collect();
        found.push(format!("src: nine in ten files have at most {USUAL_LINES} lines; these have more: {}", list.join(", ")));
    }
    found
}

fn lines_of_product(text: &str) -> usize {
    let tests: usize = test_items(text).into_iter().map(|item| text[item].lines().count()).sum();
    text.lines().count() - tests
}

fn folders(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for File { path, .. } in files {
        let names: Vec<&str> = path.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
        if names.len() - 1 > DEEPEST {
            found.push(format!("{path}:1: folders are at most {DEEPEST} deep"));
        }
        if let Some(name) = names.iter().find(|name| VAGUE_NAMES.contains(name)) {
            found.push(format!("{path}:1: `{name}` says nothing; name the file after what it holds or does"));
        }
    }
    found
}

fn layers(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let Some((from, allowed)) = ARROWS.iter().find(|(layer, _)| *layer == layer_of(&file.path)) else { continue };
        let code = product(&file.text);
        for (at, path) in crate_paths(&code, module_depth(&file.path)) {
            let to = path[0].as_str();
            let known = ARROWS.iter().any(|(layer, _)| *layer == to);
            let full = path.iter().take(2).cloned().collect::<Vec<_>>().join("::");
            if known && to != *from && !allowed.contains(&to) && !allowed.contains(&full.as_str()) {
                found.push(format!("{}:{}: {from} may not use `crate::{full}`", file.path, line_of(&code, at)));
            }
        }
    }
    found
}

fn crates(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let layer = layer_of(&file.path);
        let code = product(&file.text);
        for (at, word) in words(&code) {
            let (before, after) = (code[..at].trim_end(), &code[at + word.len()..]);
            let is_path = after.starts_with("::") || after.starts_with('!') || before.ends_with("use") || before.ends_with("extern crate");
            let Some((name, owners)) = CRATES.iter().find(|(name, _)| word.starts_with(name)) else { continue };
            if is_path && !before.ends_with("::") && !owners.contains(&layer) {
                let owners = owners.join(", ");
                found.push(format!("{}:{}: `{word}` is for {owners}, `{name}` has no place in {layer}", file.path, line_of(&code, at)));
            }
        }
    }
    found
}

fn finished(files: &[File]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files {
        let code = product(&file.text);
        for (at, word) in words(&code) {
            if let Some(mark) = UNFINISHED.iter().find(|mark| code[at..].starts_with(**mark) && mark.len() == word.len() + 1) {
                found.push(format!("{}:{}: `{mark}` outside of tests", file.path, line_of(&code, at)));
            }
        }
    }
    found
}

fn changelog(text: &str) -> Vec<String> {
    let has = text.lines().any(|line| line.trim_end() == "## Unreleased");
    if has { Vec::new() } else { vec!["CHANGELOG.md:1: there is no section `## Unreleased`".to_owned()] }
}

fn goldens(paths: &[String]) -> Vec<String> {
    let all: BTreeSet<&str> = paths.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    for path in paths {
        if let Some(case) = path.strip_suffix(".graphql") {
            let missing = COMPANIONS.iter().filter(|end| !all.contains(format!("{case}.{end}").as_str()));
            found.extend(missing.map(|end| format!("{path}:1: the golden has no `{case}.{end}`")));
        }
        if let Some(case) = COMPANIONS.iter().find_map(|end| path.strip_suffix(&format!(".{end}")))
            && !all.contains(format!("{case}.graphql").as_str())
        {
            found.push(format!("{path}:1: there is no operation `{case}.graphql`"));
        }
    }
    found
}

// ---------------------------------------------------------------- the repository

/// The layer of a file: its folder under `src/`; `main.rs` belongs to the commands, `lib.rs` to nobody.
fn layer_of(path: &str) -> &str {
    let path = path.trim_start_matches("src/");
    match path.split_once('/') {
        Some((folder, _)) => folder,
        None if path == "main.rs" => "cli",
        None => path.trim_end_matches(".rs"),
    }
}

fn walk(folder: &Path, ends: &str, found: &mut Vec<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            walk(&path, ends, found);
        } else if path.to_string_lossy().ends_with(ends) {
            let root = Path::new(env!("CARGO_MANIFEST_DIR"));
            found.push(path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/"));
        }
    }
    found.sort();
}

fn paths_under(folder: &str, ends: &str) -> Vec<String> {
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), ends, &mut found);
    found
}

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The files of `src/`.
fn sources() -> Vec<File> {
    let files: Vec<File> = paths_under("src", ".rs").into_iter().map(|path| File { text: read(&path), path }).collect();
    assert!(!files.is_empty(), "there are no sources");
    files
}

/// The files of `src/` that are built into the product: not `tests.rs`, `template_tests.rs` …
fn product_sources() -> Vec<File> {
    sources().into_iter().filter(|file| !is_tests(&file.path)).collect()
}

fn is_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    none(module_docs(&sources()));
}

#[test]
fn files_are_small() {
    none(file_sizes(&product_sources()));
}

#[test]
fn folders_are_shallow_and_names_say_something() {
    none(folders(&sources()));
}

#[test]
fn layers_know_only_what_is_below() {
    none(layers(&product_sources()));
}

#[test]
fn crates_stay_in_their_layers() {
    none(crates(&product_sources()));
}

#[test]
fn nothing_is_left_unfinished() {
    none(finished(&product_sources()));
}

#[test]
fn the_changelog_has_a_place_for_changes() {
    none(changelog(&read("CHANGELOG.md")));
}

#[test]
fn goldens_are_whole() {
    let mut paths = paths_under("tests/golden", "");
    for (example, system) in EXAMPLES {
        let operations = paths_under(&format!("examples/{example}/operations"), ".graphql");
        assert!(!operations.is_empty(), "{example} has no operations");
        paths.extend(
            operations.iter().map(|path| path.replace(&format!("examples/{example}/operations"), &format!("tests/golden/{system}"))),
        );
    }
    none(goldens(&paths));
}

// ---------------------------------------------------------------- the rules themselves

mod rules {
    use super::*;

    fn file(path: &str, text: &str) -> Vec<File> {
        vec![File { path: path.to_owned(), text: text.to_owned() }]
    }

    #[test]
    fn a_file_without_module_docs_is_found() {
        for text in ["", "//!\nuse x;", "// A comment.\n", "use x;\n//! Too late."] {
            assert_eq!(module_docs(&file("src/a.rs", text)).len(), 1, "{text:?}");
        }
        none(module_docs(&file("src/a.rs", "//! Text in, text out.\n")));
    }

    #[test]
    fn large_files_are_found_and_tests_are_not_counted() {
        assert!(file_sizes(&file("src/a.rs", &"x;\n".repeat(501)))[0].starts_with("src/a.rs:501: 501 lines"));
        let many = |large: usize| -> Vec<File> {
            (0..10).flat_map(|n| file(&format!("src/{n}.rs"), &"x;\n".repeat(if n < large { 351 } else { 350 }))).collect()
        };
        none(file_sizes(&many(1)));
        assert_eq!(file_sizes(&many(2)), ["src: nine in ten files have at most 350 lines; these have more: src/0.rs, src/1.rs"]);
        let tests = format!("x;\n#[cfg(test)]\nmod tests {{\n{}}}\n", "let x = '{';\n".repeat(600));
        none(file_sizes(&file("src/a.rs", &tests)));
    }

    #[test]
    fn deep_folders_and_vague_names_are_found() {
        assert_eq!(folders(&file("src/a/b/c/d/e.rs", "")).len(), 1);
        none(folders(&file("src/a/b/c/e.rs", "")));
        for path in ["src/plan/utils.rs", "src/common/x.rs", "src/core/mod.rs", "src/helpers.rs"] {
            assert_eq!(folders(&file(path, "")).len(), 1, "{path}");
        }
        none(folders(&file("src/common_table_expression.rs", "")));
    }

    #[test]
    fn forbidden_arrows_are_found_in_every_form() {
        let cases = [
            ("src/schema/a.rs", "//! x\nuse crate::plan::b;", "src/schema/a.rs:2: schema may not use `crate::plan::b`"),
            ("src/plan/a.rs", "fn f(x: &crate::execute::X) {}", "src/plan/a.rs:1: plan may not use `crate::execute::X`"),
            ("src/plan/a.rs", "use crate::{\n  schema::x,\n  table::{a, b as c}};", "src/plan/a.rs:3: plan may not use `crate::table::a`"),
            ("src/table/a.rs", "use crate::schema::model::Model;", "src/table/a.rs:1: table may not use `crate::schema::model`"),
            ("src/table/a.rs", "use crate::schema::{table::Table, *};", "src/table/a.rs:1: table may not use `crate::schema`"),
            ("src/table/a.rs", "use crate::schema;", "src/table/a.rs:1: table may not use `crate::schema`"),
            ("src/serve/a/b.rs", "use super::super::super::table::X;", "src/serve/a/b.rs:1: serve may not use `crate::table::X`"),
            ("src/serve/mod.rs", "use super::{cli, table::X};", "src/serve/mod.rs:1: serve may not use `crate::cli`"),
            (
                "src/execute/a.rs",
                "#[cfg(test)]\nmod tests { use crate::cli; }\nuse crate::cli::X;",
                "src/execute/a.rs:3: execute may not use `crate::cli::X`",
            ),
        ];
        for (path, text, expected) in cases {
            let found = layers(&file(path, text));
            assert!(found.first().is_some_and(|first| first.contains(expected)), "{text}\n{found:?}");
        }
    }

    #[test]
    fn allowed_arrows_and_mere_words_are_left_alone() {
        let cases = [
            ("src/plan/a.rs", "use crate::schema::model::Model;"),
            ("src/table/a.rs", "use crate::schema::table::Table;\nuse crate::schema::{table::Index};\nuse super::error::X;"),
            ("src/schema/a.rs", "use super::table::Table;\nuse crate::schema::model;"),
            ("src/schema/a.rs", "/// See [`crate::execute`].\n// crate::plan::x\n/* crate::plan /* crate::cli */ crate::cli */"),
            ("src/schema/a.rs", "const A: &str = \"crate::plan::x \\\" crate::cli\"; const B: &str = r#\"\" crate::plan::x\"#;"),
            ("src/schema/a.rs", "fn f<'a>(x: &'a str) -> char { '\"' }\n#[cfg(test)]\nmod tests { use crate::table::X; }"),
            ("src/cli/a.rs", "use crate::{execute::X, serve, table::Y};"),
        ];
        for (path, text) in cases {
            none(layers(&file(path, text)));
        }
    }

    #[test]
    fn crates_outside_their_layer_are_found() {
        let cases = [
            ("src/cli/a.rs", "use axum::Router;"),
            ("src/execute/a.rs", "let x = async_graphql::Request::new(1);"),
            ("src/execute/a.rs", "use aws_sdk_dynamodb as dynamodb;"),
            ("src/cli/a.rs", "dynoxide::Database::memory();"),
            ("src/schema/a.rs", "use {tokio::time};"),
            ("src/plan/a.rs", "tokio::spawn(x);"),
            ("src/execute/a.rs", "anyhow!(\"x\")"),
        ];
        for (path, text) in cases {
            assert_eq!(crates(&file(path, text)).len(), 1, "{text}");
        }
        none(crates(&file("src/serve/a.rs", "use axum::Router; use async_graphql_axum::X; use tokio::time;")));
        none(crates(&file("src/cli/a.rs", "let aws_region = settings.aws_region; // axum::Router")));
        none(crates(&file("src/main.rs", "fn main() -> anyhow::Result<()> {}")));
        none(crates(&file("src/plan/a.rs", "#[cfg(test)]\nmod tests { #[tokio::test] async fn f() {} }")));
    }

    #[test]
    fn unfinished_code_is_found() {
        assert_eq!(finished(&file("src/a.rs", "//! x\nfn f() { todo!() }")), ["src/a.rs:2: `todo!` outside of tests"]);
        assert_eq!(finished(&file("src/a.rs", "dbg!(x); std::unimplemented!();")).len(), 2);
        none(finished(&file("src/a.rs", "not_todo!(); // todo!()\n#[cfg(test)]\nmod tests { fn f() { todo!() } }")));
    }

    #[test]
    fn files_of_tests_are_told_by_their_names() {
        assert!(["src/plan/tests.rs", "src/schema/template_tests.rs"].iter().all(|path| is_tests(path)));
        assert!(!["src/plan/contests.rs", "src/plan/tests/mod.rs"].iter().any(|path| is_tests(path)));
    }

    #[test]
    fn a_changelog_without_unreleased_is_found() {
        assert_eq!(changelog("# Changelog\n\n## 0.1.0\n").len(), 1);
        none(changelog("# Changelog\n\n## Unreleased\n"));
    }

    #[test]
    fn incomplete_goldens_are_found() {
        let paths = |list: &[&str]| -> Vec<String> { list.iter().map(|path| (*path).to_owned()).collect() };
        let whole = paths(&["g/a.graphql", "g/a.plan.txt", "g/a.calls.json", "g/a.response.json", "g/items.jsonl"]);
        none(goldens(&whole));
        assert_eq!(goldens(&whole[..3]), ["g/a.graphql:1: the golden has no `g/a.response.json`"]);
        assert_eq!(goldens(&whole[1..2]), ["g/a.plan.txt:1: there is no operation `g/a.graphql`"]);
    }
}
