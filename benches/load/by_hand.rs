//! The program that an expert writes by hand for the two operations of the load benchmark: axum, the AWS SDK and
//! serde_json. It reads whole item collections, side by side, and gives the same bytes as Keyfold.

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
use futures_util::future::try_join_all;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

type Item = HashMap<String, AttributeValue>;

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
    variables: Variables,
}

#[derive(Deserialize)]
struct Variables {
    id: String,
}

#[derive(Serialize)]
struct User<'i> {
    id: &'i str,
    name: &'i str,
    groups: Vec<Group<'i>>,
}

#[derive(Serialize)]
struct Group<'i> {
    id: &'i str,
    name: &'i str,
    users: Vec<Named<'i>>,
    containers: Vec<Container<'i>>,
}

#[derive(Serialize)]
struct Container<'i> {
    id: &'i str,
    name: &'i str,
    foods: Vec<Food<'i>>,
}

#[derive(Serialize)]
struct Named<'i> {
    id: &'i str,
    name: &'i str,
}

#[derive(Serialize)]
struct Food<'i> {
    id: &'i str,
    name: &'i str,
    quantity: serde_json::Number,
    expiry: &'i str,
}

async fn answer(State(client): State<Client>, body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Request>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let id = &request.variables.id;
    let body = if request.query.contains("groups") {
        user_with_groups(&client, id).await
    } else {
        user_alone(&client, id).await
    };
    match body {
        Ok(body) => ([(CONTENT_TYPE, "application/graphql-response+json; charset=utf-8")], body).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

async fn user_alone(client: &Client, id: &str) -> Result<Vec<u8>, Error> {
    let (partition, sort) = (AttributeValue::S(format!("USER#{id}")), AttributeValue::S("PROFILE".to_owned()));
    let got = client.get_item().table_name("App").key("PK", partition).key("SK", sort);
    let got = got.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
    let user = got.item.as_ref().map(|item| Named { id: text(item, "id"), name: text(item, "name") });
    Ok(written(&user))
}

/// 16 calls: the collections of the user, of each group and of each container.
async fn user_with_groups(client: &Client, id: &str) -> Result<Vec<u8>, Error> {
    let own = collection(client, "USER#", id).await?;
    let groups: Vec<&Item> = own.iter().filter(|item| text(item, "SK").starts_with("GROUP#")).collect();
    let of_groups = try_join_all(groups.iter().map(async |group| {
        let members = collection(client, "GROUP#", text(group, "id")).await?;
        let containers = members.iter().filter(|item| text(item, "SK").starts_with("CONT#"));
        let foods =
            try_join_all(containers.map(|container| collection(client, "CONT#", text(container, "id")))).await?;
        Ok::<_, Error>((members, foods))
    }))
    .await?;
    let user = own.iter().find(|item| text(item, "SK") == "PROFILE").map(|user| User {
        id: text(user, "id"),
        name: text(user, "name"),
        groups: groups
            .iter()
            .zip(&of_groups)
            .map(|(group, (members, foods))| written_group(group, members, foods))
            .collect(),
    });
    Ok(written(&user))
}

fn written_group<'i>(group: &'i Item, members: &'i [Item], foods: &'i [Vec<Item>]) -> Group<'i> {
    let of = |beginning: &'static str| members.iter().filter(move |item| text(item, "SK").starts_with(beginning));
    let food = |item: &'i Item| Food {
        id: text(item, "id"),
        name: text(item, "name"),
        quantity: item.get("quantity").and_then(|value| value.as_n().ok()?.parse().ok()).unwrap_or_else(|| 0.into()),
        expiry: text(item, "expiry"),
    };
    let containers = of("CONT#").zip(foods).map(|(item, foods)| Container {
        id: text(item, "id"),
        name: text(item, "name"),
        foods: foods.iter().map(food).collect(),
    });
    Group {
        id: text(group, "id"),
        name: text(group, "name"),
        users: of("USER#").map(|item| Named { id: text(item, "id"), name: text(item, "name") }).collect(),
        containers: containers.collect(),
    }
}

/// All items of a partition, page by page.
async fn collection(client: &Client, kind: &str, id: &str) -> Result<Vec<Item>, Error> {
    let (mut items, mut start) = (Vec::new(), None);
    loop {
        let query = client.query().table_name("App").key_condition_expression("PK = :p").limit(1000);
        let query = query
            .expression_attribute_values(":p", AttributeValue::S(format!("{kind}{id}")))
            .set_exclusive_start_key(start);
        let page = query.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
        items.extend(page.items.unwrap_or_default());
        start = page.last_evaluated_key;
        if start.is_none() {
            return Ok(items);
        }
    }
}

fn text<'i>(item: &'i Item, name: &str) -> &'i str {
    item.get(name).and_then(|value| value.as_s().ok()).map_or("", String::as_str)
}

fn written(user: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Data<U> {
        user: U,
    }
    #[derive(Serialize)]
    struct Whole<U> {
        data: Data<U>,
    }
    serde_json::to_vec(&Whole { data: Data { user } }).unwrap()
}
