//! Writes under rules that need the item: each row is one mutation of one caller on what the rows before it left, with
//! its data, its errors and the number of calls.

use super::{Library, Row, check_rows};
use serde_json::{Value, json};

fn ann() -> Value {
    json!({ "sub": "u1" })
}

fn ben() -> Value {
    json!({ "sub": "u2" })
}

/// Reviews, which everybody reads and their authors write.
fn reviews() -> Vec<Row> {
    vec![
        // A new item is held against the rule before anything is sent.
        (
            Value::Null,
            r#"mutation { putReview(bookId: "b1", id: "r1", authorId: "u1", text: "a") { id } }"#,
            json!({ "putReview": null }),
            &["UNAUTHENTICATED putReview"],
            0,
        ),
        (
            ann(),
            r#"mutation { putReview(bookId: "b1", id: "r1", authorId: "u2", text: "a") { id } }"#,
            json!({ "putReview": null }),
            &["FORBIDDEN putReview"],
            0,
        ),
        (
            ann(),
            r#"mutation { putReview(bookId: "b1", id: "r1", authorId: "u1", text: "a", slug: "s1") { id } }"#,
            json!({ "putReview": { "id": "r1" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { putReview(bookId: "b1", id: "r2", authorId: "u2", text: "b") { id } }"#,
            json!({ "putReview": { "id": "r2" } }),
            &[],
            1,
        ),
        // An update asks the stored item, in its own call.
        (
            ben(),
            r#"mutation { editReview(bookId: "b1", id: "r1", text: "x") { text } }"#,
            json!({ "editReview": null }),
            &["FORBIDDEN editReview"],
            1,
        ),
        (
            ben(),
            r#"mutation { editReview(bookId: "b1", id: "r9", text: "x") { text } }"#,
            json!({ "editReview": null }),
            &["NOT_FOUND editReview"],
            1,
        ),
        // Whom the rule refuses the item learns neither the author's condition nor the version.
        (
            ben(),
            r#"mutation { editReview(bookId: "b1", id: "r1", text: "a", version: 7) { text } }"#,
            json!({ "editReview": null }),
            &["FORBIDDEN editReview"],
            1,
        ),
        (
            ann(),
            r#"mutation { editReview(bookId: "b1", id: "r1", text: "a2", version: 7) { text } }"#,
            json!({ "editReview": null }),
            &["CONFLICT editReview"],
            1,
        ),
        (
            ann(),
            r#"mutation { editReview(bookId: "b1", id: "r1", text: "a2", version: 1) { text } }"#,
            json!({ "editReview": { "text": "a2" } }),
            &[],
            1,
        ),
        // Nobody gives an item away, or takes one.
        (
            ann(),
            r#"mutation { giveReview(bookId: "b1", id: "r1", authorId: "u2") { id } }"#,
            json!({ "giveReview": null }),
            &["FORBIDDEN giveReview"],
            0,
        ),
        (
            ben(),
            r#"mutation { giveReview(bookId: "b1", id: "r1", authorId: "u2") { id } }"#,
            json!({ "giveReview": null }),
            &["FORBIDDEN giveReview"],
            1,
        ),
        // A unique value: whoever may not write the item does not learn that the value is taken.
        (
            ben(),
            r#"mutation { renameReview(bookId: "b1", id: "r1", slug: "s1") { id } }"#,
            json!({ "renameReview": null }),
            &["FORBIDDEN renameReview"],
            1,
        ),
        (
            ben(),
            r#"mutation { renameReview(bookId: "b1", id: "r2", slug: "s1") { id } }"#,
            json!({ "renameReview": null }),
            &["CONFLICT renameReview"],
            2,
        ),
        // A put in place of another's item, an upsert, an increment, a delete.
        (
            ben(),
            r#"mutation { saveReview(bookId: "b1", id: "r1", authorId: "u2", text: "x") { id } }"#,
            json!({ "saveReview": null }),
            &["FORBIDDEN saveReview"],
            1,
        ),
        (
            ben(),
            r#"mutation { upsertReview(bookId: "b1", id: "r1", authorId: "u2", text: "x") { id } }"#,
            json!({ "upsertReview": null }),
            &["FORBIDDEN upsertReview"],
            1,
        ),
        (
            ben(),
            r#"mutation { upsertReview(bookId: "b1", id: "r3", authorId: "u1", text: "x") { id } }"#,
            json!({ "upsertReview": null }),
            &["FORBIDDEN upsertReview"],
            0,
        ),
        (
            ben(),
            r#"mutation { upsertReview(bookId: "b1", id: "r3", authorId: "u2", text: "x") { authorId } }"#,
            json!({ "upsertReview": { "authorId": "u2" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { starReview(bookId: "b1", id: "r1") { id } }"#,
            json!({ "starReview": null }),
            &["FORBIDDEN starReview"],
            1,
        ),
        (
            ben(),
            r#"mutation { starReview(bookId: "b1", id: "r3") { stars } }"#,
            json!({ "starReview": { "stars": 1 } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { deleteReview(bookId: "b1", id: "r1") { id } }"#,
            json!({ "deleteReview": null }),
            &["FORBIDDEN deleteReview"],
            1,
        ),
        // What would break the rule is refused even to whom it lets in now.
        (
            ben(),
            r#"mutation { lockReview(bookId: "b1", id: "r3") { id } }"#,
            json!({ "lockReview": null }),
            &["FORBIDDEN lockReview"],
            0,
        ),
        (
            json!({ "sub": "root", "role": "admin" }),
            r#"mutation { lockReview(bookId: "b1", id: "r3") { lockedBy } }"#,
            json!({ "lockReview": { "lockedBy": "root" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { editReview(bookId: "b1", id: "r3", text: "y") { id } }"#,
            json!({ "editReview": null }),
            &["FORBIDDEN editReview"],
            1,
        ),
        // A check asks the rules for reads.
        (
            ben(),
            r#"mutation { quoteReview(bookId: "b1", id: "r1", noteId: "n") }"#,
            json!({ "quoteReview": true }),
            &[],
            1,
        ),
        (
            ann(),
            r#"mutation { deleteReview(bookId: "b1", id: "r1") { text } }"#,
            json!({ "deleteReview": { "text": "a2" } }),
            &[],
            2,
        ),
    ]
}

/// Tasks, which look to others as if they were not there.
fn tasks() -> Vec<Row> {
    vec![
        (
            ann(),
            r#"mutation { putTask(list: "l", id: "t1", ownerId: "u1", text: "a") { id } }"#,
            json!({ "putTask": { "id": "t1" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { putTask(list: "l", id: "t2", ownerId: "u2", helperId: "u1") { id } }"#,
            json!({ "putTask": { "id": "t2" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { putTask(list: "l", id: "t3", ownerId: "u1") { id } }"#,
            json!({ "putTask": null }),
            &["FORBIDDEN putTask"],
            0,
        ),
        // An update, a delete and an element of a hidden item give what they give of a missing one.
        (
            ben(),
            r#"mutation { a: editTask(list: "l", id: "t1", text: "x") { id } b: editTask(list: "l", id: "t9", text: "x") { id } }"#,
            json!({ "a": null, "b": null }),
            &["NOT_FOUND a", "NOT_FOUND b"],
            2,
        ),
        (
            ben(),
            r#"mutation { a: dropTask(list: "l", id: "t1") { id } b: dropTask(list: "l", id: "t9") { id } }"#,
            json!({ "a": null, "b": null }),
            &[],
            2,
        ),
        (
            ben(),
            r#"mutation { mustDropTask(list: "l", id: "t1") { id } }"#,
            Value::Null,
            &["NOT_FOUND mustDropTask"],
            1,
        ),
        (
            ben(),
            r#"mutation { addStep(list: "l", taskId: "t1", input: { id: "s", text: "x" }) { id } }"#,
            json!({ "addStep": null }),
            &["NOT_FOUND addStep"],
            1,
        ),
        (
            ann(),
            r#"mutation { addStep(list: "l", taskId: "t1", input: { id: "s", text: "x" }) { steps { text } } }"#,
            json!({ "addStep": { "steps": [{ "text": "x" }] } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { a: editStep(list: "l", taskId: "t1", stepId: "s", text: "y") { id } b: editStep(list: "l", taskId: "t1", stepId: "z", text: "y") { id } }"#,
            json!({ "a": null, "b": null }),
            &["NOT_FOUND a", "NOT_FOUND b"],
            1,
        ),
        // What would make a new item reveals nothing but that the rule refuses.
        (
            ben(),
            r#"mutation { saveTask(list: "l", id: "t1", ownerId: "u2") { id } }"#,
            json!({ "saveTask": null }),
            &["FORBIDDEN saveTask"],
            1,
        ),
        (
            ben(),
            r#"mutation { upsertTask(list: "l", id: "t1", ownerId: "u2") { id } }"#,
            json!({ "upsertTask": null }),
            &["FORBIDDEN upsertTask"],
            1,
        ),
        // The owner gives the task to another and stays its helper; who has no part in it afterwards may not.
        (
            ann(),
            r#"mutation { handTask(list: "l", id: "t1", ownerId: "u2") { id } }"#,
            json!({ "handTask": null }),
            &["FORBIDDEN handTask"],
            1,
        ),
        (
            ann(),
            r#"mutation { handTask(list: "l", id: "t1", ownerId: "u2", helperId: "u1") { ownerId helperId } }"#,
            json!({ "handTask": { "ownerId": "u2", "helperId": "u1" } }),
            &[],
            1,
        ),
        (
            ben(),
            r#"mutation { handTask(list: "l", id: "t1", helperId: null) { ownerId helperId } }"#,
            json!({ "handTask": { "ownerId": "u2", "helperId": null } }),
            &[],
            1,
        ),
        // Checks do not see hidden items.
        (ann(), r#"mutation { ifTask(list: "l", id: "t1") }"#, Value::Null, &["NOT_FOUND ifTask"], 1),
        (ann(), r#"mutation { ifNoTask(list: "l", id: "t1") }"#, json!({ "ifNoTask": true }), &[], 1),
        (ben(), r#"mutation { ifNoTask(list: "l", id: "t1") }"#, Value::Null, &["CONFLICT ifNoTask"], 1),
        (ben(), r#"mutation { ifTask(list: "l", id: "t1") }"#, json!({ "ifTask": true }), &[], 1),
        // Of many items, those that the caller sees are deleted.
        (ann(), r#"mutation { dropTasks(list: "l") { id } }"#, json!({ "dropTasks": [{ "id": "t2" }] }), &[], 2),
        (ben(), r#"{ task(list: "l", id: "t1") { ownerId } }"#, json!({ "task": { "ownerId": "u2" } }), &[], 1),
        // A rule that the key decides is decided before anything is sent.
        (
            ann(),
            r#"mutation { set(userId: "u2", name: "n", value: "x") { value } }"#,
            json!({ "set": null }),
            &["FORBIDDEN set"],
            0,
        ),
        (
            ann(),
            r#"mutation { set(userId: "u1", name: "n", value: "x") { value } }"#,
            json!({ "set": { "value": "x" } }),
            &[],
            1,
        ),
    ]
}

#[tokio::test]
async fn a_write_is_held_against_the_item_as_it_is_and_as_it_will_be() {
    check_rows(&Library::open().await, reviews()).await;
}

#[tokio::test]
async fn a_write_of_a_hidden_item_is_that_of_a_missing_one() {
    check_rows(&Library::open().await, tasks()).await;
}
