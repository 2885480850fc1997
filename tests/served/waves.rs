//! The cost of operations, as `X-Keyfold-Explain` reports it.

use super::large::large;
use super::server::{Answer, Behind, Server, samples};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The strings at the ends of a path through objects and lists.
fn all<'a>(value: &'a Value, path: &[&str]) -> Vec<&'a str> {
    match (value, path) {
        (Value::Array(values), path) => values.iter().flat_map(|value| all(value, path)).collect(),
        (value, [name, rest @ ..]) => all(&value[name], rest),
        (value, []) => vec![value.as_str().unwrap()],
    }
}

fn number_of_calls(answer: &Answer) -> usize {
    answer.explained()["calls"].as_array().unwrap().len()
}

pub async fn three_waves_and_six_calls(behind: Behind) {
    let items = large();
    let server = Server::start_unruled(behind, items.path());
    let query = |size: &str| {
        format!(
            "query($group: ID!, $id: ID!) {{ group(id: $group) {{ container(containerId: $id) {{ name group {{
               name users{size} {{ nodes {{ name }} }} containers{size} {{ nodes {{ name foods {{ name quantity }} }} }} }} }} }} }}"
        )
    };
    // The default page of the schema: 50 of each. The first wave read one of the containers.
    let answer = server.ask(&query(""), json!({"group": "g", "id": "c042"})).await;
    let group = &answer.data()["group"]["container"]["group"];
    assert_eq!(
        (all(group, &["users", "nodes", "name"]).len(), all(group, &["containers", "nodes", "foods", "name"]).len()),
        (50, 5000)
    );
    assert_eq!(answer.explained()["waves"], 3);
    assert_eq!(number_of_calls(&answer), 5, "{:#}", answer.explained());
    assert_eq!(answer.calls("BatchGetItem"), [(1, 2, 2), (3, 99, 99)], "the group with the container, then the rest");

    // All containers: one more batch, and no more waves.
    let answer = server.ask(&query("(first: 100)"), json!({"group": "g", "id": "c042"})).await;
    let group = &answer.data()["group"]["container"]["group"];
    assert_eq!(all(group, &["users", "nodes", "name"]).iter().collect::<BTreeSet<_>>().len(), 100);
    assert_eq!(all(group, &["containers", "nodes", "foods", "name"]).len(), 10_000);
    assert_eq!((&answer.explained()["waves"], number_of_calls(&answer)), (&json!(3), 6));
    assert_eq!(answer.calls("BatchGetItem"), [(1, 2, 2), (3, 100, 100), (3, 99, 99)]);

    // The same number with one food or none: the number of calls depends only on the operation.
    let answer = server.ask(&query(""), json!({"group": "h7", "id": "d007"})).await;
    assert_eq!(number_of_calls(&answer), 5);
}

pub async fn a_deep_query_reads_each_key_and_asks_each_question_once(behind: Behind) {
    let items = large();
    let server = Server::start_unruled(behind, items.path());
    let query = r#"{ group(id: "g") { users(first: 50) { nodes { name groups { nodes { name containers(first: 15) { nodes { id foods { name } } } } } } } } }"#;
    let answer = server.ask(query, json!({})).await;
    let users = &answer.data()["group"]["users"]["nodes"];
    let distinct = |path: &[&str]| all(users, path).into_iter().collect::<BTreeSet<_>>().len() as u64;
    let user_count = users.as_array().unwrap().len() as u64;
    let groups = distinct(&["groups", "nodes", "name"]);
    let containers = distinct(&["groups", "nodes", "containers", "nodes", "id"]);
    assert_eq!((user_count, all(users, &["groups", "nodes", "name"]).len()), (50, 100));

    // One Query for the group's users, one for each user's groups, one for each group's containers, however often a
    // group occurs.
    let queries = answer.calls("Query");
    assert_eq!(queries.len() as u64, 1 + user_count + groups, "{queries:?}");
    // Each distinct key once: the group, its users, their groups (of which one is the group itself), the containers.
    let batches = answer.calls("BatchGetItem");
    let gets = answer.calls("GetItem");
    let keys: u64 = batches.iter().chain(&gets).map(|(_, keys, _)| keys).sum();
    assert_eq!(keys, user_count + groups + containers, "{batches:?} {gets:?}");
    // No wave has more batches than its keys need.
    for wave in 1..=answer.explained()["waves"].as_u64().unwrap() {
        let sizes: Vec<u64> = batches.iter().filter(|call| call.0 == wave).map(|(_, keys, _)| *keys).collect();
        assert_eq!(sizes.len() as u64, sizes.iter().sum::<u64>().div_ceil(100), "wave {wave}: {sizes:?}");
    }
    assert_eq!(answer.explained()["waves"], 4);

    // The same field under two aliases is read once.
    let aliases =
        r#"{ a: group(id: "g") { users { nodes { name } } } b: group(id: "g") { users { nodes { name } } } }"#;
    let answer = server.ask(aliases, json!({})).await;
    assert_eq!(answer.data()["a"], answer.data()["b"]);
    assert_eq!(
        (answer.calls("Query").len(), answer.calls("GetItem").len(), answer.calls("BatchGetItem").len()),
        (1, 1, 1)
    );
}

