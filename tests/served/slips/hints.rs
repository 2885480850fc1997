//! What is valid and hardly meant: `keyfold dev` answers it, and says in its log, or in what it explains, what to
//! change. A refusal names its rule there. `keyfold serve` tells a client no rule and no claim.

use super::tokens::{SECRET, now, token};
use super::{KANBAN, dev, message};
use crate::server::Server;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// A directory with a schema that has fields for callers, and with the secret of their tokens.
fn project() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let fields = "  me: User @find(where: { id: \"{auth.sub}\" })\n  \
                  mine: Team @find(where: { id: \"{auth.tenant}\" })\n  \
                  secret(id: ID!): User @find @auth(signedIn: true)\n  \
                  admin(id: ID!): User @find @auth(if: \"auth.role = 'admin'\")\n";
    let schema = KANBAN.replacen("type Query {\n", &format!("type Query {{\n{fields}"), 1);
    fs::write(directory.path().join("schema.graphql"), schema).unwrap();
    fs::write(directory.path().join("secret"), SECRET).unwrap();
    directory
}

fn server() -> Server {
    dev(project(), &["--token-secret", "secret"])
}

/// What the server answers to a request, with these claims, if any.
async fn answer(server: &Server, body: Value, claims: Option<Value>) -> Value {
    let request = server.client.post(format!("{}/graphql", server.url)).header("x-keyfold-explain", "1").json(&body);
    let request = match claims {
        Some(claims) => request.header("authorization", format!("Bearer {}", token(&claims, "HS256", SECRET))),
        None => request,
    };
    request.send().await.unwrap().json().await.unwrap()
}

/// The lines of the log that hold a text, of which there is at least one.
fn lines(server: &mut Server, text: &str) -> Vec<String> {
    let has = |lines: &[String]| lines.iter().any(|line| line.contains(text));
    if !has(server.process.said_so_far()) {
        server.process.wait_for(text);
    }
    server.process.said_so_far().iter().filter(|line| line.contains(text)).cloned().collect()
}

#[tokio::test]
async fn a_variable_that_is_not_declared_is_named_with_the_one_that_was_meant() {
    let mut server = dev(super::project(), &[]);
    let query = "query Cards($search: String) { cards(teamId: \"1\", search: $search) { nodes { id } } }";
    let got = answer(&server, json!({ "query": query, "variables": { "serach": "x" } }), None).await;
    assert_eq!(got["data"], json!({ "cards": { "nodes": [] } }));
    let said = "The operation declares no variable \"$serach\". Did you mean \"search\"?";
    assert_eq!(got["extensions"]["keyfold"]["warnings"], json!([said]), "{got}");
    let warned = lines(&mut server, "the operation declares no such variable");
    assert!(warned[0].contains("WARN") && warned[0].contains("serach") && warned[0].contains("search"), "{warned:?}");

    let got = answer(&server, json!({ "query": query, "variables": { "search": "x" } }), None).await;
    assert_eq!(got["extensions"]["keyfold"].get("warnings"), None, "{got}");
    let needed = "query ($id: ID!) { team(id: $id) { name } }";
    let got = answer(&server, json!({ "query": needed, "variables": { "Id": "x" } }), None).await;
    assert!(message(&got).ends_with("The request has \"Id\"."), "{got}");
}

#[tokio::test]
async fn a_claim_that_a_token_lacks_is_named_once() {
    let mut server = server();
    for _ in 0..2 {
        let got = answer(&server, json!({ "query": "{ mine { name } }" }), Some(json!({}))).await;
        assert_eq!(got["data"], json!({ "mine": null }), "{got}");
    }
    answer(&server, json!({ "query": "{ admin(id: 1) { name } }" }), None).await;
    let anonymous = lines(&mut server, "claim=\"auth.role\"");
    assert!(
        anonymous[0].contains("who=\"anonymous\"") && anonymous[0].contains("--claim role=VALUE`"),
        "{anonymous:?}"
    );
    let lacked = lines(&mut server, "claim=\"auth.tenant\"");
    assert!(lacked.len() == 1 && lacked[0].contains("--claim tenant=VALUE"), "{lacked:?}");

    // The log says nothing of a claim that a token has.
    let mut server = self::server();
    answer(&server, json!({ "query": "{ mine { name } }" }), Some(json!({ "tenant": "1" }))).await;
    answer(&server, json!({ "query": "{ admin(id: 1) { name } }" }), None).await;
    lines(&mut server, "claim=\"auth.role\"");
    assert!(!server.process.said_so_far().iter().any(|line| line.contains("auth.tenant")));
}

