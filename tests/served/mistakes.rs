//! Wrong, odd or too large operations: each is answered with its code, at once, and the process continues.

use super::server::{Answer, Behind, Server, samples};
use serde_json::{Value, json};

const AIKO: &str = "11111111-1111-4111-8111-111111111111";

async fn goes_on(server: &Server) {
    let answer = server.ask("query($id: ID!) { user(id: $id) { name } }", json!({ "id": AIKO })).await;
    assert_eq!(answer.data(), &json!({"user": {"name": "Aiko Tanaka"}}));
}

fn codes(answer: &Answer) -> Vec<&str> {
    let errors = answer.body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.iter().map(|error| error["extensions"]["code"].as_str().unwrap()).collect()
}

fn messages(answer: &Answer) -> Vec<&str> {
    answer.body["errors"].as_array().unwrap().iter().map(|error| error["message"].as_str().unwrap()).collect()
}

pub async fn a_mistake_is_reported_with_its_code_and_place(behind: Behind) {
    let server = Server::start(behind, &samples());
    let by_id = "query($id: ID!) { user(id: $id) { name } }";
    let cases = [
        ("{ user(id: \"1\") { name ", json!({}), "GRAPHQL_PARSE_FAILED", "Expected `}`, got the end of the document."),
        ("", json!({}), "GRAPHQL_PARSE_FAILED", "Expected an operation, got the end of the document."),
        ("{ nope }", json!({}), "GRAPHQL_VALIDATION_FAILED", "Type `Query` does not have a field `nope`."),
        (
            "{ user(id: \"1\") { nope } }",
            json!({}),
            "GRAPHQL_VALIDATION_FAILED",
            "Type `User` does not have a field `nope`.",
        ),
        ("{ user(id: \"1\") { name { x } } }", json!({}), "GRAPHQL_VALIDATION_FAILED", "must not have subselections"),
        ("{ user(id: \"1\") }", json!({}), "GRAPHQL_VALIDATION_FAILED", "must have a subselection set"),
        (
            "{ group(id: \"1\") { links { groupId } } }",
            json!({}),
            "GRAPHQL_VALIDATION_FAILED",
            "does not have a field `links`",
        ),
        ("{ user { name } }", json!({}), "GRAPHQL_VALIDATION_FAILED", "`Query.user(id:)` is not provided"),
        (
            "subscription { user }",
            json!({}),
            "GRAPHQL_VALIDATION_FAILED",
            "Type `Subscription` does not have a field `user`",
        ),
        (
            "query A { __typename } query B { __typename }",
            json!({}),
            "BAD_USER_INPUT",
            "several operations, `A` and `B`",
        ),
        (by_id, json!({}), "BAD_USER_INPUT", "Variable \"$id\" is missing, and its type ID! does not allow null."),
        (
            by_id,
            json!({"id": null}),
            "BAD_USER_INPUT",
            "Variable \"$id\" is not acceptable: it must not be null, as its type is ID!.",
        ),
        (
            by_id,
            json!({"id": {"a": 1}}),
            "BAD_USER_INPUT",
            "Variable \"$id\" is not acceptable: ID cannot be an object: it is a string or an integer.",
        ),
        (
            by_id,
            json!({"id": 1.5}),
            "BAD_USER_INPUT",
            "Variable \"$id\" is not acceptable: ID cannot be 1.5: it is a string or an integer.",
        ),
        (
            "query($a: Boolean!) { __typename @skip(if: $a) }",
            json!({"a": "yes"}),
            "BAD_USER_INPUT",
            "Boolean cannot be \"yes\": it is true or false.",
        ),
    ];
    for (query, variables, code, message) in cases {
        let answer = server.ask(query, variables).await;
        assert_eq!((answer.status, codes(&answer)), (400, vec![code]), "{query}: {:#}", answer.body);
        assert!(messages(&answer)[0].contains(message), "{query}: {}", messages(&answer)[0]);
        assert!(answer.body.get("data").is_none(), "{:#}", answer.body);
    }
    let named = json!({"query": "query A { __typename }", "operationName": "B"});
    assert_eq!(server.send(named.to_string().into_bytes(), false).await.error().1, "BAD_USER_INPUT");
    let two = server.ask("{\n  nope\n  neither\n}", json!({})).await;
    assert_eq!(two.body["errors"][1]["locations"], json!([{"line": 3, "column": 3}]));
    goes_on(&server).await;
}

