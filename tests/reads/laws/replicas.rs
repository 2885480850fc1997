//! Replicas never differ: after any writes, the replicas of an item are equal, and a read of any replica returns what
//! was written.

use super::choices::Choices;
use super::world::{self, block_on};
use crate::support;
use keyfold::execute::gateway::Gateway;
use keyfold::schema::model::Model;
use keyfold::table::data::attribute::{Attribute, Item};
use keyfold::table::store::TableStore;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

static SHARDS: LazyLock<Arc<Model>> = LazyLock::new(|| support::model("shards"));

const TITLE: &str = "id genre score isbn revision marks { text }";

/// A random write.
fn write(choices: &mut Choices) -> String {
    let title = *choices.of(&["t0", "t1"]);
    let (genre, isbn, score) =
        (*choices.of(&["sf", "novel"]), *choices.of(&["null", "\"1\"", "\"2\""]), choices.below(30));
    let (id, other) = (*choices.of(&["r0", "r1"]), *choices.of(&["r2", "r3"]));
    let stars = choices.below(5);
    let field = match choices.below(18) {
        0 | 1 => format!("publish(id: \"{title}\", genre: \"{genre}\", score: {score}, isbn: {isbn}) {{ {TITLE} }}"),
        2 => format!("republish(id: \"{title}\", genre: \"{genre}\", score: {score}, isbn: {isbn}) {{ {TITLE} }}"),
        3 => format!("rate(id: \"{title}\", score: {score}) {{ {TITLE} }}"),
        4 => format!("rate(id: \"{title}\", score: {score}, revision: 2) {{ {TITLE} }}"),
        5 => format!("move(id: \"{title}\", genre: \"{genre}\") {{ {TITLE} }}"),
        6 => format!("move(id: \"{title}\", isbn: {isbn}) {{ {TITLE} }}"),
        7 => format!("mark(id: \"{title}\", text: \"{score}\") {{ {TITLE} }}"),
        8 => format!("shelve(id: \"{title}\", genre: \"{genre}\", score: {score}) {{ {TITLE} }}"),
        9 => format!("withdrawTitle(id: \"{title}\") {{ {TITLE} }}"),
        10 => format!("retire(genre: \"{genre}\") {{ {TITLE} }}"),
        11 => format!("review(titleId: \"{title}\", id: \"{id}\", stars: {stars}) {{ stars }}"),
        12 => format!("restar(titleId: \"{title}\", id: \"{id}\", stars: {stars}) {{ stars }}"),
        13 => format!("reviewBoth(titleId: \"{title}\", id: \"{id}\", other: \"{other}\", stars: {stars}) {{ stars }}"),
        14 => format!("restarBoth(titleId: \"{title}\", one: \"{id}\", other: \"{other}\", stars: {stars})"),
        15 => format!("unreviewBoth(titleId: \"{title}\", id: \"{id}\", other: \"{other}\")"),
        16 => format!("unreviewAll(titleId: \"{title}\") {{ id stars }}"),
        _ => format!("reviewAndRate(titleId: \"{title}\", id: \"{id}\", stars: {stars}) {{ stars }}"),
    };
    format!("mutation {{ written: {field} }}")
}

/// Every item of the table.
async fn everything(store: &TableStore) -> Vec<Item> {
    let mut items = Vec::new();
    let mut start = None;
    loop {
        let page = store.scan_page("hot", start, 1000, support::deadline()).await.unwrap();
        items.extend(page.items);
        start = page.last_key;
        if start.is_none() {
            return items;
        }
    }
}

