//! `/data` of `keyfold dev`: tables, item collections and indexes, search by key, and what reads and writes an item.

use super::process::{keyfold, repository};
use super::server::{Behind, Server, TABLE, TABLES, samples};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const AIKO: &str = "11111111-1111-4111-8111-111111111111";
const FLAT: &str = "22222222-2222-4222-8222-222222222222";

/// The status and the body of a path with these parameters.
async fn get(server: &Server, path: &str, parameters: &[(&str, &str)]) -> (u16, Value) {
    let mut url = url::Url::parse(&format!("{}{path}", server.url)).unwrap();
    url.query_pairs_mut().extend_pairs(parameters);
    let response = server.client.get(url.as_str()).send().await.unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

/// All pages of a range, put together.
async fn items(server: &Server, parameters: &[(&str, &str)]) -> Vec<Value> {
    let (mut all, mut after) = (Vec::new(), None::<String>);
    loop {
        let page: Vec<_> = parameters.iter().copied().chain(after.as_deref().map(|after| ("after", after))).collect();
        let (status, body) = get(server, "/data/items", &page).await;
        assert_eq!(status, 200, "{parameters:?}: {body}");
        let found = body["items"].as_array().unwrap();
        assert!(found.len() <= 50, "a page has a bound");
        all.extend(found.iter().cloned());
        match &body["after"] {
            Value::Null => return all,
            key => after = Some(key.to_string()),
        }
    }
}

fn text(attribute: &Value) -> &str {
    attribute.as_object().and_then(|typed| typed.values().next()?.as_str()).unwrap()
}

#[tokio::test]
async fn every_sample_is_found_in_its_collection_and_the_parts_of_its_keys_are_its_keys() {
    let server = Server::start(Behind::Embedded, &samples());
    let (_, tables) = get(&server, "/data/tables", &[]).await;
    let names: Vec<&str> = tables.as_array().unwrap().iter().map(|table| table["name"].as_str().unwrap()).collect();
    assert_eq!(BTreeSet::from_iter(names), BTreeSet::from(TABLES));
    for table in tables.as_array().unwrap() {
        let name = table["name"].as_str().unwrap();
        let file = fs::read_to_string(samples().join(format!("{name}.jsonl"))).unwrap();
        let samples: Vec<Value> =
            file.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["Item"].take()).collect();
        let places = std::iter::once((None, table))
            .chain(table["indexes"].as_array().unwrap().iter().map(|index| (index["name"].as_str(), index)));
        for (index, place) in places {
            let (partition, sort) = (place["partition"]["name"].as_str().unwrap(), place["sort"]["name"].as_str());
            let keys: Vec<&str> = std::iter::once(partition).chain(sort).collect();
            let mut collections: BTreeMap<&str, Vec<&Value>> = BTreeMap::new();
            for sample in samples.iter().filter(|sample| keys.iter().all(|key| sample.get(key).is_some())) {
                collections.entry(text(&sample[partition])).or_default().push(sample);
            }
            for (first, samples) in collections {
                let mut parameters = vec![("table", name), ("pk", first)];
                parameters.extend(index.map(|index| ("index", index)));
                let found = items(&server, &parameters).await;
                assert_eq!(found.len(), samples.len(), "{parameters:?}");
                let sorted = |item: &Value| sort.map(|sort| text(&item["attributes"][sort]).to_owned());
                assert!(index.is_some() || found.is_sorted_by_key(sorted), "{parameters:?}");
                for item in &found {
                    let holds = |sample: &&&Value| {
                        item["attributes"]
                            .as_object()
                            .unwrap()
                            .iter()
                            .all(|(name, value)| sample.get(name) == Some(value))
                    };
                    assert!(samples.iter().any(|sample| holds(&sample)), "{item}");
                    // The guard of a unique value has no type.
                    if item["type"].is_null() {
                        assert!(item["parts"] == json!({}) && first.starts_with("Unique#"), "{item}");
                        continue;
                    }
                    for (key, parts) in item["parts"].as_object().unwrap() {
                        let texts: Option<Vec<&str>> =
                            parts.as_array().unwrap().iter().map(|part| part["text"].as_str()).collect();
                        let whole =
                            texts.map_or_else(|| text(&item["attributes"][key]).to_owned(), |texts| texts.concat());
                        assert_eq!(whole, text(&item["attributes"][key]), "{item}");
                    }
                    assert!(["PK", "pk"].iter().any(|key| item["parts"].get(key).is_some()), "{item}");
                }
            }
        }
    }
}

