//! BatchGetItem: up to 100 keys of any tables in; their items and their cost out. Must not know what a request is.

use super::call_means::CallMeans;
use super::known_partition::asked_attributes;
use crate::table::attempt::failure::AttemptFailure;
use crate::table::data::attribute::{AttributeName, AttributeNames, Item};
use crate::table::data::call::joined_tables;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::expressions::{Expressions, text};
use crate::table::data::key_identity::KeyIdentity;
use crate::table::data_store::{GetResult, ItemRequest, Metered};
use crate::table::embedded::engine::SHORT_ITEMS;
use crate::table::embedded::run::EngineRun;
use crate::table::embedded::turns::Length;
use crate::table::embedded::values as engine;
use crate::table::json::decode::{AnswerJson, AnswerReader, JsonItem};
use crate::table::json::encode::BodyWriter;
use crate::table::json::reader::JsonResult;
use crate::table::makers::call::{Call, EngineAnswer};
use crate::table::retry::backoff::Backoff;
use crate::table::sdk::convert::{self, arc_from_sdk, item_from_sdk, key_to_sdk, strong, unknown_type};
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{KeysAndAttributes, ReturnConsumedCapacity};
use dynoxide::DynoxideError;
use dynoxide::actions::batch_get_item::{BatchGetItemRequest, KeysAndAttributes as EngineKeys};
use foldhash::quality::RandomState;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tokio::time::Instant;

/// Reads up to 100 items. Unprocessed keys are asked for again until the deadline. Gives the results in the
/// order of `wanted` and the capacity units consumed.
pub(in crate::table) async fn batch_get_items(
    caller: CallMeans<'_>,
    wanted: &[ItemRequest<'_>],
    deadline: Instant,
) -> Metered<Vec<GetResult>> {
    let mut outcomes: Vec<GetResult> = vec![Ok(None); wanted.len()];
    // A batch has few keys, so that even keys with equal hashes take no time to speak of.
    let mut places: HashMap<_, usize, RandomState> =
        HashMap::with_capacity_and_hasher(wanted.len(), RandomState::default());
    places.extend(wanted.iter().enumerate().map(|(i, item)| ((item.table, KeyIdentity::from_key(item.key)), i)));
    let place = |table: &str, found: &Item| {
        let shape = wanted.iter().find(|item| item.table == table)?;
        places.get(&(shape.table, KeyIdentity::from_item(found, shape.key)?)).copied()
    };
    let mut open: Vec<usize> = (0..wanted.len()).collect();
    let (mut capacity, mut backoff) = (0.0, Backoff::new(caller.budget));
    let mut call = BatchGetItem { tables: by_table(wanted, &open) };
    let tables = joined_tables(call.tables.keys().copied());
    let attempts = caller.attempts(call.operation(), &tables, deadline);
    loop {
        let answer = attempts.send(|| caller.make(&call)).await;
        let (read, units) = match answer {
            Ok(answer) => answer,
            Err(error) => return (fail(outcomes, &open, &error), capacity),
        };
        capacity += units;
        let mut strange = None;
        for (table, item) in read.items {
            match place(&table, &item) {
                Some(i) => outcomes[i] = Ok(Some(item)),
                None => strange = Some(not_asked_for(&table)),
            }
        }
        // The item's key is unknown, so any of the open keys may be its key: none can be reported as missing.
        if let Some(error) = strange {
            return (fail(outcomes, &open, &error), capacity);
        }
        let left: Option<Vec<usize>> = read.unprocessed.iter().map(|(table, key)| place(table, key)).collect();
        // If an unprocessed key is none of ours, any key without an answer may be meant.
        let still_open =
            left.unwrap_or_else(|| open.iter().copied().filter(|i| matches!(outcomes[*i], Ok(None))).collect());
        let progress = still_open.len() < open.len();
        open = still_open;
        open.sort_unstable();
        if open.is_empty() {
            return (outcomes, capacity);
        }
        caller.throttled(attempts.table);
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("BatchGetItem {}: {} keys are still unprocessed", attempts.table, open.len());
            return (fail(outcomes, &open, &TableError { kind: TableErrorKind::Throttled, detail }), capacity);
        }
        call = BatchGetItem { tables: by_table(wanted, &open) };
    }
}

/// A BatchGetItem: for each table its requests, which have one projection.
struct BatchGetItem<'a> {
    tables: BTreeMap<&'a str, Vec<ItemRequest<'a>>>,
}

/// What one BatchGetItem found.
#[derive(Debug, Default)]
struct BatchRead {
    /// The items, each with its table.
    items: Vec<(Arc<str>, Arc<Item>)>,
    /// The keys that were not read, each with its table.
    unprocessed: Vec<(String, Item)>,
}

/// The JSON of its answer.
#[derive(Default)]
struct Answer {
    read: BatchRead,
    units: f64,
}

