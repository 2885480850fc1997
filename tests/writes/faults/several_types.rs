//! Directives on an interface or a union: the item that is found says which type it is, and is written as that type.

use super::backend::{Backend, first};
use serde_json::{Value, json};

const CHAT: &str = r#"extend schema @table(name: "chat", partitionKey: "PK", sortKey: "SK", indexes: [{ name: "byAuthor", partitionKey: "by" }])
type Query { message(chatId: ID!, id: ID!): Message @find entries(chatId: ID!): [Entry!]! @find(item: Entry) }
type Mutation {
  say(chatId: ID!, id: ID!, author: String!, text: String!): Message! @put(item: Text)
  show(chatId: ID!, id: ID!, author: String!, url: String!): Message! @put(item: Photo)
  ring(chatId: ID!, id: ID!, seconds: Int!): Entry! @put(item: Ring)
  like(chatId: ID!, id: ID!): Message! @update(expression: "SET likes = likes + 1")
  most(chatId: ID!, id: ID!, most: Int!): Message @update(expression: "SET likes = likes + 1", if: "likes < :most", message: "Enough.")
  likeAll(chatId: ID!, ids: [ID!]!): [Message!]! @update(each: "ids", where: { id: "{each}" }, expression: "SET likes = likes + 1")
  drop(chatId: ID!, id: ID!): Message @delete
  dropEntry(chatId: ID!, id: ID!): Boolean! @delete(item: Entry)
  rename(author: String!, to: String!): Message @update(where: { author: "{author}" }, set: { author: "{to}" })
  quote(chatId: ID!, id: ID!, newId: ID!): Quote!
    @find(item: Message, where: { id: "{id}" }, as: quoted)
    @update(item: quoted, expression: "SET likes = likes + 2")
    @put(item: Text, set: { id: "{newId}", author: "quote", text: "{quoted.author}: {quoted.title}" }, as: made)
  checked(chatId: ID!, id: ID!, newId: ID!, by: String!): Boolean!
    @check(item: Message, where: { id: "{id}" }, if: "author = :by", message: "Not theirs.")
    @put(item: Text, set: { id: "{newId}", author: "check", text: "of {by}" })
  clear(chatId: ID!): [Message!]! @delete(many: true)
  sayAll(chatId: ID!, ids: [ID!]!): Boolean! @put(item: Text, each: "ids", set: { id: "{each}", author: "all", text: "t" })
  showAll(chatId: ID!, ids: [ID!]!): Boolean! @put(item: Photo, each: "ids", set: { id: "{each}", author: "all", url: "u" })
  mostAll(chatId: ID!, ids: [ID!]!, most: Int!): [Message!]!
    @update(each: "ids", where: { id: "{each}" }, expression: "SET likes = likes + 1", if: "likes < :most")
  dropFound(chatId: ID!, id: ID!): Message!
    @find(item: Message, where: { id: "{id}" }, as: it)
    @delete(item: it)
    @put(item: Ring, set: { id: "of-{id}", seconds: 1 })
}
interface Message { chatId: ID! id: ID! author: String! title: String! likes: Int! }
union Entry = Text | Photo | Ring
type Text implements Message @item(keys: { PK: "CHAT#{chatId}", SK: "MSG#{id}", by: "{author}" }, attributes: { kind: "TEXT" }) {
  chatId: ID! id: ID! author: String! title: String! @default(value: "a text") likes: Int! @default(value: "0") text: String!
  others: [Text!]! @find(item: Text, where: { chatId: "{chatId}", id: null })
}
type Photo implements Message @item(keys: { PK: "CHAT#{chatId}", SK: "MSG#{id}", by: "{author}" }, attributes: { kind: "PHOTO" }) {
  chatId: ID! id: ID! author: String! title: String! @default(value: "a photo")
  likes: Int! @attribute(name: "likeCount") @default(value: "0") url: String!
}
type Ring @item(keys: { PK: "CHAT#{chatId}", SK: "RING#{id}" }) { chatId: ID! id: ID! seconds: Int! }
type Quote { quoted: Message! made: Text! }
"#;