#[tokio::test]
async fn keys_and_the_fields_of_a_type_find_items() {
    let server = Server::start(Behind::Embedded, &samples());
    let user = items(&server, &[("table", TABLE), ("pk", AIKO), ("begins", "Us")]).await;
    assert_eq!((user.len(), &user[0]["type"]), (1, &json!("User")));
    assert_eq!(user[0]["parts"]["PK"], json!([{ "field": "id", "text": AIKO }]));
    assert_eq!(user[0]["parts"]["SK"], json!([{ "constant": "User", "text": "User" }]));

    let fields = json!({ "id": AIKO }).to_string();
    let (status, page) = get(&server, "/data/items", &[("table", TABLE), ("type", "User"), ("fields", &fields)]).await;
    assert_eq!((status, &page["items"]), (200, &json!(user)));
    assert_eq!(page["range"], json!({ "partition": AIKO, "begins": "User" }));

    let fields = json!({ "userId": AIKO }).to_string();
    let memberships = items(&server, &[("table", TABLE), ("type", "Membership"), ("fields", &fields)]).await;
    assert!(!memberships.is_empty() && memberships.iter().all(|item| item["type"] == "Membership"), "{memberships:?}");

    let of_group = items(&server, &[("table", TABLE), ("index", "UserAndGroupRelationship"), ("pk", FLAT)]).await;
    assert_eq!(of_group.len(), 3);
    for item in &of_group {
        let names: BTreeSet<&str> = item["attributes"].as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, BTreeSet::from(["GroupId", "PK", "SK"]), "an index shows what it holds");
    }

    for (parameters, said) in [
        (vec![("table", "none")], "no table"),
        (vec![("table", TABLE), ("index", "none")], "no index"),
        (vec![("table", TABLE), ("type", "Post")], "no item type"),
        (vec![("table", TABLE), ("type", "User")], "A search needs id."),
        (vec![("table", TABLE), ("type", "User"), ("fields", "[")], "no JSON object"),
        (vec![("table", TABLE), ("after", "{}}")], "no key"),
        (vec![("table", TABLE), ("after", "{\"x\": 1}")], "no key"),
    ] {
        let (status, body) = get(&server, "/data/items", &parameters).await;
        assert!(
            status == 400 && body.as_str().is_some_and(|text| text.contains(said)),
            "{parameters:?}: {status} {body}"
        );
    }
}

#[tokio::test]
async fn an_item_leads_to_operations_that_run() {
    let server = Server::start_unruled(Behind::Embedded, &samples());
    let mut types = BTreeSet::new();
    for table in TABLES {
        for item in items(&server, &[("table", table)]).await {
            if item["type"].is_null() || !types.insert(item["type"].to_string()) {
                continue;
            }
            let (status, found) =
                get(&server, "/data/uses", &[("table", table), ("key", &item["key"].to_string())]).await;
            assert_eq!((status, &found["type"]), (200, &item["type"]));
            let uses = found["uses"].as_array().unwrap();
            assert!(uses.iter().any(|used| used["writes"] == false), "{item}");
            for used in uses {
                let operation = used["operation"].as_str().unwrap();
                if used["writes"] == false {
                    let answer = server.ask(operation, json!({})).await;
                    assert!(
                        answer.status == 200 && answer.body.get("errors").is_none(),
                        "{operation}: {}",
                        answer.body
                    );
                } else {
                    // By GET, a mutation is checked and does not run.
                    assert_eq!(get(&server, "/graphql", &[("query", operation)]).await.0, 405, "{operation}");
                }
            }
        }
    }
    assert!(types.len() > 8, "{types:?}");

    let key = json!({ "PK": { "S": AIKO }, "SK": { "S": "User" } }).to_string();
    let (_, found) = get(&server, "/data/uses", &[("table", TABLE), ("key", &key)]).await;
    let user = found["uses"].as_array().unwrap().iter().find(|used| used["field"] == "Query.user").unwrap();
    let answer = server.ask(user["operation"].as_str().unwrap(), json!({})).await;
    assert_eq!(answer.data()["user"]["name"], "Aiko Tanaka");
    let gone = json!({ "PK": { "S": "none" }, "SK": { "S": "User" } }).to_string();
    assert_eq!(get(&server, "/data/uses", &[("table", TABLE), ("key", &gone)]).await, (200, Value::Null));
    assert_eq!(get(&server, "/data/uses", &[("table", TABLE), ("key", "{}")]).await.0, 400);
}

