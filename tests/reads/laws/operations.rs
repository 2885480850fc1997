//! Any valid operation on any system's items: the response is well-formed JSON in the order of the selection, no item
//! is read twice, and there are no more batches than needed.

use super::choices::Choices;
use super::selection::{Grammar, Selection, text};
use super::world::{self, block_on};
use crate::support;
use keyfold::execute::gateway::{Gateway, Response};
use keyfold::execute::request::Request;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::Item;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, LazyLock};

/// Texts that name something in one of the systems, and some unusual texts.
const TEXTS: [&str; 27] = [
    "11111111-1111-4111-8111-111111111111",
    "22222222-2222-4222-8222-222222222222",
    "33333333-3333-4333-8333-333333333333",
    "55555555-5555-4555-8555-555555555555",
    "66666666-6666-4666-8666-666666666666",
    "019c899e-9f40-7777-8777-777777777777",
    "aiko.tanaka@example.com",
    "f0dc1d0c661c49abe954679e12baa06d",
    "ann",
    "g1",
    "u1",
    "u2",
    "t1",
    "f1",
    "p1",
    "a",
    "b",
    "chess",
    "1",
    "7",
    "",
    "#",
    "a#b",
    "%23",
    "\u{10FFFF}",
    "ü\"\\\n",
    "eyJub3QiOiJhIGN1cnNvciJ9",
];

