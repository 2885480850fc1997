//! Conditions over the fields of a favorite: their meaning, the places of their mistakes, and that printing inverts
//! parsing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use crate::schema::expression::condition::*;
use crate::schema::expression::names::Names;
use crate::schema::expression::operand::ArgumentType;
use crate::schema::scalar::value_type::{EnumValues, Moment, ValueType};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::Arc;

/// Fields and arguments of every type. Stored names are the fields' in upper case where a test needs to see the
/// difference.
struct Favorites;

const FIELDS: [&str; 16] = [
    "title",
    "id",
    "type",
    "quantity",
    "count",
    "price",
    "flag",
    "clippedAt",
    "expiresAt",
    "day",
    "data",
    "tags",
    "notes",
    "foods",
    "address",
    "bytes",
];

fn status() -> ValueType {
    let stored = [("OPEN", "open"), ("DONE", "done")].map(|(name, text)| (name.to_owned(), text.to_owned()));
    ValueType::Enum(Arc::new(EnumValues { name: "Status".to_owned(), stored: stored.into_iter().collect() }))
}

fn field(name: &str) -> Option<(ValueType, bool)> {
    Some(match name {
        "title" => (ValueType::String, false),
        "id" => (ValueType::Id, false),
        "type" => (status(), false),
        "quantity" => (ValueType::Float, false),
        "count" => (ValueType::Int, false),
        "price" => (ValueType::Decimal, false),
        "flag" => (ValueType::Boolean, false),
        "clippedAt" => (ValueType::DateTime(Moment::Text), false),
        "expiresAt" => (ValueType::DateTime(Moment::EpochSeconds), false),
        "day" => (ValueType::Date, false),
        "data" => (ValueType::Json, false),
        "tags" => (ValueType::Set(Box::new(ValueType::String)), true),
        "notes" => (ValueType::String, true),
        "foods" => (ValueType::Embedded("Food".to_owned()), true),
        "address" => (ValueType::Embedded("Address".to_owned()), false),
        "bytes" => (ValueType::Binary, false),
        _ => return None,
    })
}

impl Names for Favorites {
    fn path(&self, fields: &[&str]) -> Result<(Vec<String>, ValueType, bool), (usize, Vec<String>)> {
        match fields {
            ["foods", "name"] => Ok((vec!["Foods".to_owned(), "Name".to_owned()], ValueType::String, false)),
            ["address", "city"] => Ok((vec!["address".to_owned(), "city".to_owned()], ValueType::String, false)),
            ["foods" | "address", ..] if fields.len() > 1 => Err((1, vec!["name".to_owned(), "city".to_owned()])),
            ["foods"] => Ok((vec!["Foods".to_owned()], ValueType::Embedded("Food".to_owned()), true)),
            [name] => field(name)
                .map(|(kind, list)| (vec![(*name).to_owned()], kind, list))
                .ok_or((0, FIELDS.map(str::to_owned).to_vec())),
            _ => Err((1, Vec::new())),
        }
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        match name {
            "search" => Ok((ValueType::String, false)),
            "statuses" => Ok((status(), true)),
            "words" => Ok((ValueType::String, true)),
            "at" => Ok((ValueType::DateTime(Moment::Text), false)),
            "cost" => Ok((ValueType::Int, false)),
            "ratio" => Ok((ValueType::Float, false)),
            "input.name" => Ok((ValueType::String, false)),
            _ => Err(["search", "statuses", "words", "at", "cost", "ratio"].map(str::to_owned).to_vec()),
        }
    }
}

fn parse(text: &str) -> Condition {
    Condition::parse(text, &Favorites).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:#?}"))
}

/// Each mistake's place and sentence.
fn mistakes(text: &str) -> Vec<(&str, String)> {
    let mistakes = Condition::parse(text, &Favorites).err().unwrap_or_default();
    mistakes.into_iter().map(|mistake| (&text[mistake.span], mistake.message)).collect()
}

