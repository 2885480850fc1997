//! Loading never panics, whatever the text: a correct schema with parts of it removed, repeated or replaced either
//! loads or is reported.

use keyfold::schema::load;
use proptest::prelude::*;

const SCHEMA: &str = include_str!("../schemas/reads.graphql");

/// The units of the text that a mutation changes: words, and every other character.
fn pieces() -> Vec<&'static str> {
    let mut pieces = Vec::new();
    let mut rest = SCHEMA;
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(if word > 0 { word } else { first.len_utf8() });
        pieces.push(piece);
        rest = after;
    }
    pieces
}

fn checked(text: &str) {
    match load("schema.graphql", text, &|_| None) {
        Ok((_, warnings)) => drop(warnings.render(true)),
        Err(mistakes) => assert!(mistakes.render(false).contains("error[KF"), "{text}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn removed_repeated_and_replaced_words(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..4_u8), 1..6)) {
        let source = pieces();
        let mut mutated = source.clone();
        for (at, other, change) in changes {
            let (at, other) = (at.index(mutated.len()), other.index(source.len()));
            match change {
                0 => drop(mutated.remove(at)),
                1 => mutated.insert(at, source[other]),
                2 => mutated[at] = source[other],
                _ => drop(mutated.drain(at..mutated.len().min(at + 40))),
            }
        }
        checked(&mutated.concat());
    }

    #[test]
    fn words_within_names_and_templates(at in any::<prop::sample::Index>(), word in "[a-zA-Z{}#:@.\"$ é\u{1F600}\\\\]{0,6}") {
        let source = pieces();
        let mut mutated = source.clone();
        let at = at.index(source.len());
        mutated[at] = &word;
        checked(&mutated.concat());
    }
}

#[test]
fn deep_and_odd_texts() {
    for text in [
        "",
        "#",
        "\"",
        "{",
        "type",
        "extend schema @table",
        "\u{feff}type Query { a: Int }",
        "type Query",
        "schema { query: Q }",
    ] {
        checked(text);
    }
    checked(&format!("type Query {{ a(b: Int = {}1{}): Int @find }}", "[".repeat(5000), "]".repeat(5000)));
    checked(&format!(
        "type Query {{ a: {}Int{} @find(item: Query, through: \"{}\") }}",
        "[".repeat(300),
        "]".repeat(300),
        "a.".repeat(2000)
    ));
}
