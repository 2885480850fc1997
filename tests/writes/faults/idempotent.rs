//! Mutations with `@idempotent`: one key writes once, however often, by whom and with what answers it is sent.

use super::backend::{Backend, Call, by, changes, error, is_write};
use crate::scripted::{LOST, REFUSED, Reply};
use futures_util::future::join_all;
use keyfold::execute::caller::Caller;
use keyfold::execute::request::Request;
use serde_json::{Value, json};
use std::time::Duration;

const SHOP: &str = r#"
extend schema @table(name: "shop", partitionKey: "PK", sortKey: "SK", timeToLive: "ttl", indexes: [
  { name: "byName", partitionKey: "name" }
])
type Query {
  account(id: ID!): Account @find
  payments(accountId: ID!): [Payment!]! @find
}
type Mutation {
  open(id: ID!, owner: ID, balance: Int!): Account! @put
  pay(accountId: ID!, amount: Int!, note: String, key: ID): Payment! @idempotent(key: "{key}")
    @update(item: Account, where: { id: "{accountId}" }, expression: "SET balance = balance - :amount", if: "balance >= :amount", message: "Too little.")
    @put
  sign(accountId: ID!, amount: Int!, key: ID!): Payment! @idempotent(key: "{key}") @put
  credit(id: ID!, amount: Int!, key: ID!): Account @idempotent(key: "{key}")
    @update(expression: "SET balance = balance + :amount, changedAt = :now")
  rename(id: ID!, name: String, key: ID!): Account @idempotent(key: "{key}") @update
  move(id: ID!, to: ID!, key: ID!): Account @idempotent(key: "{key}") @update(move: true, set: { id: "{to}" })
  close(id: ID!, key: ID!): Account @idempotent(key: "{key}") @delete(cascade: ["payments"])
  closeSurely(id: ID!, key: ID!): Account! @idempotent(key: "{key}") @delete
  closeByMembers(id: ID!, key: ID!): Account! @idempotent(key: "{key}") @auth(exists: Member, where: { id: "{auth.sub}" }) @delete
  drop(id: ID!, key: ID!): Boolean @idempotent(key: "{key}") @delete(item: Account)
  empty(accountId: ID!, key: ID!): [Payment!]! @idempotent(key: "{key}") @delete(many: true)
  payAll(accountId: ID!, amounts: [Int!]!, key: ID!): [Payment!]! @idempotent(key: "{key}")
    @put(each: "amounts", set: { amount: "{each}" })
  transfer(fromId: ID!, toId: ID!, amount: Int!, key: ID!): Transferred! @idempotent(key: "{key}")
    @find(item: Account, where: { id: "{fromId}" }, as: from)
    @find(item: Account, where: { id: "{toId}" }, as: to)
    @update(item: from, set: { balance: 0 }, if: "balance > 0")
    @update(item: to, expression: "SET balance = balance + :from.balance")
    @put(item: Payment, set: { accountId: "{toId}", amount: "{amount}" })
  replace(oldId: ID!, newId: ID!, key: ID!): Replaced! @idempotent(key: "{key}")
    @find(item: Account, where: { id: "{oldId}" }, as: old)
    @delete(item: old)
    @put(item: Account, set: { id: "{newId}", balance: "{old.balance}" })
  remark(accountId: ID!, amount: Int!, key: ID!): Remarked! @idempotent(key: "{key}")
    @auth(exists: Member, where: { id: "{auth.sub}" })
    @put(item: Payment)
  topUp(amount: Int!, key: ID!): Account @idempotent(key: "{key}")
    @update(where: { id: "{auth.account}" }, expression: "SET balance = balance + :amount")
  burst(ids: [ID!]!, key: ID!): Boolean! @idempotent(key: "{key}")
    @put(item: Member, each: "ids", set: { id: "{each}", email: "{each}" })
}
type Transferred { from: Account! to: Account! payment: Payment! ok: Boolean! }
type Remarked { payment: Payment! ok: Boolean! }
type Replaced { old: Account account: Account! }
type Account @item(keys: { PK: "ACCOUNT#{id}", SK: "ACCOUNT" }) @auth(if: "owner = auth.sub", on: [READ]) @auth(signedIn: true, on: [WRITE]) {
  id: ID!
  owner: ID @default(value: "{auth.sub}")
  balance: Int!
  name: String @unique
  changedAt: DateTime
  payments: [Payment!]! @find
}
type Payment @item(keys: { PK: "ACCOUNT#{accountId}", SK: "PAYMENT#{id}" }) @auth(signedIn: true) {
  accountId: ID!
  id: ID! @default(value: "{uuid7}")
  amount: Int!
  note: String
  token: String! @default(value: "{uuid}")
  at: DateTime! @default(value: "{now}")
}
type Member @item(keys: { PK: "MEMBER#{id}", SK: "MEMBER" }) @auth(signedIn: true) { id: ID! email: String! @unique }
"#;