#[test]
fn precedence_is_dynamodbs() {
    for (text, printed) in [
        ("title = 'a' or flag = true AND count = 1", "title = 'a' OR flag = true AND count = 1"),
        ("(title = 'a' OR flag = true) AND count = 1", "(title = 'a' OR flag = true) AND count = 1"),
        ("not title = 'a' and flag = true", "NOT title = 'a' AND flag = true"),
        ("NOT (title = 'a' AND flag = true)", "NOT (title = 'a' AND flag = true)"),
        ("count BETWEEN 1 AND 2 AND flag = true", "count BETWEEN 1 AND 2 AND flag = true"),
        ("(title = 'a' AND (flag = true AND ((count = 1))))", "title = 'a' AND flag = true AND count = 1"),
        ("NOT NOT flag = true", "NOT NOT flag = true"),
        ("size(title)>3", "size(title) > 3"),
        ("title IN('a',:search,'it''s')", "title IN ('a', :search, 'it''s')"),
        ("foods[0].name = 'x'", "Foods[0].Name = 'x'"),
        (
            "attribute_exists(address.city) AND attribute_not_exists(foods[3])",
            "attribute_exists(address.city) AND attribute_not_exists(Foods[3])",
        ),
        ("attribute_type(data, 'SS')", "attribute_type(data, 'SS')"),
        ("begins_with(clippedAt, '2026-')", "begins_with(clippedAt, '2026-')"),
        (
            "contains(tags, :search) AND contains(notes, 'x') AND contains(title, :input.name)",
            "contains(tags, :search) AND contains(notes, 'x') AND contains(title, :input.name)",
        ),
        ("price >= 12.50 AND quantity <> -0.5e1", "price >= 12.5 AND quantity <> -5"),
    ] {
        assert_eq!(parse(text).to_string(), printed);
    }
    let Condition::Or(either) = parse("flag = true OR flag = false AND count = 1 OR count = 2") else {
        panic!("an OR")
    };
    let [Condition::Compare(..), Condition::And(both), Condition::Compare(..)] = either.as_slice() else {
        panic!("an AND between two comparisons")
    };
    assert_eq!(both.len(), 2);
}

#[test]
fn values_are_kept_as_what_they_stand_against() {
    let kept = |text: &str| match parse(text) {
        Condition::Compare(_, _, operand) | Condition::BeginsWith(_, operand) | Condition::Contains(_, operand) => {
            operand
        }
        Condition::In(_, mut list) => list.remove(0),
        other => panic!("{other:?}"),
    };
    let literal = |value, kind| Operand::Literal(value, ArgumentType(kind));
    let argument = |name: &str, kind| Operand::Argument(name.to_owned(), ArgumentType(kind));
    for (text, operand) in [
        (
            "clippedAt > '2026-11-20T09:30:00+09:00'",
            literal(json!("2026-11-20T00:30:00.000Z"), ValueType::DateTime(Moment::Text)),
        ),
        ("expiresAt > :now", Operand::Now(ArgumentType(ValueType::DateTime(Moment::EpochSeconds)))),
        ("type = 'OPEN'", literal(json!("OPEN"), status())),
        ("type IN (:statuses)", argument("statuses", status())),
        ("price = 5", literal(json!("5"), ValueType::Decimal)),
        ("quantity = 5", literal(json!(5), ValueType::Float)),
        ("count > 1.5", literal(json!("1.5"), ValueType::Decimal)),
        ("count < 3000000000", literal(json!("3000000000"), ValueType::Decimal)),
        ("quantity > 0.10000000000000000000001", literal(json!("0.10000000000000000000001"), ValueType::Decimal)),
        ("count > :ratio", argument("ratio", ValueType::Float)),
        ("price > :cost", argument("cost", ValueType::Decimal)),
        ("id = :search", argument("search", ValueType::Id)),
        ("title = null", literal(Value::Null, ValueType::String)),
        ("data = 1.5", literal(json!(1.5), ValueType::Json)),
        ("data = :cost", argument("cost", ValueType::Int)),
        ("begins_with(day, :search)", argument("search", ValueType::String)),
        ("size(title) > 3", literal(json!(3), ValueType::Long)),
        ("tags = :words", argument("words", ValueType::Set(Box::new(ValueType::String)))),
        ("notes = :words", argument("words", ValueType::String)),
        ("contains(tags, 'x')", literal(json!("x"), ValueType::String)),
        ("bytes = 'AQID'", literal(json!("AQID"), ValueType::Binary)),
        (":cost > 5", literal(json!(5), ValueType::Int)),
        (":now > :at", argument("at", ValueType::DateTime(Moment::Text))),
    ] {
        assert_eq!(kept(text), operand, "{text}");
    }
    // `PartialEq` compares only the kind of a type.
    assert!(matches!(
        kept("expiresAt > :at"),
        Operand::Argument(_, ArgumentType(ValueType::DateTime(Moment::EpochSeconds)))
    ));
    assert!(matches!(kept("expiresAt > :now"), Operand::Now(ArgumentType(ValueType::DateTime(Moment::EpochSeconds)))));
}

