//! Lost races: between a write's read and its write, somebody else changes the table.

use super::backend::{Backend, CONTAINER, GROUP, USER, by, error, first, is_write, troubled};
use crate::scripted::Reply;
use serde_json::{Value, json};

const TABLE: &str = "nishiki-table-dev-db";

fn has(backend: &Backend, parts: &[&str]) -> bool {
    backend.items().iter().any(|item| parts.iter().all(|part| item.contains(part)))
}

#[tokio::test(start_paused = true)]
async fn an_element_is_followed_to_its_new_place() {
    let foods = "query ($g: ID!, $c: ID!) { group(id: $g) { container(containerId: $c) { foods { id name } } } }";
    for (operation, removed) in [
        (
            "mutation ($g: ID!, $c: ID!, $f: ID!) { updateFood(groupId: $g, containerId: $c, foodId: $f, input: { name: \"New\" }) { foods { name } } }",
            false,
        ),
        (
            "mutation ($g: ID!, $c: ID!, $f: ID!) { removeFood(groupId: $g, containerId: $c, foodId: $f) { foods { name } } }",
            true,
        ),
    ] {
        let backend = Backend::new("pantry").await;
        let read = backend.ok(foods, json!({ "g": GROUP, "c": CONTAINER })).await;
        let id = read["group"]["container"]["foods"][1]["id"].clone();
        backend
            .script(first(|call| call.table.update(TABLE, [CONTAINER, "Container"], "REMOVE Foods[0]", Value::Null)));
        backend.ok(operation, json!({ "g": GROUP, "c": CONTAINER, "f": id })).await;
        assert_eq!(backend.writes(), 2, "the first lost the race");
        let names = backend.ok(foods, json!({ "g": GROUP, "c": CONTAINER })).await;
        let names: Vec<&str> = names["group"]["container"]["foods"]
            .as_array()
            .unwrap()
            .iter()
            .map(|food| food["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, if removed { vec!["Leftover lentil soup"] } else { vec!["New", "Leftover lentil soup"] });
        // A removed element is missing.
        let backend = Backend::new("pantry").await;
        backend
            .script(first(|call| call.table.update(TABLE, [CONTAINER, "Container"], "REMOVE Foods[1]", Value::Null)));
        let answer = backend.run(operation, json!({ "g": GROUP, "c": CONTAINER, "f": id })).await;
        let (code, message, _) = error(&answer);
        assert_eq!((code, message), ("NOT_FOUND", "This Food does not exist."));
        // An element of a deleted item is missing, too.
        backend.script(first(|call| call.table.delete(TABLE, [CONTAINER, "Container"])));
        let answer = backend
            .run(operation, json!({ "g": GROUP, "c": CONTAINER, "f": read["group"]["container"]["foods"][0]["id"] }))
            .await;
        let (code, message, _) = error(&answer);
        assert_eq!((code, message), ("NOT_FOUND", "This Container does not exist."));
        assert!(!has(&backend, &["\"SK\":{\"S\":\"Container\"}"]), "nothing is made anew");
    }
}

#[tokio::test(start_paused = true)]
async fn a_read_value_in_an_index_key_is_read_again() {
    let backend = Backend::new("ledger").await;
    backend
        .ok("mutation { enter(owner: \"a\", no: \"1\", text: \"t\", shelf: \"s\", state: \"new\") { no } }", json!({}))
        .await;
    backend.script(first(|call| {
        let values = json!({ ":s": { "S": "other" }, ":k": { "S": "other#new" } });
        call.table.update("ledger", ["Account#a", "Entry#1"], "SET shelf = :s, StateKey = :k", values);
    }));
    backend.ok("mutation { restate(owner: \"a\", no: \"1\", state: \"old\") { no } }", json!({})).await;
    assert!(has(
        &backend,
        &["\"StateKey\":{\"S\":\"other#old\"}", "\"shelf\":{\"S\":\"other\"}", "\"state\":{\"S\":\"old\"}"]
    ));
}

#[tokio::test(start_paused = true)]
async fn a_guard_follows_the_address_that_its_owner_has() {
    let change = "mutation ($e: String!) { changeEmail(email: $e) { email } }";
    // Somebody else gives the same user another address, or the same one.
    for other in ["other@example.com", "new@example.com"] {
        let backend = Backend::new("pantry").await;
        let gateway = backend.gateway.clone();
        backend.script(first(move |call| {
            let s = |text: &str| json!({ "S": text });
            call.table.update(TABLE, [USER, "User"], "SET EMailAddress = :e", json!({ ":e": s(other) }));
            call.table.delete(TABLE, ["Unique#User.email#aiko.tanaka@example.com", "Unique#User.email"]);
            let guard = json!({ "PK": s(&format!("Unique#User.email#{other}")), "SK": s("Unique#User.email"), "ownerPK": s(USER), "ownerSK": s("User") });
            call.table.put(TABLE, guard);
            let _ = &gateway;
        }));
        let answer = backend.ok(change, json!({ "e": "new@example.com" })).await;
        assert_eq!(answer["changeEmail"]["email"], "new@example.com", "{other}");
        let guards: Vec<String> =
            backend.items().into_iter().filter(|item| item.contains("Unique#") && item.contains(USER)).collect();
        assert!(guards.len() == 1 && guards[0].contains("#new@example.com"), "{guards:?}");
    }
    // Somebody else takes the address.
    let backend = Backend::new("pantry").await;
    let before = backend.items();
    backend.script(first(|call| {
        let s = |text: &str| json!({ "S": text });
        let guard =
            json!({ "PK": s("Unique#User.email#new@example.com"), "SK": s("Unique#User.email"), "ownerPK": s("u"), "ownerSK": s("User") });
        call.table.put(TABLE, guard);
    }));
    let answer = backend.run(change, json!({ "e": "new@example.com" })).await;
    let message = "Another User already has this email.";
    assert_eq!(error(&answer), ("CONFLICT", message, "[\"changeEmail\"]".to_owned()));
    assert_eq!(answer["errors"][0]["extensions"]["field"], "email");
    assert_eq!(backend.items().len(), before.len() + 1);
}

#[tokio::test(start_paused = true)]
async fn an_invitation_that_is_changed_or_goes_while_one_joins_lets_nobody_in() {
    let mut backend = Backend::new("pantry").await;
    backend.caller = by("u");
    let invitation = backend.ok("mutation ($g: ID!) { invite(groupId: $g) { hash } }", json!({ "g": GROUP })).await;
    backend.ok("mutation { createUser(name: \"U\", email: \"u@example.com\") { id } }", json!({})).await;
    let join = "mutation ($h: String!) { joinGroup(hash: $h) { groupId } }";
    let variables = json!({ "h": invitation["invite"]["hash"] });
    let before = backend.items().len();
    backend.script(first(|call| {
        call.table.update(
            TABLE,
            [GROUP, "InvitationLinkHash"],
            "SET InvitationLinkHash = :h",
            json!({ ":h": { "S": "another" } }),
        );
    }));
    let answer = backend.run(join, variables.clone()).await;
    let (code, message, path) = error(&answer);
    assert_eq!((code, message, path.as_str()), ("CONFLICT", "This invitation has expired.", "[\"joinGroup\"]"));
    assert_eq!(backend.items().len(), before);
    backend.calm();
    let invitation = backend.ok("mutation ($g: ID!) { invite(groupId: $g) { hash } }", json!({ "g": GROUP })).await;
    let variables = json!({ "h": invitation["invite"]["hash"] });
    backend.script(troubled(2, false, || Reply::Reset));
    assert_eq!(backend.ok(join, variables.clone()).await["joinGroup"]["groupId"], GROUP);
    assert_eq!(backend.items().len(), before + 1);
    backend.script(troubled(2, true, || Reply::Reset));
    let (again, message) = (backend.run(join, variables).await, "This user belongs to the group already.");
    assert_eq!(error(&again), ("CONFLICT", message, "[\"joinGroup\"]".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn a_stale_version_is_reported_with_the_present_one() {
    let edit = "mutation ($v: Int!) { editPage(id: \"p\", version: $v, title: \"two\") { version } }";
    let drop = "mutation ($v: Int!) { dropPage(id: \"p\", version: $v) { version } }";
    for operation in [edit, drop] {
        let backend = Backend::new("ledger").await;
        backend.ok("mutation { createPage(id: \"p\", title: \"one\") { version } }", json!({})).await;
        let values = || json!({ ":v": { "N": "7" } });
        backend
            .script(first(move |call| call.table.update("ledger", ["Page#p", "Page"], "SET version = :v", values())));
        let answer = backend.run(operation, json!({ "v": 1 })).await;
        let (code, message, _) = error(&answer);
        assert_eq!((code, message), ("CONFLICT", "This Page has been changed in the meantime."));
        assert_eq!(answer["errors"][0]["extensions"]["currentVersion"], 7, "{answer}");
        assert!(has(&backend, &["\"title\":{\"S\":\"one\"}", "\"version\":{\"N\":\"7\"}"]));
        // A deleted page has no version.
        backend.script(first(|call| call.table.delete("ledger", ["Page#p", "Page"])));
        let answer = backend.run(operation, json!({ "v": 7 })).await;
        let (code, message, _) = error(&answer);
        assert_eq!((code, message), ("NOT_FOUND", "This Page does not exist."), "{operation}");
        assert_eq!(backend.items(), Vec::<String>::new());
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_there_already_is_not_taken_for_ones_own() {
    let create = "mutation { createPage(id: \"p\", title: \"one\") { version } }";
    let other = || json!({ "PK": { "S": "Page#p" }, "SK": { "S": "Page" }, "title": { "S": "theirs" }, "version": { "N": "1" } });
    let backend = Backend::new("ledger").await;
    backend.script(first(move |call| call.table.put("ledger", other())));
    let answer = backend.run(create, json!({})).await;
    let (code, message, _) = error(&answer);
    assert_eq!((code, message), ("CONFLICT", "This Page already exists."));
    // After a lost answer, their page may be ours, changed by somebody.
    let backend = Backend::new("ledger").await;
    backend.script(move |call| {
        (is_write(call.operation) && call.before == 0).then(|| {
            call.table.put("ledger", other());
            Reply::Reset
        })
    });
    let answer = backend.run(create, json!({})).await;
    let (code, message, _) = error(&answer);
    assert!(code == "UNAVAILABLE" && message.contains("may or may not have been made"), "{answer}");
    assert!(has(&backend, &["theirs"]));
}

#[tokio::test(start_paused = true)]
async fn a_race_that_is_lost_again_and_again_ends() {
    let backend = Backend::new("pantry").await;
    let read = backend
        .ok(
            "query ($g: ID!, $c: ID!) { group(id: $g) { container(containerId: $c) { foods { id } } } }",
            json!({ "g": GROUP, "c": CONTAINER }),
        )
        .await;
    // Before every write, somebody puts another food at the front.
    backend.script(|call| {
        if is_write(call.operation) {
            let food = json!({ ":none": { "L": [{ "M": { "FoodId": { "S": "x" }, "Name": { "S": "x" } } }] } });
            call.table.update(TABLE, [CONTAINER, "Container"], "SET Foods = list_append(:none, Foods)", food);
        }
        None
    });
    let begun = tokio::time::Instant::now();
    let update = "mutation ($g: ID!, $c: ID!, $f: ID!) { updateFood(groupId: $g, containerId: $c, foodId: $f, input: { name: \"New\" }) { id } }";
    let answer = backend
        .run(update, json!({ "g": GROUP, "c": CONTAINER, "f": read["group"]["container"]["foods"][0]["id"] }))
        .await;
    let message = "Other writers keep changing the same items. Try again.";
    assert_eq!(error(&answer), ("CONFLICT", message, "[\"updateFood\"]".to_owned()));
    assert!(backend.writes() <= 200 && begun.elapsed().as_secs() < 60, "{} in {:?}", backend.writes(), begun.elapsed());
    assert!(!has(&backend, &["\"New\""]));
}

#[tokio::test(start_paused = true)]
async fn a_relation_that_gets_another_guard_is_read_again() {
    // A user changes the address while being deleted: the delete removes the new guard.
    let backend = Backend::new("pantry").await;
    backend.script(first(|call| {
        let s = |text: &str| json!({ "S": text });
        call.table.update(TABLE, [USER, "User"], "SET EMailAddress = :e", json!({ ":e": s("moved@example.com") }));
        call.table.delete(TABLE, ["Unique#User.email#aiko.tanaka@example.com", "Unique#User.email"]);
        for (address, owner) in [("moved@example.com", USER), ("aiko.tanaka@example.com", "u")] {
            let key = format!("Unique#User.email#{address}");
            call.table.put(
                TABLE,
                json!({ "PK": s(&key), "SK": s("Unique#User.email"), "ownerPK": s(owner), "ownerSK": s("User") }),
            );
        }
    }));
    backend.ok("mutation { deleteUser { id } }", json!({})).await;
    let guards: Vec<String> = backend.items().into_iter().filter(|item| item.contains("Unique#")).collect();
    assert!(guards.len() == 1 && guards[0].contains("#aiko.tanaka@example.com"), "{guards:?}");
    assert!(!has(&backend, &[USER]));
}

/// A delete in a transaction returns the item as it was deleted, not as it was read before.
#[tokio::test(start_paused = true)]
async fn a_deleted_item_is_given_back_as_it_was_deleted() {
    let backend = Backend::new("pantry").await;
    backend.script(first(|call| {
        call.table.update(TABLE, [USER, "User"], "SET UserName = :n", json!({ ":n": { "S": "Renamed" } }));
    }));
    let answer = backend.ok("mutation { deleteUser { name } }", json!({})).await;
    assert_eq!(answer["deleteUser"]["name"], "Renamed");
}

/// A berth of the ship Argo at a pier, as an item and its guard.
fn moored(pier: &str) -> [Value; 2] {
    let s = |text: &str| json!({ "S": text });
    [
        json!({ "PK": s("Berth#a"), "SK": s("Berth"), "ship": s("Argo"), "pier": s(pier), "version": { "N": "1" } }),
        json!({ "PK": s("Unique#Berth.ship#Argo"), "SK": s("Unique#Berth.ship"), "ownerPK": s("Berth#a"), "ownerSK": s("Berth") }),
    ]
}

const CAST_OFF: [&str; 2] = [
    "mutation { r: castOff(id: \"a\", version: 1) { pier version } }",
    "mutation { r: castOffAt(id: \"a\", ship: \"Argo\") { pier version } }",
];

/// Of two concurrent deletes of an item with a guard, the loser finds nothing to delete, whatever it demands of the
/// item.
#[tokio::test(start_paused = true)]
async fn concurrent_deletes_of_a_guarded_item_loser_returns_null() {
    for delete in CAST_OFF {
        let backend = Backend::new("ledger").await;
        backend.ok("mutation { moor(id: \"a\", ship: \"Argo\", pier: \"east\") { id } }", json!({})).await;
        backend.script(first(|call| {
            call.table.delete("ledger", ["Berth#a", "Berth"]);
            call.table.delete("ledger", ["Unique#Berth.ship#Argo", "Unique#Berth.ship"]);
        }));
        assert_eq!(backend.ok(delete, json!({})).await, json!({ "r": null }), "{delete}");
        assert_eq!(backend.items(), Vec::<String>::new());
    }
}

/// An item that is deleted and put again has version 1 again. A delete returns the item that it deleted, not the
/// earlier one.
#[tokio::test(start_paused = true)]
async fn an_item_that_is_put_again_with_the_same_version_is_given_back_as_it_was_deleted() {
    let backend = Backend::new("ledger").await;
    moored("old").into_iter().for_each(|item| backend.table.put("ledger", item));
    backend.script(first(|call| moored("new").into_iter().for_each(|item| call.table.put("ledger", item))));
    assert_eq!(backend.ok(CAST_OFF[0], json!({})).await, json!({ "r": { "pier": "new", "version": 1 } }));
    assert_eq!(backend.items(), Vec::<String>::new());
}

const CREWS: &str = r#"
extend schema @table(name: "crews", partitionKey: "PK", sortKey: "SK")
type Crew @item(keys: { PK: "Crew#{id}", SK: "Crew" }) @auth(public: true) {
  id: ID!
  members: [Member!]! @find(where: { crewId: "{id}" })
}
type Member @item(keys: { PK: "Crew#{crewId}", SK: "Member#{userId}" }) @auth(public: true) {
  crewId: ID!
  userId: ID!
  rank: String!
}
type Query {
  crew(id: ID!): Crew @find @auth(public: true)
}
type Mutation {
  putCrew(id: ID!): Crew @put @auth(public: true)
  putMember(crewId: ID!, userId: ID!, rank: String!): Member @put @auth(public: true)
  reduce(id: ID!, userId: ID!, rank: String!): Boolean
    @delete(item: Crew, where: { id: "{id}" }, cascade: ["members"])
    @put(item: Member, replace: true, set: { crewId: "{id}", userId: "{userId}", rank: "{rank}" })
    @auth(exists: Member, where: { crewId: "{id}", userId: "{auth.sub}" }, if: "rank = 'chief'")
}
"#;

/// The cascade would delete the caller's membership, which another action of the same transaction writes. The rule is
/// checked there.
#[tokio::test(start_paused = true)]
async fn a_rule_is_checked_where_another_call_writes_what_it_looks_up() {
    for is_reduced in [false, true] {
        let mut backend = Backend::ruled(CREWS).await;
        backend.caller = by("ann");
        backend
            .ok("mutation { putCrew(id: \"c\") { id } putMember(crewId: \"c\", userId: \"ann\", rank: \"chief\") { rank } }", json!({}))
            .await;
        backend.script(first(move |call| {
            if is_reduced {
                let key = ["Crew#c", "Member#ann"];
                call.table.update("crews", key, "SET #rank = :rank", json!({ ":rank": { "S": "mate" } }));
            }
        }));
        let is = backend.run("mutation { reduce(id: \"c\", userId: \"ann\", rank: \"cook\") }", json!({})).await;
        match is_reduced {
            true => assert_eq!(error(&is).0, "FORBIDDEN", "{is}"),
            false => assert_eq!(is["data"]["reduce"], true, "{is}"),
        }
    }
}

const SHELVES: &str = r#"
extend schema @table(name: "shelves", partitionKey: "PK")
type Shelf @item(keys: { PK: "Shelf#{id}" }) @auth(public: true) {
  id: ID!
  stock: Int!
  reserve: Int!
}
type Query {
  shelf(id: ID!): Shelf @find @auth(public: true)
}
type Mutation {
  putShelf(id: ID!, stock: Int!, reserve: Int!): Shelf @put @auth(public: true)
  take(id: ID!): Shelf
    @find(item: Shelf, filter: "reserve < 5")
    @update(item: Shelf, expression: "SET stock = stock - 1", if: "stock > :Shelf.reserve", message: "Reserved.")
    @auth(public: true)
  takeLast(id: ID!): Shelf
    @find(item: Shelf, filter: "reserve < 5")
    @update(item: Shelf, expression: "SET stock = stock - 1", if: "stock > 0", message: "Empty.")
    @auth(public: true)
}
"#;

/// A condition that names the found item holds or fails by the item as it is at the moment of the write. With a value
/// from before, it says nothing. A condition that names nothing found says what it says at once.
#[tokio::test(start_paused = true)]
async fn a_condition_that_names_what_was_found_and_has_changed_is_asked_again() {
    let cases = [
        ("take", (3, 1), 2, Ok(2)),
        ("take", (3, 4), 2, Err(("CONFLICT", "Reserved."))),
        ("take", (1, 9), 1, Err(("NOT_FOUND", "This Shelf does not exist."))),
        ("takeLast", (3, 9), 1, Err(("NOT_FOUND", "This Shelf does not exist."))),
        ("takeLast", (0, 9), 1, Err(("CONFLICT", "Empty."))),
    ];
    for (field, (stock, reserve), writes, outcome) in cases {
        let backend = Backend::ruled(SHELVES).await;
        backend.ok("mutation { putShelf(id: \"s\", stock: 4, reserve: 3) { id } }", json!({})).await;
        backend.script(first(move |call| {
            let number = |number: i32| json!({ "N": number.to_string() });
            let shelf = json!({ "PK": { "S": "Shelf#s" }, "stock": number(stock), "reserve": number(reserve) });
            call.table.put("shelves", shelf);
        }));
        let is = backend.run(&format!("mutation {{ {field}(id: \"s\") {{ stock }} }}"), json!({})).await;
        match outcome {
            Ok(left) => assert_eq!(is["data"][field], json!({ "stock": left }), "{field}: {is}"),
            Err(expected) => assert_eq!((error(&is).0, error(&is).1), expected, "{field}: {is}"),
        }
        assert_eq!(backend.writes(), writes, "{field} with {stock} in stock and {reserve} in reserve");
    }
}

const SESSIONS: &str = r#"
extend schema @table(name: "sessions", partitionKey: "PK", sortKey: "SK", timeToLive: "ttl")
type Session @item(keys: { PK: "SESSION#{id}", SK: "SESSION" }) {
  id: ID!
  code: String! @unique
  expiresAt: Long @attribute(name: "ttl")
}
type Query { session(id: ID!): Session @find }
type Mutation {
  open(id: ID!, code: String!, expiresAt: Long): Session @put
  prolong(id: ID!, expiresAt: Long): Session @update
}
"#;

/// A guard that has the new time already is not written, so the time must still be the item's.
#[tokio::test(start_paused = true)]
async fn a_guard_ends_with_its_owner_whoever_prolongs_it_meanwhile() {
    let backend = Backend::of_text(SESSIONS).await;
    let open = "mutation { open(id: \"a\", code: \"c\", expiresAt: 4000000000) { id } }";
    backend.ok(open, json!({})).await;
    backend.script(first(|call| {
        let time = json!({ ":t": { "N": "4000000100" } });
        for key in [["SESSION#a", "SESSION"], ["Unique#Session.code#c", "Unique#Session.code"]] {
            call.table.update("sessions", key, "SET #ttl = :t", time.clone());
        }
    }));
    backend.ok("mutation { prolong(id: \"a\", expiresAt: 4000000000) { id } }", json!({})).await;
    let of_time = |time: &str| backend.items().iter().filter(|item| item.contains(time)).count();
    assert_eq!((of_time("4000000000"), of_time("4000000100")), (2, 0), "{:#?}", backend.items());
}
