//! A JSON object that is no item in; the model, template or description that it is, read into the receiver, out.

use super::error::SourceError;
use super::format::SourceFormat;
use super::items::delivery::Delivery;
use super::items::element::Members;
use super::models::{amplify, electro_db, mcp_data_model, mcp_schema, one_table, workbench};
use super::tables::create_table::DescribedTable;
use super::tables::{cloud_formation, create_table, terraform, yaml};
use serde_json::Value;
use std::path::Path;

/// What an object is; `None` if it is no known document.
pub fn format_of(members: &Members) -> Option<SourceFormat> {
    let has = |name: &str, is: fn(&Value) -> bool| members.get(name).is_some_and(is);
    if workbench::is_model(members) {
        Some(SourceFormat::Workbench)
    } else if mcp_schema::is_schema(members) {
        Some(SourceFormat::McpSchema)
    } else if mcp_data_model::is_data_model(members) {
        Some(SourceFormat::McpDataModel)
    } else if create_table::is_table(members)
        || ["Table", "TableDescription"]
            .into_iter()
            .any(|name| inner(members, name).is_some_and(create_table::is_table))
        || has("Tables", |tables| tables[0].as_object().is_some_and(create_table::is_table))
    {
        Some(SourceFormat::CreateTable)
    } else if one_table::is_schema(members) {
        // A drawing tool keeps its items beside the models.
        Some(if members.contains_key("data") { SourceFormat::Workbench } else { SourceFormat::OneTable })
    } else if electro_db::is_model(members) || electro_db::is_service(members) {
        Some(SourceFormat::ElectroDb)
    } else if cloud_formation::is_template(members) {
        Some(SourceFormat::CloudFormation)
    } else if cloud_formation::is_service(members) {
        Some(SourceFormat::Serverless)
    } else {
        None
    }
}

/// What a text that is no JSON is; `None` if it is no known document.
pub fn format_of_text(text: &str, extension: Option<&str>) -> Option<SourceFormat> {
    let begins = |word: &str| text.lines().any(|line| line.starts_with(word));
    if terraform::is_configuration(text) {
        Some(SourceFormat::Terraform)
    } else if begins("Resources:") || begins("AWSTemplateFormatVersion:") {
        Some(SourceFormat::CloudFormation)
    } else if begins("service:") && (begins("resources:") || begins("provider:")) {
        Some(SourceFormat::Serverless)
    } else if matches!(extension, Some("graphql" | "graphqls" | "gql")) || amplify::is_schema(text) {
        Some(SourceFormat::Amplify)
    } else {
        None
    }
}

/// Reads a text of this format.
pub fn read_text(format: SourceFormat, text: &str, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let file = delivery.file.clone();
    let malformed = |problem: String| SourceError::malformed(&file, problem);
    match format {
        SourceFormat::Terraform => {
            described_tables(terraform::tables(text).map_err(malformed)?, delivery);
            Ok(())
        }
        SourceFormat::Amplify => amplify::read(text, &file, delivery.receiver).map_err(malformed),
        _ => {
            let value = yaml::parse(text).map_err(|mistake| SourceError::Syntax {
                name: file.clone(),
                line: mistake.line,
                problem: mistake.problem,
            })?;
            match value {
                Value::Object(members) => read(format, members, delivery),
                _ => Err(malformed("the document is no map".into())),
            }
        }
    }
}

/// Reads an object of this format.
pub fn read(format: SourceFormat, members: Members, delivery: &mut Delivery<'_>) -> Result<(), SourceError> {
    let file = delivery.file.clone();
    let stem = stem(&file);
    let malformed = |problem: String| SourceError::malformed(&file, problem);
    match format {
        SourceFormat::Workbench if workbench::is_model(&members) => {
            workbench::read(&members, delivery).map_err(malformed)
        }
        SourceFormat::McpSchema => mcp_schema::read(members, delivery.receiver).map_err(malformed),
        SourceFormat::McpDataModel => mcp_data_model::read(members, delivery),
        SourceFormat::OneTable | SourceFormat::Workbench => {
            one_table::read(&members, &stem, delivery).map_err(malformed)
        }
        SourceFormat::ElectroDb => {
            let models = if electro_db::is_model(&members) { vec![&members] } else { electro_db::models_of(&members) };
            models
                .into_iter()
                .try_for_each(|model| electro_db::read(model, &stem, delivery.receiver))
                .map_err(malformed)
        }
        SourceFormat::CloudFormation => {
            described_tables(cloud_formation::tables(&members).map_err(malformed)?, delivery);
            Ok(())
        }
        SourceFormat::Serverless => {
            described_tables(cloud_formation::tables_of_service(&members).map_err(malformed)?, delivery);
            Ok(())
        }
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
    let described = tables.into_iter().map(|table| create_table::table(table, name));
    described_tables(described.collect::<Result<_, _>>()?, delivery);
    Ok(())
}

fn described_tables(tables: Vec<DescribedTable>, delivery: &mut Delivery<'_>) {
    if tables.is_empty() {
        delivery.receiver.note(format!("{} has no table of DynamoDB", delivery.file));
    }
    for described in tables {
        delivery.receiver.table(described.table);
        described.notes.into_iter().for_each(|note| delivery.receiver.note(note));
    }
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