/// Items with maps are shown as they are stored, and their operations give lists. A record of a request has no type.
#[tokio::test]
async fn an_item_with_maps_leads_to_operations_that_run() {
    let directory = tempfile::tempdir().unwrap();
    let record = json!({ "Item": { "PK": { "S": "Idempotent#Mutation.react#0a" }, "SK": { "S": "Idempotent#Mutation.react" } } });
    let lines = fs::read_to_string(repository("tests/systems/reactions/reactions.jsonl")).unwrap();
    fs::write(directory.path().join("reactions.jsonl"), format!("{}\n{record}\n", lines.trim_end())).unwrap();
    let (schema, samples) = (repository("tests/systems/reactions/schema.graphql"), directory.path().to_owned());
    let options = ["--schema", schema.to_str().unwrap(), "--sample", samples.to_str().unwrap()];
    let command = keyfold(directory.path(), &[&["dev", "--listen", "127.0.0.1:0"], &options[..]].concat());
    let server = Server::dev_by(command, directory);
    let found = items(&server, &[("table", "reactions")]).await;
    let typed: BTreeMap<&str, &Value> = found.iter().map(|item| (text(&item["attributes"]["PK"]), item)).collect();
    let (post, record) = (typed["POST#a"], typed["Idempotent#Mutation.react#0a"]);
    assert_eq!((&post["type"], &record["type"]), (&json!("Post"), &Value::Null));
    assert_eq!(post["attributes"]["Visits"]["M"]["2026-11-09"], json!({ "N": "7" }));
    let key = post["key"].to_string();
    let (_, uses) = get(&server, "/data/uses", &[("table", "reactions"), ("key", &key)]).await;
    let mut shown = 0;
    for used in uses["uses"].as_array().unwrap() {
        let operation = used["operation"].as_str().unwrap();
        if used["writes"] == true {
            assert_eq!(get(&server, "/graphql", &[("query", operation)]).await.0, 405, "{operation}");
            continue;
        }
        let answer = server.ask(operation, json!({})).await;
        assert!(answer.status == 200 && answer.body.get("errors").is_none(), "{operation}: {}", answer.body);
        let visits = json!([{ "day": "2026-11-09", "count": 7 }, { "day": "2026-11-20", "count": 12 }]);
        shown += usize::from(answer.body["data"]["post"]["visits"] == visits);
    }
    assert_eq!(shown, 1, "{uses}");
    let key = record["key"].to_string();
    assert_eq!(get(&server, "/data/uses", &[("table", "reactions"), ("key", &key)]).await.0, 200);
}

#[tokio::test]
async fn other_origins_and_other_servers_do_not_have_it() {
    let sample = samples();
    let server = Server::dev(&["--allow-origin", "*", "--sample", sample.to_str().unwrap()]);
    let page = server.client.get(format!("{}/data", server.url)).send().await.unwrap();
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self';")
            && policy.contains("form-action 'none'"),
        "{policy}"
    );
    let text = page.text().await.unwrap();
    for path in text.split('"').filter(|path| path.starts_with("console/")) {
        assert_eq!(server.status(&format!("/{path}")).await, 200, "{path}");
    }
    for path in [
        "/data/tables",
        "/data/items?table=data",
        "/data/uses?table=data&key={}",
        "/design",
        "/design.md",
        "/dev/callers",
        "/dev/writes",
        "/dev/schema",
    ] {
        let asked = |site: &'static str| {
            server
                .client
                .get(format!("{}{path}", server.url))
                .header("sec-fetch-site", site)
                .header("origin", "https://a.example")
        };
        for (site, is_refused) in [("cross-site", true), ("same-site", true), ("same-origin", false)] {
            let response = asked(site).send().await.unwrap();
            assert_eq!(response.status().as_u16() == 403, is_refused, "{path} {site}");
            assert!(!response.headers().contains_key("access-control-allow-origin"), "{path}");
        }
        let rebound =
            server.client.get(format!("{}{path}", server.url)).header("host", "rebound.example").send().await.unwrap();
        assert!(
            rebound.status().is_client_error() && rebound.status().as_u16() != 403 || rebound.status().as_u16() == 421,
            "{path}: {}",
            rebound.status()
        );
    }

    let plain = Server::dev(&["--playground=false", "--sample", sample.to_str().unwrap()]);
    let served = super::server::Server::start(Behind::Socket, &sample);
    for server in [&plain, &served] {
        for path in [
            "/data",
            "/data/tables",
            "/data/items?table=data",
            "/design",
            "/design.md",
            "/dev/callers",
            "/dev/writes",
            "/dev/schema",
            "/docs",
        ] {
            assert_eq!(server.status(path).await, 404, "{path}");
        }
    }
}

