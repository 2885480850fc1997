//! The laws of templates, tested on random templates; and the texts, mistakes and proofs that the designs need.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
use super::*;
use crate::schema::keys::text_limits::text_limits;
use crate::schema::model::rules::{Constraint, Format};
use crate::schema::scalar::claim_text;
use crate::schema::scalar::date_time::clock_text;
use crate::schema::scalar::value_type::{EnumValues, Moment};
use crate::schema::template::limits::TextEnd;
use crate::schema::template::part::TemplateMistakeKind;
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;

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
fn designs_are_distinguished() {
    for (one, other, overlap) in [
        ("Group#{groupId}", "Container#{containerId}", false),
        ("User", "Group", false),
        ("Group", "Group#{groupId}", false),
        ("{id}", "User", true),
        ("FavoriteData#{userId}", "FavoriteDataTag#{userId}#{favoriteId}", false),
        ("Tag#{userId}", "FavoriteData#{userId}", false),
        ("#METADATA#{userId}", "POST#{id}#{createdAt}", false),
        ("USER#{userId}", "POST#{id}#{createdAt}", false),
        ("item:assigned:{score:08}", "item:in-progress", false),
        ("item:completed:{at}", "item:orphaned:{at}", false),
        ("global-cycle:{n}", "user-cycle:{n}", false),
        ("{id}#a", "{id}#b", false),
        ("{date}", "{at}", false),
        ("{date}", "{n}", false),
        ("{score:08}", "{score:09}", false),
        ("{flag}", "{type}", false),
        ("{status}_{date}", "{type}_{date}", false),
        ("{status}_{date}", "IN_{id}", true),
        ("{n}", "{price}", true),
        ("{n}.{score}", "{price}", true),
        ("{at}", "{date}T{n}:{score}:{big}.{id}", true),
        ("x{float}", "x{n}e{score}", true),
        ("{id}#{name}", "{id}", true),
        ("v{n}#{id}", "{id}#TRACK#{n}", true),
        ("{id}#{score:03}", "{id}#{name}#{score:03}", false),
        ("{at}", "2026-{id}", true),
        ("{at}", "2026-01-01T00:00Z", false),
        ("{n}", "007", false),
        ("{price}", "1.50", false),
        ("{float}", "1e21", true),
    ] {
        assert_eq!(template(one).overlaps(&template(other)), overlap, "{one} {other}");
        assert_eq!(template(other).overlaps(&template(one)), overlap, "{other} {one}");
    }
}

