//! `keyfold dev`: its page for browsers, the reload of its schema, its data directory, its end.

use super::process::{Process, keyfold, repository, run};
use super::server::{Server, TABLE, TABLES, samples, schema};
use serde_json::{Value, json};
use std::fs;

#[tokio::test]
async fn browsers_get_graphiql() {
    let server = Server::dev(&[]);
    let page = server
        .client
        .get(&server.url)
        .header("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
        .send()
        .await
        .unwrap();
    assert!(page.headers()["content-type"].to_str().unwrap().starts_with("text/html"));
    let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
    let text = page.text().await.unwrap();
    assert!(text.contains("graphiql.min.js") && text.contains("Ctrl-Enter runs the operation."), "{text}");
    // GraphiQL comes from the binary where that holds it.
    assert!(policy.starts_with("default-src 'none'; script-src 'self' "), "{policy}");
    assert_eq!(policy.contains("https://unpkg.com"), text.contains("https://unpkg.com"), "{policy}");

    let own: Vec<_> = text.split('"').filter(|path| path.starts_with("console/")).collect();
    assert!(own.iter().any(|path| path.ends_with("/console.js")), "{text}");
    for path in own {
        let file = server.client.get(format!("{}/{path}", server.url)).send().await.unwrap();
        let media_type =
            if path.ends_with(".css") { "text/css; charset=utf-8" } else { "text/javascript; charset=utf-8" };
        assert_eq!(
            (file.status().as_u16(), file.headers()["content-type"].to_str().unwrap()),
            (200, media_type),
            "{path}"
        );
    }
}

#[tokio::test]
async fn graphiql_starts_with_a_query_that_answers_from_the_samples_and_a_mutation() {
    for (schema, sample) in [
        (schema(), samples()),
        (
            repository("examples/members/schema.graphql").to_str().unwrap().to_owned(),
            repository("examples/members/samples"),
        ),
        (
            repository("examples/patterns/schema.graphql").to_str().unwrap().to_owned(),
            repository("examples/patterns/samples"),
        ),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let options = ["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", sample.to_str().unwrap()];
        let server = Server::dev_by(keyfold(directory.path(), &options), directory);
        let texts = starting_texts(&server).await;
        let [query, mutation, subscription] = texts.as_slice() else { panic!("{texts:?}") };
        assert!(subscription.as_str().unwrap().starts_with("subscription {"), "{subscription}");
        let mut request = server.client.post(format!("{}/graphql", server.url)).header("accept", "application/json");
        // The page asks as the first caller of the samples.
        let callers: Value =
            server.client.get(format!("{}/dev/callers", server.url)).send().await.unwrap().json().await.unwrap();
        if let Some(token) = callers[0]["token"].as_str() {
            request = request.bearer_auth(token);
        }
        let answer: Value = request.json(&json!({ "query": query })).send().await.unwrap().json().await.unwrap();
        let first = answer["data"].as_object().and_then(|data| data.values().next());
        assert!(answer.get("errors").is_none() && first.is_some_and(|value| !value.is_null()), "{query}: {answer}");
        assert!(
            mutation.as_str().unwrap().starts_with("mutation {") && !mutation.as_str().unwrap().contains("\"\""),
            "{mutation}"
        );
    }
}

/// What the editor of a browser that loads the page now starts with.
async fn starting_texts(server: &Server) -> Vec<Value> {
    let page = server.client.get(&server.url).header("accept", "text/html").send().await.unwrap().text().await.unwrap();
    let settings = page.split_once("id=\"settings\">").and_then(|(_, rest)| rest.split_once("</script>")).unwrap().0;
    let settings: Value = serde_json::from_str(settings).unwrap();
    settings["startingTexts"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_changed_schema_is_served_and_a_broken_one_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schema.graphql");
    let text = fs::read_to_string(schema()).unwrap();
    fs::write(&path, &text).unwrap();
    let command =
        keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0", "--sample", samples().to_str().unwrap()]);
    let mut server = Server::dev_by(command, directory);
    let named = "{ user: userByEmail(email: \"aiko.tanaka@example.com\") { name } }";
    let called = "{ user: userAt(email: \"aiko.tanaka@example.com\") { name } }";
    assert_eq!(server.ask(named, json!({})).await.data()["user"]["name"], "Aiko Tanaka");
    assert!(starting_texts(&server).await[1].as_str().unwrap().contains("createUser("));

    assert!(text.contains("userByEmail(") && text.contains("createUser("));
    fs::write(&path, text.replace("userByEmail(", "userAt(").replace("createUser(", "addUser(")).unwrap();
    server.process.wait_for("the schema was reloaded");
    assert_eq!(server.ask(called, json!({})).await.data()["user"]["name"], "Aiko Tanaka");
    let texts = starting_texts(&server).await[1].to_string();
    assert!(texts.contains("addUser(") && !texts.contains("createUser("), "{texts}");
    assert_eq!(server.ask(named, json!({})).await.error().1, "GRAPHQL_VALIDATION_FAILED");

    fs::write(&path, text.replace("user(\n", "user(of: \"1\",\n")).unwrap();
    server.process.wait_for("the schema was not reloaded: the previous one stays in use");
    assert!(server.process.said.iter().any(|line| line.starts_with("error")), "{:?}", server.process.said);
    assert_eq!(server.ask(called, json!({})).await.data()["user"]["name"], "Aiko Tanaka");

    fs::write(&path, &text).unwrap();
    server.process.wait_for("the schema was reloaded");
    assert_eq!(server.ask(named, json!({})).await.data()["user"]["name"], "Aiko Tanaka");
}

#[tokio::test]
async fn a_directory_keeps_the_items_and_serves_one_process() {
    let directory = tempfile::tempdir().unwrap();
    let (data, sample) = (directory.path().join("data"), samples());
    let options = ["--data", data.to_str().unwrap(), "--sample", sample.to_str().unwrap()];
    let mut first = Server::dev(&options);
    let banner = first.process.wait_for("sample items");
    for (table, items) in
        TABLES.map(|table| (table, fs::read_to_string(sample.join(format!("{table}.jsonl"))).unwrap().lines().count()))
    {
        assert!(banner.contains(&format!("{table} ({items} sample items)")), "{banner}");
    }

    let refused =
        run(directory.path(), &[&["dev", "--listen", "127.0.0.1:0", "--schema", &schema()], &options[..]].concat());
    let said = refused.badly(1);
    assert!(said.contains("is in use by another process") && said.contains(data.to_str().unwrap()), "{said}");

    first.process.terminate();
    assert_eq!(first.process.ended().code(), Some(0), "{:?}", first.process.said);

    // Delete one user by hand. Samples go only into empty tables, so she stays deleted.
    let (export, import) = (directory.path().join("all.jsonl"), directory.path().join("data2"));
    let file = export.to_str().unwrap();
    run(directory.path(), &["export", file, "--table", TABLE, "--schema", &schema(), "--data", data.to_str().unwrap()])
        .well();
    let kept: String = fs::read_to_string(&export)
        .unwrap()
        .lines()
        .filter(|line| !line.contains("Aiko Tanaka"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(&export, kept).unwrap();
    run(
        directory.path(),
        &["import", file, "--table", TABLE, "--schema", &schema(), "--data", import.to_str().unwrap()],
    )
    .well();
    let second = Server::dev(&["--data", import.to_str().unwrap(), "--sample", sample.to_str().unwrap()]);
    let query = "{ user(id: \"11111111-1111-4111-8111-111111111111\") { name } group(id: \"22222222-2222-4222-8222-222222222222\") { name } }";
    assert_eq!(
        second.ask(query, json!({})).await.data(),
        &json!({"user": null, "group": {"name": "Maple Street 12, Flat 3"}})
    );
}

#[tokio::test]
async fn sigterm_lets_requests_finish_and_ends_with_0() {
    let mut server = Server::dev(&[]);
    assert_eq!(server.ask("{ __typename }", json!({})).await.status, 200);
    server.process.terminate();
    server.process.wait_for("SIGTERM");
    assert_eq!(server.process.ended().code(), Some(0));
}

#[tokio::test]
async fn a_printed_token_is_accepted_and_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let secret = directory.path().join("secret");
    let secret = ["--token-secret", secret.to_str().unwrap()];
    let token = |options: &[&str]| {
        run(directory.path(), &[&["token", "--sub", "alice"], options].concat()).well().trim_end().to_owned()
    };
    // The first command makes the secret, whichever it is.
    let before = token(&[&secret[..], &["--claim", "role=admin", "--expires", "1d"]].concat());
    let server = Server::dev(&secret);
    let after = token(&secret);
    let foreign = token(&["--token-secret", directory.path().join("other").to_str().unwrap()]);
    for (token, status) in [(&*before, 200), (&*after, 200), (&*foreign, 401), ("x", 401)] {
        let request = server.client.post(format!("{}/graphql", server.url)).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {token}")).body(r#"{"query": "{ __typename }"}"#);
        assert_eq!(request.send().await.unwrap().status().as_u16(), status, "{token}");
    }
    assert_eq!(server.ask("{ __typename }", json!({})).await.status, 200, "who shows nothing is anonymous");
}

#[test]
fn a_missing_schema_or_a_taken_address_ends_it_with_1() {
    let directory = tempfile::tempdir().unwrap();
    let said = run(directory.path(), &["dev", "--listen", "127.0.0.1:0"]).badly(1);
    assert!(said.contains("there is no schema at") && said.contains("--schema FILE"), "{said}");

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let said = run(directory.path(), &["dev", "--listen", &address, "--schema", &schema()]).badly(1);
    assert!(said.contains("another process listens there"), "{said}");
    fs::write(directory.path().join("schema.graphql"), "type Query { user(id: ID!): User @find }").unwrap();
    let said = run(directory.path(), &["dev", "--listen", &address]).badly(1);
    assert!(said.contains("another process listens there"), "{said}");
}

/// Whatever was begun while the schema was checked, its mistakes come first, and nothing is left behind.
#[test]
fn mistakes_of_the_schema_are_reported_before_those_of_the_samples() {
    let directory = tempfile::tempdir().unwrap();
    let (tables, broken) = (r#"extend schema @table(name: "notes")"#, "type Query { user(id: ID!): User @find }");
    let samples = directory.path().join("samples");
    fs::create_dir(&samples).unwrap();
    fs::write(samples.join("notes.jsonl"), "nonsense\n").unwrap();
    fs::write(samples.join("other.jsonl"), "").unwrap();
    let note = r#"type Note @item(keys: { pk: "{id}" }) { id: ID! } type Query { note(id: ID!): Note @find }"#;
    for store in [&["--memory"][..], &["--data", "data"]] {
        let command = || keyfold(directory.path(), &[&["dev", "--listen", "127.0.0.1:0"], store].concat());
        let write =
            |types: &str| fs::write(directory.path().join("schema.graphql"), format!("{tables} {types}")).unwrap();
        write(broken);
        let mut dev = Process::start(command());
        dev.wait_for("error[KF");
        dev.wait_for("schema.graphql: ");
        let said = dev.said.join("\n");
        assert!(!said.contains("nonsense") && !said.contains("jsonl"), "{said}");
        assert!(!directory.path().join("data").exists());
        write(note);
        assert_eq!(dev.ended().code(), Some(1), "{:?}", dev.said);
        let said = dev.said.join("\n");
        assert!(
            said.contains("notes.jsonl is text that begins with")
                && said.contains("no table of the schema matches other.jsonl"),
            "{said}"
        );
    }
}

/// They wait until the schema is checked, where small ones do not.
#[tokio::test]
async fn large_samples_are_loaded() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("schema.graphql");
    let schema = r#"extend schema @table(name: "notes") type Note @item(keys: { pk: "{id}" }) { id: ID! } type Query { note(id: ID!): Note @find }"#;
    fs::write(&path, schema).unwrap();
    fs::create_dir(directory.path().join("samples")).unwrap();
    let filler = "x".repeat(300_000);
    let line =
        |id: usize| format!("{{\"Item\": {{\"pk\": {{\"S\": \"{id}\"}}, \"filler\": {{\"S\": \"{filler}\"}}}}}}\n");
    fs::write(directory.path().join("samples/notes.jsonl"), (0..20).map(line).collect::<String>()).unwrap();
    let server = Server::dev_by(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]), directory);
    assert_eq!(server.ask("{ note(id: \"19\") { id } }", json!({})).await.data()["note"]["id"], "19");
}

/// What other programs spell otherwise is reported when it is loaded, and once when a read leaves it out.
#[tokio::test]
async fn another_spelling_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let schema = r#"
      extend schema @table(name: "posts", sortKey: "sk")
      type Post @item(keys: { pk: "U#{userId}", sk: "POST#{createdAt}" }, attributes: { kind: "Post" }) {
        userId: ID! createdAt: DateTime! editedAt: DateTime
      }
      type Draft @item(keys: { pk: "U#{userId}", sk: "POST#{name}" }, attributes: { kind: "Draft" }) {
        userId: ID! name: String!
      }
      type Query { posts(userId: ID!): [Post!]! @find }"#;
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    fs::create_dir(directory.path().join("samples")).unwrap();
    let item = |kind: &str, at: &str, edited: &str| {
        let s = |text: &str| json!({ "S": text });
        let item = json!({ "pk": s("U#1"), "sk": s(&format!("POST#{at}")), "kind": s(kind), "editedAt": s(edited) });
        json!({ "Item": item }).to_string()
    };
    let post = |at: &str, edited: &str| item("Post", at, edited);
    let own = "2021-07-02T17:09:47.000Z";
    let posts = [
        // It is left out as a draft.
        item("Draft", "2021-07-01T17:09:47Z", own),
        post(own, own),
        post("2021-07-03T17:09:47Z", own),
        post("2021-07-04T17:09:47Z", own),
        post("2021-07-05T17:09:47.000Z", "2021-07-05T17:09:47Z"),
    ];
    fs::write(directory.path().join("samples/posts.jsonl"), posts.join("\n")).unwrap();
    let arguments = ["import", "samples/posts.jsonl", "--table", "posts", "--data", "data"];
    let said = run(directory.path(), &arguments);
    assert_eq!(said.code, Some(0), "{said:?}");
    let assert_warned = |said: &str| {
        assert!(
            said.contains(
                "warning: 2 items (such as U#1, POST#2021-07-03T17:09:47Z) will not be seen: `Post.createdAt` is"
            ),
            "{said}"
        );
        assert!(
            said.contains("warning: 1 item (U#1, POST#2021-07-05T17:09:47.000Z) with `Post.editedAt` in another spelling, such as \"2021-07-05T17:09:47Z\""),
            "{said}"
        );
    };
    assert_warned(&said.err);
    let mut server = Server::dev_by(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]), directory);
    // It may be said before the address.
    if !server.process.said_so_far().iter().any(|line| line.contains("`Post.editedAt`")) {
        server.process.wait_for("`Post.editedAt`");
    }
    assert_warned(&server.process.said_so_far().join("\n"));
    let seen = json!([{ "createdAt": own }, { "createdAt": "2021-07-05T17:09:47.000Z" }]);
    for _ in 0..2 {
        assert_eq!(server.ask("{ posts(userId: 1) { createdAt } }", json!({})).await.data()["posts"], seen);
    }
    server.process.wait_for("an item is left out");
    let said = server.process.said_so_far();
    let lines: Vec<&String> = said.iter().filter(|line| line.contains("left out")).collect();
    assert!(lines.len() == 1 && lines[0].contains("POST#2021-07-03T17:09:47Z"), "{said:?}");
}

