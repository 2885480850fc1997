//! The house rules that no compiler checks: the files under `src/` in, every line that breaks a rule out.
//!
//! A rule is a function from files to sentences. Each is tested on the repository and on a small sample that breaks it.
//! The rules about layers, crates and unfinished code skip code under `#[cfg(test)]` and files named `…tests.rs`; the
//! lines of such code are not counted.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod changelog;
mod code;
mod exceptions;
#[path = "../support/golden_file.rs"]
mod golden_file;
mod links;
mod modules;
mod width;
mod words;

use code::{Code, Function};
use exceptions::{BANNED_FORMS, MANY_PARAMETERS, TYPES_THAT_ARE_NO_NOUNS, WIDE_LINES};
use golden_file::{GoldenFile, Section};
use modules::{Uses, from_root, module_of};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// A file: its path from the repository's root with `/`, its text, and its parsed content.
struct File {
    path: String,
    text: String,
    code: Code,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        Self { code: Code::parse(path, text), path: path.to_owned(), text: text.to_owned() }
    }
}

/// The folders of `src/`, with the layers that each may name (ARCHITECTURE.md, "Layers").
const ARROWS: [(&str, &[&str]); 9] = [
    ("schema", &[]),
    ("plan", &["schema"]),
    ("table", &["schema::table"]),
    ("execute", &["plan", "schema", "table"]),
    ("serve", &["execute", "plan", "schema"]),
    ("embed", &["execute", "plan", "schema", "serve", "table"]),
    ("sources", &["schema::table", "table"]),
    ("infer", &["schema", "sources", "table"]),
    ("cli", &["schema", "plan", "table", "execute", "serve", "sources", "infer"]),
];

/// Crates, by the prefix of their names, and the only layers that may name them.
const CRATES: [(&str, &[&str]); 14] = [
    ("axum", &["serve", "embed"]),
    ("async_graphql", &["serve"]),
    ("aws_", &["table"]),
    ("dynoxide", &["table"]),
    ("rusqlite", &["table"]),
    ("tokio", &["table", "execute", "serve", "embed", "cli"]),
    ("ring", &["serve", "table"]),
    ("rustls", &["serve", "table"]),
    ("hyper", &["serve", "table"]),
    ("subtle", &["serve"]),
    ("brotli", &["serve"]),
    ("flate2", &["serve", "sources", "cli"]),
    ("lambda_http", &["serve"]),
    ("anyhow", &["cli"]),
];

const MAX_LINES: usize = 500;
const USUAL_LINES: usize = 350;
const MAX_DEPTH: usize = 3;
/// The most files in a folder; its `mod.rs` and test files are not counted.
const MAX_FILES: usize = 12;
const MAX_PARAMETERS: usize = 5;
const MAX_FUNCTION_LINES: usize = 60;
const VAGUE_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "core"];
const UNFINISHED: [&str; 3] = ["todo", "unimplemented", "dbg"];
/// Participles that say nothing of what a type is: `Asked` is a Get that waits, or a question?
const PARTICIPLES: [&str; 24] = [
    "Asked", "Called", "Captured", "Checked", "Found", "Given", "Held", "Ignored", "Joined", "Kept", "Known", "Loaded",
    "Logged", "Made", "Received", "Returned", "Seen", "Sent", "Settled", "Shown", "Taken", "Told", "Wanted", "Written",
];
/// The examples, and the folder of `tests/golden/` with the goldens of their operations.
const EXAMPLES: [(&str, &str); 10] = [
    ("cycle-items", "cycles"),
    ("patterns", "patterns"),
    ("audiobook-sync", "audiobooks"),
    ("bank", "bank"),
    ("shop", "shop"),
    ("order-entry", "order-entry"),
    ("tournaments", "tournaments"),
    ("tenants", "tenants"),
    ("members", "members"),
    ("human-resources", "company"),
];

// ---------------------------------------------------------------- rules

fn module_docs(files: &[impl Borrow<File>]) -> Vec<String> {
    let silent = |file: &&File| {
        file.text.lines().next().is_none_or(|line| line.strip_prefix("//!").is_none_or(|rest| rest.trim().is_empty()))
    };
    files
        .iter()
        .map(Borrow::<File>::borrow)
        .filter(silent)
        .map(|file| format!("{}:1: a file opens with `//!` and says what comes in and what goes out", file.path))
        .collect()
}

