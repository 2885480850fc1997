//! Templates: the texts, mistakes and proofs that the designs need.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use super::*;
use crate::schema::keys::text_limits::text_limits;
use crate::schema::model::rules::{Constraint, Format};
use crate::schema::scalar::claim_text;
use crate::schema::scalar::date_time::clock_text;
use crate::schema::scalar::value_type::{EnumValues, Moment};
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::TemplateMistakeKind;
use serde_json::json;
use std::sync::Arc;

mod law_tests;
mod overlap_tests;

fn choice(name: &str, stored: &[(&str, &str)]) -> ValueType {
    let stored = stored.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    ValueType::Enum(Arc::new(EnumValues { name: name.to_owned(), stored }))
}

/// The fields that the tests' templates use.
fn resolve(name: &str) -> Option<ValueType> {
    Some(match name {
        "id" | "userId" | "groupId" | "containerId" | "tagId" | "favoriteId" => ValueType::Id,
        "name" => ValueType::String,
        "n" | "score" => ValueType::Int,
        "big" => ValueType::Long,
        "float" => ValueType::Float,
        "price" => ValueType::Decimal,
        "flag" => ValueType::Boolean,
        "at" | "createdAt" => ValueType::DateTime(Moment::Text),
        "date" => ValueType::Date,
        "sec" | "micro" | "stamp" | "millis" => ValueType::DateTime(Moment::Text),
        "local" => ValueType::LocalDateTime,
        "day" | "week" => ValueType::Date,
        "word" | "code" | "abc" | "digits" | "small" | "tiny" | "pair" | "wide" | "hex" => ValueType::String,
        "ulid" => ValueType::Id,
        "bytes" => ValueType::Binary,
        "json" => ValueType::Json,
        "tags" => ValueType::Set(Box::new(ValueType::String)),
        "status" => choice("Status", &[("OPEN", "OPEN"), ("IN", "IN"), ("IN_PROGRESS", "IN_PROGRESS")]),
        "type" => choice("Type", &[("IMAGE", "image"), ("LINK", "link")]),
        "twice" => choice("Twice", &[("A", "a"), ("B", "a")]),
        "blank" => choice("Blank", &[("A", "")]),
        _ => return None,
    })
}

/// The limits of the fields that the tests' templates use.
fn limits_of(name: &str) -> Option<Limits> {
    let of_pattern = |pattern: &str| Constraint { pattern: Some(pattern.to_owned()), ..Constraint::default() };
    text_limits(&match name {
        "ulid" => Constraint { format: Some(Format::Ulid), ..Constraint::default() },
        "pair" => Constraint { min_length: Some(2), max_length: Some(2), ..Constraint::default() },
        "abc" => of_pattern("[a-c]{3}"),
        "digits" => of_pattern("[0-9]*"),
        "small" | "tiny" => of_pattern("[a-z_]{1,3}"),
        "wide" => of_pattern("[à-ü]{2}"),
        "hex" => of_pattern("[0-9A-F%]{0,3}"),
        _ => return None,
    })
}

fn template(text: &str) -> Template {
    Template::parse(text, &resolve, &limits_of, true).unwrap_or_else(|mistakes| panic!("{text}: {mistakes:?}"))
}

fn kinds(text: &str) -> Vec<(&str, TemplateMistakeKind)> {
    let mistakes = Template::parse(text, &resolve, &limits_of, true).err().unwrap_or_default();
    mistakes.into_iter().map(|mistake| (&text[mistake.span], mistake.kind)).collect()
}

fn render(text: &str, values: Value) -> Result<Option<String>, RenderMistake> {
    template(text).render(&|field| values.get(field).cloned())
}

/// A text where it stands.
struct Standing(&'static str);

impl AsPartValue for Standing {
    fn as_part_value(&self) -> PartValue<'_> {
        PartValue::Text(self.0)
    }
}

#[test]
fn a_text_makes_the_same_key_wherever_it_stands() {
    let forms = ["{name}", "{id}#A", "{status}", "{at}", "{date}", "{big}", "{n:04}", "{price}", "{flag}", "{bytes}"];
    let texts = ["", "a#b", "IN", "2026-11-20T09:30:00Z", "2026-11-20", "12", "-1", "true", "AAEC"];
    for (form, text) in forms.iter().flat_map(|form| texts.map(|text| (form, text))) {
        let own = template(form).render(&|_| Some(Value::from(text)));
        assert_eq!(template(form).render(&|_| Some(Standing(text))), own, "{form} of {text}");
    }
}