#[tokio::test]
async fn a_token_in_the_address_is_named_and_not_shown() {
    let mut server = server();
    let token = token(&json!({}), "HS256", SECRET);
    for _ in 0..2 {
        let request = server.client.post(format!("{}/graphql?access_token={token}", server.url));
        let got: Value =
            request.json(&json!({ "query": "{ me { name } }" })).send().await.unwrap().json().await.unwrap();
        assert_eq!(got["data"], json!({ "me": null }), "{got}");
    }
    let said = lines(&mut server, "a token in the address of a request is not read");
    assert!(
        said.len() == 1 && said[0].contains("parameter=\"access_token\"") && said[0].contains("Bearer"),
        "{said:?}"
    );
    assert!(!server.process.said_so_far().iter().any(|line| line.contains(&token)));
}

#[tokio::test]
async fn a_refusal_names_the_rule_and_how_to_get_a_token() {
    let server = server();
    let got = answer(&server, json!({ "query": "{ secret(id: 1) { name } }" }), None).await;
    let said = "Sign in first: `Query.secret` has the rule `signed in`. `keyfold token --sub me` prints a token; send it \
                as `Authorization: Bearer <token>`.";
    assert_eq!(message(&got), said);
    let got = answer(&server, json!({ "query": "{ admin(id: 1) { name } }" }), Some(json!({}))).await;
    assert!(message(&got).starts_with("You are not allowed to do this: `Query.admin` has the rule `"), "{got}");
    assert!(message(&got).contains("auth.role = 'admin'"), "{got}");
}

#[tokio::test]
async fn a_time_in_milliseconds_is_named() {
    let mut server = server();
    let milliseconds = (now() + 3_600) * 1_000;
    for _ in 0..2 {
        let got = answer(&server, json!({ "query": "{ me { name } }" }), Some(json!({ "exp": milliseconds }))).await;
        assert_eq!(got["data"], json!({ "me": null }));
    }
    let warned = lines(&mut server, "a time of a token is in milliseconds");
    assert!(warned.len() == 1 && warned[0].contains("claim=\"exp\"") && warned[0].contains("by 1000"), "{warned:?}");
    let got = answer(&server, json!({ "query": "{ __typename }" }), Some(json!({ "nbf": milliseconds }))).await;
    assert!(message(&got).contains("Its `nbf` is in milliseconds: divide it by 1000"), "{got}");
}

#[tokio::test]
async fn a_cursor_of_another_list_says_how_to_go_on() {
    let server = dev(super::project(), &[]);
    let query = "{ cards(teamId: \"1\", after: \"abc\") { nodes { id } } }";
    let got = answer(&server, json!({ "query": query }), None).await;
    let step = "Begin without a cursor, and take the next ones from the answers.";
    assert!(message(&got).ends_with(step), "{got}");
}

#[tokio::test]
async fn a_trusted_document_that_does_not_fit_is_named_with_its_place() {
    let directory = project();
    let documents = directory.path().join("documents");
    fs::create_dir(&documents).unwrap();
    fs::write(documents.join("team.graphql"), "query Team {\n  team(id: \"1\") { nam }\n}\n").unwrap();
    fs::write(
        documents.join("list.json"),
        json!({ "a1": "{ cards }", "a2": "{ __typename }", "a3": "{ nothing }" }).to_string(),
    )
    .unwrap();
    let mut server = dev(directory, &["--token-secret", "secret", "--documents", "documents"]);
    let said = lines(&mut server, "team.graphql");
    let place = said.iter().find(|line| line.contains("does not fit the schema")).unwrap();
    assert!(place.contains("line=2") && place.contains("Did you mean `name`?"), "{place}");
    let listed = lines(&mut server, "id=\"a1\"");
    assert!(listed[0].contains("list.json") && listed[0].contains("line=1"), "{listed:?}");
    // The list is read in the order of its ids.
    lines(&mut server, "id=\"a3\"");
    assert!(!server.process.said_so_far().iter().any(|line| line.contains("id=\"a2\"")));
    // The others run.
    let got = answer(&server, json!({ "documentId": "a2" }), None).await;
    assert_eq!(got["data"], json!({ "__typename": "Query" }), "{got}");
}
