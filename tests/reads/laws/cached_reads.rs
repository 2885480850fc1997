//! A gateway with a cache gives what one without gives, whatever is written between two reads. Each form of page, each
//! index and each kind of write takes part. A change of which the cache is not notified would show: nothing grows old
//! here.

use super::choices::Choices;
use super::world::block_on;
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::execute::request::Settings;
use keyfold::schema;
use keyfold::schema::model::Model;
use keyfold::table::store::TableStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::{Arc, LazyLock};

const SCHEMA: &str = r##"
extend schema
  @table(
    name: "notes"
    partitionKey: "PK"
    sortKey: "SK"
    indexes: [
      { name: "ByRank", sortKey: "rankKey" }
      { name: "ByAuthor", partitionKey: "author", sortKey: "rankKey" }
      { name: "ByMood", partitionKey: "mood", projection: KEYS_ONLY }
    ]
  )

type Note @cacheControl(maxAge: 3600) @item(keys: { PK: "{board}", SK: "{id}", rankKey: "{rank:03}", author: "{author}", mood: "{mood}" }) {
  board: ID!
  id: ID!
  rank: Int!
  author: ID!
  mood: String
  text: String!
  neighbours: [Note!]! @find(where: { board: "{board}", id: null })
}

type NoteConnection {
  nodes: [Note!]!
  pageInfo: PageInfo!
}

type Query {
  note(board: ID!, id: ID!): Note @find
  notes(board: ID!): [Note!]! @find(where: { board: "{board}" })
  count(board: ID!): Int! @find(item: Note, where: { board: "{board}" }) @cacheControl(maxAge: 3600)
  ranked(board: ID!): [Note!]! @find(where: { board: "{board}" }, orderBy: "rank", order: DESC)
  byAuthor(author: ID!, first: Int = 2, after: String): NoteConnection! @find(orderBy: "rank", index: "ByAuthor")
  said(author: ID!, text: String!): [Note!]! @find(index: "ByAuthor", filter: "text = :text", where: { text: null })
  countOf(author: ID!): Int! @find(item: Note, index: "ByAuthor") @cacheControl(maxAge: 3600)
  inMood(mood: String!): [Note!]! @find(index: "ByMood")
  all: [Note!]! @find(scan: true)
  moods: [Note!]! @find(scan: true, index: "ByMood")
}

type Mutation {
  put(board: ID!, id: ID!, rank: Int!, author: ID!, mood: String, text: String!): Note @put(replace: true)
  create(board: ID!, id: ID!, rank: Int!, author: ID!, mood: String, text: String!): Note @put
  setText(board: ID!, id: ID!, text: String!): Note @update
  setRank(board: ID!, id: ID!, rank: Int!): Note @update
  setAuthor(board: ID!, id: ID!, author: ID!): Note @update
  setMood(board: ID!, id: ID!, mood: String): Note @update
  remove(board: ID!, id: ID!): Note @delete
  clear(board: ID!): [Note!]! @delete(many: true)
  sayAll(board: ID!, text: String!): [Note!]! @update(many: true)
  moveAll(board: ID!, author: ID!): [Note!]! @update(many: true, where: { author: null })
  swap(board: ID!, id: ID!, other: ID!, author: ID!, text: String!): Boolean!
    @update(item: Note, where: { board: "{board}", id: "{id}" }, expression: "SET author = :author")
    @update(item: Note, where: { board: "{board}", id: "{other}" }, expression: "SET text = :text")
  replace(board: ID!, id: ID!, other: ID!, rank: Int!, author: ID!, mood: String, text: String!): Boolean!
    @delete(item: Note, where: { board: "{board}", id: "{id}" })
    @put(item: Note, replace: true, set: { board: "{board}", id: "{other}", rank: "{rank}", author: "{author}", mood: "{mood}", text: "{text}" })
}
"##;

static MODEL: LazyLock<Arc<Model>> = LazyLock::new(|| match schema::load("notes.graphql", SCHEMA, &|_| None) {
    Ok((model, _)) => Arc::new(model),
    Err(mistakes) => panic!("{}", mistakes.render(false)),
});

const FIELDS: &str = "{ board id rank author mood text }";

