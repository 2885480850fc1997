//! What updates are written as, and what they do on the embedded engine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::execute::caller::Caller;
use crate::execute::expression::request_time::RequestTime;
use crate::schema::scalar::time_form::TimeForm;
use crate::schema::scalar::value_type::Moment;
use crate::table::data::attribute::Item;
use dynoxide::Database;
use serde::de::DeserializeOwned;
use serde_json::{Map, json};

const NOW: &str = "2026-11-20T09:30:00.000Z";

fn now() -> RequestTime {
    RequestTime::at(1_795_167_000_000)
}

fn model() -> Model {
    crate::schema::load("schema.graphql", include_str!("../../../schema.graphql"), &|_| None).unwrap().0
}

fn path(text: &str) -> Path {
    let segment = |part: &str| part.parse().map_or_else(|_| Segment::Attribute(part.to_owned()), Segment::Index);
    Path { segments: text.split('.').map(segment).collect() }
}

fn argument(name: &str, kind: ValueType) -> Operand {
    Operand::Argument(name.to_owned(), ArgumentType(kind))
}

fn plus(left: Operand, right: Operand) -> SetValue {
    SetValue::Plus(SetValue::Operand(left).into(), SetValue::Operand(right).into())
}

fn append(left: SetValue, right: Operand) -> SetValue {
    SetValue::ListAppend(left.into(), SetValue::Operand(right).into())
}

fn set(changes: &[(&str, SetValue)]) -> Update {
    Update { set: changes.iter().map(|(target, value)| (path(target), value.clone())).collect(), ..Update::default() }
}

fn texts() -> ValueType {
    ValueType::Set(Box::new(ValueType::String))
}

fn changes(update: &Update, arguments: Value) -> Result<Changes, String> {
    let Value::Object(arguments) = arguments else { panic!("no arguments") };
    Changes::new(
        &model(),
        (update, &[]),
        &Scope { arguments: &arguments, now: &now(), caller: &Caller::anonymous() },
        StoredForm::default(),
    )
}

/// The expression's text with its placeholders replaced, values as DynamoDB's JSON.
fn readable(expression: &Expression) -> String {
    let mut text = expression.text.clone();
    // The longer first: `#u1` is the beginning of `#u10`.
    for (placeholder, name) in expression.names.iter().rev() {
        assert!(text.contains(placeholder), "{placeholder} is used");
        text = text.replace(placeholder, name);
    }
    for (placeholder, value) in expression.values.iter().rev() {
        assert!(text.contains(placeholder), "{placeholder} is used");
        text = text.replace(placeholder, &dynamo(value).to_string());
    }
    text
}

#[track_caller]
fn assert_text(update: &Update, arguments: Value, text: &str) {
    let expression = changes(update, arguments).unwrap().expression();
    assert_eq!(expression.as_ref().map(readable).unwrap_or_default(), text);
}

/// An attribute in DynamoDB's JSON.
fn dynamo(attribute: &Attribute) -> Value {
    match attribute {
        Attribute::S(text) => json!({ "S": text }),
        Attribute::N(number) => json!({ "N": number }),
        Attribute::B(bytes) => json!({ "B": crate::execute::values::decode::base64(bytes) }),
        Attribute::Bool(bool) => json!({ "BOOL": bool }),
        Attribute::Null => json!({ "NULL": true }),
        Attribute::Ss(texts) => json!({ "SS": texts }),
        Attribute::Ns(numbers) => json!({ "NS": numbers }),
        Attribute::Bs(all) => {
            json!({ "BS": all.iter().map(|bytes| crate::execute::values::decode::base64(bytes)).collect::<Vec<_>>() })
        }
        Attribute::L(elements) => json!({ "L": elements.iter().map(dynamo).collect::<Vec<_>>() }),
        Attribute::M(map) => json!({ "M": dynamo_item(map) }),
    }
}

fn dynamo_item(item: &Item) -> Value {
    item.iter().map(|(name, value)| (name.to_string(), dynamo(value))).collect::<Map<_, _>>().into()
}

fn typed<Q: DeserializeOwned>(request: Value) -> Q {
    serde_json::from_value(request).unwrap()
}

