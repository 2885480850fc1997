//! Which templates share keys, and which of them are within others.

use super::*;

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
