//! Query and Scan: a page of a table or an index (API reference; developer guide, "Querying tables in DynamoDB").

use crate::store::calls::capacity::{Units, Wanted};
use crate::store::calls::key_condition::KeyCondition;
use crate::store::data::attribute::{self, Attribute, Item, item_json};
use crate::store::data::definition::IndexDefinition;
use crate::store::data::index::{entry, index_key};
use crate::store::data::key::Key;
use crate::store::data::size::{item_bytes, read_units};
use crate::store::data::table::Table;
use crate::store::error::{Answer, ModelError};
use crate::store::expressions::condition::Condition;
use crate::store::expressions::path::Path;
use crate::store::expressions::placeholders::Placeholders;
use crate::store::expressions::projection::{paths, project};
use crate::store::request::Request;
use crate::store::state::{Moment, State};
use serde_json::{Map, Value, json};

/// The most bytes of a page, before its filter.
const PAGE_BYTES: usize = 1024 * 1024;

/// Where an item stands in a table or an index: by the partition key and the sort key, and in an index, where several
/// items may have the same, by the primary key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    partition: Attribute,
    sort: Option<Attribute>,
    key: Key,
}

/// An item at its place, with what the table or index has of it.
struct Row {
    place: Place,
    held: Item,
    /// The whole item, which a local index fetches if it is wanted.
    whole: Item,
}

/// A Query, or a Scan, which has no condition.
struct Reading<'a> {
    table: &'a Table,
    index: Option<&'a IndexDefinition>,
    condition: Option<KeyCondition>,
    filter: Option<Condition>,
    projection: Option<Vec<Path>>,
    consistent: bool,
    forward: bool,
    limit: usize,
}

pub fn query(is_scan: bool, state: &State, request: Request<'_>, moment: &mut Moment<'_>) -> Answer<Value> {
    let (wanted, is_count) = (Wanted::parse(request)?, is_count(request)?);
    let reading = Reading::parse(is_scan, state, request)?;
    let start = request.get("ExclusiveStartKey").map(|key| reading.start(key)).transpose()?;
    let mut rows = reading.rows(moment);
    rows.sort_by(|one, other| one.place.cmp(&other.place));
    if !reading.forward {
        rows.reverse();
    }
    if let Some(start) = &start {
        rows.retain(|row| if reading.forward { row.place > *start } else { row.place < *start });
    }
    let (mut bytes, mut scanned, mut count, mut items, mut last) = (0, 0_usize, 0_usize, Vec::new(), None);
    for row in &rows {
        let size = item_bytes(&row.held);
        if scanned == reading.limit || (scanned > 0 && bytes + size > PAGE_BYTES) {
            break;
        }
        (bytes, scanned, last) = (bytes + size, scanned + 1, Some(row));
        if reading.filter.as_ref().is_none_or(|filter| filter.holds(&row.held)) {
            count += 1;
            items.push(item_json(&reading.projected(row)));
        }
    }
    let mut answer = Map::new();
    if !is_count {
        answer.insert("Items".to_owned(), Value::Array(items));
    }
    answer.insert("Count".to_owned(), json!(count));
    answer.insert("ScannedCount".to_owned(), json!(scanned));
    // A page that ends at its limit has a key even if nothing follows.
    if let Some(row) = last.filter(|_| scanned < rows.len() || scanned == reading.limit) {
        answer.insert("LastEvaluatedKey".to_owned(), item_json(&reading.key(row)));
    }
    let units = read_units(bytes, reading.consistent);
    let units = match reading.index {
        Some(index) => Units::only_of(index, units),
        None => Units { table: units, ..Units::default() },
    };
    let name = &reading.table.definition.name;
    answer.extend(units.json(name, wanted).map(|units| ("ConsumedCapacity".to_owned(), units)));
    Ok(Value::Object(answer))
}

fn is_count(request: Request<'_>) -> Answer<bool> {
    let words = ["", "COUNT", "ALL_ATTRIBUTES", "ALL_PROJECTED_ATTRIBUTES", "SPECIFIC_ATTRIBUTES"];
    let is_count = request.word("Select", &words)? == "COUNT";
    match is_count && request.get("ProjectionExpression").is_some() {
        true => Err(ModelError::invalid("Cannot specify the ProjectionExpression when choosing to get only the Count")),
        false => Ok(is_count),
    }
}

