//! Entries of maps, objects that are missing, and index keys of computed values: what others do between two calls of a
//! write is kept, answers that are lost are reported, and nothing is counted twice.

use super::backend::{Backend, Call, error, is_write};
use crate::scripted::LOST;
use serde_json::{Value, json};

const TABLE: &str = "reactions";
const KEY: [&str; 2] = ["POST#p", "POST"];
const REACT: &str = "mutation { w: react(id: \"p\", kind: SAD) { reactions { kind count } } }";
const VISIT: &str = "mutation { w: visit(id: \"p\", day: \"2026-11-20\", more: 2) { visits { day count } } }";
const MOVE: &str = "mutation { w: moveTo(id: \"p\", city: \"Rome\") { place { city zip } } }";

/// A post with these attributes.
async fn with_post(attributes: Value) -> Backend {
    let backend = Backend::new(TABLE).await;
    let mut post = json!({ "PK": { "S": KEY[0] }, "SK": { "S": KEY[1] }, "title": { "S": "t" } });
    post.as_object_mut().unwrap().extend(attributes.as_object().unwrap().clone());
    backend.table.put(TABLE, post);
    backend.calm();
    backend
}

fn reactions(kind: &str, count: u32) -> Value {
    json!({ "reactions": { "M": { kind: { "M": { "n": { "N": count.to_string() } } } } } })
}

/// The number of a post's SAD reactions.
fn sad(backend: &Backend) -> Value {
    backend.table.scan(TABLE)[0]["reactions"]["M"]["sad"]["M"]["n"]["N"].clone()
}