/// The replicas, by their keys without the number: which replicas exist, and how many different contents they have.
fn copies(items: &[Item]) -> BTreeMap<String, (BTreeSet<String>, usize)> {
    let mut found: BTreeMap<String, (BTreeSet<String>, Vec<Item>)> = BTreeMap::new();
    let text = |item: &Item, name: &str| match item.get(name) {
        Some(Attribute::S(text)) => text.clone(),
        _ => String::new().into(),
    };
    for item in items.iter().filter(|item| ["title", "review"].iter().any(|kind| text(item, "pk").starts_with(kind))) {
        let (pk, sk) = (text(item, "pk"), text(item, "sk"));
        let (key, number) = pk.rsplit_once('#').unwrap();
        let mut rest = item.clone();
        rest.remove("pk");
        if let Some((genre, of)) = text(item, "genrePk").rsplit_once('#') {
            assert_eq!(of, number, "the number is the same in all keys");
            rest.insert("genrePk".to_owned(), Attribute::S(genre.into()));
        }
        let (numbers, contents) = found.entry(format!("{key} {sk}")).or_default();
        numbers.insert(number.to_owned());
        if !contents.contains(&rest) {
            contents.push(rest);
        }
    }
    found.into_iter().map(|(key, (numbers, contents))| (key, (numbers, contents.len()))).collect()
}

/// All replicas of every item exist and are equal.
fn check_copies(items: &[Item]) -> Result<(), String> {
    for (key, (numbers, contents)) in copies(items) {
        let count = if key.starts_with("title") { 3 } else { 60 };
        if contents != 1 || numbers.len() != count {
            return Err(format!("{key}: {contents} contents in {numbers:?}"));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn copies_never_differ(count in 1usize..12, mut choices in Choices::any(120)) {
        block_on(async {
            let store = TableStore::in_memory().unwrap();
            store.create_missing(&SHARDS.tables).await.unwrap();
            let gateway = Gateway::new(SHARDS.clone(), &store, support::settings());
            let first = ["publish(id: \"t0\", genre: \"sf\", score: 20, isbn: \"1\") { id }", "reviewBoth(titleId: \"t0\", id: \"r0\", other: \"r2\", stars: 1) { id }"];
            let mut operations: Vec<String> = first.iter().map(|field| format!("mutation {{ written: {field} }}")).collect();
            operations.extend((0..count).map(|_| write(&mut choices)));
            for operation in operations {
                let answer = support::run(&gateway, &support::request(&operation, Value::Null), false).await;
                let code = &answer["errors"][0]["extensions"]["code"];
                prop_assert!(["CONFLICT", "NOT_FOUND"].iter().any(|known| code == known) || code.is_null(), "{operation}: {answer}");
                let items = everything(&store).await;
                prop_assert_eq!(check_copies(&items), Ok(()), "after {}", operation);
                // Every reader gets the same; a scan finds it once.
                let titles = copies(&items).keys().filter(|key| key.starts_with("title")).count();
                let readers = ["ann", "bob", "cid", "dan", "eve"];
                let one = |title: &str, reader: &str| format!("{title}_{reader}: titleFor(id: \"{title}\", listener: \"{reader}\") {{ {TITLE} }}");
                let of_title = |title: &str| readers.iter().map(|reader| one(title, reader)).collect::<String>();
                let reviews = readers.iter().map(|reader| format!("r_{reader}: reviews(titleId: \"t0\", reader: \"{reader}\") {{ id stars }}"));
                let query = format!("{{ {} {} {} of: title(id: \"t0\") {{ isbn reviews {{ id stars }} }} titleCount allTitles {{ id }} }}", of_title("t0"), of_title("t1"), reviews.collect::<String>());
                let read = world::data(&gateway, &query).await;
                for what in ["t0", "t1", "r"] {
                    let seen: BTreeSet<String> = readers.iter().map(|reader| read[format!("{what}_{reader}")].to_string()).collect();
                    prop_assert_eq!(seen.len(), 1, "{:?} after {}", seen, operation);
                }
                if read["of"].is_object() {
                    prop_assert_eq!(&read["of"]["reviews"], &read["r_ann"], "whether the title has an isbn to choose by or not");
                }
                prop_assert_eq!(&read["titleCount"], &json!(titles));
                prop_assert_eq!(read["allTitles"].as_array().unwrap().len(), titles);
            }
            Ok(())
        })?;
    }
}
