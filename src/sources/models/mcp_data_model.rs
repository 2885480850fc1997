//! `dynamodb_data_model.json` of AWS's DynamoDB MCP server in (awslabs/mcp, DynamoDB server), its tables, items and
//! access patterns out.

use crate::sources::error::SourceError;
use crate::sources::items::delivery::Delivery;
use crate::sources::items::element::JsonElement;
use crate::sources::tables::create_table;
use serde_json::{Map, Value};

/// Whether an object is such a file.
pub fn is_data_model(members: &Map<String, Value>) -> bool {
    let tables = members.get("tables").and_then(Value::as_array);
    let first = tables.and_then(|tables| tables.first()).and_then(Value::as_object);
    first.is_some_and(create_table::is_table) && members.get("items").is_none_or(Value::is_object)
}

/// Reads the file.
pub fn read(mut members: Map<String, Value>, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let malformed = |problem: String, delivery: &Delivery<'_>| SourceError::malformed(&delivery.file, problem);
    for table in members.get("tables").and_then(Value::as_array).into_iter().flatten() {
        let Some(table) = table.as_object() else { continue };
        let described = create_table::table(table, "table").map_err(|problem| malformed(problem, delivery))?;
        delivery.receiver.table(described.table);
        described.notes.into_iter().for_each(|note| delivery.receiver.note(note));
    }
    for pattern in members.get("access_patterns").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| pattern[name].as_str().unwrap_or_default();
        let on = match (text("table"), text("index")) {
            ("", _) => String::new(),
            (table, "") => format!(" ({} on {table})", text("dynamodb_operation")),
            (table, index) => format!(" ({} on {table}, {index})", text("dynamodb_operation")),
        };
        delivery.receiver.note(format!("access pattern {}: {}{on}", text("pattern"), text("description")));
    }
    let Some(Value::Object(tables)) = members.remove("items") else { return Ok(()) };
    for (table, values) in tables {
        let Value::Array(values) = values else { continue };
        for value in values {
            let Value::Object(value) = value else { continue };
            match JsonElement::recognised(value) {
                JsonElement::Items(_, items) => {
                    for (own, item) in items {
                        delivery.members(Some(own.as_deref().unwrap_or(&table)), item)?;
                    }
                }
                JsonElement::Other(item) => delivery.members(Some(&table), item)?,
                JsonElement::Change(_) => {}
            }
        }
    }
    Ok(())
}
