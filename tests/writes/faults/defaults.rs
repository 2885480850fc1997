//! Defaults are made in the order of their dependencies, wherever they are declared, and by every kind of write alike.

use super::backend::{Backend, error, is_write};
use serde_json::{Value, json};

const FIELDS: &str = "{ slug name label title color digest }";

fn article(backend: &Backend) -> String {
    let items = backend.items();
    assert_eq!(items.len(), 1, "{items:?}");
    items[0].clone()
}

#[tokio::test(start_paused = true)]
async fn a_put_and_an_upsert_make_the_same_item() {
    let mut items = Vec::new();
    for verb in ["addArticle", "makeArticle"] {
        let backend = Backend::new("depot").await;
        let is = backend.ok(&format!("mutation {{ w: {verb}(id: \"x\", title: \"t\") {FIELDS} }}"), json!({})).await;
        let whole =
            json!({ "slug": "s-n-x", "name": "n-x", "label": "x/t/red", "title": "t", "color": "red", "digest": null });
        assert_eq!(is["w"], whole, "{verb}");
        let item = article(&backend);
        assert!(item.contains("\"SlugKey\":{\"S\":\"SLUG#s-n-x\"}"), "{item}");
        items.push(item);
    }
    assert_eq!(items[0], items[1]);
}

#[tokio::test(start_paused = true)]
async fn what_an_upsert_makes_of_an_item_is_in_its_index_key() {
    let backend = Backend::new("depot").await;
    let s = |text: &str| json!({ "S": text });
    backend.table.put("depot", json!({ "PK": s("ARTICLE#x"), "SK": s("ARTICLE"), "name": s("old"), "title": s("t") }));
    let is = backend.ok(&format!("mutation {{ w: makeArticle(id: \"x\", title: \"u\") {FIELDS} }}"), json!({})).await;
    assert_eq!((&is["w"]["slug"], &is["w"]["name"]), (&json!("s-old"), &json!("old")));
    assert!(article(&backend).contains("\"SlugKey\":{\"S\":\"SLUG#s-old\"}"));
}

#[tokio::test(start_paused = true)]
async fn what_every_write_makes_follows_what_it_is_made_of() {
    for field in ["titleArticle", "retitleArticle", "makeArticle"] {
        let backend = Backend::new("depot").await;
        backend.ok("mutation { addArticle(id: \"x\", title: \"t\") { id } }", json!({})).await;
        // The write requires that the values read for the default are unchanged.
        backend.script(|call| {
            if is_write(call.operation) && call.before == 0 {
                call.table.update(
                    "depot",
                    ["ARTICLE#x", "ARTICLE"],
                    "SET color = :c",
                    json!({ ":c": { "S": "blue" } }),
                );
            }
            None
        });
        let is = backend.ok(&format!("mutation {{ w: {field}(id: \"x\", title: \"u\") {FIELDS} }}"), json!({})).await;
        assert_eq!((&is["w"]["label"], backend.writes()), (&json!("x/u/blue"), 2), "{field}");
    }
    // A default whose fields do not change costs no read.
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addArticle(id: \"x\", title: \"t\") { id } }", json!({})).await;
    backend.calm();
    let is = backend.ok(&format!("mutation {{ w: summarise(id: \"x\", summary: \"s\") {FIELDS} }}"), json!({})).await;
    assert_eq!((&is["w"]["label"], &is["w"]["digest"]), (&json!("x/t/red"), &Value::Null));
    assert_eq!(backend.operations(), ["UpdateItem"]);
}

#[tokio::test(start_paused = true)]
async fn a_default_made_of_null_is_no_value() {
    for verb in ["addDraft", "makeDraft"] {
        let backend = Backend::new("depot").await;
        let is =
            backend.run(&format!("mutation {{ w: {verb}(id: \"x\", text: null) {{ heading }} }}"), json!({})).await;
        let message = "Draft.heading must not be null, but its default uses a field that is null.";
        assert_eq!((error(&is).0, error(&is).1), ("BAD_USER_INPUT", message), "{verb}");
        assert_eq!(backend.items(), Vec::<String>::new());
        let is =
            backend.ok(&format!("mutation {{ w: {verb}(id: \"x\", text: \"t\") {{ heading }} }}"), json!({})).await;
        assert_eq!(is["w"]["heading"], "About t");
    }
    // For an existing item, the default is not needed.
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addDraft(id: \"x\", text: \"t\") { id } }", json!({})).await;
    let is = backend.ok("mutation { w: makeDraft(id: \"x\", text: null) { heading text } }", json!({})).await;
    assert_eq!(is["w"], json!({ "heading": "About t", "text": null }));
}

/// An upsert writes a key field with an attribute of its own, and a list that starts empty, as a put does.
#[tokio::test(start_paused = true)]
async fn an_upsert_leaves_no_attribute_out() {
    let mut items = Vec::new();
    for verb in ["addTrunk", "makeTrunk"] {
        let backend = Backend::new("depot").await;
        backend.ok(&format!("mutation {{ w: {verb}(id: \"x\", name: \"n\") {{ id log }} }}"), json!({})).await;
        items.push(article(&backend));
        let is = backend.ok("mutation { w: logTrunk(id: \"x\", line: [\"l\"]) { log } }", json!({})).await;
        assert_eq!(is["w"]["log"], json!(["l"]), "{verb}");
    }
    assert_eq!(items[0], items[1]);
}

