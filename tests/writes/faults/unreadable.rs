//! A value that another program wrote and that its field cannot read, and every kind of write. A write that needs the
//! value is refused as a read of it is, and nothing is written. Every other write keeps each attribute that it does not
//! set, byte for byte.

use super::backend::{Backend, error};
use serde_json::{Map, Value, json};

/// A field's type, and how it is declared; whether it may be part of a key and of a default's text.
const FIELDS: [(&str, &str, bool); 29] = [
    ("ID", "", true),
    ("String", "", true),
    ("Int", "", true),
    ("Long", "", true),
    ("Float", "", true),
    ("Decimal", "", true),
    ("Boolean", "", true),
    ("DateTime", "", true),
    ("DateTime", ", stored: EPOCH_SECONDS", true),
    ("DateTime", ", stored: EPOCH_MILLIS", true),
    ("Date", "", true),
    ("LocalDateTime", "", true),
    ("DateTime", ", form: \"%Y-%m-%dT%H:%M:%SZ\"", true),
    ("Date", ", form: \"%d/%m/%Y\"", true),
    ("Int", ", type: S", true),
    ("Boolean", ", type: S", true),
    ("Boolean", ", type: N", true),
    ("ID", ", type: N", true),
    ("[Int!]", ", type: S", false),
    ("Status", "", true),
    ("Binary", "", false),
    ("JSON", "", false),
    ("Part", "", false),
    ("[String]", "", false),
    ("[Status]", "", false),
    ("[Part!]", "", false),
    ("[ID!]", ", stored: SET", false),
    ("[String!]", ", stored: SET", false),
    ("[Status!]", ", stored: SET", false),
];

/// Attributes of every type, many of which no other type reads.
fn forms() -> Vec<Value> {
    [
        r#"{"S":"x"}"#,
        r#"{"S":""}"#,
        r#"{"S":"2026-11-20"}"#,
        r#"{"N":"3"}"#,
        r#"{"N":"1.5"}"#,
        r#"{"N":"99999999999999999999"}"#,
        r#"{"B":"AQI="}"#,
        r#"{"BOOL":true}"#,
        r#"{"NULL":true}"#,
        r#"{"SS":["a","b"]}"#,
        r#"{"NS":["1","2"]}"#,
        r#"{"BS":["AQI="]}"#,
        r#"{"L":[]}"#,
        r#"{"L":[{"S":"a"}]}"#,
        r#"{"L":[{"N":"1"}]}"#,
        r#"{"L":[{"S":"a"},{"M":{}}]}"#,
        r#"{"L":[{"M":{"no":{"S":"1"}}}]}"#,
        r#"{"L":[{"M":{"no":{"S":"1"},"size":{"S":"large"}}}]}"#,
        r#"{"M":{}}"#,
        r#"{"M":{"no":{"S":"1"},"size":{"N":"2"}}}"#,
        r#"{"M":{"no":{"S":"1"},"size":{"S":"large"}}}"#,
        r#"{"M":{"no":{"M":{}}}}"#,
    ]
    .map(|form| serde_json::from_str(form).unwrap())
    .to_vec()
}