impl AnswerJson for Answer {
    fn member(&mut self, name: &str, answer: &mut AnswerReader<'_>) -> JsonResult<()> {
        match name {
            "Responses" => answer.members(|answer, table| {
                let table: Arc<str> = table.into();
                self.read.items.extend(answer.items(&[], None)?.into_iter().map(|item| (table.clone(), item)));
                Ok(())
            })?,
            "UnprocessedKeys" => {
                let tables: Option<HashMap<String, UnprocessedKeys>> = answer.value()?;
                for (table, rest) in tables.into_iter().flatten() {
                    self.read.unprocessed.extend(rest.for_table(&table));
                }
            }
            "ConsumedCapacity" => self.units = answer.units()?,
            _ => answer.ignore()?,
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct UnprocessedKeys {
    keys: Vec<JsonItem>,
}

impl UnprocessedKeys {
    fn for_table(self, table: &str) -> impl Iterator<Item = (String, Item)> {
        self.keys.into_iter().map(move |JsonItem(key)| (table.to_owned(), key))
    }
}

impl Call for BatchGetItem<'_> {
    type Answer = BatchRead;
    type Json = Answer;

    fn operation(&self) -> &'static str {
        "BatchGetItem"
    }

    fn body(&self, body: &mut BodyWriter) {
        body.object("RequestItems", |body| {
            for (table, requests) in &self.tables {
                body.object(table, |body| {
                    body.keys("Keys", requests.iter().map(|request| request.key));
                    let (projection, consistent) = shared(requests);
                    body.expressions(&Expressions::default().project(asked_attributes(projection, None)));
                    body.consistent(consistent);
                });
            }
        });
    }

    fn answer(&self, Answer { read, units }: Answer) -> Result<Metered<BatchRead>, AttemptFailure> {
        Ok((read, units))
    }

    async fn by_sdk(&self, client: &Client) -> Result<Metered<BatchRead>, AttemptFailure> {
        let requests = self.tables.iter().map(|(table, requests)| {
            let (projection, consistent) = shared(requests);
            let built = Expressions::default().project(asked_attributes(projection, None));
            let request = KeysAndAttributes::builder()
                .set_keys(Some(requests.iter().map(|request| key_to_sdk(request.key)).collect()))
                .set_projection_expression(text(&built.projection))
                .set_expression_attribute_names(built.names_map())
                .set_consistent_read(strong(consistent));
            // Building fails only without keys, and every table here has one.
            Some(((*table).to_owned(), request.build().ok()?))
        });
        let request = client.batch_get_item().return_consumed_capacity(ReturnConsumedCapacity::Total);
        let output = request.set_request_items(requests.collect()).send().await?;
        let capacity = convert::units(output.consumed_capacity());
        let mut read = BatchRead::default();
        for (table, found) in output.responses.unwrap_or_default() {
            let table: Arc<str> = table.into();
            for item in found {
                read.items.push((table.clone(), arc_from_sdk(item)?));
            }
        }
        for (table, rest) in output.unprocessed_keys.unwrap_or_default() {
            for key in rest.keys {
                read.unprocessed.push((table.clone(), item_from_sdk(key).ok_or_else(unknown_type)?));
            }
        }
        Ok((read, capacity))
    }

    fn length(&self) -> Length {
        Length::short_if(self.tables.values().map(Vec::len).sum::<usize>() <= SHORT_ITEMS)
    }

    fn by_engine(&self) -> impl FnOnce(&EngineRun<'_>) -> EngineAnswer<BatchRead> + Send + 'static {
        let mut projections: HashMap<String, AttributeNames> = HashMap::new();
        let tables = self.tables.iter().map(|(table, requests)| {
            let (projection, consistent) = shared(requests);
            projections.insert((*table).to_owned(), projection.into());
            let keys = requests.iter().map(|request| engine::key(request.key)).collect::<Result<_, _>>()?;
            Ok(((*table).to_owned(), EngineKeys { keys, consistent_read: strong(consistent), ..EngineKeys::default() }))
        });
        let tables: Result<_, DynoxideError> = tables.collect();
        move |run| {
            let request = BatchGetItemRequest { request_items: tables?, return_consumed_capacity: engine::total() };
            let answer = run.database.batch_get_item(request)?;
            let mut read = BatchRead::default();
            for (table, found) in answer.responses {
                let projection = projections.remove(&table).unwrap_or_default();
                let table: Arc<str> = table.into();
                read.items.extend(engine::items(found, projection).map(|item| (table.clone(), item)));
            }
            for (table, rest) in answer.unprocessed_keys {
                // The engine has only the JSON of them.
                let rest: UnprocessedKeys = serde_json::from_value(rest)
                    .map_err(|error| DynoxideError::InternalServerError(error.to_string()))?;
                read.unprocessed.extend(rest.for_table(&table));
            }
            Ok((read, engine::units(answer.consumed_capacity.iter().flatten())))
        }
    }
}

/// The attributes to read of a table's items, and whether to read strongly.
fn shared<'a>(requests: &[ItemRequest<'a>]) -> (&'a [AttributeName], bool) {
    let projection = requests.first().map_or(&[][..], |request| request.projection);
    (projection, requests.iter().any(|request| request.consistent))
}

fn by_table<'a>(wanted: &[ItemRequest<'a>], open: &[usize]) -> BTreeMap<&'a str, Vec<ItemRequest<'a>>> {
    let mut tables: BTreeMap<&str, Vec<ItemRequest<'_>>> = BTreeMap::new();
    for &i in open {
        tables.entry(wanted[i].table).or_default().push(wanted[i]);
    }
    tables
}

/// Gives the error to the items that are still open. Items that were read keep their results.
fn fail(mut outcomes: Vec<GetResult>, open: &[usize], error: &TableError) -> Vec<GetResult> {
    for &i in open {
        if matches!(outcomes[i], Ok(None)) {
            outcomes[i] = Err(error.clone());
        }
    }
    outcomes
}

fn not_asked_for(table: &str) -> TableError {
    TableError {
        kind: TableErrorKind::Invalid,
        detail: format!("BatchGetItem {table}: the answer has an item that the request did not name"),
    }
}