#[tokio::test(start_paused = true)]
async fn an_argument_that_is_not_given_leaves_index_keys_and_guards() {
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addTrunk(id: \"x\", name: \"n\", code: \"c\") { id } }", json!({})).await;
    let before = backend.items();
    let is = backend.ok("mutation { w: changeTrunk(id: \"x\") { name code } }", json!({})).await;
    assert_eq!(is["w"], json!({ "name": "n", "code": "c" }));
    assert_eq!(backend.items(), before);
}

#[tokio::test(start_paused = true)]
async fn a_found_null_is_no_reason_for_a_default() {
    let backend = Backend::new("depot").await;
    backend
        .ok("mutation { addTrunk(id: \"x\", name: \"n\") { id } setColor(id: \"x\", color: null) { id } }", json!({}))
        .await;
    let is = backend.ok("mutation { w: copyTrunk(id: \"x\", newId: \"y\") { id color } }", json!({})).await;
    assert_eq!(is["w"], json!({ "id": "y", "color": null }));
}

#[tokio::test(start_paused = true)]
async fn a_delete_of_nothing_says_so_and_one_in_a_transaction_gives_what_it_deleted() {
    let backend = Backend::new("depot").await;
    let gone = "mutation { w: mustDropTrunk(id: \"x\") { id color } }";
    let is = backend.run(gone, json!({})).await;
    assert_eq!((error(&is).0, error(&is).1), ("NOT_FOUND", "This Trunk does not exist."));
    backend.ok("mutation { addTrunk(id: \"x\", name: \"n\", code: \"c\") { id } }", json!({})).await;
    backend.script(|call| {
        if is_write(call.operation) && call.before == 0 {
            call.table.update("depot", ["TRUNK#x", "TRUNK"], "SET color = :c", json!({ ":c": { "S": "blue" } }));
        }
        None
    });
    assert_eq!(backend.ok(gone, json!({})).await["w"]["color"], "blue");
    assert_eq!(backend.items(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn write_of_many_leaves_out_an_item_that_is_gone_meanwhile() {
    for field in ["refitChairs(owner: \"o\", legs: 3) { id }", "dropThickChairs(owner: \"o\", legs: 4) { id }"] {
        let backend = Backend::new("depot").await;
        for id in ["a", "b"] {
            backend
                .ok(&format!("mutation {{ addChair(id: {id:?}, owner: \"o\", legs: 4) {{ id }} }}"), json!({}))
                .await;
        }
        backend.script(|call| {
            if is_write(call.operation) && call.before == 0 {
                call.table.delete("depot", ["THING#a", "THING"]);
            }
            None
        });
        let is = backend.ok(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(is["w"], json!([{ "id": "b" }]), "{field}");
    }
}

/// What an upsert left to the item must still be there: else the item ends without the default.
#[tokio::test(start_paused = true)]
async fn an_upsert_makes_the_default_of_what_is_removed_meanwhile() {
    // In an attribute of its own, and in the key of an index alone.
    for (name, field, key, removed) in [
        ("workshop", "ensureBadge", json!({ "pk": { "S": "badge-b" }, "sk": { "S": "badge" } }), "color"),
        ("ledger", "keepFlag", json!({ "PK": { "S": "Flag#b" }, "SK": { "S": "Flag" } }), "state"),
    ] {
        let backend = Backend::new(name).await;
        let make =
            |code: &str| format!("mutation {{ w: {field}(id: \"b\", code: {code:?}) {{ code value: {removed} }} }}");
        let value = backend.ok(&make("one"), json!({})).await["w"]["value"].clone();
        assert!(value.is_string(), "it has a default");
        backend.script(move |call| {
            if is_write(call.operation) && call.before == 0 {
                let attribute = if name == "ledger" { "StateKey" } else { removed };
                let update =
                    json!({ "TableName": name, "Key": key, "UpdateExpression": format!("REMOVE {attribute}") });
                call.table.apply("UpdateItem", update);
            }
            None
        });
        assert_eq!(backend.ok(&make("two"), json!({})).await["w"], json!({ "code": "two", "value": value }), "{name}");
        assert_eq!(backend.writes(), 2, "{name}: the lost race is drafted again");
    }
}

/// A default that cannot be made, because a field that it is made of is null, can be once the field has a value.
#[tokio::test(start_paused = true)]
async fn an_upsert_makes_the_default_of_what_is_set_meanwhile() {
    let backend = Backend::new("depot").await;
    backend.ok("mutation { addArticle(id: \"a\", title: \"t\") { id } }", json!({})).await;
    backend.script(|call| {
        if is_write(call.operation) && call.before == 0 {
            let key = json!({ "PK": { "S": "ARTICLE#a" }, "SK": { "S": "ARTICLE" } });
            let mut update = json!({ "TableName": "depot", "Key": key, "UpdateExpression": "SET summary = :s" });
            update["ExpressionAttributeValues"] = json!({ ":s": { "S": "s" } });
            call.table.apply("UpdateItem", update);
        }
        None
    });
    let made = backend.ok("mutation { w: makeArticle(id: \"a\", title: \"u\") { summary digest } }", json!({})).await;
    assert_eq!(made["w"], json!({ "summary": "s", "digest": "s!" }));
}
