//! Tests of `@constraint` on values.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::*;
use crate::execute::constraint::value::broken;
use proptest::prelude::*;
use serde_json::json;

fn format(format: Format) -> Constraint {
    Constraint { format: Some(format), ..Constraint::default() }
}

#[track_caller]
fn assert_format(kind: Format, right: &[&str], wrong: &[&str]) {
    for text in right {
        assert_eq!(broken(&format(kind), &json!(text)), Vec::<String>::new(), "{text}");
    }
    for text in wrong {
        assert_eq!(broken(&format(kind), &json!(text)).len(), 1, "{text:?}");
    }
}

#[test]
fn lengths_are_in_characters() {
    let name = Constraint { min_length: Some(1), max_length: Some(3), ..Constraint::default() };
    for fits in ["a", "äöü", "漢字仮", "👍👍👍"] {
        assert_eq!(broken(&name, &json!(fits)), Vec::<String>::new(), "{fits}");
    }
    assert_eq!(broken(&name, &json!("")), ["must have at least 1 character, but has 0"]);
    assert_eq!(broken(&name, &json!("äöüß")), ["must have at most 3 characters, but has 4"]);
    assert_eq!(broken(&name, &Value::Null), Vec::<String>::new());
}

#[test]
fn every_broken_rule_is_reported() {
    let code = Constraint {
        min_length: Some(5),
        pattern: Some("[a-z]+".into()),
        format: Some(Format::Uuid),
        ..Constraint::default()
    };
    let sentences = ["must have at least 5 characters, but has 2", "must match the pattern [a-z]+", "must be a UUID"];
    assert_eq!(broken(&code, &json!("A1")), sentences);
}

#[test]
fn a_pattern_matches_the_whole_text() {
    let matches = |pattern: &str, text: &str| {
        let constraint = Constraint { pattern: Some(pattern.into()), ..Constraint::default() };
        broken(&constraint, &json!(text)).is_empty()
    };
    for (pattern, text) in
        [("a|ab", "ab"), ("[a-z]+", "abc"), ("", ""), ("^a$", "a"), ("(?x) a b # comment", "ab"), (r"\p{L}+", "äß")]
    {
        assert!(matches(pattern, text), "{pattern} {text}");
    }
    for (pattern, text) in
        [("[a-z]+", "abc1"), ("[a-z]+", "1abc"), ("a", "a\n"), ("(?m)^a$", "a\nb"), ("a|b", "ac"), ("a)|(b", "a")]
    {
        assert!(!matches(pattern, text), "{pattern} {text:?}");
    }
    let slow = "a".repeat(50_000) + "b";
    assert!(!matches("(a*)*(a|aa)+", &slow), "in linear time");
}

#[test]
fn what_is_no_pattern_is_reported() {
    for pattern in ["(", "a)|(b", "(?=a)", r"(a)\1", "[z-a]", "(a{1000}){1000}"] {
        assert!(whole_text(pattern).is_err(), "{pattern}");
    }
    assert!(whole_text("[a-z]{3}").is_ok());
}

#[test]
fn email_addresses_are_those_of_html() {
    let label = "a".repeat(63);
    let right = [
        "ann@example.com",
        "a@b",
        "first.last+tag@sub.example.co.uk",
        "!#$%&'*+/=?^_`{|}~-@x-1.y",
        ".a..b.@c",
        &format!("a@{label}.de"),
    ];
    let long = format!("a@{label}a.de");
    let wrong = [
        "", "a", "@", "a@", "@b", "a b@c", "a@b c", "a@-b", "a@b-", "a@b..c", "a@.b", "a@b.", "a@b@c", "ä@b", "a@ä.de",
        "a@b\n", "a@b_c", &long,
    ];
    assert_format(Format::Email, &right, &wrong);
}

#[test]
fn urls_are_absolute_and_of_the_web() {
    let right = [
        "http://a",
        "HTTPS://Example.com:8080/a/b?c=d#e",
        "https://192.168.0.1/",
        "http://[::1]:80/x",
        "https://例え.jp/道",
        "https://a_b.example.com.",
        "https://example.com?q",
        "https://example.com/100%25",
    ];
    let wrong = [
        "",
        "example.com",
        "//example.com",
        "ftp://example.com",
        "javascript:alert(1)",
        "http:/a",
        "http://",
        "http:///a",
        "http://:80",
        "http://a b",
        "http://a/b c",
        "http://a\n",
        "http://a:b",
        "http://a:99999",
        "http://user:pass@a",
        "http://[::1",
        "http://[x]",
        "http://a..b",
        "http://-a",
        "http://a/<script>",
    ];
    assert_format(Format::Url, &right, &wrong);
}

