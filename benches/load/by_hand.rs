//! The program that an expert writes by hand for the operations of the load benchmark: axum, the AWS SDK and
//! serde_json. It reads whole item collections, side by side, and gives the same bytes as Keyfold.

use super::by_hand_groups::{user_alone, user_with_groups};
use super::by_hand_reviews::users_and_top_products;
use aws_sdk_dynamodb::config::{BehaviorVersion, Config, Credentials, Region};
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use aws_sdk_dynamodb::{Client, Error};
use aws_smithy_http_client::tls::{Provider, rustls_provider::CryptoMode};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::{Router, routing::post};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// An item, as the SDK gives it.
pub type Item = HashMap<String, AttributeValue>;

/// Serves on a free port of this machine, and prints the address.
pub async fn serve(endpoint: &str) {
    let http = aws_smithy_http_client::Builder::new().tls_provider(Provider::Rustls(CryptoMode::Ring)).build_https();
    let config = Config::builder().behavior_version(BehaviorVersion::latest()).region(Region::new("us-east-1"));
    let config = config
        .endpoint_url(endpoint)
        .credentials_provider(Credentials::new("a", "b", None, None, "made up"))
        .http_client(http);
    let client = Client::from_conf(config.build());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    eprintln!("{}", listener.local_addr().unwrap());
    axum::serve(listener, Router::new().route("/graphql", post(answer)).with_state(client)).await.unwrap();
}

#[derive(Deserialize)]
struct Request {
    query: String,
    #[serde(default)]
    variables: Variables,
}

#[derive(Default, Deserialize)]
struct Variables {
    #[serde(default)]
    id: String,
}

async fn answer(State(client): State<Client>, body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Request>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let id = &request.variables.id;
    let body = if request.query.contains("topProducts") {
        users_and_top_products(&client).await
    } else if request.query.contains("groups") {
        user_with_groups(&client, id).await
    } else {
        user_alone(&client, id).await
    };
    match body {
        Ok(body) => ([(CONTENT_TYPE, "application/graphql-response+json; charset=utf-8")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// All items of a partition, page by page.
pub async fn collection(client: &Client, table: &str, partition: String) -> Result<Vec<Item>, Error> {
    let (mut items, mut start) = (Vec::new(), None);
    loop {
        let query = client.query().table_name(table).key_condition_expression("PK = :p").limit(1000);
        let query = query
            .expression_attribute_values(":p", AttributeValue::S(partition.clone()))
            .set_exclusive_start_key(start);
        let page = query.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
        items.extend(page.items.unwrap_or_default());
        start = page.last_evaluated_key;
        if start.is_none() {
            return Ok(items);
        }
    }
}

/// A text of an item.
pub fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}

/// The bytes of a response.
pub fn written(data: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Whole<D> {
        data: D,
    }
    serde_json::to_vec(&Whole { data }).unwrap()
}