#[tokio::test]
async fn the_documentation_is_at_docs() {
    let server = Server::dev(&["--no-sample"]);
    let page = |path: &str| server.client.get(format!("{}{path}", server.url)).send();
    let contents = page("/docs").await.unwrap();
    assert!(contents.url().path().ends_with("/docs/language/README.md"), "{}", contents.url());
    assert!(contents.text().await.unwrap().contains("href=\"directives/find.md\""));
    let find = page("/docs/language/directives/find.md").await.unwrap().text().await.unwrap();
    assert!(find.contains("<h1 id=\"find\">@find</h1>") && find.contains("href=\"../binding.md\""), "{find}");
    assert_eq!(server.status("/docs/language/none.md").await, 404);
    assert_eq!(server.status("/docs/%2e%2e%2fschema.graphql").await, 404);
}

const PEOPLE: &str = r#"extend schema @table(
  name: "people", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "byTeam", partitionKey: "teamKey", sortKey: "SK" }])
type User @item(keys: { PK: "USER#{id}", SK: "PROFILE", teamKey: "TEAM#{team}" }) {
  id: ID! team: String! @attribute(name: "team") email: String @unique
}
type Team @item(keys: { PK: "TEAM#{id}", SK: "TEAM" }, attributes: { kind: "team" }) { id: ID! name: String }
type Query { user(id: ID!): User @find team(id: ID!): Team @find }
type Mutation { putUser(id: ID!, team: String!, email: String): User! @put }
"#;

/// What another program wrote: keys that its fields do not make, and items of no type, each with the reason.
#[tokio::test]
async fn items_that_the_schema_would_write_otherwise_are_marked_and_those_of_no_type_have_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("schema.graphql"), PEOPLE).unwrap();
    let item = |pairs: &[(&str, &str)]| {
        let attributes: BTreeMap<&str, Value> =
            pairs.iter().map(|(name, value)| (*name, json!({ "S": value }))).collect();
        json!({ "Item": attributes }).to_string()
    };
    let lines = [
        item(&[("PK", "USER#ann"), ("SK", "PROFILE"), ("team", "red"), ("teamKey", "TEAM#red")]),
        item(&[("PK", "USER#bob"), ("SK", "PROFILE"), ("team", "red"), ("teamKey", "TEAM#blue")]),
        item(&[("PK", "USER#cy"), ("SK", "PROFILE"), ("team", "red")]),
        item(&[("PK", "USER#dee"), ("SK", "PROFIL"), ("team", "red")]),
        item(&[("PK", "TEAM#red"), ("SK", "TEAM"), ("kind", "squad")]),
        item(&[("PK", "#META"), ("SK", "0")]),
        item(&[
            ("PK", "Unique#User.email#a@x"),
            ("SK", "Unique#User.email"),
            ("ownerPK", "USER#ann"),
            ("ownerSK", "PROFILE"),
        ]),
    ];
    fs::create_dir(directory.path().join("samples")).unwrap();
    fs::write(directory.path().join("samples/people.jsonl"), lines.join("\n")).unwrap();
    let server = Server::dev_by(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]), directory);
    let remarks = |found: &[Value]| -> BTreeMap<String, (Value, String)> {
        let one = |item: &Value| {
            let said: Vec<&str> = item["remarks"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
            (text(&item["attributes"]["PK"]).to_owned(), (item["type"].clone(), said.join(" ")))
        };
        found.iter().map(one).collect()
    };
    let all = items(&server, &[("table", "people")]).await;
    let said = remarks(&all);
    let of = |key: &str| (said[key].0.as_str(), said[key].1.as_str());
    assert_eq!(of("USER#ann"), (Some("User"), ""));
    assert_eq!(
        of("USER#bob"),
        (Some("User"), "The schema would write teamKey = \"TEAM#red\", so the index lists it at another place.")
    );
    assert_eq!(
        of("USER#cy"),
        (
            Some("User"),
            "The schema would write teamKey = \"TEAM#red\", and it has none, so the index does not list it."
        )
    );
    assert_eq!(of("USER#dee"), (None, "User comes nearest: SK is \"PROFIL\", and User has \"PROFILE\"."));
    assert_eq!(of("TEAM#red"), (None, "Team comes nearest: kind is \"squad\", and Team has \"team\"."));
    assert_eq!(of("#META"), (None, "No type has a key that begins as its key does."));
    assert_eq!(
        of("Unique#User.email#a@x"),
        (None, "A guard of a unique value. Mutations write and delete it with its item.")
    );
    // The same is said of the item by itself, and in an index that has all of it.
    for item in &all {
        let key = item["key"].to_string();
        let (_, uses) = get(&server, "/data/uses", &[("table", "people"), ("key", &key)]).await;
        assert_eq!(uses["remarks"], item["remarks"], "{key}");
    }
    let listed = remarks(&items(&server, &[("table", "people"), ("index", "byTeam")]).await);
    assert_eq!((listed.len(), &listed["USER#bob"]), (2, &said["USER#bob"]));
}