fn file_sizes(files: &[impl Borrow<File>]) -> Vec<String> {
    let sizes: Vec<(usize, &str)> = files
        .iter()
        .map(Borrow::<File>::borrow)
        .map(|file| (file.text.lines().count() - file.code.test_lines, file.path.as_str()))
        .collect();
    let (large, _): (Vec<_>, Vec<_>) = sizes.iter().partition(|(lines, _)| *lines > USUAL_LINES);
    let mut found: Vec<String> = Vec::new();
    for (lines, path) in large.iter().filter(|(lines, _)| *lines > MAX_LINES) {
        found.push(format!("{path}:{}: {lines} lines, {MAX_LINES} is the most", MAX_LINES + 1));
    }
    if large.len() * 10 > sizes.len() {
        let list: Vec<&str> = large.iter().map(|(_, path)| *path).collect();
        found.push(format!(
            "src: nine in ten files have at most {USUAL_LINES} lines; these have more: {}",
            list.join(", ")
        ));
    }
    found
}

fn folders(files: &[impl Borrow<File>]) -> Vec<String> {
    let mut found = Vec::new();
    let mut beside: BTreeMap<&str, usize> = BTreeMap::new();
    for File { path, .. } in files.iter().map(Borrow::borrow) {
        let names: Vec<&str> = path.trim_start_matches("src/").trim_end_matches(".rs").split('/').collect();
        if names.len() - 1 > MAX_DEPTH {
            found.push(format!("{path}:1: folders are at most {MAX_DEPTH} deep"));
        }
        if let Some(name) = names.iter().find(|name| VAGUE_NAMES.contains(name)) {
            found.push(format!("{path}:1: `{name}` says nothing; name the file after what it holds or does"));
        }
        if let Some((folder, name)) = path.rsplit_once('/')
            && name != "mod.rs"
            && !is_tests(path)
        {
            *beside.entry(folder).or_default() += 1;
        }
    }
    let crowded = beside.into_iter().filter(|(_, files)| *files > MAX_FILES);
    found.extend(
        crowded.map(|(folder, files)| format!("{folder}: {files} files beside each other, {MAX_FILES} is the most")),
    );
    found
}

fn layers(files: &[impl Borrow<File>]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().map(Borrow::borrow) {
        let Some((from, allowed)) = ARROWS.iter().find(|(layer, _)| *layer == layer_of(&file.path)) else { continue };
        let module = module_of(&file.path);
        for named in &file.code.paths {
            let Some(path) = from_root(&module, named).filter(|path| !path.is_empty()) else { continue };
            let to = path[0].as_str();
            let known = ARROWS.iter().any(|(layer, _)| *layer == to);
            let full = path.iter().take(2).cloned().collect::<Vec<_>>().join("::");
            if known && to != *from && !allowed.contains(&to) && !allowed.contains(&full.as_str()) {
                found.push(format!("{}:{}: {from} may not use `crate::{full}`", file.path, named.line));
            }
        }
    }
    found
}

fn crates(files: &[impl Borrow<File>]) -> Vec<String> {
    let mut found = Vec::new();
    for file in files.iter().map(Borrow::borrow) {
        let layer = layer_of(&file.path);
        let paths = file.code.paths.iter().map(|path| (path.line, &path.names[0]));
        for (line, word) in paths {
            let Some((name, owners)) = CRATES.iter().find(|(name, _)| word.starts_with(name)) else { continue };
            if !owners.contains(&layer) {
                let owners = owners.join(", ");
                found.push(format!("{}:{line}: `{word}` is for {owners}, `{name}` has no place in {layer}", file.path));
            }
        }
    }
    found
}

fn circles(files: &[impl Borrow<File>]) -> Vec<String> {
    let uses = Uses::new(files.iter().map(Borrow::<File>::borrow).map(|file| (file.path.as_str(), &file.code)));
    uses.circles()
        .into_iter()
        .map(|circle| format!("{}:1: a circle: {} → {}", circle[0], circle.join(" → "), circle[0]))
        .collect()
}

