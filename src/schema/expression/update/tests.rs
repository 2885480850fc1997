//! Updates over the fields of a player: their meaning, the places of their mistakes, and that printing inverts parsing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use crate::schema::expression::names::{ConditionMistake, Named, Names};
use crate::schema::expression::update::parser::parse;
use crate::schema::expression::update::reader::UpdateNames;
use crate::schema::expression::update::*;
use crate::schema::scalar::value_type::{Moment, ValueType};
use crate::schema::types::values;
use proptest::prelude::*;

/// Fields and arguments of every type. Stored names begin with a capital.
struct Player;

fn field(names: &[&str]) -> Option<(ValueType, bool)> {
    Some(match names {
        ["name"] | ["address", "city"] | ["moves", "by"] => (ValueType::String, false),
        ["coins" | "health"] => (ValueType::Int, false),
        ["weight"] => (ValueType::Float, false),
        ["price"] => (ValueType::Decimal, false),
        ["seen"] => (ValueType::DateTime(Moment::Text), false),
        ["expires"] => (ValueType::DateTime(Moment::EpochSeconds), false),
        ["notes"] => (ValueType::String, true),
        ["moves"] => (ValueType::Embedded("Move".into()), true),
        ["address"] => (ValueType::Embedded("Address".into()), false),
        ["tags"] => (ValueType::Set(Box::new(ValueType::String)), true),
        ["data"] => (ValueType::Json, false),
        ["rank"] => (ValueType::Int, false),
        _ => return None,
    })
}

impl Names for Player {
    fn path(&self, fields: &[&str]) -> Result<Named, (usize, Vec<String>)> {
        let (kind, list) = field(fields).ok_or((fields.len() - 1, vec!["name".to_owned(), "coins".to_owned()]))?;
        Ok((fields.iter().map(|name| name[..1].to_uppercase() + &name[1..]).collect(), kind, list))
    }

    fn argument(&self, name: &str) -> Result<(ValueType, bool), Vec<String>> {
        Ok(match name {
            "cost" | "maybe" => (ValueType::Int, false),
            "ratio" => (ValueType::Float, false),
            "text" | "input.name" => (ValueType::String, false),
            "texts" => (ValueType::String, true),
            "move" => (ValueType::Embedded("MoveInput".into()), false),
            "more" => (ValueType::Embedded("MoveInput".into()), true),
            "at" => (ValueType::DateTime(Moment::Text), false),
            _ => return Err(vec!["cost".to_owned()]),
        })
    }
}

impl UpdateNames for Player {
    fn is_non_null(&self, fields: &[&str]) -> bool {
        matches!(fields, ["name"] | ["coins"] | ["moves"])
    }
    fn may_be_null(&self, argument: &str) -> bool {
        argument == "maybe"
    }
    fn writable(&self, from: &ValueType, to: &ValueType) -> Result<(), String> {
        let inner = |kind: &ValueType| match kind {
            ValueType::Set(element) => (**element).clone(),
            other => other.clone(),
        };
        let fits = match (from, to) {
            (_, ValueType::Json) => true,
            (ValueType::Embedded(from), ValueType::Embedded(to)) => from.trim_end_matches("Input") == to,
            _ => values::fits(&inner(from), &inner(to)),
        };
        if fits { Ok(()) } else { Err(format!("{} is not {}", from.name(), to.name())) }
    }
    fn keys_only(&self, field: &str) -> bool {
        field == "rank"
    }
}

fn update(text: &str) -> Update {
    parse(text, &Player).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:#?}")).update
}

#[test]
fn what_is_printed_is_what_was_read() {
    for (text, printed) in [
        ("SET coins = coins - :cost", "SET Coins = Coins - :cost"),
        ("set coins=coins-1, health = health + 5", "SET Coins = Coins - 1, Health = Health + 5"),
        ("SET coins = -1", "SET Coins = -1"),
        ("SET coins = if_not_exists(coins, 0) + :cost", "SET Coins = if_not_exists(Coins, 0) + :cost"),
        ("SET name = :input.name, seen = :now, expires = :now", "SET Name = :input.name, Seen = :now, Expires = :now"),
        (
            "SET moves = list_append(if_not_exists(moves, []), :more)",
            "SET Moves = list_append(if_not_exists(Moves, []), :more)",
        ),
        ("SET moves[0].by = 'it''s', address.city = :text", "SET Moves[0].By = 'it''s', Address.City = :text"),
        ("SET moves[3] = :move", "SET Moves[3] = :move"),
        ("REMOVE address, moves[1] SET price = 1.50", "SET Price = 1.5 REMOVE Address, Moves[1]"),
        ("ADD coins :cost, tags 'x'", "ADD Coins :cost, Tags [\"x\"]"),
        ("ADD coins 2, tags :texts", "ADD Coins 2, Tags :texts"),
        ("ADD coins -2 SET health = health -1", "SET Health = Health - 1 ADD Coins -2"),
        ("DELETE tags :text", "DELETE Tags :text"),
        ("SET health = :maybe, data = :cost, weight = :cost", "SET Health = :maybe, Data = :cost, Weight = :cost"),
        ("SET address = null", "SET Address = null"),
    ] {
        assert_eq!(update(text).to_string(), printed);
    }
}

