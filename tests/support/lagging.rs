//! A store whose indexes are some writes behind its table.

use futures_util::future::{BoxFuture, FutureExt};
use keyfold::schema::table::Table;
use keyfold::table::call_scope::CallScope;
use keyfold::table::data::attribute::Item;
use keyfold::table::data::call::{Page, Query};
use keyfold::table::data::error::TableError;
use keyfold::table::data::write::{BatchWrite, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::retry::budget::RetryBudget;
use keyfold::table::store::TableStore;
use std::sync::{Arc, Mutex};

/// Reads of indexes see one store, all other calls another one. The former gets the writes of the latter later.
pub struct Lagging {
    now: TableStore,
    then: TableStore,
    late: Mutex<Vec<Late>>,
    /// How many writes an index is behind.
    behind: usize,
}

/// A write that the indexes lack.
enum Late {
    Calls(Vec<WriteCall>),
    Batch(String, Vec<BatchWrite>),
}

impl Lagging {
    /// Over two stores with the same tables and items.
    pub fn new((now, then): (TableStore, TableStore), behind: usize) -> Arc<Self> {
        Arc::new(Self { now, then, late: Mutex::default(), behind })
    }

    /// Notes a write, and makes those in the indexes that are old enough.
    async fn follow(&self, write: Late, scope: CallScope<'_>) {
        let due: Vec<Late> = {
            let mut late = self.late.lock().unwrap();
            late.push(write);
            let due = late.len().saturating_sub(self.behind);
            late.drain(..due).collect()
        };
        for write in due {
            match write {
                Late::Calls(calls) => {
                    for call in calls {
                        // Its condition was met, and may hold no more of what is behind.
                        let _ = self.then.write(&WriteCall { condition: None, ..call }, scope).await;
                    }
                }
                Late::Batch(table, writes) => drop(self.then.write_batch(&table, writes, scope).await),
            }
        }
    }
}

impl DataStore for Lagging {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        DataStore::get_items(&self.now, requests, scope)
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        DataStore::read_page(if query.index.is_some() { &self.then } else { &self.now }, query, scope)
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        async move {
            let answer = DataStore::write(&self.now, call, scope).await;
            if answer.is_ok() {
                self.follow(Late::Calls(vec![call.clone()]), scope).await;
            }
            answer
        }
        .boxed()
    }

    fn transact<'a>(
        &'a self,
        calls: &'a [WriteCall],
        token: &'a str,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move {
            let answer = DataStore::transact(&self.now, calls, token, scope).await;
            if answer.is_ok() {
                let writes = calls.iter().filter(|call| !is_check(call)).cloned().collect();
                self.follow(Late::Calls(writes), scope).await;
            }
            answer
        }
        .boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        async move {
            let answer = DataStore::write_batch(&self.now, table, writes.clone(), scope).await;
            if answer.is_ok() {
                self.follow(Late::Batch(table.to_owned(), writes), scope).await;
            }
            answer
        }
        .boxed()
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        DataStore::ready(&self.now, tables)
    }

    fn retries(&self) -> &RetryBudget {
        DataStore::retries(&self.now)
    }

    fn has_eventual_indexes(&self) -> bool {
        true
    }
}

fn is_check(call: &WriteCall) -> bool {
    matches!(call.action, keyfold::table::data::write::WriteAction::Check(_))
}
