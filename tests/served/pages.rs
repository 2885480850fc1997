//! Pages of connections, from both ends, and the cursors between them.

use super::large::large;
use super::server::{Answer, Behind, Server, samples};
use serde_json::{Value, json};

const FLAT: &str = "22222222-2222-4222-8222-222222222222";

async fn users(server: &Server, group: &str, arguments: &str) -> Answer {
    let page =
        "nodes { id } edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";
    server
        .ask(
            &format!("query($group: ID!) {{ group(id: $group) {{ users({arguments}) {{ {page} }} }} }}"),
            json!({"group": group}),
        )
        .await
}

fn ids(page: &Value) -> Vec<String> {
    page["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned()).collect()
}

pub async fn page_by_page_is_all_at_once(behind: Behind) {
    let items = large();
    let server = Server::start_unruled(behind, items.path());
    let whole = users(&server, "g", "first: 1000").await;
    let whole = ids(&whole.data()["group"]["users"]);
    assert_eq!(whole.len(), 100);

    let (mut forward, mut arguments) = (Vec::new(), "first: 7".to_owned());
    loop {
        let answer = users(&server, "g", &arguments).await;
        let page = &answer.data()["group"]["users"];
        assert_eq!(page["pageInfo"]["hasPreviousPage"], !forward.is_empty());
        forward.extend(ids(page));
        if page["pageInfo"]["hasNextPage"] == false {
            break;
        }
        arguments = format!("first: 7, after: {}", page["pageInfo"]["endCursor"]);
    }
    assert_eq!(forward, whole);

    let (mut backward, mut arguments) = (Vec::new(), "last: 9".to_owned());
    loop {
        let answer = users(&server, "g", &arguments).await;
        let page = &answer.data()["group"]["users"];
        backward.splice(0..0, ids(page));
        if page["pageInfo"]["hasPreviousPage"] == false {
            break;
        }
        arguments = format!("last: 9, before: {}", page["pageInfo"]["startCursor"]);
    }
    assert_eq!(backward, whole);

    // The list continues from every edge.
    let answer = users(&server, "g", "first: 5").await;
    let third = &answer.data()["group"]["users"]["edges"][2];
    assert_eq!(third["node"]["id"], json!(whole[2]));
    let answer = users(&server, "g", &format!("first: 2, after: {}", third["cursor"])).await;
    assert_eq!(ids(&answer.data()["group"]["users"]), whole[3..5]);
}

pub async fn a_cursor_is_good_where_it_came_from(behind: Behind) {
    let server = Server::start(behind, &samples());
    let query = "query($id: ID!) { group(id: $id) { users(first: 1) { pageInfo { endCursor } } containers(first: 1) { pageInfo { endCursor } } } }";
    let answer = server.ask(query, json!({ "id": FLAT })).await;
    let of = |field: &str| answer.data()["group"][field]["pageInfo"]["endCursor"].as_str().unwrap().to_owned();
    let (users_cursor, containers_cursor) = (of("users"), of("containers"));
    let last = users_cursor.chars().last().unwrap();
    let changed = format!("{}{}", &users_cursor[..users_cursor.len() - 1], if last == 'A' { 'B' } else { 'A' });

    assert_eq!(
        ids(&users(&server, FLAT, &format!("first: 5, after: \"{users_cursor}\"")).await.data()["group"]["users"])
            .len(),
        2
    );
    let long = "A".repeat(100_000);
    for wrong in [containers_cursor.as_str(), &changed, "", "junk", "🥑", &long] {
        let answer = users(&server, FLAT, &format!("first: 5, after: \"{wrong}\"")).await;
        assert_eq!(answer.error(), (200, "BAD_USER_INPUT", &json!(["group", "users"])), "{:.80}", wrong);
    }
    let elsewhere = users(&server, "another group", &format!("first: 5, after: \"{users_cursor}\"")).await;
    assert_eq!(elsewhere.data()["group"], Value::Null);
}

pub async fn sizes_have_their_bounds(behind: Behind) {
    let server = Server::start(behind, &samples());
    let empty = users(&server, FLAT, "first: 0").await;
    assert_eq!(ids(&empty.data()["group"]["users"]).len(), 0);
    assert_eq!(ids(&users(&server, FLAT, "first: 1000").await.data()["group"]["users"]).len(), 3);
    assert_eq!(ids(&users(&server, FLAT, "first: null").await.data()["group"]["users"]).len(), 3);
    for wrong in
        ["first: -1", "first: 1001", "first: 2147483647", "last: -1", "first: 1, last: 1", "last: 1, after: \"x\""]
    {
        assert_eq!(
            users(&server, FLAT, wrong).await.error(),
            (200, "BAD_USER_INPUT", &json!(["group", "users"])),
            "{wrong}"
        );
    }
    assert_eq!(users(&server, FLAT, "first: 2147483648").await.error().1, "GRAPHQL_VALIDATION_FAILED");
}