pub async fn people_in_three_tables_cost_a_batch_a_wave(behind: Behind) {
    let server = Server::start_unruled(behind, &samples());
    let query = r#"{ group(id: "a3ac740d-87eb-431e-a135-e5dfae920e36") { users(first: 20) { nodes {
        name profile { displayName } tags { name }
        favorites(first: 2) { nodes { id title tags { name } creator { name } } }
        posts(first: 2) { nodes { id title comments(first: 3) { nodes { text author { name profile { displayName } } } } } }
    } } } }"#;
    let answer = server.ask(query, json!({})).await;
    let users = &answer.data()["group"]["users"]["nodes"];
    let favorites = all(users, &["favorites", "nodes", "id"]).len();
    let posts = all(users, &["posts", "nodes", "id"]).len();
    assert!(
        users.as_array().unwrap().len() == 20 && favorites > 20 && posts > 15,
        "{favorites} favorites and {posts} posts"
    );

    // A Query for each list, because DynamoDB has no batched Query: the members, each user's tags, favorites and posts,
    // and their lists.
    assert_eq!(answer.calls("Query").len(), 1 + 3 * 20 + favorites + posts);
    // The Gets of a wave are one call, whatever their tables: users with their profiles, then creators with tags, then
    // authors.
    assert_eq!((&answer.explained()["waves"], answer.calls("GetItem").len()), (&json!(4), 1));
    let waves: Vec<u64> = answer.calls("BatchGetItem").iter().map(|(wave, ..)| *wave).collect();
    assert_eq!(waves, [2, 3, 4], "{:#}", answer.explained());
}

pub async fn an_explanation_tells_plan_calls_and_capacity(behind: Behind) {
    let server = Server::start(behind, &samples());
    let query = r#"{ userByEmail(email: "aiko.tanaka@example.com") { name groups { nodes { name } } } }"#;
    let answer = server.ask(query, json!({})).await;
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(answer.explained()), ["plan", "waves", "calls", "capacity", "dollarsAMillion", "atMost", "price"]);
    assert_eq!(keys(&answer.explained()["capacity"]), ["read", "write"]);
    let calls = answer.explained()["calls"].as_array().unwrap();
    assert!(!calls.is_empty());
    for call in calls {
        assert_eq!(keys(call), ["operation", "table", "index", "keys", "items", "capacity", "ms", "start", "wave"]);
        assert!(
            call["ms"].as_f64().unwrap() > 0.0
                && call["start"].as_f64().unwrap() >= 0.0
                && call["capacity"].as_f64().unwrap() > 0.0,
            "{call}"
        );
    }
    assert_eq!(calls[0]["index"], "EMailAndUserIdRelationship");
    assert!(calls[1..].iter().all(|call| call["index"].is_null()), "{calls:?}");
    let read: f64 = calls.iter().map(|call| call["capacity"].as_f64().unwrap()).sum();
    assert_eq!(
        (&answer.explained()["capacity"]["read"], &answer.explained()["capacity"]["write"]),
        (&json!(read), &json!(0.0))
    );

    let plain = server.send(json!({ "query": query }).to_string().into_bytes(), false).await;
    assert_eq!(keys(&plain.body), ["data"]);
}