#[test]
fn keys_stand_as_designs_write_them() {
    for (text, values, key) in [
        ("{userId}", json!({ "userId": "a#b" }), "a#b"),
        ("Group#{groupId}", json!({ "groupId": "abc" }), "Group#abc"),
        ("User", json!({}), "User"),
        ("{status}_{date}", json!({ "status": "IN_PROGRESS", "date": "2018-10-03" }), "IN_PROGRESS_2018-10-03"),
        (
            "POST#{id}#{createdAt}",
            json!({ "id": "x", "createdAt": "2020-02-01T00:00:00.000Z" }),
            "POST#x#2020-02-01T00:00:00.000Z",
        ),
        (
            "FavoriteDataTag#{userId}#{tagId}#{type}",
            json!({ "userId": "u", "tagId": "#", "type": "LINK" }),
            "FavoriteDataTag#u#%23#link",
        ),
        ("item:assigned:{score:08}", json!({ "score": 87 }), "item:assigned:00000087"),
        ("v{n}#{id}", json!({ "n": -3, "id": "" }), "v-3#"),
        ("{{{id}}}", json!({ "id": "x" }), "{x}"),
        ("{price}", json!({ "price": "1.5" }), "1.5"),
        ("{flag}{date}", json!({ "flag": true, "date": "2018-10-03" }), "true2018-10-03"),
        ("{id}-{id}", json!({ "id": "x" }), "x-x"),
        ("{bytes}", json!({ "bytes": "AQID" }), "AQID"),
        ("T#{auth.tenant}#U#{id}", json!({ "auth.tenant": "a#U#b", "id": "a#U#b" }), "T#a%23U%23b#U#a#U#b"),
        ("{auth['custom:tenant']}", json!({ "auth[\"custom:tenant\"]": "a" }), "a"),
    ] {
        assert_eq!(render(text, values.clone()).unwrap().as_deref(), Some(key));
        let mut fields: Value = template(text).read(key).unwrap().into_iter().collect::<serde_json::Map<_, _>>().into();
        assert_eq!(fields.take(), values, "{text}");
    }
}

#[test]
fn null_and_missing_values_make_no_key() {
    assert_eq!(render("Group#{groupId}", json!({ "groupId": null })), Ok(None));
    assert_eq!(render("Group#{groupId}", json!({})), Ok(None));
}

