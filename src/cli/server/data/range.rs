//! A search of the page in, the range of keys to read out. A value that does not fit its key is an error, whose
//! sentence the page shows.

use crate::schema::model::Model;
use crate::schema::table::number::Number;
use crate::schema::table::{KeyAttribute, KeyType, Table};
use crate::schema::template::Template;
use crate::schema::template::part::{Part, RenderMistake};
use crate::serve::console::data::{DataTrouble, ItemsQuery};
use crate::table::data::attribute::{Item, KeyValue};
use crate::table::data::call::{Query, SortCondition};
use base64::Engine;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Most items of a page. DynamoDB also ends one at a megabyte.
const PAGE: u32 = 50;

/// A table, or one of its indexes, by position.
pub struct SearchedPlace {
    pub table: usize,
    pub index: Option<usize>,
}

/// The range of keys to read; without a partition, all items.
#[derive(Default)]
pub struct SearchedRange {
    pub partition: Option<(String, KeyValue)>,
    pub sort: Option<(String, SortCondition)>,
}

/// The table or index that is asked for.
pub fn place(model: &Model, wanted: &ItemsQuery) -> Result<SearchedPlace, DataTrouble> {
    let table = table(model, &wanted.table)?;
    let Some(name) = &wanted.index else { return Ok(SearchedPlace { table, index: None }) };
    let index = model.tables[table].indexes.iter().position(|index| index.name == *name);
    match index {
        Some(_) => Ok(SearchedPlace { table, index }),
        None => Err(DataTrouble::Wrong(format!("The table {} has no index {name:?}.", wanted.table))),
    }
}

/// The position of a table.
pub fn table(model: &Model, name: &str) -> Result<usize, DataTrouble> {
    let position = model.tables.iter().position(|table| table.name == name);
    position.ok_or_else(|| DataTrouble::Wrong(format!("The schema has no table {name:?}.")))
}

/// The range that is asked for: by the texts of the keys, or by a type and the fields in its keys.
pub fn range(model: &Model, place: &SearchedPlace, wanted: &ItemsQuery) -> Result<SearchedRange, DataTrouble> {
    let (partition, sort) = model.tables[place.table].keys_of(place.index);
    let (first, begins) = match &wanted.of_type {
        Some(name) => range_of_fields(model, place, name, wanted.fields.as_deref().unwrap_or("{}"))?,
        None => (wanted.partition.clone(), wanted.begins.clone()),
    };
    let Some(first) = first.filter(|text| !text.is_empty()) else { return Ok(SearchedRange::default()) };
    let begins = begins.filter(|text| !text.is_empty());
    let sort = sort.zip(begins).map(|(key, begins)| {
        let value = value(key, &begins)?;
        // Only texts and bytes have beginnings.
        let condition =
            if key.kind == KeyType::N { SortCondition::Equal(value) } else { SortCondition::BeginsWith(value) };
        Ok((key.name.clone(), condition))
    });
    Ok(SearchedRange { partition: Some((partition.name.clone(), value(partition, &first)?)), sort: sort.transpose()? })
}

/// The partition key, and the beginning of the sort key as far as its fields are given.
fn range_of_fields(
    model: &Model,
    place: &SearchedPlace,
    name: &str,
    fields: &str,
) -> Result<(Option<String>, Option<String>), DataTrouble> {
    let fields: Map<String, Value> = serde_json::from_str(fields)
        .map_err(|error| DataTrouble::Wrong(format!("The fields are no JSON object: {error}.")))?;
    let Some((_, keys)) = model.item(name).filter(|(_, keys)| keys.table == place.table) else {
        return Err(DataTrouble::Wrong(format!("The table has no item type {name:?}.")));
    };
    let (partition, sort) = model.tables[place.table].keys_of(place.index);
    let template = |key: &KeyAttribute| keys.keys.get(&key.name).and_then(|templates| templates.first());
    let Some(of_partition) = template(partition) else {
        return Err(DataTrouble::Wrong(format!(
            "{name} has no {}, so its items are not in the index.",
            partition.name
        )));
    };
    let first = beginning(of_partition, &fields)?;
    if !first.whole {
        return Err(DataTrouble::Wrong(format!("A search needs {}.", of_partition.fields().join(", "))));
    }
    let begins = sort.and_then(template).map(|template| beginning(template, &fields)).transpose()?;
    Ok((Some(first.text), begins.map(|begins| begins.text)))
}

/// The text of a template up to the first value that is not given.
struct Beginning {
    text: String,
    whole: bool,
}

