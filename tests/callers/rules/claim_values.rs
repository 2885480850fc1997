//! Claims of every JSON form in comparisons: empty lists and their negations, numbers with a fraction, and missing
//! claims beside others.

use super::{Library, Row, check_rows};
use serde_json::{Value, json};

const SCHEMA: &str = r#"
extend schema @table(name: "values", partitionKey: "PK")

type Box
  @item(keys: { PK: "{id}" })
  @auth(if: "NOT team IN (auth.blocked)", on: [READ])
  @auth(signedIn: true, on: [WRITE]) {
  id: ID!
  team: String
  price: Decimal
  weight: Float
}

type Query {
  box(id: ID!): Box @find
  outside(id: ID!): Box @find(where: { id: "{id}" }) @auth(if: "NOT :id IN (auth.shut)")
  outsideOfBoth(id: ID!): Box @find(where: { id: "{id}" }) @auth(if: "NOT :id IN (auth.shut, auth.closed)")
  inOneOf(id: ID!): Box @find(where: { id: "{id}" }) @auth(if: ":id IN (auth.shut, auth.closed)")
  equalId(id: ID!): Box @find(where: { id: "{id}" }) @auth(if: "auth.level = :id")
  byPrice(id: ID!, price: Decimal): Box @find(where: { id: "{id}" }, filter: "price <> :price OR attribute_exists(price)") @auth(if: "auth.level = :price")
  byWeight(id: ID!, weight: Float): Box @find(where: { id: "{id}" }, filter: "weight <> :weight OR attribute_exists(weight)") @auth(if: "auth.level >= :weight")
  byList(id: ID!, price: Decimal): Box @find(where: { id: "{id}" }, filter: "price <> :price OR attribute_exists(price)") @auth(if: ":price IN (auth.levels)")
  byLiteral(id: ID!): Box @find(where: { id: "{id}" }) @auth(if: "auth.level > 5")
}

type Mutation {
  putBox(id: ID!, team: String, price: Decimal, weight: Float): Box @put
}
"#;

async fn open() -> Library {
    Library::of(
        SCHEMA,
        json!({ "blocked": ["none"] }),
        r#"mutation { putBox(id: "5.5", team: "red", price: "5.5", weight: 5.5) { id } }"#,
    )
    .await
}

fn lets_in(claims: Value, field: &'static str, query: &'static str) -> Row {
    let mut claims = claims;
    // The box itself is open to all of them, whatever an empty list means.
    if claims.get("blocked").is_none() {
        claims["blocked"] = json!(["none"]);
    }
    (claims, query, json!({ field: { "id": "5.5" } }), &[], 1)
}

fn refuses(claims: Value, field: &'static str, query: &'static str, error: &'static [&'static str]) -> Row {
    (claims, query, json!({ field: null }), error, 0)
}

#[tokio::test]
async fn an_empty_list_holds_no_value() {
    let (asked, of_box) = (r#"{ outside(id: "5.5") { id } }"#, r#"{ box(id: "5.5") { id } }"#);
    let both = r#"{ outsideOfBoth(id: "5.5") { id } }"#;
    let one_of = r#"{ inOneOf(id: "5.5") { id } }"#;
    let rows = vec![
        lets_in(json!({ "shut": [] }), "outside", asked),
        lets_in(json!({ "shut": ["1", "2"] }), "outside", asked),
        lets_in(json!({ "shut": "1" }), "outside", asked),
        refuses(json!({ "shut": ["5.5"], "blocked": [] }), "outside", asked, &["FORBIDDEN outside"]),
        // What is missing, or of another type, lets nobody in.
        refuses(json!({ "blocked": [] }), "outside", asked, &["FORBIDDEN outside"]),
        refuses(json!({ "blocked": [], "shut": null }), "outside", asked, &["FORBIDDEN outside"]),
        refuses(json!({ "blocked": [], "shut": {} }), "outside", asked, &["FORBIDDEN outside"]),
        refuses(json!({ "blocked": [], "shut": [true] }), "outside", asked, &["FORBIDDEN outside"]),
        // The same for a field of the item.
        lets_in(json!({ "blocked": [] }), "box", of_box),
        lets_in(json!({ "blocked": ["blue"] }), "box", of_box),
        (json!({ "blocked": ["red"] }), of_box, json!({ "box": null }), &["FORBIDDEN box"], 1),
        refuses(json!({}), "box", of_box, &["FORBIDDEN box"]),
        // Of two lists, a missing one may hold it.
        lets_in(json!({ "shut": [], "closed": ["1"] }), "outsideOfBoth", both),
        lets_in(json!({ "shut": [], "closed": [] }), "outsideOfBoth", both),
        refuses(json!({ "shut": [], "blocked": [] }), "outsideOfBoth", both, &["FORBIDDEN outsideOfBoth"]),
        lets_in(json!({ "closed": ["5.5"] }), "inOneOf", one_of),
        refuses(json!({ "shut": [], "closed": [], "blocked": [] }), "inOneOf", one_of, &["FORBIDDEN inOneOf"]),
    ];
    check_rows(&open().await, rows).await;
}

#[tokio::test]
async fn a_number_with_a_fraction_is_compared_as_its_text_is() {
    let rows = [json!(5.5), json!("5.5")].into_iter().flat_map(|level| {
        let claims = || json!({ "level": level, "levels": [1, level] });
        vec![
            lets_in(claims(), "equalId", r#"{ equalId(id: "5.5") { id } }"#),
            lets_in(claims(), "byPrice", r#"{ byPrice(id: "5.5", price: "5.50") { id } }"#),
            lets_in(claims(), "byWeight", r#"{ byWeight(id: "5.5", weight: 5.5) { id } }"#),
            lets_in(claims(), "byWeight", r#"{ byWeight(id: "5.5", weight: 5.25) { id } }"#),
            lets_in(claims(), "byList", r#"{ byList(id: "5.5", price: "5.5") { id } }"#),
            lets_in(claims(), "byLiteral", r#"{ byLiteral(id: "5.5") { id } }"#),
            refuses(claims(), "byWeight", r#"{ byWeight(id: "5.5", weight: 5.75) { id } }"#, &["FORBIDDEN byWeight"]),
            refuses(claims(), "byPrice", r#"{ byPrice(id: "5.5", price: "5.51") { id } }"#, &["FORBIDDEN byPrice"]),
        ]
    });
    check_rows(&open().await, rows.collect()).await;
}
