//! Rules that look up another item: each row is one operation of one caller on what the rows before it left, with its
//! data, its errors and the number of calls.

use super::{Library, Row, caller, check_rows, errors, support};
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Request;
use keyfold::schema::load;
use keyfold::schema::table::Table;
use keyfold::table::data_store::DataStore;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

fn ann() -> Value {
    json!({ "sub": "u1" })
}

fn ben() -> Value {
    json!({ "sub": "u2" })
}

fn admin() -> Value {
    json!({ "sub": "root", "role": "admin" })
}

/// Ann owns the club, Ben is its member, others are strangers. A write is one transaction; then the rule is asked who
/// sees its result.
fn founded() -> Vec<Row> {
    vec![
        (
            admin(),
            r#"mutation {
              a: enrol(userId: "u1", clubId: "c", role: "OWNER") { role }
              b: enrol(userId: "u2", clubId: "c") { role }
              c: found(id: "c", name: "Chess") { id }
            }"#,
            json!({ "a": { "role": "OWNER" }, "b": { "role": null }, "c": null }),
            &["FORBIDDEN c"],
            3,
        ),
        (
            ann(),
            r#"mutation { found(id: "c", name: "Chess") { name } }"#,
            json!({ "found": { "name": "Chess" } }),
            &[],
            2,
        ),
        (
            ben(),
            r#"mutation { a: publish(clubId: "c", id: "p1", authorId: "u2", text: "x", draft: "d") { id } b: publish(clubId: "c", id: "p2", authorId: "u2", text: "y", shared: true) { id } }"#,
            json!({ "a": { "id": "p1" }, "b": { "id": "p2" } }),
            &[],
            4,
        ),
    ]
}

