//! Leases in, items of a table of their own out, and back.

use super::lease::{Lease, LeaseTable, ShardName};
use crate::schema::table::{Billing, KeyAttribute, KeyType, Table};
use crate::table::data::attribute::{Attribute, Item, Key, KeyValue};
use crate::table::data::call::Expression;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::limits::KEYS_PER_BATCH;
use crate::table::data::write::{WriteAction, WriteCall, WriteError};
use crate::table::data_store::{DataStore, ItemRequest};
use futures_util::future::{BoxFuture, FutureExt};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The partition key: the table and the shard.
const SHARD: &str = "shard";
/// The copy that reads the shard.
const OWNER: &str = "owner";
/// How often the lease was taken.
const FENCE: &str = "fence";
/// How often it was renewed.
const BEAT: &str = "beat";
/// When DynamoDB may delete the lease: no shard is read for so long.
const EXPIRES: &str = "expires";
/// How long a lease stays in the table. A stream keeps a shard for 24 hours (DynamoDB developer guide, "Change data
/// capture for DynamoDB Streams").
const KEPT: Duration = Duration::from_secs(48 * 3_600);
/// How long a call may take.
const CALL_LIMIT: Duration = Duration::from_millis(1_500);

/// The table of leases, as a schema would declare it.
pub fn definition(name: &str) -> Table {
    Table {
        name: name.to_owned(),
        partition: KeyAttribute { name: SHARD.to_owned(), kind: KeyType::S },
        sort: None,
        indexes: Vec::new(),
        time_to_live: Some(EXPIRES.to_owned()),
        shows_expired: false,
        billing: Billing::PayPerRequest,
        stream: None,
        point_in_time_recovery: false,
    }
}

/// Leases in a table of a store.
pub struct StoredLeases {
    store: Arc<dyn DataStore>,
    table: Arc<str>,
}

impl StoredLeases {
    /// Leases in the table with this name, which has the form of [`definition`].
    pub fn new(store: Arc<dyn DataStore>, table: Arc<str>) -> Self {
        Self { store, table }
    }
}

impl LeaseTable for StoredLeases {
    fn read<'a>(&'a self, shards: &'a [ShardName]) -> BoxFuture<'a, Result<Vec<Option<Lease>>, TableError>> {
        async move {
            let keys: Vec<Key> = shards.iter().map(key).collect();
            let mut leases = Vec::with_capacity(keys.len());
            for keys in keys.chunks(KEYS_PER_BATCH) {
                let request = |key| ItemRequest { table: &self.table, key, projection: &[], consistent: true };
                let requests: Vec<ItemRequest<'_>> = keys.iter().map(request).collect();
                let (items, _) = self.store.get_items(&requests, (Instant::now() + CALL_LIMIT).into()).await;
                for item in items {
                    leases.push(item?.as_deref().and_then(lease_of));
                }
            }
            Ok(leases)
        }
        .boxed()
    }

    fn replace<'a>(
        &'a self,
        shard: &'a ShardName,
        seen: Option<&'a Lease>,
        lease: &'a Lease,
    ) -> BoxFuture<'a, Result<bool, TableError>> {
        async move {
            let call = WriteCall {
                table: self.table.clone(),
                action: WriteAction::Put(item(shard, lease)),
                condition: Some(is_still(seen)),
            };
            match self.store.write(&call, (Instant::now() + CALL_LIMIT).into()).await {
                Ok(_) => Ok(true),
                Err(WriteError::Conditions(_)) => Ok(false),
                Err(WriteError::Uncertain(error) | WriteError::Failed(error)) => Err(error),
                Err(error) => Err(TableError { kind: TableErrorKind::Invalid, detail: format!("{error:?}") }),
            }
        }
        .boxed()
    }
}

/// The condition that a lease is as it was seen.
fn is_still(seen: Option<&Lease>) -> Expression {
    let (text, values) = match seen {
        None => ("attribute_not_exists(#n0)", Vec::new()),
        Some(lease) => (
            "#n1 = :v0 AND #n2 = :v1",
            vec![(":v0".to_owned(), number(lease.fence)), (":v1".to_owned(), number(lease.beat))],
        ),
    };
    let names = match seen {
        None => vec![("#n0", SHARD)],
        Some(_) => vec![("#n1", FENCE), ("#n2", BEAT)],
    };
    Expression {
        text: text.to_owned(),
        names: names.into_iter().map(|(placeholder, name)| (placeholder.to_owned(), name.to_owned())).collect(),
        values: values.into_iter().collect(),
    }
}

fn key(shard: &ShardName) -> Key {
    Key { partition: (SHARD.into(), KeyValue::S(id(shard))), sort: None }
}

fn id(shard: &ShardName) -> String {
    format!("{}/{}", shard.table, shard.shard)
}

fn item(shard: &ShardName, lease: &Lease) -> Item {
    let expires = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default() + KEPT;
    let members = [
        (SHARD, Attribute::S(id(shard).into())),
        (FENCE, number(lease.fence)),
        (BEAT, number(lease.beat)),
        (EXPIRES, number(expires.as_secs())),
    ];
    let mut item: Item = members.into_iter().collect();
    if let Some(owner) = &lease.owner {
        item.insert(OWNER, Attribute::S(owner.to_string().into()));
    }
    item
}

/// The lease of an item; `None` if the item is none.
fn lease_of(item: &Item) -> Option<Lease> {
    let number = |name: &str| match item.get(name)? {
        Attribute::N(text) => text.parse().ok(),
        _ => None,
    };
    let owner = match item.get(OWNER) {
        Some(Attribute::S(owner)) => Some(owner.as_str().into()),
        _ => None,
    };
    Some(Lease { owner, fence: number(FENCE)?, beat: number(BEAT)? })
}

fn number(value: u64) -> Attribute {
    Attribute::N(value.to_string().into())
}