static SYSTEMS: LazyLock<Vec<(&'static str, Arc<Model>)>> =
    LazyLock::new(|| ["pantry", "workshop", "timeline"].map(|system| (system, support::unruled_model(system))).into());

/// The bytes of a response to this user.
async fn run(gateway: &Gateway, user: &str, query: &str, explain: bool) -> Vec<u8> {
    let request = Request { caller: support::caller(json!({ "sub": user })), ..support::request(query, Value::Null) };
    match gateway.prepare(&request).await {
        Ok(prepared) => gateway.run(&prepared, support::deadline(), explain).await.body.to_vec(),
        Err(errors) => Response::refused(&errors).body.to_vec(),
    }
}

/// Whether an object's keys match the selection, in its order, at every level.
fn in_order(value: &Value, set: &[Selection]) -> bool {
    match value {
        Value::Array(values) => values.iter().all(|value| in_order(value, set)),
        Value::Object(fields) if !set.is_empty() => {
            let is_meant = |on: &String| fields.get("__typename").is_some_and(|name| name == on);
            let mut seen = HashSet::new();
            let set: Vec<&Selection> = set
                .iter()
                .flat_map(|one| match &one.on {
                    None => vec![one],
                    Some(on) if is_meant(on) => one.inner.iter().collect(),
                    Some(_) => vec![],
                })
                // `__typename` may be both in the fragment and next to it; it occurs once.
                .filter(|one| seen.insert(&one.key))
                .collect();
            fields.len() == set.len()
                && fields.iter().zip(set).all(|((key, value), one)| *key == one.key && in_order(value, &one.inner))
        }
        _ => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_response_is_json_in_the_order_of_the_selection(system in 0usize..3, mut choices in Choices::any(200)) {
        let (name, model) = &SYSTEMS[system];
        let grammar = Grammar { schema: &model.api, texts: &TEXTS, without: &[], integers: -1..=30 };
        let set = grammar.operation(&mut choices, 6);
        let query = text(&set);
        let body = block_on(async {
            let (gateway, _) = support::system_of(model.clone(), name).await;
            run(&gateway, TEXTS[0], &query, false).await
        });
        let response: Value = serde_json::from_slice(&body).unwrap();
        prop_assert_eq!(response.to_string().into_bytes(), body, "a key stands twice, or a value is written oddly: {}", query);
        prop_assert!(response.get("data").is_some(), "refused: {}\n{:#}", query, response);
        prop_assert!(in_order(&response["data"], &set), "{}\n{:#}", query, response);
        for error in response["errors"].as_array().into_iter().flatten() {
            prop_assert!(error["path"].is_array() && error["extensions"]["code"] != "UNAVAILABLE", "{}\n{:#}", query, error);
        }
    }

    #[test]
    fn batches_are_full_and_no_item_is_read_twice(size in 1usize..140, mut choices in Choices::any(60)) {
        let (_, model) = &SYSTEMS[0];
        let texts = ["g", "u0", "u7"];
        let without = ["first", "last", "after", "before", "pageInfo"];
        let grammar = Grammar { schema: &model.api, texts: &texts, without: &without, integers: 1..=1 };
        let query = text(&grammar.operation(&mut choices, 6));
        let (response, calls) = block_on(async {
            let (gateway, recorder) = world::gateway(model, crowd(size)).await;
            (run(&gateway, "u0", &query, true).await, recorder.take())
        });
        let response: Value = serde_json::from_slice(&response).unwrap();
        let made = response["extensions"]["keyfold"]["calls"].as_array().unwrap();
        let mut waves: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
        for call in made.iter().filter(|call| call["operation"] != "Query") {
            let (keys, batches) = waves.entry(call["wave"].as_u64().unwrap()).or_default();
            *keys += call["keys"].as_u64().unwrap();
            *batches += 1;
        }
        for (wave, (keys, batches)) in waves {
            prop_assert!(batches <= keys.div_ceil(100), "wave {} reads {} keys by {} calls: {}", wave, keys, batches, query);
        }
        let mut seen = HashSet::new();
        for key in calls.iter().flat_map(|(operation, body)| keys(operation, body)) {
            prop_assert!(seen.insert(key.to_string()), "{} is read twice: {}", key, query);
        }
    }
}

/// The keys that a call reads, each with its table.
fn keys(operation: &str, body: &Value) -> Vec<Value> {
    match operation {
        "GetItem" => vec![json!([body["TableName"], body["Key"]])],
        "BatchGetItem" => {
            let tables = body["RequestItems"].as_object().unwrap().iter();
            tables
                .flat_map(|(table, keys)| keys["Keys"].as_array().unwrap().iter().map(move |key| json!([table, key])))
                .collect()
        }
        _ => vec![],
    }
}

/// One group `g` of this many users `u0` …, the first of whom have two groups; each has a profile and a favorite under
/// a tag.
fn crowd(size: usize) -> Vec<Vec<Item>> {
    let (mut favorites, mut posts) = (Vec::new(), Vec::new());
    let mut items = vec![
        world::item(&[("PK", "g"), ("SK", "Group"), ("GroupName", "all")]),
        world::item(&[("PK", "h"), ("SK", "Group"), ("GroupName", "few")]),
    ];
    for (position, user) in (0..size).map(|user| (user, format!("u{user}"))) {
        let email = format!("{user}@example.com");
        items.push(world::item(&[("PK", &user), ("SK", "User"), ("UserName", "somebody"), ("EMailAddress", &email)]));
        for group in if position < 3 { &["g", "h"][..] } else { &["g"] } {
            items.push(world::item(&[("PK", &user), ("SK", &format!("Group#{group}")), ("GroupId", group)]));
        }
        posts.push(world::item(&[
            ("PK", &format!("USER#{user}")),
            ("SK", &format!("#METADATA#{user}")),
            ("displayName", &user),
        ]));
        let (time, of_tag) = ("2026-11-20T09:30:00.000Z", format!("FavoriteDataTag#{user}#t"));
        let at = format!("{time}#f");
        let favorite = [
            ("pk", format!("FavoriteData#{user}")),
            ("sk", "f".into()),
            ("lsiOneSk", at.clone()),
            ("title", "a cat".into()),
        ];
        let tag = [
            ("pk", format!("Tag#{user}")),
            ("sk", "t".into()),
            ("lsiOneSk", "cats".into()),
            ("tagName", "cats".into()),
        ];
        let tagging = [
            ("pk", format!("FavoriteDataTag#{user}#f")),
            ("sk", "t".into()),
            ("gsiOnePk", of_tag),
            ("gsiOneSk", at),
            ("dataType", "link".into()),
        ];
        favorites.extend([&favorite[..], &tag, &tagging].map(|one| {
            let of = [
                ("dataType", "link"),
                ("clipTime", time),
                ("createTime", time),
                ("lastAccessTime", time),
                ("contentUrl", ""),
            ];
            world::item(
                &[&of[..], &one.iter().map(|(name, value)| (*name, value.as_str())).collect::<Vec<_>>()].concat(),
            )
        }));
    }
    vec![items, favorites, posts]
}
