//! The store of a world: an in-memory DynamoDB. Requests as DynamoDB's JSON 1.0 in, the answers that its developer
//! guide and API reference promise out. It has no clock and no randomness: the time of a call comes with the call, and
//! what DynamoDB leaves open is for a [`Chance`] to decide.
//!
//! ```ignore
//! let mut store = ModelStore::new(&[create_table_input], 0);
//! let answer = store.call("DynamoDB_20120810.GetItem", &body, now, &mut Calm);
//! let (status, body) = http(answer);
//! store.split("table", now);
//! store.sweep(now);
//! ```

pub mod calls;
pub mod chance;
pub mod connector;
pub mod data;
pub mod error;
pub mod expressions;
pub mod request;
pub mod state;
pub mod stream;

use crate::store::calls::write::Kind;
use crate::store::calls::{batch_write, get, query, streams, tables, transaction, write};
use crate::store::chance::{Calm, Chance};
use crate::store::data::attribute::{Attribute, Item};
use crate::store::data::key::Key;
use crate::store::data::number::Number;
use crate::store::data::table::{Table, Writer};
use crate::store::error::{Answer, ModelError};
use crate::store::request::Request;
use crate::store::state::{Moment, State, StreamClock};
use serde_json::Value;

/// DynamoDB keeps an item that expired five years ago: its time is probably a mistake (developer guide, "Using time to
/// live (TTL) in DynamoDB").
const OLDEST_EXPIRY: u64 = 5 * 365 * 24 * 3600;

/// The store.
#[derive(Debug, Default, Clone)]
pub struct ModelStore {
    state: State,
    /// The time of the last call: time does not go back.
    now: u64,
}

impl ModelStore {
    /// A store with these tables, each an input of CreateTable. A call of UpdateTimeToLive sets a table's time to live.
    pub fn new(tables: &[Value], now: u64) -> Self {
        let mut store = Self::default();
        for table in tables {
            store.call("DynamoDB_20120810.CreateTable", table, now, &mut Calm).expect("an input of CreateTable");
        }
        store
    }

    /// Answers a request. `target` is its header `x-amz-target`, `now` is in milliseconds since the epoch.
    pub fn call(&mut self, target: &str, body: &Value, now: u64, chance: &mut dyn Chance) -> Answer<Value> {
        self.now = self.now.max(now);
        let (moment, state) = (&mut Moment { now: self.now, chance }, &mut self.state);
        let request = Request::new(body)?;
        match target.rsplit('.').next().unwrap_or_default() {
            "GetItem" => get::get_item(state, request, moment),
            "BatchGetItem" => get::batch_get(state, request, moment),
            "Query" => query::query(false, state, request, moment),
            "Scan" => query::query(true, state, request, moment),
            "PutItem" => write::write(Kind::Put, state, request, moment),
            "UpdateItem" => write::write(Kind::Update, state, request, moment),
            "DeleteItem" => write::write(Kind::Delete, state, request, moment),
            "BatchWriteItem" => batch_write::batch_write(state, request, moment),
            "TransactWriteItems" => transaction::transact(state, request, moment),
            "CreateTable" => tables::create_table(state, body, moment),
            "DeleteTable" => tables::delete_table(state, request),
            "DescribeTable" => tables::describe_table(state, request),
            "ListTables" => tables::list_tables(state, request),
            "UpdateTimeToLive" => tables::update_time_to_live(state, request),
            "DescribeTimeToLive" => tables::describe_time_to_live(state, request),
            "ListStreams" => streams::list_streams(state, request),
            "DescribeStream" => streams::describe_stream(state, request, moment),
            "GetShardIterator" => streams::get_shard_iterator(state, request, moment),
            "GetRecords" => streams::get_records(state, request, moment),
            other => Err(ModelError::new("UnknownOperationException", format!("{other} is not in the model"))),
        }
    }

    /// Deletes the items that have expired, and says how many. Their records name the service.
    pub fn sweep(&mut self, now: u64) -> usize {
        self.now = self.now.max(now);
        let mut deleted = 0;
        for table in self.state.tables.values_mut() {
            let Some(attribute) = table.time_to_live.clone() else { continue };
            let is_expired =
                |key: &&Key| table.item(key).is_some_and(|item| is_expired(item, &attribute, self.now / 1000));
            let expired: Vec<Key> = table.keys().filter(is_expired).cloned().collect();
            deleted += expired.len();
            expired.iter().for_each(|key| table.set(key, None, self.now, Writer::TimeToLive));
        }
        deleted
    }

    /// Closes a shard of a table's stream; two others go on for it.
    pub fn split(&mut self, table: &str, now: u64) {
        self.now = self.now.max(now);
        if let Some(stream) = self.state.tables.get_mut(table).and_then(|table| table.stream.as_mut()) {
            stream.split(self.now);
        }
    }

    /// Closes a shard of a table's stream; another goes on for it.
    pub fn roll(&mut self, table: &str, now: u64) {
        self.now = self.now.max(now);
        if let Some(stream) = self.state.tables.get_mut(table).and_then(|table| table.stream.as_mut()) {
            stream.roll(self.now);
        }
    }

    /// Sets how the times in streams differ from those of the changes.
    pub fn set_stream_clock(&mut self, clock: StreamClock) {
        self.state.clock = clock;
    }

    /// A table with all that its items ever were, for those who check histories.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.state.tables.get(name)
    }
}

/// The HTTP status and the body of an answer.
pub fn http(answer: Answer<Value>) -> (u16, Value) {
    answer.map_or_else(|refused| refused.http(), |body| (200, body))
}

fn is_expired(item: &Item, attribute: &str, now: u64) -> bool {
    let number = |seconds: u64| Number::parse(&seconds.to_string()).ok();
    match item.get(attribute) {
        Some(Attribute::N(time)) => {
            number(now).is_some_and(|now| *time < now)
                && number(now.saturating_sub(OLDEST_EXPIRY)).is_some_and(|oldest| *time >= oldest)
        }
        _ => false,
    }
}
