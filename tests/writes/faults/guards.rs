//! Items whose unique values have no guard, or a guard of another item, because another program wrote them: a guard is
//! deleted by its owner only, and the write goes on.

use super::backend::{Backend, error, first, is_write};
use serde_json::{Value, json};

const TABLE: &str = "ledger";
const TAKEN: &str = "Another Sailor already has this mail.";

/// A sailor whom another program wrote, without a guard.
fn put_sailor(backend: &Backend, id: &str, mail: &str) {
    let item = json!({ "PK": { "S": format!("Sailor#{id}") }, "SK": { "S": "Sailor" }, "mail": { "S": mail } });
    backend.table.put(TABLE, item);
}

fn put_barrel(backend: &Backend, no: &str, mark: &str) {
    let item = json!({ "PK": { "S": "Hold#h" }, "SK": { "S": no }, "kind": { "S": "barrel" }, "mark": { "S": mark } });
    backend.table.put(TABLE, item);
}

/// The owner of a value's guard.
fn owner(backend: &Backend, guard: &str) -> Option<String> {
    let items = backend.table.scan(TABLE);
    let found = items.iter().find(|item| item["PK"]["S"] == guard)?;
    Some(format!("{} {}", found["ownerPK"]["S"].as_str().unwrap(), found["ownerSK"]["S"].as_str().unwrap()))
}

/// The sailor 102 has the mail `p` without a guard, and 999 has it with one.
async fn two_with_one_mail() -> Backend {
    let backend = Backend::new(TABLE).await;
    put_sailor(&backend, "102", "p");
    backend.ok("mutation { enlistOne(id: \"999\", mail: \"p\") { id } }", json!({})).await;
    assert_eq!(owner(&backend, "Unique#Sailor.mail#p").as_deref(), Some("Sailor#999 Sailor"));
    backend
}

