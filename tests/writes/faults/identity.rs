//! Constants are part of an item's identity: a write of one type treats another type's item under the same key as
//! missing.

use super::backend::{Backend, error};
use serde_json::{Value, json};

const LAMP: &str = "mutation { addLamp(id: \"x\", owner: \"o\", watts: 40) { id } }";
const CHAIR: &str = "mutation { addChair(id: \"x\", owner: \"o\", legs: 4) { id } }";
const MISSING: &str = "This Chair does not exist.";
const TAKEN: &str = "Another item already has the key of this Chair.";

/// Writes of a Chair or a Desk under the key of a Lamp, each with its code and message. An empty code means null
/// without an error.
const WRITES: &[(&str, &str, &str)] = &[
    ("addChair(id: \"x\", owner: \"o\", legs: 4) { id legs }", "CONFLICT", TAKEN),
    ("setChair(id: \"x\", owner: \"o\", legs: 4) { id legs }", "CONFLICT", TAKEN),
    ("refitChair(id: \"x\", legs: 3) { id legs }", "NOT_FOUND", MISSING),
    ("makeChair(id: \"x\", owner: \"o\", legs: 3) { id legs }", "CONFLICT", TAKEN),
    ("sawChair(id: \"x\", legs: 0) { id legs }", "NOT_FOUND", MISSING),
    ("addPart(chairId: \"x\", name: \"p\") { id }", "NOT_FOUND", MISSING),
    ("renamePart(chairId: \"x\", partId: \"p\", name: \"q\") { id }", "NOT_FOUND", MISSING),
    ("dropPart(chairId: \"x\", partId: \"p\") { id }", "NOT_FOUND", MISSING),
    ("dropChair(id: \"x\") { id legs }", "", ""),
    ("mustDropChair(id: \"x\") { id legs }", "NOT_FOUND", MISSING),
    ("dropBareChair(id: \"x\", legs: 1) { id }", "NOT_FOUND", MISSING),
    ("dropBoth(id: \"x\", other: \"x2\")", "NOT_FOUND", MISSING),
    ("isChair(id: \"x\")", "NOT_FOUND", "There is no such chair."),
    ("hasLegs(id: \"x\", legs: 2)", "true", ""),
    ("isNoChair(id: \"x\")", "true", ""),
    ("noteChair(id: \"x\", noteId: \"n\") { id }", "NOT_FOUND", MISSING),
    ("refitChairs(owner: \"o\", legs: 3) { id }", "[]", ""),
    ("dropChairs(owner: \"o\") { id }", "[]", ""),
    ("addDesk(id: \"x\", code: \"c\") { id }", "CONFLICT", "Another item already has the key of this Desk."),
    ("setDesk(id: \"x\", code: \"c\") { id }", "CONFLICT", "Another item already has the key of this Desk."),
    ("makeDesk(id: \"x\", code: \"c\") { id }", "CONFLICT", "Another item already has the key of this Desk."),
    ("codeDesk(id: \"x\", code: \"c\") { id }", "NOT_FOUND", "This Desk does not exist."),
    ("editDesk(id: \"x\", revision: 1, color: \"red\") { id revision }", "NOT_FOUND", "This Desk does not exist."),
    ("editDesk(id: \"x\", revision: 7, color: \"red\") { id revision }", "NOT_FOUND", "This Desk does not exist."),
    ("dropDesk(id: \"x\") { id }", "", ""),
    ("dropSeenDesk(id: \"x\", revision: 1) { id }", "", ""),
];

/// A gateway on a depot with a lamp, its parts and its owner.
async fn with_lamp() -> Backend {
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addOwner(owner: \"o\") { owner } }", json!({})).await;
    backend.ok(LAMP, json!({})).await;
    backend.ok("mutation { addLamp(id: \"x2\", owner: \"p\", watts: 40) { id } }", json!({})).await;
    backend
}

#[tokio::test(start_paused = true)]
async fn an_item_of_another_type_is_not_there_for_a_write() {
    let backend = with_lamp().await;
    let before = backend.items();
    for (field, code, message) in WRITES {
        let answer = backend.run(&format!("mutation {{ w: {field} }}"), json!({})).await;
        let (is_code, is_message, _) = error(&answer);
        match *code {
            "" | "true" | "[]" => {
                let wanted = match *code {
                    "" => Value::Null,
                    json => serde_json::from_str(json).unwrap(),
                };
                assert_eq!((&answer["data"]["w"], is_message), (&wanted, ""), "{field}");
            }
            _ => assert_eq!((is_code, is_message), (*code, *message), "{field}"),
        }
        assert!(!answer.to_string().contains("40"), "{field} gives away {answer}");
        assert_eq!(backend.items(), before, "{field}");
    }
    let deleted = backend.ok("mutation { dropOwner(owner: \"o\") { owner } }", json!({})).await;
    assert_eq!(deleted["dropOwner"]["owner"], "o");
    assert_eq!(backend.items().len(), before.len() - 1, "the owner's lamp is no chair of the owner's");
}