#[test]
fn the_more_specific_template_is_within_the_other() {
    for (own, others, is_within) in [
        ("ORDER#{id}#ITEM#{n:03}", vec!["ORDER#{id}"], true),
        ("ORDER#{id}", vec!["ORDER#{id}#ITEM#{n:03}"], false),
        ("ORDER#{id}", vec!["ORDER#{name}"], true),
        ("ORDER#{id}#{name}", vec!["ORDER#{name}"], true),
        ("ORDER", vec!["{id}"], true),
        ("{date}", vec!["{at}", "{date}"], true),
        ("{date}T", vec!["{id}"], true),
        ("{score:03}", vec!["{n}"], false),
        ("{score:03}", vec!["{id}"], true),
        ("{n}", vec!["{price}"], true),
        ("{price}", vec!["{n}"], false),
        ("{price}", vec!["{float}"], true),
        ("{float}", vec!["{price}"], false),
        ("{status}", vec!["{id}"], true),
        ("{flag}", vec!["true", "false"], true),
        ("{flag}", vec!["true"], false),
        // The first `#` ends the first value, so the number is all that follows it.
        ("{id}#{name}#{score:03}", vec!["{id}#{score:03}"], false),
        ("{id}#{score:03}", vec!["{id}#{name}"], true),
        ("a#{id}#TRACK#{n}", vec!["a#{id}#TRACK#{name}", "b#{id}"], true),
        ("x{auth.sub}#1", vec!["x{id}"], true),
        // A text in one case has no letter of the other.
        ("taa", vec!["{word:lower}aa"], true),
        ("Taa", vec!["{word:lower}aa"], false),
        ("Taa", vec!["{code:upper}aa"], true),
        ("taa", vec!["{code:upper}aa"], false),
        ("{word:lower}#1", vec!["{word:lower}#{id}"], false),
        ("user#ann#X", vec!["user#{word:lower}#X"], true),
        ("user#Ann#X", vec!["user#{word:lower}#X"], false),
    ] {
        let others: Vec<Template> = others.into_iter().map(template).collect();
        assert_eq!(template(own).is_within(&others), is_within, "{own}");
    }
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

const FIELDS: [&str; 30] = [
    "id",
    "name",
    "n",
    "score:06",
    "big",
    "float",
    "price",
    "flag",
    "at",
    "date",
    "status",
    SHARD,
    "auth.tenant",
    "sec:%Y-%m-%dT%H:%M:%SZ",
    "micro:%Y-%m-%dT%H:%M:%S.%6f+02:00",
    "stamp:%s",
    "millis:%s%3f",
    "local:%Y%m%dT%H%M%S",
    "day:%d/%m/%Y",
    "week:%G-W%V",
    "word:lower",
    "code:upper",
    "ulid",
    "abc",
    "digits",
    "small",
    "pair",
    "wide",
    "hex",
    "tiny:upper",
];
const SHARD: &str = "shard:12";

/// The values of a field, with characters that may surround them in a key.
fn value_of(field: &str) -> BoxedStrategy<Value> {
    match field {
        "id" | "name" | "auth.tenant" => "[a#%_T0-]{0,5}|(%25|%23|%61|%5F|#a|\\PC){0,3}".prop_map(Value::from).boxed(),
        "ulid" => "[0-9A-FZ]{26}".prop_map(Value::from).boxed(),
        "abc" => "[a-c]{3}".prop_map(Value::from).boxed(),
        "digits" => "[0-9]{0,3}".prop_map(Value::from).boxed(),
        "small" | "tiny:upper" => "[a_T]{1,3}".prop_map(|text| Value::from(text.to_lowercase())).boxed(),
        "pair" => "[a#%é20]{2}".prop_map(Value::from).boxed(),
        "wide" => "[à-ü]{2}".prop_map(Value::from).boxed(),
        "hex" => "[0-9A-F%]{0,3}".prop_map(Value::from).boxed(),
        "n" => any::<i32>().prop_map(Value::from).boxed(),
        "score:06" => (0..1_000_000).prop_map(Value::from).boxed(),
        "big" => any::<i64>().prop_map(Value::from).boxed(),
        "float" => (-1e9..1e9).prop_map(|float: f64| ValueType::Float.coerce(&json!(float)).unwrap()).boxed(),
        "price" => {
            "-?[0-9]{1,9}(\\.[0-9]{1,9})?".prop_map(|text| ValueType::Decimal.coerce(&json!(text)).unwrap()).boxed()
        }
        SHARD => (0..12).prop_map(Value::from).boxed(),
        "flag" => any::<bool>().prop_map(Value::from).boxed(),
        "at" => (0..4_000_000_000_000_i64)
            .prop_map(|millis| json!(crate::schema::scalar::date_time::instant_text(millis)))
            .boxed(),
        "word:lower" | "code:upper" => {
            "[aZ#%_T0-]{0,4}|(%25|%23|#A|ß|İ|ﬁ|ΑΣ|Σ|ſ|K|\\PC){0,3}".prop_map(Value::from).boxed()
        }
        field if field.contains(":%") => {
            let Some(Part::Placeholder { value, .. }) = template(&format!("{{{field}}}")).parts.pop() else { panic!() };
            // All that every form can say.
            let times = (1_000_000_000_000_000_i64..4_000_000_000_000_000).prop_map(move |micros| {
                let clock =
                    clock_text(time::macros::datetime!(1970-01-01 0:00) + time::Duration::microseconds(micros), 6)
                        .unwrap();
                value.cut(&match value.in_api() {
                    ValueType::DateTime(_) => json!(clock + "Z"),
                    ValueType::Date => json!(clock[..10]),
                    _ => json!(clock),
                })
            });
            times.prop_map(|time| time.unwrap()).boxed()
        }
        "date" => (1000..9999, 1..13, 1..29)
            .prop_map(|(year, month, day)| json!(format!("{year}-{month:02}-{day:02}")))
            .boxed(),
        _ => prop::sample::select(vec![json!("OPEN"), json!("IN"), json!("IN_PROGRESS")]).boxed(),
    }
}

type Values = Vec<(&'static str, Value)>;

fn values() -> impl Strategy<Value = Values> {
    FIELDS
        .map(|field| {
            value_of(field)
                .prop_map(move |value| (if field == SHARD { SHARD } else { field.split(':').next().unwrap() }, value))
        })
        .to_vec()
}

/// Random templates that the checker accepts, with all limits or with those that they rely on.
fn templates() -> impl Strategy<Value = Template> {
    let literal =
        prop::sample::select(vec!["#", "_", "-", "##", "#a#", "a", "T", "_PROGRESS_", "é", "aa", ".", "5", "IN"])
            .prop_map(str::to_owned);
    let placeholder = prop::sample::select(FIELDS.to_vec()).prop_map(|field| format!("{{{field}}}"));
    let parts = prop::collection::vec(prop_oneof![literal, placeholder], 1..7);
    (parts, any::<bool>()).prop_filter_map("a template that cannot be inverted", |(parts, is_limited)| {
        let template = Template::parse(&parts.concat(), &resolve, &limits_of, true).ok()?;
        Some(if is_limited { template } else { template.relied_on() })
    })
}

fn key(template: &Template, values: &Values) -> String {
    let of = |name: &str| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
    template.render(&of).unwrap().unwrap()
}

/// The values that a key has of its fields: in one case, where it has them in one.
fn folded(template: &Template, values: &Values) -> Fields {
    let of = |name: &str| values.iter().find(|(field, _)| *field == name).unwrap().1.clone();
    let of = |name: &str| match template.case_of(name) {
        Some(case) => Value::from(case.fold(of(name).as_str().unwrap())),
        None => of(name),
    };
    let names = template.parts.iter().filter_map(|part| match part {
        Part::Placeholder { value: ValueType::Spread(_), .. } | Part::Literal(_) => None,
        Part::Placeholder { field, .. } => Some(field.as_str()),
    });
    let names: indexmap::IndexSet<&str> = names.collect();
    names.into_iter().map(|name| (name.to_owned(), of(name))).collect()
}

/// The values that a key gives back.
fn bound(template: &Template, values: &Values) -> Fields {
    folded(template, values).into_iter().filter(|(field, _)| template.case_of(field).is_none()).collect()
}

/// The values of which some are kept, and the others come from elsewhere.
fn mixed(values: &Values, others: &Values, is_kept: impl Fn(usize, &str) -> bool) -> Values {
    let both = values.iter().zip(others).enumerate();
    both.map(|(position, (value, other))| if is_kept(position, value.0) { value } else { other }.clone()).collect()
}

/// The shard's number, if the template has one.
fn shard(template: &Template, values: &Values) -> Option<Value> {
    template.spread().and_then(|_| values.iter().find(|(name, _)| *name == SHARD).map(|(_, value)| value.clone()))
}

#[test]
fn a_text_is_within_a_claim_if_a_claim_is_written_so() {
    let claim = [Template::parse("{auth.tenant}", &resolve, &limits_of, true).unwrap()];
    for text in [
        "",
        "a",
        "a-b|c",
        "%",
        "%2",
        "%23",
        "%25",
        "%41",
        "%2e",
        "%C3%A9",
        "%c3%a9",
        "%C3",
        "%A9",
        "%C1%81",
        "%E2%82%AC",
        "%E0%9F%BF",
        "%E0%A0%80",
        "%ED%9F%BF",
        "%ED%A0%80",
        "%EF%BF%BF",
        "%F0%8F%BF%BF",
        "%F0%90%80%80",
        "%F4%8F%BF%BF",
        "%F4%90%80%80",
        "%F5%80%80%80",
        "%7F",
        "%80",
        "%00",
        "a%20b",
        "a b",
        "é",
        "a%FFb",
    ] {
        let literal = Template::made_of(vec![Part::Literal(text.to_owned())]);
        assert_eq!(literal.is_within(&claim), claim_text::read(text).is_some(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        max_global_rejects: 100_000,
        max_local_rejects: 1_000_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_written_is_read(template in templates(), values in values()) {
        prop_assert_eq!(template.read(&key(&template, &values)), Some(bound(&template, &values)));
    }

    #[test]
    fn the_parts_of_a_key_joined_give_the_key(template in templates(), values in values()) {
        let key = key(&template, &values);
        let parts = template.split(&key).unwrap();
        prop_assert_eq!((parts.len(), parts.concat()), (template.parts.len(), key.clone()));
        let alone = |(part, text): (&Part, &str)| match part {
            Part::Literal(literal) => literal == text,
            Part::Placeholder { .. } => true,
        };
        prop_assert!(template.parts.iter().zip(parts).all(alone));
    }

    #[test]
    fn different_values_make_different_keys(template in templates(), one in values(), other in values()) {
        let same_shard = shard(&template, &one) == shard(&template, &other);
        let same = folded(&template, &one) == folded(&template, &other) && same_shard;
        prop_assert_eq!(key(&template, &one) == key(&template, &other), same);
    }

    #[test]
    fn no_text_panics_and_what_is_read_writes_the_same_text(template in templates(), text in "[a#_IN0-9T.:Z-]{0,12}|\\PC{0,12}|[0-9]{4}-0[1-9]-0[1-9]T00:00(:00(.0{1,6})?)?(Z|[+]00:00)|-?[0-9]{1,3}(.[0-9]{1,3})?(e[0-9]{1,2})?") {
        let any = template.read_any_spelling(&text);
        if let Some(fields) = &any {
            let folded = template.read_folded(&text).unwrap();
            prop_assert!(fields.iter().all(|field| folded.contains(field)));
            let field = |name: &str| folded.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone());
            // The number of the shard is no field, so it is taken from the text.
            let mut parts = template.parts.iter().zip(template.split(&text).unwrap());
            let number = parts.find(|(part, _)| spread_of(part).is_some());
            let shard = || number.map(|(_, text)| json!(text.parse::<u64>().unwrap()));
            let of = |name: &str| if name == SHARD { shard() } else { field(name) };
            // Reading returns no negative padded number, so writing cannot fail.
            let written = template.render(&of).unwrap().unwrap();
            let read = template.read(&text);
            prop_assert_eq!(read.is_some(), written == text);
            prop_assert_eq!(template.read(&written), any.clone());
            prop_assert!(read.is_none() || read == any);
        } else {
            prop_assert_eq!(template.read(&text), None);
        }
    }

    #[test]
    fn templates_that_do_not_overlap_share_no_key(one in templates(), other in templates(), values in values()) {
        if other.read(&key(&one, &values)).is_some() {
            prop_assert!(one.overlaps(&other) && other.overlaps(&one));
        }
    }

    #[test]
    fn limited_templates_that_do_not_overlap_share_no_key(one in templates(), other in templates(), values in values(), pattern in prop::sample::select(vec!["[^#]*", "[a-z0-9]{0,3}", "[^_T]+", "[^%]*", "[#_-]*", ".{2}"]), is_both in any::<bool>()) {
        let limits = text_limits(&Constraint { pattern: Some(pattern.to_owned()), ..Constraint::default() });
        let is_limited = |field: &str| field == "id" || is_both && ["name", "word", "code"].contains(&field);
        let of = |field: &str| if is_limited(field) { limits.clone() } else { None };
        let limited = |template: Template| {
            let case = |field| Some((field, template.case_of(field)?.clone()));
            let cases: Vec<(&str, Form)> = ["word", "code"].into_iter().filter_map(case).collect();
            template.limited(&|field, own| match (own, cases.iter().find(|(name, _)| *name == field)) {
                (Some(own), _) => Some(own.clone()),
                (None, Some((_, case))) => of(field).map(|limits| limits.folded(case)),
                (None, None) => of(field),
            })
        };
        let (one, other) = (limited(one), limited(other));
        let allows = |limits: &Limits, value: &Value| value.as_str().is_none_or(|text| limits.allow(text));
        let is_allowed = values.iter().all(|(field, value)| of(field).is_none_or(|limits| allows(&limits, value)));
        let key = key(&one, &values);
        if one.read(&key).is_some() && other.read(&key).is_some() {
            prop_assert!(one.overlaps(&other) && other.overlaps(&one));
        }
        if is_allowed {
            prop_assert_eq!(one.read(&key), Some(bound(&one, &values)));
        }
    }

    #[test]
    fn a_template_within_another_has_no_other_keys(one in templates(), other in templates(), values in values()) {
        // Numbers may be too large for the type of the other template.
        let is_number = |part: &Part| matches!(part, Part::Placeholder { value, .. } if form::is_number(value));
        let is_bounded = |template: &Template| !template.parts.iter().any(is_number);
        if is_bounded(&other) && one.is_within(std::slice::from_ref(&other)) {
            prop_assert!(other.read(&key(&one, &values)).is_some());
        }
    }

    #[test]
    fn texts_of_one_length_sort_in_keys_as_they_do(template in templates(), values in values(), others in values()) {
        let mut template = template;
        for position in 0..template.parts.len() {
            template.need_length(position);
            let part = &template.parts[position];
            let Part::Placeholder { field, value, .. } = part else { continue };
            if !part.has_one_length(template.parts.get(position + 1)) {
                continue;
            }
            let changed = mixed(&values, &others, |_, name| name != field);
            let text = |values: &Values| {
                let text = values.iter().find(|(name, _)| name == field).unwrap().1.as_str().unwrap().to_owned();
                value.case().map_or(text.clone(), |case| case.fold(&text).into_owned())
            };
            prop_assert_eq!(key(&template, &values).cmp(&key(&template, &changed)), text(&values).cmp(&text(&changed)));
        }
    }

    #[test]
    fn the_beginning_of_a_key_has_one_value_of_each_field(
        template in templates(), values in values(), others in values(), parts in 1_usize..7, kept in any::<u64>()
    ) {
        let mixed = mixed(&values, &others, |bit, _| kept >> bit & 1 == 1);
        let ends = match template.parts.get(parts - 1) {
            Some(part) => part.literal().is_some() || matches!(part.end(), Some(TextEnd::After(_))),
            None => false,
        };
        if !ends || template.runs_on(parts) {
            return Ok(());
        }
        let beginning = |values: &Values| {
            let of = |name: &str| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
            template.render_parts(parts, &of).unwrap().unwrap()
        };
        let text = beginning(&values);
        if key(&template, &mixed).starts_with(&text) {
            prop_assert_eq!(beginning(&mixed), text);
        }
    }

    #[test]
    fn a_prefix_of_any_text_finds_what_begins_with_it(
        template in templates(), values in values(), others in values(), parts in 0_usize..7,
        (from, length) in (0_usize..30, 0_usize..5)
    ) {
        let Some(Part::Placeholder { field, value: kind, .. }) = template.parts.get(parts) else { return Ok(()) };
        let Some(text) = others[from].1.as_str().filter(|_| form::is_free_text(kind)) else { return Ok(()) };
        let of = |name: &str| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
        let fold = |text: &str| kind.case().map_or(text.to_owned(), |case| case.fold(text).into_owned());
        let prefix: String = text.chars().take(length).collect();
        let begins = fold(of(field).unwrap().as_str().unwrap()).starts_with(&fold(&prefix));
        let (text, exact) = template.render_begins_with(parts, &prefix, &of).unwrap().unwrap();
        let is_found = key(&template, &values).starts_with(&text);
        prop_assert!(is_found || !begins, "{} misses a key", text);
        prop_assert!(!is_found || begins || !exact, "{} is not exact", text);
    }

    #[test]
    fn prefixes_miss_no_key(
        template in templates(), values in values(), others in values(), parts in 0_usize..7, length in 0_usize..4
    ) {
        let of = |name: &str| values.iter().find(|(field, _)| *field == name).map(|(_, value)| value.clone());
        let key = key(&template, &values);
        prop_assert!(key.starts_with(&template.render_parts(parts, &of).unwrap().unwrap()));
        let Some(Part::Placeholder { field, value: kind, .. }) = template.parts.get(parts) else { return Ok(()) };
        if !form::is_free_text(kind) && !matches!(kind, ValueType::Date) {
            return Ok(());
        }
        let fold = |text: &str| kind.case().map_or(text.to_owned(), |case| case.fold(text).into_owned());
        let prefix: String = of(field).unwrap().as_str().unwrap().chars().take(length).collect();
        let (text, exact) = template.render_begins_with(parts, &prefix, &of).unwrap().unwrap();
        prop_assert!(key.starts_with(&text));
        // An exact text finds another value in the same place iff that value begins with the prefix.
        let both = values.iter().zip(&others);
        let changed: Values = both.map(|(value, other)| if value.0 == field { other } else { value }.clone()).collect();
        let is_of_field = |part: &&Part| matches!(part, Part::Placeholder { field: other, .. } if other == field);
        let once = template.parts.iter().filter(is_of_field).count() == 1;
        if exact && once {
            let has_prefix = |value: &Value| fold(value.as_str().unwrap()).starts_with(&fold(&prefix));
            let begins = changed.iter().any(|(name, value)| name == field && has_prefix(value));
            prop_assert_eq!(self::key(&template, &changed).starts_with(&text), begins);
        }
    }
}
