//! Attacks by operations: what a rule hides or refuses comes to no service, by no way.

use super::bureau::{Bureau, Listening, clerk, request};
use crate::store::codes;
use keyfold::execute::request::Request;
use serde_json::{Value, json};
use std::sync::Arc;

/// The name of an attack, its caller, its operation; the data, the codes of the errors, and what services get.
type Attack = (&'static str, Value, &'static str, Value, &'static [&'static str], Vec<(&'static str, Value)>);

/// The attacks that take more than an operation.
pub const NAMES: [&str; 7] = [
    "a service's field by a global id",
    "a service's field of a change that is hidden",
    "a service's field of a change that is shown",
    "the claims of another subscriber",
    "another caller at the same moment",
    "an answer that the cache keeps",
    "a plan that another caller has made",
];

pub fn attacks() -> Vec<Attack> {
    let ben = || json!({ "sub": "ben" });
    let number = |field: &'static str, number: &str| (field, json!({ "number": number }));
    let refused = |field: &str| json!({ "letter": { field: null } });
    vec![
        (
            "a field of a service, of a field with a rule",
            ben(),
            r#"{ letter(number: "1") { summary } }"#,
            refused("summary"),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a field of a service, of a type with a rule",
            ben(),
            r#"{ letter(number: "1") { seal } }"#,
            refused("seal"),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a field of a service with a rule of its own",
            ben(),
            r#"{ letter(number: "1") { stamp } }"#,
            refused("stamp"),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a field of a service of a refused item",
            ben(),
            r#"{ letter(number: "1") { vault { label } } }"#,
            json!({ "letter": { "vault": null } }),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a field of a service of a hidden item",
            ben(),
            r#"{ diary(letter: "1", number: "1") { summary } }"#,
            json!({ "diary": null }),
            &[],
            vec![],
        ),
        (
            "a service's field under an alias beside a shown one",
            Value::Null,
            r#"{ letter(number: "1") { public: stamp stamp: public } }"#,
            json!({ "letter": { "public": null, "stamp": "of Letter.public" } }),
            &["UNAUTHENTICATED"],
            vec![number("Letter.public", "1")],
        ),
        (
            "a service's field in nested fragments",
            ben(),
            r#"{ ...A } fragment A on Query { letter(number: "1") { ...B } } fragment B on Letter { ... { summary } }"#,
            refused("summary"),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a service's field with a directive",
            ben(),
            r#"query($yes: Boolean = true) { letter(number: "1") { stamp @include(if: $yes) summary @skip(if: $yes) } }"#,
            refused("stamp"),
            &["FORBIDDEN"],
            vec![],
        ),
        (
            "a service's field of an interface",
            ben(),
            "{ papers { number summary } }",
            json!({ "papers": [
                { "number": "2", "summary": "of Diary.summary" },
                { "number": "1", "summary": null },
                { "number": "2", "summary": null },
            ] }),
            &["FORBIDDEN", "FORBIDDEN"],
            vec![("Diary.summary", json!({ "number": "2", "text": "an open page" }))],
        ),
        (
            "a service's field of a union",
            ben(),
            "{ sheets { ... on Diary { summary } ... on Letter { stamp } } }",
            json!({ "sheets": [{ "summary": "of Diary.summary" }, { "stamp": null }, { "stamp": null }] }),
            &["FORBIDDEN", "FORBIDDEN"],
            vec![("Diary.summary", json!({ "number": "2", "text": "an open page" }))],
        ),
        (
            "a service's field in a page beside the number of all",
            ben(),
            r#"{ diaries(letter: "1") { totalCount nodes { summary } edges { node { summary } } } }"#,
            json!({ "diaries": {
                "totalCount": 1,
                "nodes": [{ "summary": "of Diary.summary" }],
                "edges": [{ "node": { "summary": "of Diary.summary" } }],
            } }),
            &[],
            vec![("Diary.summary", json!({ "number": "2", "text": "an open page" }))],
        ),
        (
            "a count of hidden items that a service gets",
            ben(),
            r#"{ letter(number: "1") { weight } }"#,
            json!({ "letter": { "weight": 7 } }),
            &[],
            vec![("Letter.weight", json!({ "number": "1", "diaryCount": 1 }))],
        ),
        (
            "a service's field in a list of lists",
            ben(),
            "{ letters { number stamp vault { label } } }",
            json!({ "letters": [
                { "number": "1", "stamp": null, "vault": null },
                { "number": "2", "stamp": null, "vault": null },
            ] }),
            &["FORBIDDEN", "FORBIDDEN", "FORBIDDEN", "FORBIDDEN"],
            vec![],
        ),
        (
            "a service's field of what a write gives back",
            ben(),
            r#"mutation { dropDiary(letter: "1", number: "1") { summary } }"#,
            json!({ "dropDiary": null }),
            &[],
            vec![],
        ),
        (
            "a relation by a key that a service names",
            ben(),
            r#"{ letter(number: "1") { hint { vaultNumber vault { code } } } }"#,
            json!({ "letter": { "hint": { "vaultNumber": "1", "vault": null } } }),
            &["FORBIDDEN"],
            vec![number("Letter.hint", "1")],
        ),
        (
            "an object of a service behind a rule, only its type's name",
            ben(),
            r#"{ letter(number: "1") { secretHint { __typename vault { number } } } }"#,
            refused("secretHint"),
            &["FORBIDDEN"],
            vec![],
        ),
    ]
}

/// A value for each field.
fn words() -> Listening {
    Listening::new(|field, _| match field {
        "Letter.weight" => json!(7),
        "Letter.hint" | "Letter.secretHint" => json!({ "text": "a word", "vaultNumber": "1" }),
        _ => json!(format!("of {field}")),
    })
}

async fn bureau() -> (Bureau, Listening) {
    let words = words();
    (Bureau::open(Arc::new(words.clone())).await, words)
}

/// What services got: the field and each item.
fn seen(words: &Listening) -> Vec<(String, Value)> {
    let calls = words.take();
    calls.iter().flat_map(|call| call.values().into_iter().map(|item| (call.field.clone(), item))).collect()
}

#[tokio::test]
async fn no_operation_brings_a_service_what_a_rule_refuses() {
    let (bureau, words) = bureau().await;
    let mut wrong = String::new();
    for (name, claims, operation, data, expected, gets) in attacks() {
        let response = bureau.run(&claims, operation).await;
        let gets: Vec<(String, Value)> = gets.into_iter().map(|(field, item)| (field.to_owned(), item)).collect();
        let seen = seen(&words);
        if response["data"] != data || codes(&response) != expected || seen != gets {
            wrong += &format!("{name}: {response}\n  {seen:?}\n");
        }
        assert!(!response.to_string().contains("secret "), "{name}: {response}");
    }
    assert!(wrong.is_empty(), "{wrong}");
    // A clerk gets all of it, so the attacks tried what there is.
    let all = r#"{ letter(number: "1") { summary seal stamp vault { label } secretHint { vault { code } } } }"#;
    assert_eq!(codes(&bureau.run(&clerk(), all).await), [""; 0]);
}

/// "a service's field by a global id".
#[tokio::test]
async fn a_global_id_of_a_hidden_item_asks_no_service() {
    let (bureau, words) = bureau().await;
    let ids = r#"{ diary(letter: "1", number: "1") { id } letter(number: "1") { id } }"#;
    let found = bureau.run(&json!({ "sub": "ann", "role": "clerk" }), ids).await;
    let [diary, letter] = ["diary", "letter"].map(|name| found["data"][name]["id"].as_str().unwrap().to_owned());
    let operation = format!(
        r#"{{ a: node(id: "{diary}") {{ ... on Diary {{ summary }} }} b: node(id: "{letter}") {{ ... on Letter {{ summary stamp }} }} }}"#
    );
    let response = bureau.run(&json!({ "sub": "ben" }), &operation).await;
    assert_eq!(response["data"], json!({ "a": null, "b": { "summary": null, "stamp": null } }), "{response}");
    assert_eq!(codes(&response), ["FORBIDDEN", "FORBIDDEN"]);
    assert_eq!(seen(&words), []);
}

/// "a service's field of a change that is hidden", "a service's field of a change that is shown".
#[tokio::test]
async fn a_change_that_a_rule_hides_asks_no_service() {
    let (bureau, words) = bureau().await;
    let subscription = r#"subscription { diaries(letter: "9") { number summary } }"#;
    let put = |number: &str, owner: &str| {
        format!(
            r#"put{number}: putDiary(letter: "9", number: "{number}", ownerId: "{owner}", text: "of {owner}") {{ number }}"#
        )
    };
    let change = format!("mutation {{ {} {} }}", put("1", "ann"), put("2", "ben"));
    let notified = bureau.notified(&[json!({ "sub": "ben" })], subscription, &change).await;
    assert_eq!(
        notified,
        [
            json!({ "data": { "diaries": { "number": "2", "summary": "of Diary.summary" } }, "extensions": notified[0]["extensions"] })
        ]
    );
    assert_eq!(seen(&words), [("Diary.summary".to_owned(), json!({ "number": "2", "text": "of ben" }))]);

    let subscription = r#"subscription { letter(number: "9") { stamp summary } }"#;
    let change = r#"mutation { putLetter(number: "9", text: "secret news") { number } }"#;
    let notified = bureau.notified(&[json!({ "sub": "ben" })], subscription, change).await;
    assert_eq!(notified[0]["data"], json!({ "letter": { "stamp": null, "summary": null } }));
    assert_eq!(codes(&notified[0]), ["FORBIDDEN", "FORBIDDEN"]);
    assert_eq!(seen(&words), []);
}

/// "the claims of another subscriber".
#[tokio::test]
async fn each_subscriber_asks_with_own_claims() {
    let (bureau, words) = bureau().await;
    let subscription = r#"subscription { letter(number: "9") { mine } }"#;
    let change = r#"mutation { putLetter(number: "9", text: "news") { number } }"#;
    bureau.notified(&[json!({ "sub": "ben" }), json!({ "sub": "ann" })], subscription, change).await;
    let mut subs: Vec<Value> = words.take().into_iter().map(|call| call.caller.unwrap()["sub"].clone()).collect();
    subs.sort_by_key(Value::to_string);
    assert_eq!(subs, ["ann", "ben"]);
}

/// "another caller at the same moment": answers and failures are each caller's own.
#[tokio::test]
async fn callers_at_the_same_moment_share_no_call() {
    let words = words();
    let bureau = Bureau::open(Arc::new(words.clone())).await;
    let query = r#"{ letter(number: "1") { summary stamp mine } }"#;
    let mut callers = Vec::new();
    for number in 0..40 {
        let role = if number % 2 == 0 { "clerk" } else { "guest" };
        callers.push(json!({ "sub": format!("u{number}"), "role": role }));
    }
    let answers = futures_util::future::join_all(callers.iter().map(|claims| bureau.run(claims, query))).await;
    for (claims, answer) in callers.iter().zip(answers) {
        let is_clerk = claims["role"] == "clerk";
        assert_eq!(answer["data"]["letter"]["summary"] == "of Letter.summary", is_clerk, "{claims}: {answer}");
        assert_eq!(codes(&answer).len(), if is_clerk { 0 } else { 2 }, "{claims}: {answer}");
    }
    let calls = words.take();
    let fields = |field: &str| calls.iter().filter(|call| call.field == field).count();
    assert_eq!((fields("Letter.summary"), fields("Letter.stamp"), fields("Letter.mine")), (20, 20, 40));
}

/// "an answer that the cache keeps": what a service computes of claims is its caller's, and rules come after the cache.
#[tokio::test]
async fn a_kept_answer_is_for_whom_it_was_made() {
    let (bureau, words) = bureau().await;
    for (query, is_private) in [("public", false), ("kept", true)] {
        let query = format!(r#"{{ keptLetter(number: "1") {{ {query} }} }}"#);
        let response = bureau.response(request(&json!({ "sub": "ann" }), &query)).await;
        assert_eq!((response.policy.max_age, response.policy.private), (60, is_private), "{query}");
    }
    words.take();
    // The item is in the cache, from a clerk who may see all of it.
    let query = r#"{ keptLetter(number: "1") { summary stamp } }"#;
    assert_eq!(codes(&bureau.run(&clerk(), query).await), [""; 0]);
    words.take();
    assert_eq!(codes(&bureau.run(&json!({ "sub": "ben" }), query).await), ["FORBIDDEN", "FORBIDDEN"]);
    assert_eq!(seen(&words), []);
}

/// "a plan that another caller has made": a plan is kept for all callers, and decides nothing for them.
#[tokio::test]
async fn a_kept_plan_lets_nobody_in() {
    let (bureau, words) = bureau().await;
    let query = r#"query Q($number: ID!) { letter(number: $number) { summary stamp seal } }"#;
    let with = |claims: Value| {
        let variables = json!({ "number": "1" }).as_object().cloned().unwrap();
        Request { variables, ..request(&claims, query) }
    };
    let prepared = bureau.gateway.prepare(&with(clerk())).await.unwrap();
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    bureau.gateway.run(&prepared, deadline, false).await;
    assert_eq!(words.take().len(), 3);
    let response: Value = serde_json::from_slice(&bureau.response(with(json!({ "sub": "ben" }))).await.body).unwrap();
    assert_eq!(codes(&response), ["FORBIDDEN", "FORBIDDEN", "FORBIDDEN"]);
    assert_eq!(seen(&words), []);
}