#[test]
fn changes_are_known_where_a_plain_value_is_set() {
    let changes =
        update("SET coins = coins + 1, name = 'a', rank = :cost, moves[0].by = 'b' REMOVE address, seen").changes;
    let shown: Vec<String> = changes
        .iter()
        .map(|(field, to)| format!("{field}: {}", to.as_ref().map_or("?".to_owned(), ToString::to_string)))
        .collect();
    assert_eq!(shown, ["coins: ?", "name: 'a'", "rank: :cost", "moves: ?", "address: null", "seen: null"]);
}

#[test]
fn a_field_that_only_keys_hold_is_changed_and_not_set() {
    let update = update("SET rank = :cost, name = 'a'");
    assert_eq!(update.to_string(), "SET Name = 'a'");
    assert_eq!(update.changes.keys().collect::<Vec<_>>(), ["rank", "name"]);
    assert_eq!(update.arguments(), ["cost"]);
}

#[test]
fn a_single_literal_is_a_set_of_one() {
    let update = update("ADD tags 'x'");
    let (_, operand) = &update.add[0];
    let Operand::Literal(value, kind) = operand else { panic!("a literal") };
    assert!(*value == serde_json::json!(["x"]) && matches!(kind.0, ValueType::Set(_)));
}

#[track_caller]
fn assert_mistakes(text: &str, expected: &[(&str, &str)]) {
    let mistakes = parse(text, &Player).err().unwrap_or_default();
    let found: Vec<(&str, &str)> =
        mistakes.iter().map(|mistake| (&text[mistake.span.clone()], mistake.message.as_str())).collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn mistakes_are_reported_where_they_stand() {
    assert_mistakes("", &[("", "Expected SET, REMOVE, ADD or DELETE; the expression ends here.")]);
    assert_mistakes("coins = 1", &[("coins", "An expression begins with SET, REMOVE, ADD or DELETE.")]);
    assert_mistakes(
        "SET coin = 1, name = 2",
        &[("coin", "The field `coin` does not exist."), ("2", "2 cannot be written to `name`, which is String.")],
    );
    assert_mistakes("SET name = :txt", &[("txt", "")].map(|_| (":txt", "The argument `txt` does not exist.")));
    assert_mistakes("SET coins = :ratio", &[(":ratio", "`:ratio` cannot be written to `coins`: Float is not Int.")]);
    assert_mistakes("SET coins = 0.5", &[("0.5", "0.5 is not Int, but `coins` is.")]);
    assert_mistakes("SET coins = coins - 1 - 2", &[("coins - 1 ", "A value has at most one + or -.")]);
    let why =
        "`:maybe` may be null, but the expression writes it to `coins`, and null cannot take part in a calculation.";
    assert_mistakes("SET coins = coins + :maybe", &[(":maybe", why)]);
    assert_mistakes(
        "SET coins = null REMOVE name",
        &[("null", "`coins` is never null."), ("name", "`name` is never null, so the expression cannot remove it.")],
    );
    assert_mistakes("SET name = 'a', name = 'b'", &[("name", "The expression writes `name`, or a part of it, twice.")]);
    assert_mistakes(
        "SET address.city = 'a' REMOVE address",
        &[("address", "The expression writes `address`, or a part of it, twice.")],
    );
    assert_mistakes("SET coins = 1 SET health = 2", &[("SET", "`SET` occurs twice.")]);
    assert_mistakes("ADD name 1", &[("name", "ADD is for numbers and sets, but `name` is String.")]);
    assert_mistakes("DELETE notes 'x'", &[("notes", "DELETE is for sets, but `notes` is [String].")]);
    assert_mistakes("ADD coins health", &[("health", "ADD and DELETE take an argument or a literal.")]);
    assert_mistakes(
        "SET tags = list_append(tags, :texts)",
        &[("list_append", "list_append returns a list, but `tags` is not a list.")],
    );
    assert_mistakes("SET name = upper(name)", &[("upper", "`upper` is not a function of update expressions.")]);
    assert_mistakes(
        "SET seen = expires",
        &[("expires", "`expires` cannot be written to `seen`: they are not stored in the same form.")],
    );
    assert_mistakes(
        "SET notes = :text",
        &[(":text", "`:text` cannot be written to `notes`: only one of them is a list.")],
    );
    assert_mistakes(
        "SET coins = 1 * 2",
        &[("*", "An expression does not know `*`."), ("2", "Expected a comma, another clause or the end; found `2`.")],
    );
    assert_mistakes("SET coins = size(name)", &[("size", "`size` is not a function of update expressions.")]);
    assert_mistakes("SET coins 1", &[("1", "Expected `=` and a value; found `1`.")]);
    let deep = format!("SET coins = {}0{}", "if_not_exists(coins, ".repeat(40), ")".repeat(40));
    assert!(parse(&deep, &Player).is_err_and(|mistakes| mistakes[0].message.contains("levels deep")));
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(SET |REMOVE |ADD |DELETE |coins|name|moves|tags|:cost|:text|'x'|1|[ =+,.()\\[\\]-]|if_not_exists|list_append|[a-zé]){0,24}") {
        match parse(&text, &Player) {
            Ok(parsed) => prop_assert!(!parsed.update.changes.is_empty()),
            Err(mistakes) => {
                let is_within = |mistake: &ConditionMistake| text.get(mistake.span.clone()).is_some();
                prop_assert!(!mistakes.is_empty() && mistakes.iter().all(is_within));
            }
        }
    }
}
