//! A declared table in; its CreateTable call out, for the SDK and as JSON for `aws dynamodb create-table --cli-input-json`.

use crate::schema::table::{Index, KeyAttribute, KeyType, Projection, Table};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{self as sdk, AttributeDefinition, BillingMode, KeySchemaElement, ProjectionType, ScalarAttributeType};
use serde_json::{Map, Value, json};

/// The input of CreateTable for this table, billed by request (DynamoDB API reference, `CreateTable`). Its time to live is a call of its
/// own, UpdateTimeToLive, and not in it.
pub fn create_table_input(table: &Table) -> Value {
    let definitions = table.key_attributes();
    let definitions = definitions.iter().map(|key| json!({ "AttributeName": key.name, "AttributeType": type_name(key.kind) }));
    let mut input = Map::new();
    input.insert("TableName".into(), json!(table.name));
    input.insert("AttributeDefinitions".into(), definitions.collect());
    input.insert("KeySchema".into(), key_schema_json(&table.partition, table.sort.as_ref()));
    for (member, local) in [("LocalSecondaryIndexes", true), ("GlobalSecondaryIndexes", false)] {
        let indexes: Vec<Value> = table.indexes.iter().filter(|index| index.local == local).map(index_json).collect();
        // An empty list is refused.
        if !indexes.is_empty() {
            input.insert(member.into(), Value::Array(indexes));
        }
    }
    input.insert("BillingMode".into(), json!("PAY_PER_REQUEST"));
    Value::Object(input)
}

/// The same call, ready to be sent by the SDK.
pub(super) fn create_table(client: &Client, table: &Table) -> Result<CreateTableFluentBuilder, BuildError> {
    let mut request = client.create_table().table_name(&table.name).billing_mode(BillingMode::PayPerRequest);
    for key in table.key_attributes() {
        let definition = AttributeDefinition::builder().attribute_name(&key.name).attribute_type(scalar_type(key.kind));
        request = request.attribute_definitions(definition.build()?);
    }
    request = request.set_key_schema(Some(key_schema(&table.partition, table.sort.as_ref())?));
    for index in &table.indexes {
        let keys = Some(key_schema(&index.partition, index.sort.as_ref())?);
        let projection = projection(&index.projection);
        if index.local {
            let local = sdk::LocalSecondaryIndex::builder().index_name(&index.name).set_key_schema(keys).projection(projection);
            request = request.local_secondary_indexes(local.build()?);
        } else {
            let global = sdk::GlobalSecondaryIndex::builder().index_name(&index.name).set_key_schema(keys).projection(projection);
            request = request.global_secondary_indexes(global.build()?);
        }
    }
    Ok(request)
}

/// The type of a key attribute as DynamoDB names it.
pub(super) fn type_name(kind: KeyType) -> &'static str {
    match kind {
        KeyType::S => "S",
        KeyType::N => "N",
        KeyType::B => "B",
    }
}

fn scalar_type(kind: KeyType) -> ScalarAttributeType {
    match kind {
        KeyType::S => ScalarAttributeType::S,
        KeyType::N => ScalarAttributeType::N,
        KeyType::B => ScalarAttributeType::B,
    }
}

fn index_json(index: &Index) -> Value {
    let projection = match &index.projection {
        Projection::All => json!({ "ProjectionType": "ALL" }),
        Projection::KeysOnly => json!({ "ProjectionType": "KEYS_ONLY" }),
        Projection::Include(names) => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names }),
    };
    let keys = key_schema_json(&index.partition, index.sort.as_ref());
    json!({ "IndexName": index.name, "KeySchema": keys, "Projection": projection })
}

fn key_schema_json(partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Value {
    let roles = std::iter::once((partition, "HASH")).chain(sort.map(|sort| (sort, "RANGE")));
    roles.map(|(key, role)| json!({ "AttributeName": key.name, "KeyType": role })).collect()
}

fn key_schema(partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Result<Vec<KeySchemaElement>, BuildError> {
    let roles = std::iter::once((partition, sdk::KeyType::Hash)).chain(sort.map(|sort| (sort, sdk::KeyType::Range)));
    roles.map(|(key, role)| KeySchemaElement::builder().attribute_name(&key.name).key_type(role).build()).collect()
}

fn projection(declared: &Projection) -> sdk::Projection {
    let projection = sdk::Projection::builder();
    match declared {
        Projection::All => projection.projection_type(ProjectionType::All).build(),
        Projection::KeysOnly => projection.projection_type(ProjectionType::KeysOnly).build(),
        Projection::Include(names) => {
            projection.projection_type(ProjectionType::Include).set_non_key_attributes(Some(names.clone())).build()
        }
    }
}
