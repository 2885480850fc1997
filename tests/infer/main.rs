//! Inference held against schemas that people wrote: from the items alone, the types, keys and fields must come back.
//! `cargo test --test infer -- --nocapture` shows the scores.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, dead_code)]

mod any_items;
#[path = "../support/process.rs"]
mod process;
#[path = "../support/random_schema/mod.rs"]
mod random_schema;
mod random_schemas;
mod renamed;
mod score;

use keyfold::infer::draft::ApiDraft;
use keyfold::infer::infer;
use keyfold::infer::material::{Gathered, Material};
use keyfold::infer::questions::{Answers, Question};
use keyfold::infer::write::repair::written;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::schema::table::{KeyAttribute, KeyType, Table};
use keyfold::sources::material::{AttributeHint, Receiver, TypeHint};
use keyfold::sources::read;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::{Attribute, Item};
use score::{Score, count_covered, keyed_types};
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
    for path in folders("examples").into_iter().filter(|path| path.join("schema.graphql").is_file()) {
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

/// What inference makes of tables with items: the schema's text, and its model, which passes every check.
fn inferred(tables: &[(Table, Vec<Item>)]) -> (String, Model) {
    let mut gathered = Gathered::new(20_000);
    for (table, items) in tables {
        gathered.table(table.clone());
        for item in items {
            let _ = gathered.item(Some(&table.name), item.clone());
        }
    }
    let (text, model) = inferred_of(&gathered.material());
    (text, model.expect("there are types"))
}

/// The schema of a material, which passes every check, whatever is answered; no model if nothing can be a type.
fn inferred_of(material: &Material) -> (String, Option<Model>) {
    let draft = infer(material, &Answers::default());
    let last = |question: &Question| (question.id.clone(), question.choices.last().unwrap().word.to_owned());
    let unusual: Answers = draft.questions.iter().map(last).collect();
    let first = |question: &Question| (question.id.clone(), question.choices[0].word.to_owned());
    let usual: Answers = draft.questions.iter().map(first).collect();
    let (other_text, other) = checked(infer(material, &unusual));
    let (text, model) = checked(draft);
    // Whoever takes each guess gets what nobody is asked for, but for the comments.
    let plain = |text: &str| text.lines().filter(|line| !line.starts_with("  # guess:")).collect::<Vec<_>>().join("\n");
    assert_eq!(plain(&checked(infer(material, &usual)).0), plain(&text));
    // An answer takes no type away without a word. It may keep one that a guess leaves out, because its keys differ.
    let is_type = |line: &&str| line.split_once(": ").is_some_and(|(name, _)| !name[2..].contains(['.', ' ']));
    let gone = other_text.lines().filter(|line| line.starts_with("# ")).filter(is_type).count();
    let types = |model: &Option<Model>| {
        model.as_ref().map(|model| model.types.keys().filter(|name| model.item(name).is_some()).count())
    };
    let kept = types(&other).unwrap_or_default() + gone;
    assert!(kept >= types(&model).unwrap_or_default(), "{unusual:?}\n{text}\n{other_text}");
    (text, model)
}

/// The schema of a draft.
fn checked(draft: ApiDraft) -> (String, Option<Model>) {
    let written = written(draft);
    let left_out: String = written.left_out.iter().map(|line| format!("# {line}\n")).collect();
    if written.draft.types.is_empty() {
        return (written.text + &left_out, None);
    }
    match schema::load("inferred.graphql", &written.text, &|_| None) {
        Ok((model, _)) => (written.text + &left_out, Some(model)),
        Err(found) => panic!("{}\n{}", found.render(false), written.text),
    }
}

/// The score of a design, and of what `change` makes of it.
fn scored(design: &Design, change: Change) -> Score {
    let only = std::env::var("KEYFOLD_INFER_ONLY").is_ok();
    let mut score = Score::default();
    for (name, items) in &design.items {
        let table = design.model.tables.iter().find(|table| table.name == *name).unwrap();
        let types = keyed_types(&design.model, name, Some(items));
        let (table, items, types) = match change {
            Change::None => (table.clone(), items.clone(), types),
            Change::Names => (
                renamed::table(table),
                items.iter().map(|item| renamed::item(design, name, item)).collect(),
                types.iter().map(renamed::keyed_type).collect(),
            ),
            Change::Dirt => (table.clone(), with_dirt(table, items), types),
        };
        let (text, model) = inferred(&[(table, items.clone())]);
        if only {
            println!("{text}");
        }
        let mut of_table = score::score(&types, &keyed_types(&model, name, None));
        if change != Change::Dirt {
            count_covered(&model, name, &items, &mut of_table);
        }
        score.notes.append(&mut of_table.notes);
        score.add(of_table);
    }
    score
}

/// What is done to a design before its items are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    None,
    /// Its attributes, labels and separators get other names.
    Names,
    /// One item in twenty is one that nobody meant.
    Dirt,
}

/// Items with others among them, whose keys are like nothing else.
fn with_dirt(table: &Table, items: &[Item]) -> Vec<Item> {
    let texts = ["???", "test 1", "%00", "tmp.bak", "42!"];
    let dirt = |number: usize| -> Item {
        let value = |key: &KeyAttribute| match key.kind {
            KeyType::S => Attribute::S(format!("{}{number}", texts[number % texts.len()]).into()),
            KeyType::N => Attribute::N(number.to_string().into()),
            KeyType::B => Attribute::B(vec![7]),
        };
        let mut item: Item = table.primary_key().map(|key| (key.name.clone(), value(key))).collect();
        item.insert("x", Attribute::Bool(true));
        item
    };
    let mut all = items.to_vec();
    all.extend((0..items.len() / 20).map(dirt));
    all
}

