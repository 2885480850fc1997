//! Ways around a rule, each tried: by what a mutation finds, drops, returns or compares, and by an object that is not
//! read.

use super::{Library, Row, check_rows, support};
use keyfold::execute::gateway::Gateway;
use keyfold::schema::load;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

/// What the administrator and Ann put. Items that are put by others stand under their names.
const FILL: &str = r#"mutation {
  a: putSecret(id: "s", text: "secret") { id }
  b: putProfile(id: "ann", name: "Ann", flag: "F") { id }
  c: putVault(group: "g", id: "v") { id }
  d: putKey(id: "k", group: "g", vaultId: "v") { id }
  e: putDiary(id: "d", ownerId: "root", text: "dear") { id }
  f: putLetter(id: "l", ownerId: "root", text: "hello") { id }
  g: putWish(id: "w", ownerId: "root", text: "peace") { id }
}"#;

async fn open() -> Library {
    let loaded = load("around.graphql", include_str!("../../schemas/rules/around.graphql"), &|_| None);
    let (model, _) = loaded.unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let recorder = Arc::new(Recorder::default());
    let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
    store.create_missing(&model.tables).await.unwrap();
    let library = Library { gateway: Gateway::new(Arc::new(model), store, support::settings()), recorder };
    let (filled, _) = library.run(&super::caller(root()), FILL, json!({})).await;
    assert_eq!(filled.get("errors"), None, "{filled}");
    library
}

fn root() -> Value {
    json!({ "sub": "root", "role": "admin" })
}

fn ben() -> Value {
    json!({ "sub": "ben" })
}

fn rows() -> Vec<Row> {
    let ann = json!({ "sub": "ann" });
    vec![
        // What a mutation finds is read.
        (
            Value::Null,
            r#"mutation { copySecret(id: "s", to: "c1") { text } }"#,
            json!({ "copySecret": null }),
            &["UNAUTHENTICATED copySecret"],
            0,
        ),
        (
            ben(),
            r#"mutation { copySecret(id: "s", to: "c1") { text } }"#,
            json!({ "copySecret": null }),
            &["FORBIDDEN copySecret"],
            0,
        ),
        (
            ben(),
            r#"mutation { copyDiary(id: "d", to: "c2") { text } }"#,
            json!({ "copyDiary": null }),
            &["FORBIDDEN copyDiary"],
            1,
        ),
        (
            ben(),
            r#"mutation { copyLetter(id: "l", to: "c3") { text } }"#,
            json!({ "copyLetter": null }),
            &["NOT_FOUND copyLetter"],
            1,
        ),
        (
            ben(),
            r#"mutation { copyLetter(id: "none", to: "c3") { text } }"#,
            json!({ "copyLetter": null }),
            &["NOT_FOUND copyLetter"],
            1,
        ),
        (
            root(),
            r#"mutation { copyDiary(id: "d", to: "c2") { text } }"#,
            json!({ "copyDiary": { "text": "dear" } }),
            &[],
            2,
        ),
        // A put that replaces an item drops what it does not name.
        (
            ann,
            r#"mutation { saveProfile(id: "ann", name: "N") { name } }"#,
            json!({ "saveProfile": null }),
            &["FORBIDDEN saveProfile"],
            0,
        ),
        (root(), r#"{ profile(id: "ann") { flag } }"#, json!({ "profile": { "flag": "F" } }), &[], 1),
        // Who may not read what a mutation returns changes nothing.
        (
            ben(),
            r#"mutation { editWish(id: "w", text: "war") { id } }"#,
            json!({ "editWish": null }),
            &["FORBIDDEN editWish"],
            1,
        ),
        (ben(), r#"mutation { dropWish(id: "w") { id } }"#, json!({ "dropWish": null }), &["FORBIDDEN dropWish"], 1),
        (
            ben(),
            r#"mutation { putWish(id: "w2", ownerId: "root") { id } }"#,
            json!({ "putWish": null }),
            &["FORBIDDEN putWish"],
            0,
        ),
        (
            root(),
            r#"{ a: wish(id: "w") { text } b: wish(id: "w2") { text } }"#,
            json!({ "a": { "text": "peace" }, "b": null }),
            &[],
            1,
        ),
        // Right and wrong guesses of what the caller may not read have one answer.
        (
            ben(),
            r#"mutation { guessWish(id: "w", guess: "peace") }"#,
            json!({ "guessWish": null }),
            &["FORBIDDEN guessWish"],
            1,
        ),
        (
            ben(),
            r#"mutation { guessWish(id: "w", guess: "war") }"#,
            json!({ "guessWish": null }),
            &["FORBIDDEN guessWish"],
            1,
        ),
        (
            ben(),
            r#"mutation { guessLetter(id: "l", guess: "hello") }"#,
            json!({ "guessLetter": null }),
            &["NOT_FOUND guessLetter"],
            1,
        ),
        (
            ben(),
            r#"mutation { guessLetter(id: "l", guess: "bye") }"#,
            json!({ "guessLetter": null }),
            &["NOT_FOUND guessLetter"],
            1,
        ),
        (
            ben(),
            r#"mutation { guessLetter(id: "none", guess: "bye") }"#,
            json!({ "guessLetter": null }),
            &["NOT_FOUND guessLetter"],
            1,
        ),
        // A hidden object is not shown by the fields that its parent holds.
        (ben(), r#"{ key(id: "k") { vault { __typename group id } } }"#, json!({ "key": { "vault": null } }), &[], 1),
        (
            root(),
            r#"{ key(id: "k") { vault { group id } } }"#,
            json!({ "key": { "vault": { "group": "g", "id": "v" } } }),
            &[],
            2,
        ),
        (ben(), r#"{ key(id: "k") { sure { group id } } }"#, json!({ "key": null }), &["NOT_FOUND key.sure"], 1),
        (
            root(),
            r#"{ key(id: "k") { sure { group id } } }"#,
            json!({ "key": { "sure": { "group": "g", "id": "v" } } }),
            &[],
            2,
        ),
    ]
}

#[tokio::test]
async fn there_is_no_way_around_a_rule() {
    check_rows(&open().await, rows()).await;
}