impl<'a> Reading<'a> {
    fn parse(is_scan: bool, state: &'a State, request: Request<'_>) -> Answer<Self> {
        let table = state.table(request.need("TableName")?.as_str().unwrap_or_default())?;
        let definition = &table.definition;
        let index = request.text("IndexName")?.map(|name| definition.index(name)).transpose()?;
        let expressions = ["KeyConditionExpression", "FilterExpression", "ProjectionExpression"];
        let placeholders = Placeholders::parse(request, &expressions)?;
        let keys = index.map_or(&definition.keys, |index| &index.keys);
        let condition = match request.text("KeyConditionExpression")? {
            Some(text) if !is_scan => Some(KeyCondition::parse(text, &placeholders, keys)?),
            None if is_scan => None,
            _ => return Err(ModelError::invalid("A Query has a KeyConditionExpression, and a Scan has none")),
        };
        let filter = request.text("FilterExpression")?;
        let filter = filter.map(|text| Condition::parse("FilterExpression", text, &placeholders)).transpose()?;
        let projection = request.text("ProjectionExpression")?.map(|text| paths(text, &placeholders)).transpose()?;
        placeholders.check_used()?;
        if let (Some(filter), false) = (&filter, is_scan) {
            let of_key = filter.paths().into_iter().find(|path| keys.has(&path.attribute));
            if let Some(path) = of_key {
                let message = "Filter Expression can only contain non-primary key attributes: Primary key attribute";
                return Err(ModelError::invalid(format!("{message}: {}", path.attribute)));
            }
        }
        let consistent = request.flag("ConsistentRead")?;
        if let Some(index) = index.filter(|index| index.is_global) {
            if consistent {
                return Err(ModelError::invalid("Consistent reads are not supported on global secondary indexes"));
            }
            let mut paths = projection.iter().flatten();
            if let Some(path) = paths.find(|path| !index.holds(&path.attribute, &definition.keys)) {
                let message = format!("Global secondary index {} does not project {}", index.name, path.attribute);
                return Err(ModelError::parameters(&message));
            }
        }
        let forward = request.get("ScanIndexForward") != Some(&Value::Bool(false));
        let limit = request.count("Limit")?.unwrap_or(usize::MAX);
        Ok(Self { table, index, condition, filter, projection, consistent, forward, limit })
    }

    /// The rows that the view has, in no order.
    fn rows(&self, moment: &mut Moment<'_>) -> Vec<Row> {
        let table_keys: Vec<&Key> = match (&self.condition, self.index) {
            // The partition of a local index is that of its table.
            (Some(condition), index) if index.is_none_or(|index| !index.is_global) => {
                self.table.keys_in(&condition.partition).collect()
            }
            _ => self.table.keys().collect(),
        };
        // A partition is seen as of one time; an index has taken over each item's changes up to a time of its own.
        let is_global = self.index.is_some_and(|index| index.is_global);
        let partition_seen = if is_global { None } else { Some(moment.seen(None, self.consistent)) };
        let mut rows = Vec::new();
        for key in table_keys {
            let seen = partition_seen.unwrap_or_else(|| moment.seen(self.table.changed(key), false));
            rows.extend(self.table.item_at(key, seen).and_then(|item| self.row(key, item)));
        }
        rows
    }

    /// The row of an item; `None` if it is not in the index or does not meet the key condition.
    fn row(&self, key: &Key, item: &Item) -> Option<Row> {
        let definition = &self.table.definition;
        let (partition, sort, held) = match self.index {
            Some(index) => {
                let (partition, sort) = index_key(item, index)?;
                (partition, sort, entry(item, index, &definition.keys)?)
            }
            None => (key.partition.clone(), key.sort.clone(), item.clone()),
        };
        if let Some(condition) = &self.condition {
            let is_in_range = condition.sort.as_ref().is_none_or(|sort| sort.holds(item));
            if partition != condition.partition || !is_in_range {
                return None;
            }
        }
        Some(Row { place: Place { partition, sort, key: key.clone() }, held, whole: item.clone() })
    }

    fn projected(&self, row: &Row) -> Item {
        match &self.projection {
            Some(paths) => project(&row.whole, paths),
            None => row.held.clone(),
        }
    }

    /// The key attributes of the table and the index.
    fn key(&self, row: &Row) -> Item {
        let definition = &self.table.definition;
        let of_key = |name: &str| definition.keys.has(name) || self.index.is_some_and(|index| index.keys.has(name));
        let attributes = row.whole.iter().filter(|(name, _)| of_key(name));
        attributes.map(|(name, value)| (name.clone(), value.clone())).collect()
    }

    /// The place after which a page begins.
    fn start(&self, key: &Value) -> Answer<Place> {
        let wrong = || ModelError::invalid("The provided starting key is invalid");
        let (given, keys) = (attribute::item(key)?, &self.table.definition.keys);
        let of_table = given.iter().filter(|(name, _)| keys.has(name));
        let of_table: Item = of_table.map(|(name, value)| (name.clone(), value.clone())).collect();
        let key = Key::exactly(&of_table, keys).map_err(|_| wrong())?;
        let (partition, sort) = match self.index {
            Some(index) => {
                let is_typed = |key: &crate::store::data::definition::KeyAttribute| {
                    given.get(&key.name).is_some_and(|value| key.is_of_type(value))
                };
                if !index.keys.attributes().all(is_typed) {
                    return Err(wrong());
                }
                index_key(&given, index).ok_or_else(wrong)?
            }
            None => (key.partition.clone(), key.sort.clone()),
        };
        let is_known = |name: &String| keys.has(name) || self.index.is_some_and(|index| index.keys.has(name));
        if !given.keys().all(is_known) {
            return Err(wrong());
        }
        if let Some(condition) = &self.condition {
            let is_in_range = condition.sort.as_ref().is_none_or(|sort| sort.holds(&given));
            if partition != condition.partition || !is_in_range {
                let message = "The provided starting key does not match the range key predicate";
                return Err(ModelError::invalid(message));
            }
        }
        Ok(Place { partition, sort, key })
    }
}