#[test]
fn mistakes_are_reported_with_their_places() {
    for (text, place, sentence) in [
        ("titel = 'a'", "titel", "The field `titel` does not exist."),
        ("address.citty = 'a'", "citty", "The field `citty` does not exist."),
        ("title = :serch", ":serch", "The argument `serch` does not exist."),
        ("title = 5", "5", "5 cannot be compared with `title`, which is String."),
        ("count = '5'", "'5'", "'5' cannot be compared with `count`, which is Int."),
        ("flag = 'true'", "'true'", "'true' cannot be compared with `flag`, which is Boolean."),
        ("type = 'OPNE'", "'OPNE'", "Status cannot be \"OPNE\": it is one of OPEN, DONE."),
        ("type < 'OPEN'", "type < 'OPEN'", "`type` is Status, which has no order."),
        ("flag BETWEEN true AND false", "flag BETWEEN true AND false", "`flag` is Boolean, which has no order."),
        ("title < null", "title < null", "null has no order."),
        ("count BETWEEN 1 AND 'x'", "'x'", "'x' cannot be compared with `count`, which is Int."),
        ("title = :cost", ":cost", "`:cost` is Int and cannot be compared with `title`, which is String."),
        ("title = :words", ":words", "`:words` is [String] and cannot be compared with `title`, which is String."),
        ("title = :now", ":now", "`:now` is DateTime and cannot be compared with `title`, which is String."),
        (
            "clippedAt < expiresAt",
            "expiresAt",
            "`expiresAt` and `clippedAt` are not stored in the same form, so DynamoDB cannot compare them.",
        ),
        ("address = 'x'", "'x'", "'x' cannot be compared with `address`, which is Address."),
        ("begins_with(count, 'x')", "count", "begins_with is for text, but `count` is Int."),
        ("begins_with(expiresAt, 'x')", "expiresAt", "begins_with is for text, but `expiresAt` is DateTime."),
        ("contains(count, 1)", "count", "contains is for text and lists of single values, but `count` is Int."),
        ("contains(foods, 'x')", "foods", "contains is for text and lists of single values, but `foods` is [Food]."),
        ("size(flag) > 1", "flag", "`flag` is Boolean, which has no size."),
        ("size(title) = 'x'", "'x'", "'x' cannot be compared with `size(title)`, which is Long."),
        ("foods.name = 'x'", "foods", "`foods` is a list."),
        ("title[0] = 'x'", "title", "`title` is not a list, so it has no positions."),
        ("tags[0] = 'x'", "tags", "`tags` is not a list, so it has no positions."),
        ("foods[0][1].name = 'x'", "foods", "`foods` is a list, and its elements are not lists."),
        ("attribute_type(title, 'X')", "'X'", "The second argument of attribute_type must be a DynamoDB type."),
        ("attribute_exists(:search)", ":search", "Expected a field's name; found `:search`."),
        ("begin_with(title, 'x')", "begin_with", "The function `begin_with` does not exist."),
        ("lower(title) = 'x'", "lower", "The function `lower` does not exist."),
        ("title = lower(title)", "lower", "`lower` does not return a value to compare; only size(…) does."),
        ("title = title", "title = title", "`title` is compared with itself."),
        ("count BETWEEN 1 AND count", "count BETWEEN 1 AND count", "`count` is compared with itself."),
        (":cost IN (1, :cost)", ":cost IN (1, :cost", "`:cost` is compared with itself."),
        ("begins_with(title, null)", "null", "No text begins with null."),
        ("'a' = 'b'", "'a' = 'b'", "This compares constants. One side must be a field or an argument."),
        ("title", "", "Expected a comparison: = <> < <= > >=, BETWEEN or IN; the condition ends here."),
        ("", "", "Expected a field, an argument or a literal; the condition ends here."),
        ("title = ", "", "Expected a field, an argument or a literal; the condition ends here."),
        ("title = 'a' 'b'", "'b'", "Expected AND, OR or the end; found `'b'`."),
        ("title = 'a')", ")", "Expected AND, OR or the end; found `)`."),
        ("(title = 'a'", "", "Expected `)`; the condition ends here."),
        ("title = 'a", "'a", "This text is not closed. Write a quote inside text twice."),
        ("title == 'a'", "==", "A condition does not know `==`."),
        ("title != 'a'", "!=", "A condition does not know `!=`."),
        ("title = 'a' && flag = true", "&&", "A condition does not know `&&`."),
        ("title = \"a\"", "\"a\"", "Write text in single quotes."),
        ("#title = 'a'", "#title", "A condition does not know `#`."),
        ("title IN :words", ":words", "Expected `(`; found `:words`."),
        ("count BETWEEN 1, 2", ",", "Expected AND and the upper bound; found `,`."),
        ("and = 1", "and", "Expected a field, an argument or a literal; found `and`."),
        ("foods[x].name = 'a'", "x", "Expected a position in the list, from 0; found `x`."),
        (
            "count = 1e999",
            "1e999",
            "Decimal cannot be \"1e999\": it is outside of 1E-130 to 9.9E+125, the range of DynamoDB's numbers.",
        ),
        ("title = : search", ":", "Write an argument as a colon and its name."),
        ("é = 1", "é", "A condition does not know `é`."),
    ] {
        let found = mistakes(text);
        assert!(found.first().is_some_and(|(at, message)| *at == place && message == sentence), "{text}: {found:#?}");
    }
    assert_eq!(mistakes(&format!("count IN ({}1)", "1, ".repeat(100))).len(), 1);
    let help = |text| Condition::parse(text, &Favorites).unwrap_err().remove(0).help.unwrap().text;
    assert!(help("titel = 'a'") == "did you mean `title`?");
    assert_eq!(help("title = :words"), "To compare with each value of a list, use IN: `title IN (:words)`.");
    assert_eq!(help("foods.name = 'x'"), "Name one element by its position: `foods[0]`.");
}

