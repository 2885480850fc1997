//! Items that surprise, and the lines on them.

use super::*;
use crate::schema::load;
use crate::table::bulk::export_lines::parse_line;
use serde_json::{Value, json};

const SCHEMA: &str = r##"
extend schema @table(name: "things", partitionKey: "pk", sortKey: "sk", indexes: [{ name: "byTime", partitionKey: "g", sortKey: "at" }])
type Post @item(keys: { pk: "USER#{userId}", sk: "POST#{createdAt}", g: "POSTS", at: "{updatedAt}" }) {
  userId: ID! createdAt: DateTime! updatedAt: DateTime seen: [DateTime!] edits: [Edit!]
}
type Edit { at: DateTime! }
type User @item(keys: { pk: "USER#{id}", sk: "USER" }) { id: ID! mail: String @unique }
type Order @item(keys: { pk: "USER#{userId}", sk: "ORDER#{id}" }, attributes: { kind: "order" }) { userId: ID! id: ID! }
type Line @item(keys: { pk: "USER#{userId}", sk: "ORDER#{orderId}#ITEM#{n:03}" }, attributes: { kind: "line" }) { userId: ID! orderId: ID! n: Int! }
type Offer @item(keys: { pk: "USER#{userId}", sk: "ORDER#{id}" }, attributes: { kind: "offer" }) { userId: ID! id: ID! }
type Mark @item(keys: { pk: "USER#{userId}", sk: "MARK#{name}{code}" }) {
  userId: ID! name: String! code: ID! @constraint(pattern: "[A-Z]{2}")
}
type Query { posts(userId: ID!): [Post!]! @find }
"##;

