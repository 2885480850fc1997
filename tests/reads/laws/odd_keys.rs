//! Items of random schemas whose keys and constants another program wrote oddly: what a scan of a type shows, a Get by
//! its fields finds.

use super::world::{self, block_on};
use crate::random_schema::{Dimensions, Rng, Schema, chance, keys, pick, sdl::type_of, values};
use crate::support;
use keyfold::schema::load;
use keyfold::table::bulk::export_lines::parse_line;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::sync::Arc;

/// Schemas that are tried.
const SCHEMAS: u64 = 60;

/// What keys get at odd places.
const ODD: [&str; 8] = ["#", "%", "%23", "%2d", "%2D", "0", "é", "A"];

/// The key as another program may write it.
fn odd(rng: &mut Rng, text: &str) -> String {
    let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let at = *pick(rng, &places);
    let (before, after) = text.split_at(at);
    match rng.u8(..3) {
        0 => text.to_owned(),
        1 => format!("{before}{}{after}", pick(rng, &ODD)),
        _ => format!("{before}{}", after.chars().skip(1).collect::<String>()),
    }
}

#[test]
fn what_a_scan_shows_is_found_by_its_fields() {
    // The number of a shard is a format that other programs must keep to. Beside a text in lower case, an attribute has
    // the field: the two differ if the key is odd.
    let dimensions = Dimensions { shards: false, replicas: false, cases: false, ..Dimensions::default() };
    let (mut shown, mut written) = (0, 0);
    for seed in 0..SCHEMAS {
        let mut schema = Schema::random(seed, &dimensions);
        schema.mutations.clear();
        // The name of an item says which item it is, also where it is shown as another type.
        for field in schema.types.iter_mut().flat_map(|ty| &mut ty.fields).filter(|field| field.name == "name") {
            field.attribute = Some("law".to_owned());
        }
        let mut fields = String::new();
        for ty in &schema.types {
            let key = ty.key_fields(schema.table_of(ty));
            let arguments: Vec<String> =
                key.iter().map(|name| format!("{name}: {}", type_of(ty, ty.field(name).kind, true, true))).collect();
            fields += &format!(
                "  all{0}: [{0}!]! @find(scan: true)\n  one{0}({1}): {0} @find\n",
                ty.name,
                arguments.join(", ")
            );
        }
        let text = schema.sdl().replacen("type Query {\n", &format!("type Query {{\n{fields}"), 1);
        let (model, _) = load("random.graphql", &text, &|_| None)
            .unwrap_or_else(|mistakes| panic!("{seed}: {}", mistakes.render(false)));
        let mut rng = Rng::with_seed(seed);
        let mut items = vec![Vec::new(); model.tables.len()];
        let mut taken = HashSet::new();
        for (number, (position, mut values)) in values::items(&mut rng, &schema, 12).into_iter().enumerate() {
            let ty = &schema.types[position];
            values.insert("name".to_owned(), json!(format!("n{number}")));
            for mut item in keys::items(&schema, ty, &values) {
                for attribute in schema.table_of(ty).primary() {
                    let text = odd(&mut rng, item[attribute]["S"].as_str().unwrap());
                    item.insert(attribute.to_owned(), json!({ "S": if text.is_empty() { "x" } else { &text } }));
                }
                if chance(&mut rng, 30) {
                    ty.constants.iter().for_each(|(name, _)| drop(item.remove(name)));
                }
                let key: Vec<Value> = schema.table_of(ty).primary().map(|name| item[name].clone()).collect();
                if taken.insert((ty.table, json!(key).to_string())) {
                    items[ty.table].push(parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
                    written += 1;
                }
            }
        }
        shown += block_on(async {
            let (gateway, _) = world::gateway(&Arc::new(model), items.clone()).await;
            let mut shown = 0;
            for ty in &schema.types {
                let key = ty.key_fields(schema.table_of(ty));
                let selected = format!("name {}", key.join(" "));
                let all = support::run(
                    &gateway,
                    &support::request(&format!("{{ all{} {{ {selected} }} }}", ty.name), Value::Null),
                    false,
                )
                .await;
                for item in
                    all["data"][format!("all{}", ty.name)].as_array().unwrap_or_else(|| panic!("{seed}: {all}\n{text}"))
                {
                    let types: Vec<String> = key
                        .iter()
                        .map(|name| format!("${name}: {}", type_of(ty, ty.field(name).kind, true, true)))
                        .collect();
                    let arguments: Vec<String> = key.iter().map(|name| format!("{name}: ${name}")).collect();
                    let query = format!(
                        "query({}) {{ one: one{}({}) {{ {selected} }} }}",
                        types.join(", "),
                        ty.name,
                        arguments.join(", ")
                    );
                    let one = support::run(&gateway, &support::request(&query, item.clone()), false).await;
                    assert_eq!(one["data"]["one"], *item, "seed {seed}: {} {one}\n{text}", ty.name);
                    shown += 1;
                }
            }
            shown
        });
    }
    assert!(shown * 4 > written, "few items are shown: {shown} of {written}");
}