/// The scores of all designs under a change.
fn all_scored(change: Change) -> Score {
    let only = std::env::var("KEYFOLD_INFER_ONLY").ok();
    let mut all = Score::default();
    for design in designs().iter().filter(|design| only.as_ref().is_none_or(|only| *only == design.name)) {
        let score = scored(design, change);
        println!("{:16} {score}", design.name);
        score.notes.iter().for_each(|note| println!("    {note}"));
        all.add(score);
    }
    println!("{:16} {all}", "all");
    all
}

/// The models in `models/`: each has an answer, a schema that was written by hand before its files were read.
#[test]
fn models_of_each_form_come_back_as_their_answers_have_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/infer/models");
    let mut folders: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let mut all = Score::default();
    for folder in &folders {
        let score = scored_answer(folder);
        println!("{:16} {score}", name_of(folder));
        score.notes.iter().for_each(|note| println!("    {note}"));
        all.add(score);
    }
    println!("{:16} {all}", "all");
    assert!(all.types >= 25 && all.keys * 10 >= all.types * 9, "{all}");
    assert!(all.identities * 10 >= all.types * 8, "{all}");
    assert_eq!(all.covered, all.items, "{all}");
}

#[test]
fn a_schema_of_app_sync_names_the_types_of_items() {
    let festival = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/infer/models/festival");
    let score = scored_answer(&festival);
    assert_eq!((score.types, score.keys, score.names), (4, 4, 4), "{score}: {:?}", score.notes);
}

#[test]
fn a_source_that_names_no_table_names_a_type_of_one_table_only() {
    let table = |name: &str| {
        let key = |name: &str| KeyAttribute { name: name.to_owned(), kind: KeyType::S };
        Table::new(name, key("pk"), Some(key("sk")))
    };
    let person = |number: usize| -> Item {
        let texts = [
            ("pk", format!("P#{number}")),
            ("sk", "INFO".to_owned()),
            ("name", "n".repeat(number)),
            ("email", format!("e{number}")),
        ];
        texts.into_iter().map(|(name, text)| (name.to_owned(), Attribute::S(text.into()))).collect()
    };
    let mut gathered = Gathered::new(100);
    let attribute = |name: &str| AttributeHint { name: name.to_owned(), field: None, kind: None, required: true };
    let attributes = vec![attribute("name"), attribute("email")];
    gathered.type_hint(None, TypeHint { name: "Author".to_owned(), attributes, ..TypeHint::default() });
    for name in ["authors", "buyers"] {
        gathered.table(table(name));
        (1..5).for_each(|number| _ = gathered.item(Some(name), person(number)));
    }
    let (text, model) = inferred_of(&gathered.material());
    let model = model.unwrap();
    let types: Vec<&str> = model.types.keys().map(String::as_str).filter(|name| model.item(name).is_some()).collect();
    assert!(types.len() == 2 && types.contains(&"Author") && !types.contains(&"Author2"), "{text}");
}

/// What inference makes of the files of a folder, held against the answer in it.
fn scored_answer(folder: &Path) -> Score {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| name_of(file) != "answer.graphql");
    files.sort();
    let text = fs::read_to_string(folder.join("answer.graphql")).unwrap();
    let (answer, _) = schema::load("answer.graphql", &text, &|_| None).unwrap();
    let mut gathered = Gathered::new(20_000);
    read::read(&files, &mut gathered).unwrap();
    let material = gathered.material();
    let (text, model) = inferred_of(&material);
    let model = model.expect("there are types");
    if std::env::var("KEYFOLD_INFER_ONLY").is_ok_and(|only| only == name_of(folder)) {
        println!("{text}");
    }
    let mut score = Score::default();
    for table in &answer.tables {
        let types = keyed_types(&answer, &table.name, None);
        let mut of_table = score::score(&types, &keyed_types(&model, &table.name, None));
        let items = material.tables.iter().find(|of| of.table.name == table.name).map(|of| of.items.as_slice());
        count_covered(&model, &table.name, items.unwrap_or_default(), &mut of_table);
        score.notes.append(&mut of_table.notes);
        score.add(of_table);
    }
    score
}

/// Of all designs, `practice` and `wards` are the hardest that there are: each type tries a form of its own. Nothing in
/// the items of `boards` says that a condition decides which of them an index holds.
#[test]
fn the_projects_own_designs_come_back_from_their_items() {
    let all = all_scored(Change::None);
    assert!(all.keys * 100 >= all.types * 82, "{all}");
    assert!(all.identities * 100 >= all.types * 77, "{all}");
    assert!(all.covered * 100 >= all.items * 98, "{all}");
}

#[test]
fn no_table_of_known_names_does_the_work() {
    let (own, other) = (all_scored(Change::None), all_scored(Change::Names));
    assert!(other.keys * 10 >= own.keys * 9, "{own}; with other names: {other}");
    assert!(other.identities * 10 >= own.identities * 9, "{own}; with other names: {other}");
}

#[test]
fn items_that_nobody_meant_change_no_type() {
    let (own, dirty) = (all_scored(Change::None), all_scored(Change::Dirt));
    assert!(dirty.keys * 100 >= own.keys * 97, "{own}; with dirt: {dirty}");
}
