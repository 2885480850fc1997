//! Names do not matter: a schema whose attributes, labels and separators are all others gives the same answers by as
//! many calls, from items that are renamed like it.

use crate::random::operations::{Maker, Pool, write};
use crate::random_operations::{MOST, cases};
use crate::random_schema::{Dimensions, ItemType, Part, Rng, Schema, Table, Template, keys};
use crate::random_schemas::Made;
use crate::support;
use keyfold::execute::request::Request;
use serde_json::Value;

/// Another name of an attribute.
fn attribute(name: &str) -> String {
    format!("x_{}", name.chars().rev().collect::<String>())
}

/// Another label or separator. It sorts as the first one does, among others and among the values of the tests: orders
/// are promises.
fn label(text: &str) -> String {
    let other = |letter: char| match letter {
        '#' => "$".to_owned(),
        ':' => ";".to_owned(),
        letter => format!("{letter}q"),
    };
    text.chars().map(other).collect()
}

/// The schema with other names in its tables.
fn renamed(schema: &Schema) -> Schema {
    let mut other = schema.clone();
    for table in &mut other.tables {
        rename_table(table);
    }
    for (ty, own) in other.types.iter_mut().zip(&schema.types) {
        let table = schema.table_of(own);
        ty.fields.iter_mut().for_each(|field| {
            // A field that is only in keys has no attribute.
            let is_kept = keys::is_kept(table, own, field);
            field.attribute = is_kept.then(|| attribute(field.attribute.as_ref().unwrap_or(&field.name)));
        });
        rename_keys(ty);
    }
    other
}

fn rename_table(table: &mut Table) {
    let Table { partition, sort, indexes, .. } = table;
    let of_indexes = indexes.iter_mut().flat_map(|index| [Some(&mut index.partition), index.sort.as_mut()]);
    let names = [Some(partition), sort.as_mut()].into_iter().chain(of_indexes).flatten();
    names.for_each(|name| *name = attribute(name));
}

fn rename_keys(ty: &mut ItemType) {
    ty.constants.iter_mut().for_each(|(name, _)| *name = attribute(name));
    ty.conditions.iter_mut().for_each(|(name, _)| *name = attribute(name));
    for (name, templates) in &mut ty.keys {
        *name = attribute(name);
        for Template(parts) in templates {
            for part in parts {
                if let Part::Text(text) = part {
                    *text = label(text);
                }
            }
        }
    }
}

/// The data, and each error's place and code. Its text may name an attribute.
fn answer(response: &Value) -> (&Value, Vec<(&Value, &Value)>) {
    let errors = response["errors"].as_array().into_iter().flatten();
    (&response["data"], errors.map(|error| (&error["path"], &error["extensions"]["code"])).collect())
}

/// The number of calls of each kind.
fn calls(response: &Value) -> Vec<&str> {
    let calls = response["extensions"]["keyfold"]["calls"].as_array();
    let mut kinds: Vec<&str> = calls.into_iter().flatten().filter_map(|call| call["operation"].as_str()).collect();
    kinds.sort_unstable();
    kinds
}

#[test]
fn other_names_give_the_same_answers_by_as_many_calls() {
    // The number of a shard is a hash of the key's text, and a read without a number takes any replica.
    let dimensions = Dimensions { shards: false, replicas: false, ..Dimensions::default() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (mut failures, mut found, mut called) = (Vec::new(), 0, 0);
    for seed in cases(40) {
        let mut schema = Schema::random(seed, &dimensions);
        schema.mutations.clear();
        let Some(made) = Made::with_more(seed, schema.clone()) else { continue };
        let other = made.renamed(&renamed(&schema));
        let gateways = [&made, &other].map(|made| made.gateway(seed, &runtime));
        let pool = Pool::of(&made.model, &made.items);
        let mut maker = Maker::new(&made.model, &pool, Rng::with_seed(seed));
        for _ in 0..20 {
            let written = write(&maker.operation());
            // A cursor holds the text of a key.
            if ["ursor", "after", "before", "nextToken"].iter().any(|word| written.text.contains(word)) {
                continue;
            }
            let request = Request { query: written.text.clone(), variables: written.variables, ..Request::default() };
            let [own, renamed] = gateways.each_ref().map(|at| runtime.block_on(support::run(at, &request, true)));
            let differs = (answer(&own) != answer(&renamed))
                .then_some("the answer")
                .or_else(|| (calls(&own) != calls(&renamed)).then_some("the calls"));
            failures.extend(differs.map(|differs| {
                format!("seed {seed}: {differs}\n{}\n{own:#}\n{renamed:#}\n{}\n{}", written.text, made.sdl, other.sdl)
            }));
            found += usize::from(own["data"].to_string().contains(":\""));
            called += calls(&own).len();
        }
        if failures.len() >= MOST {
            break;
        }
    }
    assert!(failures.is_empty(), "{} operations differ:\n\n{}", failures.len(), failures.join("\n\n"));
    assert!(found > 100 && called > 500, "{found} operations found something, by {called} calls");
}
