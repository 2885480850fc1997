//! A store that loses answers and calls, or makes writes late; by chance, until a law ends that.

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use keyfold::schema::table::Table;
use keyfold::table::call_scope::CallScope;
use keyfold::table::data::attribute::Item;
use keyfold::table::data::call::{Page, Query};
use keyfold::table::data::error::{TableError, TableErrorKind};
use keyfold::table::data::write::{BatchWrite, WriteCall, WriteError};
use keyfold::table::data_store::{DataStore, GetResult, ItemRequest, Metered};
use keyfold::table::retry::budget::RetryBudget;
use keyfold::table::store::TableStore;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is made and answered.
    Answered,
    /// It does not arrive.
    Lost,
    /// It is made, and its answer does not arrive.
    Unanswered,
    /// It arrives after a time, and its answer does not.
    Late(Duration),
}

/// Chances of one law, which a store and services share.
#[derive(Clone)]
pub struct Chances(Arc<Mutex<(fastrand::Rng, u8)>>);

impl Chances {
    /// Of as many hundred calls, one has trouble in this percentage.
    pub fn new(seed: u64, percent: u8) -> Self {
        Self(Arc::new(Mutex::new((fastrand::Rng::with_seed(seed), percent))))
    }

    /// From now on, nothing has trouble.
    pub fn end(&self) {
        self.0.lock().unwrap().1 = 0;
    }

    /// The fate of the next call.
    pub fn next(&self) -> Fate {
        let (rng, percent) = &mut *self.0.lock().unwrap();
        if rng.u8(..100) >= *percent {
            return Fate::Answered;
        }
        match rng.u8(..4) {
            0 => Fate::Lost,
            1 => Fate::Late(Duration::from_millis(rng.u64(1..3_000))),
            _ => Fate::Unanswered,
        }
    }

    /// A number below a bound.
    pub fn below(&self, bound: u64) -> u64 {
        self.0.lock().unwrap().0.u64(..bound)
    }
}

/// The store.
pub struct Unsteady {
    pub store: Arc<TableStore>,
    pub chances: Chances,
}

fn unavailable() -> TableError {
    TableError { kind: TableErrorKind::Unavailable, detail: "lost".into() }
}

impl DataStore for Unsteady {
    fn get_items<'a>(
        &'a self,
        requests: &'a [ItemRequest<'a>],
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Metered<Vec<GetResult>>> {
        match self.chances.next() {
            Fate::Answered | Fate::Late(_) => DataStore::get_items(&*self.store, requests, scope),
            Fate::Lost | Fate::Unanswered => {
                let failed = requests.iter().map(|_| Err(unavailable())).collect();
                async move { (failed, 0.0) }.boxed()
            }
        }
    }

    fn read_page<'a>(
        &'a self,
        query: &'a Query,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Page>, TableError>> {
        DataStore::read_page(&*self.store, query, scope)
    }

    fn write<'a>(
        &'a self,
        call: &'a WriteCall,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<Option<Item>>, WriteError>> {
        async move {
            match self.chances.next() {
                Fate::Answered => DataStore::write(&*self.store, call, scope).await,
                Fate::Lost => Err(WriteError::Failed(unavailable())),
                // A condition that does not hold is answered.
                Fate::Unanswered => match DataStore::write(&*self.store, call, scope).await {
                    Ok(_) => Err(WriteError::Uncertain(unavailable())),
                    refused => refused,
                },
                Fate::Late(time) => {
                    let (store, call) = (self.store.clone(), call.clone());
                    tokio::spawn(async move {
                        tokio::time::sleep(time).await;
                        let _ = DataStore::write(&*store, &call, crate::support::deadline().into()).await;
                    });
                    Err(WriteError::Uncertain(unavailable()))
                }
            }
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
            match self.chances.next() {
                Fate::Answered => DataStore::transact(&*self.store, calls, token, scope).await,
                Fate::Lost => Err(WriteError::Failed(unavailable())),
                Fate::Unanswered => match DataStore::transact(&*self.store, calls, token, scope).await {
                    Ok(_) => Err(WriteError::Uncertain(unavailable())),
                    refused => refused,
                },
                Fate::Late(time) => {
                    let (store, calls, token) = (self.store.clone(), calls.to_vec(), token.to_owned());
                    tokio::spawn(async move {
                        tokio::time::sleep(time).await;
                        let scope = crate::support::deadline().into();
                        let _ = DataStore::transact(&*store, &calls, &token, scope).await;
                    });
                    Err(WriteError::Uncertain(unavailable()))
                }
            }
        }
        .boxed()
    }

    fn write_batch<'a>(
        &'a self,
        table: &'a str,
        writes: Vec<BatchWrite>,
        scope: CallScope<'a>,
    ) -> BoxFuture<'a, Result<Metered<()>, WriteError>> {
        DataStore::write_batch(&*self.store, table, writes, scope)
    }

    fn ready<'a>(&'a self, tables: &'a [Table]) -> BoxFuture<'a, Result<(), TableError>> {
        DataStore::ready(&*self.store, tables)
    }

    fn retries(&self) -> &RetryBudget {
        DataStore::retries(&*self.store)
    }

    fn has_eventual_indexes(&self) -> bool {
        false
    }
}