/// Siblings, the files and folders of one folder, form no circle: a folder is all that is in it, and a `use` of a file
/// in one by a file in another is an arrow between the two. It proves more than [`circles`], as the files of each arrow
/// may be others. A call of a method names no file, and so makes no arrow.
fn folder_circles(files: &[impl Borrow<File>]) -> Vec<String> {
    let uses = Uses::new(files.iter().map(Borrow::<File>::borrow).map(|file| (file.path.as_str(), &file.code)));
    let mut found = Vec::new();
    for circle in uses.between_siblings().circles() {
        let arrows = circle.iter().zip(circle.iter().cycle().skip(1));
        let steps: Vec<String> =
            arrows.filter_map(|(from, to)| uses.first_between(from, to)).map(|(a, b)| format!("{a} → {b}")).collect();
        found.push(format!(
            "{}: a circle of siblings: {} → {0} by {}",
            circle[0],
            circle.join(" → "),
            steps.join(", ")
        ));
    }
    found
}

/// A function has at most [`MAX_PARAMETERS`] parameters besides `self`. A tuple counts by its members, since it only
/// hides them.
fn parameters(files: &[impl Borrow<File>], known: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut needed: BTreeSet<(&str, &str)> = BTreeSet::new();
    for file in files.iter().map(Borrow::borrow) {
        for function in file.code.functions.iter().filter(|function| function.parameters > MAX_PARAMETERS) {
            let place = (file.path.as_str(), function.name.as_str());
            if known.contains(&place) {
                needed.insert(place);
            } else {
                let (path, Function { line, name, parameters, .. }) = (&file.path, function);
                found
                    .push(format!("{path}:{line}: `{name}` has {parameters} parameters, {MAX_PARAMETERS} is the most"));
            }
        }
    }
    let stale = known.iter().filter(|place| !needed.contains(*place));
    found.extend(stale.map(|(path, name)| {
        format!("tests/tidy/exceptions.rs: `{name}` of {path} has few parameters: take it out of the list")
    }));
    found
}

/// A function has at most [`MAX_FUNCTION_LINES`] lines, its signature included.
fn function_lengths(files: &[impl Borrow<File>]) -> Vec<String> {
    let long = |file: &File| -> Vec<String> {
        let long = file.code.functions.iter().filter(|function| function.lines > MAX_FUNCTION_LINES);
        long.map(|Function { line, name, lines, .. }| {
            format!("{}:{line}: `{name}` has {lines} lines, {MAX_FUNCTION_LINES} is the most", file.path)
        })
        .collect()
    };
    files.iter().flat_map(|file| long(file.borrow())).collect()
}

/// A type is a noun. The known ones are left to rename.
fn participles(files: &[impl Borrow<File>], known: &[(&str, &str)]) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: BTreeSet<(&str, &str)> = known.iter().copied().collect();
    for File { path, text, .. } in files.iter().map(Borrow::borrow) {
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> =
                line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
            let name = words.windows(2).find(|pair| matches!(pair[0], "struct" | "enum" | "trait")).map(|pair| pair[1]);
            let Some(name) = name.filter(|name| PARTICIPLES.contains(name) && !line.trim_start().starts_with("//"))
            else {
                continue;
            };
            if !left.remove(&(path.as_str(), name)) {
                found.push(format!("{path}:{}: `{name}` is no noun: say what it is", at + 1));
            }
        }
    }
    found.extend(
        left.iter()
            .map(|(path, name)| format!("tests/tidy/exceptions.rs: {path} has no `{name}`: take it out of the list")),
    );
    found
}

/// `of` says nothing of what a function does.
fn functions_named_of(files: &[impl Borrow<File>]) -> Vec<String> {
    let says_nothing = |function: &&Function| {
        let name = function.name.rsplit("::").next().unwrap_or_default();
        name == "of" || name.starts_with("of_")
    };
    let found = files.iter().map(Borrow::<File>::borrow).flat_map(|file| {
        let functions = file.code.functions.iter().filter(says_nothing);
        functions.map(|function| format!("{}:{}: name `{}` by what it does", file.path, function.line, function.name))
    });
    found.collect()
}

fn type_names(files: &[impl Borrow<File>]) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for file in files.iter().map(Borrow::borrow) {
        for (line, name) in &file.code.types {
            places.entry(name).or_default().push(format!("{}:{line}", file.path));
        }
    }
    let twice = places.into_iter().filter(|(_, places)| places.len() > 1);
    twice
        .map(|(name, places)| format!("{}: `{name}` is also the name of {}", places[0], places[1..].join(", ")))
        .collect()
}

fn finished(files: &[impl Borrow<File>]) -> Vec<String> {
    let unfinished = |(line, name): &(usize, String), path: &str| {
        UNFINISHED.contains(&name.as_str()).then(|| format!("{path}:{line}: `{name}!` outside of tests"))
    };
    files
        .iter()
        .map(Borrow::<File>::borrow)
        .flat_map(|file| file.code.macros.iter().filter_map(|call| unfinished(call, &file.path)))
        .collect()
}