#[tokio::test(start_paused = true)]
async fn a_guard_of_another_item_stays() {
    for field in [
        "remail(id: \"102\", mail: \"q\") { mail }",
        "reenlist(id: \"102\", mail: \"q\") { mail }",
        "reenlist(id: \"102\", mail: \"p\") { mail }",
        "remail(id: \"102\", mail: \"p\") { mail }",
        "discharge(id: \"102\") { mail }",
        "pay(a: \"102\", b: \"103\", ship: \"s\")",
    ] {
        let backend = two_with_one_mail().await;
        backend.ok("mutation { launch(id: \"s\") { id } enlistOne(id: \"103\", mail: \"r\") { id } }", json!({})).await;
        backend.ok(&format!("mutation {{ w: {field} }}"), json!({})).await;
        assert_eq!(owner(&backend, "Unique#Sailor.mail#p").as_deref(), Some("Sailor#999 Sailor"), "{field}");
        let third = backend.run("mutation { w: enlistOne(id: \"998\", mail: \"p\") { id } }", json!({})).await;
        assert_eq!((error(&third).0, error(&third).1), ("CONFLICT", TAKEN), "{field}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_guard_that_the_winner_of_a_race_wrote_for_the_same_item_is_no_conflict() {
    let backend = Backend::new(TABLE).await;
    // Before the put is sent, somebody else makes the item with its guard.
    backend.script(first(|call| {
        let key = json!({ "PK": { "S": "Sailor#1" }, "SK": { "S": "Sailor" } });
        let mut item = key.clone();
        item["mail"] = json!({ "S": "p" });
        call.table.put(TABLE, item);
        let guard = json!({
            "PK": { "S": "Unique#Sailor.mail#p" }, "SK": { "S": "Unique#Sailor.mail" },
            "ownerPK": key["PK"], "ownerSK": key["SK"],
        });
        call.table.put(TABLE, guard);
    }));
    let answer = backend.ok("mutation { reenlist(id: \"1\", mail: \"p\") { mail } }", json!({})).await;
    assert_eq!(answer["reenlist"]["mail"], "p");
    assert_eq!(owner(&backend, "Unique#Sailor.mail#p").as_deref(), Some("Sailor#1 Sailor"));
}

#[tokio::test(start_paused = true)]
async fn a_value_without_a_guard_changes_and_gets_one() {
    let backend = Backend::new(TABLE).await;
    put_sailor(&backend, "102", "p");
    backend.ok("mutation { remail(id: \"102\", mail: \"q\") { mail } }", json!({})).await;
    assert_eq!(owner(&backend, "Unique#Sailor.mail#q").as_deref(), Some("Sailor#102 Sailor"));
    assert_eq!(owner(&backend, "Unique#Sailor.mail#p"), None);
    // A value that another program changed, and one's own guard of it.
    put_sailor(&backend, "102", "s");
    backend.ok("mutation { remail(id: \"102\", mail: \"q\") { mail } }", json!({})).await;
    assert_eq!(owner(&backend, "Unique#Sailor.mail#q").as_deref(), Some("Sailor#102 Sailor"));
    let taken = backend.run("mutation { w: enlistOne(id: \"998\", mail: \"q\") { id } }", json!({})).await;
    assert_eq!((error(&taken).0, error(&taken).1), ("CONFLICT", TAKEN));
    // Nor does a change to a value that another has.
    put_sailor(&backend, "103", "z");
    let taken = backend.run("mutation { w: remail(id: \"103\", mail: \"q\") { id } }", json!({})).await;
    assert_eq!((error(&taken).0, error(&taken).1), ("CONFLICT", TAKEN));
}

/// Of a few barrels, in one transaction, and of more than a transaction holds.
#[tokio::test(start_paused = true)]
async fn dependents_and_many_items_leave_the_guards_of_others() {
    for count in [3, 130] {
        for field in ["clearBarrels(hold: \"h\") { no }", "sink(id: \"h\") { id }"] {
            let backend = Backend::new(TABLE).await;
            backend.ok("mutation { launch(id: \"h\") { id } }", json!({})).await;
            for no in 0..count {
                put_barrel(&backend, &format!("{no:03}"), &format!("mark {no}"));
            }
            backend.ok("mutation { load(hold: \"other\", no: \"1\", mark: \"mark 1\") { no } }", json!({})).await;
            backend.ok("mutation { load(hold: \"h\", no: \"own\", mark: \"own\") { no } }", json!({})).await;
            backend.ok(&format!("mutation {{ w: {field} }}"), json!({})).await;
            let left: Vec<Value> = backend
                .table
                .scan(TABLE)
                .into_iter()
                .filter(|item| item["PK"]["S"] != "Ship#h")
                .map(|item| item["PK"]["S"].clone())
                .collect();
            assert_eq!(left.len(), 2, "{count} {field}: {left:?}");
            assert_eq!(
                owner(&backend, "Unique#Barrel.mark#mark 1").as_deref(),
                Some("Hold#other 1"),
                "{count} {field}"
            );
        }
    }
}

/// A guard is another's when a change is first tried, and the item has got it before the change is tried again.
#[tokio::test(start_paused = true)]
async fn a_guard_that_an_item_gets_between_two_attempts_goes() {
    let backend = two_with_one_mail().await;
    backend.script(|call| {
        let sailor =
            |mail: &str| json!({ "PK": { "S": "Sailor#102" }, "SK": { "S": "Sailor" }, "mail": { "S": mail } });
        if is_write(call.operation) && call.before == 0 {
            call.table.put(TABLE, sailor("x"));
        } else if call.operation == "GetItem" && call.before == 1 {
            let (partition, sort) = ("Unique#Sailor.mail#p", "Unique#Sailor.mail");
            let owner = [("ownerPK", "Sailor#102"), ("ownerSK", "Sailor"), ("PK", partition), ("SK", sort)];
            let guard: Value = owner.into_iter().map(|(name, text)| (name.to_owned(), json!({ "S": text }))).collect();
            call.table.put(TABLE, guard);
            call.table.put(TABLE, sailor("p"));
        }
        None
    });
    backend.ok("mutation { remail(id: \"102\", mail: \"q\") { mail } }", json!({})).await;
    assert_eq!(owner(&backend, "Unique#Sailor.mail#q").as_deref(), Some("Sailor#102 Sailor"));
    assert_eq!(owner(&backend, "Unique#Sailor.mail#p"), None);
}
