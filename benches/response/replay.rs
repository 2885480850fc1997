//! Recorded calls in; the same calls, made again by the AWS SDK alone, out.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{
    BehaviorVersion, Config, Credentials, HttpClient, Region, StalledStreamProtectionConfig,
};
use aws_sdk_dynamodb::operation::batch_get_item::builders::BatchGetItemFluentBuilder;
use aws_sdk_dynamodb::operation::get_item::builders::GetItemFluentBuilder;
use aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, ReturnConsumedCapacity};
use futures_util::future::join_all;
use serde_json::Value;
use std::collections::HashMap;
use std::hint::black_box;
use std::time::Duration;

/// Calls that are ready to be made.
pub struct Replay {
    calls: Vec<Call>,
}

enum Call {
    Get(Box<GetItemFluentBuilder>),
    Batch(Box<BatchGetItemFluentBuilder>),
    Query(Box<QueryFluentBuilder>),
}

impl Replay {
    /// The recorded calls, operation and body, to be sent by this HTTP client.
    pub fn new(http: impl HttpClient + 'static, heard: &[(String, Value)]) -> Self {
        let client = client(http);
        Self { calls: heard.iter().map(|(operation, body)| call(&client, operation, body)).collect() }
    }

    /// Makes the calls concurrently.
    pub async fn run(&self) {
        join_all(self.calls.iter().map(|call| async move {
            match call {
                Call::Get(call) => drop(black_box((**call).clone().send().await.unwrap())),
                Call::Batch(call) => drop(black_box((**call).clone().send().await.unwrap())),
                Call::Query(call) => drop(black_box((**call).clone().send().await.unwrap())),
            }
        }))
        .await;
    }
}

/// A client with the same settings as the gateway's.
fn client(http: impl HttpClient + 'static) -> Client {
    let limits = TimeoutConfig::builder().connect_timeout(Duration::from_secs(2)).read_timeout(Duration::from_secs(5));
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new("us-east-1"));
    let config = config
        .endpoint_url("http://localhost:8000")
        .credentials_provider(Credentials::new("a", "b", None, None, "made up"));
    let config = config.timeout_config(limits.build()).retry_config(RetryConfig::disabled()).http_client(http);
    Client::from_conf(config.stalled_stream_protection(StalledStreamProtectionConfig::disabled()).build())
}

fn call(client: &Client, operation: &str, body: &Value) -> Call {
    let table = text(&body["TableName"]);
    let names = names(&body["ExpressionAttributeNames"]);
    let capacity = ReturnConsumedCapacity::Total;
    match operation {
        "GetItem" => {
            let call = client.get_item().set_table_name(table).set_key(Some(attributes(&body["Key"])));
            let call = call
                .set_projection_expression(text(&body["ProjectionExpression"]))
                .set_expression_attribute_names(names);
            Call::Get(Box::new(call.return_consumed_capacity(capacity)))
        }
        "Query" => {
            let call = client
                .query()
                .set_table_name(table)
                .set_key_condition_expression(text(&body["KeyConditionExpression"]));
            let call = call
                .set_projection_expression(text(&body["ProjectionExpression"]))
                .set_expression_attribute_names(names);
            let call = call.set_expression_attribute_values(Some(attributes(&body["ExpressionAttributeValues"])));
            Call::Query(Box::new(
                call.set_limit(body["Limit"].as_i64().map(|limit| limit as i32)).return_consumed_capacity(capacity),
            ))
        }
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().unwrap().iter();
            let requests = tables.map(|(table, wanted)| (table.clone(), keys_and_attributes(wanted)));
            Call::Batch(Box::new(
                client.batch_get_item().set_request_items(Some(requests.collect())).return_consumed_capacity(capacity),
            ))
        }
        other => panic!("no bench makes a {other}"),
    }
}

fn keys_and_attributes(wanted: &Value) -> KeysAndAttributes {
    let keys = wanted["Keys"].as_array().unwrap().iter().map(attributes).collect();
    let request = KeysAndAttributes::builder().set_keys(Some(keys));
    let request = request.set_projection_expression(text(&wanted["ProjectionExpression"]));
    request.set_expression_attribute_names(names(&wanted["ExpressionAttributeNames"])).build().unwrap()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn names(value: &Value) -> Option<HashMap<String, String>> {
    Some(value.as_object()?.iter().map(|(name, value)| (name.clone(), text(value).unwrap())).collect())
}

/// All keys here are texts.
fn attributes(value: &Value) -> HashMap<String, AttributeValue> {
    value
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (name.clone(), AttributeValue::S(text(&value["S"]).unwrap())))
        .collect()
}