/// The headings of docs/decisions.md after which no date stands.
fn decisions(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let headings = lines.iter().enumerate().filter(|(_, line)| line.starts_with("### "));
    let undated = headings.filter(|(index, _)| !lines.get(index + 2).is_some_and(|line| begins_with_date(line)));
    undated
        .map(|(index, _)| {
            format!("docs/decisions.md:{}: a decision begins with its date, `*2026-11-25.* …`", index + 1)
        })
        .collect()
}

fn begins_with_date(line: &str) -> bool {
    let shape = line.chars().take(14).map(|letter| if letter.is_ascii_digit() { '0' } else { letter });
    shape.collect::<String>() == "*0000-00-00.* "
}

/// The files under `tests/golden/`, and the operations of examples as they would be called there.
fn goldens(files: &[(String, String)], of_examples: &[String]) -> Vec<String> {
    let mut found = Vec::new();
    for (path, text) in files {
        if !path.ends_with(".golden") {
            found.push(format!("{path}:1: a golden is one file, `<case>.golden`"));
            continue;
        }
        let golden = match GoldenFile::parse(text) {
            Ok(golden) => golden,
            Err(mistake) => {
                found.push(format!("{path}:{mistake}"));
                continue;
            }
        };
        let missing = Section::RESULTS.into_iter().filter(|section| golden.get(*section).is_none());
        found.extend(missing.map(|section| format!("{path}:1: the golden has no `{}`", section.name())));
        match (golden.get(Section::Operation), of_examples.contains(path)) {
            (None, false) => found.push(format!("{path}:1: the golden has no `operation`")),
            (Some(_), true) => found.push(format!("{path}:1: the operation is also a file of the example")),
            _ => {}
        }
    }
    let lost = of_examples.iter().filter(|path| !files.iter().any(|(file, _)| file == *path));
    found.extend(lost.map(|path| format!("{path}:1: the example's operation has no golden")));
    found
}

// ---------------------------------------------------------------- the repository

/// The layer of a file: its folder under `src/`. `main.rs` belongs to the commands, `lib.rs` to no layer.
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

/// The files of a folder, each a path and a text.
fn texts_under(folder: &str) -> Vec<(String, String)> {
    paths_under(folder, "").into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The Rust files of a folder, each a path and a text.
fn rust_texts_under(folder: &str) -> Vec<(String, String)> {
    paths_under(folder, ".rs").into_iter().map(|path| (path.clone(), read(&path))).collect()
}

/// The files of `src/`.
fn sources() -> &'static [File] {
    static SOURCES: LazyLock<Vec<File>> =
        LazyLock::new(|| paths_under("src", ".rs").iter().map(|path| File::new(path, &read(path))).collect());
    assert!(!SOURCES.is_empty(), "there are no sources");
    &SOURCES
}

/// The files of `src/` that are part of the product: not `tests.rs`, `template_tests.rs` …
fn product_sources() -> Vec<&'static File> {
    sources().iter().filter(|file| !is_tests(&file.path)).collect()
}