/// The item, in DynamoDB's JSON without the key, after an UpdateItem with this expression; or the engine's refusal.
fn updated(before: &Value, expression: &Expression) -> Result<Value, String> {
    let database = Database::memory().unwrap();
    let create = json!({
        "TableName": "things", "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{ "AttributeName": "k", "AttributeType": "S" }],
        "KeySchema": [{ "AttributeName": "k", "KeyType": "HASH" }],
    });
    database.create_table(typed(create)).unwrap();
    let mut item = before.clone();
    item["k"] = json!({ "S": "1" });
    database.put_item(typed(json!({ "TableName": "things", "Item": item }))).unwrap();
    let mut update = json!({ "TableName": "things", "Key": { "k": { "S": "1" } }, "UpdateExpression": expression.text, "ReturnValues": "ALL_NEW" });
    update["ExpressionAttributeNames"] = json!(expression.names);
    if !expression.values.is_empty() {
        update["ExpressionAttributeValues"] =
            expression.values.iter().map(|(name, value)| (name.clone(), dynamo(value))).collect::<Map<_, _>>().into();
    }
    let answer = database.update_item(typed(update)).map_err(|refusal| refusal.to_string())?;
    let mut after = serde_json::to_value(answer).unwrap()["Attributes"].take();
    after.as_object_mut().unwrap().remove("k");
    Ok(after)
}

#[track_caller]
fn assert_effect(update: &Update, arguments: Value, before: Value, after: Value) {
    let expression = changes(update, arguments).unwrap().expression().expect("something is changed");
    assert_eq!(updated(&before, &expression), Ok(after), "{}", readable(&expression));
}

#[test]
fn set_writes_values_as_they_are_kept() {
    let update = set(&[
        ("size", SetValue::Operand(argument("size", ValueType::Decimal))),
        ("until", SetValue::Operand(Operand::Now(ArgumentType(ValueType::DateTime(Moment::EpochSeconds))))),
        ("status", SetValue::Operand(Operand::Literal(json!("new"), ArgumentType(ValueType::String)))),
        ("copy", SetValue::Operand(Operand::Path(path("old.0.name")))),
    ]);
    assert_text(
        &update,
        json!({ "size": "1.50" }),
        r#"SET size = {"N":"1.5"}, until = {"N":"1795167000"}, status = {"S":"new"}, copy = old[0].name"#,
    );
    let before = json!({ "old": { "L": [{ "M": { "name": { "S": "x" } } }] } });
    let mut after = before.clone();
    for (name, value) in
        [("size", json!({ "N": "1.5" })), ("until", json!({ "N": "1795167000" })), ("status", json!({ "S": "new" }))]
    {
        after[name] = value;
    }
    after["copy"] = json!({ "S": "x" });
    assert_effect(&update, json!({ "size": "1.50" }), before, after);
}

#[test]
fn the_time_is_cut_to_what_a_field_keeps() {
    let kinds = ["AWSDateTime", "AWSDate", "AWSTime", "AWSTimestamp"].map(ValueType::from_scalar);
    let form = TimeForm::parse("%d/%m/%Y").unwrap();
    let coarse = ValueType::DateTime(Moment::Text).in_form(form).unwrap();
    let names = ["instant", "day", "clock", "epoch"];
    let now = |kind: &ValueType| SetValue::Operand(Operand::Now(ArgumentType(kind.clone())));
    let mut changed: Vec<(&str, SetValue)> = names.into_iter().zip(kinds.iter().map(now)).collect();
    changed.push(("coarse", now(&coarse)));
    assert_text(
        &set(&changed),
        json!({}),
        r#"SET instant = {"S":"2026-11-20T09:30:00.000Z"}, day = {"S":"2026-11-20"}, clock = {"S":"09:30:00.000Z"}, epoch = {"N":"1795167000"}, coarse = {"S":"20/11/2026"}"#,
    );
}

#[test]
fn embedded_objects_are_written_in_stored_names() {
    let food = json!({ "id": "f", "name": "Milk", "unit": null, "category": "dairy", "createdAt": NOW });
    let update = set(&[(
        "Foods",
        append(
            SetValue::Operand(Operand::Path(path("Foods"))),
            argument("input.foods", ValueType::Embedded("Food".into())),
        ),
    )]);
    let kept = json!({ "M": { "FoodId": { "S": "f" }, "Name": { "S": "Milk" }, "Category": { "S": "dairy" }, "CreatedAt": { "S": NOW } } });
    assert_effect(
        &update,
        json!({ "input": { "foods": [food] } }),
        json!({ "Foods": { "L": [] } }),
        json!({ "Foods": { "L": [kept] } }),
    );
    let unknown = changes(&update, json!({ "input": { "foods": [{ "weight": 1 }] } })).unwrap_err();
    assert_eq!(
        unknown,
        "Argument \"input.foods\" does not fit its use in the update: Food has no stored field of this name."
    );
}

