//! GetItem and BatchGetItem (API reference; developer guide, "Read consistency").

use crate::store::calls::capacity::{Units, Wanted, by_table};
use crate::store::data::attribute::{self, Item, item_json};
use crate::store::data::key::Key;
use crate::store::data::size::{item_bytes, read_units};
use crate::store::data::table::Table;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::projection::{paths, project};
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const MOST_KEYS: usize = 100;
/// The most bytes of a batch's items.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// How items of a table are read.
struct Reading {
    consistent: bool,
    projection: Option<Vec<Path>>,
}

impl Reading {
    fn parse(request: Request<'_>) -> Answer<Self> {
        let placeholders = Placeholders::parse(request, &["ProjectionExpression"])?;
        let projection = request.text("ProjectionExpression")?.map(|text| paths(text, &placeholders)).transpose()?;
        placeholders.check_used()?;
        Ok(Self { consistent: request.flag("ConsistentRead")?, projection })
    }

    /// The item that the view has, and the units of reading it.
    fn read(&self, table: &Table, key: &Key, moment: &mut Moment<'_>) -> (Option<Item>, Units) {
        let seen = moment.seen(table.changed(key), self.consistent);
        let item = table.item_at(key, seen);
        let units = Units { table: read_units(item.map_or(0, item_bytes), self.consistent), ..Units::default() };
        let projected = item.map(|item| match &self.projection {
            Some(paths) => project(item, paths),
            None => item.clone(),
        });
        (projected, units)
    }
}

pub fn get_item(state: &State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let wanted = Wanted::parse(request)?;
    let reading = Reading::parse(request)?;
    let table = state.table(request.need("TableName")?.as_str().unwrap_or_default())?;
    let key = Key::exactly(&attribute::item(request.need("Key")?)?, &table.definition.keys)?;
    let (item, units) = reading.read(table, &key, moment);
    let mut answer = Map::new();
    answer.extend(item.map(|item| ("Item".to_owned(), item_json(&item))));
    answer.extend(units.json(&table.definition.name, wanted).map(|units| ("ConsumedCapacity".to_owned(), units)));
    Ok(Value::Object(answer))
}

pub fn batch_get(state: &State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let wanted = Wanted::parse(request)?;
    let tables = request.object("RequestItems")?.filter(|tables| !tables.is_empty());
    let tables = tables.ok_or_else(|| ModelError::invalid("RequestItems must have a table"))?;
    let mut all = Vec::new();
    for (name, body) in tables {
        let body = Request::new(body)?;
        let (reading, table, mut known) = (Reading::parse(body)?, state.table(name)?, BTreeSet::new());
        let given = body.list("Keys")?.map_or(&[][..], Vec::as_slice);
        if given.is_empty() {
            return Err(ModelError::invalid("Keys must have 1 to 100 keys"));
        }
        let mut keys = Vec::new();
        for given in given {
            let key = Key::exactly(&attribute::item(given)?, &table.definition.keys)?;
            if !known.insert(key.clone()) {
                return Err(ModelError::invalid("Provided list of item keys contains duplicates"));
            }
            keys.push((key, given));
        }
        all.push((name, body, reading, keys));
    }
    let count = all.iter().map(|(_, _, _, keys)| keys.len()).sum::<usize>();
    if count > MOST_KEYS {
        return Err(ModelError::invalid("Too many items requested for the BatchGetItem call"));
    }
    let mut left = moment.chance.processed(count).clamp(1, count);
    let (mut responses, mut unprocessed) = (Map::new(), Map::new());
    let (mut consumed, mut bytes): (BTreeMap<String, Units>, usize) = Default::default();
    for (name, body, reading, keys) in all {
        let (table, mut items, mut rest) = (state.table(name)?, Vec::new(), Vec::new());
        for (key, given) in keys {
            if left == 0 || bytes > MOST_BYTES {
                rest.push(given.clone());
                continue;
            }
            left -= 1;
            let (item, units) = reading.read(table, &key, moment);
            consumed.entry(name.clone()).or_default().add(&units);
            bytes += item.as_ref().map_or(0, item_bytes);
            items.extend(item.as_ref().map(item_json));
        }
        responses.insert(name.clone(), Value::Array(items));
        if !rest.is_empty() {
            unprocessed.insert(name.clone(), again(body, rest));
        }
    }
    let mut answer = Map::from_iter([
        ("Responses".to_owned(), Value::Object(responses)),
        ("UnprocessedKeys".to_owned(), Value::Object(unprocessed)),
    ]);
    answer.extend(by_table(&consumed, wanted).map(|units| ("ConsumedCapacity".to_owned(), units)));
    Ok(Value::Object(answer))
}

/// The part of a table's request that asks for the keys that are left.
fn again(body: Request<'_>, keys: Vec<Value>) -> Value {
    let mut again = Map::from_iter([("Keys".to_owned(), json!(keys))]);
    for member in ["ProjectionExpression", "ExpressionAttributeNames", "ConsistentRead"] {
        again.extend(body.get(member).map(|value| (member.to_owned(), value.clone())));
    }
    Value::Object(again)
}
