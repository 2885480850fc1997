//! Random schemas with the items that they describe, made without Keyfold's own code: inference finds the types again,
//! and `keyfold verify` has nothing to say against the items.

use crate::inferred;
use crate::process::run;
use crate::random_schema::{Dimensions, Rng, Schema, keys, values};
use crate::score::{Score, count_covered, keyed_types, score};
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::Item;
use serde_json::{Value, json};
use std::fs;

/// The most items of each type.
const MOST: usize = 40;
/// How many schemas are tried.
const USUAL: u64 = 25;

/// A schema with its items, in the form of lines.
struct Made {
    sdl: String,
    model: Model,
    /// The lines of each table.
    lines: Vec<Vec<String>>,
}

impl Made {
    fn of(seed: u64) -> Option<Self> {
        let mut schema = Schema::random(seed, &Dimensions::default());
        schema.mutations.clear();
        let sdl = schema.sdl();
        let (model, _) = schema::load("random.graphql", &sdl, &|_| None).ok()?;
        let mut lines = vec![Vec::new(); schema.tables.len()];
        for (position, values) in values::items(&mut Rng::with_seed(seed), &schema, MOST) {
            let ty = &schema.types[position];
            let guards = keys::guards(&schema, ty, &values).into_iter().map(|(_, guard)| guard);
            for item in keys::items(&schema, ty, &values).into_iter().chain(guards) {
                lines[ty.table].push(json!({ "Item": item }).to_string());
            }
        }
        Some(Self { sdl, model, lines })
    }
}

fn seeds() -> impl Iterator<Item = u64> {
    let variable = |name: &str| std::env::var(name).ok().map(|number| number.parse::<u64>().unwrap());
    let first = variable("KEYFOLD_LAW_SEED").unwrap_or(0);
    first..first + variable("KEYFOLD_LAW_CASES").unwrap_or(USUAL)
}

#[test]
fn types_of_random_schemas_come_back_from_their_items() {
    let mut all = Score::default();
    for seed in seeds() {
        let Some(Made { model, lines, .. }) = Made::of(seed) else { continue };
        let mut of_schema = Score::default();
        for (table, lines) in model.tables.iter().zip(&lines) {
            let items: Vec<Item> = lines.iter().map(|line| parse_line(line).unwrap().unwrap()).collect();
            let types = keyed_types(&model, &table.name, Some(&items));
            if types.is_empty() {
                continue;
            }
            let (_, found) = inferred(&[(table.clone(), items.clone())]);
            let mut of_table = score(&types, &keyed_types(&found, &table.name, None));
            count_covered(&found, &table.name, &items, &mut of_table);
            of_schema.notes.append(&mut of_table.notes);
            of_schema.add(of_table);
        }
        println!("seed {seed:4} {of_schema}");
        if seeds().count() == 1 {
            of_schema.notes.iter().for_each(|note| println!("    {note}"));
        }
        all.add(of_schema);
    }
    println!("all       {all}");
    // Each schema tries what no design has: keys that are not read back, numbers that follow no rule, twins, indexes
    // that hold the items of a condition.
    assert!(all.keys * 100 >= all.types * 85, "{all}");
    assert!(all.identities * 100 >= all.types * 45, "{all}");
    assert!(all.covered * 100 >= all.items * 98, "{all}");
}

#[test]
fn verify_has_nothing_against_items_as_their_schema_has_them() {
    for seed in seeds() {
        let Some(Made { sdl, model, lines }) = Made::of(seed) else { continue };
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("schema.graphql"), &sdl).unwrap();
        let mut arguments = vec!["verify".to_owned(), "--format".to_owned(), "json".to_owned()];
        for (table, lines) in model.tables.iter().zip(&lines).filter(|(_, lines)| !lines.is_empty()) {
            fs::write(directory.path().join(format!("{}.jsonl", table.name)), lines.join("\n")).unwrap();
            arguments.push(format!("{}.jsonl", table.name));
        }
        if arguments.len() == 3 {
            continue;
        }
        let ended = run(directory.path(), &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        let report: Value = serde_json::from_str(&ended.out).unwrap_or_else(|_| panic!("seed {seed}: {ended:?}"));
        for table in report["tables"].as_array().unwrap() {
            for part in ["findings", "ofNoType", "warnings"] {
                assert_eq!(table[part], json!([]), "seed {seed}, {part} of {}:\n{sdl}", table["table"]);
            }
        }
    }
}
