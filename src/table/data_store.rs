//! What a store must do for requests: give the items of a set of keys, give pages of a range, and write. Must not know
//! the AWS SDK, GraphQL or HTTP.
//!
//! Makers: [`super::store::TableStore`] over DynamoDB, over a compatible server or over the embedded engine; tests
//! bring their own. [`super::request::loaders`] bundles the calls of one request before it asks a store.

use super::call_scope::CallScope;
use super::change_source::ChangeSource;
use super::data::attribute::{Item, Key};
use super::data::call::{Get, Page, Query};
use super::data::error::TableError;
use super::data::write::{BatchWrite, WriteCall, WriteError};
use super::retry::budget::RetryBudget;
use crate::schema::table::Table;
use crate::table::data::attribute::AttributeName;
use futures_util::future::BoxFuture;
use std::sync::Arc;
use std::thread::available_parallelism;

/// The usual number of calls in flight for each processor. DynamoDB answers in 5 ms or less, so that many make 12,800
/// calls a second, and a processor hardly makes more (docs/measurements.md). Each has a connection, which takes about
/// 40 kB.
const CALLS_A_PROCESSOR: usize = 64;

/// A result and the capacity units that it consumed.
pub type Metered<T> = (T, f64);

/// The item of a key; `None` where no item has it.
pub type GetResult = Result<Option<Arc<Item>>, TableError>;

/// One of the items that one call reads.
#[derive(Debug, Clone, Copy)]
pub struct ItemRequest<'a> {
    /// The table's name.
    pub table: &'a str,
    /// The item's key.
    pub key: &'a Key,
    /// The attributes to read, the key attributes among them; none are all. Equal for all items of a table in one call.
    pub projection: &'a [AttributeName],
    /// Whether to read strongly.
    pub consistent: bool,
}

impl Get {
    /// The item that it reads.
    pub fn request(&self) -> ItemRequest<'_> {
        let Self { table, key, projection, consistent, .. } = self;
        ItemRequest { table, key, projection, consistent: *consistent }
    }
}

/// Tables that requests read and write.
///
/// Every method repeats what may be repeated until its deadline. Keys, ranges and numbers of items are within
/// DynamoDB's limits: the loaders see to it.
pub trait DataStore: Send + Sync {
    /// Reads 1 to 100 items of any tables, no key twice, by GetItem or BatchGetItem. The results are in the order of
    /// the requests.
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>>;

    /// Reads one page by Query, or by Scan where the query names no partition.
    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>>;

    /// Makes one write by PutItem, UpdateItem or DeleteItem. Gives the item as it is after an update, and as it was
    /// before a put or a delete; `None` where there was none. A write that may have been made is never repeated: it is
    /// [`WriteError::Uncertain`].
    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>>;

    /// Makes all writes or none by TransactWriteItems. The token has 1 to 36 bytes; a transaction with a known token is
    /// made once.
    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>>;

    /// Makes 1 to 25 writes without conditions by BatchWriteItem, no key twice. After [`WriteError::Uncertain`], some
    /// of them may have been made; after [`WriteError::Failed`], none.
    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>>;

    /// Whether every table and its indexes can be used now; the error names the first that cannot. Takes less than a
    /// second.
    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>>;

    /// The streams of the tables' changes; `None` if the store has none.
    fn changes(&self) -> Option<Arc<dyn ChangeSource>> {
        None
    }

    /// What bounds the retries of all requests together.
    fn retries(&self) -> &RetryBudget;

    /// Whether global indexes may be behind their tables.
    fn has_eventual_indexes(&self) -> bool;

    /// How many calls may be in flight at once where no setting says it.
    fn usual_calls_in_flight(&self) -> usize {
        usual_calls_in_flight()
    }
}

/// How many calls may be in flight at once on this machine where no setting says it.
pub(in crate::table) fn usual_calls_in_flight() -> usize {
    available_parallelism().map_or(1, usize::from) * CALLS_A_PROCESSOR
}