#[test]
fn values_without_the_form_are_unfit() {
    for (text, field, value) in [
        ("{score:03}", "score", json!(1000)),
        ("{score:03}", "score", json!(-1)),
        ("{n}", "n", json!("x")),
        ("{type}", "type", json!("image")),
        ("{date}", "date", json!("2018-10-32")),
        ("{name}", "name", json!("x".repeat(2049))),
        ("{name}#", "name", json!("#".repeat(700))),
    ] {
        match render(text, json!({ field: value })) {
            Err(RenderMistake::Unfit(name, sentence)) => {
                assert!(name == field && sentence.ends_with('.'), "{sentence}")
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn text_of_another_template_is_not_read() {
    for (text, key) in [
        ("Group#{groupId}", "Group"),
        ("Group#{groupId}", "Container#1"),
        ("User", "Users"),
        ("{score:03}", "0001"),
        ("{score:03}", "-01"),
        ("{n}#", "007#"),
        ("{status}_{date}", "CLOSED_2018-10-03"),
        ("{status}_{date}", "IN_PROGRESS_2018-10-3"),
        ("{id}-{id}", "x-y"),
        ("{name}", &"x".repeat(2049)),
        ("é{date}", "é2018-10-0é"),
    ] {
        assert_eq!(template(text).read(key), None, "{text} {key}");
    }
}

#[test]
fn another_spelling_is_not_read_but_reported() {
    for (text, key, values) in [
        ("{at}#{id}", "2020-01-01T09:00+09:00#x", json!({ "at": "2020-01-01T00:00:00.000Z", "id": "x" })),
        ("{at}", "2020-01-01T00:00:00Z", json!({ "at": "2020-01-01T00:00:00.000Z" })),
        ("{at}", "2020-01-01T00:00:00.000000Z", json!({ "at": "2020-01-01T00:00:00.000Z" })),
        ("{price}#", "1.50#", json!({ "price": "1.5" })),
        ("{price}", "-0", json!({ "price": "0" })),
        ("{float}", "1e3", json!({ "float": 1000 })),
        ("{float}", "1E21", json!({ "float": 1e21 })),
        ("{float}", "0.10000000000000000001", json!({ "float": 0.1 })),
    ] {
        let fields: Value =
            template(text).read_any_spelling(key).unwrap().into_iter().collect::<serde_json::Map<_, _>>().into();
        assert_eq!(fields, values);
        assert_eq!(template(text).read(key), None, "{text} {key}");
        assert_eq!(template(text).split(key).unwrap().concat(), key);
    }
    // An escape that Keyfold would not write is the text itself.
    for (text, key) in [("{id}#x", "100%25#x"), ("{id}#x", "a%2f#x"), ("{id}#x", "%41%e3#x"), ("T#{id}", "T#%23")] {
        assert_eq!(
            template(text).read(key),
            Some(vec![("id".to_owned(), json!(key.trim_start_matches("T#").trim_end_matches("#x")))])
        );
    }
}

#[test]
fn braces_names_and_types_are_checked() {
    use TemplateMistakeKind::{Malformed, NotAKeyType, UnknownField};
    let malformed = [
        ("a{id", "{id"),
        ("a}b", "}"),
        ("{}", "{}"),
        ("{1}", "{1}"),
        ("{auth.}", "{auth.}"),
        ("{auth.tenant:08}", "{auth.tenant:08}"),
        ("{auth['a\"b']}", "{auth['a\"b']}"),
        ("{ id }", "{ id }"),
        ("{n:8}", "{n:8}"),
        ("{n:00}", "{n:00}"),
        ("{n:039}", "{n:039}"),
        ("{n:0}", "{n:0}"),
        ("{n:0+8}", "{n:0+8}"),
        ("{id:08}", "{id:08}"),
        ("{price:08}", "{price:08}"),
        ("", ""),
    ];
    for (text, place) in malformed {
        let found = kinds(text);
        assert!(
            matches!(found.as_slice(), [(at, Malformed(sentence))] if *at == place && sentence.ends_with('.')),
            "{text}: {found:?}"
        );
    }
    for text in [
        "{shard:1}",
        "{shard:101}",
        "{shard:010}",
        "{shard:}",
        "{shard:-5}",
        "{shard:+5}",
        "{replica:5a}",
        "{replica:999999999999}",
    ] {
        assert!(
            matches!(kinds(text).as_slice(), [(_, TemplateMistakeKind::Spread(sentence))] if sentence.ends_with('.')),
            "{text}"
        );
    }
    assert_eq!(kinds(&"{flag}".repeat(65)).len(), 1);
    assert_eq!(kinds(&"é".repeat(1025)).len(), 1);
    assert_eq!(
        kinds("{json}#{nobody}#{tags}"),
        [
            ("{json}", NotAKeyType("json".to_owned())),
            ("{nobody}", UnknownField("nobody".to_owned())),
            ("{tags}", NotAKeyType("tags".to_owned()))
        ]
    );
}

#[test]
fn what_cannot_be_inverted_is_refused() {
    for (text, place) in [
        ("{id}{name}", "{id}{name}"),
        ("{id}%", "{id}%"),
        ("{id}2020", "{id}2020"),
        ("{id}Data", "{id}Data"),
        ("{n}{id}", "{n}{id}"),
        ("{n}{date}", "{n}{date}"),
        ("{n}0", "{n}0"),
        ("{float}.x", "{float}.x"),
        ("{price}e", "{price}e"),
        ("{status}_{id}", "{status}_"),
        ("x{status}{id}", "{status}{id}"),
        ("{twice}", "{twice}"),
        ("{blank}x", "{blank}x"),
        ("x{bytes}", "{bytes}"),
        ("{auth.sub}-x", "{auth.sub}-x"),
        ("{auth.sub}{id}", "{auth.sub}{id}"),
    ] {
        let found = kinds(text);
        let [(at, TemplateMistakeKind::NotInvertible { why, .. })] = found.as_slice() else {
            panic!("{text}: {found:?}")
        };
        assert!(*at == place && why.ends_with('.'), "{text}: {found:?}");
    }
    assert_eq!(kinds("{id}{name}{n}5").len(), 3, "every mistake is reported");
    for text in [
        "{n}-{n}",
        "{n}.{id}",
        "{score:03}5",
        "{score:03}{id}",
        "{at}{id}",
        "{at}5",
        "{date}{at}",
        "{status}",
        "{status}#{id}",
    ] {
        template(text);
    }
}

const ULID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

#[test]
fn limits_show_where_a_text_ends() {
    for (text, values, key) in [
        ("account#{name}{ulid}", json!({ "name": "a#1", "ulid": ULID }), format!("account#a#1{ULID}")),
        ("account#{name}{ulid}", json!({ "name": "", "ulid": ULID }), format!("account#{ULID}")),
        ("{ulid}{name}", json!({ "ulid": ULID, "name": "%23" }), format!("{ULID}%23")),
        ("{small}{ulid}#{name}", json!({ "small": "a_", "ulid": ULID, "name": "#" }), format!("a_{ULID}##")),
        ("{small}{score:03}#", json!({ "small": "a", "score": 7 }), "a007#".to_owned()),
        ("{small}{digits}", json!({ "small": "abc", "digits": "" }), "abc".to_owned()),
        ("{abc}{name}", json!({ "abc": "abc", "name": "abc" }), "abcabc".to_owned()),
        ("{pair}{pair}x", json!({ "pair": "é%" }), "é%é%x".to_owned()),
        ("{small}5{name}", json!({ "small": "a", "name": "5" }), "a55".to_owned()),
        ("{hex}{wide}", json!({ "hex": "%23", "wide": "éü" }), "%23éü".to_owned()),
        ("{abc}A#{name}", json!({ "abc": "aaa", "name": "" }), "aaaA#".to_owned()),
        ("{name}{date}", json!({ "name": "2020", "date": "2018-10-03" }), "20202018-10-03".to_owned()),
    ] {
        assert_eq!(render(text, values.clone()).unwrap(), Some(key.clone()), "{text}");
        let fields: Value = template(text).read(&key).unwrap().into_iter().collect::<serde_json::Map<_, _>>().into();
        assert_eq!(fields, values, "{text}");
    }
    for (text, place) in [
        ("{small}{name}", "{small}{name}"),
        ("{name}{digits}", "{name}{digits}"),
        ("{name}{ulid}#{id}", "{name}{ulid}"),
        ("{small}{abc}#{id}{small}", "{id}{small}"),
        ("{digits}5", "{digits}5"),
        ("{name}{at}", "{name}{at}"),
        // An escape would make the text longer.
        ("{name}{pair}#x", "{name}{pair}"),
    ] {
        let found = kinds(text);
        assert!(
            matches!(found.as_slice(), [(at, TemplateMistakeKind::NotInvertible { .. })] if *at == place),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn a_value_that_breaks_limits_which_show_an_end_is_not_written() {
    for (text, values, broken) in [
        ("account#{name}{ulid}", json!({ "name": "", "ulid": "1" }), Some("ulid")),
        ("{small}5{name}", json!({ "small": "5", "name": "" }), Some("small")),
        ("{small}{digits}", json!({ "small": "a", "digits": "a" }), Some("digits")),
        ("{pair}{name}", json!({ "pair": "abc", "name": "" }), Some("pair")),
        // Nothing depends on these.
        ("{ulid}#{name}", json!({ "ulid": "1", "name": "" }), None),
        ("{name}#{ulid}", json!({ "name": "1", "ulid": "" }), None),
        ("{pair}{small}", json!({ "pair": "ab", "small": "5" }), None),
    ] {
        let written = template(text).render(&|field| values.get(field).cloned());
        match (written, broken) {
            (Err(RenderMistake::Unfit(field, sentence)), Some(broken)) => {
                assert!(field == broken && sentence.ends_with('.'), "{text}: {sentence}");
            }
            (written, broken) => assert!(broken.is_none() && written.is_ok(), "{text}: {written:?}"),
        }
    }
    let account = template("account#{name}{ulid}").relied_on();
    assert_eq!(account.read("account#Ann01arz3ndektsv4rrffq69g5fav"), None);
    let misspelling = account.misspelling("account#Ann01arz3ndektsv4rrffq69g5fav").unwrap();
    assert_eq!((misspelling.field.as_str(), misspelling.own), ("ulid", None));
}

#[test]
fn prefixes_are_exact_or_say_that_they_are_not() {
    let values = |field: &str| Some(json!(if field == "userId" { "u#" } else { "OPEN" }));
    for (text, parts, prefix, expected) in [
        ("{userId}#{name}", 2, "a#%", ("u%23#a#%", true)),
        ("{name}#x", 0, "ab", ("ab", true)),
        ("{name}#x", 0, "a#b", ("a", false)),
        ("{name}#x", 0, "50%", ("50", false)),
        ("{name}#x", 0, "", ("", true)),
        ("{status}_{date}", 2, "2018-", ("OPEN_2018-", true)),
        ("{status}_{date}_x", 2, "2018-10-03_x", ("OPEN_2018-10-03", false)),
        ("{status}#{n}", 2, "1", ("OPEN#", false)),
    ] {
        let found = template(text).render_begins_with(parts, prefix, &values).unwrap().unwrap();
        assert_eq!((found.0.as_str(), found.1), expected, "{text} {prefix}");
    }
    assert_eq!(template("{userId}#{name}").render_parts(2, &values), Ok(Some("u%23#".to_owned())));
    assert_eq!(template("{userId}#{name}").render_parts(1, &values), Ok(Some("u%23".to_owned())));
    assert_eq!(template("{userId}#{name}").render_parts(2, &|_| None::<Value>), Ok(None));
}

#[test]
fn fields_and_bare_numbers_are_reported() {
    assert_eq!(template("{id}#{n}#{id}").fields(), ["id", "n"]);
    assert_eq!(template("{score:08}#{n}").bare_number(), Some(("n".to_owned(), 2)));
    assert_eq!(template("{score:08}#{at}").bare_number(), None);
}

#[test]
fn shards_and_replicas_are_numbers_below_their_count_and_no_fields() {
    let votes = template("votes#{id}#{shard:10}");
    assert_eq!(votes.fields(), ["id"]);
    assert_eq!(votes.bare_number(), None);
    let of = |number: u64| votes.render(&|field| Some(if field == "shard:10" { json!(number) } else { json!("a#1") }));
    assert_eq!(of(9), Ok(Some("votes#a%231#9".to_owned())));
    assert!(matches!(of(10), Err(RenderMistake::Unfit(field, _)) if field == "shard:10"));
    for (key, read) in
        [("votes#a#0", true), ("votes#a#9", true), ("votes#a#10", false), ("votes#a#09", false), ("votes#a#", false)]
    {
        assert_eq!(votes.read(key), read.then(|| vec![("id".to_owned(), json!("a"))]), "{key}");
    }
    // A number that occurs twice in a template must be the same.
    let twice = template("{shard:10}#{id}#{shard:10}");
    assert_eq!(twice.read("3#a#3"), Some(vec![("id".to_owned(), json!("a"))]));
    assert_eq!(twice.read("3#a#4"), None);
    // A field named `shard` is an ordinary field and may be padded.
    let resolve = |name: &str| (name == "shard").then_some(ValueType::Int);
    for (text, fields) in [("{shard}", vec!["shard"]), ("{shard:03}", vec!["shard"]), ("x#{shard:3}", vec![])] {
        assert_eq!(Template::parse(text, &resolve, &|_| None, true).unwrap().fields(), fields, "{text}");
    }
    for (one, other, overlap) in [
        ("v#{shard:10}", "v#10", false),
        ("v#{shard:11}", "v#10", true),
        ("v#{shard:9}", "v#{shard:10}", true),
        ("v#{shard:10}", "v#1#x", false),
    ] {
        assert_eq!(template(one).overlaps(&template(other)), overlap, "{one} {other}");
    }
    for (text, place) in [
        ("{id}{shard:10}", "{id}{shard:10}"),
        ("{shard:10}{id}", "{shard:10}{id}"),
        ("{shard:10}5", "{shard:10}5"),
        ("{n}{shard:5}", "{n}{shard:5}"),
    ] {
        assert!(
            matches!(kinds(text).as_slice(), [(at, TemplateMistakeKind::NotInvertible { .. })] if *at == place),
            "{text}"
        );
    }
    assert_eq!(votes.without_spread().render(&|_| Some(json!("a#1"))), Ok(Some("votes#a%231#".to_owned())));
    assert_eq!(votes.numbered(3).read("votes#a%231#3"), Some(vec![("id".to_owned(), json!("a#1"))]));
    assert_eq!(votes.numbered(3).read("votes#a#4"), None);
}

#[test]
fn reading_takes_bounded_work() {
    let nested: Vec<(String, String)> = (1..20).map(|n| (format!("V{n}"), "a".repeat(n))).collect();
    let nested: Vec<(&str, &str)> = nested.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let kind = choice("Nested", &nested);
    // Built by hand: the checker refuses it because it has thousands of readings.
    let part = || Part::Placeholder { field: "x".to_owned(), value: kind.clone(), width: None, limits: None };
    let template = Template::made_of((0..60).map(|_| part()).collect());
    assert_eq!(template.read(&format!("{}b", "a".repeat(600))), None);
}
