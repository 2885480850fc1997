//! Which items a field finds follows from what the schema says: each remedy that a message names is one, and neither the order of the
//! indexes nor that of the types decides anything.

use crate::random::finds::{Extra, extras, related, with};
use crate::random_operations::cases;
use crate::random_schema::{Dimensions, Rng, Schema};
use keyfold::schema::diagnostics::diagnostic::Diagnostics;
use keyfold::schema::load;
use keyfold::schema::model::find::{AccessPath, Find, Via};
use keyfold::schema::model::write::WriteTarget;
use keyfold::schema::model::{FieldKind, Model};
use std::collections::BTreeMap;

fn loaded(sdl: &str) -> Result<Model, Diagnostics> {
    load("random.graphql", sdl, &|_| None).map(|(model, _)| model)
}

/// A schema of a seed that the checker accepts, and its text.
fn schema(seed: u64, writes: bool) -> Option<(Schema, String)> {
    let mut schema = Schema::random(seed, &Dimensions::default());
    if !writes {
        schema.mutations.clear();
    }
    let sdl = schema.sdl();
    loaded(&sdl).is_ok().then_some((schema, sdl))
}

#[test]
fn a_relation_that_leaves_a_part_of_the_parents_key_open_takes_either_remedy() {
    let (mut refused, mut taken) = (0, 0);
    for seed in cases(60) {
        let Some((schema, sdl)) = schema(seed, false) else { continue };
        let mut rng = Rng::with_seed(seed ^ 0x6465_6369);
        for ty in &schema.types {
            for number in 0..4 {
                let extra = related(&mut rng, &schema, ty, number);
                let Err(mistakes) = loaded(&with(&sdl, std::slice::from_ref(&extra))) else { continue };
                let Some(mistake) = mistakes.list.iter().find(|mistake| mistake.code == "KF0436") else { continue };
                refused += 1;
                let help = mistake.help.as_deref().unwrap();
                let remedies: Vec<&str> = help.split('`').filter(|text| text.starts_with("where: ")).collect();
                assert_eq!(remedies.len(), 2, "{help}");
                for remedy in remedies {
                    let said = Extra { field: add(&extra.field, remedy), ..extra.clone() };
                    let mistakes = loaded(&with(&sdl, &[said.clone()])).err().map(|mistakes| mistakes.list).unwrap_or_default();
                    // A list whose whole key is bound is a mistake of its own, and the help says so.
                    let is_lone = remedy.contains('"') && help.contains("at most one");
                    let other = mistakes.iter().find(|mistake| !(is_lone && mistake.code == "KF0432"));
                    assert!(other.is_none(), "seed {seed}: {} in {}: {other:#?}\n{sdl}", said.field, ty.name);
                    taken += usize::from(mistakes.is_empty());
                }
            }
        }
    }
    assert!(refused > 20 && taken > refused, "{refused} relations leave a part open, {taken} remedies are taken");
}

/// A field with more entries in its `where:`.
fn add(field: &str, remedy: &str) -> String {
    let entries = remedy.trim_start_matches("where: { ").trim_end_matches(" }");
    match (field.find("where: { "), field.find("@find(")) {
        (Some(at), _) => format!("{}{entries}, {}", &field[..at + 9], &field[at + 9..]),
        (None, Some(at)) => format!("{}{remedy}, {}", &field[..at + 6], &field[at + 6..]),
        (None, None) => format!("{field}({remedy})"),
    }
}

