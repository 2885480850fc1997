//! A JSON object that is no item in; the model, template or description that it is, read into the receiver, out.

use super::error::SourceError;
use super::format::Format;
use super::items::delivery::Delivery;
use super::items::element::Members;
use super::models::{mcp_data_model, mcp_schema, one_table, workbench};
use super::tables::create_table;
use serde_json::Value;
use std::path::Path;

/// What an object is; `None` if it is no known document.
pub fn format_of(members: &Members) -> Option<Format> {
    let has = |name: &str, is: fn(&Value) -> bool| members.get(name).is_some_and(is);
    if workbench::is_model(members) {
        Some(Format::Workbench)
    } else if mcp_schema::is_schema(members) {
        Some(Format::McpSchema)
    } else if mcp_data_model::is_data_model(members) {
        Some(Format::McpDataModel)
    } else if create_table::is_table(members)
        || ["Table", "TableDescription"]
            .into_iter()
            .any(|name| inner(members, name).is_some_and(create_table::is_table))
        || has("Tables", |tables| tables[0].as_object().is_some_and(create_table::is_table))
    {
        Some(Format::CreateTable)
    } else if one_table::is_schema(members) {
        Some(Format::OneTable)
    } else {
        None
    }
}

/// Reads an object of this format.
pub fn read(format: Format, members: Members, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let file = delivery.file.clone();
    let stem = stem(&file);
    let malformed = |problem: String| SourceError::malformed(&file, problem);
    match format {
        Format::Workbench => workbench::read(&members, delivery).map_err(malformed),
        Format::McpSchema => mcp_schema::read(members, delivery.receiver).map_err(malformed),
        Format::McpDataModel => mcp_data_model::read(members, delivery),
        Format::OneTable => one_table::read(&members, &stem, delivery).map_err(malformed),
        _ => described(&members, &stem, delivery).map_err(malformed),
    }
}

/// Tables as the API describes them.
fn described(members: &Members, name: &str, delivery: &mut Delivery<'_>) -> Result<(), String> {
    let listed = members.get("Tables").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
    let alone = || inner(members, "Table").or_else(|| inner(members, "TableDescription")).unwrap_or(members);
    let mut tables: Vec<&Members> = listed.collect();
    if tables.is_empty() {
        tables.push(alone());
    }
    for table in tables {
        let described = create_table::table(table, name)?;
        delivery.receiver.table(described.table);
        described.notes.into_iter().for_each(|note| delivery.receiver.note(note));
    }
    Ok(())
}

fn inner<'m>(members: &'m Members, name: &str) -> Option<&'m Members> {
    members.get(name).and_then(Value::as_object)
}

/// A name for a table of a file that names none.
fn stem(file: &str) -> String {
    let name = Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file);
    let stem = name.split('.').next().unwrap_or(name);
    let usual = |letter: char| if letter.is_ascii_alphanumeric() || "_-".contains(letter) { letter } else { '-' };
    stem.chars().map(usual).collect()
}
