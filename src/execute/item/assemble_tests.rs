//! Tests of items, keys, index changes and guards made of values, and of reading the values back as they were written.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::execute::item::index_keys::{IndexChanges, index_changes};
use crate::execute::item::unique::guard;
use crate::execute::values::invalid_value::InvalidValue;
use crate::schema::model::Model;
use crate::schema::scalar::date_time::instant_text;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::table::data::attribute::{Attribute, Item, KeyValue};
use apollo_compiler::ast::Type;
use fastrand::Rng;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

fn load(text: &str) -> Model {
    crate::schema::load("schema.graphql", text, &|_| None)
        .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)))
        .0
}

fn workshop() -> Model {
    load(include_str!("../../../tests/systems/workshop/schema.graphql"))
}

fn pantry() -> Model {
    load(include_str!("../../../schema.graphql"))
}

/// A caller whose claims the pantry's keys may hold.
fn user() -> Caller {
    Caller::signed_in(fields(json!({ "sub": "u" })))
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        other => panic!("{other} is no object"),
    }
}

fn s(text: &str) -> Attribute {
    Attribute::S(text.into())
}

fn n(text: &str) -> Attribute {
    Attribute::N(text.into())
}

fn expected<const N: usize>(attributes: [(&str, Attribute); N]) -> Item {
    attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[track_caller]
fn misfit(result: Result<impl std::fmt::Debug, InvalidValue>, field: &str, message: &str) {
    let found = result.unwrap_err();
    assert_eq!((found.field.as_str(), found.message.as_str()), (field, message));
}

fn game() -> Map<String, Value> {
    fields(json!({
        "id": "7", "board": "north", "points": 350, "player": "ann", "state": "OPEN", "playedOn": "2026-11-20", "moves": [], "tags": [],
    }))
}

const NOT_EMPTY: &str = "It must not be empty, because it is a key.";

#[test]
fn an_item_has_its_attributes_keys_and_constants() {
    let model = workshop();
    let mut values = game();
    values.extend(fields(json!({
        "title": "", "cycle": 3, "opening": { "by": "bob" }, "tags": ["b", "a", "b"],
        "moves": [{ "by": "ann", "at": "2026-11-20T09:30:00.000Z" }, { "by": "bob", "at": null }],
        "size": 9007199254740993_i64, "price": "12.50", "ratio": 0.5,
        "notes": { "a": [1, null] }, "picture": "AQI=", "expires": "2026-11-20T09:30:00.900Z", "seenAt": "2026-11-20T09:30:00.900Z",
        "spare": null,
    })));
    let made = |by: &str, at: Option<&str>| {
        let mut map = expected([("by", s(by))]);
        map.extend(at.map(|at| ("at".to_owned(), s(at))));
        Attribute::M(map)
    };
    let notes = Attribute::M(expected([("a", Attribute::L(vec![n("1"), Attribute::Null]))]));
    let item = item(&model, &model.types["Game"], &Caller::anonymous(), &values).unwrap();
    let whole = expected([
        ("pk", s("game-7")),
        ("sk", s("game")),
        ("board", s("north")),
        ("points", n("350")),
        ("GSI-1", s("cycle:3")),
        ("GSI-1-SK", s("open_2026-11-20")),
        ("kind", s("Game")),
        ("title", s("")),
        ("cycle", n("3")),
        ("player", s("ann")),
        ("moves", Attribute::L(vec![made("ann", Some("2026-11-20T09:30:00.000Z")), made("bob", None)])),
        ("opening", made("bob", None)),
        ("tags", Attribute::Ss(vec!["b".into(), "a".into()])),
        ("size", n("9007199254740993")),
        ("price", n("12.5")),
        ("ratio", n("0.5")),
        ("notes", notes),
        ("picture", Attribute::B(vec![1, 2])),
        ("expires", n("1795167000")),
        ("seenAt", n("1795167000900")),
    ]);
    let names = |item: &Item| item.keys().cloned().collect::<std::collections::BTreeSet<_>>();
    assert_eq!((names(&item), &item), (names(&whole), &whole));
}

#[test]
fn nothing_stands_for_null_an_empty_set_and_an_index_that_it_is_not_in() {
    let model = workshop();
    let item = item(&model, &model.types["Game"], &Caller::anonymous(), &game()).unwrap();
    for name in ["tags", "award", "title", "cycle", "spare"] {
        assert_eq!(item.get(name), None, "{name}");
    }
    assert_eq!((item.get("GSI-1"), item.get("moves")), (Some(&s("player:ann")), Some(&Attribute::L(Vec::new()))));
}

#[test]
fn values_that_do_not_fit_are_reported_with_their_place() {
    let model = workshop();
    let game_type = &model.types["Game"];
    let with = |field: &str, value: Value| {
        let mut values = game();
        values.insert(field.to_owned(), value);
        item(&model, game_type, &Caller::anonymous(), &values)
    };
    misfit(with("award", json!("")), "award", NOT_EMPTY);
    misfit(with("board", json!("")), "board", NOT_EMPTY);
    misfit(
        with("board", json!("é".repeat(1025))),
        "board",
        "It gives a key of 2050 bytes, but this key has at most 2048.",
    );
    misfit(with("points", json!("many")), "points", "Int cannot be \"many\": it is an integer of 32 bits.");
    misfit(with("id", json!("x".repeat(2044))), "id", "It gives a key of 2049 bytes, but a key has at most 2048.");
    misfit(with("id", Value::Null), "id", "It must not be null, because it is part of the item's key.");
    misfit(
        with("moves", json!([{ "by": "a" }, { "by": "a", "at": "soon" }])),
        "moves.1.at",
        &unfit("DateTime", "soon"),
    );
    misfit(with("moves", json!({ "by": "a" })), "moves", "It must be a list.");
    misfit(with("moves", json!([{ "when": 1 }])), "moves.0.when", "Move has no stored field of this name.");
    misfit(with("tags", json!(["a", null])), "tags.1", "It cannot hold null, because it is stored as a set.");
    misfit(with("title", json!(["a"])), "title", "String cannot be a list: it is a string.");
    misfit(with("spareParts", json!([])), "spareParts", "Game has no stored field of this name.");
    misfit(
        with("notes", json!(1e200)),
        "notes",
        "It is nested too deeply, or holds a number that DynamoDB cannot store.",
    );
}

fn unfit(kind: &str, text: &str) -> String {
    format!("{kind} cannot be \"{text}\": it is a date and time with an offset, such as \"2026-11-20T09:30:00Z\".")
}

#[test]
fn a_sort_key_is_shorter_than_a_partition_key() {
    let model = pantry();
    let membership = &model.types["Membership"];
    let of = |group: usize| {
        primary_key(
            &model,
            membership,
            &Caller::anonymous(),
            &fields(json!({ "userId": "u", "groupId": "x".repeat(group) })),
        )
    };
    assert!(of(1024 - "Group#".len()).is_ok());
    misfit(of(1025 - "Group#".len()), "groupId", "It gives a key of 1025 bytes, but this key has at most 1024.");
    misfit(
        primary_key(&model, membership, &Caller::anonymous(), &fields(json!({ "userId": "", "groupId": "g" }))),
        "userId",
        NOT_EMPTY,
    );
    misfit(
        primary_key(&model, membership, &Caller::anonymous(), &fields(json!({ "userId": "u" }))),
        "groupId",
        "It must not be null, because it is part of the item's key.",
    );
}

#[test]
fn keys_are_of_the_kind_that_the_table_says() {
    let model = load(
        r#"extend schema
          @table(name: "things", partitionKey: "p", partitionKeyType: B, sortKey: "s", sortKeyType: N, indexes: [
            { name: "index", partitionKey: "day" partitionKeyType: N, sortKey: "what" sortKeyType: B }])
        type Thing @item(keys: { p: "{digest}", s: "{at}", day: "{score}", what: "{sign}" }) {
          digest: Binary! at: DateTime! @attribute(stored: EPOCH_SECONDS) score: Decimal sign: Binary
        }
        type Query { thing(digest: Binary!, at: DateTime!): Thing @find }"#,
    );
    let thing = &model.types["Thing"];
    let values = json!({ "digest": "AQID", "at": "2026-11-20T09:30:00.000Z", "score": "1.50", "sign": "/w==" });
    let made = item(&model, thing, &Caller::anonymous(), &fields(values.clone())).unwrap();
    let whole = [
        ("p", Attribute::B(vec![1, 2, 3])),
        ("s", n("1795167000")),
        ("day", n("1.5")),
        ("what", Attribute::B(vec![255])),
    ];
    for (name, value) in whole {
        assert_eq!(made.get(name), Some(&value), "{name}");
    }
    let key = primary_key(&model, thing, &Caller::anonymous(), &fields(values)).unwrap();
    assert_eq!(key.partition, ("p".into(), KeyValue::B(vec![1, 2, 3])));
    assert_eq!(key.sort, Some(("s".into(), KeyValue::N("1795167000".into()))));
    assert_eq!(key_of(&model, thing, &made), Some(key));
    misfit(
        item(&model, thing, &Caller::anonymous(), &fields(json!({ "digest": "", "at": "2026-11-20T09:30:00.000Z" }))),
        "digest",
        NOT_EMPTY,
    );
    misfit(
        item(&model, thing, &Caller::anonymous(), &fields(json!({ "digest": "AQ==", "at": "soon" }))),
        "at",
        &unfit("DateTime", "soon"),
    );
}

#[test]
fn the_key_of_an_item_that_was_read() {
    let model = pantry();
    let user = &model.types["User"];
    let read = expected([("PK", s("u")), ("SK", s("User")), ("UserName", s("Ann"))]);
    let key = Key {
        partition: ("PK".into(), KeyValue::S("u".into())),
        sort: Some(("SK".into(), KeyValue::S("User".into()))),
    };
    assert_eq!(key_of(&model, user, &read), Some(key));
    assert_eq!(key_of(&model, user, &expected([("PK", s("u"))])), None);
    assert_eq!(key_of(&model, user, &expected([("PK", Attribute::Null), ("SK", s("User"))])), None);
}

#[test]
fn an_attribute_is_made_alone() {
    let model = workshop();
    let game = &model.types["Game"];
    assert_eq!(attribute(&model, game, "state", &json!("OPEN")), Ok(Some(s("open"))));
    assert_eq!(attribute(&model, game, "tags", &json!([])), Ok(None));
    assert_eq!(attribute(&model, game, "title", &Value::Null), Ok(None));
    assert_eq!(
        attribute(&model, game, "opening", &json!({ "by": "a", "at": null })),
        Ok(Some(Attribute::M(expected([("by", s("a"))]))))
    );
    misfit(attribute(&model, game, "award", &json!("")), "award", NOT_EMPTY);
    assert_eq!(attribute(&model, game, "title", &json!("")), Ok(Some(s(""))));
    let food = fields(json!({ "name": "Milk", "quantity": 0.5, "expiry": null }));
    assert_eq!(embedded(&pantry(), "Food", &food), Ok(expected([("Name", s("Milk")), ("Quantity", n("0.5"))])));
}

/// The changes of a game's index keys if these fields are known.
fn changes(changed: Value, known: Value) -> Result<IndexChanges, InvalidValue> {
    let (model, known) = (workshop(), fields(known));
    let lookup = |field: &str| known.get(field).map(|value| Some(value.clone()).filter(|value| !value.is_null()));
    index_changes(&model, &model.types["Game"], &Caller::anonymous(), &fields(changed), &lookup)
}

/// The same, without the used fields.
fn untaken(changed: Value, known: Value) -> Result<IndexChanges, InvalidValue> {
    changes(changed, known).map(|changes| IndexChanges { taken: Vec::new(), ..changes })
}

fn changed(set: &[(&str, Attribute)], remove: &[&str], unknown: &[&str]) -> Result<IndexChanges, InvalidValue> {
    let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let set = set.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Ok(IndexChanges { set, remove: owned(remove), unknown: owned(unknown), ..IndexChanges::default() })
}

#[test]
fn index_keys_follow_the_fields_they_are_made_of() {
    let whole = json!({ "state": "DONE", "playedOn": "2026-11-19" });
    assert_eq!(untaken(whole, json!({})), changed(&[("GSI-1-SK", s("done_2026-11-19"))], &[], &[]));
    let half = || json!({ "state": "DONE" });
    assert_eq!(changes(half(), json!({})).unwrap().taken, Vec::<String>::new());
    assert_eq!(changes(half(), json!({ "playedOn": "2026-11-20" })).unwrap().taken, ["playedOn"]);
    assert_eq!(untaken(half(), json!({})), changed(&[], &[], &["playedOn"]));
    assert_eq!(
        untaken(half(), json!({ "playedOn": "2026-11-20" })),
        changed(&[("GSI-1-SK", s("done_2026-11-20"))], &[], &[])
    );
    assert_eq!(untaken(half(), json!({ "playedOn": null })), changed(&[], &["GSI-1-SK"], &[]));
    assert_eq!(
        untaken(json!({ "playedOn": null }), json!({})),
        changed(&[], &["GSI-1-SK"], &[]),
        "whatever the state is"
    );
    assert_eq!(untaken(json!({ "title": "x", "moves": [] }), json!({})), changed(&[], &[], &[]), "no part of a key");
    assert_eq!(
        untaken(json!({ "award": "gold", "points": 5, "board": null }), json!({})),
        changed(&[], &[], &[]),
        "fields themselves"
    );
}

#[test]
fn alternatives_depend_on_every_field_before_them() {
    let cycle = |cycle: Value, known: Value| untaken(json!({ "cycle": cycle }), known);
    let player = |player: Value, known: Value| untaken(json!({ "player": player }), known);
    assert_eq!(
        cycle(json!(3), json!({})),
        changed(&[("GSI-1", s("cycle:3"))], &[], &[]),
        "the first applies, whatever the second is"
    );
    assert_eq!(cycle(Value::Null, json!({})), changed(&[], &[], &["player"]));
    assert_eq!(cycle(Value::Null, json!({ "player": "ann" })), changed(&[("GSI-1", s("player:ann"))], &[], &[]));
    assert_eq!(cycle(Value::Null, json!({ "player": null })), changed(&[], &["GSI-1"], &[]));
    assert_eq!(player(json!("bob"), json!({})), changed(&[], &[], &["cycle"]));
    assert_eq!(player(json!("bob"), json!({ "cycle": 3 })), changed(&[("GSI-1", s("cycle:3"))], &[], &[]));
    assert_eq!(player(json!("bob"), json!({ "cycle": null })), changed(&[("GSI-1", s("player:bob"))], &[], &[]));
}

#[test]
fn index_keys_that_cannot_be_are_reported() {
    let model = load(
        r#"extend schema @table(name: "things", partitionKey: "p", indexes: [{ name: "index", partitionKey: "a", sortKey: "b" }])
        type Thing @item(keys: { p: "{id}", a: "{kind}", b: "{place}#{rank:03}" }) {
          id: ID! kind: String @attribute(name: "Kind") place: String rank: Int
        }
        type Query { thing(id: ID!): Thing @find }"#,
    );
    let of = |changed: Value| {
        index_changes(&model, &model.types["Thing"], &Caller::anonymous(), &fields(changed), &|_| None)
    };
    misfit(of(json!({ "kind": "" })), "kind", NOT_EMPTY);
    misfit(
        of(json!({ "place": "x".repeat(1021), "rank": 1 })),
        "place",
        "It gives a key of 1025 bytes, but this key has at most 1024.",
    );
    assert!(of(json!({ "place": "x", "rank": 1000 })).is_err_and(|misfit| misfit.field == "rank"));
    assert_eq!(of(json!({ "rank": null, "kind": null })), changed(&[], &["a", "b"], &[]));
    assert_eq!(of(json!({ "rank": 1 })), changed(&[], &[], &["place"]));
}

fn owner() -> Key {
    Key { partition: ("PK".into(), KeyValue::S("u1".into())), sort: Some(("SK".into(), KeyValue::S("User".into()))) }
}

#[test]
fn a_guard_names_the_value_and_its_owner() {
    let model = pantry();
    let of = |email: &str| guard(&model, &model.types["User"], "email", &json!(email), &owner()).unwrap().unwrap();
    let whole = [
        ("PK", s("Unique#User.email#ann@example.com")),
        ("SK", s("Unique#User.email")),
        ("ownerPK", s("u1")),
        ("ownerSK", s("User")),
    ];
    assert_eq!(of("ann@example.com"), expected(whole));
    assert_eq!(guard(&model, &model.types["User"], "email", &Value::Null, &owner()), Ok(None));
    assert_ne!(of("ann@example.com")["PK"], of("Ann@example.com")["PK"]);
    let long = of(&"x".repeat(1025));
    let Attribute::S(key) = &long["PK"] else { panic!("no text") };
    let (start, digest) = key.rsplit_once('#').unwrap();
    assert_eq!((start, digest.len()), (format!("Unique#User.email#{}", "x".repeat(1024)).as_str(), 64));
    let Attribute::S(cut) = &of(&"é漢".repeat(300))["PK"] else { panic!("no text") };
    assert!((1024..1200).contains(&cut.len()), "letters stay whole: {}", cut.len());
    assert_ne!(long["PK"], of(&"x".repeat(1026))["PK"]);
    assert_eq!(of(&"x".repeat(1024))["PK"], s(&format!("Unique#User.email#{}", "x".repeat(1024))));
}

#[test]
fn guards_are_of_the_kinds_of_the_table_and_in_no_index() {
    let model = load(
        r#"extend schema
          @table(name: "things", partitionKey: "p", sortKey: "s", sortKeyType: N, indexes: [{ name: "index", partitionKey: "ownerp" }])
          @table(name: "numbers", partitionKey: "n", partitionKeyType: N)
        type Thing @item(table: "things", keys: { p: "thing-{id}", s: "{rank}" }) {
          id: ID! rank: Int! size: Float at: DateTime @attribute(stored: EPOCH_SECONDS) tags: [String!]
        }
        type Number @item(table: "numbers", keys: { n: "{n}" }) { n: Int! name: String }
        type Query { thing(id: ID!, rank: Int!): Thing @find number(n: Int!): Number @find }"#,
    );
    let thing = &model.types["Thing"];
    let owner = primary_key(&model, thing, &Caller::anonymous(), &fields(json!({ "id": "a", "rank": 2 }))).unwrap();
    let of = |field: &str, value: Value| guard(&model, thing, field, &value, &owner).map(Option::unwrap);
    let whole = [("p", s("Unique#Thing.size#1.5")), ("s", n("0")), ("ownerownerp", s("thing-a")), ("owners", n("2"))];
    assert_eq!(of("size", json!(1.5)), Ok(expected(whole)));
    assert_eq!(of("size", json!(1.50)).unwrap()["p"], s("Unique#Thing.size#1.5"));
    let [early, late] = ["00.100", "00.900"].map(|at| of("at", json!(format!("2026-11-20T09:30:{at}Z"))).unwrap());
    assert_eq!(early, late, "as they are kept, they are equal");
    misfit(
        of("size", json!("much")),
        "size",
        "Float cannot be \"much\": it is a number with a magnitude from 1E-130 to 9.9E+125, or 0.",
    );
    assert!(of("tags", json!(["a"])).is_err());
    let number = guard(&model, &model.types["Number"], "name", &json!("one"), &owner);
    misfit(number, "name", "It cannot be unique in a table whose partition key is a number.");
}

#[test]
fn a_field_that_would_be_lost_is_reported() {
    let model = load(
        r#"extend schema @table(name: "things", partitionKey: "p", indexes: [{ name: "index", partitionKey: "a" }])
        type Thing @item(keys: { p: "{id}", a: "{kind}#{place}" }) { id: ID! kind: String place: String! }
        type Query { thing(id: ID!): Thing @find }"#,
    );
    let thing = &model.types["Thing"];
    misfit(
        item(&model, thing, &Caller::anonymous(), &fields(json!({ "id": "a", "kind": "k" }))),
        "place",
        "It must not be null, because kind is stored in a key together with it.",
    );
    let both = fields(json!({ "id": "a", "kind": "k", "place": "x" }));
    assert_eq!(values_of(&model, thing, &item(&model, thing, &Caller::anonymous(), &both).unwrap()).known, both);
}

#[test]
fn what_does_not_fit_is_unreadable_and_not_null() {
    let model = workshop();
    let read = expected([
        ("pk", s("game-7")),
        ("sk", s("game")),
        ("title", n("1")),
        ("size", Attribute::Null),
        ("moves", Attribute::L(vec![Attribute::M(expected([("by", s("a")), ("at", s("soon"))])), s("x")])),
        ("tags", Attribute::L(vec![s("a")])),
    ]);
    let values = values_of(&model, &model.types["Game"], &read);
    assert_eq!(Value::Object(values.known), json!({ "id": "7", "tags": ["a"] }));
    assert_eq!(values.unreadable, ["title", "moves"]);
}

/// A random value of this type, in its API form.
fn random(model: &Model, ty: &Type, kind: &ValueType, in_key: bool, rng: &mut Rng) -> Value {
    match (ty, kind) {
        (Type::List(_) | Type::NonNullList(_), ValueType::Set(element)) => {
            let mut values: Vec<Value> = Vec::new();
            for _ in 0..rng.usize(1..4) {
                let value = random(model, ty.item_type(), element, false, rng);
                if !values.contains(&value) {
                    values.push(value);
                }
            }
            Value::Array(values)
        }
        (Type::List(_) | Type::NonNullList(_), ValueType::Map(form)) => {
            let mut objects: BTreeMap<String, Value> = BTreeMap::new();
            for _ in 0..rng.usize(..4) {
                let mut object = random_values(model, &model.types[&form.element], rng);
                let key = format!("{}k", object[&form.by.field].as_str().unwrap_or_default());
                object.insert(form.by.field.clone(), json!(key));
                objects.insert(key, Value::Object(object));
            }
            objects.into_values().collect()
        }
        (Type::List(element) | Type::NonNullList(element), _) => {
            let null = |rng: &mut Rng| !element.is_non_null() && rng.u8(..4) == 0;
            let one = |rng: &mut Rng| if null(rng) { Value::Null } else { random(model, element, kind, false, rng) };
            (0..rng.usize(..4)).map(|_| one(rng)).collect()
        }
        (_, ValueType::Embedded(name)) => Value::Object(random_values(model, &model.types[name.as_str()], rng)),
        (_, ValueType::Id | ValueType::String) => {
            let least = usize::from(in_key);
            json!(
                (0..rng.usize(least..8))
                    .map(|_| rng.choice(['a', 'Z', '#', '_', '%', '2', 'é', '-', '👍', ' ', ':']).unwrap())
                    .collect::<String>()
            )
        }
        // In this schema, a padded number is not negative and has at least three digits.
        (_, ValueType::Int) => json!(if in_key { rng.i32(0..1_000) } else { rng.i32(..) }),
        (_, ValueType::Long) => json!(rng.i64(..)),
        (_, ValueType::Float) => ValueType::Float.coerce(&json!(f64::from(rng.i32(..)) / 64.0)).unwrap(),
        (_, ValueType::Decimal) => {
            ValueType::Decimal.coerce(&json!(format!("{}e-{}", rng.i64(..), rng.u8(..30)))).unwrap()
        }
        (_, ValueType::Boolean) => json!(rng.bool()),
        (_, ValueType::DateTime(moment)) => {
            let millis = rng.i64(-62_167_219_200_000..253_402_300_799_999);
            json!(instant_text(if *moment == Moment::EpochSeconds { millis / 1000 * 1000 } else { millis }).unwrap())
        }
        (_, ValueType::Date) => json!(&instant_text(rng.i64(0..253_402_300_799_999)).unwrap()[..10]),
        (_, ValueType::Binary) => {
            use base64::Engine;
            let bytes: Vec<u8> = (0..rng.usize(1..6)).map(|_| rng.u8(..)).collect();
            json!(base64::engine::general_purpose::STANDARD.encode(bytes))
        }
        (_, ValueType::Enum(values)) => json!(rng.choice(values.stored.keys()).unwrap()),
        (_, ValueType::Json) => match rng.u8(..5) {
            0 => json!({ "a": [null, rng.i64(..), { "b": "" }], "é": {} }),
            1 => json!([]),
            2 => json!(rng.bool()),
            3 => json!(rng.i64(..)),
            _ => json!("text"),
        },
        (_, ValueType::InForm(kind, _)) => loop {
            let value = random(model, ty, kind, in_key, rng);
            if let Some(held) = kind.cut(&value) {
                break held;
            }
        },
        (_, ValueType::LocalDateTime) => json!(&instant_text(rng.i64(0..253_402_300_799_999)).unwrap()[..19]),
        (_, ValueType::Set(_) | ValueType::Map(_)) => panic!("it is a list"),
        (_, ValueType::Spread(_) | ValueType::Claim) => panic!("it is no field"),
    }
}

/// Random values for a type's stored fields. Nullable fields may have none.
fn random_values(model: &Model, ty: &ObjectType, rng: &mut Rng) -> Map<String, Value> {
    let key_fields: Vec<&str> =
        keys(ty).into_iter().flat_map(|keys| keys.keys.values()).flatten().flat_map(Template::fields).collect();
    let mut values = Map::new();
    for (name, field) in &ty.fields {
        let Some(stored) = ty.stored(name) else { continue };
        if field.ty.is_non_null() || rng.bool() {
            values.insert(
                name.clone(),
                random(model, &field.ty, &stored.value, key_fields.contains(&name.as_str()), rng),
            );
        }
    }
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn values_are_read_back_as_they_were_written(seed: u64) {
        let mut rng = Rng::with_seed(seed);
        for model in [workshop(), pantry()] {
            for ty in model.types.values().filter(|ty| keys(ty).is_some()) {
                let values = random_values(&model, ty, &mut rng);
                let item = item(&model, ty, &user(), &values).unwrap();
                prop_assert_eq!(&values_of(&model, ty, &item).known, &values, "{}: {:?}", &ty.name, &item);
                prop_assert_eq!(key_of(&model, ty, &item), primary_key(&model, ty, &user(), &values).ok());
            }
        }
    }

    /// If fields of an item are changed and `index_changes` is applied to its index keys, the result is the item of the
    /// new values.
    #[test]
    fn index_keys_never_go_stale(seed: u64) {
        let mut rng = Rng::with_seed(seed);
        for model in [workshop(), pantry()] {
            for ty in model.types.values().filter(|ty| keys(ty).is_some()) {
                let (before, other) = (random_values(&model, ty, &mut rng), random_values(&model, ty, &mut rng));
                let in_primary = |field: &str| model.tables[keys(ty).unwrap().table].primary_key().any(|key| {
                    keys(ty).unwrap().keys[&key.name].iter().any(|template| template.fields().contains(&field))
                });
                let changed: Map<String, Value> = ty.fields.keys()
                    .filter(|field| ty.stored(field).is_some() && !in_primary(field) && rng.bool())
                    .map(|field| (field.clone(), other.get(field).cloned().unwrap_or_default()))
                    .collect();
                let mut after = before.clone();
                after.extend(changed.clone());
                let mut updated = item(&model, ty, &user(), &before).unwrap();
                for (field, value) in &changed {
                    // A field that is stored only in an index key changes with the key.
                    let Some(name) = ty.stored(field).unwrap().attribute.clone() else { continue };
                    match attribute(&model, ty, field, value).unwrap() {
                        Some(attribute) => updated.insert(name, attribute),
                        None => updated.remove(&name),
                    };
                }
                // The changes ask for exactly the missing values: with them, everything is known.
                let first = index_changes(&model, ty, &user(), &changed, &|_| None).unwrap();
                let is_unknown = |field: &str| first.unknown.iter().any(|unknown| unknown == field);
                let known = |field: &str| is_unknown(field).then(|| before.get(field).cloned());
                let index = index_changes(&model, ty, &user(), &changed, &known).unwrap();
                let index = if index.unknown.is_empty() { index } else {
                    index_changes(&model, ty, &user(), &changed, &|field| Some(before.get(field).cloned())).unwrap()
                };
                prop_assert!(index.unknown.is_empty());
                updated.extend(index.set);
                for name in &index.remove {
                    updated.remove(name);
                }
                prop_assert_eq!(updated, item(&model, ty, &user(), &after).unwrap());
            }
        }
    }
}