#[test]
fn the_order_of_indexes_and_types_decides_nothing() {
    let (mut accepted, mut refused) = (0, 0);
    for seed in cases(25) {
        let Some((schema, sdl)) = schema(seed, true) else { continue };
        let mut rng = Rng::with_seed(seed ^ 0x6f72_6465);
        let known = bindings(&loaded(&sdl).unwrap());
        let other = loaded(&shuffled(&mut rng, &sdl)).map(|model| bindings(&model));
        assert_eq!(other.ok(), Some(known), "seed {seed}\n{sdl}");
        let mut more = extras(&mut rng, &schema);
        for ty in &schema.types {
            more.extend((2..8).map(|number| related(&mut rng, &schema, ty, number)));
        }
        for extra in more {
            let text = with(&sdl, &[extra.clone()]);
            let one = loaded(&text).map(|model| bindings(&model)).map_err(|mistakes| mistakes.render(false));
            for _ in 0..2 {
                let other = loaded(&shuffled(&mut rng, &text)).map(|model| bindings(&model)).map_err(|mistakes| mistakes.render(false));
                match (&one, &other) {
                    (Ok(one), Ok(other)) => {
                        let differ = one.iter().find(|(field, paths)| other.get(*field) != Some(paths));
                        assert!(
                            differ.is_none(),
                            "seed {seed}: {extra:?}: {differ:#?}, or {:#?}\n{text}",
                            differ.and_then(|(field, _)| other.get(field))
                        );
                        accepted += 1;
                    }
                    (Err(_), Err(_)) => refused += 1,
                    (one, other) => panic!(
                        "seed {seed}: {extra:?} is refused in one order only: {:?} {:?}\n{text}",
                        one.as_ref().err(),
                        other.as_ref().err()
                    ),
                }
            }
        }
    }
    assert!(accepted > 500 && refused > 500, "{accepted} accepted, {refused} refused");
}

/// A schema's text with its indexes and its types in another order.
fn shuffled(rng: &mut Rng, sdl: &str) -> String {
    let mut blocks: Vec<String> = sdl.split("\n\n").map(str::to_owned).collect();
    rng.shuffle(&mut blocks);
    for block in &mut blocks {
        let is_index = |line: &&str| line.starts_with("    { name: ");
        let mut indexes: Vec<&str> = block.lines().filter(is_index).collect();
        rng.shuffle(&mut indexes);
        let lines: Vec<&str> = block.lines().map(|line| if is_index(&line) { indexes.pop().unwrap() } else { line }).collect();
        *block = lines.join("\n");
    }
    blocks.join("\n\n")
}

/// For each field: its paths by what they need, each with what binds its key, and the fields that its items have.
type Bindings = BTreeMap<String, Vec<String>>;

fn bindings(model: &Model) -> Bindings {
    let mut all = Bindings::new();
    for (owner, field) in model.types.values().flat_map(|ty| ty.fields.values().map(move |field| (ty, field))) {
        let mut paths = match &field.kind {
            FieldKind::Find(find) => of_find(model, find),
            FieldKind::Write(write) => {
                let targets = write.actions.iter().filter_map(|action| match &action.target {
                    WriteTarget::Read { find, .. } => Some(&**find),
                    WriteTarget::Key(_) => None,
                });
                targets.chain(&write.find).flat_map(|find| of_find(model, find)).collect()
            }
            _ => continue,
        };
        paths.sort();
        all.insert(format!("{}.{}", owner.name, field.name), paths);
    }
    all
}

fn of_find(model: &Model, find: &Find) -> Vec<String> {
    let of_path = |path: &AccessPath, named: bool| {
        // The fields of several types have the names of the first type's fields.
        let mut bound: Vec<String> =
            path.bindings.iter().map(|(field, source)| format!("{} {source:?}", if named { field.as_str() } else { "" })).collect();
        bound.sort();
        format!("{:?} {:?} {bound:?} {:?}", path.when, path.order_by, if named { present(model, find, path) } else { Vec::new() })
    };
    match &find.via {
        Via::Keys(paths) => paths.iter().map(|path| of_path(path, true)).collect(),
        Via::AbstractType(shared) => shared.paths.iter().map(|path| of_path(path, false)).collect(),
        Via::Through(_) => Vec::new(),
    }
}

/// The nullable fields that every item in the index has, although nothing binds them.
fn present(model: &Model, find: &Find, path: &AccessPath) -> Vec<String> {
    let ty = &model.types[&find.item];
    let Some(keys) = crate::naive::values::keys_of(ty).filter(|_| path.index.is_some()) else { return Vec::new() };
    let (partition, sort) = model.tables[keys.table].keys_of(path.index);
    let templates = [Some(partition), sort].into_iter().flatten().map(|key| &keys.keys[&key.name]).filter(|all| all.len() == 1);
    let fields = templates.flatten().flat_map(|template| template.fields());
    let absent = |field: &&str| ty.fields.get(*field).is_some_and(|field| !field.ty.is_non_null());
    let mut fields: Vec<String> = fields.filter(|field| !path.bindings.contains_key(*field)).filter(absent).map(str::to_owned).collect();
    fields.sort();
    fields.dedup();
    fields
}
