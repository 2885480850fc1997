//! `@put(expression:)`: values of new items that are computed of arguments, literals and found items.

use super::backend::{Backend, error, first};
use serde_json::{Value, json};

const DESK: &str = r#"extend schema @table(name: "desk", partitionKey: "PK", sortKey: "SK")
type Query { issue(repo: ID!, number: Int!): Issue @find }
type Mutation {
  addRepo(id: ID!, last: Int!): Repo! @put
  openIssue(repoId: ID!, title: String!): Issue!
    @find(item: Repo)
    @update(item: Repo, expression: "SET last = last + 1")
    @put(item: Issue, expression: "SET repo = :repoId, number = :Repo.last + 1, state = 'OPEN', isNew = true")
  book(id: ID!, amount: Decimal!, fee: Decimal!, count: Int!, rate: Float!, tags: [String!], place: PlaceInput): Booking!
    @put(expression: "SET amount = 0 - :amount, total = :amount + :fee, count = :count - 1, rate = :rate + 0.5, labels = :tags, at = :place, by = :auth.sub")
  bookFor(repoId: ID!, id: ID!, count: Int!): Booking!
    @check(item: Repo, where: { id: "{repoId}" }, if: "attribute_exists(id)")
    @find(item: Repo, where: { id: "{repoId}" })
    @put(item: Booking, expression: "SET id = :id, amount = 1, count = :count - 1, rate = 1")
  bookAll(lines: [LineInput!]!): [Booking!]!
    @put(each: "lines", expression: "SET count = :index + 1, amount = :amount - 1, rate = 1")
}
type Repo @item(keys: { PK: "REPO#{id}", SK: "REPO" }) { id: ID! last: Int! }
type Issue @item(keys: { PK: "REPO#{repo}", SK: "ISSUE#{number:06}" }) { repo: ID! number: Int! title: String! state: State! isNew: Boolean }
type Booking @item(keys: { PK: "BOOKING#{id}", SK: "BOOKING" }) {
  id: ID! amount: Decimal! total: Decimal count: Int! @constraint(min: 0) rate: Float! labels: [String!] at: Place by: String
}
type Place { street: String box: Int! @default(value: "7") }
enum State { OPEN CLOSED }
input PlaceInput { street: String }
input LineInput { id: ID! amount: Decimal! }
"#;

async fn desk() -> Backend {
    let backend = Backend::of_text(DESK).await;
    backend.ok(r#"mutation { addRepo(id: "r", last: 41) { id } }"#, json!({})).await;
    backend.calm();
    backend
}

const BOOK: &str = "mutation ($id: ID!, $amount: Decimal!, $fee: Decimal!, $count: Int!, $rate: Float!, $tags: [String!], $place: PlaceInput) { \
    book(id: $id, amount: $amount, fee: $fee, count: $count, rate: $rate, tags: $tags, place: $place) { amount total count rate labels at { street box } by } }";

#[tokio::test(start_paused = true)]
async fn a_number_of_a_found_item_counts_on_in_the_key_of_the_new_one() {
    let backend = desk().await;
    let open = r#"mutation { openIssue(repoId: "r", title: "t") { number state isNew title } }"#;
    let opened = backend.ok(open, json!({})).await["openIssue"].clone();
    assert_eq!(opened, json!({ "number": 42, "state": "OPEN", "isNew": true, "title": "t" }));
    assert_eq!(backend.operations(), ["GetItem", "TransactWriteItems"]);
    // Somebody else takes the next number between the read and the write.
    backend.script(first(|call| {
        call.table.update("desk", ["REPO#r", "REPO"], "SET #last = :n", json!({ ":n": { "N": "50" } }));
    }));
    assert_eq!(backend.ok(open, json!({})).await["openIssue"]["number"], 51);
}

#[tokio::test(start_paused = true)]
async fn sums_are_exact_and_of_the_type_of_their_field() {
    let backend = desk().await;
    let given = json!({ "id": "a", "amount": "0.10", "fee": "0.20", "count": 1, "rate": 1.25, "tags": ["x"], "place": { "street": "s" } });
    let booked = backend.ok(BOOK, given).await["book"].clone();
    let at = json!({ "street": "s", "box": 7 });
    let expected = json!({ "amount": "-0.1", "total": "0.3", "count": 0, "rate": 1.75, "labels": ["x"], "at": at,
        "by": super::backend::USER });
    assert_eq!(booked, expected);
    // What is not given sets nothing.
    let given = json!({ "id": "b", "amount": "1", "fee": "-1", "count": 1, "rate": 0 });
    let booked = backend.ok(BOOK, given).await["book"].clone();
    assert_eq!((&booked["total"], &booked["labels"], &booked["at"]), (&json!("0"), &Value::Null, &Value::Null));
}

#[tokio::test(start_paused = true)]
async fn what_no_field_can_hold_is_refused_before_anything_is_written() {
    let backend = desk().await;
    let base = json!({ "id": "a", "amount": "1", "fee": "1", "count": 1, "rate": 0 });
    for (field, value, says) in [
        ("count", json!(0), "Booking.count must be 0 or more, but is -1."),
        ("count", json!(i32::MIN), "Booking.count would be -2147483649, which is not of type Int."),
        ("amount", json!("99999999999999999999999999999999999999.5"), ""),
    ] {
        let mut given = base.clone();
        given[field] = value;
        let refused = backend.run(BOOK, given).await;
        let (code, message, _) = error(&refused);
        assert!(code == "BAD_USER_INPUT" && message.contains(says), "{refused}");
    }
    let mut given = base.clone();
    (given["amount"], given["fee"]) = (json!("99999999999999999999999999999999999999"), json!("0.5"));
    let refused = backend.run(BOOK, given).await;
    assert!(error(&refused).1.contains("which has more digits than a number of DynamoDB"), "{refused}");
    assert_eq!(backend.writes(), 0);
}

#[tokio::test(start_paused = true)]
async fn each_element_has_its_own_sum() {
    let backend = desk().await;
    let query =
        r#"mutation { bookAll(lines: [{ id: "a", amount: "5" }, { id: "b", amount: "7" }]) { id count amount } }"#;
    let booked = backend.ok(query, json!({})).await["bookAll"].clone();
    let expected = json!([{ "id": "a", "count": 1, "amount": "4" }, { "id": "b", "count": 2, "amount": "6" }]);
    assert_eq!(booked, expected);
}

#[tokio::test(start_paused = true)]
async fn what_the_request_alone_computes_is_checked_before_anything_is_read() {
    let backend = desk().await;
    let book = r#"mutation { bookFor(repoId: "none", id: "a", count: 0) { id } }"#;
    let refused = backend.run(book, json!({})).await;
    assert_eq!(error(&refused).1, "Booking.count must be 0 or more, but is -1.", "{refused}");
    assert_eq!(backend.operations(), Vec::<String>::new());
}