fn read(choices: &mut Choices) -> String {
    let (board, id, author) = (choices.of(&BOARDS), choices.of(&IDS), choices.of(&AUTHORS));
    let fields = *choices.of(&[FIELDS, "{ id }", "{ id text }", "{ mood neighbours { id rank } }"]);
    match choices.below(10) {
        0 => format!("{{ note(board: {board:?}, id: {id:?}) {fields} }}"),
        1 => format!("{{ notes(board: {board:?}) {fields} }}"),
        2 => format!("{{ count(board: {board:?}) countOf(author: {author:?}) }}"),
        3 => format!("{{ ranked(board: {board:?}) {fields} }}"),
        4 => format!("{{ byAuthor(author: {author:?}) {{ nodes {fields} pageInfo {{ hasNextPage endCursor }} }} }}"),
        5 => format!("{{ said(author: {author:?}, text: \"hi\") {fields} }}"),
        6 => format!("{{ inMood(mood: \"good\") {fields} }}"),
        7 => format!("{{ all {fields} }}"),
        8 => format!("{{ moods {fields} }}"),
        _ => format!(
            "{{ byAuthor(author: {author:?}, first: 100) {{ nodes {fields} }} note(board: {board:?}, id: {id:?}) {fields} }}"
        ),
    }
}

const BOARDS: [&str; 2] = ["b", "c"];
const IDS: [&str; 4] = ["1", "2", "3", "4"];
const AUTHORS: [&str; 2] = ["ann", "bob"];

fn write(choices: &mut Choices) -> String {
    let (board, id, author) = (choices.of(&BOARDS), choices.of(&IDS), choices.of(&AUTHORS));
    let other = choices.of(&["5", "6"]);
    let (rank, text, mood) =
        (choices.below(5), choices.of(&["hi", "ho"]), choices.of(&["null", "\"good\"", "\"bad\""]));
    let whole = format!("board: {board:?}, id: {id:?}, rank: {rank}, author: {author:?}, mood: {mood}, text: {text:?}");
    let key = format!("board: {board:?}, id: {id:?}");
    let field = match choices.below(14) {
        0..3 => format!("put({whole}) {{ id }}"),
        3 => format!("create({whole}) {{ id }}"),
        4 => format!("setText({key}, text: {text:?}) {{ id }}"),
        5 => format!("setRank({key}, rank: {rank}) {{ id }}"),
        6 => format!("setAuthor({key}, author: {author:?}) {{ id }}"),
        7 => format!("setMood({key}, mood: {mood}) {{ id }}"),
        8 => format!("remove({key}) {{ id }}"),
        9 => format!("clear(board: {board:?}) {{ id }}"),
        10 => format!("sayAll(board: {board:?}, text: {text:?}) {{ id }}"),
        11 => format!("moveAll(board: {board:?}, author: {author:?}) {{ id }}"),
        12 => format!("swap({key}, other: {other:?}, author: {author:?}, text: {text:?})"),
        _ => {
            format!("replace({key}, other: {other:?}, rank: {rank}, author: {author:?}, mood: {mood}, text: {text:?})")
        }
    };
    format!("mutation {{ {field} }}")
}

async fn answer(gateway: &Gateway, text: &str) -> Value {
    support::run(gateway, &support::request(text, json!({})), false).await
}

fn cases() -> u32 {
    std::env::var("KEYFOLD_LAW_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_cached_answer_is_the_uncached_one(mut choices in Choices::any(600)) {
        block_on(async {
            let store = TableStore::in_memory().unwrap();
            store.create_missing(&MODEL.tables).await.unwrap();
            let gateway = |cache_bytes| Gateway::new(MODEL.clone(), &store, Settings { cache_bytes, ..support::settings() });
            let (cached, uncached) = (gateway(1 << 20), gateway(0));
            let mut past = Vec::new();
            for _ in 0..6 {
                past.push(write(&mut choices));
                answer(&cached, past.last().unwrap()).await;
            }
            // What is read twice is in the cache; what is read after a write must not be what was in it.
            let reads: Vec<String> = (0..4).map(|_| read(&mut choices)).collect();
            for _ in 0..12 {
                for text in &reads {
                    let (is, expected) = (answer(&cached, text).await, answer(&uncached, text).await);
                    prop_assert_eq!(is, expected, "{} after\n{}", text, past.join("\n"));
                }
                past.push(write(&mut choices));
                answer(&cached, past.last().unwrap()).await;
            }
            Ok(())
        })?;
    }
}
