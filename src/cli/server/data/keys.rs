//! Tables and items in; out, as JSON for the page: the keys with the parts of their templates, and the attributes. Must
//! not know how items are read.

use crate::schema::model::{Model, ObjectType, TypeKind};
use crate::schema::scalar::value_type::ValueType;
use crate::schema::table::{KeyAttribute, KeyAttributes, Table};
use crate::schema::template::Template;
use crate::schema::template::part::{Part, claim_of};
use crate::table::bulk::export_lines::item_to_json;
use crate::table::data::attribute::{Attribute, Item};
use serde_json::{Map, Value, json};

/// The tables with their indexes, and the item types in each.
pub fn tables(model: &Model) -> Value {
    let table = |(position, table): (usize, &Table)| {
        let indexes = table.indexes.iter().enumerate().map(|(at, index)| {
            let mut shown = key(table, Some(at));
            shown["name"] = json!(index.name);
            shown["projection"] = json!(index.projection.name());
            shown["local"] = json!(index.local);
            shown
        });
        let mut shown = key(table, None);
        shown["name"] = json!(table.name);
        shown["indexes"] = indexes.collect();
        shown["types"] = model.types.values().filter_map(|object| item_type(object, position)).collect();
        shown
    };
    model.tables.iter().enumerate().map(table).collect()
}

fn key(table: &Table, index: Option<usize>) -> Value {
    let attribute = |key: &KeyAttribute| json!({ "name": key.name, "kind": key.kind.name() });
    let KeyAttributes { partition, sort } = table.keys_of(index);
    let mut shown = json!({ "partition": partition.first().map(attribute), "sort": sort.first().map(attribute) });
    // Most keys have one attribute each.
    for (name, keys) in [("furtherPartition", partition), ("furtherSort", sort)] {
        if keys.len() > 1 {
            shown[name] = keys.iter().skip(1).map(attribute).collect();
        }
    }
    shown
}

/// An item type of a table, with the templates of each key attribute.
fn item_type(object: &ObjectType, table: usize) -> Option<Value> {
    let TypeKind::Item(keys) = &object.kind else { return None };
    let template = |template: &Template| template.parts.iter().map(part).collect::<Value>();
    let keys_of = |(attribute, templates): (&String, &Vec<Template>)| {
        (attribute.clone(), templates.iter().map(template).collect())
    };
    (keys.table == table)
        .then(|| json!({ "name": object.name, "keys": keys.keys.iter().map(keys_of).collect::<Map<_, _>>() }))
}

/// A part of a template: `{"constant": "Group#"}`, `{"field": "groupId"}`, `{"claim": "auth.tenant"}` or
/// `{"number": "shard:10"}`.
fn part(part: &Part) -> Value {
    match part {
        Part::Literal(text) => json!({ "constant": text }),
        Part::Placeholder { field, .. } if claim_of(part).is_some() => json!({ "claim": field }),
        Part::Placeholder { field, value: ValueType::Spread(_), .. } => json!({ "number": field }),
        Part::Placeholder { field, .. } => json!({ "field": field }),
    }
}

/// An item: its type, its primary key, its attributes, and for each key attribute that its type has a template for, the
/// parts of the value. The remarks say what the schema would write otherwise.
pub fn item(table: &Table, ty: Option<&ObjectType>, item: &Item, remarks: &[String]) -> Value {
    let mut parts = Map::new();
    if let Some(TypeKind::Item(keys)) = ty.map(|ty| &ty.kind) {
        let of =
            |(name, templates): (&String, &Vec<Template>)| Some((name.clone(), parts_of(templates, item.get(name)?)?));
        parts.extend(keys.keys.iter().filter_map(of));
    }
    let key = table.primary_key().filter_map(|key| Some((key.name.as_str(), item.get(&key.name)?.clone()))).collect();
    let name = ty.map(|ty| &ty.name);
    json!({
        "type": name, "key": item_to_json(&key), "parts": parts, "attributes": item_to_json(item), "remarks": remarks,
    })
}

/// The parts of a key attribute's value, by the first template that fits it.
fn parts_of(templates: &[Template], value: &Attribute) -> Option<Value> {
    let Attribute::S(text) = value else {
        // A number or binary key is its field's value.
        let [whole] = templates.first()?.parts.as_slice() else { return None };
        return Some(json!([part(whole)]));
    };
    templates.iter().find_map(|template| {
        let texts = template.split(text)?;
        let with_text = |(known, text): (&Part, &str)| {
            let mut shown = part(known);
            shown["text"] = json!(text);
            shown
        };
        Some(template.parts.iter().zip(texts).map(with_text).collect())
    })
}
