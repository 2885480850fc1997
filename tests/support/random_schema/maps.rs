//! Maps of random types, and the fields of `Mutation` that change one entry. They are chosen beside everything else, so
//! that the rest of a seed's schema stays what it is without them.

use super::mutations::{Action, Argument, Entry, Mutation, Returns, Source, Verb};
use super::{Field, Kind, Rng, Schema, chance};

/// The map of objects by their `id`, and the map of numbers by `day`.
pub const MAPS: [(&str, Kind); 2] = [("tally", Kind::Tally), ("counts", Kind::Counts)];

/// Gives some types maps, and adds the writes of their entries at the end. Counts these.
pub fn add(rng: &mut Rng, schema: &mut Schema) {
    let before = schema.mutations.len();
    for item in 0..schema.types.len() {
        for (name, kind) in MAPS {
            if !chance(rng, 45) {
                continue;
            }
            let attribute = chance(rng, 30).then(|| format!("a_{name}"));
            schema.types[item].fields.push(Field {
                name: name.to_owned(),
                kind,
                non_null: kind == Kind::Counts,
                attribute,
                default: None,
                unique: false,
                version: false,
                constraint: None,
            });
            let all: &[Entry] = match kind {
                Kind::Tally => &[Entry::Add, Entry::Set, Entry::Put, Entry::Remove, Entry::Whole],
                _ => &[Entry::Add, Entry::Remove, Entry::Whole],
            };
            for entry in all {
                let mutation = mutation(schema, item, (name, kind), *entry);
                schema.mutations.push(mutation);
            }
        }
    }
    schema.of_maps = schema.mutations.len() - before;
}

fn mutation(schema: &Schema, item: usize, (map, kind): (&str, Kind), entry: Entry) -> Mutation {
    let ty = &schema.types[item];
    let mut arguments: Vec<Argument> = Vec::new();
    let mut argument = |name: &str, kind: Kind, non_null: bool, field: Option<&str>| {
        let (name, field) = (name.to_owned(), field.map(str::to_owned));
        arguments.push(Argument { name, kind, of: item, non_null, field });
    };
    let fields = ty.key_fields(schema.table_of(ty));
    let by_name = entry == Entry::Put;
    // A put's `set:` binds the element's fields, so the names of arguments find the item.
    let name_of = |field: &str| match (by_name, field) {
        (true, "id") => format!("{}Id", ty.small()),
        (true, field) => field.to_owned(),
        (false, field) => format!("k_{field}"),
    };
    let key: Vec<(String, Source)> =
        fields.iter().map(|field| ((*field).to_owned(), Source::Argument(name_of(field)))).collect();
    fields.iter().for_each(|field| argument(&name_of(field), ty.field(field).kind, true, None));
    let mut values = Vec::new();
    match entry {
        Entry::Put => argument("input", Kind::Part, true, None),
        Entry::Whole => {
            argument(map, kind, kind == Kind::Counts, Some(map));
            values.push((map.to_owned(), Source::Argument(map.to_owned())));
        }
        _ => argument("part", Kind::Text, true, None),
    }
    match entry {
        Entry::Add => argument("more", Kind::Int, true, None),
        Entry::Set => argument("text", Kind::Text, false, None),
        _ => {}
    }
    let verb = match entry {
        Entry::Whole => Verb::Update { upsert: false, many: false },
        entry => Verb::Entry(map.to_owned(), entry),
    };
    let action = Action { verb, item, key, values, condition: None, number: None, version: None, by_name };
    Mutation {
        name: format!("{map}{entry:?}{}", ty.name),
        arguments,
        found: None,
        actions: vec![action],
        returns: Returns::Item(0),
        non_null: false,
        is_listed: false,
        is_wrapped: false,
    }
}