#[test]
fn uuids_have_36_characters() {
    let right = [
        "0192f0c1-2a3b-7c4d-8e5f-0123456789ab",
        "0192F0C1-2A3B-7C4D-8E5F-0123456789AB",
        "00000000-0000-0000-0000-000000000000",
    ];
    let wrong = [
        "",
        "0192f0c12a3b7c4d8e5f0123456789ab",
        "{0192f0c1-2a3b-7c4d-8e5f-0123456789ab}",
        "urn:uuid:0192f0c1-2a3b-7c4d-8e5f-0123456789ab",
        "0192f0c1-2a3b-7c4d-8e5f-0123456789ag",
        "0192f0c1-2a3b-7c4d-8e5f0-123456789ab",
    ];
    assert_format(Format::Uuid, &right, &wrong);
}

#[test]
fn ulids_have_26_characters_of_base_32() {
    let right = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"];
    let wrong = [
        "",
        "01arz3ndektsv4rrffq69g5fav",
        "01ARZ3NDEKTSV4RRFFQ69G5FA",
        "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
        "01ARZ3NDEKTSV4RRFFQ69G5FAI",
        "01ARZ3NDEKTSV4RRFFQ69G5FAU",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01ARZ3NDEK-SV4RRFFQ69G5FAV",
    ];
    assert_format(Format::Ulid, &right, &wrong);
}

#[test]
fn numbers_are_within_their_bounds() {
    let bounds = |min, max| Constraint { min, max, ..Constraint::default() };
    for (min, max, fits, misses) in [
        (
            Some(0.0),
            None,
            vec![json!(0), json!(-0.0), json!(0.1), json!("0"), json!(i64::MAX)],
            vec![json!(-1), json!(-0.5), json!("-0.1")],
        ),
        (
            None,
            Some(0.1),
            vec![json!("0.1"), json!(0.1), json!(-1e100)],
            vec![json!("0.10000000000000000001"), json!(1)],
        ),
        // A float cannot represent 2^53 + 1.
        (
            None,
            Some(9_007_199_254_740_992.0),
            vec![json!(9_007_199_254_740_992_i64)],
            vec![json!(9_007_199_254_740_993_i64)],
        ),
        (None, Some(f64::MAX), vec![json!(i64::MAX), json!("9E125")], vec![]),
        (Some(1e-200), None, vec![json!(1e-130)], vec![json!(0)]),
        (Some(-2.5), Some(2.5), vec![json!(-2.5), json!("2.50")], vec![json!(2.51), json!("-2.51"), json!("many")]),
    ] {
        for value in fits {
            assert_eq!(broken(&bounds(min, max), &value), Vec::<String>::new(), "{value}");
        }
        for value in misses {
            assert!(!broken(&bounds(min, max), &value).is_empty(), "{value}");
        }
    }
    assert_eq!(broken(&bounds(Some(0.0), None), &json!(-1.5)), ["must be 0 or more, but is -1.5"]);
    assert_eq!(broken(&bounds(None, Some(2.5)), &json!("3")), ["must be 2.5 or less, but is 3"]);
}

#[test]
fn lists_are_checked_element_by_element() {
    let tag = Constraint { max_length: Some(2), ..Constraint::default() };
    let found = broken_elements(&tag, &json!(["ok", "long", null, ["longer"]]));
    let sentence = |has: usize| format!("must have at most 2 characters, but has {has}");
    assert_eq!(found, [(vec![1], sentence(4)), (vec![3, 0], sentence(6))]);
    assert_eq!(broken(&tag, &json!(["ok", "long"])), [sentence(4)]);
}

proptest! {
    #[test]
    fn no_text_panics(text in "\\PC*|https?://[a-z:@./\\[\\]é-]{0,20}|[a@.-]{0,12}") {
        for kind in [Format::Email, Format::Ulid, Format::Url, Format::Uuid] {
            broken(&format(kind), &json!(text));
        }
        broken(&Constraint { min: Some(1.0), max: Some(2.0), ..Constraint::default() }, &json!(text));
    }

    #[test]
    fn email_agrees_with_the_rule_as_html_writes_it(text in "[aA0.!#@é -]{1,6}@[a0.-]{0,6}|[a@.]{0,8}") {
        let rule = r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$";
        prop_assert_eq!(is_email(&text), Regex::new(rule).unwrap().is_match(&text));
    }
}

#[test]
fn the_elements_of_the_outermost_list_are_counted() {
    let few = Constraint { min_items: Some(1), max_items: Some(2), ..Constraint::default() };
    for fits in [json!([1]), json!([[1, 2, 3], []]), Value::Null] {
        assert_eq!(broken(&few, &fits), Vec::<String>::new(), "{fits}");
    }
    assert_eq!(broken(&few, &json!([])), ["must have at least 1 element, but has 0"]);
    assert_eq!(broken(&few, &json!([1, null, 1])), ["must have at most 2 elements, but has 3"]);
    let short = Constraint { max_length: Some(1), ..few };
    let sentences = ["must have at most 2 elements, but has 3", "must have at most 1 character, but has 2"];
    assert_eq!(broken(&short, &json!(["a", "bb", "c"])), sentences);
}