#[test]
fn every_conjunct_has_its_mistake_reported() {
    let text = "titel = 'a' AND count 5 AND (flag < true OR size(count) = 1) AND title = 'a' 'b' AND begins_with(title) AND (a = 1 AND b = 2";
    let places: Vec<&str> = mistakes(text).into_iter().map(|(place, _)| place).collect();
    assert_eq!(places, ["titel", "5", "flag < true", "count", "'b'", ")", "a", "b", ""]);
    let places = |text| mistakes(text).into_iter().map(|(place, _)| place).collect::<Vec<_>>();
    assert_eq!(places("count 5 (a = 1 AND (b) = 2) AND nobody = 3"), ["5", "nobody"], "what is skipped is not judged");
    assert_eq!(mistakes("x = 1) AND y = 2").len(), 3);
    assert_eq!(mistakes("count BETWEEN 1 OR nobody = 2").len(), 2);
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("(", ")"), ("NOT ", ""), ("NOT (", ")")] {
        let text = format!("{}flag = true{}", open.repeat(10_000), close.repeat(10_000));
        let found = mistakes(&text);
        assert!(found.iter().any(|(_, message)| message == "This is nested more than 64 levels deep."), "{found:?}");
        assert!(found.len() < 100);
        parse(&format!("{}flag = true{}", open.repeat(32), close.repeat(32)));
    }
    assert!(mistakes(&")".repeat(10_000)).len() < 10_000);
    parse(&vec!["flag = true"; 10_000].join(" AND "));
}

