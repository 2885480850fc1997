//! Inference held against schemas that people wrote: from the items alone, the types, keys and fields must come back.
//! `cargo test --test infer -- --nocapture` shows the scores.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod score;

use keyfold::infer::write::repair::written;
use keyfold::infer::{infer, material::Gathered};
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::sources::material::Receiver;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::Item;
use score::{Score, score};
use std::fs;
use std::path::{Path, PathBuf};

/// A schema of the project with the items of its tables.
struct Design {
    name: String,
    model: Model,
    items: Vec<(String, Vec<Item>)>,
}

/// All of the project's designs: its own schema, the examples, the systems of the goldens.
fn designs() -> Vec<Design> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = vec![design("pantry", &root.join("schema.graphql"), &root.join("samples"))];
    let folders = |folder: &str| {
        let mut all: Vec<PathBuf> =
            fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    for path in folders("examples") {
        found.push(design(&name_of(&path), &path.join("schema.graphql"), &path.join("samples")));
    }
    for path in folders("tests/systems") {
        found.push(design(&name_of(&path), &path.join("schema.graphql"), &path));
    }
    found
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn design(name: &str, path: &Path, samples: &Path) -> Design {
    let text = fs::read_to_string(path).unwrap();
    let (model, _) = schema::load("schema.graphql", &text, &|_| None).unwrap();
    let items = model
        .tables
        .iter()
        .map(|table| {
            let text = fs::read_to_string(samples.join(format!("{}.jsonl", table.name))).unwrap_or_default();
            (table.name.clone(), text.lines().filter_map(|line| parse_line(line).unwrap()).collect())
        })
        .collect();
    Design { name: name.to_owned(), model, items }
}

/// What inference makes of the items of a design, and how it scores.
fn inferred(design: &Design) -> (String, Score) {
    let mut gathered = Gathered::new(20_000);
    for table in &design.model.tables {
        gathered.table(table.clone());
    }
    for (table, items) in &design.items {
        for item in items {
            let _ = gathered.item(Some(table), item.clone());
        }
    }
    let written = written(infer(&gathered.material()));
    let (model, _) = schema::load("inferred.graphql", &written.text, &|_| None)
        .unwrap_or_else(|found| panic!("{}\n{}", found.render(false), written.text));
    let left_out: String = written.left_out.iter().map(|line| format!("# {line}\n")).collect();
    (written.text + &left_out, score(&design.model, &model, &design.items))
}

#[test]
fn the_projects_own_designs_come_back_from_their_items() {
    let only = std::env::var("KEYFOLD_INFER_ONLY").ok();
    let mut all = Score::default();
    for design in designs() {
        if only.as_ref().is_some_and(|only| *only != design.name) {
            continue;
        }
        let (text, score) = inferred(&design);
        if only.is_some() {
            println!("{text}");
        }
        println!("{:16} {score}", design.name);
        score.notes.iter().for_each(|note| println!("    {note}"));
        all.add(score);
    }
    println!("{:16} {all}", "all");
    assert!(only.is_some() || all.keys * 10 >= all.types * 8, "{all}");
}
