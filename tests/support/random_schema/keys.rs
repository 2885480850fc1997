//! An item's values → its attributes, as docs/language/ specifies them: key templates, constants, replicas and
//! guards. Attributes are in DynamoDB's JSON, such as `{"S": "open"}`.

use super::forms::FORMS;
use super::{Field, ItemType, Kind, Part, Schema, Table, Template, When};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Fields and their API values. A null field is absent.
pub type Values = BTreeMap<String, Value>;

/// Attributes by name.
pub type Attributes = BTreeMap<String, Value>;

/// The numbers of shards that another program assigns.
pub const ASSIGNED: std::ops::RangeInclusive<u64> = 8..=11;

/// The name of an item's number among its values, if another program assigns the numbers. No field has it.
pub const NUMBER: &str = "shard";

/// The text in which a value of a kind is stored.
pub fn text(kind: Kind, value: &Value) -> String {
    match (kind, value) {
        (Kind::Status, Value::String(name)) if name == "OPEN" => "open".to_owned(),
        (Kind::Time(form), Value::String(time)) => FORMS[form].text(time).to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// The text of a template; `None` if one of its fields is null. `number` is that of the shard or the replica; without
/// one it is left out.
pub fn render(ty: &ItemType, template: &Template, values: &Values, number: Option<u64>) -> Option<String> {
    let mut key = String::new();
    for part in &template.0 {
        match part {
            Part::Text(text) => key += text,
            Part::Field(field) => key += &text(ty.field(field).kind, values.get(field)?),
            Part::Padded(field, width) => key += &format!("{:0width$}", values.get(field)?.as_i64()?),
            Part::Lower(field) => key += &values.get(field)?.as_str()?.to_lowercase(),
            Part::Year(field) => key += &values.get(field)?.as_str()?[..4],
            Part::Shard(_) | Part::Replica(_) => key.extend(number.map(|number| number.to_string())),
            Part::Assigned => key.extend(number.map(|number| format!("{number:02}"))),
        }
    }
    Some(key)
}

/// Whether another program assigns the shards of a type's items.
pub fn is_assigned(ty: &ItemType) -> bool {
    spread(ty) == Some(Part::Assigned)
}

/// Whether the primary key has the number that another program assigns.
pub fn is_numbered(table: &Table, ty: &ItemType) -> bool {
    table
        .primary()
        .filter_map(|attribute| ty.key(attribute))
        .flatten()
        .any(|template| template.0.contains(&Part::Assigned))
}

/// Whether an item with these values has a key with the number that another program assigns.
pub fn holds_number(ty: &ItemType, values: &Values) -> bool {
    let applies = |template: &&Template| template.fields().iter().all(|field| values.contains_key(*field));
    let there = ty.keys.iter().filter(|(attribute, _)| is_met(ty, attribute, values));
    let mut made = there.filter_map(|(_, templates)| templates.iter().find(applies));
    made.any(|template| template.0.contains(&Part::Assigned))
}

/// The shard or replica part of a type's templates, if it has one.
pub fn spread(ty: &ItemType) -> Option<Part> {
    let mut parts = ty.keys.iter().flat_map(|(_, templates)| templates).flat_map(|template| &template.0);
    parts.find(|part| matches!(part, Part::Shard(_) | Part::Replica(_) | Part::Assigned)).cloned()
}

/// The numbers in the keys of an item's replicas: one for the shard, one for each replica, or none at all.
pub fn numbers(table: &Table, ty: &ItemType, values: &Values) -> Vec<Option<u64>> {
    match spread(ty) {
        Some(Part::Shard(count)) => {
            let mut parts = table.primary().map(|attribute| first(ty, attribute, values, None).unwrap_or_default());
            let hash = Sha256::new()
                .chain_update(parts.next().unwrap())
                .chain_update([0])
                .chain_update(parts.next().unwrap_or_default());
            let digest = hash.finalize();
            let first = digest.iter().take(8).fold(0u64, |number, byte| number << 8 | u64::from(*byte));
            vec![Some(first % count)]
        }
        Some(Part::Replica(count)) => (0..count).map(Some).collect(),
        Some(Part::Assigned) => vec![values.get(NUMBER).and_then(Value::as_u64)],
        _ => vec![None],
    }
}

/// The text of a key attribute's first template without a null field.
fn first(ty: &ItemType, attribute: &str, values: &Values, number: Option<u64>) -> Option<String> {
    if !is_met(ty, attribute, values) {
        return None;
    }
    ty.key(attribute)?.iter().find_map(|template| render(ty, template, values, number))
}

/// Whether the conditions of a key hold.
pub fn is_met(ty: &ItemType, attribute: &str, values: &Values) -> bool {
    let holds = |when: &When| match (when, values.get(when.field())) {
        (When::Equal(_, wanted), value) => value == Some(wanted),
        (When::AtLeast(_, least), value) => value.and_then(Value::as_i64).is_some_and(|value| value >= *least),
        (When::Present(_), value) => value.is_some(),
        (When::Missing(_), value) => value.is_none(),
    };
    ty.conditions.iter().filter(|(name, _)| name == attribute).all(|(_, when)| holds(when))
}

/// The text of an item's primary key without its shard or replica number. It names the item.
pub fn name(table: &Table, ty: &ItemType, values: &Values) -> Vec<String> {
    table.primary().map(|attribute| first(ty, attribute, values, None).unwrap()).collect()
}

/// The same, with the number that another program assigned: two shards may have items of one key.
pub fn place(table: &Table, ty: &ItemType, values: &Values) -> Vec<String> {
    let number = values.get(NUMBER).filter(|_| is_numbered(table, ty));
    name(table, ty, values).into_iter().chain(number.map(Value::to_string)).collect()
}

/// Every place that an item with these values may have.
pub fn places(table: &Table, ty: &ItemType, values: &Values) -> Vec<Vec<String>> {
    if !is_numbered(table, ty) {
        return vec![name(table, ty, values)];
    }
    let numbered = |number: u64| values.clone().into_iter().chain([(NUMBER.to_owned(), json!(number))]).collect();
    ASSIGNED.map(|number| place(table, ty, &numbered(number))).collect()
}

/// Whether a field has an attribute of its own. It needs none if it can always be read from the item's keys.
/// `@attribute(name:)` always gives it one.
pub fn is_kept(table: &Table, ty: &ItemType, field: &Field) -> bool {
    let holds = |templates: &[Template]| {
        let is_exact = |part: &Part| matches!(part, Part::Field(own) | Part::Padded(own, _) if *own == field.name);
        templates.iter().all(|template| is_read_back(template) && template.0.iter().any(is_exact))
    };
    let always = |attribute: &str, templates: &[Template]| {
        let there = |other: &&str| *other == field.name || ty.field(other).non_null;
        let is_conditional = ty.conditions.iter().any(|(name, _)| name == attribute);
        table.primary().any(|own| own == attribute)
            || !is_conditional && templates.iter().any(|template| template.fields().iter().all(there))
    };
    field.attribute.is_some()
        || !ty.keys.iter().any(|(attribute, templates)| holds(templates) && always(attribute, templates))
}

/// Whether fields are read back from a key: none from a key that says less of one, or in which two texts run together.
pub fn is_read_back(template: &Template) -> bool {
    let is_year = |part: &Part| matches!(part, Part::Year(_));
    let is_text = |part: &Part| matches!(part, Part::Field(_) | Part::Lower(_));
    !template.0.iter().any(is_year) && !template.0.windows(2).any(|pair| pair.iter().all(is_text))
}

/// The attribute of a constant.
pub fn constant(value: &Value) -> Value {
    match value {
        Value::Bool(boolean) => json!({ "BOOL": boolean }),
        Value::Number(number) => json!({ "N": number.to_string() }),
        other => json!({ "S": other }),
    }
}

/// The items that store these values: one, or all its replicas.
pub fn items(schema: &Schema, ty: &ItemType, values: &Values) -> Vec<Attributes> {
    let table = schema.table_of(ty);
    let mut own = Attributes::new();
    for field in &ty.fields {
        let Some(value) = values.get(&field.name) else { continue };
        if is_kept(table, ty, field)
            && let Some(attribute) = attribute(field.kind, value)
        {
            own.insert(field.attribute.clone().unwrap_or_else(|| field.name.clone()), attribute);
        }
    }
    own.extend(ty.constants.iter().map(|(name, value)| (name.clone(), constant(value))));
    let with_keys = |number: Option<u64>| {
        let mut item = own.clone();
        for (attribute, _) in &ty.keys {
            let Some(text) = first(ty, attribute, values, number) else { continue };
            let number = table.indexes.iter().any(|index| index.number && index.sort.as_ref() == Some(attribute));
            item.insert(attribute.clone(), if number { json!({ "N": text }) } else { json!({ "S": text }) });
        }
        item
    };
    numbers(table, ty, values).into_iter().map(with_keys).collect()
}

/// A value as its attribute; `None` for a set without elements.
pub fn attribute(kind: Kind, value: &Value) -> Option<Value> {
    let texts = || value.as_array().into_iter().flatten().map(|text| text.as_str().unwrap().to_owned());
    Some(match kind {
        Kind::Id | Kind::Text | Kind::Status | Kind::AwsText(_) => json!({ "S": text(kind, value) }),
        Kind::Int | Kind::Stamp => json!({ "N": value.to_string() }),
        Kind::Time(_) | Kind::TextInt => json!({ "S": text(kind, value) }),
        Kind::NumberId => json!({ "N": text(kind, value) }),
        Kind::NumberFlag => json!({ "N": if *value == json!(true) { "1" } else { "0" } }),
        Kind::Flag => json!({ "BOOL": value }),
        Kind::Set => {
            let mut elements: Vec<String> = texts().collect();
            elements.sort();
            elements.dedup();
            if elements.is_empty() {
                return None;
            }
            json!({ "SS": elements })
        }
        Kind::Log => json!({ "L": texts().map(|text| json!({ "S": text })).collect::<Vec<_>>() }),
        Kind::Part | Kind::Number => unreachable!("no field is one"),
        Kind::Tally => {
            let entry = |part: &Value| {
                let Value::Object(mut members) = part.clone() else { unreachable!("an object") };
                let key = members.remove("id").unwrap().as_str().unwrap().to_owned();
                let entry = attribute(Kind::Parts, &json!([members])).unwrap();
                (key, entry["L"][0].clone())
            };
            let map: Map<String, Value> = value.as_array().unwrap().iter().map(entry).collect();
            json!({ "M": map })
        }
        Kind::Counts => {
            let entry = |one: &Value| (one["day"].as_str().unwrap().to_owned(), json!({ "N": one["n"].to_string() }));
            let map: Map<String, Value> = value.as_array().unwrap().iter().map(entry).collect();
            json!({ "M": map })
        }
        Kind::Parts => {
            let part = |part: &Value| {
                let kind = |name: &str| if name == "count" { Kind::Int } else { Kind::Text };
                let there = part.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
                let map: Map<String, Value> =
                    there.map(|(name, value)| (name.clone(), attribute(kind(name), value).unwrap())).collect();
                json!({ "M": map })
            };
            json!({ "L": value.as_array().unwrap().iter().map(part).collect::<Vec<_>>() })
        }
    })
}

/// The guards of an item's unique values, each with its field.
pub fn guards(schema: &Schema, ty: &ItemType, values: &Values) -> Vec<(String, Attributes)> {
    let table = schema.table_of(ty);
    let number = numbers(table, ty, values)[0];
    let unique = ty.fields.iter().filter(|field| field.unique);
    unique
        .filter_map(|field| {
            let value = text(field.kind, values.get(&field.name)?);
            let mark = format!("Unique#{}.{}", ty.name, field.name);
            let mut guard = Attributes::from([(table.partition.clone(), json!({ "S": format!("{mark}#{value}") }))]);
            guard.extend(table.sort.iter().map(|sort| (sort.clone(), json!({ "S": mark }))));
            guard.extend(
                table
                    .primary()
                    .map(|own| (format!("owner{own}"), json!({ "S": first(ty, own, values, number).unwrap() }))),
            );
            Some((field.name.clone(), guard))
        })
        .collect()
}
