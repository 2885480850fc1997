//! Rules: a schema with `@auth`, callers and operations in; what each caller gets, and what was read for it, compared
//! with what the table says. Each row is one operation of one caller.

mod around;
mod claim_values;
mod clubs;
mod computed;
mod explained;
mod gates;
mod key_fields;
mod law;
mod mixing;
mod unsigned;
mod writes;

use crate::support;
use keyfold::execute::caller::Caller;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::{Request, Settings};
use keyfold::schema::load;
use keyfold::table::embedded::observer::Recorder;
use keyfold::table::store::TableStore;
use serde_json::{Value, json};
use std::sync::Arc;

const SCHEMA: &str = include_str!("../../schemas/rules/library.graphql");

/// Fills the library as its administrator.
const FILL: &str = r#"mutation {
  a: putBook(id: "b1", title: "Dune", price: 3, authorId: "u1") { id }
  b: putBook(id: "b2", title: "Emma", price: 4, authorId: "u2") { id }
  c: putUser(id: "u1", name: "Ann", email: "ann@example.com", plan: "gold") { id }
  d: putUser(id: "u2", name: "Ben", email: "ben@example.com", plan: "free") { id }
  e: putLoan(userId: "u1", bookId: "b1") { bookId }
  f: putLoan(userId: "u1", bookId: "b2") { bookId }
  g: putNote(bookId: "b1", id: "n1", ownerId: "u2", shared: false, text: "secret") { id }
  h: putNote(bookId: "b1", id: "n2", ownerId: "u1", shared: false, text: "mine") { id }
  i: putNote(bookId: "b1", id: "n3", ownerId: "u2", shared: true, text: "for all") { id }
  j: putNote(bookId: "b1", id: "n4", ownerId: "u2", shared: false, text: "secret too") { id }
}"#;

struct Library {
    gateway: Gateway,
    recorder: Arc<Recorder>,
}