#[tokio::test(start_paused = true)]
async fn one_call_if_the_entry_is_there_else_two_and_no_read() {
    let null = json!({ "reactions": { "NULL": true }, "Visits": { "NULL": true }, "Place": { "NULL": true } });
    let visits = |day: &str| json!({ "Visits": { "M": { day: { "N": "3" } } } });
    for (post, operation, calls) in [
        (reactions("sad", 3), REACT, 1),
        (reactions("like", 3), REACT, 2),
        (json!({}), REACT, 2),
        (null.clone(), REACT, 2),
        (visits("2026-11-20"), VISIT, 1),
        (visits("2026-11-21"), VISIT, 1),
        (json!({}), VISIT, 2),
        (null.clone(), VISIT, 2),
        (json!({ "Place": { "M": { "city": { "S": "Bern" } } } }), MOVE, 1),
        (json!({}), MOVE, 2),
        (null, MOVE, 2),
    ] {
        let backend = with_post(post.clone()).await;
        backend.ok(operation, json!({})).await;
        assert_eq!(backend.operations(), vec!["UpdateItem"; calls], "{operation} of {post}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_others_make_meanwhile_is_counted_with_it() {
    type Other = fn(&Call<'_>);
    let entry: Other = |call| {
        let value = json!({ ":e": { "M": { "n": { "N": "5" }, "own": { "S": "x" } } } });
        call.table.update(TABLE, KEY, "SET #reactions.#sad = :e", value);
    };
    let map: Other = |call| {
        let value = json!({ ":m": { "M": { "sad": { "M": { "n": { "N": "5" }, "own": { "S": "x" } } } } } });
        call.table.update(TABLE, KEY, "SET #reactions = :m", value);
    };
    for (post, other) in [(reactions("like", 1), entry), (json!({}), map)] {
        let backend = with_post(post).await;
        // It is made after the first call has said that it is not there.
        backend.script(move |call| {
            if is_write(call.operation) && call.before == 1 {
                other(call);
            }
            None
        });
        backend.ok(REACT, json!({})).await;
        assert_eq!((sad(&backend), backend.writes()), (json!("6"), 3));
        assert!(backend.items()[0].contains("own"), "what others wrote stays: {:?}", backend.items());
    }
    // An item that is deleted meanwhile is not made anew, nor is what goes with its map.
    let backend = with_post(json!({})).await;
    backend.script(|call| {
        if is_write(call.operation) && call.before == 1 {
            call.table.delete(TABLE, KEY);
        }
        None
    });
    let answer = backend.run(REACT, json!({})).await;
    assert_eq!((error(&answer).0, backend.items().len()), ("NOT_FOUND", 0));
    // Nor is an entry that goes again.
    let backend = with_post(reactions("sad", 3)).await;
    backend.script(|call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.update(TABLE, KEY, "REMOVE #reactions", Value::Null);
        }
        None
    });
    let answer = backend.run("mutation { sadden(id: \"p\", less: 1) { id } }", json!({})).await;
    assert_eq!((error(&answer).1, backend.writes()), ("This Reaction does not exist.", 1));
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_is_lost_is_reported_and_nothing_is_counted_twice() {
    for (post, calls) in [(reactions("sad", 3), 1), (reactions("like", 3), 2), (json!({}), 2)] {
        let before = if calls == 1 { 3 } else { 0 };
        for (trouble, reply) in LOST {
            for made in [true, false] {
                let backend = with_post(post.clone()).await;
                backend.script(move |call| {
                    // The last call is the one that counts.
                    if !is_write(call.operation) || call.before + 1 < calls {
                        return None;
                    }
                    if made {
                        call.table.apply(call.operation, call.body.clone());
                    }
                    Some(reply())
                });
                let answer = backend.run(REACT, json!({})).await;
                let (code, message, _) = error(&answer);
                let is_open =
                    ["UNAVAILABLE", "TIMEOUT"].contains(&code) && message.contains("may or may not have been made");
                assert!(is_open, "{trouble}: {answer}");
                assert_eq!(backend.writes(), calls, "{trouble}: it is not sent again");
                let count = if made { json!((before + 1).to_string()) } else { json!(before.to_string()) };
                let is = sad(&backend);
                assert_eq!(if is.is_null() { json!("0") } else { is }, count, "{trouble}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_index_key_of_a_computed_value_follows_what_others_write() {
    let schema = r#"extend schema
      @table(name: "posts", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "ranks", partitionKey: "GP", sortKey: "GS" }])
    type Query { post(id: ID!): Post @find }
    type Mutation {
      raise(id: ID!): Post @update(expression: "SET rank = rank + 1")
      copy(id: ID!): Post @update(expression: "SET rank = base - 1")
    }
    type Post @item(keys: { PK: "POST#{id}", SK: "POST", GP: "POSTS", GS: "{rank:04}" }) {
      id: ID! rank: Int @attribute(name: "rank") @constraint(max: 9) base: Int
    }"#;
    let post = |rank: &str| json!({ "PK": { "S": "POST#p" }, "SK": { "S": "POST" }, "rank": { "N": rank }, "GP": { "S": "POSTS" }, "GS": { "S": format!("000{rank}") } });
    let raise = "mutation { w: raise(id: \"p\") { rank } }";
    let backend = Backend::of_text(schema).await;
    backend.table.put("posts", post("3"));
    backend.script(move |call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.put("posts", post("6"));
        }
        None
    });
    let answer = backend.ok(raise, json!({})).await;
    assert_eq!((&answer["w"]["rank"], backend.writes()), (&json!(7), 2));
    assert_eq!(backend.table.scan("posts")[0]["GS"], json!({ "S": "0007" }));
    backend.calm();
    assert_eq!(backend.operations(), Vec::<String>::new());
    backend.ok(raise, json!({})).await;
    assert_eq!(backend.operations(), ["GetItem", "UpdateItem"]);
    backend.ok(raise, json!({})).await;
    let answer = backend.run(raise, json!({})).await;
    assert_eq!(error(&answer).0, "BAD_USER_INPUT", "10 is more than 9: {answer}");
    let answer = backend.run("mutation { w: copy(id: \"p\") { rank } }", json!({})).await;
    assert_eq!(error(&answer).0, "CONFLICT", "there is no base: {answer}");
    assert_eq!(backend.table.scan("posts")[0]["GS"], json!({ "S": "0009" }));
}
