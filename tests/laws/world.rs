//! Choices in, a pantry out: users, groups and containers of which some are missing though links lead to them.

use crate::choices::Choices;
use crate::support;
use keyfold::execute::gateway::{Gateway, Settings};
use keyfold::schema::model::Model;
use keyfold::table::attribute::{Attribute, Item};
use keyfold::table::store::Store;
use keyfold::table::tap::Recorder;
use serde_json::Value;
use std::sync::Arc;

/// Runs a test's work.
pub fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

/// A gateway of a system on a store that holds these items, of the first table, the second and so on, and the recorder of its calls.
pub async fn gateway(model: &Arc<Model>, items: Vec<Vec<Item>>) -> (Gateway, Arc<Recorder>) {
    let recorder = Arc::new(Recorder::default());
    let store = Store::in_memory_tapped(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    for (table, items) in model.tables.iter().zip(items) {
        store.load(table, items, support::deadline()).await.unwrap();
    }
    recorder.take();
    let settings = Settings { max_aliases: 10_000, ..support::settings() };
    (Gateway::new(model.clone(), store, settings), recorder)
}

/// The data of an operation that must succeed.
pub async fn data(gateway: &Gateway, query: &str) -> Value {
    let response = support::run(gateway, &support::request(query, Value::Null), false).await;
    assert_eq!(response.get("errors"), None, "{query}");
    response["data"].clone()
}

/// An item of text attributes.
pub fn item(attributes: &[(&str, &str)]) -> Item {
    attributes.iter().map(|(name, value)| ((*name).to_owned(), Attribute::S((*value).to_owned()))).collect()
}

/// A random pantry. Users are `u0`, `u1` …, groups `g…`, containers `c…`.
pub fn pantry(choices: &mut Choices) -> Vec<Item> {
    let (users, groups, containers) = (choices.below(7), choices.below(5), choices.below(7));
    let mut items = Vec::new();
    for user in (0..users).map(|user| format!("u{user}")) {
        if !choices.once_in(3) {
            let (name, email) = (format!("name of {user}"), format!("{user}@example.com"));
            items.push(item(&[("PK", &user), ("SK", "User"), ("UserName", &name), ("EMailAddress", &email)]));
        }
        for group in (0..groups).map(|group| format!("g{group}")).filter(|_| choices.once_in(2)) {
            items.push(item(&[("PK", &user), ("SK", &format!("Group#{group}")), ("GroupId", &group)]));
        }
    }
    for group in (0..groups).map(|group| format!("g{group}")) {
        if !choices.once_in(3) {
            items.push(item(&[("PK", &group), ("SK", "Group"), ("GroupName", &format!("name \"{group}\"\n"))]));
        }
        if choices.once_in(2) {
            let hash = format!("h{group}");
            let expiry = "2026-11-20T09:30:00.000Z";
            items.push(item(&[
                ("PK", &group),
                ("SK", "InvitationLinkHash"),
                ("InvitationLinkHash", &hash),
                ("LinkExpiryDatetime", expiry),
            ]));
        }
    }
    for container in (0..containers).map(|container| format!("c{container}")) {
        if !choices.once_in(3) {
            let mut of = item(&[("PK", &container), ("SK", "Container"), ("ContainerName", &format!("Büchse {container}"))]);
            let foods = (0..choices.below(3)).map(|food| Attribute::M(self::food(food, choices)));
            of.insert("Foods".into(), Attribute::L(foods.collect()));
            items.push(of);
        }
        if groups > 0 && !choices.once_in(4) {
            let group = format!("g{}", choices.below(groups));
            items.push(item(&[("PK", &group), ("SK", &format!("Container#{container}")), ("ContainerId", &container)]));
        }
    }
    items
}

fn food(number: usize, choices: &mut Choices) -> Item {
    let (id, created) = (format!("f{number}"), format!("2026-11-20T09:30:0{number}.000Z"));
    let mut food = item(&[("FoodId", &id), ("Name", "flour"), ("Category", "dry"), ("CreatedAt", &created)]);
    if choices.once_in(2) {
        food.insert("Quantity".into(), Attribute::N(["0", "0.5", "12"][choices.below(3)].into()));
    }
    food
}