fn reads() -> Vec<Row> {
    let stranger = json!({ "sub": "u3" });
    vec![
        // The look-up rides in the batch of the data.
        (ben(), r#"{ club(id: "c") { name } }"#, json!({ "club": { "name": "Chess" } }), &[], 1),
        (stranger.clone(), r#"{ club(id: "c") { name } }"#, json!({ "club": null }), &["FORBIDDEN club"], 1),
        (Value::Null, r#"{ club(id: "c") { name } }"#, json!({ "club": null }), &["UNAUTHENTICATED club"], 0),
        // Without the claim that a rule needs, an id reveals nothing, and nothing is read for it.
        (Value::Null, r#"{ club(id: "none") { name } }"#, json!({ "club": null }), &["UNAUTHENTICATED club"], 0),
        (stranger.clone(), r#"{ club(id: "none") { name } }"#, json!({ "club": null }), &[], 1),
        // What stands behind a refused object is not read in a later wave, and never shown.
        (
            stranger.clone(),
            r#"{ club(id: "c") { a: name b: id posts { author { name } } } }"#,
            json!({ "club": null }),
            &["FORBIDDEN club"],
            2,
        ),
        // A rule with a condition on the item that is looked up.
        (ann(), r#"{ office(clubId: "c") { name } }"#, json!({ "office": { "name": "Chess" } }), &[], 1),
        (ben(), r#"{ office(clubId: "c") { name } }"#, json!({ "office": null }), &["FORBIDDEN office"], 1),
        // Of two rules one is enough, for each item of a list.
        (
            stranger.clone(),
            r#"{ clubPosts(clubId: "c") { id text } }"#,
            json!({ "clubPosts": [null, { "id": "p2", "text": "y" }] }),
            &["FORBIDDEN clubPosts.0"],
            2,
        ),
        (
            ben(),
            r#"{ clubPosts(clubId: "c") { id draft } }"#,
            json!({ "clubPosts": [{ "id": "p1", "draft": "d" }, { "id": "p2", "draft": null }] }),
            &[],
            2,
        ),
        // A field whose rule reads the item.
        (
            ann(),
            r#"{ clubPosts(clubId: "c") { draft } }"#,
            json!({ "clubPosts": [{ "draft": null }, { "draft": null }] }),
            &["FORBIDDEN clubPosts.0.draft", "FORBIDDEN clubPosts.1.draft"],
            2,
        ),
        (ben(), r#"{ hasPost(clubId: "c", id: "p1") }"#, json!({ "hasPost": true }), &[], 1),
        (
            stranger.clone(),
            r#"{ hasPost(clubId: "c", id: "p1") }"#,
            json!({ "hasPost": null }),
            &["FORBIDDEN hasPost"],
            1,
        ),
        (stranger, r#"{ hasPost(clubId: "c", id: "p9") }"#, json!({ "hasPost": false }), &[], 1),
        (json!({ "sub": ["u1"] }), r#"{ club(id: "c") { name } }"#, json!({ "club": null }), &["FORBIDDEN club"], 0),
    ]
}

fn writes() -> Vec<Row> {
    let stranger = json!({ "sub": "u3" });
    vec![
        (
            stranger.clone(),
            r#"mutation { publish(clubId: "c", id: "p3", authorId: "u3", text: "x") { id } }"#,
            json!({ "publish": null }),
            &["FORBIDDEN publish"],
            1,
        ),
        // Whom the rule refuses an item does not learn whether it is there.
        (
            stranger.clone(),
            r#"mutation { a: retext(clubId: "c", id: "p1", text: "x") { id } b: retext(clubId: "c", id: "p9", text: "x") { id } c: unpublish(clubId: "c", id: "p1") { id } d: unpublish(clubId: "c", id: "p9") { id } }"#,
            json!({ "a": null, "b": null, "c": null, "d": null }),
            &["FORBIDDEN a", "FORBIDDEN b", "FORBIDDEN c", "FORBIDDEN d"],
            6,
        ),
        (
            ann(),
            r#"mutation { a: retext(clubId: "c", id: "p1", text: "z") { text } b: retext(clubId: "c", id: "p9", text: "x") { id } c: unpublish(clubId: "c", id: "p9") { id } }"#,
            json!({ "a": { "text": "z" }, "b": null, "c": null }),
            &["NOT_FOUND b"],
            6,
        ),
        (
            ann(),
            r#"mutation { mustUnpublish(clubId: "c", id: "p9") { id } }"#,
            Value::Null,
            &["NOT_FOUND mustUnpublish"],
            2,
        ),
        // Only whom the rule lets in learns what a write reads first.
        (
            stranger.clone(),
            r#"mutation { reprint(clubId: "c", id: "p1", name: "n") }"#,
            Value::Null,
            &["FORBIDDEN reprint"],
            2,
        ),
        (
            stranger.clone(),
            r#"mutation { reprint(clubId: "c", id: "p9", name: "n") }"#,
            Value::Null,
            &["FORBIDDEN reprint"],
            2,
        ),
        (ann(), r#"mutation { reprint(clubId: "c", id: "p9", name: "n") }"#, Value::Null, &["NOT_FOUND reprint"], 2),
        (ann(), r#"mutation { reprint(clubId: "c", id: "p2", name: "n") }"#, json!({ "reprint": true }), &[], 2),
        // A mutation's own rule, and the item that it checks is the one that it deletes.
        (ben(), r#"mutation { close(id: "c") { id } }"#, json!({ "close": null }), &["FORBIDDEN close"], 2),
        (stranger, r#"mutation { leave(clubId: "c") { clubId } }"#, json!({ "leave": null }), &["FORBIDDEN leave"], 2),
        (ben(), r#"mutation { leave(clubId: "c") { clubId } }"#, json!({ "leave": { "clubId": "c" } }), &[], 2),
        (
            ben(),
            r#"mutation { publish(clubId: "c", id: "p4", authorId: "u2", text: "x") { id } }"#,
            json!({ "publish": null }),
            &["FORBIDDEN publish"],
            1,
        ),
        (ann(), r#"mutation { close(id: "c") { name } }"#, json!({ "close": { "name": "Chess" } }), &[], 3),
    ]
}

/// Letters and bills, which have the rules of their interface.
fn papers() -> Vec<Row> {
    let chief = json!({ "sub": "u1", "level": 2 });
    vec![
        (
            ann(),
            r#"mutation { a: putLetter(deskId: "d", id: "1", writerId: "u1", text: "x") { id text } b: putBill(deskId: "d", id: "1", writerId: "u2") { id } }"#,
            json!({ "a": { "id": "1", "text": null }, "b": null }),
            &["FORBIDDEN a.text", "FORBIDDEN b"],
            1,
        ),
        (
            ben(),
            r#"mutation { putBill(deskId: "d", id: "1", writerId: "u2") { id } }"#,
            json!({ "putBill": { "id": "1" } }),
            &[],
            1,
        ),
        (
            ann(),
            r#"{ papers(deskId: "d") { __typename id } }"#,
            json!({ "papers": [{ "__typename": "Letter", "id": "1" }] }),
            &[],
            1,
        ),
        (chief, r#"{ papers(deskId: "d") { text } }"#, json!({ "papers": [{ "text": "x" }] }), &[], 1),
        (
            ben(),
            r#"{ papers(deskId: "d") { id ... on Bill { text } } }"#,
            json!({ "papers": [{ "id": "1", "text": null }] }),
            &["FORBIDDEN papers.0.text"],
            1,
        ),
        (Value::Null, r#"{ papers(deskId: "d") { id } }"#, json!({ "papers": [] }), &[], 0),
    ]
}

#[tokio::test]
async fn the_rules_of_an_interface_are_those_of_its_types() {
    check_rows(&Library::open().await, papers()).await;
}

#[tokio::test]
async fn an_item_that_must_exist_is_looked_up_beside_the_data() {
    let library = Library::open().await;
    check_rows(&library, founded()).await;
    check_rows(&library, reads()).await;
}

#[tokio::test]
async fn a_write_checks_in_its_transaction_the_item_that_must_exist() {
    let library = Library::open().await;
    check_rows(&library, founded()).await;
    check_rows(&library, writes()).await;
}

/// Groups and members in tables of their own.
const APART: &str = r#"
extend schema
  @table(name: "groups", partitionKey: "PK")
  @table(name: "halls", partitionKey: "PK")
  @table(name: "members", partitionKey: "PK")
  @table(name: "visits", partitionKey: "PK", sortKey: "SK")

type Member
  @auth(signedIn: true)
  @item(table: "members", keys: { PK: "{userId}#{groupId}" }) {
  userId: ID!
  groupId: ID!
}

type Group
  @auth(exists: Member, where: { userId: "{auth.sub}", groupId: "{id}" })
  @item(table: "groups", keys: { PK: "{id}" }) {
  id: ID!
  name: String
}

type Visit
  @auth(signedIn: true)
  @item(table: "visits", keys: { PK: "{userId}", SK: "{at}" }) {
  userId: ID!
  at: ID!
}

type Hall
  @auth(exists: Visit, where: { userId: "{auth.sub}" }, on: [READ])
  @auth(signedIn: true, on: [WRITE])
  @item(table: "halls", keys: { PK: "{id}" }) {
  id: ID!
  name: String
}

type Query {
  group(id: ID!): Group @find
  hall(id: ID!): Hall @find
}

type Mutation {
  putGroup(id: ID!, name: String): Group @put
  putHall(id: ID!, name: String): Hall @put
}
"#;

/// Lofts that a look-up hides. It is made after a loft is read, whose key does not say of which group it is.
const LOFTS: &str = r#"
extend schema @table(name: "lofts", partitionKey: "PK")

type Loft
  @auth(exists: Member, where: { userId: "{auth.sub}", groupId: "{groupId}" }, hide: true, on: [READ])
  @auth(signedIn: true, on: [WRITE])
  @item(table: "lofts", keys: { PK: "{id}" }) {
  id: ID!
  groupId: ID!
  name: String
}

extend type Query {
  loft(id: ID!): Loft @find
}

extend type Mutation {
  putLoft(id: ID!, groupId: ID!, name: String): Loft @put
}
"#;

#[tokio::test]
async fn a_look_up_that_fails_lets_nobody_in() {
    let ruled = format!("{APART}{LOFTS}");
    let unruled: String =
        ruled.lines().filter(|line| !line.trim_start().starts_with("@auth")).map(|line| format!("{line}\n")).collect();
    let [ruled, unruled] = [ruled, unruled].map(|text| {
        let (model, _) =
            load("apart.graphql", &text, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        Arc::new(model)
    });
    let store = TableStore::in_memory().unwrap();
    // The tables of members and visits are missing. Visits are queried, so the hall itself is read.
    let is_there = |table: &&Table| !["members", "visits"].contains(&table.name.as_str());
    let tables: Vec<Table> = ruled.tables.iter().filter(is_there).cloned().collect();
    store.create_missing(&tables).await.unwrap();
    let store: Arc<dyn DataStore> = Arc::new(store);
    let ann = |text: &str| Request { caller: caller(json!({ "sub": "ann" })), ..support::request(text, json!({})) };
    let put = r#"mutation { putGroup(id: "g", name: "secret") { name } }"#;
    let unruled = Gateway::new(unruled, store.clone(), support::settings());
    let (hall, loft) = (
        r#"mutation { putHall(id: "h", name: "secret") { name } }"#,
        r#"mutation { putLoft(id: "l", groupId: "g", name: "secret") { name } }"#,
    );
    for put in [put, hall, loft] {
        let filled = support::run(&unruled, &ann(put), false).await;
        assert_eq!(filled.get("errors"), None, "{filled}");
    }
    let gateway = Gateway::new(ruled, store, support::settings());
    let asked = [
        (r#"{ group(id: "g") { name } }"#, "group"),
        (r#"{ hall(id: "h") { name } }"#, "hall"),
        (r#"{ loft(id: "l") { name } }"#, "loft"),
        (put, "putGroup"),
    ];
    for (text, field) in asked {
        let response = support::run(&gateway, &ann(text), false).await;
        assert_eq!(
            (&response["data"], super::errors(&response)),
            (&json!({ field: null }), vec![format!("UNAVAILABLE {field}")]),
            "{response}"
        );
    }
}

#[tokio::test]
async fn an_explanation_does_not_answer_what_a_rule_refuses() {
    let model =
        || load("apart.graphql", APART, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false))).0;
    let store = TableStore::in_memory().unwrap();
    store.create_missing(&model().tables).await.unwrap();
    let store: Arc<dyn DataStore> = Arc::new(store);
    let gateway = Gateway::new(Arc::new(model()), store.clone(), support::settings());
    // The group that is not there is reported. Of the one that is there, the calls would reveal that a member of it was
    // not found.
    let ann = Request { caller: caller(ann()), ..support::request(r#"{ group(id: "g") { name } }"#, json!({})) };
    let calls =
        async || support::run(&gateway, &ann, true).await["extensions"]["keyfold"]["calls"].as_array().unwrap().len();
    assert_eq!(calls().await, 1);
    let unruled = Gateway::new(Arc::new(model().without_rules()), store, support::settings());
    let put = support::request(r#"mutation { putGroup(id: "g", name: "secret") { name } }"#, json!({}));
    assert!(support::run(&unruled, &put, false).await.get("errors").is_none());
    assert_eq!(calls().await, 0);
}

/// Posts whose writes a look-up decides, and notes whose own owner does: without and with a version or a `@unique`
/// field.
const DELETES: &str = r#"
extend schema @table(name: "data", partitionKey: "PK", sortKey: "SK")

type Member @auth(signedIn: true) @item(keys: { PK: "{clubId}", SK: "M#{userId}" }) { clubId: ID! userId: ID! }
type Post
  @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" })
  @item(keys: { PK: "{clubId}", SK: "P#{id}" }) {
  clubId: ID!
  id: ID!
  text: String
  remarks: [Remark!]! @find(where: { clubId: "{clubId}", postId: "{id}" })
}
type Remark @auth(signedIn: true) @item(keys: { PK: "{clubId}", SK: "R#{postId}#{id}" }) { clubId: ID! postId: ID! id: ID! }
type Draft
  @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" })
  @item(keys: { PK: "{clubId}", SK: "D#{id}" }) { clubId: ID! id: ID! version: Int! @version }
type Page
  @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" })
  @item(keys: { PK: "{clubId}", SK: "S#{id}" }) { clubId: ID! id: ID! slug: ID! @unique }
type Note @auth(if: "auth.sub = owner") @item(keys: { PK: "{clubId}", SK: "N#{id}" }) {
  clubId: ID!
  id: ID!
  owner: ID!
  text: String
}

type Query { posts(clubId: ID!): [Post!]! @find }

type Mutation {
  join(clubId: ID!, userId: ID!): Member @put
  putPost(clubId: ID!, id: ID!, text: String): Post @put
  plain(clubId: ID!, id: ID!): Post @delete
  must(clubId: ID!, id: ID!): Post! @delete
  ifText(clubId: ID!, id: ID!, text: String!): Post @delete(if: "text = :text")
  done(clubId: ID!, id: ID!, text: String!): Boolean @delete(item: Post, if: "text = :text")
  beside(clubId: ID!, id: ID!, text: String!): Post
    @delete(item: Post, where: { id: "{id}" }, if: "text = :text")
    @put(item: Remark, set: { postId: "{id}", id: "last" })
  besidePlain(clubId: ID!, id: ID!): Post
    @delete(item: Post, where: { id: "{id}" })
    @put(item: Remark, set: { postId: "{id}", id: "last" })
  withAll(clubId: ID!, id: ID!, text: String!): Post @delete(if: "text = :text", cascade: ["remarks"])
  versioned(clubId: ID!, id: ID!, version: Int!): Draft @delete
  unique(clubId: ID!, id: ID!, slug: ID!): Page
    @delete(where: { clubId: "{clubId}", id: "{id}" }, if: "slug = :slug")
  note(clubId: ID!, id: ID!): Note @delete
  noteIf(clubId: ID!, id: ID!, text: String!): Note @delete(if: "text = :text")
  ofMembers(clubId: ID!, id: ID!, text: String!): Note
    @delete(if: "text = :text")
    @auth(exists: Member, where: { userId: "{auth.sub}", clubId: "{clubId}" })
}
"#;

#[tokio::test]
async fn a_delete_of_nothing_answers_alike_under_all_rules() {
    let fill = r#"mutation { join(clubId: "c", userId: "u1") { userId } }"#;
    let library = Library::of(DELETES, ann(), fill).await;
    let delete = |field: &str, more: &str, selection: &str| {
        format!(r#"mutation {{ {field}(clubId: "c", id: "gone"{more}) {selection} }}"#)
    };
    let text = r#", text: "a""#;
    for (field, more, selection, is_refused) in [
        ("plain", "", "{ id }", false),
        ("must", "", "{ id }", true),
        ("ifText", text, "{ id }", true),
        ("done", text, "", true),
        ("beside", text, "{ id }", true),
        ("besidePlain", "", "{ id }", true),
        ("withAll", text, "{ id }", false),
        ("versioned", ", version: 1", "{ id }", true),
        ("unique", r#", slug: "s""#, "{ id }", false),
        ("note", "", "{ id }", false),
        ("noteIf", text, "{ id }", true),
        ("ofMembers", text, "{ id }", true),
    ] {
        let operation = delete(field, more, selection);
        let (answer, _) = library.run(&caller(ann()), &operation, json!({})).await;
        let expected = if is_refused { vec![format!("NOT_FOUND {field}")] } else { Vec::new() };
        assert_eq!(errors(&answer), expected, "{answer}");
        // Who is no member learns nothing.
        if !field.starts_with("note") {
            let (answer, _) = library.run(&caller(ben()), &operation, json!({})).await;
            assert_eq!(errors(&answer), [format!("FORBIDDEN {field}")], "{answer}");
        }
    }
    // A post whose condition does not hold is no missing one.
    let put = r#"mutation { putPost(clubId: "c", id: "p", text: "b") { id } }"#;
    assert_eq!(errors(&library.run(&caller(ann()), put, json!({})).await.0), Vec::<String>::new());
    let other = r#"mutation { ifText(clubId: "c", id: "p", text: "a") { id } }"#;
    assert_eq!(errors(&library.run(&caller(ann()), other, json!({})).await.0), ["CONFLICT ifText"]);
    let same = r#"mutation { ifText(clubId: "c", id: "p", text: "b") { id } }"#;
    assert_eq!(library.run(&caller(ann()), same, json!({})).await.0["data"], json!({ "ifText": { "id": "p" } }));
}
