//! A declared table in; the calls that create it out, for the SDK and as JSON for `aws dynamodb … --cli-input-json`.

use crate::schema::table::{Billing, Capacity, Index, KeyAttributes, Projection, Table};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::error::BuildError;
use aws_sdk_dynamodb::operation::create_table::builders::CreateTableFluentBuilder;
use aws_sdk_dynamodb::types::{self as sdk, AttributeDefinition, KeySchemaElement, ScalarAttributeType};
use serde_json::{Map, Value, json};

/// The input of CreateTable for this table (DynamoDB API reference, `CreateTable`). UpdateTimeToLive and
/// UpdateContinuousBackups set its time to live and its point-in-time recovery.
pub fn create_table_input(table: &Table) -> Value {
    let definitions = table.key_attributes();
    let definitions =
        definitions.iter().map(|key| json!({ "AttributeName": key.name, "AttributeType": key.kind.name() }));
    let mut input = Map::new();
    input.insert("TableName".into(), json!(table.name));
    input.insert("AttributeDefinitions".into(), definitions.collect());
    input.insert("KeySchema".into(), key_schema_json(table.keys_of(None)));
    for (member, local) in [("LocalSecondaryIndexes", true), ("GlobalSecondaryIndexes", false)] {
        let indexes: Vec<Value> = table.indexes.iter().filter(|index| index.local == local).map(index_json).collect();
        // DynamoDB refuses an empty list.
        if !indexes.is_empty() {
            input.insert(member.into(), Value::Array(indexes));
        }
    }
    input.insert("BillingMode".into(), json!(table.billing.mode()));
    if let Billing::Provisioned(capacity) = table.billing {
        input.insert("ProvisionedThroughput".into(), capacity_json(capacity));
    }
    if let Some(view) = table.stream {
        input.insert("StreamSpecification".into(), json!({ "StreamEnabled": true, "StreamViewType": view.name() }));
    }
    Value::Object(input)
}

/// The input of UpdateTimeToLive, if the table has items that expire (DynamoDB API reference, `UpdateTimeToLive`).
pub fn time_to_live_input(table: &Table) -> Option<Value> {
    let attribute = table.time_to_live.as_ref()?;
    Some(json!({ "TableName": table.name, "TimeToLiveSpecification": { "Enabled": true, "AttributeName": attribute } }))
}

/// The input of UpdateContinuousBackups, if the table has point-in-time recovery (DynamoDB API reference,
/// `UpdateContinuousBackups`).
pub fn continuous_backups_input(table: &Table) -> Option<Value> {
    let specification = json!({ "PointInTimeRecoveryEnabled": true });
    table
        .point_in_time_recovery
        .then(|| json!({ "TableName": table.name, "PointInTimeRecoverySpecification": specification }))
}

/// The same CreateTable as a request of the SDK.
pub(super) fn create_table(client: &Client, table: &Table) -> Result<CreateTableFluentBuilder, BuildError> {
    let mut request = client.create_table().table_name(&table.name).billing_mode(table.billing.mode().into());
    if let Billing::Provisioned(capacity) = table.billing {
        request = request.provisioned_throughput(throughput(capacity)?);
    }
    if let Some(view) = table.stream {
        let stream = sdk::StreamSpecification::builder().stream_enabled(true).stream_view_type(view.name().into());
        request = request.stream_specification(stream.build()?);
    }
    for key in table.key_attributes() {
        let definition = AttributeDefinition::builder()
            .attribute_name(&key.name)
            .attribute_type(ScalarAttributeType::from(key.kind.name()));
        request = request.attribute_definitions(definition.build()?);
    }
    request = request.set_key_schema(Some(key_schema(table.keys_of(None))?));
    for index in &table.indexes {
        let keys = Some(key_schema(index.keys())?);
        let projection = projection(&index.projection);
        if index.local {
            let local =
                sdk::LocalSecondaryIndex::builder().index_name(&index.name).set_key_schema(keys).projection(projection);
            request = request.local_secondary_indexes(local.build()?);
        } else {
            let global = sdk::GlobalSecondaryIndex::builder()
                .index_name(&index.name)
                .set_key_schema(keys)
                .projection(projection);
            let capacity = index.capacity.map(throughput).transpose()?;
            request = request.global_secondary_indexes(global.set_provisioned_throughput(capacity).build()?);
        }
    }
    Ok(request)
}

fn index_json(index: &Index) -> Value {
    let mut projection = Map::from_iter([("ProjectionType".to_owned(), json!(index.projection.name()))]);
    if let Projection::Include(names) = &index.projection {
        projection.insert("NonKeyAttributes".into(), json!(names));
    }
    let keys = key_schema_json(index.keys());
    let mut input = json!({ "IndexName": index.name, "KeySchema": keys, "Projection": projection });
    if let (Some(capacity), Some(members)) = (index.capacity, input.as_object_mut()) {
        members.insert("ProvisionedThroughput".into(), capacity_json(capacity));
    }
    input
}

fn capacity_json(capacity: Capacity) -> Value {
    json!({ "ReadCapacityUnits": capacity.read, "WriteCapacityUnits": capacity.write })
}

fn throughput(capacity: Capacity) -> Result<sdk::ProvisionedThroughput, BuildError> {
    let throughput = sdk::ProvisionedThroughput::builder().read_capacity_units(capacity.read.into());
    throughput.write_capacity_units(capacity.write.into()).build()
}

/// The attributes of the partition key come before those of the sort key (DynamoDB API reference, `KeySchema`).
fn key_schema_json(keys: KeyAttributes<'_>) -> Value {
    let partition = keys.partition.iter().map(|key| (key, "HASH"));
    let roles = partition.chain(keys.sort.iter().map(|key| (key, "RANGE")));
    roles.map(|(key, role)| json!({ "AttributeName": key.name, "KeyType": role })).collect()
}

fn key_schema(keys: KeyAttributes<'_>) -> Result<Vec<KeySchemaElement>, BuildError> {
    let partition = keys.partition.iter().map(|key| (key, sdk::KeyType::Hash));
    let roles = partition.chain(keys.sort.iter().map(|key| (key, sdk::KeyType::Range)));
    roles.map(|(key, role)| KeySchemaElement::builder().attribute_name(&key.name).key_type(role).build()).collect()
}

fn projection(declared: &Projection) -> sdk::Projection {
    let projection = sdk::Projection::builder().projection_type(declared.name().into());
    match declared {
        Projection::Include(names) => projection.set_non_key_attributes(Some(names.clone())).build(),
        Projection::All | Projection::KeysOnly => projection.build(),
    }
}
