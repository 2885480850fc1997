//! The items of a table in, those that a project takes as its samples out: item collections by lot, so that what
//! belongs together is there together, and an item of each type.

use crate::cli::items::survey::Survey;
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::table::bulk::export_lines::write_line;
use crate::table::bulk::fit::key_digest;
use crate::table::data::attribute::Item;
use indexmap::IndexMap;
use std::collections::HashSet;

/// The most sample items of a table, and their most bytes.
const SAMPLES: usize = 500;
const SAMPLE_BYTES: usize = 2 * 1024 * 1024;
/// The most items of one item collection.
const OF_COLLECTION: usize = 100;

/// The samples of a table, a line each, in the order of the items. A key comes once.
pub fn sample(model: &Model, table: &Table, items: &[Item]) -> String {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let (mut keys, mut bytes) = (HashSet::new(), 0);
    for position in by_lot(model, table, items) {
        let item = &items[position];
        if !key_digest(table, item).is_some_and(|digest| keys.insert(digest)) {
            continue;
        }
        let line = write_line(item);
        if bytes + line.len() < SAMPLE_BYTES {
            bytes += line.len() + 1;
            lines.push((position, line));
        }
        if lines.len() == SAMPLES {
            break;
        }
    }
    lines.sort_by_key(|(position, _)| *position);
    lines.into_iter().map(|(_, line)| line + "\n").collect()
}

/// The positions of items in the order in which they are taken: an item of each type, then the rest of the collections
/// that have these, and then the others. Of each collection, the first items of its types come first.
fn by_lot(model: &Model, table: &Table, items: &[Item]) -> Vec<usize> {
    let survey = Survey::new(model, table);
    let types: Vec<Option<usize>> = items.iter().map(|item| survey.type_of(item)).collect();
    let mut collections = collections(table, items);
    // The same for the same items.
    fastrand::Rng::with_seed(0).shuffle(&mut collections);
    let (mut known, mut first) = (HashSet::new(), Vec::new());
    let (mut with_first, mut others) = (Vec::new(), Vec::new());
    for collection in collections {
        let before = first.len();
        first.extend(
            collection.iter().filter(|position| types[**position].is_some() && known.insert(types[**position])),
        );
        let mut own = HashSet::new();
        let (begin, rest): (Vec<usize>, Vec<usize>) =
            collection.into_iter().partition(|position| own.insert(types[*position]));
        let all = begin.into_iter().chain(rest).take(OF_COLLECTION);
        if first.len() > before { with_first.extend(all) } else { others.extend(all) }
    }
    [first, with_first, others].concat()
}

/// The positions of the items of each partition.
fn collections(table: &Table, items: &[Item]) -> Vec<Vec<usize>> {
    let mut collections: IndexMap<String, Vec<usize>> = IndexMap::new();
    for (position, item) in items.iter().enumerate() {
        let partition = format!("{:?}", item.get(&table.partition.name));
        collections.entry(partition).or_default().push(position);
    }
    collections.into_values().collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::schema::load;
    use crate::table::bulk::export_lines::parse_line;
    use crate::table::data::attribute::Attribute;
    use serde_json::{Value, json};

    const SCHEMA: &str = r##"
extend schema @table(name: "shop", partitionKey: "pk", sortKey: "sk")
type Customer @item(keys: { pk: "C#{id}", sk: "PROFILE" }) { id: ID! orders: [Order!]! @find(where: { customer: "{id}" }) }
type Order @item(keys: { pk: "C#{customer}", sk: "ORDER#{number}" }) { customer: ID! number: ID! }
type Offer @item(keys: { pk: "OFFER", sk: "OFFER#{name}" }) { name: ID! }
type Query { customer(id: ID!): Customer @find }
"##;

    fn item(partition: &str, sort: &str) -> Item {
        let item =
            json!({ "Item": { "pk": { "S": partition }, "sk": { "S": sort }, "text": { "S": "x".repeat(100) } } });
        parse_line(&item.to_string()).unwrap().unwrap()
    }

    fn sampled(items: &[Item]) -> Vec<(String, String)> {
        let (model, _) = load("s", SCHEMA, &|_| None).unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)));
        let text = sample(&model, &model.tables[0], items);
        let line = |line: &str| {
            let item: Value = serde_json::from_str(line).unwrap();
            let text = |name: &str| item["Item"][name]["S"].as_str().unwrap().to_owned();
            (text("pk"), text("sk"))
        };
        text.lines().map(line).collect()
    }

    #[test]
    fn what_belongs_together_is_sampled_together_and_no_type_is_missing() {
        let mut items = Vec::new();
        for customer in 0..1000 {
            items.extend((0..9).map(|order| item(&format!("C#{customer}"), &format!("ORDER#{order}"))));
            items.push(item(&format!("C#{customer}"), "PROFILE"));
        }
        items.push(item("OFFER", "OFFER#one"));
        let lines = sampled(&items);
        assert_eq!(lines.len(), SAMPLES);
        assert_eq!(lines.iter().filter(|(_, sort)| sort == "PROFILE").count(), 50);
        assert!(lines.contains(&("OFFER".into(), "OFFER#one".into())));
        let is_whole = |customer: &String| lines.iter().filter(|(partition, _)| partition == customer).count() == 10;
        let whole = lines.iter().filter(|(partition, sort)| sort == "PROFILE" && is_whole(partition));
        assert!(whole.count() >= 49);
    }

    #[test]
    fn no_type_is_missing_beside_large_collections() {
        let large =
            |customer: usize| (0..200).map(move |order| item(&format!("C#{customer}"), &format!("ORDER#{order}")));
        let mut items: Vec<Item> = (0..50).flat_map(large).collect();
        items.extend([item("C#0", "PROFILE"), item("OFFER", "OFFER#one")]);
        let lines = sampled(&items);
        assert_eq!(lines.len(), SAMPLES);
        assert!(lines.iter().any(|(_, sort)| sort == "PROFILE") && lines.iter().any(|(_, sort)| sort == "OFFER#one"));
    }

    #[test]
    fn an_item_that_is_too_large_leaves_room_for_others() {
        let mut large = item("C#1", "PROFILE");
        large.insert("text", Attribute::S("x".repeat(SAMPLE_BYTES).into()));
        let lines = sampled(&[large, item("C#1", "ORDER#1"), item("C#2", "PROFILE")]);
        assert_eq!(lines, [("C#1".into(), "ORDER#1".into()), ("C#2".into(), "PROFILE".into())]);
    }

    #[test]
    fn a_large_collection_leaves_room_for_others() {
        let mut items: Vec<Item> = (0..10_000).map(|order| item("C#large", &format!("ORDER#{order:05}"))).collect();
        items.push(item("C#large", "PROFILE"));
        items.push(item("C#small", "PROFILE"));
        let lines = sampled(&items);
        assert_eq!(lines.len(), OF_COLLECTION + 1);
        assert_eq!(lines.iter().filter(|(_, sort)| sort == "PROFILE").count(), 2);
    }
}