#[test]
fn null_removes_and_what_is_not_given_stays() {
    let name = set(&[("name", SetValue::Operand(argument("name", ValueType::String)))]);
    assert_text(&name, json!({ "name": null }), "REMOVE name");
    assert_text(&name, json!({}), "");
    assert_effect(
        &name,
        json!({ "name": null }),
        json!({ "name": { "S": "a" }, "x": { "N": "1" } }),
        json!({ "x": { "N": "1" } }),
    );
    let none = set(&[("name", SetValue::Operand(Operand::Literal(Value::Null, ArgumentType(ValueType::String))))]);
    assert_text(&none, json!({}), "REMOVE name");
    let tags = set(&[("tags", SetValue::Operand(argument("tags", texts())))]);
    assert_text(&tags, json!({ "tags": [] }), "REMOVE tags");
    assert_text(&tags, json!({ "tags": ["a", "a"] }), r#"SET tags = {"SS":["a"]}"#);
}

#[test]
fn numbers_are_calculated_with() {
    let pay = set(&[(
        "coins",
        SetValue::Minus(
            SetValue::Operand(Operand::Path(path("coins"))).into(),
            SetValue::Operand(argument("cost", ValueType::Int)).into(),
        ),
    )]);
    assert_effect(&pay, json!({ "cost": 30 }), json!({ "coins": { "N": "100" } }), json!({ "coins": { "N": "70" } }));
    for arguments in [json!({ "cost": null }), json!({})] {
        assert_eq!(
            changes(&pay, arguments).unwrap_err(),
            "Argument \"cost\" is null, but the update calculates with it."
        );
    }
    let unfit = changes(&pay, json!({ "cost": "much" })).unwrap_err();
    assert_eq!(
        unfit,
        "Argument \"cost\" does not fit its use in the update: Int cannot be \"much\": it is an integer of 32 bits."
    );
    let count = SetValue::IfNotExists(
        path("n"),
        Box::new(SetValue::Operand(Operand::Literal(json!(0), ArgumentType(ValueType::Int)))),
    );
    let count = set(&[("n", SetValue::Plus(count.into(), SetValue::Operand(argument("by", ValueType::Int)).into()))]);
    assert_effect(&count, json!({ "by": 2 }), json!({}), json!({ "n": { "N": "2" } }));
    assert_effect(&count, json!({ "by": 2 }), json!({ "n": { "N": "5" } }), json!({ "n": { "N": "7" } }));
    let itself = set(&[("n", plus(Operand::Path(path("n")), Operand::Path(path("n"))))]);
    assert_effect(&itself, json!({}), json!({ "n": { "N": "5" } }), json!({ "n": { "N": "10" } }));
}

#[test]
fn functions_drop_what_is_null() {
    let first = |of: &str| SetValue::IfNotExists(path(of), Box::new(SetValue::Operand(argument("x", ValueType::Int))));
    assert_text(&set(&[("a", first("a"))]), json!({ "x": null }), "");
    assert_text(&set(&[("a", first("a"))]), json!({ "x": 1 }), r#"SET a = if_not_exists(a, {"N":"1"})"#);
    let error = changes(&set(&[("a", first("b"))]), json!({ "x": null })).unwrap_err();
    assert_eq!(error, "Argument \"x\" is null, but the update uses it in place of a missing attribute.");
    let list = |of: &str| append(SetValue::Operand(Operand::Path(path(of))), argument("x", ValueType::Int));
    assert_text(&set(&[("a", list("a"))]), json!({ "x": null }), "");
    assert_text(&set(&[("a", list("b"))]), json!({ "x": null }), "SET a = b");
    assert_text(
        &set(&[("a", list("a"))]),
        json!({ "x": [1, 2] }),
        r#"SET a = list_append(a, {"L":[{"N":"1"},{"N":"2"}]})"#,
    );
}

#[test]
fn sets_and_counters_are_added_to() {
    let update = Update {
        add: vec![(path("tags"), argument("tags", texts())), (path("n"), argument("n", ValueType::Int))],
        delete: vec![(path("old"), argument("old", texts()))],
        remove: vec![path("gone")],
        ..Update::default()
    };
    assert_text(
        &update,
        json!({ "tags": ["a"], "n": 2, "old": "b" }),
        r#"REMOVE gone ADD tags {"SS":["a"]}, n {"N":"2"} DELETE old {"SS":["b"]}"#,
    );
    assert_text(&update, json!({ "tags": [], "n": null, "old": null }), "REMOVE gone");
    assert_text(&update, json!({}), "REMOVE gone");
    let before = json!({ "gone": { "BOOL": true }, "n": { "N": "1" }, "old": { "SS": ["b", "c"] } });
    let after = json!({ "n": { "N": "3" }, "old": { "SS": ["c"] }, "tags": { "SS": ["a"] } });
    assert_effect(&update, json!({ "tags": ["a"], "n": 2, "old": ["b"] }), before, after);
    let nulls = changes(&update, json!({ "tags": [null] })).unwrap_err();
    assert!(nulls.contains("It cannot hold null, because it is stored as a set."), "{nulls}");
}

#[test]
fn further_changes_never_name_a_path_twice() {
    let update = set(&[
        ("a.b", SetValue::Operand(argument("x", ValueType::Int))),
        ("c", SetValue::Operand(argument("gone", ValueType::Int))),
    ]);
    let mut changes = changes(&update, json!({ "x": 1, "gone": null })).unwrap();
    let one = || Attribute::N("1".into());
    assert!(!changes.set(&attribute("a"), one()), "it holds a.b");
    assert!(!changes.set(&path("a.b.c").segments, one()), "it is inside of a.b");
    assert!(!changes.remove(&attribute("c")), "it is removed already");
    assert!(!changes.set(&[], one()));
    assert!(
        changes.set(&path("a.d").segments, one())
            && changes.touches(&attribute("a"))
            && !changes.touches(&attribute("ab"))
    );
    assert!(
        changes.increment(&attribute("version"))
            && changes.append(&attribute("log"), vec![one()])
            && changes.remove(&attribute("e"))
    );
    let expression = changes.expression().unwrap();
    let before = json!({ "a": { "M": {} }, "c": { "S": "x" }, "e": { "S": "y" } });
    let after = json!({ "a": { "M": { "b": { "N": "1" }, "d": { "N": "1" } } }, "version": { "N": "1" }, "log": { "L": [{ "N": "1" }] } });
    assert_eq!(updated(&before, &expression), Ok(after.clone()), "{}", readable(&expression));
    let mut again = Changes::default();
    assert!(again.increment(&attribute("version")) && again.append(&attribute("log"), vec![Attribute::Bool(true)]));
    let again = updated(&after, &again.expression().unwrap()).unwrap();
    assert_eq!(
        (&again["version"], &again["log"]),
        (&json!({ "N": "2" }), &json!({ "L": [{ "N": "1" }, { "BOOL": true }] }))
    );
    let twice = set(&[
        ("a", SetValue::Operand(Operand::Path(path("b")))),
        ("a.c", SetValue::Operand(Operand::Path(path("b")))),
    ]);
    assert_eq!(
        super::Changes::new(
            &model(),
            (&twice, &[]),
            &Scope { arguments: &Map::new(), now: &now(), caller: &Caller::anonymous() },
            StoredForm::default()
        )
        .unwrap_err(),
        "The update names an attribute twice."
    );
}

#[test]
fn plain_updates_set_and_remove() {
    let set = vec![
        (path("Foods.1.Name").segments, Attribute::S("Butter".into())),
        (attribute("size"), Attribute::N("1".into())),
    ];
    let expression =
        plain(set, vec![path("Foods.1.Unit").segments, attribute("Foods"), attribute("old.name")]).unwrap();
    assert_eq!(
        readable(&expression),
        r#"SET Foods[1].Name = {"S":"Butter"}, size = {"N":"1"} REMOVE Foods[1].Unit, old.name"#
    );
    let food = |name: &str| json!({ "M": { "Name": { "S": name }, "Unit": { "S": "g" } } });
    let before = json!({ "Foods": { "L": [food("Milk"), food("Cheese")] }, "old.name": { "S": "x" } });
    let after =
        json!({ "Foods": { "L": [food("Milk"), { "M": { "Name": { "S": "Butter" } } }] }, "size": { "N": "1" } });
    assert_eq!(updated(&before, &expression), Ok(after));
    let element = plain(Vec::new(), vec![path("Foods.0").segments]).unwrap();
    assert_eq!(
        updated(&json!({ "Foods": { "L": [food("a"), food("b")] } }), &element),
        Ok(json!({ "Foods": { "L": [food("b")] } }))
    );
    assert_eq!(plain(Vec::new(), Vec::new()), None);
}

#[test]
fn reserved_words_and_many_names_have_placeholders() {
    let set = (0..12).map(|i| (attribute(&format!("select-{i}")), Attribute::N(format!("{}", i % 2).into()))).collect();
    let expression = plain(set, Vec::new()).unwrap();
    assert_eq!((expression.names.len(), expression.values.len()), (12, 2));
    assert!(!expression.text.contains("select"));
    assert_eq!(updated(&json!({}), &expression).unwrap().as_object().unwrap().len(), 12);
}
