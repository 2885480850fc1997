//! Tables with their logical ids in, a CloudFormation template in JSON out (CloudFormation template reference,
//! `AWS::DynamoDB::Table`).

use crate::schema::table::Table;
use crate::table::admin::definition::create_table_input;
use serde_json::{Map, Value, json};

/// The template of these tables.
pub fn template(tables: &[(String, &Table)]) -> Value {
    let resources: Map<String, Value> = tables.iter().map(|(id, table)| (id.clone(), resource(table))).collect();
    json!({ "AWSTemplateFormatVersion": "2010-09-09", "Resources": resources })
}

/// A table is kept when its stack is deleted or another table replaces it. If creating the stack fails, its tables are
/// deleted: they are empty, and their names would block the next attempt.
fn resource(table: &Table) -> Value {
    json!({
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "RetainExceptOnCreate",
        "UpdateReplacePolicy": "Retain",
        "Properties": properties(table),
    })
}

/// The properties have the names of CreateTable's members, except the stream's; time to live and backups come in
/// addition.
fn properties(table: &Table) -> Value {
    let mut properties = create_table_input(table);
    let Some(members) = properties.as_object_mut() else { return properties };
    if let Some(view) = table.stream {
        members.insert("StreamSpecification".into(), json!({ "StreamViewType": view.name() }));
    }
    if let Some(attribute) = &table.time_to_live {
        members.insert("TimeToLiveSpecification".into(), json!({ "AttributeName": attribute, "Enabled": true }));
    }
    if table.point_in_time_recovery {
        members.insert("PointInTimeRecoverySpecification".into(), json!({ "PointInTimeRecoveryEnabled": true }));
    }
    properties
}
