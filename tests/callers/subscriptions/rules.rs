//! Nobody learns of what a rule refuses: neither a change, nor a part of one, nor that there was one.

use super::listener::{Watching, watching};
use keyfold::execute::caller::Caller;
use keyfold::execute::request::Request;
use serde_json::{Value, json};

const CLUBS: &str = include_str!("../../schemas/subscriptions/ruled.graphql");

fn request(query: &str, claims: Value) -> Request {
    let caller = match claims {
        Value::Object(claims) => Caller::signed_in(claims),
        _ => Caller::anonymous(),
    };
    Request { query: query.to_owned(), caller, ..Request::default() }
}

async fn run(clubs: &Watching, query: &str, claims: Value) {
    let body = clubs.run_as(request(query, claims)).await;
    assert!(body["data"].as_object().is_some_and(|data| !data.is_empty()), "{query}: {body}");
}

fn user(sub: &str) -> Value {
    json!({ "sub": sub })
}

#[tokio::test]
async fn a_change_needs_the_rule_of_its_item_when_it_arrives() {
    let clubs = watching(CLUBS).await;
    let query = r#"subscription { notes(clubId: "c") { change node { text } previous { text } } }"#;
    let mut ann = clubs.subscribe_as(request(query, user("ann"))).await;
    let mut ben = clubs.subscribe_as(request(query, user("ben"))).await;
    ann.begin().await;
    ben.begin().await;
    let put = |text: &str| format!(r#"mutation {{ putNote(clubId: "c", id: "1", text: "{text}") {{ id }} }}"#);
    let joins = |verb: &str, who: &str| format!(r#"mutation {{ {verb}(clubId: "c", userId: "{who}") {{ userId }} }}"#);
    run(&clubs, &joins("join", "ann"), user("ann")).await;
    clubs.run_as(request(&put("for ann"), user("x"))).await;
    let inserted = |text: &str| json!({ "notes": { "change": "INSERT", "node": { "text": text }, "previous": null } });
    let modified = |text: &str, before: &str| json!({ "notes": { "change": "MODIFY", "node": { "text": text }, "previous": { "text": before } } });
    assert_eq!(ann.next().await, inserted("for ann"));
    run(&clubs, &joins("join", "ben"), user("ben")).await;
    run(&clubs, &joins("leave", "ann"), user("ann")).await;
    clubs.run_as(request(&put("for ben"), user("x"))).await;
    assert_eq!(ben.next().await, modified("for ben", "for ann"), "the first one was not for ben");
    run(&clubs, &joins("join", "ann"), user("ann")).await;
    clubs.run_as(request(&put("for both"), user("x"))).await;
    assert_eq!(ann.next().await, modified("for both", "for ben"), "the second one was not for ann");
    assert_eq!(ben.next().await, modified("for both", "for ben"));
}

#[tokio::test]
async fn a_hidden_item_comes_when_it_can_be_seen_and_goes_when_it_cannot() {
    let clubs = watching(CLUBS).await;
    let query = r#"subscription { drafts(clubId: "c") { change node { ownerId } previous { ownerId } } }"#;
    let mut ann = clubs.subscribe_as(request(query, user("ann"))).await;
    let mut ben = clubs.subscribe_as(request(query, user("ben"))).await;
    ann.begin().await;
    ben.begin().await;
    for owner in ["ann", "ben", "cy", "ben"] {
        run(
            &clubs,
            &format!(r#"mutation {{ putDraft(clubId: "c", id: "1", ownerId: "{owner}", text: "t") {{ id }} }}"#),
            user(owner),
        )
        .await;
    }
    let of = |change: &str, who: &str| match change {
        "INSERT" => json!({ "drafts": { "change": change, "node": { "ownerId": who }, "previous": null } }),
        _ => json!({ "drafts": { "change": change, "node": null, "previous": { "ownerId": who } } }),
    };
    assert_eq!(ann.next().await, of("INSERT", "ann"));
    assert_eq!(ann.next().await, of("REMOVE", "ann"));
    assert_eq!(ben.next().await, of("INSERT", "ben"));
    assert_eq!(ben.next().await, of("REMOVE", "ben"));
    assert_eq!(ben.next().await, of("INSERT", "ben"));
    ann.begin().await;
}

#[tokio::test]
async fn a_rule_reads_a_field_in_the_key_of_a_change() {
    let clubs = watching(CLUBS).await;
    let query = r#"subscription { letters(clubId: "c") { change node { to text } previous { to text } } }"#;
    let mut ann = clubs.subscribe_as(request(query, user("ann"))).await;
    let mut ben = clubs.subscribe_as(request(query, user("ben"))).await;
    let put =
        |to: &str, text: &str| format!(r#"mutation {{ putLetter(clubId: "c", to: "{to}", id: "1", text: "{text}") }}"#);
    let one = r#"subscription { letter(clubId: "c", to: "ann", id: "1") { text } }"#;
    ann.begin().await;
    ben.begin().await;
    for (to, text) in [("ann", "a"), ("ben", "b"), ("ann", "c")] {
        run(&clubs, &put(to, text), user("x")).await;
    }
    let mut live = clubs.subscribe_as(request(one, user("ann"))).await;
    let mut other = clubs.subscribe_as(request(one, user("ben"))).await;
    assert_eq!(live.next().await, json!({ "letter": { "text": "c" } }));
    assert_eq!(other.next().await, json!({ "letter": null }));
    run(&clubs, r#"mutation { dropLetter(clubId: "c", to: "ann", id: "1") }"#, user("x")).await;
    run(&clubs, &put("ben", "d"), user("x")).await;
    let of = |to: &str, text: &str| json!({ "to": to, "text": text });
    let change = |change: &str, node: Value, previous: Value| json!({ "letters": { "change": change, "node": node, "previous": previous } });
    assert_eq!(ann.next().await, change("INSERT", of("ann", "a"), Value::Null));
    assert_eq!(ann.next().await, change("MODIFY", of("ann", "c"), of("ann", "a")));
    assert_eq!(ann.next().await, change("REMOVE", Value::Null, of("ann", "c")));
    assert_eq!(live.next().await, json!({ "letter": null }));
    assert_eq!(ben.next().await, change("INSERT", of("ben", "b"), Value::Null));
    assert_eq!(ben.next().await, change("MODIFY", of("ben", "d"), of("ben", "b")));
    other.begin().await;
}

#[tokio::test]
async fn an_image_that_is_refused_is_null_without_an_error() {
    let clubs = watching(CLUBS).await;
    let query = r#"subscription { plans(clubId: "c") { change node { ownerId } previous { ownerId } } }"#;
    let mut ann = clubs.subscribe_as(request(query, user("ann"))).await;
    ann.begin().await;
    for owner in ["ann", "ben", "cy", "ann"] {
        run(&clubs, &format!(r#"mutation {{ putPlan(clubId: "c", id: "1", ownerId: "{owner}") }}"#), user("x")).await;
    }
    let of_ann = json!({ "ownerId": "ann" });
    assert_eq!(ann.next().await, json!({ "plans": { "change": "INSERT", "node": of_ann, "previous": null } }));
    assert_eq!(ann.next().await, json!({ "plans": { "change": "REMOVE", "node": null, "previous": of_ann } }));
    assert_eq!(ann.next().await, json!({ "plans": { "change": "INSERT", "node": of_ann, "previous": null } }));
}

#[tokio::test]
async fn a_guarded_field_is_refused_where_it_stands() {
    let clubs = watching(CLUBS).await;
    let query = r#"subscription { drafts(clubId: "c") { node { id text } } }"#;
    let mut editor = clubs.subscribe_as(request(query, json!({ "sub": "ann", "role": "editor" }))).await;
    let mut ann = clubs.subscribe_as(request(query, user("ann"))).await;
    editor.begin().await;
    ann.begin().await;
    run(&clubs, r#"mutation { putDraft(clubId: "c", id: "1", ownerId: "ann", text: "t") { id } }"#, user("ann")).await;
    assert_eq!(editor.next().await, json!({ "drafts": { "node": { "id": "1", "text": "t" } } }));
    let refused = ann.whole().await.unwrap();
    assert_eq!(
        (&refused["data"], &refused["errors"][0]["extensions"]["code"]),
        (&json!({ "drafts": { "node": null } }), &json!("FORBIDDEN"))
    );
}

#[tokio::test]
async fn nobody_subscribes_to_what_needs_a_sign_in() {
    let clubs = watching(CLUBS).await;
    let mut anonymous = clubs.subscribe_as(request(r#"subscription { secret(id: "1") { text } }"#, Value::Null)).await;
    assert_eq!(anonymous.whole().await.unwrap()["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert!(anonymous.whole().await.is_none());
    // No item that a rule looks up lets nobody in.
    let mut anonymous =
        clubs.subscribe_as(request(r#"subscription { notes(clubId: "c") { change } }"#, Value::Null)).await;
    assert_eq!(anonymous.whole().await.unwrap()["errors"][0]["extensions"]["code"], "UNAUTHENTICATED");
    assert!(anonymous.whole().await.is_none());
    let mut unnamed =
        clubs.subscribe_as(request(r#"subscription { notes(clubId: "c") { change } }"#, json!({ "role": "x" }))).await;
    assert_eq!(unnamed.whole().await.unwrap()["errors"][0]["extensions"]["code"], "FORBIDDEN");
    // What is hidden looks as if it were not there.
    let mut anonymous =
        clubs.subscribe_as(request(r#"subscription { drafts(clubId: "c") { change } }"#, Value::Null)).await;
    anonymous.begin().await;
    run(&clubs, r#"mutation { putDraft(clubId: "c", id: "1", ownerId: "ann", text: "t") { id } }"#, user("ann")).await;
    anonymous.begin().await;
}

#[tokio::test]
async fn no_tenant_learns_of_another() {
    let clubs = watching(CLUBS).await;
    let of = |tenant: &str| json!({ "sub": "ann", "tenant": tenant });
    let mut one = clubs.subscribe_as(request(r#"subscription { secret(id: "1") { text } }"#, of("one"))).await;
    let mut all = clubs.subscribe_as(request("subscription { secrets { text } }", of("one"))).await;
    let mut none = clubs.subscribe_as(request("subscription { secrets { text } }", user("ann"))).await;
    for listener in [&mut one, &mut all, &mut none] {
        listener.begin().await;
    }
    for (tenant, text) in [("two", "of two"), ("one", "of one")] {
        run(&clubs, &format!(r#"mutation {{ putSecret(id: "1", text: "{text}") {{ id }} }}"#), of(tenant)).await;
    }
    assert_eq!(one.next().await, json!({ "secret": { "text": "of one" } }));
    assert_eq!(all.next().await, json!({ "secrets": { "text": "of one" } }));
    none.begin().await;
}

#[tokio::test]
async fn a_subscription_that_begins_with_a_hidden_item_reports_it_when_it_can_be_seen() {
    let clubs = watching(CLUBS).await;
    let put = async |owner: &str| {
        let query = format!(r#"mutation {{ putDraft(clubId: "c", id: "1", ownerId: "{owner}", text: "x") {{ id }} }}"#);
        clubs.run_as(request(&query, user(owner))).await;
    };
    put("ann").await;
    let mut ben =
        clubs.subscribe_as(request(r#"subscription { draft(clubId: "c", id: "1") { ownerId } }"#, user("ben"))).await;
    assert_eq!(ben.next().await, json!({ "draft": null }));
    for owner in ["eve", "ben", "eve", "ben"] {
        put(owner).await;
    }
    for owner in [json!({ "ownerId": "ben" }), json!(null), json!({ "ownerId": "ben" })] {
        assert_eq!(ben.next().await, json!({ "draft": owner }));
    }
}
