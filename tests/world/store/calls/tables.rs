//! CreateTable, DeleteTable, DescribeTable, ListTables, UpdateTimeToLive and DescribeTimeToLive (API reference).

use crate::store::data::definition::Definition;
use crate::store::data::table::Table;
use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use serde_json::{Value, json};

pub fn create_table(state: &mut State, input: &Value, moment: &Moment<'_>) -> Answer<Value> {
    let definition = Definition::parse(input)?;
    if state.tables.contains_key(&definition.name) {
        let message = format!("Table already exists: {}", definition.name);
        return Err(ModelError::new("ResourceInUseException", message));
    }
    let table = Table::new(definition, moment.now);
    let description = description(&table);
    state.tables.insert(table.definition.name.clone(), table);
    Ok(json!({ "TableDescription": description }))
}

pub fn delete_table(state: &mut State, request: Request<'_>) -> Answer<Value> {
    let name = name(request)?;
    let description = description(state.table(name)?);
    state.tables.remove(name);
    Ok(json!({ "TableDescription": description }))
}

pub fn describe_table(state: &State, request: Request<'_>) -> Answer<Value> {
    Ok(json!({ "Table": description(state.table(name(request)?)?) }))
}

pub fn list_tables(state: &State, request: Request<'_>) -> Answer<Value> {
    let (after, limit) = (request.text("ExclusiveStartTableName")?, request.count("Limit")?.unwrap_or(100));
    let names: Vec<&String> =
        state.tables.keys().filter(|name| after.is_none_or(|after| name.as_str() > after)).collect();
    let page = &names[..names.len().min(limit)];
    let mut answer = json!({ "TableNames": page });
    if page.len() < names.len() {
        answer["LastEvaluatedTableName"] = json!(page.last());
    }
    Ok(answer)
}

pub fn update_time_to_live(state: &mut State, request: Request<'_>) -> Answer<Value> {
    let specification = request.need("TimeToLiveSpecification")?;
    let given = Request::new(specification)?;
    let (attribute, is_on) = (given.text("AttributeName")?.unwrap_or_default().to_owned(), given.flag("Enabled")?);
    let table = state.table_mut(name(request)?)?;
    if table.time_to_live.is_some() == is_on {
        let word = if is_on { "enabled" } else { "disabled" };
        return Err(ModelError::invalid(format!("TimeToLive is already {word}")));
    }
    table.time_to_live = is_on.then_some(attribute);
    Ok(json!({ "TimeToLiveSpecification": specification }))
}

pub fn describe_time_to_live(state: &State, request: Request<'_>) -> Answer<Value> {
    Ok(json!({ "TimeToLiveDescription": match &state.table(name(request)?)?.time_to_live {
        Some(attribute) => json!({ "TimeToLiveStatus": "ENABLED", "AttributeName": attribute }),
        None => json!({ "TimeToLiveStatus": "DISABLED" }),
    }}))
}

fn name(request: Request<'_>) -> Answer<&str> {
    Ok(request.need("TableName")?.as_str().unwrap_or_default())
}

fn description(table: &Table) -> Value {
    let Definition { name, input, .. } = &table.definition;
    let arn = format!("arn:aws:dynamodb:local:000000000000:table/{name}");
    let mut description = json!({
        "TableName": name,
        "TableArn": arn,
        "TableStatus": "ACTIVE",
        "KeySchema": input["KeySchema"],
        "AttributeDefinitions": input["AttributeDefinitions"],
        "BillingModeSummary": { "BillingMode": input["BillingMode"] },
    });
    for (member, is_global) in [("GlobalSecondaryIndexes", true), ("LocalSecondaryIndexes", false)] {
        let Some(indexes) = input[member].as_array() else { continue };
        let described = indexes.iter().map(|index| {
            let mut index = index.clone();
            index["IndexArn"] = json!(format!("{arn}/index/{}", index["IndexName"].as_str().unwrap_or_default()));
            if is_global {
                index["IndexStatus"] = json!("ACTIVE");
            }
            index
        });
        description[member] = described.collect();
    }
    if let Some(stream) = &table.stream {
        description["StreamSpecification"] = input["StreamSpecification"].clone();
        description["LatestStreamArn"] = json!(stream.arn);
        description["LatestStreamLabel"] = json!(stream.label);
    }
    description
}
