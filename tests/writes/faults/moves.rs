//! Items that move: what others change between the read and the write goes along, the caller must be allowed to write
//! both the item as it was and as it will be, and what is too large stays where it is.

use super::backend::{Backend, by, error, first};
use crate::support;
use keyfold::execute::request::Request;
use serde_json::{Map, Value, json};

const BOARDS: &str = r#"extend schema @table(name: "boards", partitionKey: "PK", sortKey: "SK", timeToLive: "until")
type Query { card(boardId: ID!, id: ID!): Card @find }
type Mutation {
  moveCard(boardId: ID!, id: ID!, to: ID!): Card @update(move: true, set: { boardId: "{to}" })
  moveThing(boardId: ID!, id: ID!, to: ID!): Thing @update(move: true, set: { boardId: "{to}" })
  moveLamps(boardId: ID!, to: ID!): [Lamp!]! @update(move: true, many: true, set: { boardId: "{to}" })
  moveTicket(boardId: ID!, id: ID!, to: ID!): Ticket @update(move: true, set: { boardId: "{to}" })
}
union Thing = Card | Lamp
type Card @item(keys: { PK: "BOARD#{boardId}", SK: "CARD#{id}" }, attributes: { kind: "card" }) {
  boardId: ID! id: ID! title: String
}
type Lamp @item(keys: { PK: "BOARD#{boardId}", SK: "LAMP#{id}" }) { boardId: ID! id: ID! watts: Int }
type Ticket @item(keys: { PK: "TICKETS#{boardId}", SK: "TICKET#{id}" }) {
  boardId: ID! id: ID! code: String @unique until: DateTime @attribute(name: "until")
}
"#;

/// A card with this many attributes more.
fn card(board: &str, more: usize) -> Value {
    let mut item = Map::from_iter([
        ("PK".to_owned(), json!({ "S": format!("BOARD#{board}") })),
        ("SK".to_owned(), json!({ "S": "CARD#1" })),
        ("title".to_owned(), json!({ "S": "t" })),
    ]);
    item.extend((0..more).map(|at| (format!("own{at:03}"), json!({ "S": "x" }))));
    item.into()
}

const MOVE: &str = r#"mutation { moveCard(boardId: "a", id: "1", to: "b") { boardId title } }"#;