impl Library {
    async fn open() -> Self {
        let (model, warnings) =
            load("library.graphql", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        assert!(warnings.list.is_empty(), "{}", warnings.render(false));
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let library = Self { gateway: Gateway::new(Arc::new(model), store, support::settings()), recorder };
        let (filled, _) = library.run(&admin(), FILL, json!({})).await;
        assert_eq!(filled.get("errors"), None, "{filled}");
        library
    }

    /// A library of a schema of its own, filled by a caller with these claims.
    async fn of(schema: &str, claims: Value, fill: &str) -> Self {
        let (model, _) =
            load("own.graphql", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let recorder = Arc::new(Recorder::default());
        let store = TableStore::in_memory_observed(recorder.clone()).unwrap();
        store.create_missing(&model.tables).await.unwrap();
        let library = Self { gateway: Gateway::new(Arc::new(model), store, support::settings()), recorder };
        let (filled, _) = library.run(&caller(claims), fill, json!({})).await;
        assert_eq!(filled.get("errors"), None, "{filled}");
        library
    }

    /// The response, and the number of calls that were made for it.
    async fn run(&self, caller: &Caller, query: &str, variables: Value) -> (Value, usize) {
        self.recorder.take();
        let request = Request { caller: caller.clone(), ..support::request(query, variables) };
        let response = support::run(&self.gateway, &request, false).await;
        (response, self.recorder.take().len())
    }
}

/// Any savings of plans, with the cache or without.
fn any_settings(rng: &mut fastrand::Rng) -> Settings {
    let cache_bytes = if rng.bool() { 64 << 20 } else { 0 };
    Settings { cache_bytes, ..support::any_settings(rng) }
}

fn caller(claims: Value) -> Caller {
    match claims {
        Value::Object(claims) => Caller::signed_in(claims),
        _ => Caller::anonymous(),
    }
}

fn admin() -> Caller {
    caller(json!({ "sub": "root", "role": "admin" }))
}

/// The errors of a response as `CODE path`.
fn errors(response: &Value) -> Vec<String> {
    let one = |error: &Value| {
        let path = error["path"].as_array().into_iter().flatten();
        let path: Vec<String> =
            path.map(|step| step.as_str().map_or_else(|| step.to_string(), str::to_owned)).collect();
        format!("{} {}", error["extensions"]["code"].as_str().unwrap_or_default(), path.join("."))
    };
    response["errors"].as_array().into_iter().flatten().map(one).collect()
}

/// The caller's claims, the operation, its data, its errors, and the number of calls.
type Row = (Value, &'static str, Value, &'static [&'static str], usize);

fn rows() -> Vec<Row> {
    let (anonymous, ann) = (Value::Null, json!({ "sub": "u1" }));
    let support = json!({ "sub": "u9", "cognito:groups": ["support", "sales"] });
    let admin = json!({ "sub": "root", "role": "admin" });
    vec![
        // Types that are public to read, and types and fields without a rule.
        (anonymous.clone(), r#"{ book(id: "b1") { title } }"#, json!({ "book": { "title": "Dune" } }), &[], 1),
        (anonymous.clone(), r#"{ shelf(id: "s") { id } }"#, json!({ "shelf": null }), &["UNAUTHENTICATED shelf"], 0),
        (ann.clone(), r#"{ shelf(id: "s") { id } }"#, json!({ "shelf": null }), &[], 1),
        (
            anonymous.clone(),
            r#"{ book(id: "b1") { title author { name } } }"#,
            json!({ "book": { "title": "Dune", "author": null } }),
            &["UNAUTHENTICATED book.author"],
            1,
        ),
        (
            ann.clone(),
            r#"{ book(id: "b1") { author { name } } }"#,
            json!({ "book": { "author": { "name": "Ann" } } }),
            &[],
            2,
        ),
        (anonymous.clone(), "{ __typename }", json!({ "__typename": "Query" }), &[], 0),
        // Guarded fields, under aliases and fragments, in what a key already holds.
        (
            ann.clone(),
            r#"{ user(id: "u1") { name e: email ... { email } ... on User { plan } } }"#,
            json!({ "user": { "name": "Ann", "e": null, "email": null, "plan": "gold" } }),
            &["FORBIDDEN user.e", "FORBIDDEN user.email"],
            1,
        ),
        (support.clone(), r#"{ user(id: "u1") { email } }"#, json!({ "user": { "email": "ann@example.com" } }), &[], 1),
        // A rule of an embedded type is one of each field that holds it.
        (
            ann.clone(),
            r#"mutation { move(id: "u1", address: { city: "Oslo" }) { id } }"#,
            json!({ "move": null }),
            &["FORBIDDEN move"],
            0,
        ),
        (
            support.clone(),
            r#"mutation { move(id: "u1", address: { city: "Oslo" }) { id } }"#,
            json!({ "move": { "id": "u1" } }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ user(id: "u1") { name address { city } } }"#,
            json!({ "user": { "name": "Ann", "address": null } }),
            &["FORBIDDEN user.address"],
            1,
        ),
        (
            support.clone(),
            r#"{ user(id: "u1") { address { city } } }"#,
            json!({ "user": { "address": { "city": "Oslo" } } }),
            &[],
            1,
        ),
        (
            anonymous.clone(),
            r#"{ user(id: "u1") { id __typename } }"#,
            json!({ "user": null }),
            &["UNAUTHENTICATED user"],
            0,
        ),
        // A rule over the arguments of a query.
        (
            ann.clone(),
            r#"{ loans(userId: "u1") { bookId } }"#,
            json!({ "loans": [{ "bookId": "b1" }, { "bookId": "b2" }] }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ mine: loans(userId: "u1") { bookId } theirs: loans(userId: "u2") { bookId } }"#,
            Value::Null,
            &["FORBIDDEN theirs"],
            1,
        ),
        (ann.clone(), r#"{ loanCount(userId: "u2") }"#, json!({ "loanCount": null }), &["FORBIDDEN loanCount"], 0),
        (
            ann.clone(),
            r#"{ hasLoan(userId: "u2", bookId: "b1") }"#,
            json!({ "hasLoan": null }),
            &["FORBIDDEN hasLoan"],
            0,
        ),
        (
            ann.clone(),
            r#"{ hasLoan(userId: "u1", bookId: "b1") loanCount(userId: "u1") }"#,
            json!({ "hasLoan": true, "loanCount": 2 }),
            &[],
            1,
        ),
        // Pages, and finds through relations.
        (
            ann.clone(),
            r#"{ user(id: "u1") { loans { nodes { bookId } pageInfo { hasNextPage endCursor } } } }"#,
            json!({ "user": { "loans": null } }),
            &["FORBIDDEN user.loans"],
            1,
        ),
        (
            ann.clone(),
            r#"{ user(id: "u1") { books { title } } }"#,
            json!({ "user": { "books": null } }),
            &["FORBIDDEN user.books"],
            1,
        ),
        (
            admin.clone(),
            r#"{ user(id: "u1") { books { title } } }"#,
            json!({ "user": { "books": [{ "title": "Dune" }, { "title": "Emma" }] } }),
            &[],
            2,
        ),
        // A union is refused if one of its types is.
        (anonymous.clone(), r#"{ desk(userId: "u1") { __typename } }"#, Value::Null, &["UNAUTHENTICATED desk"], 0),
        (
            admin.clone(),
            r#"{ desk(userId: "u1") { __typename } }"#,
            json!({ "desk": [{ "__typename": "Loan" }, { "__typename": "Loan" }] }),
            &[],
            1,
        ),
        // Searching by a guarded field has a rule of its own.
        (
            ann.clone(),
            r#"{ userByEmail(email: "ben@example.com") { id } }"#,
            json!({ "userByEmail": null }),
            &["FORBIDDEN userByEmail"],
            0,
        ),
        (
            support,
            r#"{ userByEmail(email: "ben@example.com") { id } }"#,
            json!({ "userByEmail": { "id": "u2" } }),
            &[],
            1,
        ),
        // Writes: the mutation's rule, the type's and the field's, and that of what it returns. A refused one writes
        // nothing.
        (
            anonymous.clone(),
            r#"mutation { rename(id: "u1", name: "X") { name } }"#,
            json!({ "rename": null }),
            &["UNAUTHENTICATED rename"],
            0,
        ),
        (
            ann.clone(),
            r#"mutation { rename(id: "u2", name: "X") { name } }"#,
            json!({ "rename": null }),
            &["FORBIDDEN rename"],
            0,
        ),
        (
            ann.clone(),
            r#"mutation { rename(id: "u1", name: "Anna") { name email } }"#,
            json!({ "rename": { "name": "Anna", "email": null } }),
            &["FORBIDDEN rename.email"],
            1,
        ),
        (
            ann.clone(),
            r#"mutation { setPlan(id: "u1", plan: "gold") { id } }"#,
            json!({ "setPlan": null }),
            &["FORBIDDEN setPlan"],
            0,
        ),
        (
            ann.clone(),
            r#"mutation { putBook(id: "b9", title: "x", price: 1, authorId: "u1") { id } }"#,
            json!({ "putBook": null }),
            &["FORBIDDEN putBook"],
            0,
        ),
        (
            ann.clone(),
            r#"mutation { a: rename(id: "u1", name: "Ann") { name } b: putLoan(userId: "u2", bookId: "b1") { bookId } }"#,
            json!({ "a": { "name": "Ann" }, "b": null }),
            &["FORBIDDEN b"],
            1,
        ),
        (
            admin.clone(),
            r#"mutation { setPlan(id: "u1", plan: "gold") { plan } }"#,
            json!({ "setPlan": { "plan": "gold" } }),
            &[],
            1,
        ),
        // Claims as values: what is missing finds nothing, and a write that needs it is refused.
        (ann.clone(), "{ mine { bookId } }", json!({ "mine": [{ "bookId": "b1" }, { "bookId": "b2" }] }), &[], 1),
        (json!({ "role": "guest" }), "{ mine { bookId } }", json!({ "mine": [] }), &[], 0),
        (json!({ "sub": ["u1"] }), "{ mine { bookId } }", json!({ "mine": [] }), &[], 0),
        (anonymous.clone(), "{ mine { bookId } }", Value::Null, &["UNAUTHENTICATED mine"], 0),
        (ann.clone(), "{ mineFrom { bookId } }", json!({ "mineFrom": [] }), &[], 0),
        (
            json!({ "sub": "u1", "from": "b2" }),
            "{ mineFrom { bookId } }",
            json!({ "mineFrom": [{ "bookId": "b2" }] }),
            &[],
            1,
        ),
        (
            json!({ "disliked": "Dune" }),
            r#"{ cheaper(ids: ["b1", "b2"]) { title } }"#,
            json!({ "cheaper": [null, { "title": "Emma" }] }),
            &[],
            1,
        ),
        (
            json!({ "role": "guest" }),
            r#"mutation { borrow(bookId: "b1") { userId } }"#,
            json!({ "borrow": null }),
            &["FORBIDDEN borrow"],
            0,
        ),
        (
            json!({ "sub": "u3" }),
            r#"mutation { borrow(bookId: "b1") { userId bookId } }"#,
            json!({ "borrow": { "userId": "u3", "bookId": "b1" } }),
            &[],
            1,
        ),
        // Items that a rule hides are not there: in lists, counts, pages, cursors, Booleans, finds through them, and
        // what a write gives back.
        (
            ann.clone(),
            r#"{ book(id: "b1") { notes { id } noteCount } }"#,
            json!({ "book": { "notes": [{ "id": "n2" }, { "id": "n3" }], "noteCount": 2 } }),
            &[],
            1,
        ),
        (
            anonymous.clone(),
            r#"{ book(id: "b1") { notes { text } noteCount } }"#,
            json!({ "book": { "notes": [{ "text": "for all" }], "noteCount": 1 } }),
            &[],
            1,
        ),
        (admin.clone(), r#"{ book(id: "b1") { noteCount } }"#, json!({ "book": { "noteCount": 4 } }), &[], 1),
        (
            ann.clone(),
            r#"{ hidden: note(bookId: "b1", id: "n1") { text } none: note(bookId: "b1", id: "n9") { text } own: note(bookId: "b1", id: "n2") { id } }"#,
            json!({ "hidden": null, "none": null, "own": { "id": "n2" } }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ hidden: hasNote(bookId: "b1", id: "n1") none: hasNote(bookId: "b1", id: "n9") shared: hasNote(bookId: "b1", id: "n3") }"#,
            json!({ "hidden": false, "none": false, "shared": true }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ book(id: "b1") { notePages(first: 1) { nodes { id } pageInfo { hasNextPage } } } }"#,
            json!({ "book": { "notePages": { "nodes": [{ "id": "n2" }], "pageInfo": { "hasNextPage": true } } } }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ book(id: "b1") { notePages(first: 2) { edges { node { id } } pageInfo { hasNextPage } } } }"#,
            json!({ "book": { "notePages": { "edges": [{ "node": { "id": "n2" } }, { "node": { "id": "n3" } }], "pageInfo": { "hasNextPage": false } } } }),
            &[],
            1,
        ),
        // What a key reveals of an item is not shown unless the item is.
        (ann.clone(), r#"{ book(id: "b1") { first { bookId id } } }"#, json!({ "book": { "first": null } }), &[], 1),
        (
            json!({ "sub": "u2" }),
            r#"{ book(id: "b1") { first { bookId id } } }"#,
            json!({ "book": { "first": { "bookId": "b1", "id": "n1" } } }),
            &[],
            1,
        ),
        (
            anonymous.clone(),
            r#"{ searchNotes(bookId: "b1", text: "secret") { id } }"#,
            json!({ "searchNotes": [] }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"{ book(id: "b1") { readers { id } } }"#,
            json!({ "book": { "readers": [{ "id": "u1" }, { "id": "u2" }] } }),
            &[],
            2,
        ),
        (
            ann.clone(),
            r#"mutation { putNote(bookId: "b2", id: "n1", ownerId: "u2", shared: false, text: "x") { text } }"#,
            json!({ "putNote": null }),
            &[],
            1,
        ),
        (
            ann.clone(),
            r#"mutation { putNote(bookId: "b2", id: "n2", ownerId: "u1", shared: false, text: "x") { by } }"#,
            json!({ "putNote": { "by": "u1" } }),
            &[],
            1,
        ),
        // Claims of other types than the rule compares meet none.
        (
            json!({ "sub": ["u1"] }),
            r#"{ loanCount(userId: "u1") }"#,
            json!({ "loanCount": null }),
            &["FORBIDDEN loanCount"],
            0,
        ),
        (
            json!({ "sub": { "role": "admin" }, "role": ["admin"] }),
            r#"{ user(id: "u1") { books { title } } }"#,
            json!({ "user": { "books": null } }),
            &["FORBIDDEN user.books"],
            1,
        ),
        (
            json!({ "sub": "u1", "cognito:groups": "supporters" }),
            r#"{ user(id: "u1") { email } }"#,
            json!({ "user": { "email": null } }),
            &["FORBIDDEN user.email"],
            1,
        ),
        // The negation of a comparison with a missing claim lets anonymous in.
        (
            ann.clone(),
            r#"{ book(id: "b1") { price } }"#,
            json!({ "book": { "price": null } }),
            &["FORBIDDEN book.price"],
            1,
        ),
        (
            json!({ "sub": "u1", "country": "XX" }),
            r#"{ book(id: "b1") { price } }"#,
            json!({ "book": { "price": null } }),
            &["FORBIDDEN book.price"],
            1,
        ),
        (
            json!({ "sub": "u1", "country": "FR" }),
            r#"{ book(id: "b1") { price } }"#,
            json!({ "book": { "price": 3 } }),
            &[],
            1,
        ),
    ]
}

/// Runs each row on what the rows before it left.
async fn check_rows(library: &Library, rows: Vec<Row>) {
    let mut wrong = String::new();
    for (claims, operation, data, codes, calls) in rows {
        let (response, made) = library.run(&caller(claims.clone()), operation, json!({})).await;
        if (&response["data"], errors(&response), made)
            != (&data, codes.iter().map(|code| (*code).to_owned()).collect(), calls)
        {
            wrong += &format!(
                "{claims} {operation}\n  gives {response} by {made} calls\n  and not {data} {codes:?} by {calls}\n"
            );
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[tokio::test]
async fn each_caller_gets_what_the_rules_let_through() {
    check_rows(&Library::open().await, rows()).await;
}

#[tokio::test]
async fn a_plan_names_its_rules() {
    let library = Library::open().await;
    let request = support::request(r#"{ loans(userId: "u1") { bookId } }"#, json!({}));
    let (plan, _) = keyfold::execute::gateway::plan(library.gateway.model(), &request, &support::settings()).unwrap();
    let text = plan.to_text(library.gateway.model());
    assert!(text.contains("     rule  Query.loans: if :auth.sub = :userId, or if :auth.role = 'admin'\n"), "{text}");
}

#[tokio::test]
async fn an_explanation_does_not_tell_of_hidden_items() {
    let library = Library::open().await;
    let request = Request {
        caller: caller(json!({ "sub": "u1" })),
        ..support::request(r#"{ book(id: "b1") { noteCount } }"#, json!({}))
    };
    let response = support::run(&library.gateway, &request, true).await;
    let explained = &response["extensions"]["keyfold"];
    assert!(explained["plan"].is_object() && explained["calls"].as_array().unwrap().is_empty(), "{response}");
    assert_eq!(explained["capacity"]["read"].as_f64(), Some(0.0), "{response}");
}

#[tokio::test]
async fn callers_do_not_share_what_a_plan_decides() {
    let library = Library::open().await;
    let operation = r#"{ loanCount(userId: "u1") }"#;
    let (ann, ben) = (caller(json!({ "sub": "u1" })), caller(json!({ "sub": "u2" })));
    for _ in 0..3 {
        assert_eq!(library.run(&ann, operation, json!({})).await.0, json!({ "data": { "loanCount": 2 } }));
        assert_eq!(errors(&library.run(&ben, operation, json!({})).await.0), ["FORBIDDEN loanCount"]);
        assert_eq!(
            errors(&library.run(&Caller::anonymous(), operation, json!({})).await.0),
            ["UNAUTHENTICATED loanCount"]
        );
    }
}
