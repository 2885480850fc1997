//! A model of NoSQL Workbench in (`DataModel`, also of the visualizers that write its form); its tables, items and
//! types out.

use super::one_table;
use super::template::from_alias;
use crate::schema::table::{Billing, Index, KeyAttribute, KeyType, Table};
use crate::sources::items::delivery::Delivery;
use crate::sources::items::dialect::loose_item;
use crate::sources::material::{AttributeHint, HintKind, KeyHint, TypeHint};
use crate::sources::tables::create_table::{capacity, kind_named, projection};
use serde_json::{Map, Value};

/// Whether an object is such a model.
pub fn is_model(members: &Map<String, Value>) -> bool {
    members.get("DataModel").is_some_and(Value::is_array)
}

/// Reads a model.
pub fn read(members: &Map<String, Value>, delivery: &mut Delivery<'_>) -> Result<(), String> {
    let tables = members.get("DataModel").and_then(Value::as_array).into_iter().flatten();
    for model in tables.filter_map(Value::as_object) {
        let table = table(model)?;
        let name = table.name.clone();
        delivery.receiver.table(table);
        for (list, position) in lists(model, "TableFacets").zip(1..) {
            delivery.receiver.type_hint(Some(&name), facet_hint(list, model, position));
        }
        let schema = model.get("ModelSchema").or_else(|| members.get("ModelSchema")).and_then(Value::as_object);
        if let Some(schema) = schema {
            one_table::hints(schema, &name, None, delivery);
        }
        // Many models have their items in the facets only, and others have them in both.
        let data = |from: &Map<String, Value>| lists(from, "TableData").cloned().collect::<Vec<_>>();
        let own = data(model);
        let of_facets = lists(model, "TableFacets").flat_map(data).filter(|item| !own.contains(item));
        let mut items = own.clone();
        for item in of_facets {
            if !items[own.len()..].contains(&item) {
                items.push(item);
            }
        }
        items.into_iter().for_each(|item| delivery.item(Some(&name), loose_item(item)));
    }
    Ok(())
}

/// The objects of a list.
fn lists<'v>(members: &'v Map<String, Value>, name: &str) -> impl Iterator<Item = &'v Map<String, Value>> {
    members.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn text<'v>(members: &'v Map<String, Value>, name: &str) -> Option<&'v str> {
    members.get(name).and_then(Value::as_str)
}

fn table(model: &Map<String, Value>) -> Result<Table, String> {
    let name = text(model, "TableName").ok_or("a table of the model has no TableName")?;
    let (partition, sort) = keys(model).ok_or_else(|| format!("the table {name} has no PartitionKey"))?;
    let mut table = Table::new(name, partition, sort);
    let settings = model.get("ProvisionedCapacitySettings").and_then(Value::as_object);
    let provisioned = settings.and_then(capacity).filter(|_| text(model, "BillingMode") == Some("PROVISIONED"));
    table.billing = provisioned.map_or(Billing::PayPerRequest, Billing::Provisioned);
    for (list, local) in [("GlobalSecondaryIndexes", false), ("LocalSecondaryIndexes", true)] {
        for index in lists(model, list) {
            let named = text(index, "IndexName");
            let (Some(named), Some((partition, sort))) = (named, keys(index)) else {
                return Err(format!("an index of the table {name} has no IndexName or no PartitionKey"));
            };
            table.indexes.push(Index {
                name: named.to_owned(),
                local,
                partition: vec![partition],
                sort: sort.into_iter().collect(),
                projection: projection(index.get("Projection")),
                capacity: provisioned.filter(|_| !local),
            });
        }
    }
    Ok(table)
}

fn keys(of: &Map<String, Value>) -> Option<(KeyAttribute, Option<KeyAttribute>)> {
    let attributes = of.get("KeyAttributes")?;
    let key = |name: &str| {
        let key = &attributes[name];
        let kind = key["AttributeType"].as_str().and_then(kind_named).unwrap_or(KeyType::S);
        Some(KeyAttribute { name: key["AttributeName"].as_str()?.to_owned(), kind })
    };
    Some((key("PartitionKey")?, key("SortKey")))
}

/// The type that a facet is.
fn facet_hint(facet: &Map<String, Value>, model: &Map<String, Value>, position: usize) -> TypeHint {
    let name = text(facet, "FacetName");
    let mut keys_of_facet = Vec::new();
    if let (Some((partition, sort)), Some(aliases)) = (keys(model), facet.get("KeyAttributeAlias")) {
        let mut add = |key: Option<KeyAttribute>, alias: &Value| {
            if let (Some(key), Some(alias)) = (key, alias.as_str().filter(|alias| !alias.is_empty())) {
                keys_of_facet.push(KeyHint { attribute: key.name, template: from_alias(alias) });
            }
        };
        add(Some(partition), &aliases["PartitionKeyAlias"]);
        add(sort, &aliases["SortKeyAlias"]);
    }
    let kind_of = |attribute: &str| {
        let mut all = lists(model, "NonKeyAttributes");
        all.find(|known| text(known, "AttributeName") == Some(attribute))
            .and_then(|known| kind(text(known, "AttributeType")?))
    };
    let names = facet.get("NonKeyAttributes").and_then(Value::as_array).into_iter().flatten();
    let attribute = |name: &str| AttributeHint { name: name.into(), field: None, kind: kind_of(name), required: false };
    TypeHint {
        name: name.map_or_else(|| format!("Facet{position}"), str::to_owned),
        attributes: names.filter_map(Value::as_str).map(attribute).collect(),
        keys: keys_of_facet,
        constants: Vec::new(),
    }
}

/// What an attribute's type says of its values.
fn kind(name: &str) -> Option<HintKind> {
    let set = |kind| Some(HintKind::Set(Box::new(kind)));
    match name {
        "S" => Some(HintKind::Text),
        "N" => Some(HintKind::Decimal),
        "BOOL" => Some(HintKind::Boolean),
        "M" => Some(HintKind::Any),
        "L" => Some(HintKind::List(Box::new(HintKind::Any))),
        "SS" => set(HintKind::Text),
        "NS" => set(HintKind::Decimal),
        _ => None,
    }
}
