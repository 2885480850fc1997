//! A store at rest → its items as plain values. What is derived from them (keys, copies, guards) is compared with the
//! store.

use crate::model::{Memory, Place};
use crate::random_schema::forms::FORMS;
use crate::random_schema::keys::{Attributes, NUMBER, Values, constant, is_read_back};
use crate::random_schema::{Field, ItemType, Kind, Part, Schema, Template};
use serde_json::{Map, Value, json};

impl Memory {
    /// The items of a store. Anything else, such as a guard, is left out.
    pub fn read(schema: &Schema, items: &[(usize, Attributes)]) -> Self {
        let mut memory = Self::new();
        for (table, item) in items {
            let known = schema
                .types
                .iter()
                .enumerate()
                .find_map(|(position, ty)| Some((position, values(schema, ty, *table, item)?)));
            if let Some((position, values)) = known {
                let ty = &schema.types[position];
                let place: Place = (*table, crate::random_schema::keys::place(schema.table_of(ty), ty, &values));
                memory.items.insert(place, (position, values));
            }
        }
        memory
    }
}

/// The values of an item, if it is of the type.
fn values(schema: &Schema, ty: &ItemType, table: usize, item: &Attributes) -> Option<Values> {
    let text = |attribute: &str| {
        let value = item.get(attribute)?;
        value["S"].as_str().or(value["N"].as_str()).map(str::to_owned)
    };
    if ty.table != table || ty.constants.iter().any(|(name, value)| item.get(name) != Some(&constant(value))) {
        return None;
    }
    let mut values = Values::new();
    for attribute in schema.tables[table].primary() {
        read(ty, &ty.key(attribute)?[0], &text(attribute)?, &mut values)?;
    }
    for (attribute, templates) in &ty.keys {
        if let ([template], Some(text)) = (templates.as_slice(), text(attribute))
            && is_read_back(template)
        {
            read(ty, template, &text, &mut values);
        }
    }
    for field in &ty.fields {
        if let Some(attribute) = item.get(field.attribute.as_ref().unwrap_or(&field.name)) {
            values.insert(field.name.clone(), value(field.kind, attribute));
        }
    }
    Some(values)
}

/// Reads the fields from a key. No value of the tests contains a separator.
fn read(ty: &ItemType, template: &Template, text: &str, values: &mut Values) -> Option<()> {
    let mut rest = text;
    for (position, part) in template.0.iter().enumerate() {
        let end = match template.0.get(position + 1) {
            Some(Part::Text(next)) => rest.find(next.as_str())?,
            _ => rest.len(),
        };
        match part {
            Part::Text(literal) => rest = rest.strip_prefix(literal.as_str())?,
            Part::Field(field) | Part::Padded(field, _) => {
                values.insert(field.clone(), spelt(ty.field(field), &rest[..end])?);
                rest = &rest[end..];
            }
            Part::Shard(_) | Part::Replica(_) => rest = &rest[end..],
            Part::Assigned => {
                values.insert(NUMBER.to_owned(), json!(rest[..end].parse::<u64>().ok()?));
                rest = &rest[end..];
            }
            // The value is in an attribute of its own.
            Part::Lower(_) => rest = &rest[end..],
            Part::Year(_) => return None,
        }
    }
    rest.is_empty().then_some(())
}

fn spelt(field: &Field, text: &str) -> Option<Value> {
    Some(match field.kind {
        Kind::Int | Kind::Stamp => json!(text.parse::<i64>().ok()?),
        Kind::Status => json!(if text == "open" { "OPEN" } else { text }),
        Kind::Time(form) => json!(FORMS[form].time(text)?),
        _ => json!(text),
    })
}

/// The value of an attribute.
fn value(kind: Kind, attribute: &Value) -> Value {
    let list = |attribute: &Value| attribute["L"].as_array().cloned().unwrap_or_default();
    match kind {
        Kind::Id | Kind::Text | Kind::AwsText(_) => attribute["S"].clone(),
        Kind::Status => json!(if attribute["S"] == "open" { "OPEN" } else { attribute["S"].as_str().unwrap() }),
        Kind::Int | Kind::Stamp => json!(attribute["N"].as_str().unwrap().parse::<i64>().unwrap()),
        Kind::Flag => attribute["BOOL"].clone(),
        Kind::Time(form) => json!(FORMS[form].time(attribute["S"].as_str().unwrap()).unwrap()),
        Kind::TextInt => json!(attribute["S"].as_str().unwrap().parse::<i64>().unwrap()),
        Kind::NumberFlag => json!(attribute["N"] == "1"),
        Kind::NumberId => attribute["N"].clone(),
        Kind::Set => attribute["SS"].clone(),
        Kind::Log => list(attribute).iter().map(|text| text["S"].clone()).collect(),
        Kind::Tally | Kind::Counts => {
            let entry = |(key, entry): (&String, &Value)| {
                let mut object = match kind {
                    Kind::Tally => value(Kind::Parts, &json!({ "L": [entry] }))[0].clone(),
                    _ => json!({ "n": value(Kind::Int, entry) }),
                };
                object[kind.map_key()] = json!(key);
                object
            };
            attribute["M"].as_object().unwrap().iter().map(entry).collect()
        }
        Kind::Parts | Kind::Part | Kind::Number => {
            let part = |part: &Value| -> Value {
                let fields = part["M"].as_object().unwrap().iter();
                let kind = |name: &str| if name == "count" { Kind::Int } else { Kind::Text };
                fields
                    .map(|(name, attribute)| (name.clone(), value(kind(name), attribute)))
                    .collect::<Map<_, _>>()
                    .into()
            };
            list(attribute).iter().map(part).collect()
        }
    }
}