#[tokio::test(start_paused = true)]
async fn what_the_schema_does_not_know_goes_along_also_if_it_changes_meanwhile() {
    let backend = Backend::of_text(BOARDS).await;
    backend.table.put("boards", card("a", 1));
    let values = json!({ ":v": { "S": "later" }, ":t": { "S": "other" } });
    backend.script(first(move |call| {
        call.table.update("boards", ["BOARD#a", "CARD#1"], "SET own000 = :v, title = :t", values.clone());
    }));
    let answer = backend.ok(MOVE, json!({})).await;
    assert_eq!(answer["moveCard"], json!({ "boardId": "b", "title": "other" }));
    let items = backend.items();
    assert!(items.len() == 1 && items[0].contains("later") && items[0].contains("BOARD#b"), "{items:?}");
    // It is older than the constant, and gets it.
    assert!(items[0].contains(r#""kind":{"S":"card"}"#), "{items:?}");
}

#[tokio::test(start_paused = true)]
async fn an_item_with_more_attributes_than_a_condition_holds_stays() {
    for (more, fits) in [(140, true), (149, false), (300, false)] {
        let backend = Backend::of_text(BOARDS).await;
        backend.table.put("boards", card("a", more));
        let before = backend.items();
        let answer = backend.run(MOVE, json!({})).await;
        if fits {
            assert_eq!(answer["data"]["moveCard"]["boardId"], "b", "{answer}");
            continue;
        }
        let message = "This Card has too many attributes to move: a condition of DynamoDB cannot hold them all.";
        assert_eq!(error(&answer), ("LIMIT_EXCEEDED", message, "[\"moveCard\"]".to_owned()));
        assert_eq!(backend.items(), before);
    }
}

/// What a rule looks up of the item that moves is in the same condition.
#[tokio::test(start_paused = true)]
async fn a_rule_of_an_item_that_moves_counts_with_its_attributes() {
    let any = (0..20).map(|at| format!("title = 't{at}'")).collect::<Vec<_>>().join(" OR ");
    let rule = format!(
        r#"@auth(exists: Card, where: {{ boardId: "{{boardId}}", id: "{{id}}" }}, if: "{any} OR title = 't'")"#
    );
    let ruled = BOARDS.replacen("Card @update", &format!("Card {rule} @update"), 1);
    for (more, title, code) in [(90, "t", ""), (130, "t", "LIMIT_EXCEEDED"), (130, "u", "FORBIDDEN")] {
        let mut backend = Backend::ruled(&ruled).await;
        backend.caller = by("ann");
        let mut item = card("a", more);
        item["title"] = json!({ "S": title });
        backend.table.put("boards", item);
        let before = backend.items();
        let answer = backend.run(MOVE, json!({})).await;
        assert_eq!(error(&answer).0, code, "{more}, {title}: {answer}");
        assert_eq!(backend.items() == before, !code.is_empty(), "{more}, {title}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_item_of_several_types_moves_as_what_it_is() {
    let backend = Backend::of_text(BOARDS).await;
    backend.table.put("boards", json!({ "PK": { "S": "BOARD#a" }, "SK": { "S": "LAMP#1" }, "watts": { "N": "40" } }));
    let move_thing =
        r#"mutation { moveThing(boardId: "a", id: "1", to: "b") { __typename ... on Lamp { boardId watts } } }"#;
    // It goes and comes between the reads.
    backend.script(first(|call| call.table.delete("boards", ["BOARD#a", "LAMP#1"])));
    assert_eq!(error(&backend.run(move_thing, json!({})).await).0, "NOT_FOUND");
    backend.calm();
    backend.table.put("boards", json!({ "PK": { "S": "BOARD#a" }, "SK": { "S": "LAMP#1" }, "watts": { "N": "40" } }));
    let answer = backend.ok(move_thing, json!({})).await;
    assert_eq!(answer["moveThing"], json!({ "__typename": "Lamp", "boardId": "b", "watts": 40 }));
}

#[tokio::test(start_paused = true)]
async fn what_has_expired_makes_room_with_its_guards() {
    let backend = Backend::of_text(BOARDS).await;
    let s = |text: &str| json!({ "S": text });
    let ticket = |board: &str, code: &str, until: Option<&str>| {
        let mut item = json!({ "PK": s(&format!("TICKETS#{board}")), "SK": s("TICKET#1"), "code": s(code) });
        let mut guard = json!({ "PK": s(&format!("Unique#Ticket.code#{code}")), "SK": s("Unique#Ticket.code"),
            "ownerPK": s(&format!("TICKETS#{board}")), "ownerSK": s("TICKET#1") });
        if let Some(until) = until {
            (item["until"], guard["until"]) = (json!({ "N": until }), json!({ "N": until }));
        }
        [item, guard]
    };
    let all = ticket("a", "A", None).into_iter().chain(ticket("b", "B", Some("1700000000")));
    all.for_each(|item| backend.table.put("boards", item));
    let answer =
        backend.ok(r#"mutation { moveTicket(boardId: "a", id: "1", to: "b") { boardId code } }"#, json!({})).await;
    assert_eq!(answer["moveTicket"], json!({ "boardId": "b", "code": "A" }));
    let items = backend.items();
    assert!(
        items.len() == 2 && items.iter().all(|item| item.contains("TICKETS#b") && !item.contains("until")),
        "{items:?}"
    );
}

const RULED: &str = r#"extend schema @table(name: "boards", partitionKey: "PK", sortKey: "SK")
type Query { note(owner: ID!, id: ID!): Note @find }
type Mutation { give(owner: ID!, id: ID!, to: ID!): Note @update(move: true, set: { owner: "{to}" }) }
type Note @item(keys: { PK: "OWNER#{owner}", SK: "NOTE#{id}" }) @auth(if: "auth.sub = owner OR 'all' IN (auth.rights)") {
  owner: ID! id: ID! text: String
}
"#;

#[tokio::test(start_paused = true)]
async fn a_caller_may_write_the_item_as_it_was_and_as_it_will_be() {
    let backend = Backend::ruled(RULED).await;
    let note = |owner: &str| json!({ "PK": { "S": format!("OWNER#{owner}") }, "SK": { "S": "NOTE#1" } });
    ["ann", "bob"].into_iter().for_each(|owner| backend.table.put("boards", note(owner)));
    let before = backend.items();
    for (from, to) in [("ann", "cat"), ("bob", "ann")] {
        let give = format!("mutation {{ give(owner: \"{from}\", id: \"1\", to: \"{to}\") {{ text }} }}");
        let request = Request { caller: by("ann"), ..backend.request(&give, json!({})) };
        let answer = support::run(&backend.gateway, &request, false).await;
        assert_eq!(error(&answer).0, "FORBIDDEN", "{from} {to}");
        assert_eq!(backend.items(), before, "{from} {to}");
    }
}

const FOLDED: &str = r#"extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK")
type Query { page(board: ID!, slug: String!): Page @find }
type Mutation {
  moveClerk(org: ID!, boss: String, to: ID!): Clerk @update(move: true, set: { org: "{to}" })
  movePage(board: ID!, slug: String!, to: ID!): Page @update(move: true, set: { board: "{to}" })
}
type Clerk @item(keys: { PK: "ORG#{org}", SK: ["CLERK#B#{boss:lower}", "CLERK#NONE"] }) { org: ID! boss: String rank: Int }
type Page @item(keys: { PK: "BOARD#{board}", SK: "SLUG#{slug:lower}" }) { board: ID! slug: String! text: String }
"#;

#[tokio::test(start_paused = true)]
async fn a_field_that_keys_have_in_one_case_stays_in_the_key() {
    for to in ["a", "b"] {
        let backend = Backend::of_text(FOLDED).await;
        let s = |text: &str| json!({ "S": text });
        backend.table.put("shop", json!({ "PK": s("ORG#a"), "SK": s("CLERK#B#bob"), "boss": s("Bob") }));
        backend.table.put("shop", json!({ "PK": s("BOARD#a"), "SK": s("SLUG#one"), "slug": s("One") }));
        let clerk = "mutation ($to: ID!) { moveClerk(org: \"a\", boss: \"BOB\", to: $to) { org boss } }";
        let answer = backend.ok(clerk, json!({ "to": to })).await;
        assert_eq!(answer["moveClerk"], json!({ "org": to, "boss": "Bob" }));
        let page = "mutation ($to: ID!) { movePage(board: \"a\", slug: \"ONE\", to: $to) { board slug } }";
        let answer = backend.ok(page, json!({ "to": to })).await;
        assert_eq!(answer["movePage"], json!({ "board": to, "slug": "One" }));
        let items = backend.items();
        let has = |parts: [String; 2]| items.iter().any(|item| parts.iter().all(|part| item.contains(part)));
        assert!(has([format!("ORG#{to}"), "CLERK#B#bob".to_owned()]), "{items:?}");
        assert!(has([format!("BOARD#{to}"), "SLUG#one".to_owned()]), "{items:?}");
        assert_eq!(items.len(), 2, "{items:?}");
    }
}

/// Moves the lamp before the first write, as another writer does.
fn moved_before(call: &super::backend::Call<'_>) {
    call.table.delete("boards", ["BOARD#a", "LAMP#1"]);
    call.table.put("boards", json!({ "PK": { "S": "BOARD#b" }, "SK": { "S": "LAMP#1" }, "watts": { "N": "40" } }));
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_after_an_equal_move_finds_no_item() {
    let backend = Backend::of_text(BOARDS).await;
    let lamp = json!({ "PK": { "S": "BOARD#a" }, "SK": { "S": "LAMP#1" }, "watts": { "N": "40" } });
    backend.table.put("boards", lamp.clone());
    backend.script(first(moved_before));
    let one = r#"mutation { moveThing(boardId: "a", id: "1", to: "b") { __typename } }"#;
    assert_eq!(error(&backend.run(one, json!({})).await).0, "NOT_FOUND");
    backend.table.delete("boards", ["BOARD#b", "LAMP#1"]);
    backend.table.put("boards", lamp);
    backend.script(first(moved_before));
    let all = r#"mutation { moveLamps(boardId: "a", to: "b") { id } }"#;
    assert_eq!(backend.ok(all, json!({})).await["moveLamps"], json!([]));
}
