//! Each change arrives at those who watch it, in order, with what they selected.

use super::listener::watching;
use keyfold::execute::request::Request;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

const BOARD: &str = include_str!("../../schemas/subscriptions/board.graphql");
const CODES: &str = include_str!("../../schemas/subscriptions/codes.graphql");

#[tokio::test]
async fn a_field_is_a_live_query() {
    let board = watching(BOARD).await;
    board
        .run(r#"mutation { putBoard(id: "b", title: "B") { id } putCard(boardId: "b", id: "1", text: "one") { id } }"#)
        .await;
    let mut card = board.subscribe(r#"subscription { card(boardId: "b", id: "1") { text board { title } } }"#).await;
    assert_eq!(card.next().await, json!({ "card": { "text": "one", "board": { "title": "B" } } }));
    board.run(r#"mutation { setCard(boardId: "b", id: "1", text: "two") { id } }"#).await;
    assert_eq!(card.next().await, json!({ "card": { "text": "two", "board": { "title": "B" } } }));
    board.run(r#"mutation { deleteCard(boardId: "b", id: "1") { id } }"#).await;
    assert_eq!(card.next().await, json!({ "card": null }));
}

#[tokio::test]
async fn a_change_tells_what_happened() {
    let board = watching(BOARD).await;
    let selection = "{ change node { id text points } previous { text } }";
    let mut cards = board.subscribe(&format!(r#"subscription {{ cards(boardId: "b") {selection} }}"#)).await;
    cards.begin().await;
    board.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one", points: 3) { id } }"#).await;
    board.run(r#"mutation { putCard(boardId: "other", id: "1", text: "elsewhere") { id } }"#).await;
    board.run(r#"mutation { putBoard(id: "b", title: "no card") { id } }"#).await;
    board.run(r#"mutation { setCard(boardId: "b", id: "1", text: "uno") { id } }"#).await;
    board.run(r#"mutation { deleteCard(boardId: "b", id: "1") { id } }"#).await;
    let node = |text: &str| json!({ "id": "1", "text": text, "points": 3 });
    let expected = [
        json!({ "change": "INSERT", "node": node("one"), "previous": null }),
        json!({ "change": "MODIFY", "node": node("uno"), "previous": { "text": "one" } }),
        json!({ "change": "REMOVE", "node": null, "previous": { "text": "uno" } }),
    ];
    for change in expected {
        assert_eq!(cards.next().await, json!({ "cards": change }));
    }
}

/// A change of one entry of a map shows the whole list, and no record of a request is a change.
#[tokio::test]
async fn a_change_of_an_entry_shows_its_list() {
    let posts = watching(
        r#"extend schema @table(name: "posts", partitionKey: "PK", timeToLive: "ttl", stream: NEW_AND_OLD_IMAGES)
        type Query { post(id: ID!): Post @find }
        type Mutation {
          putPost(id: ID!): Post! @put
          react(id: ID!, kind: String!, key: ID!): Post @idempotent(key: "{key}")
            @update(at: "reactions[kind = :kind]", expression: "ADD count 1")
          visit(id: ID!, day: String!): Post @update(at: "visits[day = :day]", expression: "ADD count 1")
        }
        type Subscription {
          posts(id: ID!, after: ID): PostChange @watch
          post(id: ID!): Post @watch(initial: true)
        }
        type PostChange { id: ID! change: ChangeKind! node: Post previous: Post }
        type Post @item(keys: { PK: "POST#{id}" }) {
          id: ID!
          reactions: [Reaction!]! @attribute(stored: MAP, by: "kind")
          visits: [Visits!] @attribute(stored: MAP, by: "day", value: "count")
        }
        type Reaction { kind: String! count: Int! }
        type Visits { day: String! count: Int! }"#,
    )
    .await;
    posts.run(r#"mutation { putPost(id: "p") { id } }"#).await;
    let selection = "reactions { kind count } visits { day count }";
    let node = format!("change node {{ {selection} }} previous {{ {selection} }}");
    let mut changes = posts.subscribe(&format!(r#"subscription {{ posts(id: "p") {{ {node} }} }}"#)).await;
    changes.begin().await;
    let mut live = posts.subscribe(&format!(r#"subscription {{ post(id: "p") {{ {selection} }} }}"#)).await;
    let post = |reactions: Value, visits: Value| json!({ "reactions": reactions, "visits": visits });
    let reacted = |counts: &[(&str, i64)]| -> Value {
        counts.iter().map(|(kind, count)| json!({ "kind": kind, "count": count })).collect()
    };
    let mut last = post(json!([]), Value::Null);
    assert_eq!(live.next().await, json!({ "post": last }));
    let one = json!([{ "day": "a.b", "count": 1 }]);
    for (mutation, next) in [
        (r#"react(id: "p", kind: "sad", key: "1")"#, post(reacted(&[("sad", 1)]), Value::Null)),
        (r#"react(id: "p", kind: "like", key: "2")"#, post(reacted(&[("like", 1), ("sad", 1)]), Value::Null)),
        (r#"visit(id: "p", day: "a.b")"#, post(reacted(&[("like", 1), ("sad", 1)]), one.clone())),
        (r#"react(id: "p", kind: "sad", key: "3")"#, post(reacted(&[("like", 1), ("sad", 2)]), one)),
    ] {
        for _ in 0..2 {
            posts.run(&format!("mutation {{ {mutation} {{ id }} }}")).await;
            if mutation.starts_with("visit") {
                break;
            }
        }
        let change = json!({ "change": "MODIFY", "node": next, "previous": last });
        assert_eq!(changes.next().await, json!({ "posts": change }));
        assert_eq!(live.next().await, json!({ "post": next }));
        last = next;
    }
}

/// What has expired is not there, so that another one in its place is new. Its end is a change when it is deleted.
#[tokio::test]
async fn an_item_that_takes_the_place_of_an_expired_one_is_new() {
    let codes = watching(CODES).await;
    let selection = "{ change node { text } previous { text } }";
    let mut changes = codes.subscribe(&format!(r#"subscription {{ codes(id: "c") {selection} }}"#)).await;
    changes.begin().await;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for (field, text, time) in [
        ("putCode", "a", now - 60),
        ("putCode", "b", now - 50),
        ("setCode", "c", now - 40),
        ("setCode", "d", now + 600),
        ("setCode", "e", now + 700),
    ] {
        codes.run(&format!(r#"mutation {{ {field}(id: "c", text: "{text}", expiresAt: {time}) {{ id }} }}"#)).await;
    }
    codes.run(r#"mutation { deleteCode(id: "c") { id } }"#).await;
    let text = |text: &str| json!({ "text": text });
    let insert = |node: &str| json!({ "change": "INSERT", "node": text(node), "previous": null });
    for expected in ["a", "b", "c", "d"].map(insert) {
        assert_eq!(changes.next().await, json!({ "codes": expected }));
    }
    let expected = json!({ "change": "MODIFY", "node": text("e"), "previous": text("d") });
    assert_eq!(changes.next().await, json!({ "codes": expected }));
    let expected = json!({ "change": "REMOVE", "node": null, "previous": text("e") });
    assert_eq!(changes.next().await, json!({ "codes": expected }));
}

/// "If you perform a PutItem or UpdateItem operation that does not change any data in an item, DynamoDB Streams does
/// not write a stream record for that operation" (developer guide, "Change data capture for DynamoDB Streams").
#[tokio::test]
async fn a_write_that_changes_nothing_is_no_change() {
    let board = watching(BOARD).await;
    let mut cards = board.subscribe(r#"subscription { cards(boardId: "b") { change node { text } } }"#).await;
    cards.begin().await;
    for text in ["one", "one", "two"] {
        board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
    }
    assert_eq!(cards.next().await, json!({ "cards": { "change": "INSERT", "node": { "text": "one" } } }));
    assert_eq!(cards.next().await, json!({ "cards": { "change": "MODIFY", "node": { "text": "two" } } }));
}

#[tokio::test]
async fn a_response_key_that_is_written_again_is_the_same_field() {
    let board = watching(BOARD).await;
    let rest = r#"fragment Rest on Subscription { cards(boardId: "b") { node { text } } }"#;
    let query = format!(
        r#"subscription {{ cards(boardId: "b") {{ change }} cards(boardId: "b") {{ node {{ id }} }} ...Rest }} {rest}"#
    );
    let mut cards = board.subscribe(&query).await;
    cards.begin().await;
    board
        .run(r#"mutation { putBoard(id: "b", title: "B") { id } putCard(boardId: "b", id: "1", text: "one") { id } }"#)
        .await;
    assert_eq!(cards.next().await, json!({ "cards": { "change": "INSERT", "node": { "id": "1", "text": "one" } } }));
    let query = r#"subscription { a: card(boardId: "b", id: "1") { text } a: card(boardId: "b", id: "1") { board { title } } }"#;
    let mut card = board.subscribe(query).await;
    assert_eq!(card.next().await, json!({ "a": { "text": "one", "board": { "title": "B" } } }));
}

#[tokio::test]
async fn an_item_that_begins_or_ends_to_match_comes_and_goes() {
    let board = watching(BOARD).await;
    let mut open =
        board.subscribe(r#"subscription { cards(boardId: "b", status: "open") { change previous { status } } }"#).await;
    let mut large =
        board.subscribe(r#"subscription { large(boardId: "b", least: 5) { change node { points } } }"#).await;
    let mut all = board.subscribe(r#"subscription { large(boardId: "b") { change } }"#).await;
    for listener in [&mut open, &mut large, &mut all] {
        listener.begin().await;
    }
    for (status, points) in [("new", 9), ("open", 4), ("done", 6)] {
        let write = format!(
            r#"mutation {{ putCard(boardId: "b", id: "1", text: "t", status: "{status}", points: {points}) {{ id }} }}"#
        );
        board.run(&write).await;
    }
    assert_eq!(open.next().await, json!({ "cards": { "change": "INSERT", "previous": null } }));
    assert_eq!(open.next().await, json!({ "cards": { "change": "REMOVE", "previous": { "status": "open" } } }));
    assert_eq!(large.next().await, json!({ "large": { "change": "INSERT", "node": { "points": 9 } } }));
    assert_eq!(large.next().await, json!({ "large": { "change": "REMOVE", "node": null } }));
    assert_eq!(large.next().await, json!({ "large": { "change": "INSERT", "node": { "points": 6 } } }));
    for change in ["INSERT", "MODIFY", "MODIFY"] {
        assert_eq!(all.next().await, json!({ "large": { "change": change } }));
    }
}

#[tokio::test]
async fn a_list_watches_several_items_and_kinds_are_chosen() {
    let board = watching(BOARD).await;
    let mut several =
        board.subscribe(r#"subscription { several(boardId: "b", ids: ["1", "3"]) { node { id } } }"#).await;
    let mut new = board.subscribe(r#"subscription { new(boardId: "b") { id text } }"#).await;
    several.begin().await;
    new.begin().await;
    for id in ["1", "2", "3"] {
        board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "{id}", text: "first") {{ id }} }}"#)).await;
    }
    board.run(r#"mutation { setCard(boardId: "b", id: "1", text: "second") { id } }"#).await;
    for id in ["1", "3", "1"] {
        assert_eq!(several.next().await, json!({ "several": { "node": { "id": id } } }));
    }
    for id in ["1", "2", "3"] {
        assert_eq!(new.next().await, json!({ "new": { "id": id, "text": "first" } }));
    }
    new.begin().await;
}

#[tokio::test]
async fn a_subscriber_goes_on_after_an_event() {
    let board = watching(BOARD).await;
    let query = |after: &str| format!(r#"subscription {{ cards(boardId: "b"{after}) {{ id node {{ text }} }} }}"#);
    let mut first = board.subscribe(&query("")).await;
    first.begin().await;
    for text in ["one", "two", "three"] {
        board.run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "{text}") {{ id }} }}"#)).await;
    }
    let (id, data) = first.next_with_id().await;
    assert_eq!(data, json!({ "cards": { "id": id, "node": { "text": "one" } } }));
    drop(first);
    // A hub without a log reads the stream.
    for other in [None, Some(board.with_fresh_hub())] {
        let mut second = other.as_ref().unwrap_or(&board).subscribe(&query(&format!(", after: {id:?}"))).await;
        for text in ["two", "three"] {
            assert_eq!(second.next().await["cards"]["node"], json!({ "text": text }));
        }
    }
    let mut third = board.subscribe(&query(&format!(", after: {id:?}"))).await;
    assert_eq!(third.next().await["cards"]["node"], json!({ "text": "two" }));
    assert_eq!(third.next().await["cards"]["node"], json!({ "text": "three" }));
    board.run(r#"mutation { putCard(boardId: "b", id: "9", text: "live") { id } }"#).await;
    assert_eq!(third.next().await["cards"]["node"], json!({ "text": "live" }));
    let refused = board.subscribe(&query(r#", after: "nonsense""#)).await.whole().await.unwrap();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "BAD_USER_INPUT");
}

#[tokio::test]
async fn arguments_that_break_constraints_begin_nothing() {
    let plain = "large(boardId: ID!, least: Int)";
    assert!(BOARD.contains(plain));
    let with = "large(boardId: ID! @constraint(maxLength: 1), least: Int @constraint(min: 0, max: 9))";
    let board = watching(&BOARD.replace(plain, with)).await;
    let query = |arguments: &str| format!("subscription {{ large{arguments} {{ node {{ text }} }} }}");
    let refused = board.subscribe(&query(r#"(boardId: "bb", least: 10)"#)).await.whole().await.unwrap();
    let reported: Vec<Value> = refused["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| json!([error["extensions"]["code"], error["extensions"]["argument"], error["message"]]))
        .collect();
    let expected = json!([
        ["BAD_USER_INPUT", ["boardId"], "\"boardId\" must have at most 1 character, but has 2."],
        ["BAD_USER_INPUT", ["least"], "\"least\" must be 9 or less, but is 10."],
    ]);
    assert_eq!(Value::from(reported), expected);
    let mut large = board.subscribe(&query(r#"(boardId: "b", least: 9)"#)).await;
    large.begin().await;
    board.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one", points: 9) { id } }"#).await;
    assert_eq!(large.next().await, json!({ "large": { "node": { "text": "one" } } }));
}

#[tokio::test]
async fn equal_subscriptions_share_one_run() {
    let board = watching(BOARD).await;
    board.run(r#"mutation { putBoard(id: "b", title: "B") { id } }"#).await;
    let mut listeners = Vec::new();
    for _ in 0..20 {
        let mut listener = board.subscribe(r#"subscription { new(boardId: "b") { id board { title } } }"#).await;
        listener.begin().await;
        listeners.push(listener);
    }
    board.reads();
    board.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one") { id } }"#).await;
    for listener in &mut listeners {
        assert_eq!(listener.next().await, json!({ "new": { "id": "1", "board": { "title": "B" } } }));
    }
    assert_eq!(board.reads(), 1, "one read for all of them");
}

#[tokio::test]
async fn those_who_go_on_after_different_events_share_one_run() {
    let board = watching(BOARD).await;
    board.run(r#"mutation { putBoard(id: "b", title: "B") { id } }"#).await;
    let subscribe = async |after: Value| {
        let query =
            r#"subscription($after: ID) { cards(boardId: "b", after: $after) { id node { id board { title } } } }"#
                .to_owned();
        let variables = [("after".to_owned(), after)].into_iter().collect();
        board.subscribe_as(Request { query, variables, ..Request::default() }).await
    };
    let mut first = subscribe(Value::Null).await;
    first.begin().await;
    let put = |id: usize| format!(r#"mutation {{ putCard(boardId: "b", id: "{id}", text: "one") {{ id }} }}"#);
    let seen = |id: &str| json!({ "id": id, "board": { "title": "B" } });
    board.run(&put(1)).await;
    let (after, data) = first.next_with_id().await;
    assert_eq!(data["cards"]["node"], seen("1"));
    board.run(&put(2)).await;
    let (_, data) = first.next_with_id().await;
    assert_eq!(data["cards"]["node"], seen("2"));
    let mut second = subscribe(after.into()).await;
    assert_eq!(second.next().await["cards"]["node"], seen("2"), "it has missed this one");
    board.reads();
    board.run(&put(3)).await;
    for listener in [&mut first, &mut second] {
        assert_eq!(listener.next().await["cards"]["node"], seen("3"));
    }
    assert_eq!(board.reads(), 1, "one read for both of them");
}

#[tokio::test]
async fn slow_subscriber_learns_where_to_go_on() {
    let board = watching(BOARD).await;
    let mut cards = board.subscribe(r#"subscription { cards(boardId: "b") { id node { text } } }"#).await;
    cards.begin().await;
    let long = "x".repeat(100_000);
    let put = |id: usize| format!(r#"mutation {{ putCard(boardId: "b", id: "{id}", text: "{long}") {{ id }} }}"#);
    board.run(&put(0)).await;
    let (first, _) = cards.next_with_id().await;
    // More than may wait for a subscriber, 4 MiB.
    for id in 1..60 {
        board.run(&put(id)).await;
    }
    let refused = loop {
        let body = cards.whole().await.expect("an error at the end");
        if body.get("errors").is_some() {
            break body;
        }
    };
    let extensions = &refused["errors"][0]["extensions"];
    assert_eq!(extensions["code"], "LIMIT_EXCEEDED");
    assert!(cards.whole().await.is_none(), "it has ended");
    let after = extensions["after"].as_str().unwrap();
    assert!(!first.is_empty() && !after.is_empty());
    let mut rest = board
        .subscribe(&format!(r#"subscription {{ cards(boardId: "b", after: {after:?}) {{ node {{ id }} }} }}"#))
        .await;
    let mut seen = Vec::new();
    while seen.last() != Some(&"59".to_owned()) {
        seen.push(rest.next().await["cards"]["node"]["id"].as_str().unwrap().to_owned());
    }
    let from: usize = seen[0].parse().unwrap();
    assert_eq!(seen, (from..60).map(|id| id.to_string()).collect::<Vec<_>>());
}

#[tokio::test]
async fn another_schema_keeps_what_fits_it() {
    let board = watching(BOARD).await;
    let mut kept = board.subscribe(r#"subscription { new(boardId: "b") { id } }"#).await;
    let mut broken = board.subscribe(r#"subscription { large(boardId: "b", least: 1) { node { points } } }"#).await;
    kept.begin().await;
    broken.begin().await;
    board.replace(&BOARD.replace("points", "size")).await;
    let ended = broken.whole().await.unwrap();
    assert_eq!(ended["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    assert!(broken.whole().await.is_none());
    board.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one") { id } }"#).await;
    assert_eq!(kept.next().await, json!({ "new": { "id": "1" } }));
    board.hub.close();
    assert!(kept.whole().await.is_none(), "it says goodbye without an error");
    let refused = board.subscribe(r#"subscription { new(boardId: "b") { id } }"#).await.whole().await.unwrap();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "UNAVAILABLE");
}

#[tokio::test]
async fn a_subscriber_who_comes_while_the_schema_is_replaced_is_on_the_new_one() {
    let board = watching(BOARD).await;
    board.run(r#"mutation { putCard(boardId: "b", id: "1", text: "one") { id } }"#).await;
    let query = r#"subscription { card(boardId: "b", id: "1") { text } }"#;
    let mut comes = board.subscribe_across(query, &BOARD.replace("title: String!", "name: String!")).await;
    assert_eq!(comes.next().await, json!({ "card": { "text": "one" } }));
    board.run(r#"mutation { setCard(boardId: "b", id: "1", text: "two") { id } }"#).await;
    assert_eq!(comes.next().await, json!({ "card": { "text": "two" } }));
    // A schema without the field ends it: nothing of it stays on a gateway that was replaced.
    board.replace(&BOARD.replace("  card(boardId: ID!, id: ID!, after: ID): Card @watch(initial: true)\n", "")).await;
    assert_eq!(comes.whole().await.unwrap()["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
    // A document that the new schema does not have is refused.
    let renamed = BOARD.replace("  new(boardId: ID!)", "  added(boardId: ID!)");
    let refused =
        board.subscribe_across(r#"subscription { new(boardId: "b") { id } }"#, &renamed).await.whole().await.unwrap();
    assert_eq!(refused["errors"][0]["extensions"]["code"], "GRAPHQL_VALIDATION_FAILED");
}

#[tokio::test]
async fn an_item_that_a_subscription_begins_with_may_change_without_an_event() {
    let board = watching(BOARD).await;
    let set = async |points: u32| {
        board
            .run(&format!(r#"mutation {{ putCard(boardId: "b", id: "1", text: "x", points: {points}) {{ id }} }}"#))
            .await;
    };
    set(100).await;
    let mut few = board.subscribe(r#"subscription { few(boardId: "b", id: "1", most: 50) { points } }"#).await;
    let mut came_or_went = board.subscribe(r#"subscription { cameOrWent(boardId: "b", id: "1") { points } }"#).await;
    assert_eq!(few.next().await, json!({ "few": null }), "it is there, but does not match");
    assert_eq!(came_or_went.next().await, json!({ "cameOrWent": { "points": 100 } }));
    for points in [80, 40, 30] {
        set(points).await;
    }
    assert_eq!(few.next().await, json!({ "few": { "points": 40 } }));
    assert_eq!(few.next().await, json!({ "few": { "points": 30 } }));
    board.run(r#"mutation { deleteCard(boardId: "b", id: "1") { id } }"#).await;
    assert_eq!(few.next().await, json!({ "few": null }));
    assert_eq!(came_or_went.next().await, json!({ "cameOrWent": null }), "the changes before were none of these kinds");
    set(20).await;
    assert_eq!(few.next().await, json!({ "few": { "points": 20 } }));
    assert_eq!(came_or_went.next().await, json!({ "cameOrWent": { "points": 20 } }));
}
