//! Operations and requests that cannot be answered: each is one message with its remedy.

use super::{dev, message, project};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};

#[tokio::test]
async fn a_slip_in_an_operation_says_what_to_write() {
    let server = dev(project(), &[]);
    for (operation, remedy) in [
        ("{ team { name } }", "Write `team(id: …)`."),
        ("{ team(id: \"x\") }", "in braces behind it"),
        ("{ team(id: \"x\") { nam } }", "Did you mean `name`?"),
        ("{ team(id: x) { name } }", "Write a text in quotes."),
        ("{ team(id: 'x') { name } }", "Write a text in double quotes."),
        ("{ team(id=\"x\") { name } }", "Write `:` between"),
        ("{ team(id: \"x\").name }", "in braces behind it"),
        ("qury { team(id: \"x\") { name } }", "Did you mean `query`?"),
        ("{ \"team\": { \"id\": 1 } }", "without quotes"),
        ("{ team(id: \"x\") { name }", "Expected `}`, got the end of the document."),
        ("{ cards(teamId: \"x\") { title } }", "`nodes { title }`"),
        ("{ cards(teamId: \"x\", first: 5000) { nodes { id } } }", "must be 1000 at most"),
        ("{ renameTeam(id: \"x\", name: \"y\") { name } }", "begin the operation with `mutation`"),
        ("mutation { team(id: \"x\") { name } }", "begin the operation with `query`"),
        ("mutation { addPoints(teamId: \"x\", id: \"y\", points: \"1\") { id } }", "Write it without quotes."),
        ("query(id: ID!) { team(id: $id) { name } }", "begins with `$`: `$id`"),
        ("query { team(id: $id) { name } }", "as in `query ($id: ID!)`"),
        ("query($id: Int!) { team(id: $id) { name } }", "Declare it as `$id: ID!`."),
        ("subscription { cards { id } }", "The API has no subscriptions."),
        ("{ cards(teamId: \"x\", last: 5) { nodes { id } } }", "It takes `teamId`, `search`, `first` and `after`."),
        ("{ team(id: \"x\", slug: \"y\") { name } }", "It takes `id`."),
        ("{ team(id: \"x\") { name } team(id: \"y\") { name } }", "Name one of them: `other: team(…)`."),
    ] {
        let request = server.client.post(format!("{}/graphql", server.url)).json(&json!({ "query": operation }));
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        let errors = answer["errors"].as_array().map_or(0, Vec::len);
        assert!(errors == 1 && message(&answer).contains(remedy), "{operation}\n{answer:#}");
    }
}

#[tokio::test]
async fn a_number_in_quotes_among_the_variables_stands_without_them() {
    let server = dev(project(), &[]);
    let query = "mutation ($p: Int!) { createCard(teamId: \"t\", title: \"a\", points: $p) { id } }";
    let body = json!({ "query": query, "variables": { "p": "5" } });
    let request = server.client.post(format!("{}/graphql", server.url)).json(&body);
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    assert!(message(&answer).ends_with("it is an integer of 32 bits, without quotes."), "{answer}");
}

#[tokio::test]
async fn a_slip_in_a_request_says_what_to_send() {
    let server = dev(project(), &[]);
    let body = json!({ "query": "{ __typename }" }).to_string();
    let post = |path: &str, body: String| {
        let request = server.client.post(format!("{}{path}", server.url)).header(CONTENT_TYPE, "application/json");
        request.body(body)
    };
    let mutation = "/graphql?query=mutation%7BdeleteCard(teamId:%22a%22,id:%22b%22)%7Bid%7D%7D";
    for (slip, request, status, remedy) in [
        ("another path", post("/graph", body.clone()), 404, "The API is at /graphql."),
        ("the page's path", post("/", body.clone()), 405, "The API is at /graphql."),
        (
            "another content type",
            server.client.post(format!("{}/graphql", server.url)).body(body.clone()),
            415,
            "with the header content-type: application/json",
        ),
        ("a mutation by GET", server.client.get(format!("{}{mutation}", server.url)), 405, "by POST"),
        ("a comma too many", post("/graphql", body.replace('}', "},}")), 400, "not valid JSON"),
        (
            "variables as a text",
            post("/graphql", "{ \"query\": \"{ __typename }\", \"variables\": \"{}\" }".to_owned()),
            400,
            "send the object itself",
        ),
        (
            "an object as the query",
            post("/graphql", "{ \"query\": {} }".to_owned()),
            400,
            "send the operation as a text",
        ),
        ("no query", post("/graphql", "{ \"mutation\": \"{ a }\" }".to_owned()), 400, "\"query\" is missing"),
        ("a page in return", post("/graphql", body.clone()).header(ACCEPT, "text/html"), 406, "Accept application/"),
    ] {
        let response = request.send().await.unwrap();
        let answered = response.status().as_u16();
        let answer: Value = response.json().await.unwrap();
        assert!(answered == status && message(&answer).contains(remedy), "{slip}: {answered}\n{answer:#}");
    }
}