#[tokio::test(start_paused = true)]
async fn an_item_of_the_type_is_there_for_its_writes() {
    for (field, answer) in [
        ("setChair(id: \"x\", owner: \"o\", legs: 5) { legs }", json!({ "legs": 5 })),
        ("refitChair(id: \"x\", legs: 3) { legs }", json!({ "legs": 3 })),
        ("makeChair(id: \"x\", owner: \"o\", legs: 3) { legs }", json!({ "legs": 3 })),
        ("makeChair(id: \"new\", owner: \"o\", legs: 3) { legs }", json!({ "legs": 3 })),
        ("sawChair(id: \"x\", legs: 1) { legs }", json!({ "legs": 3 })),
        ("addPart(chairId: \"x\", name: \"p\") { parts { name } }", json!({ "parts": [{ "name": "p" }] })),
        ("dropChair(id: \"x\") { legs }", json!({ "legs": 4 })),
        ("dropChair(id: \"none\") { legs }", Value::Null),
        ("dropBareChair(id: \"x\", legs: 4) { legs }", json!({ "legs": 4 })),
        ("isChair(id: \"x\")", json!(true)),
        ("isNoChair(id: \"none\")", json!(true)),
        ("hasLegs(id: \"x\", legs: 4)", json!(true)),
        ("hasLegs(id: \"none\", legs: 4)", json!(true)),
        ("refitChairs(owner: \"o\", legs: 3) { legs }", json!([{ "legs": 3 }])),
        ("dropChairs(owner: \"o\") { legs }", json!([{ "legs": 4 }])),
    ] {
        let backend = Backend::new("depot").await;
        backend.ok(CHAIR, json!({})).await;
        let is = backend.ok(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(is["w"], answer, "{field}");
    }
    let backend = Backend::new("depot").await;
    backend.ok(CHAIR, json!({})).await;
    for (field, code, message) in [
        ("isNoChair(id: \"x\")", "CONFLICT", "There is a chair."),
        ("hasLegs(id: \"x\", legs: 5)", "CONFLICT", "Too few legs."),
        ("addChair(id: \"x\", owner: \"o\", legs: 4) { id }", "CONFLICT", "This Chair already exists."),
        ("dropBareChair(id: \"x\", legs: 3) { legs }", "CONFLICT", "The condition on Chair does not hold."),
    ] {
        let answer = backend.run(&format!("mutation {{ w: {field} }}"), json!({})).await;
        let (is_code, is_message, _) = error(&answer);
        assert_eq!((is_code, is_message), (code, message), "{field}");
    }
}

/// An item written before the constant was declared counts as either type, as in reads.
#[tokio::test(start_paused = true)]
async fn an_item_without_the_constant_is_of_either_type() {
    let backend = Backend::new("depot").await;
    let old = json!({ "PK": { "S": "THING#x" }, "SK": { "S": "THING" }, "OwnerKey": { "S": "o" }, "legs": { "N": "4" }, "parts": { "L": [] } });
    backend.table.put("depot", old);
    assert_eq!(backend.ok("{ chair(id: \"x\") { legs } }", json!({})).await["chair"]["legs"], 4);
    assert_eq!(
        backend.ok("mutation { refitChair(id: \"x\", legs: 3) { legs } }", json!({})).await["refitChair"]["legs"],
        3
    );
    assert_eq!(backend.ok("mutation { dropChair(id: \"x\") { legs } }", json!({})).await["dropChair"]["legs"], 3);
}

/// Between read and write, an item of another type replaces the one that was read.
#[tokio::test(start_paused = true)]
async fn an_item_of_another_type_that_comes_in_between_stays() {
    let other = || {
        json!({ "PK": { "S": "THING#x" }, "SK": { "S": "THING" }, "OwnerKey": { "S": "o" }, "Type": { "S": "Lamp" },
            "watts": { "N": "40" }, "revision": { "N": "1" }, "legs": { "N": "4" }, "code": { "S": "c" } })
    };
    for (make, field) in [
        (CHAIR, "refitChairs(owner: \"o\", legs: 3) { id }"),
        (CHAIR, "dropChairs(owner: \"o\") { id }"),
        (CHAIR, "dropOwner(owner: \"o\") { owner }"),
        ("mutation { addDesk(id: \"x\", code: \"c\") { id } }", "codeDesk(id: \"x\", code: \"d\") { id }"),
        ("mutation { addDesk(id: \"x\", code: \"c\") { id } }", "setDesk(id: \"x\", code: \"d\") { id }"),
        ("mutation { addDesk(id: \"x\", code: \"c\") { id } }", "dropDesk(id: \"x\") { id }"),
    ] {
        let backend = Backend::new("depot").await;
        backend.ok("mutation { addOwner(owner: \"o\") { owner } }", json!({})).await;
        backend.ok(make, json!({})).await;
        backend.script(move |call| {
            if super::backend::is_write(call.operation) && call.before == 0 {
                call.table.put("depot", other());
            }
            None
        });
        backend.run(&format!("mutation {{ w: {field} }}"), json!({})).await;
        let lamp = backend.items().into_iter().find(|item| item.contains("THING#x") && item.contains("Lamp"));
        assert!(lamp.is_some_and(|lamp| lamp.contains("\"legs\":{\"N\":\"4\"}")), "{field}");
    }
}

/// Writes of an Order under the key of an older item that is a line by its key, each with its code. An empty code means
/// no error.
const WRITES_OF_ORDERS: &[(&str, &str)] = &[
    ("addOrder(userId: \"u\", id: \"a#ITEM#001\") { id }", "CONFLICT"),
    ("setOrder(userId: \"u\", id: \"a#ITEM#001\") { id }", "CONFLICT"),
    ("noteOrder(userId: \"u\", id: \"a#ITEM#001\", note: \"n\") { id }", "NOT_FOUND"),
    ("makeOrder(userId: \"u\", id: \"a#ITEM#001\", note: \"n\") { id }", "CONFLICT"),
    ("tagOrder(userId: \"u\", id: \"a#ITEM#001\", tag: \"t\") { id }", "NOT_FOUND"),
    ("stepOrder(userId: \"u\", id: \"a#ITEM#001\", text: \"t\") { id }", "NOT_FOUND"),
    ("dropOrder(userId: \"u\", id: \"a#ITEM#001\") { id }", ""),
    ("mustDropOrder(userId: \"u\", id: \"a#ITEM#001\") { id }", "NOT_FOUND"),
    ("isOrder(userId: \"u\", id: \"a#ITEM#001\")", "NOT_FOUND"),
    ("copyOrder(userId: \"u\", id: \"a#ITEM#001\", copyId: \"b\") { id }", "NOT_FOUND"),
    ("noteOrders(userId: \"u\", note: \"n\") { id }", ""),
    ("dropOrders(userId: \"u\") { id }", ""),
    ("dropUser(userId: \"u\") { userId }", ""),
];

/// An item without the constant that has the key of a more specific type is of that type for every write, without a
/// further call.
#[tokio::test(start_paused = true)]
async fn an_older_item_is_of_the_type_with_the_more_specific_key() {
    for (field, code) in WRITES_OF_ORDERS {
        let backend = Backend::new("orders").await;
        backend.table.put("orders", json!({ "PK": { "S": "USER#u" }, "SK": { "S": "USER" } }));
        backend.table.put(
            "orders",
            json!({ "PK": { "S": "USER#u" }, "SK": { "S": "ORDER#a#ITEM#001" }, "note": { "S": "old" } }),
        );
        let line = backend.items().into_iter().find(|item| item.contains("ITEM"));
        let answer = backend.run(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(error(&answer).0, *code, "{field}: {answer}");
        assert!(!answer.to_string().contains("old"), "{field}: {answer}");
        assert_eq!(backend.items().into_iter().find(|item| item.contains("ITEM")), line, "{field}");
    }
    let backend = Backend::new("orders").await;
    let old = |sort: &str| json!({ "PK": { "S": "USER#u" }, "SK": { "S": sort }, "note": { "S": "old" }, "tags": { "L": [] } });
    // Only lines have a number of three digits.
    ["ORDER#a#ITEM#001", "ORDER#a#ITEM#0002", "ORDER#a"].iter().for_each(|sort| backend.table.put("orders", old(sort)));
    backend
        .table
        .put("orders", json!({ "PK": { "S": "USER#u" }, "SK": { "S": "ORDER#a#ITEM#003" }, "kind": { "S": "order" } }));
    for (field, answer) in [
        ("noteLine(userId: \"u\", orderId: \"a\", n: 1, note: \"n\") { note }", json!({ "note": "n" })),
        ("dropLine(userId: \"u\", orderId: \"a\", n: 1) { note }", json!({ "note": "n" })),
        ("dropLine(userId: \"u\", orderId: \"a\", n: 3) { note }", Value::Null),
        ("noteOrder(userId: \"u\", id: \"a#ITEM#003\", note: \"n\") { note }", json!({ "note": "n" })),
        ("dropOrder(userId: \"u\", id: \"a#ITEM#003\") { note }", json!({ "note": "n" })),
        ("tagOrder(userId: \"u\", id: \"a#ITEM#0002\", tag: \"t\") { tags }", json!({ "tags": ["t"] })),
        ("dropOrder(userId: \"u\", id: \"a\") { note }", json!({ "note": "old" })),
    ] {
        let is = backend.ok(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(is["w"], answer, "{field}");
    }
    assert_eq!(backend.items().len(), 1, "{:?}", backend.items());
}