#[test]
fn null_arguments_take_their_conjuncts_along() {
    let condition = parse(
        "contains(title, :search) AND (type IN (:statuses) AND (count > :cost OR flag = true)) AND clippedAt < :at",
    );
    assert_eq!(condition.arguments(), ["search", "statuses", "cost", "at"]);
    assert_eq!(condition.attributes(), ["title", "type", "count", "flag", "clippedAt"]);
    let without = |names: &[&str]| condition.without(&|name| names.contains(&name)).map(|left| left.to_string());
    assert_eq!(without(&[]).unwrap(), condition.to_string());
    assert_eq!(without(&["search", "cost"]).as_deref(), Some("type IN (:statuses) AND clippedAt < :at"));
    assert_eq!(without(&["search", "statuses", "cost"]).as_deref(), Some("clippedAt < :at"));
    assert_eq!(without(&["search", "statuses", "cost", "at"]), None);
    let either = parse("title = :search OR count = :cost OR foods[0].name = title");
    assert_eq!(either.without(&|name| name == "cost"), None);
    assert_eq!(either.without(&|_| false), Some(either.clone()));
    assert_eq!(either.attributes(), ["title", "count", "Foods"]);
}

/// Conditions as the parser makes them: no chain is directly within a chain of the same keyword.
fn conditions() -> impl Strategy<Value = Condition> {
    let leaf = prop::sample::select(vec![
        "title = 'it''s %'",
        "count < -5",
        "price <> 12.5",
        "quantity >= :cost",
        "type IN ('OPEN', :statuses)",
        "clippedAt BETWEEN :at AND :now",
        "attribute_exists(foods[2].name)",
        "attribute_not_exists(address)",
        "begins_with(id, :search)",
        "contains(tags, 'é')",
        "attribute_type(data, 'M')",
        "size(foods) > size(title)",
        "flag = false",
        "data = null",
    ])
    .prop_map(parse);
    leaf.prop_recursive(4, 24, 4, |inner| {
        let many = || prop::collection::vec(inner.clone(), 2..4);
        let flat_and =
            many().prop_filter("no AND in an AND", |all| !all.iter().any(|one| matches!(one, Condition::And(_))));
        let flat_or =
            many().prop_filter("no OR in an OR", |all| !all.iter().any(|one| matches!(one, Condition::Or(_))));
        prop_oneof![
            flat_and.prop_map(Condition::And),
            flat_or.prop_map(Condition::Or),
            inner.clone().prop_map(|one| Condition::Not(Box::new(one)))
        ]
    })
}

proptest! {
    #[test]
    fn what_is_printed_is_read(condition in conditions()) {
        // Only `foods` has stored names that differ from the API's.
        let text = condition.to_string().replace("Foods", "foods").replace("Name", "name");
        prop_assert_eq!(parse(&text), condition);
    }

    #[test]
    fn no_text_panics_and_mistakes_are_in_it(text in "\\PC*|([a-z]{1,3}|title|count|=|<|AND|OR|NOT|IN|BETWEEN|\\(|\\)|\\[|\\]|'|:at|:now|,|\\.|5| |size|contains){0,20}") {
        if let Err(mistakes) = Condition::parse(&text, &Favorites) {
            prop_assert!(!mistakes.is_empty());
            for mistake in mistakes {
                prop_assert!(text.get(mistake.span).is_some());
            }
        }
    }
}