async fn chat() -> Backend {
    let backend = Backend::of_text(CHAT).await;
    for mutation in [
        r#"say(chatId: "c", id: "1", author: "ann", text: "hi") { id }"#,
        r#"show(chatId: "c", id: "2", author: "bob", url: "u") { id }"#,
        r#"ring(chatId: "c", id: "1", seconds: 9) { __typename }"#,
    ] {
        backend.ok(&format!("mutation {{ {mutation} }}"), json!({})).await;
    }
    backend.calm();
    backend
}

const PARTS: &str = "{ __typename id likes title ... on Text { text others { id } } ... on Photo { url } }";

fn code(refused: &Value) -> &str {
    refused["errors"][0]["extensions"]["code"].as_str().unwrap_or_default()
}

#[tokio::test(start_paused = true)]
async fn an_item_is_updated_as_the_type_that_it_is() {
    let backend = chat().await;
    let like = |id: &str| format!("mutation {{ like(chatId: \"c\", id: \"{id}\") {PARTS} }}");
    let liked = backend.ok(&like("1"), json!({})).await["like"].clone();
    let others = json!([{ "id": "1" }]);
    let expected =
        json!({ "__typename": "Text", "id": "1", "likes": 1, "title": "a text", "text": "hi", "others": others });
    assert_eq!(liked, expected);
    assert_eq!(backend.operations(), ["GetItem", "UpdateItem", "Query"], "one read tells the type");
    backend.calm();
    let liked = backend.ok(&like("2"), json!({})).await["like"].clone();
    assert_eq!(liked, json!({ "__typename": "Photo", "id": "2", "likes": 1, "title": "a photo", "url": "u" }));
    assert_eq!(backend.operations(), ["GetItem", "UpdateItem"]);
    assert!(backend.items().iter().any(|item| item.contains("likeCount")), "{:?}", backend.items());
    let refused = backend.run(&like("3"), json!({})).await;
    assert_eq!(
        (code(&refused), &refused["errors"][0]["message"]),
        ("NOT_FOUND", &json!("This Message does not exist."))
    );
    let refused = backend.run("mutation { most(chatId: \"c\", id: \"2\", most: 1) { id } }", json!({})).await;
    assert_eq!((code(&refused), &refused["errors"][0]["message"]), ("CONFLICT", &json!("Enough.")));
}

#[tokio::test(start_paused = true)]
async fn each_element_is_written_as_its_own_type() {
    let backend = chat().await;
    let all = "mutation ($ids: [ID!]!) { likeAll(chatId: \"c\", ids: $ids) { __typename id likes } }";
    let liked = backend.ok(all, json!({ "ids": ["2", "1"] })).await["likeAll"].clone();
    let (photo, text) = (
        json!({ "__typename": "Photo", "id": "2", "likes": 1 }),
        json!({ "__typename": "Text", "id": "1", "likes": 1 }),
    );
    assert_eq!(liked, json!([photo, text]), "in the order of the list");
    assert_eq!(backend.operations(), ["BatchGetItem", "TransactWriteItems", "BatchGetItem"]);
    let refused = backend.run(all, json!({ "ids": ["1", "x", "2", "y"] })).await;
    assert_eq!((code(&refused), &refused["errors"][0]["extensions"]["elements"]), ("NOT_FOUND", &json!([1, 3])));
    let refused = backend.run(all, json!({ "ids": ["1", "2", "1"] })).await;
    assert_eq!(code(&refused), "BAD_USER_INPUT", "{refused}");
}

