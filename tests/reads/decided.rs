//! Which items a field finds follows from what the schema says: each remedy that a message names is one, and neither
//! the order of the indexes nor that of the types decides anything.

use crate::random::finds::{Extra, extras, related, with};
use crate::random_operations::cases;
use crate::random_schema::{Dimensions, Rng, Schema, chance, pick};
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
    for seed in cases(130) {
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
                    let mistakes = loaded(&with(&sdl, std::slice::from_ref(&said)))
                        .err()
                        .map(|mistakes| mistakes.list)
                        .unwrap_or_default();
                    // A list whose whole key is bound is a mistake of its own, and the help says so.
                    let is_lone = remedy.contains('"') && help.contains("at most one");
                    // Where another place fits the remedy, too, the next mistake asks which.
                    let is_next = |code: &str| is_lone && code == "KF0432" || code == "KF0437";
                    let other = mistakes.iter().find(|mistake| !is_next(mistake.code));
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
    let mut seen = Seen::default();
    for seed in cases(12) {
        let Some((schema, sdl)) = schema(seed, true) else { continue };
        let mut rng = Rng::with_seed(seed ^ 0x6f72_6465);
        seen.compare(seed, &mut rng, &sdl);
        for extra in extras(&mut rng, &schema) {
            seen.compare(seed, &mut rng, &with(&sdl, &[extra]));
        }
    }
    for seed in cases(600) {
        let mut rng = Rng::with_seed(seed);
        let sdl = crowded(&mut rng);
        seen.compare(seed, &mut rng, &sdl);
    }
    assert!(seen.accepted > 400 && seen.refused > 200 && seen.undecided > 20, "{seen:?}");
}

/// How many schemas are accepted and refused in every order, and how many of these are undecided.
#[derive(Debug, Default)]
struct Seen {
    accepted: usize,
    refused: usize,
    undecided: usize,
}

impl Seen {
    fn compare(&mut self, seed: u64, rng: &mut Rng, sdl: &str) {
        let other_order = shuffled(rng, sdl);
        match (loaded(sdl), loaded(&other_order)) {
            (Ok(one), Ok(other)) => {
                assert_eq!(bindings(&one), bindings(&other), "seed {seed}\n{sdl}\n{other_order}");
                self.accepted += 1;
            }
            (Err(one), Err(_)) => {
                self.refused += 1;
                self.undecided += usize::from(one.list.iter().any(|mistake| mistake.code == "KF0437"));
            }
            (one, other) => {
                let mistakes = one.err().or(other.err()).map(|mistakes| mistakes.render(false));
                panic!("seed {seed} is refused in one order only: {mistakes:#?}\n{sdl}\n{other_order}");
            }
        }
    }
}

/// Two types with fields of the same names, and indexes with any of these in their keys.
fn crowded(rng: &mut Rng) -> String {
    let pool = [("a", "ID"), ("b", "ID"), ("x", "String"), ("y", "String"), ("z", "Boolean")];
    let mut own = |in_key: &str| {
        let fields = pool
            .map(|(name, ty)| format!("  {name}: {ty}{}", if in_key == name || chance(rng, 60) { "!" } else { "" }));
        fields.join("\n")
    };
    let (parents, mut targets) = (own("x"), own(""));
    let mut keys = String::new();
    if chance(rng, 30) {
        let (name, ty) = *pick(rng, &pool[..4]);
        targets = targets.replace(&format!("  {name}: {ty}\n"), &format!("  {name}: {ty}!\n"));
        keys += &format!("pk: \"B#{{{name}}}\", sk: \"B#{{id}}\"");
    } else {
        keys += "pk: \"B#{id}\", sk: \"B\"";
    }
    let mut indexes = String::new();
    for number in 1..=3 {
        let sort = chance(rng, 60);
        indexes += &format!("    {{ name: \"by{number}\", partitionKey: \"p{number}\"");
        indexes += &if sort { format!(", sortKey: \"s{number}\" }}\n") } else { " }\n".to_owned() };
        let field = |rng: &mut Rng| format!("{{{}}}", pick(rng, &pool).0);
        let more = if chance(rng, 25) { format!("#{}", field(rng)) } else { String::new() };
        keys += &format!(", p{number}: \"{number}#{}{more}\"", field(rng));
        if sort {
            keys += &format!(", s{number}: \"{}#{{id}}\"", field(rng));
        }
    }
    let read = *pick(
        rng,
        &[
            "bs: [B!]! @find",
            "bs: B @find",
            "bs: Int! @find(item: B)",
            "bs: Boolean! @find(item: B)",
            "bs(y: String): [B!]! @find",
        ],
    );
    let writes = [
        "drop(a: ID!, b: ID!): [B!]! @delete(many: true, if: \"a = :a\")",
        "set(a: ID!, x: String!, y: String!): [B!]! @update(many: true, expression: \"SET y = :y\")",
    ];
    let write =
        if chance(rng, 20) { format!("type Mutation {{\n  {}\n}}\n", pick(rng, &writes)) } else { String::new() };
    format!(
        "extend schema @table(\n  name: \"data\"\n  partitionKey: \"pk\"\n  sortKey: \"sk\"\n  indexes: [\n{indexes}  ]\n)\n\n\
         type A @item(keys: {{ pk: \"A#{{id}}\", sk: \"{{x}}\" }}) {{\n  id: ID!\n{parents}\n  {read}\n}}\n\n\
         type B @item(keys: {{ {keys} }}) {{\n  id: ID!\n{targets}\n}}\n\n\
         type Query {{\n  a(id: ID!, x: String!): A @find\n}}\n\n\n\n{write}"
    )
}

/// A schema's text with its indexes and its types in another order.
fn shuffled(rng: &mut Rng, sdl: &str) -> String {
    let mut blocks: Vec<String> = sdl.split("\n\n").map(str::to_owned).collect();
    rng.shuffle(&mut blocks);
    for block in &mut blocks {
        let is_index = |line: &&str| line.starts_with("    { name: ");
        let mut indexes: Vec<&str> = block.lines().filter(is_index).collect();
        rng.shuffle(&mut indexes);
        let lines: Vec<&str> =
            block.lines().map(|line| if is_index(&line) { indexes.pop().unwrap() } else { line }).collect();
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
                    WriteTarget::Key(_) | WriteTarget::Found(_) => None,
                });
                targets
                    .chain(write.finds.iter().map(|found| &found.find))
                    .flat_map(|find| of_find(model, find))
                    .collect()
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
        let mut bound: Vec<String> = path
            .bindings
            .iter()
            .map(|(field, source)| format!("{} {source:?}", if named { field.as_str() } else { "" }))
            .collect();
        bound.sort();
        format!(
            "{:?} {:?} {bound:?} {:?}",
            path.when,
            path.order_by,
            if named { present(model, find, path) } else { Vec::new() }
        )
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
    let of_index = model.tables[keys.table].keys_of(path.index);
    let templates = of_index.all().map(|key| &keys.keys[&key.name]).filter(|all| all.len() == 1);
    let fields = templates.flatten().flat_map(|template| template.fields());
    let absent = |field: &&str| ty.fields.get(*field).is_some_and(|field| !field.ty.is_non_null());
    let mut fields: Vec<String> =
        fields.filter(|field| !path.bindings.contains_key(*field)).filter(absent).map(str::to_owned).collect();
    fields.sort();
    fields.dedup();
    fields
}