#[tokio::test]
async fn an_item_of_no_type_that_a_read_meets_is_in_the_log_once_for_each_form_of_keys() {
    let directory = tempfile::tempdir().unwrap();
    let schema = r#"
      extend schema @table(name: "notes", sortKey: "sk", indexes: [{ name: "byState", partitionKey: "state" }])
      type Note @item(keys: { pk: "NOTE#{id}", sk: "NOTE", state: "{state}" }) { id: ID! state: String }
      type Tag @item(keys: { pk: "TAG#{id}", sk: "TAG", state: "{state}" }) { id: ID! state: String name: String @unique }
      type Query { notes(state: String!): [Note!]! @find tags: [Tag!]! @find(scan: true) }
      type Mutation { tag(id: ID!, name: String): Tag! @put }"#;
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let item = |pk: &str, sk: &str| {
        json!({ "Item": { "pk": { "S": pk }, "sk": { "S": sk }, "state": { "S": "open" } } }).to_string() + "\n"
    };
    let items = [("NOTE#1", "NOTE"), ("TAG#1", "TAG"), ("DRAFT#8", "NOTE"), ("DRAFT#9", "NOTE"), ("NOTE#1", "OLD")];
    fs::create_dir(directory.path().join("samples")).unwrap();
    fs::write(directory.path().join("samples/notes.jsonl"), items.map(|(pk, sk)| item(pk, sk)).concat()).unwrap();
    let mut server = Server::dev_by(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]), directory);
    for _ in 0..2 {
        let data = server.ask(r#"{ notes(state: "open") { id } }"#, json!({})).await.data()["notes"].clone();
        assert_eq!(data, json!([{ "id": "1" }]));
    }
    // The guard of a unique value is of no type, and no stray.
    let tagged = server.ask(r#"mutation { tag(id: 2, name: "ann") { name } }"#, json!({})).await.data()["tag"].clone();
    assert_eq!(tagged, json!({ "name": "ann" }));
    assert_eq!(server.ask("{ tags { id } }", json!({})).await.data()["tags"].as_array().map(Vec::len), Some(2));
    let find = "an item has the key of no type";
    for key in ["DRAFT#", "NOTE#1, OLD"] {
        if !server.process.said_so_far().iter().any(|line| line.contains(find) && line.contains(key)) {
            server.process.wait_for(key);
        }
    }
    let said = server.process.said_so_far();
    let lines: Vec<&String> = said.iter().filter(|line| line.contains(find)).collect();
    let names = |key: &str| lines.iter().filter(|line| line.contains(key)).count();
    assert_eq!((lines.len(), names("DRAFT#"), names("NOTE#1, OLD")), (2, 1, 1), "{said:?}");
}

#[tokio::test]
async fn a_value_that_is_none_of_its_type_is_refused_before_the_field_runs() {
    let directory = tempfile::tempdir().unwrap();
    let schema = r#"
      extend schema @table(name: "notes", sortKey: "sk", indexes: [{ name: "byTime", sortKey: "time" }])
      type Note @item(keys: { pk: "U#{userId}", sk: "N#{id}", time: "{createdAt}" }) {
        userId: ID! id: ID! createdAt: DateTime! day: Date price: Decimal size: Long data: Binary
      }
      type Query {
        notes(userId: ID!, since: DateTime, day: Date, price: Decimal, size: Long, data: Binary): [Note!]
          @find(where: { createdAt: { ge: "{since}" } }, filter: "day = :day AND price = :price AND size = :size AND data = :data")
      }"#;
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    let server = Server::dev_by(keyfold(directory.path(), &["dev", "--listen", "127.0.0.1:0"]), directory);
    let cases = [
        (
            "since",
            "DateTime",
            json!(["yesterday", 5, "2026-02-30T00:00:00Z", "2026-01-01", "2026-01-01T00:00:00+25:00", {}]),
        ),
        ("day", "Date", json!(["2026-13-01", "2026-1-1", 20260101, true])),
        ("price", "Decimal", json!(["1e999", 1.5, "abc", "", "0.123456789012345678901234567890123456789"])),
        ("size", "Long", json!([1.5, "x", 9_223_372_036_854_775_808_u64])),
        ("data", "Binary", json!(["%%%", 1])),
    ];
    for (argument, kind, values) in cases {
        let query = format!("query($v: {kind}) {{ notes(userId: 1, {argument}: $v) {{ id }} }}");
        for value in values.as_array().unwrap() {
            let answer = server.ask(&query, json!({ "v": value })).await;
            assert_eq!(answer.error(), (400, "BAD_USER_INPUT", &Value::Null), "{kind} {value}");
            assert!(answer.body["errors"][0]["message"].as_str().unwrap().contains(kind), "{:#}", answer.body);
        }
        assert_eq!(server.ask(&query, json!({ "v": null })).await.data(), &json!({"notes": []}));
    }
}

/// Linux lists the limits of a process; elsewhere this test sees nothing.
#[test]
fn the_limit_of_open_files_is_raised() {
    let directory = tempfile::tempdir().unwrap();
    let schema = schema();
    let dev = keyfold(
        directory.path(),
        &["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", samples().to_str().unwrap()],
    );
    let mut shell = std::process::Command::new("sh");
    shell
        .arg("-c")
        .arg("ulimit -S -n 128; exec \"$0\" \"$@\"")
        .arg(dev.get_program())
        .args(dev.get_args())
        .current_dir(directory.path());
    let server = Server::dev_by(shell, directory);
    let limits = fs::read_to_string(format!("/proc/{}/limits", server.process.id())).unwrap_or_default();
    if let Some(line) = limits.lines().find_map(|line| line.strip_prefix("Max open files")) {
        let values: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(values[0], values[1], "soft and hard");
    }
}

#[tokio::test]
async fn the_page_has_tokens_of_the_sample_callers() {
    let directory = tempfile::tempdir().unwrap();
    let tenants = |path: &str| repository("examples/tenants").join(path).display().to_string();
    let (schema, sample) = (tenants("schema.graphql"), tenants("samples"));
    let origin = "https://app.example.com";
    let options =
        ["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", &sample, "--allow-origin", origin];
    let server = Server::dev_by(keyfold(directory.path(), &options), directory);
    let callers =
        server.client.get(format!("{}/dev/callers", server.url)).header("origin", origin).send().await.unwrap();
    assert_eq!(callers.headers().get("access-control-allow-origin"), None);
    assert_eq!(callers.headers()["cache-control"], "no-store");
    let callers: Value = callers.json().await.unwrap();
    let company = async |authorization: Option<String>| {
        let request = server.client.post(format!("{}/graphql", server.url)).header("content-type", "application/json");
        let request = authorization.into_iter().fold(request, |request, value| request.header("authorization", value));
        request.body(r#"{"query": "{ company { name } }"}"#).send().await.unwrap().json::<Value>().await.unwrap()
    };
    for (position, name, owner) in [(0, "Ada of Acme", "Acme"), (3, "Cleo of Bolt", "Bolt Ltd.")] {
        assert_eq!(callers[position]["name"], name);
        let body = company(Some(format!("Bearer {}", callers[position]["token"].as_str().unwrap()))).await;
        assert_eq!(body["data"]["company"]["name"], owner);
    }
    assert_eq!(company(None).await["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");

    let without = Server::dev(&[]);
    assert_eq!(without.client.get(format!("{}/dev/callers", without.url)).send().await.unwrap().status().as_u16(), 404);
}

#[tokio::test]
async fn it_says_what_each_write_demands() {
    let directory = tempfile::tempdir().unwrap();
    let members = |path: &str| repository("examples/members").join(path).display().to_string();
    let (schema, sample) = (members("schema.graphql"), members("samples"));
    let options = ["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", &sample];
    let server = Server::dev_by(keyfold(directory.path(), &options), directory);
    let writes: Value =
        server.client.get(format!("{}/dev/writes", server.url)).send().await.unwrap().json().await.unwrap();
    let [user, group, membership] = writes["createGroup"].as_array().unwrap().as_slice() else { panic!("{writes}") };
    assert_eq!((&user["presence"], &user["condition"]), (&Value::Null, &"attribute_exists(PK)".into()), "{user}");
    assert_eq!(user["message"], "Sign up first.");
    assert_eq!((&group["presence"], &group["bound"]["id"]), (&"attribute_not_exists(PK)".into(), &"{$id}".into()));
    assert_eq!(membership["bound"]["userId"], "{auth.sub}");
    assert_eq!(writes["renameGroup"][0]["presence"], "attribute_exists(PK)");
}

#[tokio::test]
async fn the_log_says_who_was_refused_what_and_by_which_rule() {
    let directory = tempfile::tempdir().unwrap();
    let tenants = |path: &str| repository("examples/tenants").join(path).display().to_string();
    let (schema, sample) = (tenants("schema.graphql"), tenants("samples"));
    let options = ["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", &sample, "--log-format", "json"];
    let mut server = Server::dev_by(keyfold(directory.path(), &options), directory);
    let callers: Value =
        server.client.get(format!("{}/dev/callers", server.url)).send().await.unwrap().json().await.unwrap();
    let request = server.client.post(format!("{}/graphql", server.url)).header("content-type", "application/json");
    let request = request.header("authorization", format!("Bearer {}", callers[1]["token"].as_str().unwrap()));
    let request = request
        .header("x-request-id", "the-request")
        .body(r#"{"query": "mutation { endProject(id: \"roof\") { name } }"}"#);
    let refused: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN");
    let line: Value = serde_json::from_str(&server.process.wait_for("a rule refused an operation")).unwrap();
    let said = ["subject", "of", "rule", "code", "request_id"].map(|name| line[name].as_str().unwrap());
    assert_eq!(said, ["ben", "Mutation.endProject", "if 'admin' IN (:auth.roles)", "FORBIDDEN", "the-request"]);
    assert!(!line.to_string().contains("roof"), "{line}");
}

const NOTES: &str = r#"
extend schema @table(name: "notes", partitionKey: "PK")
type Note @item(keys: { PK: "{id}" }) @auth(signedIn: true) {
  id: ID!
  ownerId: ID!
  text: String @auth(if: "auth.sub = ownerId", on: [WRITE])
}
type Query {
  note(id: ID!): Note @find
}
type Mutation {
  putNote(id: ID!, ownerId: ID!, text: String): Note @put
  editNote(id: ID!, text: String): Note @update
}
"#;

#[tokio::test]
async fn the_log_names_the_field_whose_rule_refused_a_write() {
    let directory = tempfile::tempdir().unwrap();
    let (schema, sample) = (directory.path().join("notes.graphql"), directory.path().join("samples"));
    std::fs::create_dir(&sample).unwrap();
    std::fs::write(&schema, NOTES).unwrap();
    let callers = ["ann", "ben"].map(|sub| serde_json::json!({ "name": sub, "claims": { "sub": sub } }));
    std::fs::write(sample.join("callers.json"), serde_json::to_string(&callers).unwrap()).unwrap();
    let (schema, sample) = (schema.display().to_string(), sample.display().to_string());
    let options = ["dev", "--listen", "127.0.0.1:0", "--schema", &schema, "--sample", &sample, "--log-format", "json"];
    let mut server = Server::dev_by(keyfold(directory.path(), &options), directory);
    let callers: Value =
        server.client.get(format!("{}/dev/callers", server.url)).send().await.unwrap().json().await.unwrap();
    let asks = async |caller: usize, query: &str| {
        let request = server.client.post(format!("{}/graphql", server.url)).header("content-type", "application/json");
        let request = request.header("authorization", format!("Bearer {}", callers[caller]["token"].as_str().unwrap()));
        request
            .body(serde_json::json!({ "query": query }).to_string())
            .send()
            .await
            .unwrap()
            .json::<Value>()
            .await
            .unwrap()
    };
    let put = asks(0, r#"mutation { putNote(id: "n", ownerId: "ann", text: "mine") { id } }"#).await;
    assert_eq!(put["data"]["putNote"]["id"], "n", "{put}");
    // The table refuses the first, and the second is refused before anything is sent.
    for query in [
        r#"mutation { editNote(id: "n", text: "yours") { id } }"#,
        r#"mutation { putNote(id: "m", ownerId: "ann", text: "yours") { id } }"#,
    ] {
        let refused = asks(1, query).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN", "{refused}");
        let line: Value = serde_json::from_str(&server.process.wait_for("a rule refused an operation")).unwrap();
        assert_eq!(
            ["subject", "of", "rule"].map(|name| line[name].as_str().unwrap()),
            ["ben", "Note.text", "if :auth.sub = ownerId"]
        );
    }
}