/// The lines on items of the first table of a schema.
fn lines_of(schema: &str, items: &[Value]) -> Vec<String> {
    let (model, _) = load("s", schema, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let mut survey = Survey::new(&model, &model.tables[0]);
    for item in items {
        survey.see(&parse_line(&json!({ "Item": item }).to_string()).unwrap().unwrap());
    }
    survey.lines()
}

fn lines(items: &[Value]) -> Vec<String> {
    lines_of(SCHEMA, items)
}

fn item(sort: &str, more: Value) -> Value {
    let mut item = json!({ "pk": { "S": "USER#u" }, "sk": { "S": sort } });
    item.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    item
}

#[test]
fn a_form_that_fits_is_named() {
    let at = |at: &str| item(&format!("POST#{at}"), json!({}));
    let seen = item("POST#2021-07-02T17:09:47.000Z", json!({ "seen": { "L": [{ "S": "02/07/2021" }] } }));
    let reported = lines(&[at("2021-07-02T17:09:47Z"), at("1625245787"), at("20210702T170947"), at("soon"), seen]);
    assert_eq!(reported.len(), 2, "{reported:#?}");
    assert!(
        reported[0].starts_with("3 items (such as USER#u, POST#2021-07-02T17:09:47Z) will not be seen"),
        "{}",
        reported[0]
    );
    assert!(reported[0].ends_with("`{createdAt:%Y-%m-%dT%H:%M:%SZ}` in its template reads it"), "{}", reported[0]);
    assert!(reported[1].ends_with("`@attribute(form: \"%d/%m/%Y\")` reads it"), "{}", reported[1]);
}

#[test]
fn a_text_that_breaks_a_constraint_which_the_key_relies_on_is_counted() {
    let marks = ["Annab", "Bobcd", "AnnAB"].map(|mark| item(&format!("MARK#{mark}"), json!({})));
    assert_eq!(
        lines(&marks),
        ["2 items (such as USER#u, MARK#Annab) will not be seen: `Mark.code` cannot be \"ab\", which a key has"]
    );
}

#[test]
fn what_keyfold_would_have_written_surprises_nobody() {
    let own = "2021-07-02T17:09:47.000Z";
    let seen = json!({ "L": [{ "S": own }] });
    let more = json!({ "updatedAt": { "S": own }, "g": { "S": "POSTS" }, "at": { "S": own }, "seen": seen });
    let items = [
        item(&format!("POST#{own}"), more),
        item("ORDER#a", json!({ "kind": { "S": "order" } })),
        item("NOTE#1", json!({})),
    ];
    assert_eq!(lines(&items), Vec::<String>::new());
}

#[test]
fn unique_values_without_a_guard_of_their_item_are_counted() {
    let user = |id: &str, mail: &str| {
        let partition = format!("USER#{id}");
        json!({ "pk": { "S": partition }, "sk": { "S": "USER" }, "mail": { "S": mail } })
    };
    let guard = |mail: &str, id: &str| {
        let (pk, sk) = (json!({ "S": format!("Unique#User.mail#{mail}") }), json!({ "S": "Unique#User.mail" }));
        json!({ "pk": pk, "sk": sk, "ownerpk": { "S": format!("USER#{id}") }, "ownersk": { "S": "USER" } })
    };
    assert_eq!(lines(&[guard("a", "1"), user("1", "a"), user("2", "b"), guard("b", "2")]), Vec::<String>::new());
    // A guard of another item is none.
    let found = lines(&[user("1", "a"), user("2", "a"), guard("a", "2"), user("3", "c")]);
    assert!(
        matches!(found.as_slice(), [line] if line.starts_with("2 values of `User.mail` without a guard, so ")),
        "{found:#?}"
    );
}

#[test]
fn what_other_programs_write_otherwise_is_counted() {
    let own = "2021-07-02T17:09:47.000Z";
    let (other, later) = ("2021-07-02T17:09:47Z", "2021-07-02T19:09:47.123456+02:00");
    let found = lines(&[
        item(&format!("POST#{other}"), json!({})),
        item(&format!("POST#{later}"), json!({ "updatedAt": { "S": other } })),
        item(
            &format!("POST#{own}"),
            json!({ "updatedAt": { "S": other }, "g": { "S": "POSTS" }, "at": { "S": other } }),
        ),
        item(
            "POST#2021-07-02T17:09:48.000Z",
            json!({
                "seen": { "L": [{ "S": other }, { "S": later }] },
                "edits": { "L": [{ "M": { "at": { "S": other } } }] },
            }),
        ),
        item("ORDER#a", json!({})),
        // The key of a line is more specific.
        item("ORDER#a#ITEM#001", json!({})),
    ]);
    let begins = [
        "2 items (such as USER#u, POST#2021-07-02T17:09:47Z) will not be seen: `Post.createdAt` is \"2021-07-02T17:09:47Z\" in a key, which Keyfold writes as \"2021-07-02T17:09:47.000Z\"",
        "1 item (USER#u, POST#2021-07-02T17:09:47.000Z) with `Post.updatedAt` in another spelling, such as \"2021-07-02T17:09:47Z\"",
        "1 item (USER#u, POST#2021-07-02T17:09:48.000Z) with `Post.seen` in another spelling",
        "1 item (USER#u, POST#2021-07-02T17:09:48.000Z) with `Edit.at` in another spelling",
        "1 item (USER#u, ORDER#a) could be `Order` or `Offer`, and will be either",
    ];
    assert_eq!(found.len(), begins.len(), "{found:#?}");
    found.iter().zip(begins).for_each(|(line, begin)| assert!(line.starts_with(begin), "{line}"));
}

const ORDERS: &str = r##"
extend schema @table(name: "orders", partitionKey: "pk", sortKey: "sk", timeToLive: "ttl", indexes: [
  { name: "byState", partitionKey: "g", sortKey: "h" }, { name: "byBuyer", partitionKey: "b" }, { name: "byCode", partitionKey: "c" }])
enum State { OPEN DONE }
type Order @item(keys: { pk: "SHOP#{shop}", sk: "ORDER#{id}", c: "CODE#{code}", g: "STATE#{state}", h: "{due}", b: "BUYER#{buyer}" }) {
  shop: ID! @attribute(name: "shop") id: ID! state: State! @attribute(name: "state") due: Date buyer: ID @attribute(name: "buyer") count: Int lines: [Line!] at: [DateTime!]
  tags: [String!] @attribute(stored: SET) note: JSON days: [Date!] @attribute(stored: SET)
  seen: DateTime @attribute(stored: EPOCH_MILLIS) code: String
}
type Line { count: Int! name: String! }
type Tally @item(keys: { pk: "SHOP#{shop}#{shard:4}", sk: "TALLY#{name}" }) { shop: ID! name: ID! }
type Part @item(keys: { pk: "TENANT#{auth.tenant}", sk: "PART#{id}", b: "PARTS#{auth.tenant}#{kind}" }) { id: ID! kind: String }
type Query { order(shop: ID!, id: ID!): Order @find }
"##;

/// The lines on an order with these attributes in place of others, without its key.
fn order_lines(changed: &[(&str, Value)]) -> Vec<String> {
    let mut order = json!({
        "pk": { "S": "SHOP#s" }, "sk": { "S": "ORDER#1" }, "g": { "S": "STATE#OPEN" }, "h": { "S": "2026-01-02" },
        "shop": { "S": "s" }, "state": { "S": "OPEN" }, "due": { "S": "2026-01-02" }, "count": { "N": "3" },
        "lines": { "L": [{ "M": { "count": { "N": "1" }, "name": { "S": "x" } } }] }, "tags": { "SS": ["a"] },
        "note": { "M": { "x": { "B": "eA==" } } },
    });
    for (name, value) in changed {
        match value {
            Value::Null => _ = order.as_object_mut().unwrap().remove(*name),
            value => order[*name] = value.clone(),
        }
    }
    facts(&[order])
}

/// The same, without the items.
fn facts(items: &[Value]) -> Vec<String> {
    let line = |line: String| line.split_once(") ").map_or(line.clone(), |(_, rest)| rest.to_owned());
    lines_of(ORDERS, items).into_iter().map(line).collect()
}

#[test]
fn each_thing_that_is_wrong_with_an_item_is_one_line() {
    let text = |text: &str| json!({ "S": text });
    let line = |count: Value| json!({ "L": [{ "M": { "count": count, "name": { "S": "x" } } }] });
    for (changed, begin) in [
        (vec![], None),
        // An index key is no substitute for the attribute of a field that is never null.
        (vec![("state", Value::Null)], Some("with an error at `Order.state`: it is null")),
        (vec![("state", text("GONE"))], Some("with an error at `Order.state`: it is S \"GONE\"")),
        (vec![("count", text("3"))], Some("with an error at `Order.count`: it is S \"3\"")),
        (vec![("count", json!({ "N": "1.5" }))], Some("with an error at `Order.count`: it is N \"1.5\"")),
        (vec![("count", json!({ "NULL": true }))], None),
        (vec![("lines", line(text("1")))], Some("with an error at `Line.count`: it is S \"1\"")),
        (vec![("lines", line(json!({ "NULL": true })))], Some("with an error at `Line.count`: it is null")),
        (vec![("lines", json!({ "L": [{ "S": "x" }] }))], Some("with an error at `Order.lines`: it is a list with")),
        (vec![("lines", json!({ "L": [{ "NULL": true }] }))], Some("with an error at `Order.lines`: it is null")),
        (vec![("lines", text("x"))], Some("with an error at `Order.lines`: it is S \"x\"")),
        (vec![("at", json!({ "L": [{ "BOOL": true }] }))], Some("with an error at `Order.at`: it is a list with")),
        (vec![("tags", json!({ "NS": ["1"] }))], Some("with an error at `Order.tags`: it is of the type NS")),
        (
            vec![("shop", text("t"))],
            Some("with two values of `Order.shop`: \"t\" in the attribute, and \"s\" in the key"),
        ),
        (vec![("shop", Value::Null)], None),
        (vec![("shop", json!({ "NULL": true }))], None),
        (vec![("seen", json!({ "N": "1700000000000" }))], None),
        (vec![("seen", text("2021-07-02T17:09:47.000Z"))], Some("with an error at `Order.seen`: it is S \"2021-")),
        (vec![("days", json!({ "SS": ["2026-01-02", "2026-01-03"] }))], None),
        (
            vec![("days", json!({ "SS": ["2026-01-02", "soon"] }))],
            Some("with an error at `Order.days`: \"soon\" is not"),
        ),
        (vec![("c", text("7"))], Some("with an error at `Order.code`: only a key has it")),
        (
            vec![("g", text("STATE#DONE"))],
            Some("with a stale index key: `Order.g` is \"STATE#DONE\", and the fields make \"STATE#OPEN\""),
        ),
        (vec![("g", Value::Null)], Some("without the index key `Order.g`, which the fields make (\"STATE#OPEN\")")),
        (vec![("buyer", json!({ "NULL": true })), ("b", text("BUYER#bob"))], None),
        // Without a date it is in no such index.
        (vec![("due", Value::Null), ("h", Value::Null)], None),
        (vec![("due", Value::Null), ("h", Value::Null), ("g", text("x"))], None),
        (vec![("b", text("BUYER#ann"))], None),
        (vec![("buyer", text("ann"))], Some("without the index key `Order.b`, which the fields make (\"BUYER#ann\")")),
        (
            vec![("buyer", text("ann")), ("b", text("BUYER#bob"))],
            Some("with a stale index key: `Order.b` is \"BUYER#bob\""),
        ),
    ] {
        match (order_lines(&changed).as_slice(), begin) {
            ([], None) => {}
            ([line], Some(begin)) if line.starts_with(begin) => {}
            (lines, begin) => panic!("{changed:?}: {lines:#?}, not {begin:?}"),
        }
    }
}

#[test]
fn an_item_in_another_shard_than_its_own_is_not_found() {
    let item = |shard: u64| json!({ "pk": { "S": format!("SHOP#s#{shard}") }, "sk": { "S": "TALLY#a" } });
    let found: Vec<Vec<String>> = (0..4).map(|shard| facts(&[item(shard)])).collect();
    assert_eq!(found.iter().filter(|lines| lines.is_empty()).count(), 1, "{found:#?}");
    let begin = "will not be found by the fields: the key `Tally.pk` is \"SHOP#s#";
    assert!(found.iter().flatten().all(|line| line.starts_with(begin)), "{found:#?}");
}

#[test]
fn a_claim_in_an_index_key_is_that_of_the_item() {
    let item = |tenant: &str| {
        json!({ "pk": { "S": "TENANT#a" }, "sk": { "S": "PART#1" }, "kind": { "S": "x" },
            "b": { "S": format!("PARTS#{tenant}#x") } })
    };
    assert_eq!(facts(&[item("a")]), Vec::<String>::new());
    assert_eq!(
        facts(&[item("b")]),
        ["with a stale index key: `Part.b` is \"PARTS#b#x\", and the fields make \"PARTS#a#x\""]
    );
}

#[test]
fn notes_say_what_no_item_is_to_blame_for() {
    let (model, _) = load("s", ORDERS, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let mut survey = Survey::new(&model, &model.tables[0]);
    let now = survey.now;
    assert_eq!(survey.notes(), Vec::<String>::new());
    for (number, ttl) in [now - 10, now + 1000, now - 2 * EXPIRED_SECONDS].into_iter().enumerate() {
        let sort = format!("PART#{number}");
        let key = json!({ "pk": { "S": "TENANT#a" }, "sk": { "S": sort }, "ttl": { "N": ttl.to_string() } });
        survey.see(&parse_line(&json!({ "Item": key }).to_string()).unwrap().unwrap());
    }
    assert_eq!(
        survey.notes(),
        [
            "1 item has expired by `ttl`: DynamoDB deletes it soon",
            "the index `byState` has no items",
            "the index `byBuyer` has no items",
            "the index `byCode` has no items"
        ]
    );
    survey.leave_out();
    assert_eq!(survey.notes(), Vec::<String>::new());
}

const VISITS: &str = r##"
extend schema @table(name: "visits", partitionKey: "pk", sortKey: "sk")
type Visit @item(keys: { pk: "VISIT#{id}", sk: "VISIT" }) {
  id: ID! at: String fee: String phone: String mobile: String product: String remark: String card: String code: ID
}
type Query { visit(id: ID!): Visit @find }
"##;

#[test]
fn texts_that_are_all_times_or_all_numbers_are_named() {
    let (model, _) = load("s", VISITS, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
    let mut survey = Survey::new(&model, &model.tables[0]);
    for number in 1..=5 {
        let remark = if number == 5 { "soon" } else { "2026-11-01" };
        let visit = json!({ "pk": { "S": format!("VISIT#{number}") }, "sk": { "S": "VISIT" },
            "at": { "S": format!("2026-11-0{number}T09:00:00Z") }, "fee": { "S": format!("{number}.50") },
            "phone": { "S": format!("0711{number}") }, "mobile": { "S": format!("415555012{number}") },
            "product": { "S": format!("978123456789{number}") }, "remark": { "S": remark },
            "code": { "S": number.to_string() }, "card": { "S": format!("400000000000000{number}") } });
        survey.see(&parse_line(&json!({ "Item": visit }).to_string()).unwrap().unwrap());
        assert!(number == 5 || survey.notes().is_empty());
    }
    let notes = survey.notes();
    assert_eq!(notes.len(), 2, "{notes:#?}");
    assert!(notes[0].starts_with("`Visit.at` is a `String`, and all 5 values are times: "), "{}", notes[0]);
    assert!(notes[0].contains("`@attribute(form: \"%Y-%m-%dT%H:%M:%SZ\")`"), "{}", notes[0]);
    assert!(notes[1].starts_with("`Visit.fee` is a `String`, and all 5 values are numbers: "), "{}", notes[1]);
}

#[test]
fn a_key_in_another_spelling_is_of_the_type_whose_constants_the_item_has() {
    let schema = r##"
extend schema @table(name: "logs", partitionKey: "pk", sortKey: "sk")
type Start @item(keys: { pk: "DAY", sk: "AT#{at}" }, attributes: { kind: "start" }) { at: DateTime! }
type Stop @item(keys: { pk: "DAY", sk: "AT#{at}" }, attributes: { kind: "stop" }) { at: DateTime! }
type Query { starts: [Start!]! @find }
"##;
    let log =
        |kind: &str| json!({ "pk": { "S": "DAY" }, "sk": { "S": "AT#2021-07-02T17:09:47Z" }, "kind": { "S": kind } });
    for (kind, place) in [("start", "Start.at"), ("stop", "Stop.at")] {
        let found = lines_of(schema, &[log(kind)]);
        assert!(found.len() == 1 && found[0].contains(&format!("will not be seen: `{place}` is")), "{found:#?}");
    }
    assert_eq!(lines_of(schema, &[log("pause")]), Vec::<String>::new());
}