const PAY: &str = r#"mutation { pay(accountId: "a", amount: 3, key: "k1") { id token at amount } }"#;

fn called_by(mut backend: Backend, sub: &str) -> Backend {
    backend.caller = by(sub);
    backend
}

async fn shop() -> Backend {
    let backend = called_by(Backend::ruled(SHOP).await, "ann");
    for (id, balance) in [("a", 10), ("b", 1)] {
        backend
            .ok(&format!(r#"mutation {{ open(id: "{id}", owner: "ann", balance: {balance}) {{ id }} }}"#), json!({}))
            .await;
    }
    backend.calm();
    backend
}

/// The items that are no records.
fn own(backend: &Backend) -> Vec<String> {
    backend.items().into_iter().filter(|item| !item.contains("Idempotent#")).collect()
}

fn records(backend: &Backend) -> usize {
    backend.items().len() - own(backend).len()
}

async fn balance(backend: &Backend, id: &str) -> Value {
    backend.ok(&format!(r#"{{ account(id: "{id}") {{ balance }} }}"#), json!({})).await["account"]["balance"].clone()
}

#[tokio::test(start_paused = true)]
async fn a_repeat_writes_nothing_and_gives_the_same() {
    let backend = shop().await;
    let first = backend.ok(PAY, json!({})).await;
    assert_eq!(backend.operations(), ["TransactWriteItems"]);
    let items = backend.items();
    backend.calm();
    assert_eq!(backend.ok(PAY, json!({})).await, first);
    // The refused transaction gives the record, and what it names is read.
    assert_eq!(backend.operations(), ["TransactWriteItems", "GetItem"]);
    assert_eq!((backend.items(), records(&backend)), (items, 1));
    assert_eq!(balance(&backend, "a").await, json!(7));
    // Another selection of the same request.
    let other =
        backend.ok(r#"mutation { pay(accountId: "a", key: "k1", amount: 3) { accountId id } }"#, json!({})).await;
    assert_eq!(other["pay"], json!({ "accountId": "a", "id": first["pay"]["id"] }));
    // Another key is another request.
    let second = backend.ok(&PAY.replace("k1", "k2"), json!({})).await;
    assert_ne!(second["pay"]["id"], first["pay"]["id"]);
    assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(4), 2));
}

/// Every kind of write: made once, and the same answer again, also if something that it relied on has changed since.
#[tokio::test(start_paused = true)]
async fn each_kind_of_write_is_made_once() {
    let mutations = [
        r#"sign(accountId: "a", amount: 3, key: "k") { id token }"#,
        r#"credit(id: "a", amount: 3, key: "k") { balance changedAt }"#,
        r#"rename(id: "a", name: "Ann", key: "k") { name balance }"#,
        r#"rename(id: "a", key: "k") { name balance }"#,
        r#"move(id: "a", to: "c", key: "k") { id balance }"#,
        r#"close(id: "a", key: "k") { id balance }"#,
        r#"close(id: "nobody", key: "k") { id balance }"#,
        r#"closeSurely(id: "a", key: "k") { id balance }"#,
        r#"drop(id: "a", key: "k")"#,
        r#"drop(id: "nobody", key: "k")"#,
        r#"empty(accountId: "a", key: "k") { amount }"#,
        r#"empty(accountId: "nobody", key: "k") { amount }"#,
        r#"payAll(accountId: "a", amounts: [1, 2, 3], key: "k") { id amount }"#,
        r#"payAll(accountId: "a", amounts: [], key: "k") { id amount }"#,
        r#"transfer(fromId: "a", toId: "b", amount: 10, key: "k") { to { balance } payment { id } ok }"#,
        r#"replace(oldId: "a", newId: "c", key: "k") { old { id balance } account { id balance } }"#,
        r#"burst(ids: ["x", "y"], key: "k")"#,
    ];
    for mutation in mutations {
        let backend = shop().await;
        for key in ["p1", "p2"] {
            backend
                .ok(&format!(r#"mutation {{ sign(accountId: "a", amount: 1, key: "{key}") {{ id }} }}"#), json!({}))
                .await;
        }
        let operation = format!("mutation {{ w: {mutation} }}");
        let before = records(&backend);
        let first = backend.ok(&operation, json!({})).await;
        let items = backend.items();
        assert_eq!(records(&backend), before + 1, "{mutation}");
        for _ in 0..2 {
            assert_eq!(backend.ok(&operation, json!({})).await, first, "{mutation}");
            assert_eq!(backend.items(), items, "{mutation}");
        }
        // Nobody else's request, and no other one, is taken for it.
        let other = called_by(backend, "bob");
        let answer = other.run(&operation, json!({})).await;
        let (code, ..) = if answer["errors"].is_null() { ("", "", String::new()) } else { error(&answer) };
        assert_ne!(code, "IDEMPOTENCY_KEY_REUSED", "{mutation}: {answer}");
    }
}

#[tokio::test(start_paused = true)]
async fn another_request_under_the_same_key_is_refused() {
    let backend = shop().await;
    backend.ok(PAY, json!({})).await;
    let items = backend.items();
    for other in [
        PAY.replace("amount: 3", "amount: 4"),
        PAY.replace("amount: 3", r#"amount: 3, note: null"#),
        // It would be refused in any case.
        PAY.replace("amount: 3", "amount: 300"),
        PAY.replace(r#"accountId: "a""#, r#"accountId: "nobody""#),
    ] {
        let answer = backend.run(&other, json!({})).await;
        assert_eq!(error(&answer).0, "IDEMPOTENCY_KEY_REUSED", "{other}: {answer}");
        assert_eq!(backend.items(), items, "{other}");
    }
    // The key of another field is another one.
    backend.ok(r#"mutation { sign(accountId: "a", amount: 4, key: "k1") { id } }"#, json!({})).await;
}

#[tokio::test(start_paused = true)]
async fn a_key_is_its_caller_s_own() {
    const SIGN: &str = r#"mutation { sign(accountId: "a", amount: 3, key: "k1") { id token } }"#;
    let backend = shop().await;
    let first = backend.ok(SIGN, json!({})).await;
    let bob = called_by(backend, "bob");
    let theirs = bob.ok(SIGN, json!({})).await;
    assert!(theirs["sign"]["id"] != first["sign"]["id"] && theirs["sign"]["token"] != first["sign"]["token"]);
    // Nobody learns by a key that another caller has sent something else.
    let pay = bob.run(&PAY.replace("amount: 3", "amount: 4"), json!({})).await;
    assert_eq!(error(&pay).0, "FORBIDDEN", "{pay}");
    let ann = called_by(bob, "ann");
    assert_eq!((ann.ok(SIGN, json!({})).await, records(&ann)), (first, 2));
}

/// A claim that says which item a mutation writes sets its requests apart.
#[tokio::test(start_paused = true)]
async fn a_key_belongs_to_the_claims_that_say_which_item_is_written() {
    const TOP_UP: &str = r#"mutation { topUp(amount: 3, key: "k") { id balance } }"#;
    let mut backend = shop().await;
    for (account, balance) in [("a", 13), ("b", 4), ("a", 13), ("b", 4)] {
        backend.caller = crate::support::caller(json!({ "sub": "ann", "account": account, "iat": 1 }));
        assert_eq!(backend.ok(TOP_UP, json!({})).await["topUp"], json!({ "id": account, "balance": balance }));
    }
    // What else a token says does not.
    backend.caller = crate::support::caller(json!({ "sub": "ann", "account": "a", "iat": 2 }));
    assert_eq!(backend.ok(TOP_UP, json!({})).await["topUp"]["balance"], json!(13));
    assert_eq!(records(&backend), 2);
}

/// Callers without a subject have one scope.
#[tokio::test(start_paused = true)]
async fn callers_without_a_subject_share_their_keys() {
    let open = SHOP
        .replace("@auth(signedIn: true)", "")
        .replace("@auth(if: \"owner = auth.sub\", on: [READ]) @auth(signedIn: true, on: [WRITE])", "");
    let mut backend = Backend::of_text(&open).await;
    let sign = r#"mutation { sign(accountId: "a", amount: 3, key: "k1") { id } }"#;
    backend.caller = Caller::anonymous();
    let first = backend.ok(sign, json!({})).await;
    assert_eq!(backend.ok(sign, json!({})).await, first);
    backend.caller = by("ann");
    assert_ne!(backend.ok(sign, json!({})).await, first);
}

/// The rules decide as they are now what a repeat shows.
#[tokio::test(start_paused = true)]
async fn a_repeat_shows_what_its_caller_may_see_now() {
    let backend = shop().await;
    let credit = r#"mutation { credit(id: "a", amount: 3, key: "k") { balance } }"#;
    assert_eq!(backend.ok(credit, json!({})).await["credit"], json!({ "balance": 13 }));
    backend.table.update("shop", ["ACCOUNT#a", "ACCOUNT"], "SET #owner = :o", json!({ ":o": { "S": "bob" } }));
    let answer = backend.run(credit, json!({})).await;
    assert_eq!((error(&answer).0, &answer["data"]["credit"]), ("FORBIDDEN", &Value::Null), "{answer}");
    // The image of a deleted item, too.
    let close = r#"mutation { close(id: "b", key: "k") { balance } }"#;
    assert_eq!(backend.ok(close, json!({})).await["close"], json!({ "balance": 1 }));
    assert_eq!(backend.ok(close, json!({})).await["close"], json!({ "balance": 1 }));
}

/// Who has lost the right to a mutation learns that it was made, and sees nothing of it.
#[tokio::test(start_paused = true)]
async fn a_repeat_asks_the_rules_of_the_mutation_again() {
    let backend = shop().await;
    let member = json!({ "PK": { "S": "MEMBER#ann" }, "SK": { "S": "MEMBER" }, "email": { "S": "a" } });
    let remark =
        |selection: &str| format!(r#"mutation {{ remark(accountId: "a", amount: 1, key: "k") {{ {selection} }} }}"#);
    assert_eq!(error(&backend.run(&remark("ok"), json!({})).await).0, "FORBIDDEN");
    backend.table.put("shop", member.clone());
    let first = backend.ok(&remark("payment { id } ok"), json!({})).await;
    backend.table.delete("shop", ["MEMBER#ann", "MEMBER"]);
    let refused = backend.run(&remark("payment { id } ok"), json!({})).await;
    assert_eq!((error(&refused).0, &refused["data"]), ("UNAVAILABLE", &Value::Null), "{refused}");
    assert!(error(&refused).1.contains("was made"), "{refused}");
    assert_eq!(backend.ok(&remark("ok"), json!({})).await, json!({ "remark": { "ok": true } }));
    backend.table.put("shop", member);
    assert_eq!(backend.ok(&remark("payment { id } ok"), json!({})).await, first);
}

/// What others did since a request shows in its repeat, and nothing of it is undone.
#[tokio::test(start_paused = true)]
async fn a_repeat_reads_anew() {
    let backend = shop().await;
    let credit = r#"mutation { credit(id: "a", amount: 3, key: "k") { balance } }"#;
    backend.ok(credit, json!({})).await;
    backend.table.update("shop", ["ACCOUNT#a", "ACCOUNT"], "SET #balance = :b", json!({ ":b": { "N": "77" } }));
    assert_eq!(backend.ok(credit, json!({})).await["credit"], json!({ "balance": 77 }));
    backend.table.delete("shop", ["ACCOUNT#a", "ACCOUNT"]);
    assert_eq!(backend.ok(credit, json!({})).await["credit"], Value::Null);
    let first = backend.ok(&PAY.replace(r#""a""#, r#""b""#).replace("3", "1"), json!({})).await;
    backend.table.delete("shop", ["ACCOUNT#b", &format!("PAYMENT#{}", first["pay"]["id"].as_str().unwrap())]);
    let answer = backend.run(&PAY.replace(r#""a""#, r#""b""#).replace("3", "1"), json!({})).await;
    assert_eq!(error(&answer).0, "UNAVAILABLE", "{answer}");
    assert!(error(&answer).1.contains("was made"), "{answer}");
    assert_eq!(balance(&backend, "b").await, json!(0));
}

/// A refusal is not recorded: the same request may succeed later.
#[tokio::test(start_paused = true)]
async fn a_refusal_is_decided_anew() {
    let backend = shop().await;
    let pay = PAY.replace("amount: 3", "amount: 30");
    for _ in 0..2 {
        assert_eq!(error(&backend.run(&pay, json!({})).await).0, "CONFLICT");
        assert_eq!(records(&backend), 0);
    }
    let close = r#"mutation { closeSurely(id: "c", key: "k") { id } }"#;
    assert_eq!(error(&backend.run(close, json!({})).await).0, "NOT_FOUND");
    assert_eq!(records(&backend), 0);
    // By a rule that looks an item up, too: who is refused by it learns nothing.
    let by_members = close.replace("closeSurely", "closeByMembers");
    assert_eq!(error(&backend.run(&by_members, json!({})).await).0, "FORBIDDEN");
    let member = json!({ "PK": { "S": "MEMBER#ann" }, "SK": { "S": "MEMBER" }, "email": { "S": "a" } });
    backend.table.put("shop", member);
    assert_eq!(error(&backend.run(&by_members, json!({})).await).0, "NOT_FOUND");
    assert_eq!(records(&backend), 0);
    backend.ok(r#"mutation { open(id: "c", owner: "ann", balance: 1) { id } }"#, json!({})).await;
    backend.ok(close, json!({})).await;
    backend.table.update("shop", ["ACCOUNT#a", "ACCOUNT"], "SET #balance = :b", json!({ ":b": { "N": "30" } }));
    backend.ok(&pay, json!({})).await;
    assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(0), 2));
}

#[tokio::test(start_paused = true)]
async fn a_request_needs_a_key() {
    let backend = shop().await;
    for operation in [
        r#"mutation { pay(accountId: "a", amount: 3) { id } }"#,
        r#"mutation { pay(accountId: "a", amount: 3, key: null) { id } }"#,
        r#"mutation { pay(accountId: "a", amount: 3, key: "") { id } }"#,
        r#"mutation { sign(accountId: "a", amount: 3, key: "") { id } }"#,
    ] {
        let answer = backend.run(operation, json!({})).await;
        assert_eq!(error(&answer).0, "BAD_USER_INPUT", "{operation}: {answer}");
    }
    assert!(backend.operations().is_empty());
}

/// The header gives the key where the argument does not, to each root field its own.
#[tokio::test(start_paused = true)]
async fn a_header_gives_the_key() {
    let backend = shop().await;
    let send = async |operation: &str, key: &str| {
        let request = Request { idempotency_key: Some(key.to_owned()), ..backend.request(operation, json!({})) };
        crate::support::run(&backend.gateway, &request, false).await
    };
    let two = r#"mutation { x: pay(accountId: "a", amount: 3) { id } y: pay(accountId: "a", amount: 3) { id } }"#;
    let first = send(two, "h").await;
    assert!(first["errors"].is_null() && first["data"]["x"]["id"] != first["data"]["y"]["id"], "{first}");
    assert_eq!(send(two, "h").await, first);
    assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(4), 2));
    // A field alone is known again by its response key.
    let y = send(r#"mutation { y: pay(accountId: "a", amount: 3) { id } }"#, "h").await;
    assert_eq!(y["data"]["y"], first["data"]["y"]);
    let other = send(r#"mutation { y: pay(accountId: "a", amount: 1) { id } }"#, "h").await;
    assert_eq!(error(&other).0, "IDEMPOTENCY_KEY_REUSED", "{other}");
    // An argument wins, and a field whose argument is never null takes none.
    let given = send(r#"mutation { pay(accountId: "a", amount: 1, key: "own") { id } }"#, "h").await;
    let again = backend.ok(r#"mutation { pay(accountId: "a", amount: 1, key: "own") { id } }"#, json!({})).await;
    assert_eq!(given["data"], again);
}

/// Records count for 24 hours, and DynamoDB may delete them later.
#[tokio::test(start_paused = true)]
async fn a_record_ends_after_a_day() {
    let backend = shop().await;
    let first = backend.ok(PAY, json!({})).await;
    let record = backend
        .table
        .scan("shop")
        .into_iter()
        .find(|item| item["PK"]["S"].as_str().unwrap().starts_with("Idempotent#"));
    let record = record.unwrap();
    let (now, ends) = (seconds(), record["ttl"]["N"].as_str().unwrap().parse::<i64>().unwrap());
    assert!((now + 86_390..=now + 86_400).contains(&ends), "{ends}");
    let key = [record["PK"]["S"].as_str().unwrap(), record["SK"]["S"].as_str().unwrap()];
    // A second before its end, and at its end.
    let set =
        |time: i64| backend.table.update("shop", key, "SET #ttl = :t", json!({ ":t": { "N": time.to_string() } }));
    set(now + 5);
    assert_eq!(backend.ok(PAY, json!({})).await, first);
    set(now - 1);
    let second = backend.ok(PAY, json!({})).await;
    assert_ne!(second["pay"]["id"], first["pay"]["id"]);
    assert_eq!(backend.ok(PAY, json!({})).await, second);
    assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(4), 1));
}

fn seconds() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn of_64_equal_requests_one_writes() {
    let backend = shop().await;
    let answers = join_all((0..64).map(|_| backend.ok(PAY, json!({})))).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(7), 1));
    // With other arguments, one wins.
    let send = async |amount: usize| {
        backend
            .run(&PAY.replace("k1", "k2").replace("amount: 3", &format!("amount: {}", amount % 4 + 1)), json!({}))
            .await
    };
    let answers = join_all((0..64).map(send)).await;
    let made: Vec<&Value> = answers.iter().filter(|answer| answer["errors"].is_null()).collect();
    assert!(made.iter().all(|answer| *answer == made[0]) && made.len() == 16, "{made:?}");
    assert!(
        answers
            .iter()
            .filter(|answer| !answer["errors"].is_null())
            .all(|answer| error(answer).0 == "IDEMPOTENCY_KEY_REUSED")
    );
    assert_eq!(balance(&backend, "a").await, json!(7 - made[0]["data"]["pay"]["amount"].as_i64().unwrap()));
}

/// The first so many writes lose their answers; some of them are made.
fn lost(count: usize, made: bool, reply: fn() -> Reply) -> impl Fn(&Call<'_>) -> Option<Reply> + Send + Sync + 'static {
    move |call| {
        if !is_write(call.operation) || call.before >= count {
            return None;
        }
        if made {
            call.table.apply(call.operation, call.body.clone());
        }
        Some(reply())
    }
}

/// Whatever becomes of the answers, the client that repeats its request knows for certain.
#[tokio::test(start_paused = true)]
async fn a_lost_answer_is_decided_by_a_repeat() {
    for (trouble, reply) in LOST.into_iter().chain(REFUSED) {
        for made in [true, false] {
            if made && REFUSED.iter().any(|(name, _)| *name == trouble) {
                continue;
            }
            for count in [1, 3, usize::MAX] {
                let backend = shop().await;
                let what = format!("{trouble}, made: {made}, {count}");
                backend.script(lost(count, made, reply));
                let answer = backend.run_within(Duration::from_secs(20), PAY, json!({})).await;
                let is_open = !answer["errors"].is_null();
                backend.calm();
                // Of a table that was silent for long, a while later.
                tokio::time::sleep(Duration::from_secs(60)).await;
                let again = backend.ok(PAY, json!({})).await;
                if !is_open {
                    assert_eq!(answer["data"], again, "{what}");
                }
                assert_eq!((balance(&backend, "a").await, records(&backend)), (json!(7), 1), "{what}: {answer}");
                assert!(count == usize::MAX || !is_open, "{what}: {answer}");
            }
        }
    }
}

/// The server forgets the token of a transaction whose answer was lost: the record knows it all the same.
#[tokio::test(start_paused = true)]
async fn a_record_outlives_its_token() {
    let backend = shop().await;
    backend.script(|call| {
        if call.operation != "TransactWriteItems" || call.before > 0 {
            return None;
        }
        call.table.apply(call.operation, call.body.clone());
        Some(Reply::Reset)
    });
    // The next attempt has another token, as a token that was forgotten.
    let first = backend.ok(PAY, json!({})).await;
    backend.calm();
    assert_eq!(backend.ok(PAY, json!({})).await, first);
    assert_eq!(balance(&backend, "a").await, json!(7));
}

/// Others keep the record, or an item of the write, busy until the deadline.
#[tokio::test(start_paused = true)]
async fn a_key_in_flight_is_waited_for() {
    let busy = || {
        let reasons =
            json!([{ "Code": "None" }, { "Code": "None" }, { "Code": "TransactionConflict", "Message": "busy" }]);
        let kind = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException";
        Reply::Body(400, json!({ "__type": kind, "Message": "canceled", "CancellationReasons": reasons }).to_string())
    };
    for (count, expected) in [(3, ""), (usize::MAX, "IDEMPOTENCY_KEY_IN_USE")] {
        let backend = shop().await;
        backend.script(lost(count, false, busy));
        let answer = backend.run_within(Duration::from_secs(10), PAY, json!({})).await;
        match expected {
            "" => assert!(answer["errors"].is_null(), "{answer}"),
            code => assert_eq!(error(&answer).0, code, "{answer}"),
        }
        backend.calm();
        backend.ok(PAY, json!({})).await;
        assert_eq!(balance(&backend, "a").await, json!(7));
    }
}

/// What one transaction does not hold with its record is refused, and nothing of it is written.
#[tokio::test(start_paused = true)]
async fn a_write_and_its_record_fit_in_a_transaction() {
    let backend = shop().await;
    let ids = |count: usize| (0..count).map(|number| format!("m{number}")).collect::<Vec<_>>();
    let burst = "mutation ($ids: [ID!]!, $key: ID!) { burst(ids: $ids, key: $key) }";
    let items = backend.items();
    // Each has a guard.
    let answer = backend.run(burst, json!({ "ids": ids(50), "key": "k" })).await;
    assert_eq!((error(&answer).0, backend.items()), ("LIMIT_EXCEEDED", items), "{answer}");
    backend.ok(burst, json!({ "ids": ids(49), "key": "k" })).await;
    assert_eq!(records(&backend), 1);
    // Dependents that go first otherwise, and many items that batches delete otherwise.
    for number in 0..101 {
        let (pk, sk) = (json!({ "S": "ACCOUNT#a" }), json!({ "S": format!("PAYMENT#{number:03}") }));
        let (token, at) = (json!({ "S": "t" }), json!({ "S": "2026-01-01T00:00:00.000Z" }));
        backend.table.put("shop", json!({ "PK": pk, "SK": sk, "amount": { "N": "1" }, "token": token, "at": at }));
    }
    let before = backend.items();
    for operation in [r#"close(id: "a", key: "k") { id }"#, r#"empty(accountId: "a", key: "k") { id }"#] {
        let answer = backend.run(&format!("mutation {{ {operation} }}"), json!({})).await;
        assert_eq!(error(&answer).0, "LIMIT_EXCEEDED", "{operation}: {answer}");
        let changed = changes(&before, &backend.items());
        assert!(changed.is_empty(), "{operation}: {changed:?}");
    }
}