#[tokio::test(start_paused = true)]
async fn an_item_is_deleted_and_checked_as_the_type_that_it_is() {
    let backend = chat().await;
    let dropped = backend.ok(&format!("mutation {{ drop(chatId: \"c\", id: \"2\") {PARTS} }}"), json!({})).await;
    assert_eq!((&dropped["drop"]["url"], &dropped["drop"]["__typename"]), (&json!("u"), &json!("Photo")));
    let dropped = backend.ok("mutation { drop(chatId: \"c\", id: \"2\") { id } }", json!({})).await;
    assert_eq!(dropped["drop"], Value::Null);
    let check = "mutation ($id: ID!, $by: String!) { checked(chatId: \"c\", id: $id, newId: \"9\", by: $by) }";
    let refused = backend.run(check, json!({ "id": "1", "by": "bob" })).await;
    assert_eq!((code(&refused), &refused["errors"][0]["message"]), ("CONFLICT", &json!("Not theirs.")));
    let refused = backend.run(check, json!({ "id": "2", "by": "bob" })).await;
    assert_eq!(code(&refused), "NOT_FOUND");
    backend.ok(check, json!({ "id": "1", "by": "ann" })).await;
    // A text and a ring have this id.
    let refused = backend.run("mutation { dropEntry(chatId: \"c\", id: \"1\") }", json!({})).await;
    assert_eq!((code(&refused), backend.items().len()), ("BAD_USER_INPUT", 3), "{refused}");
    backend.ok("mutation { dropEntry(chatId: \"c\", id: \"9\") }", json!({})).await;
    let cleared = backend.ok("mutation { clear(chatId: \"c\") { __typename id } }", json!({})).await;
    assert_eq!(cleared["clear"], json!([{ "__typename": "Text", "id": "1" }]));
    assert_eq!(backend.items().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_index_finds_an_item_of_several_types() {
    let backend = chat().await;
    let rename = "mutation ($a: String!) { rename(author: $a, to: \"zoe\") { __typename id author } }";
    let renamed = backend.ok(rename, json!({ "a": "bob" })).await["rename"].clone();
    assert_eq!(renamed, json!({ "__typename": "Photo", "id": "2", "author": "zoe" }));
    backend.ok(rename, json!({ "a": "ann" })).await;
    let refused = backend.run(rename, json!({ "a": "zoe" })).await;
    assert_eq!(
        (code(&refused), &refused["errors"][0]["message"]),
        ("BAD_USER_INPUT", &json!("The arguments match more than one Message. Give more of its key."))
    );
}

#[tokio::test(start_paused = true)]
async fn what_is_found_is_named_updated_and_returned_as_the_type_that_it_is() {
    let backend = chat().await;
    let quote = "mutation ($id: ID!) { quote(chatId: \"c\", id: $id, newId: \"8\") { quoted { __typename id likes } made { text } } }";
    let quoted = backend.ok(quote, json!({ "id": "2" })).await["quote"].clone();
    assert_eq!(
        quoted,
        json!({ "quoted": { "__typename": "Photo", "id": "2", "likes": 2 }, "made": { "text": "bob: a photo" } })
    );
    assert_eq!(backend.operations(), ["GetItem", "TransactWriteItems", "GetItem"]);
    let refused = backend.run(quote, json!({ "id": "7" })).await;
    assert_eq!(
        (code(&refused), &refused["errors"][0]["message"]),
        ("NOT_FOUND", &json!("This Message does not exist."))
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_that_becomes_another_type_meanwhile_is_written_as_that() {
    let backend = chat().await;
    backend.script(first(|call| {
        let photo = json!({ "PK": { "S": "CHAT#c" }, "SK": { "S": "MSG#1" }, "kind": { "S": "PHOTO" }, "chatId": { "S": "c" },
            "id": { "S": "1" }, "author": { "S": "eve" }, "url": { "S": "v" }, "likeCount": { "N": "7" }, "by": { "S": "eve" } });
        call.table.put("chat", photo);
    }));
    let liked = backend.ok("mutation { like(chatId: \"c\", id: \"1\") { __typename likes } }", json!({})).await;
    assert_eq!(liked["like"], json!({ "__typename": "Photo", "likes": 8 }));
}

#[tokio::test(start_paused = true)]
async fn more_items_of_several_types_than_a_transaction_holds_are_deleted() {
    let backend = chat().await;
    let ids =
        |kind: &str, count: usize| json!({ "ids": (0..count).map(|id| format!("{kind}{id}")).collect::<Vec<_>>() });
    backend.ok("mutation ($ids: [ID!]!) { sayAll(chatId: \"c\", ids: $ids) }", ids("t", 60)).await;
    backend.ok("mutation ($ids: [ID!]!) { showAll(chatId: \"c\", ids: $ids) }", ids("p", 60)).await;
    let cleared = backend.ok("mutation { clear(chatId: \"c\") { __typename } }", json!({})).await;
    assert_eq!(cleared["clear"].as_array().unwrap().len(), 122);
    assert_eq!(backend.items().len(), 1, "only the ring is left");
}

#[tokio::test(start_paused = true)]
async fn elements_of_all_types_that_fail_alike_are_reported_together() {
    let backend = chat().await;
    let most = "mutation { mostAll(chatId: \"c\", ids: [\"1\", \"2\"], most: 0) { id } }";
    let refused = backend.run(most, json!({})).await["errors"][0].clone();
    assert_eq!(
        (&refused["extensions"]["elements"], &refused["message"]),
        (&json!([0, 1]), &json!("The condition on Message does not hold."))
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_transaction_deletes_by_its_alias_comes_back() {
    let backend = chat().await;
    let dropped = backend.ok("mutation { dropFound(chatId: \"c\", id: \"2\") { __typename id } }", json!({})).await;
    assert_eq!(dropped["dropFound"], json!({ "__typename": "Photo", "id": "2" }));
}

const OWNED: &str = r#"extend schema @table(name: "own", partitionKey: "PK", sortKey: "SK")
union Thing = Note | Mark
type Query { note(ownerId: ID!, id: ID!): Note @find }
type Mutation {
  write(ownerId: ID!, id: ID!): Boolean! @put(item: Note, set: { n: 0 })
  touch(ownerId: ID!, id: ID!): Boolean! @update(item: Thing, set: { n: 1 })
}
type Note @item(keys: { PK: "OWNER#{ownerId}", SK: "NOTE#{id}" }) @auth(if: "auth.sub = ownerId") { ownerId: ID! id: ID! n: Int! }
type Mark @item(keys: { PK: "OWNER#{ownerId}", SK: "MARK#{id}" }) @auth(if: "auth.sub = ownerId") { ownerId: ID! id: ID! n: Int! }
"#;

#[tokio::test(start_paused = true)]
async fn what_the_key_refuses_for_all_types_is_not_read() {
    let mut backend = Backend::ruled(OWNED).await;
    let touch = |id: &str| format!("mutation {{ touch(ownerId: \"{}\", id: \"{id}\") }}", super::backend::USER);
    backend.ok(&format!("mutation {{ write(ownerId: \"{}\", id: \"1\") }}", super::backend::USER), json!({})).await;
    backend.ok(&touch("1"), json!({})).await;
    backend.caller = super::backend::by("eve");
    backend.calm();
    for id in ["1", "2"] {
        assert_eq!(code(&backend.run(&touch(id), json!({})).await), "FORBIDDEN");
    }
    assert_eq!(backend.operations(), Vec::<String>::new());
}

/// The same writes, each of the one type that the item has.
const OF_ONE_TYPE: &str = r#"
  likeText(chatId: ID!, id: ID!): Text! @update(expression: "SET likes = likes + 1")
  likePhoto(chatId: ID!, id: ID!): Photo! @update(expression: "SET likes = likes + 1")
  mostText(chatId: ID!, id: ID!, most: Int!): Text @update(expression: "SET likes = likes + 1", if: "likes < :most")
  mostPhoto(chatId: ID!, id: ID!, most: Int!): Photo @update(expression: "SET likes = likes + 1", if: "likes < :most")
  dropText(chatId: ID!, id: ID!): Text @delete
  dropPhoto(chatId: ID!, id: ID!): Photo @delete
  renameText(author: String!, to: String!): Text @update(where: { author: "{author}" }, set: { author: "{to}" })
  renamePhoto(author: String!, to: String!): Photo @update(where: { author: "{author}" }, set: { author: "{to}" })
  likeEach(chatId: ID!, texts: [ID!]!, photos: [ID!]!): Boolean!
    @update(item: Text, each: "texts", where: { id: "{each}" }, expression: "SET likes = likes + 1")
    @update(item: Photo, each: "photos", where: { id: "{each}" }, expression: "SET likes = likes + 1")
  checkText(chatId: ID!, id: ID!, newId: ID!, by: String!): Boolean!
    @check(item: Text, where: { id: "{id}" }, if: "author = :by")
    @put(item: Text, set: { id: "{newId}", author: "check", text: "of {by}" })
  checkPhoto(chatId: ID!, id: ID!, newId: ID!, by: String!): Boolean!
    @check(item: Photo, where: { id: "{id}" }, if: "author = :by")
    @put(item: Text, set: { id: "{newId}", author: "check", text: "of {by}" })
"#;

/// A message of the chat as it is stored: its id, its author, and whether it is a photo.
fn messages(backend: &Backend) -> Vec<(String, String, bool)> {
    let text = |item: &Value, name: &str| item[name]["S"].as_str().unwrap_or_default().to_owned();
    let items = backend.table.scan("chat").into_iter().filter(|item| text(item, "SK").starts_with("MSG#"));
    items.map(|item| (text(&item, "SK")[4..].to_owned(), text(&item, "by"), text(&item, "kind") == "PHOTO")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_write_of_several_types_is_the_write_of_the_type_that_the_item_has() {
    for seed in 0..12_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut random = |below: u64| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state % below
        };
        let several = Backend::of_text(CHAT).await;
        let own = CHAT.replace("type Mutation {", &format!("type Mutation {{{OF_ONE_TYPE}"));
        let one = Backend::of_text(&own).await;
        for step in 0..40 {
            let there = messages(&one);
            let id = |number: u64| format!("m{number}");
            let kind = |id: &str| match there.iter().find(|(own, ..)| own == id) {
                Some((.., true)) => "Photo",
                _ => "Text",
            };
            let (first, second, author) = (id(random(5)), id(random(5)), ["ann", "bob", "zoe"][random(3) as usize]);
            let (of, of_write) = (kind(&first), random(8));
            // Of an item that is named twice, one type alone need not be read to be refused.
            if of_write > 5 && first == second {
                continue;
            }
            let (left, right) = match of_write {
                0 | 1 => {
                    let (make, given) = [("say", "text"), ("show", "url")][random(2) as usize];
                    let put =
                        format!(r#"{make}(chatId: "c", id: "{first}", author: "{author}", {given}: "x") {{ id }}"#);
                    (put.clone(), put)
                }
                2 => {
                    let given = format!(r#"(chatId: "c", id: "{first}") {{ id likes }}"#);
                    (format!("like{given}"), format!("like{of}{given}"))
                }
                3 => {
                    let given = format!(r#"(chatId: "c", id: "{first}", most: {}) {{ id likes }}"#, random(3));
                    (format!("most{given}"), format!("most{of}{given}"))
                }
                4 => {
                    let given = format!(r#"(chatId: "c", id: "{first}") {{ id likes }}"#);
                    (format!("drop{given}"), format!("drop{of}{given}"))
                }
                5 => {
                    let theirs: Vec<bool> =
                        there.iter().filter(|(_, by, _)| by == author).map(|(.., is_photo)| *is_photo).collect();
                    let of = if theirs.first() == Some(&true) { "Photo" } else { "Text" };
                    // One of each type is refused as two of one type are.
                    if theirs.contains(&true) && theirs.contains(&false) {
                        continue;
                    }
                    let given = format!(
                        r#"(author: "{author}", to: "{}") {{ id author }}"#,
                        ["ann", "new"][random(2) as usize]
                    );
                    (format!("rename{given}"), format!("rename{of}{given}"))
                }
                6 => {
                    let given = format!(r#"(chatId: "c", id: "{first}", newId: "{second}", by: "{author}")"#);
                    (format!("checked{given}"), format!("check{of}{given}"))
                }
                _ => {
                    let ids = [first.as_str(), second.as_str()];
                    let of = |wanted: &str| ids.iter().filter(|id| kind(id) == wanted).collect::<Vec<_>>();
                    let (texts, photos) = (of("Text"), of("Photo"));
                    (
                        format!(r#"likeAll(chatId: "c", ids: {ids:?}) {{ id }}"#),
                        format!(r#"likeEach(chatId: "c", texts: {texts:?}, photos: {photos:?})"#),
                    )
                }
            };
            let answers = (
                several.run(&format!("mutation {{ r: {left} }}"), json!({})).await,
                one.run(&format!("mutation {{ r: {right} }}"), json!({})).await,
            );
            assert_eq!(
                code(&answers.0),
                code(&answers.1),
                "seed {seed}, step {step}: {left}\n{}\n{right}\n{}",
                answers.0,
                answers.1
            );
            if !left.starts_with("likeAll") {
                assert_eq!(answers.0["data"], answers.1["data"], "seed {seed}, step {step}: {left}");
            }
            assert_eq!(several.items(), one.items(), "seed {seed}, step {step}: {left}");
        }
    }
}
