//! A search of the page in, the range of keys to read out. A value that does not fit its key is an error, whose
//! sentence the page shows.

use crate::schema::model::Model;
use crate::schema::table::number::Number;
use crate::schema::table::{KeyAttribute, KeyAttributes, KeyType, Table};
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
    /// The other attributes of an index's key that have one value each.
    pub equal: Vec<(String, KeyValue)>,
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

/// The texts of key attributes that are searched for, by their names. The text of the last attribute of a sort key is a
/// beginning.
type SearchedTexts = Vec<(String, String)>;

/// The range that is asked for: by the texts of the keys, or by a type and the fields in its keys.
pub fn range(model: &Model, place: &SearchedPlace, wanted: &ItemsQuery) -> Result<SearchedRange, DataTrouble> {
    let keys = model.tables[place.table].keys_of(place.index);
    let texts = match &wanted.of_type {
        Some(name) => texts_of_fields(model, place, name, &object(wanted.fields.as_deref(), "fields")?)?,
        None => texts_of_keys(keys, wanted)?,
    };
    let text = |key: &KeyAttribute| {
        let known = texts.iter().find(|(name, _)| *name == key.name);
        known.map(|(_, text)| text.as_str()).filter(|text| !text.is_empty())
    };
    let mut range = SearchedRange::default();
    for (position, key) in keys.partition.iter().enumerate() {
        match (text(key), position) {
            (Some(text), 0) => range.partition = Some((key.name.clone(), value(key, text)?)),
            (Some(text), _) => range.equal.push((key.name.clone(), value(key, text)?)),
            (None, 0) => return Ok(range),
            (None, _) => return Err(DataTrouble::Wrong(format!("A search needs {}, too.", key.name))),
        }
    }
    // A sort key is known from the left.
    let mut given = keys.sort.iter().map_while(|key| Some((key, text(key)?))).peekable();
    while let Some((key, text)) = given.next() {
        let (name, value) = (key.name.clone(), value(key, text)?);
        match given.peek() {
            Some(_) => range.equal.push((name, value)),
            // Only texts and bytes have beginnings.
            None if key.kind == KeyType::N => range.sort = Some((name, SortCondition::Equal(value))),
            None => range.sort = Some((name, SortCondition::BeginsWith(value))),
        }
    }
    Ok(range)
}

/// The texts of the keys as they are given.
fn texts_of_keys(keys: KeyAttributes<'_>, wanted: &ItemsQuery) -> Result<SearchedTexts, DataTrouble> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let further = object(wanted.equal.as_deref(), "further keys")?;
    let first = keys.partition.first().zip(wanted.partition.clone());
    let begins = keys.sort.first().zip(wanted.begins.clone());
    let own = first.into_iter().chain(begins).map(|(key, text)| (key.name.clone(), text));
    Ok(own.chain(further.iter().map(|(name, value)| (name.clone(), text(value)))).collect())
}

fn object(text: Option<&str>, what: &str) -> Result<Map<String, Value>, DataTrouble> {
    serde_json::from_str(text.unwrap_or("{}"))
        .map_err(|error| DataTrouble::Wrong(format!("The {what} are no JSON object: {error}.")))
}

/// The partition key, and the sort key as far as its fields are given.
fn texts_of_fields(
    model: &Model,
    place: &SearchedPlace,
    name: &str,
    fields: &Map<String, Value>,
) -> Result<SearchedTexts, DataTrouble> {
    let Some((_, keys)) = model.item(name).filter(|(_, keys)| keys.table == place.table) else {
        return Err(DataTrouble::Wrong(format!("The table has no item type {name:?}.")));
    };
    let of_place = model.tables[place.table].keys_of(place.index);
    let template = |key: &KeyAttribute| keys.keys.get(&key.name).and_then(|templates| templates.first());
    let mut texts = SearchedTexts::new();
    for key in of_place.partition {
        let Some(of_partition) = template(key) else {
            let message = format!("{name} has no {}, so its items are not in the index.", key.name);
            return Err(DataTrouble::Wrong(message));
        };
        let first = beginning(of_partition, fields)?;
        if !first.whole {
            return Err(DataTrouble::Wrong(format!("A search needs {}.", of_partition.fields().join(", "))));
        }
        texts.push((key.name.clone(), first.text));
    }
    for key in of_place.sort {
        let Some(begins) = template(key).map(|template| beginning(template, fields)).transpose()? else { break };
        texts.push((key.name.clone(), begins.text));
        if !begins.whole {
            break;
        }
    }
    Ok(texts)
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
            equal: self.equal.clone(),
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
        let mut shown = json!({ "partition": self.partition.as_ref().map(|(_, value)| text(value)), "begins": begins });
        if !self.equal.is_empty() {
            shown["equal"] = self.equal.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)]
    use super::*;

    fn model() -> Model {
        let text = r#"
          extend schema @table(name: "teams", sortKey: "sk", indexes: [
            { name: "byScore", partitionKey: "game", sortKey: "score" }
            { name: "bySeason", partitionKey: ["game", "team"], sortKey: ["season", "points"] }])
          enum Kind { BIG @attribute(name: "big") SMALL }
          type Player @item(keys: { pk: "TEAM#{team}", sk: "{kind}#{day}#{name}", game: "{game}", score: "{score:08}" }) {
            team: ID! kind: Kind! day: Date! name: String! game: ID! score: Int! season: Int! points: Int!
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
    fn texts_of_several_attributes_are_given_by_their_names() {
        let model = model();
        let asked = |pk: Option<&str>, equal: &str| {
            let wanted = ItemsQuery {
                table: "teams".into(),
                index: Some("bySeason".into()),
                partition: pk.map(str::to_owned),
                equal: Some(equal.into()),
                ..ItemsQuery::default()
            };
            Ok::<_, DataTrouble>(range(&model, &place(&model, &wanted)?, &wanted)?.shown())
        };
        assert_eq!(
            asked(Some("g"), r#"{ "team": "a", "season": 7 }"#),
            Ok(json!({ "partition": "g", "equal": { "team": "a" }, "begins": "7" }))
        );
        assert_eq!(asked(None, "{}"), Ok(json!({ "partition": null, "begins": null })), "all items");
        for (equal, said) in
            [("{}", "needs team"), (r#"{ "team": "a", "season": "x" }"#, "no number"), ("[]", "no JSON")]
        {
            assert!(matches!(asked(Some("g"), equal), Err(DataTrouble::Wrong(text)) if text.contains(said)), "{equal}");
        }
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
        let standings = r#"{ "game": "g", "team": "a", "season": "7", "points": "8" }"#;
        assert_eq!(
            searched(Some("bySeason"), standings),
            Ok(json!({ "partition": "g", "equal": { "team": "a", "season": "7" }, "begins": "8" }))
        );
        assert_eq!(
            searched(Some("bySeason"), r#"{ "game": "g", "team": "a", "points": "8" }"#),
            Ok(json!({ "partition": "g", "equal": { "team": "a" }, "begins": null })),
            "a sort key is known from the left"
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
