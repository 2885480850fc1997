//! The program that an expert writes by hand for a user and for a user's groups.

use super::by_hand::{Item, collection, text, written};
use aws_sdk_dynamodb::types::{AttributeValue, ReturnConsumedCapacity};
use aws_sdk_dynamodb::{Client, Error};
use futures_util::future::try_join_all;
use serde::Serialize;

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

/// The response with one object.
pub async fn user_alone(client: &Client, id: &str) -> Result<Vec<u8>, Error> {
    let (partition, sort) = (AttributeValue::S(format!("USER#{id}")), AttributeValue::S("PROFILE".to_owned()));
    let got = client.get_item().table_name("App").key("PK", partition).key("SK", sort);
    let got = got.return_consumed_capacity(ReturnConsumedCapacity::Total).send().await?;
    let user = got.item.as_ref().map(|item| Named { id: text(item, "id"), name: text(item, "name") });
    Ok(written_user(&user))
}

/// The response with 100 objects. 16 calls: the collections of the user, of each group and of each container.
pub async fn user_with_groups(client: &Client, id: &str) -> Result<Vec<u8>, Error> {
    let own = collection(client, "App", format!("USER#{id}")).await?;
    let groups: Vec<&Item> = own.iter().filter(|item| text(item, "SK").starts_with("GROUP#")).collect();
    let of_groups = try_join_all(groups.iter().map(async |group| {
        let members = collection(client, "App", format!("GROUP#{}", text(group, "id"))).await?;
        let containers = members.iter().filter(|item| text(item, "SK").starts_with("CONT#"));
        let foods = try_join_all(
            containers.map(|container| collection(client, "App", format!("CONT#{}", text(container, "id")))),
        )
        .await?;
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
    Ok(written_user(&user))
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

fn written_user(user: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct Data<U> {
        user: U,
    }
    written(&Data { user })
}