/// A schema whose `Thing.value` has this type.
fn schema(ty: &str, stored: &str, in_text: bool) -> String {
    let key = if in_text { "\"V#{value}#{rank}\"" } else { "\"V#{rank}\"" };
    let label = if in_text { "@default(value: \"{note}/{value}\", on: WRITE)" } else { "" };
    let selection = "@attribute(name: \"v\"";
    let input = ty.replace("Part", "PartInput");
    format!(
        r#"
extend schema @table(name: "things", partitionKey: "PK", sortKey: "SK", indexes: [{{ name: "byValue", partitionKey: "IPK", sortKey: "PK" }}])
enum Status {{ OPEN DONE }}
type Part {{ no: ID! size: Int }}
input PartInput {{ no: ID! size: Int }}
type Thing @item(keys: {{ PK: "THING#{{id}}", SK: "THING", IPK: {key} }}) {{
  id: ID!
  value: {ty} {selection}{stored})
  rank: Int @attribute(name: "rank")
  note: String
  mark: String
  parts: [Part!]
  label: String {label}
  copies: [Copy!]! @find(where: {{ thing: "{{id}}" }})
}}
type Copy @item(keys: {{ PK: "COPY#{{thing}}", SK: "{{id}}" }}) {{
  thing: ID!
  mark: String
  id: ID!
  value: {ty} {selection}{stored})
}}
type Query {{
  thing(id: ID!): Thing @find
}}
type Mutation {{
  copy(id: ID!, copyId: ID!): Copy @find(item: Thing, where: {{ id: "{{id}}" }}) @put(set: {{ thing: "{{id}}", id: "{{copyId}}", value: "{{Thing.value}}" }})
  move(id: ID!, copyId: ID!): Copy
    @find(item: Thing, where: {{ id: "{{id}}" }}) @put(set: {{ thing: "{{id}}", id: "{{copyId}}", value: "{{Thing.value}}" }}) @delete(item: Thing, where: {{ id: "{{id}}" }})
  name(id: ID!, copyId: ID!): Copy
    @find(item: Thing, where: {{ id: "{{id}}" }}) @update(item: Copy, where: {{ thing: "{{id}}", id: "{{copyId}}" }}, expression: "SET value = :Thing.value")
  replace(id: ID!, value: {input}): Thing @put(replace: true)
  setMark(id: ID!, mark: String): Thing @update
  markAgain(id: ID!, mark: String): Thing @update(expression: "SET mark = :mark")
  setNote(id: ID!, note: String): Thing @update
  setRank(id: ID!, rank: Int): Thing @update
  setValue(id: ID!, value: {input}): Thing @update
  make(id: ID!, mark: String): Thing @update(upsert: true)
  addPart(id: ID!, no: ID!): Thing @put(at: "parts")
  changePart(id: ID!, no: ID!, size: Int): Thing @update(at: "parts[no = :no]")
  removePart(id: ID!, no: ID!): Thing @delete(at: "parts[no = :no]")
  remove(id: ID!): Thing @delete
  removeAll(id: ID!): Thing @delete(cascade: ["copies"])
  removeMany(thing: ID!): [Copy!]! @delete(many: true)
  markMany(thing: ID!, mark: String): [Copy!]! @update(many: true)
}}
"#
    )
}

/// The writes, each with the attributes that it may change of the thing, and whether the thing may go.
const WRITES: [(&str, &[&str], bool); 17] = [
    ("copy(id: \"1\", copyId: \"c\") { id }", &[], false),
    ("move(id: \"1\", copyId: \"c\") { id }", &[], true),
    ("name(id: \"1\", copyId: \"old\") { id }", &[], false),
    ("replace(id: \"1\") { id }", &["v", "rank", "note", "mark", "parts", "label", "IPK"], false),
    ("setMark(id: \"1\", mark: \"new\") { id }", &["mark"], false),
    ("markAgain(id: \"1\", mark: \"new\") { id }", &["mark"], false),
    ("setNote(id: \"1\", note: \"new\") { id }", &["note", "label"], false),
    ("setRank(id: \"1\", rank: 8) { id }", &["rank", "label", "IPK"], false),
    ("setValue(id: \"1\", value: null) { id }", &["v", "label", "IPK"], false),
    ("make(id: \"1\", mark: \"new\") { id }", &["mark", "label"], false),
    ("addPart(id: \"1\", no: \"2\") { id }", &["parts"], false),
    ("changePart(id: \"1\", no: \"1\", size: 4) { id }", &["parts"], false),
    ("removePart(id: \"1\", no: \"1\") { id }", &["parts"], false),
    ("remove(id: \"1\") { id }", &[], true),
    ("removeAll(id: \"1\") { id }", &[], true),
    ("removeMany(thing: \"1\") { id }", &[], false),
    ("markMany(thing: \"1\", mark: \"new\") { id }", &[], false),
];

/// Writes that need the value. `in_text` is whether it is part of the key and of the default.
fn needs_value(write: &str, in_text: bool) -> bool {
    let name = write.split('(').next().unwrap();
    ["copy", "move", "name"].contains(&name) || in_text && ["setNote", "setRank"].contains(&name)
}

fn thing(items: &[Value], key: &str) -> Option<Map<String, Value>> {
    items.iter().find(|item| item["PK"]["S"] == key).map(|item| item.as_object().unwrap().clone())
}