pub async fn odd_values_are_values(behind: Behind) {
    let server = Server::start(behind, &samples());
    let long = "x".repeat(1_000_000);
    for id in [
        "",
        "\0",
        "a\0b",
        "🥑",
        "{id}",
        "%",
        "Group#",
        "' OR 1=1 --",
        "${HOME}",
        long.as_str(),
        &long[..2048],
        &long[..2049],
    ] {
        let query = "query($id: ID!) { user(id: $id) { name groups { nodes { name } } } isMember(userId: \"11111111-1111-4111-8111-111111111111\", groupId: $id) userByEmail(email: \"\") { id } }";
        let answer = server.ask(query, json!({ "id": id })).await;
        assert_eq!(answer.data(), &json!({"user": null, "isMember": false, "userByEmail": null}), "{:.20}", id);
    }
    // Ids may be numbers; the server ignores unknown members of the request.
    assert_eq!(
        server.ask("{ user(id: 12345678901234567890) { name } }", json!({"more": 1})).await.data(),
        &json!({"user": null})
    );
    let typed = "{ __typename user(id: \"11111111-1111-4111-8111-111111111111\") { __typename memberships(first: 1) { __typename nodes { __typename } pageInfo { __typename } } } }";
    let expected = json!({"__typename": "Query", "user": {"__typename": "User", "memberships": {
        "__typename": "MembershipConnection", "nodes": [{"__typename": "Membership"}], "pageInfo": {"__typename": "PageInfo"}}}});
    assert_eq!(server.ask(typed, json!({})).await.data(), &expected);
    let conditional = "query($id: ID!, $skip: Boolean!, $with: Boolean = false) { user(id: $id) { id @skip(if: $skip) name @include(if: $with) ... @skip(if: $skip) { email } } }";
    let data = |skip: bool, with: Value| (json!({"id": AIKO, "skip": skip, "with": with}), skip, with);
    for (variables, skip, with) in [data(true, json!(true)), data(false, json!(false)), data(true, json!(false))] {
        let answer = server.ask(conditional, variables).await;
        let user = answer.data()["user"].as_object().unwrap();
        assert_eq!(
            (user.contains_key("id"), user.contains_key("email"), json!(user.contains_key("name"))),
            (!skip, !skip, with)
        );
    }
    for body in [
        &b"{\"query\":\"{ user(id: \\\"\\\\uD800\\\") { name } }\"}"[..],
        b"{\"query\":\"\\ud800\"}",
        b"{\"query\":\"\xff\"}",
        b"null",
        b"",
    ] {
        assert_eq!(server.send(body.to_vec(), false).await.status, 400, "{}", String::from_utf8_lossy(body));
    }
    goes_on(&server).await;
}

pub async fn too_much_is_refused_at_once(behind: Behind) {
    let server = Server::start(behind, &samples());
    let doubling = |depth: usize, on: &str, leaf: &str| {
        let fragments = (0..depth).map(|n| format!("fragment F{n} on {on} {{ ...F{} ...F{} }}", n + 1, n + 1));
        format!("{} fragment F{depth} on {on} {{ {leaf} }}", fragments.collect::<Vec<_>>().join(" "))
    };
    let aliased = |count: usize, field: &str| (0..count).map(|n| format!("a{n}: {field} ")).collect::<String>();
    let cases = [
        format!("{{ ...F0 }} {}", doubling(60, "Query", "__typename")),
        format!("{{ user(id: 1) {{ ...F0 }} }} {}", doubling(60, "User", "name")),
        format!("{{ __schema {{ types {{ ...F0 }} }} }} {}", doubling(60, "__Type", "name")),
        format!("{{ {} }}", aliased(10_000, "user(id: 1) { name }")),
        format!("{{ {} }}", aliased(5_001, "__typename")),
        format!("{{ {} }}", aliased(31, "__schema { types { name } }")),
        format!("{{ __schema {{ {} }} }}", aliased(31, "types { name }")),
        format!("{{ {} }}", "user(id: 1) { name } ".repeat(10_000)),
        "{a".repeat(100_000),
        format!("{{ user(id: {}", "[".repeat(100_000)),
        format!("{{ group(id: 1) {} {{ name {} }}", "{ users { nodes { groups { nodes ".repeat(6), "}".repeat(25)),
    ];
    for query in cases {
        let answer = server.ask(&query, json!({})).await;
        assert_eq!((answer.status, codes(&answer)), (400, vec!["LIMIT_EXCEEDED"]), "{:.100}: {:#}", query, answer.body);
    }
    let nested = format!(
        "{{\"query\":\"{{__typename}}\",\"variables\":{{\"a\":{}{}}}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(server.send(nested.into_bytes(), false).await.error().1, "BAD_USER_INPUT");
    goes_on(&server).await;
}

pub async fn what_is_reported_has_a_bound(behind: Behind) {
    let server = Server::start(behind, &samples());
    let long = "x".repeat(1_000_000);
    let many: String = (0..4000).map(|n| format!("x{n} ")).collect();
    let by_id = "query($id: ID!) { user(id: $id) { name } }";
    for (query, variables) in [
        (format!("{{ {many} }}"), json!({})),
        (format!("{{ {long} }}"), json!({})),
        (by_id.into(), json!({"id": [long]})),
    ] {
        let answer = server.ask(&query, variables).await;
        assert_eq!(answer.status, 400);
        assert!(answer.body.to_string().len() < 10_000, "{}", answer.body.to_string().len());
    }
    goes_on(&server).await;
}