fn is_tests(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

fn none(found: Vec<String>) {
    assert!(found.is_empty(), "\n{}\n", found.join("\n"));
}

#[test]
fn every_file_says_what_it_is() {
    none(module_docs(sources()));
}

#[test]
fn files_are_small() {
    none(file_sizes(&product_sources()));
}

#[test]
fn folders_are_shallow_and_names_say_something() {
    none(folders(sources()));
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
fn files_make_no_circle() {
    none(circles(&product_sources()));
}

#[test]
fn folders_make_no_circle() {
    none(folder_circles(&product_sources()));
}

#[test]
fn functions_have_few_parameters() {
    none(parameters(&product_sources(), &MANY_PARAMETERS));
}

#[test]
fn functions_are_short() {
    none(function_lengths(&product_sources()));
}

#[test]
fn types_are_nouns() {
    none(participles(&product_sources(), &TYPES_THAT_ARE_NO_NOUNS));
}

#[test]
fn functions_say_what_they_do() {
    none(functions_named_of(sources()));
}

#[test]
fn lines_are_not_wide() {
    let files: Vec<(String, String)> = ["src", "tests", "benches"].into_iter().flat_map(rust_texts_under).collect();
    none(width::wide_lines(&files, &WIDE_LINES));
}

#[test]
fn words_are_plain() {
    let documents = paths_under("docs", "").into_iter().filter(|path| !path.ends_with(".png"));
    let documents = documents.filter(|path| path != "docs/decisions.md").map(|path| (path.clone(), read(&path)));
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|path| (path.to_owned(), read(path)));
    // Some files of this test name the forms.
    let code =
        ["src", "tests"].into_iter().flat_map(rust_texts_under).filter(|(path, _)| !path.starts_with("tests/tidy/"));
    let files: Vec<(String, String)> = code.chain(documents).chain(pages).collect();
    none(words::banned_forms(&files, &BANNED_FORMS));
}

#[test]
fn no_two_public_types_have_one_name() {
    none(type_names(&product_sources()));
}

#[test]
fn nothing_is_left_unfinished() {
    none(finished(&product_sources()));
}

#[test]
fn the_changelog_has_a_place_for_changes() {
    none(changelog::page(&read("CHANGELOG.md")));
}

#[test]
fn changes_are_in_the_form_of_their_folder() {
    none(changelog::fragments(&texts_under("changelog.d")));
}

#[test]
fn links_lead_somewhere() {
    let pages = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    let paths = ["docs", "changelog.d", "examples"].into_iter().flat_map(|folder| paths_under(folder, ".md"));
    let with_text = |path: String| (path.clone(), read(&path));
    let documents: Vec<(String, String)> = pages.into_iter().chain(paths).map(with_text).collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    none(links::broken(&documents, &|path| root.join(path).exists()));
}

#[test]
fn decisions_have_dates() {
    none(decisions(&read("docs/decisions.md")));
}

#[test]
fn goldens_are_whole() {
    let files = texts_under("tests/golden");
    assert!(!files.is_empty(), "there are no goldens");
    let mut of_examples = Vec::new();
    for (example, system) in EXAMPLES {
        let folder = format!("examples/{example}/operations/");
        let operations = paths_under(&folder, ".graphql");
        assert!(!operations.is_empty(), "{example} has no operations");
        let name = |path: &String| path.strip_prefix(&folder).unwrap().replace(".graphql", ".golden");
        of_examples.extend(operations.iter().map(|path| format!("tests/golden/{system}/{}", name(path))));
    }
    none(goldens(&files, &of_examples));
}

// ---------------------------------------------------------------- the rules themselves

mod rules {
    use super::*;

    fn file(path: &str, text: &str) -> Vec<File> {
        vec![File::new(path, text)]
    }

    fn files(list: &[(&str, &str)]) -> Vec<File> {
        list.iter().map(|(path, text)| File::new(path, text)).collect()
    }

    #[test]
    fn a_file_without_module_docs_is_found() {
        for text in ["", "//!\nuse x;", "// A comment.\n", "use x;\n// Too late."] {
            assert_eq!(module_docs(&file("src/a.rs", text)).len(), 1, "{text:?}");
        }
        none(module_docs(&file("src/a.rs", "//! Text in, text out.\n")));
    }

    #[test]
    fn large_files_are_found_and_tests_are_not_counted() {
        assert!(file_sizes(&file("src/a.rs", &"use x;\n".repeat(501)))[0].starts_with("src/a.rs:501: 501 lines"));
        let many = |large: usize| -> Vec<File> {
            (0..10)
                .flat_map(|n| file(&format!("src/{n}.rs"), &"use x;\n".repeat(if n < large { 351 } else { 350 })))
                .collect()
        };
        none(file_sizes(&many(1)));
        assert_eq!(
            file_sizes(&many(2)),
            ["src: nine in ten files have at most 350 lines; these have more: src/0.rs, src/1.rs"]
        );
        let tests = format!("use x;\n#[cfg(test)]\nmod tests {{\n{}}}\n", "const X: char = '{';\n".repeat(600));
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
            (
                "src/plan/a.rs",
                "fn f(x: &crate::execute::X) {}",
                "src/plan/a.rs:1: plan may not use `crate::execute::X`",
            ),
            (
                "src/plan/a.rs",
                "use crate::{\n  schema::x,\n  table::{a, b as c}};",
                "src/plan/a.rs:3: plan may not use `crate::table::a`",
            ),
            (
                "src/table/a.rs",
                "use crate::schema::model::Model;",
                "src/table/a.rs:1: table may not use `crate::schema::model`",
            ),
            (
                "src/table/a.rs",
                "use crate::schema::{table::Table, *};",
                "src/table/a.rs:1: table may not use `crate::schema`",
            ),
            ("src/table/a.rs", "use crate::schema;", "src/table/a.rs:1: table may not use `crate::schema`"),
            (
                "src/serve/a/b.rs",
                "use super::super::super::table::X;",
                "src/serve/a/b.rs:1: serve may not use `crate::table::X`",
            ),
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
            (
                "src/table/a.rs",
                "use crate::schema::table::Table;\nuse crate::schema::{table::Index};\nuse super::error::X;",
            ),
            ("src/schema/a.rs", "use super::table::Table;\nuse crate::schema::model;"),
            (
                "src/schema/a.rs",
                "/// See [`crate::execute`].\nconst A: u8 = 1; // crate::plan::x\n/* crate::plan /* crate::cli */ crate::cli */",
            ),
            (
                "src/schema/a.rs",
                "const A: &str = \"crate::plan::x \\\" crate::cli\"; const B: &str = r#\"\" crate::plan::x\"#;",
            ),
            (
                "src/schema/a.rs",
                "fn f<'a>(x: &'a str) -> char { '\"' }\n#[cfg(test)]\nmod tests { use crate::table::X; }",
            ),
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
            ("src/execute/a.rs", "fn f() { let x = async_graphql::Request::new(1); }"),
            ("src/execute/a.rs", "use aws_sdk_dynamodb as dynamodb;"),
            ("src/cli/a.rs", "fn f() { dynoxide::Database::memory(); }"),
            ("src/schema/a.rs", "use {tokio::time};"),
            ("src/plan/a.rs", "fn f() { tokio::spawn(x); }"),
            ("src/execute/a.rs", "fn f() { anyhow!(\"x\") }"),
        ];
        for (path, text) in cases {
            assert_eq!(crates(&file(path, text)).len(), 1, "{text}");
        }
        none(crates(&file("src/serve/a.rs", "use axum::Router; use async_graphql_axum::X; use tokio::time;")));
        none(crates(&file("src/cli/a.rs", "fn f() { let aws_region = settings.aws_region; } // axum::Router")));
        none(crates(&file("src/main.rs", "fn main() -> anyhow::Result<()> {}")));
        none(crates(&file("src/plan/a.rs", "#[cfg(test)]\nmod tests { #[tokio::test] async fn f() {} }")));
    }

    #[test]
    fn crowded_folders_are_found() {
        let folder = |count: usize| -> Vec<File> {
            let named = (0..count).map(|n| format!("src/a/f{n}.rs"));
            named
                .chain(["src/a/mod.rs".to_owned(), "src/a/f_tests.rs".to_owned()])
                .map(|path| File::new(&path, ""))
                .collect()
        };
        none(folders(&folder(12)));
        assert_eq!(folders(&folder(13)), ["src/a: 13 files beside each other, 12 is the most"]);
    }

    #[test]
    fn circles_are_found_however_the_files_name_each_other() {
        let in_a = [
            "use super::b::B;",
            "use crate::x::{b, c};",
            "fn f() { crate::x::b::g() }",
            "fn f() { println!(\"{}\", super::b::g()) }",
            "mod inner { use super::super::b::B; }",
            "impl<T: super::b::B> X for T {}",
        ];
        for text in in_a {
            let found = circles(&files(&[
                ("src/x/a.rs", text),
                ("src/x/b.rs", "use super::c::C;"),
                ("src/x/c.rs", "use super::a;"),
            ]));
            assert!(!found.is_empty(), "{text}");
        }
        let three =
            files(&[("src/x/a.rs", in_a[0]), ("src/x/b.rs", "use super::c::C;"), ("src/x/c.rs", "use super::a;")]);
        assert_eq!(circles(&three), ["src/x/a.rs:1: a circle: src/x/a.rs → src/x/b.rs → src/x/c.rs → src/x/a.rs"]);
        let folder = files(&[("src/x/mod.rs", "mod a; fn f() { a::g() }"), ("src/x/a.rs", "use super::f;")]);
        assert_eq!(circles(&folder).len(), 1);
    }

    #[test]
    fn arrows_in_one_direction_are_no_circle() {
        none(circles(&files(&[
            ("src/x/mod.rs", "//! [`a::f`]\nmod a;\nmod b;"),
            ("src/x/a.rs", "use super::b; use std::b::x; #[cfg(test)] mod tests { use super::super::b; }"),
            ("src/x/b.rs", "#[cfg(test)] mod tests { use crate::x::a::f; }"),
        ])));
    }

    #[test]
    fn circles_of_folders_are_found_where_no_file_is_on_one() {
        let two = files(&[
            ("src/x/a/one.rs", "use crate::x::b::one::B;"),
            ("src/x/a/two.rs", ""),
            ("src/x/b/one.rs", ""),
            ("src/x/b/two.rs", "use super::super::a::two::A;"),
        ]);
        none(circles(&two));
        let circle = "src/x/a: a circle of siblings: src/x/a → src/x/b → src/x/a by src/x/a/one.rs → src/x/b/one.rs, \
                      src/x/b/two.rs → src/x/a/two.rs";
        assert_eq!(folder_circles(&two), [circle]);
        let file = files(&[
            ("src/x/a/one.rs", "use crate::x::b;"),
            ("src/x/a/two.rs", ""),
            ("src/x/b.rs", "use super::a::two;"),
        ]);
        assert_eq!(folder_circles(&file).len(), 1);
        let root = files(&[
            ("src/x/mod.rs", "mod a;\nuse a::two::A;"),
            ("src/x/a/mod.rs", "mod one;\nmod two;"),
            ("src/x/a/one.rs", "use crate::x::X;"),
            ("src/x/a/two.rs", ""),
        ]);
        assert_eq!(folder_circles(&root).len(), 1, "a folder's own file is one of its children");
    }

    #[test]
    fn folders_in_one_direction_make_no_circle() {
        let down = files(&[
            ("src/x/mod.rs", "pub mod a;"),
            ("src/x/a/one.rs", "pub(in crate::x) struct A; use super::two::A; use crate::x::b::one::B;"),
            ("src/x/a/two.rs", "use crate::x::b::two::B;"),
            ("src/x/b/one.rs", "use super::two;"),
        ]);
        none(folder_circles(&down));
    }

    #[test]
    fn types_that_are_no_nouns_are_found() {
        let asked =
            file("src/a.rs", "//! Text.\npub(super) struct Asked<'a>(&'a str);\n// struct Held\nstruct Askew;\n");
        assert_eq!(participles(&asked, &[]), ["src/a.rs:2: `Asked` is no noun: say what it is"]);
        none(participles(&asked, &[("src/a.rs", "Asked")]));
        let stale = participles(&file("src/a.rs", "//! Text.\n"), &[("src/a.rs", "Asked")]);
        assert_eq!(stale, ["tests/tidy/exceptions.rs: src/a.rs has no `Asked`: take it out of the list"]);
    }

    #[test]
    fn long_functions_are_found() {
        let of_lines = |lines: usize| format!("fn f() {{\n{}}}\n", "    g();\n".repeat(lines - 2));
        none(function_lengths(&file("src/a.rs", &of_lines(60))));
        assert_eq!(
            function_lengths(&file("src/a.rs", &of_lines(61))),
            ["src/a.rs:1: `f` has 61 lines, 60 is the most"]
        );
    }

    #[test]
    fn functions_of_many_parameters_are_found_and_tuples_hide_none() {
        let most = "fn f(a: u8, b: u8, c: u8, d: u8, e: u8) {} impl X { fn g(&self, (a, b): (u8, u8), c: u8, d: u8, e: Vec<(u8, u8)>) {} }";
        none(parameters(&file("src/a.rs", most), &[]));
        for (text, name) in [
            ("fn f(a: u8, b: u8, c: u8, d: u8, e: u8, f: u8) {}", "f"),
            ("fn f(a: u8, (b, c, d): (u8, u8, u8), (e, f): (u8, u8)) {}", "f"),
            ("fn f(a: &(u8, (u8, u8)), b: (u8, u8, u8)) {}", "f"),
            ("impl<T> X<T> { fn f(self, all: (u8, u8, u8, u8, u8, u8)) {} }", "X::f"),
            ("impl Y for X { fn f(self, all: (u8, u8, u8, u8, u8, u8)) {} }", "X::f"),
            ("trait Y { fn f(&self, all: (u8, u8, u8, u8, u8, u8)); }", "Y::f"),
        ] {
            let expected = format!("src/a.rs:1: `{name}` has 6 parameters, 5 is the most");
            assert_eq!(parameters(&file("src/a.rs", text), &[]), [expected], "{text}");
            none(parameters(&file("src/a.rs", text), &[("src/a.rs", name)]));
        }
        let stale = parameters(&file("src/a.rs", most), &[("src/a.rs", "f")]);
        assert_eq!(stale, ["tests/tidy/exceptions.rs: `f` of src/a.rs has few parameters: take it out of the list"]);
        none(parameters(&file("src/a.rs", "#[cfg(test)] mod tests { fn f(all: (u8, u8, u8, u8, u8, u8)) {} }"), &[]));
    }

    #[test]
    fn public_types_of_one_name_are_found() {
        let found = type_names(&files(&[
            ("src/a.rs", "pub struct Target; struct Own; #[cfg(test)] pub struct Made;"),
            ("src/b.rs", "struct Own;\npub(super) enum Target {}\npub type Made = u8;"),
        ]));
        assert_eq!(found, ["src/a.rs:1: `Target` is also the name of src/b.rs:2"]);
    }

    #[test]
    fn unfinished_code_is_found() {
        assert_eq!(finished(&file("src/a.rs", "//! x\nfn f() { todo!() }")), ["src/a.rs:2: `todo!` outside of tests"]);
        assert_eq!(finished(&file("src/a.rs", "fn f() { dbg!(x); std::unimplemented!(); }")).len(), 2);
        none(finished(&file("src/a.rs", "not_todo!(); // todo!()\n#[cfg(test)]\nmod tests { fn f() { todo!() } }")));
    }

    #[test]
    fn files_of_tests_are_known_by_their_names() {
        assert!(["src/plan/tests.rs", "src/schema/template_tests.rs"].iter().all(|path| is_tests(path)));
        assert!(!["src/plan/contests.rs", "src/plan/tests/mod.rs"].iter().any(|path| is_tests(path)));
    }

    #[test]
    fn decisions_without_a_date_are_found() {
        none(decisions("## The plan\n\nText.\n\n### A\n\n*2026-11-25.* B.\n"));
        for text in ["### A\n\nB.\n", "### A\n", "### A\n\n*2026-11.* B.\n", "### A\n\n2026-11-25. B.\n"] {
            assert_eq!(decisions(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn incomplete_goldens_are_found() {
        let results = "==== plan\nwave 1\n==== calls\n[]\n==== response\n{}\n";
        let whole = format!("==== operation\n{{ a }}\n{results}");
        let found = |path: &str, text: &str, of_examples: &[&str]| {
            let of_examples: Vec<String> = of_examples.iter().map(|path| (*path).to_owned()).collect();
            goldens(&[(path.to_owned(), text.to_owned())], &of_examples)
        };
        none(found("g/a.golden", &whole, &[]));
        none(found("g/a.golden", results, &["g/a.golden"]));
        assert_eq!(found("g/a.golden", results, &[]), ["g/a.golden:1: the golden has no `operation`"]);
        assert_eq!(
            found("g/a.golden", &whole, &["g/a.golden"]),
            ["g/a.golden:1: the operation is also a file of the example"]
        );
        assert_eq!(
            found("g/a.golden", &whole, &["g/b.golden"]),
            ["g/b.golden:1: the example's operation has no golden"]
        );
        assert_eq!(found("g/a.plan.txt", "wave 1\n", &[]), ["g/a.plan.txt:1: a golden is one file, `<case>.golden`"]);
        assert_eq!(
            found("g/a.golden", &whole.replace("==== calls\n[]\n", ""), &[]),
            ["g/a.golden:1: the golden has no `calls`"]
        );
    }

    #[test]
    fn a_golden_out_of_form_is_found() {
        let cases = [
            ("{ a }\n", "1: the first line is `==== <section>`"),
            (
                "==== operation\n{ a }\n==== plans\n",
                "3: there is no section `plans`; there are `operation`, `caller`, `headers`, `variables`, `plan`, `calls`, `response`",
            ),
            ("==== calls\n[]\n==== plan\n", "3: `plan` stands after `calls`"),
            ("==== plan\n==== plan\n", "2: `plan` stands after `plan`"),
            ("==== plan\nwave 1", "2: the last line has no end"),
        ];
        for (text, mistake) in cases {
            assert_eq!(GoldenFile::parse(text), Err(mistake.to_owned()));
        }
        let text = "==== operation\n# ====\n\n{ a }\n==== caller\nnull\n==== plan\n==== calls\n[]\n";
        assert_eq!(GoldenFile::parse(text).unwrap().to_text(), text);
    }
}
