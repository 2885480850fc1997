//! `@constraint` is checked wherever a value is known before a write. Values computed by DynamoDB are checked by a
//! condition.

use super::backend::{Backend, error};
use serde_json::{Value, json};

async fn stock() -> Backend {
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addStock(id: \"x\", n: 1, amount: \"10\", name: \"name\") { id } }", json!({})).await;
    backend.ok("mutation { addArticle(id: \"a\", title: \"too long a title\") { id } }", json!({})).await;
    backend.ok("mutation { addRepo(name: \"r\", nextNumber: 7) { name } }", json!({})).await;
    backend
}

#[tokio::test(start_paused = true)]
async fn a_value_that_is_known_is_held_wherever_it_comes_from() {
    let backend = stock().await;
    let before = backend.items();
    for (field, message, argument) in [
        ("setStock(id: \"x\", n: 99)", "\"n\" must be 3 or less, but is 99.", json!(["n"])),
        ("setStockBy(id: \"x\", input: { n: 99 })", "\"input.n\" must be 3 or less, but is 99.", json!(["input", "n"])),
        ("startStock(id: \"x\", bonus: 9)", "\"bonus\" must be 5 or less, but is 9.", json!(["bonus"])),
        (
            "tagStock(id: \"x\", tags: [\"abc\", \"abcd\"])",
            "\"tags\" must have at most 3 characters, but has 4.",
            json!(["tags"]),
        ),
        (
            "noteStock(id: \"x\", notes: [\"abcd\"])",
            "\"notes\" must have at most 3 characters, but has 4.",
            json!(["notes"]),
        ),
        (
            "nameStock(id: \"x\", n: 1, first: \"Ann\", last: \"Lee\")",
            "Stock.name must have at most 6 characters, but has 7.",
            Value::Null,
        ),
        (
            "inheritStock(id: \"y\", titleOf: \"a\", n: 1)",
            "Stock.name must have at most 6 characters, but has 16.",
            Value::Null,
        ),
        ("numberStock(id: \"x\", titleOf: \"r\")", "Stock.n must be 3 or less, but is 7.", Value::Null),
    ] {
        let is = backend.run(&format!("mutation {{ w: {field} {{ id }} }}"), json!({})).await;
        let error = &is["errors"][0];
        assert_eq!(
            (error["message"].as_str(), error["extensions"]["code"].as_str()),
            (Some(message), Some("BAD_USER_INPUT")),
            "{field}: {is}"
        );
        assert_eq!(error["extensions"]["argument"], argument, "{field}");
        assert_eq!(backend.items(), before, "{field}");
    }
    // A default made of an argument is checked, too.
    let is = backend.run("mutation { w: addStock(id: \"z\", n: 1, name: \"namely\") { id } }", json!({})).await;
    assert_eq!(
        (error(&is).0, error(&is).1),
        ("BAD_USER_INPUT", "Stock.code must have at most 9 characters, but has 11.")
    );
    for field in [
        "setStock(id: \"x\", n: 3)",
        "startStock(id: \"x\", bonus: 5)",
        "tagStock(id: \"x\", tags: [\"abc\"])",
        "noteStock(id: \"x\", notes: [\"abc\"])",
    ] {
        backend.ok(&format!("mutation {{ w: {field} {{ id }} }}"), json!({})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_dynamodb_computes_is_held_by_a_condition() {
    let less = "Stock.amount must be 0.5 or more, but would be less.";
    let more = "Stock.amount must be 100 or less, but would be more.";
    for (field, outcome) in [
        ("takeStock(id: \"x\", q: \"9.5\")", Ok("0.5")),
        ("takeStock(id: \"x\", q: \"9.50000000000000000000000000000000001\")", Err(less)),
        ("takeStock(id: \"x\", q: \"-90\")", Ok("100")),
        ("takeStock(id: \"x\", q: \"-90.000000000000000000000000000000001\")", Err(more)),
        ("giveStock(id: \"x\", q: \"90\")", Ok("100")),
        ("giveStock(id: \"x\", q: \"90.1\")", Err(more)),
        ("giveStock(id: \"x\", q: \"-9.6\")", Err(less)),
        ("fillStock(id: \"x\", q: \"110\")", Ok("100")),
        ("fillStock(id: \"x\", q: \"110.5\")", Err(more)),
        ("fillStock(id: \"x\", q: \"10.25\")", Err(less)),
        ("buyStock(id: \"x\", q: \"10\")", Err(less)),
    ] {
        let backend = stock().await;
        let before = backend.items();
        let is = backend.run(&format!("mutation {{ w: {field} {{ amount }} }}"), json!({})).await;
        match outcome {
            Ok(amount) => assert_eq!(is["data"]["w"]["amount"], amount, "{field}: {is}"),
            Err(message) => {
                assert_eq!((error(&is).0, error(&is).1), ("BAD_USER_INPUT", message), "{field}");
                assert_eq!(is["errors"][0]["extensions"]["argument"], json!(["q"]));
                assert_eq!(backend.items(), before, "{field}");
            }
        }
    }
    // If there is no number yet, ADD starts with 0.
    let backend = stock().await;
    backend.ok("mutation { addStock(id: \"none\", n: 0) { id } }", json!({})).await;
    for (field, outcome) in
        [("giveStock(id: \"none\", q: \"0.25\")", Err(less)), ("giveStock(id: \"none\", q: \"2\")", Ok("2"))]
    {
        let is = backend.run(&format!("mutation {{ w: {field} {{ amount }} }}"), json!({})).await;
        match outcome {
            Ok(amount) => assert_eq!(is["data"]["w"]["amount"], amount, "{is}"),
            Err(message) => assert_eq!(error(&is).1, message),
        }
    }
    // The author's condition is reported first. A missing item is reported as missing.
    let is = backend.run("mutation { w: buyStock(id: \"none\", q: \"10\") { amount } }", json!({})).await;
    assert_eq!((error(&is).0, error(&is).1), ("CONFLICT", "Closed."));
    let is = backend.run("mutation { w: takeStock(id: \"nobody\", q: \"10\") { amount } }", json!({})).await;
    assert_eq!((error(&is).0, error(&is).1), ("NOT_FOUND", "This Stock does not exist."));
}

#[tokio::test(start_paused = true)]
async fn a_computed_number_stays_within_its_type() {
    let backend = stock().await;
    let none = backend.run("mutation { w: countDownStock(id: \"x\", by: 1) { hits } }", json!({})).await;
    assert_eq!(error(&none).0, "CONFLICT", "there is no number: {none}");
    for (field, outcome) in [
        ("countStock(id: \"x\", by: 2147483647)", Ok(2_147_483_647)),
        ("countStock(id: \"x\", by: 1)", Err("Stock.hits must be 2147483647 or less, but would be more.")),
        ("countStock(id: \"x\", by: -1)", Ok(2_147_483_646)),
        ("countDownStock(id: \"x\", by: 2147483647)", Ok(-1)),
        ("countDownStock(id: \"x\", by: 2147483647)", Ok(-2_147_483_648)),
        ("countDownStock(id: \"x\", by: 1)", Err("Stock.hits must be -2147483648 or more, but would be less.")),
        ("sumStock(id: \"x\", by: 4611686018427387903)", Ok(9_223_372_036_854_775_806)),
        ("sumStock(id: \"x\", by: 2)", Err("Stock.total must be 9223372036854775807 or less, but would be more.")),
        ("sumStock(id: \"x\", by: 1)", Ok(9_223_372_036_854_775_807_i64)),
    ] {
        let shows = if field.starts_with("sum") { "total" } else { "hits" };
        let is = backend.run(&format!("mutation {{ w: {field} {{ {shows} }} }}"), json!({})).await;
        match outcome {
            Ok(number) => {
                assert_eq!(is["data"]["w"][shows].to_string().trim_matches('"'), number.to_string(), "{field}: {is}")
            }
            Err(message) => assert_eq!((error(&is).0, error(&is).1), ("BAD_USER_INPUT", message), "{field}"),
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_copied_attribute_is_held_by_a_condition() {
    let backend = stock().await;
    backend.ok("mutation { startStock(id: \"x\", bonus: 5) { id } }", json!({})).await;
    let is = backend.run("mutation { w: mirrorStock(id: \"x\") { n } }", json!({})).await;
    assert_eq!((error(&is).0, error(&is).1), ("BAD_USER_INPUT", "Stock.n must be 3 or less, but would be more."));
    backend.ok("mutation { addStock(id: \"y\", n: 1) { id } startStock(id: \"y\", bonus: 2) { id } }", json!({})).await;
    assert_eq!(backend.ok("mutation { w: mirrorStock(id: \"y\") { n } }", json!({})).await["w"]["n"], 2);
}

#[tokio::test(start_paused = true)]
async fn elements_are_checked_and_not_the_list() {
    let backend = stock().await;
    let level = |level: u32, peak: u32| {
        format!("mutation {{ w: levelStock(id: \"x\", level: {level}, levels: [{peak}]) {{ levels }} }}")
    };
    backend.ok(&level(1, 2), json!({})).await;
    assert_eq!(backend.ok(&level(9, 4), json!({})).await["w"]["levels"], json!([1, 9]));
    assert_eq!(backend.ok("mutation { w: lowerStock(id: \"x\") { lows } }", json!({})).await["w"]["lows"], json!([4]));
    for (level, message) in [
        (level(10, 1), "\"level\" must be 9 or less, but is 10."),
        (level(1, 10), "\"levels\" must be 9 or less, but is 10."),
    ] {
        assert_eq!(error(&backend.run(&level, json!({})).await).1, message);
    }
}