/// Puts the thing, and a copy of it, with this value.
fn put(backend: &Backend, form: &Value) {
    let s = |text: &str| json!({ "S": text });
    let parts = json!({ "L": [{ "M": { "no": s("1"), "alien": { "N": "1" } } }] });
    backend.table.put(
        "things",
        json!({ "PK": s("THING#1"), "SK": s("THING"), "IPK": s("V#other"), "v": form, "rank": { "N": "7" }, "note": s("n"),
            "mark": s("m"), "label": s("l"), "alien": { "BS": ["AQI="] }, "parts": parts }),
    );
    backend.table.put("things", json!({ "PK": s("COPY#1"), "SK": s("old"), "v": form }));
    backend.table.delete("things", ["COPY#1", "c"]);
}

async fn holds_for(fields: &[(&str, &str, bool)]) {
    for (ty, stored, in_text) in fields {
        let backend = Backend::of_text(&schema(ty, stored, *in_text)).await;
        let selection = if ty.contains("Part") { "value { no size }" } else { "value" };
        for form in forms() {
            put(&backend, &form);
            let read = backend.run(&format!("{{ thing(id: \"1\") {{ {selection} }} }}"), json!({})).await;
            let is_misfit = |error: &Value| error["message"].as_str().unwrap().contains("does not fit the type");
            let is_unreadable = read["errors"].as_array().is_some_and(|errors| errors.iter().any(is_misfit));
            // An answer shows it, but a copy would store what the answer shows.
            let is_no_json =
                |form: &Value| *ty == "JSON" && ["B", "SS", "NS", "BS"].iter().any(|kind| !form[*kind].is_null());
            for (write, sets, may_go) in WRITES {
                let about = format!("{ty}{stored} {form} {write}");
                put(&backend, &form);
                let before = backend.table.scan("things");
                let answer = backend.run(&format!("mutation {{ {write} }}"), json!({})).await;
                let after = backend.table.scan("things");
                let (code, message, _) = error(&answer);
                if (is_unreadable || is_no_json(&form)) && needs_value(write, *in_text) {
                    assert_eq!(code, "INTERNAL", "{about}: {answer}");
                    assert!(message.contains("does not fit the type"), "{about}: {message}");
                } else if !write.contains("Part") && (is_unreadable || read["errors"].is_null()) {
                    assert_eq!(code, "", "{about}: {answer}");
                }
                if !answer["errors"].is_null() {
                    assert_eq!(before, after, "{about}: {answer}");
                    continue;
                }
                let (was, is) = (thing(&before, "THING#1").unwrap(), thing(&after, "THING#1"));
                assert!(is.is_some() || may_go, "{about}");
                // What a write makes of the value is left as it is, too.
                let made = |name: &str| name == "label" && is_unreadable && *in_text && write.starts_with("make");
                let sets = |name: &str| sets.contains(&name) && !made(name);
                for (name, value) in was.iter().filter(|(name, _)| is.is_some() && !sets(name)) {
                    let kept = is.as_ref().and_then(|is| is.get(name));
                    assert!(
                        kept == Some(value) || write.starts_with("replace"),
                        "{about}: {name} was {value}, is {kept:?}"
                    );
                }
                if write.starts_with("copy") && read["errors"].is_null() {
                    let copies = backend
                        .run(&format!("{{ thing(id: \"1\") {{ copies {{ id {selection} }} }} }}"), json!({}))
                        .await;
                    let copies = copies["data"]["thing"]["copies"].as_array().cloned().unwrap_or_default();
                    // There is no empty set.
                    let of = |thing: &Value| {
                        Some(thing["value"].clone()).filter(|value| !stored.contains("SET") || *value != json!([]))
                    };
                    let copy = copies.iter().find(|copy| copy["id"] == "c").and_then(of).unwrap_or_default();
                    assert!(copy == of(&read["data"]["thing"]).unwrap_or_default(), "{about}: {copies:?}");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn no_write_takes_an_unreadable_scalar_for_null() {
    holds_for(&FIELDS[..12]).await;
}

#[tokio::test(start_paused = true)]
async fn no_write_takes_an_unreadable_object_or_list_for_null() {
    holds_for(&FIELDS[12..]).await;
}

const OWNED: &str = r#"
extend schema @table(name: "owned", partitionKey: "PK", sortKey: "SK")
type Thing @item(keys: { PK: "THING#{id}", SK: "THING" }) {
  id: ID!
  code: String @unique
  shelf: String
  note: String
  parts: [Part!]! @find(where: { shelf: "{shelf}" })
}
type Part @item(keys: { PK: "SHELF#{shelf}", SK: "PART#{id}" }) { shelf: String! id: ID! }
type Query { thing(id: ID!): Thing @find }
type Mutation {
  make(id: ID!, code: String): Thing @put
  replace(id: ID!, code: String): Thing @put(replace: true)
  setNote(id: ID!, note: String): Thing @update
  setCode(id: ID!, code: String): Thing @update
  remove(id: ID!): Thing @delete
  removeAll(id: ID!): Thing @delete(cascade: ["parts"])
}
"#;

/// The guard of an unreadable value cannot be known, so it is left. What a relation is bound to must be read.
#[tokio::test(start_paused = true)]
async fn an_item_with_an_unreadable_value_can_be_deleted_and_replaced() {
    let s = |text: &str| json!({ "S": text });
    for (write, gone) in [
        ("remove(id: \"1\") { id }", true),
        ("replace(id: \"1\", code: \"d\") { id }", false),
        ("setNote(id: \"1\", note: \"n\") { id }", false),
        ("setCode(id: \"1\", code: \"d\") { id code }", false),
    ] {
        let backend = Backend::of_text(OWNED).await;
        backend.ok("mutation { make(id: \"2\", code: \"c\") { id } }", json!({})).await;
        let others = backend.items();
        backend
            .table
            .put("owned", json!({ "PK": s("THING#1"), "SK": s("THING"), "code": { "N": "3" }, "shelf": { "N": "4" } }));
        backend.ok(&format!("mutation {{ w: {write} }}"), json!({})).await;
        let after = backend.items();
        assert!(others.iter().all(|other| after.contains(other)), "{write}: {after:?}");
        assert_eq!(
            gone,
            !after.iter().any(|item| item.contains("\"THING#1\"") && !item.contains("Unique#")),
            "{write}: {after:?}"
        );
    }
    let backend = Backend::of_text(OWNED).await;
    backend.table.put("owned", json!({ "PK": s("THING#1"), "SK": s("THING"), "shelf": { "N": "4" } }));
    backend.table.put("owned", json!({ "PK": s("SHELF#4"), "SK": s("PART#1") }));
    let before = backend.items();
    for operation in ["{ thing(id: \"1\") { parts { id } } }", "mutation { removeAll(id: \"1\") { id } }"] {
        let answer = backend.run(operation, json!({})).await;
        assert_eq!(
            error(&answer).1,
            "The stored value of shelf does not fit the type String.",
            "{operation}: {answer}"
        );
        assert_eq!(backend.items(), before);
    }
}

/// JSON shows a set as a list and bytes as a text. A copy would store what it shows.
#[tokio::test(start_paused = true)]
async fn a_json_value_that_json_cannot_hold_is_not_copied() {
    let schema = r##"
extend schema @table(name: "things", partitionKey: "pk")
type Thing @item(keys: { pk: "{id}" }) { id: ID! log: JSON note: String }
type Query { thing(id: ID!): Thing @find }
type Mutation {
  copy(id: ID!, newId: ID!): Thing @find(item: Thing, where: { id: "{id}" }) @put(set: { id: "{newId}", log: "{Thing.log}" })
  annotate(id: ID!, note: String): Thing @update
}
"##;
    let kept = json!({ "M": { "a": { "L": [{ "N": "1" }, { "NULL": true }] }, "b": { "S": "x" } } });
    for (log, is_copied) in [
        (kept, true),
        (json!({ "NS": ["1"] }), false),
        (json!({ "L": [{ "M": { "a": { "SS": ["x"] } } }] }), false),
        (json!({ "M": { "a": { "B": "AQ==" } } }), false),
    ] {
        let backend = Backend::of_text(schema).await;
        backend.table.put("things", json!({ "pk": { "S": "a" }, "log": log }));
        let answer = backend.run("mutation { copy(id: \"a\", newId: \"b\") { id } }", json!({})).await;
        assert_eq!(error(&answer).0, if is_copied { "" } else { "INTERNAL" }, "{log}: {answer}");
        let items = backend.table.scan("things");
        assert!(items.iter().all(|item| item["log"] == log), "{log}: {items:?}");
        assert_eq!(items.len(), 1 + usize::from(is_copied), "{log}");
        backend.ok("mutation { annotate(id: \"a\", note: \"n\") { log note } }", json!({})).await;
        assert!(backend.table.scan("things").iter().all(|item| item["log"] == log), "{log}");
    }
}
