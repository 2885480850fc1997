//! Every golden that reads returns what the naive executor returns.

use crate::naive::binding::Rules;
use crate::naive::compared::difference;
use crate::naive::document::Document;
use crate::naive::executor::Naive;
use crate::naive::pages::Cursors;
use crate::naive::rows::World;
use crate::support;
use crate::support::golden_file::Section;
use keyfold::execute::caller::Caller;
use keyfold::schema::expression::claim::ClaimPath;
use keyfold::schema::model::Model;
use keyfold::table::bulk::export_lines::parse_line;
use keyfold::table::data::attribute::{Attribute, Item};
use serde_json::Value;

/// The items of a system, table by table.
pub fn items(system: &str, model: &Model) -> Vec<Vec<Item>> {
    let (_, folder) = support::places(system);
    let of_table = |name: &str| {
        let text = std::fs::read_to_string(folder.join(format!("{name}.jsonl"))).unwrap_or_default();
        // The embedded store returns the elements of a set in ascending order; DynamoDB promises no order.
        let sorted = |attribute| match attribute {
            Attribute::Ss(mut elements) => {
                elements.sort();
                Attribute::Ss(elements)
            }
            other => other,
        };
        let items = text.lines().filter_map(|line| parse_line(line).unwrap());
        items.map(|item| item.into_iter().map(|(name, value)| (name, sorted(value))).collect::<Item>()).collect()
    };
    model.tables.iter().map(|table| of_table(&table.name)).collect()
}

/// The bindings in the text of a system's schema.
pub fn rules_of(system: &str) -> Rules {
    Rules::of(&std::fs::read_to_string(support::places(system).0).unwrap())
}

/// The items without those whose keys have claims of other callers.
pub fn named(model: &Model, caller: &Caller, mut items: Vec<Vec<Item>>) -> Vec<Vec<Item>> {
    for keys in model.types.keys().filter_map(|name| Some(model.item(name)?.1)).filter(|keys| !keys.claims().is_empty())
    {
        let is_others = |item: &Item| {
            let fields = model.tables[keys.table].primary_key().map(|key| match item.get(&key.name) {
                Some(Attribute::S(text)) => keys.keys[&key.name].iter().find_map(|template| template.read(text)),
                _ => None,
            });
            let fields: Option<Vec<_>> = fields.collect();
            let differs = |(name, value): &(String, Value)| {
                ClaimPath::parse(name).is_some_and(|claim| caller.text(&claim) != value.as_str().map(str::to_owned))
            };
            fields.is_some_and(|fields| fields.iter().flatten().any(differs))
        };
        items[keys.table].retain(|item| !is_others(item));
    }
    items
}

#[test]
fn every_golden_that_reads_gives_what_reading_field_by_field_gives() {
    let (mut compared, mut differing) = (0, String::new());
    for case in support::golden::cases() {
        let request = case.request().unwrap();
        let response: Value = serde_json::from_str(&case.section(Section::Response).unwrap()).unwrap();
        // Skip what writes, cursors in the text and global ids, which the naive executor does not know, and the schema,
        // which is not an item.
        let other = ["mutation", "after: \"", "before: \"", " node(", " nodes(", "__schema", "__type("]
            .iter()
            .any(|word| request.query.contains(word));
        let other = other || ["after", "before"].iter().any(|name| request.variables.contains_key(*name));
        if other || response.get("data").is_none() {
            continue;
        }
        let model = support::model(&case.system);
        // The naive executor knows neither services nor rules: skip what those compute, and what these hide and refuse.
        let refused = ["FORBIDDEN", "UNAUTHENTICATED"].iter().any(|code| response.to_string().contains(code));
        if refused || !model.services.is_empty() || model.types.values().any(|ty| ty.auth.hide()) {
            continue;
        }
        let document = Document::parse(&model.api, &request.query, request.variables).unwrap();
        let items = named(&model, &request.caller, items(&case.system, &model));
        let rules = rules_of(&case.system);
        let world = World { model: &model, rules: &rules, items: &items, caller: &request.caller };
        let mut cursors = Cursors::default();
        let expected = Naive::run(&world, &document, &cursors);
        if let Some(difference) = difference(&response, &expected, &mut cursors) {
            differing += &format!("--- {}::{}\n{}\n{difference}\n", case.system, case.name, request.query);
        }
        compared += 1;
    }
    assert!(compared > 100, "only {compared} goldens read");
    assert!(differing.is_empty(), "{differing}");
}