fn beginning(template: &Template, fields: &Map<String, Value>) -> Result<Beginning, DataTrouble> {
    let mut values = Map::new();
    for part in &template.parts {
        let Part::Placeholder { field, value, .. } = part else { continue };
        let Some(text) = fields.get(field).and_then(Value::as_str).filter(|text| !text.is_empty()) else { break };
        // A text is the form that keys have. The value of an enum may also be its name in the API.
        let given = value.from_text(text).or_else(|| value.coerce(&json!(text)).ok());
        let Some(given) = given else {
            return Err(DataTrouble::Wrong(format!("{text:?} is no {} for {field}.", value.name())));
        };
        values.insert(field.clone(), given);
    }
    let is_known = |part: &Part| {
        matches!(part, Part::Literal(_))
            || matches!(part, Part::Placeholder { field, .. } if values.contains_key(field))
    };
    let parts = template.parts.iter().take_while(|part| is_known(part)).count();
    let text = template.render_parts(parts, &|field| values.get(field).cloned());
    let text =
        text.map_err(|RenderMistake::Unfit(field, sentence)| DataTrouble::Wrong(format!("{field}: {sentence}")))?;
    Ok(Beginning { text: text.unwrap_or_default(), whole: parts == template.parts.len() })
}

/// The value of a key attribute; bytes are given in base64.
fn value(key: &KeyAttribute, text: &str) -> Result<KeyValue, DataTrouble> {
    let wrong = |what: &str| DataTrouble::Wrong(format!("{text:?} is no {what}, but {} is one.", key.name));
    match key.kind {
        KeyType::S => Ok(KeyValue::S(text.to_owned())),
        KeyType::N => Number::parse(text).map(|_| KeyValue::N(text.to_owned())).map_err(|_| wrong("number")),
        KeyType::B => BASE64.decode(text).map(KeyValue::B).map_err(|_| wrong("base64 text")),
    }
}

impl SearchedRange {
    /// A page of the range in a table (`None`) or an index, after a key.
    pub fn query(&self, table: &Table, index: Option<usize>, start: Option<Item>) -> Query {
        Query {
            table: table.name.as_str().into(),
            index: index.and_then(|index| table.indexes.get(index)).map(|index| index.name.as_str().into()),
            partition: self.partition.clone(),
            sort: self.sort.clone(),
            filter: None,
            projection: Some(Arc::default()),
            forward: true,
            limit: PAGE,
            start,
            consistent: false,
            max_age: None,
        }
    }

    /// The texts of the keys, as a search gives them.
    pub fn shown(&self) -> Value {
        let text = |value: &KeyValue| match value {
            KeyValue::S(text) | KeyValue::N(text) => text.clone(),
            KeyValue::B(bytes) => BASE64.encode(bytes),
        };
        let begins = self.sort.as_ref().map(|(_, condition)| match condition {
            SortCondition::BeginsWith(value) | SortCondition::Equal(value) => text(value),
            _ => String::new(),
        });
        json!({ "partition": self.partition.as_ref().map(|(_, value)| text(value)), "begins": begins })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    fn model() -> Model {
        let text = r#"
          extend schema @table(name: "teams", sortKey: "sk", indexes: [{ name: "byScore", partitionKey: "game", sortKey: "score" }])
          enum Kind { BIG @attribute(name: "big") SMALL }
          type Player @item(keys: { pk: "TEAM#{team}", sk: "{kind}#{day}#{name}", game: "{game}", score: "{score:08}" }) {
            team: ID! kind: Kind! day: Date! name: String! game: ID! score: Int!
          }
          type Query { player(team: ID!, kind: Kind!, day: Date!, name: String!): Player @find }
        "#;
        crate::schema::load("schema.graphql", text, &|_| None)
            .unwrap_or_else(|mistakes| panic!("{}", mistakes.render(false)))
            .0
    }

    fn searched(index: Option<&str>, fields: &str) -> Result<Value, DataTrouble> {
        let model = model();
        let (index, of_type) = (index.map(str::to_owned), Some("Player".to_owned()));
        let wanted =
            ItemsQuery { table: "teams".into(), index, of_type, fields: Some(fields.into()), ..ItemsQuery::default() };
        Ok(range(&model, &place(&model, &wanted)?, &wanted)?.shown())
    }

    #[test]
    fn fields_give_the_partition_and_the_sort_key_as_far_as_they_are_known() {
        let begins = |fields: &str| searched(None, fields).map(|mut shown| shown["begins"].take());
        assert_eq!(searched(None, r#"{ "team": "a" }"#), Ok(json!({ "partition": "TEAM#a", "begins": null })));
        assert_eq!(begins(r#"{ "team": "a", "kind": "big" }"#), Ok(json!("big#")));
        assert_eq!(begins(r#"{ "team": "a", "kind": "BIG", "day": "2026-01-02" }"#), Ok(json!("big#2026-01-02#")));
        assert_eq!(
            begins(r#"{ "team": "a", "kind": "BIG", "name": "Ann" }"#),
            Ok(json!("big#")),
            "what stands behind a gap is left out"
        );
        assert_eq!(
            searched(Some("byScore"), r#"{ "game": "g", "score": "7" }"#),
            Ok(json!({ "partition": "g", "begins": "00000007" }))
        );
        for (fields, said) in [
            (r#"{ "kind": "big" }"#, "needs team"),
            (r#"{ "team": "a", "kind": "odd" }"#, "no Kind"),
            ("[]", "no JSON object"),
        ] {
            assert!(matches!(searched(None, fields), Err(DataTrouble::Wrong(text)) if text.contains(said)), "{fields}");
        }
    }
}
