//! The guards of values that no item has in; the guards deleted, each in a transaction that checks that its owner has
//! not got the value meanwhile, out. DynamoDB deletes an item that expires without a guard that has no time, and
//! another program deletes an item without its guard.

use super::guard_writes::{AT_ONCE, UNITS_OF_GUARD, WRITE_BOUND, transacted};
use crate::cli::items::coverage::Coverage;
use crate::cli::items::guards;
use crate::cli::items::scan::{PacedScan, ScanPace};
use crate::cli::store_choice::explained;
use crate::execute::item::conditions::Conditions;
use crate::execute::item::unique::{self, Reservation};
use crate::execute::item::{assemble, identity};
use crate::plan::attributes;
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::table::data::attribute::{Item, Key};
use crate::table::data::limits::KEYS_PER_BATCH;
use crate::table::data::write::{WriteAction, WriteCall};
use crate::table::data_store::{DataStore, ItemRequest};
use crate::table::store::TableStore;
use anyhow::Result;
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Deletes the guards of a table whose values no item has. Gives how many. A second run goes on where an error ended
/// the first.
pub async fn delete_guards(
    store: &TableStore,
    seen: &mut Coverage<'_>,
    pace: ScanPace,
    bar: &ProgressBar,
) -> Result<u64> {
    let (model, table) = (seen.survey.model, seen.survey.table);
    let mut deleted = 0;
    let mut pages = PacedScan::new(store, &table.name, pace);
    while let Some(items) = pages.page().await? {
        let begun = Instant::now();
        let orphans = items.iter().filter(|item| seen.survey.guards.is_orphan(item));
        let orphans: Vec<_> =
            orphans.filter_map(|guard| Some((guard, unique::reservation(model, table, guard)?))).collect();
        let owners = owners(store, table, orphans.iter().map(|(_, reserved)| &reserved.owner)).await?;
        let calls = orphans.iter().filter_map(|(guard, reserved)| {
            Some((*guard, calls(model, table, (guard, reserved), owners.get(&reserved.owner).map(|item| &**item))?))
        });
        let calls: Vec<_> = calls.collect();
        let units = calls.len() as u64 * UNITS_OF_GUARD;
        let gone: Vec<Option<&Item>> = stream::iter(&calls)
            .map(|(guard, calls)| async move {
                let is_gone = transacted(store, calls, "delete").await?;
                anyhow::Ok(is_gone.then_some(*guard))
            })
            .buffer_unordered(AT_ONCE)
            .inspect(|_| bar.inc(1))
            .try_collect()
            .await?;
        for guard in gone.into_iter().flatten() {
            seen.survey.guards.forget(guard);
            deleted += 1;
        }
        let pause = Duration::from_secs_f64(units as f64 / f64::from(pace.units.max(1)));
        tokio::time::sleep_until(begun + pause).await;
    }
    bar.finish_and_clear();
    Ok(deleted)
}

/// The items that have these keys, read strongly.
async fn owners<'k>(
    store: &TableStore,
    table: &Table,
    keys: impl Iterator<Item = &'k Key>,
) -> Result<HashMap<&'k Key, Arc<Item>>> {
    let keys: Vec<&Key> = keys.collect::<HashSet<_>>().into_iter().collect();
    let mut found = HashMap::new();
    for keys in keys.chunks(KEYS_PER_BATCH) {
        let request = |key: &&'k Key| ItemRequest { table: &table.name, key, projection: &[], consistent: true };
        let requests: Vec<ItemRequest<'_>> = keys.iter().map(request).collect();
        let (items, _) = store.get_items(&requests, (Instant::now() + WRITE_BOUND).into()).await;
        for (key, item) in keys.iter().zip(items) {
            let item = item.map_err(|error| explained(error, "cannot read the owner of a guard"))?;
            found.extend(item.map(|item| (*key, item)));
        }
    }
    Ok(found)
}

/// The check that the owner of a guard is still without the value, and the delete. `None` if it has the value.
fn calls(
    model: &Model,
    table: &Table,
    (guard, reserved): (&Item, &Reservation<'_>),
    owner: Option<&Item>,
) -> Option<[WriteCall; 2]> {
    let ty = reserved.ty;
    let mut lacks_value = Conditions::default();
    match owner {
        None => lacks_value.absent(&table.partition.name),
        Some(item) => {
            let keys = attributes::keys(ty)?;
            let needs = |needed: &guards::NeededGuard<'_>| {
                assemble::key_of(model, ty, &needed.guard) == assemble::key_of(model, ty, guard)
            };
            let is_of_type = identity::is_of(ty, item);
            if is_of_type && guards::needed(model, ty, item).iter().any(needs) {
                return None;
            }
            lacks_value.exists(&table.partition.name);
            // What makes it another type's, another value's, or one that has expired.
            let mut telling: Vec<&str> = keys.telling().chain(identity::expires(ty)).collect();
            telling.extend(assemble::determining_attributes(ty, reserved.field, item).iter().map(|name| name.as_str()));
            telling.sort_unstable();
            telling.dedup();
            telling.into_iter().for_each(|name| lacks_value.unchanged(name, item));
        }
    }
    let mut is_same = Conditions::default();
    guard.members().for_each(|(name, _)| is_same.unchanged(name, guard));
    let of_table = |action, condition| WriteCall { table: table.name.as_str().into(), action, condition };
    let key = assemble::key_of(model, ty, guard)?;
    let check = WriteAction::Check(reserved.owner.clone());
    Some([of_table(check, lacks_value.build()), of_table(WriteAction::Delete(key), is_same.build())])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::cli::store_choice::in_memory;
    use crate::schema::load;
    use crate::table::data::attribute::Attribute;
    use std::time::{SystemTime, UNIX_EPOCH};

    const SCHEMA: &str = r#"
extend schema @table(name: "people", partitionKey: "pk", timeToLive: "ttl")
type User @item(keys: { pk: "USER#{id}" }, attributes: { kind: "User" }) {
  id: ID! email: String! @unique until: Long @attribute(name: "ttl")
}
type Robot @item(keys: { pk: "USER#{id}" }, attributes: { kind: "Robot" }) { id: ID! }
type Query { user(id: ID!): User @find robot(id: ID!): Robot @find }
"#;

    fn item(texts: &[(&str, &str)], ttl: Option<u64>) -> Item {
        let time = ttl.map(|time| ("ttl".to_owned(), Attribute::N(time.to_string().as_str().into())));
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), Attribute::S((*value).into()));
        texts.iter().map(text).chain(time).collect()
    }

    /// What was read of an owner, and what it is when its guard is deleted: whether the guard goes.
    #[tokio::test]
    async fn a_guard_stays_whose_owner_has_the_value_again() {
        let (model, _) = load("test.graphql", SCHEMA, &|_| None).ok().unwrap();
        let table = &model.tables[0];
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let of_kind = |kind, email, ttl| Some(item(&[("pk", "USER#a"), ("kind", kind), ("email", email)], ttl));
        let user = |email| of_kind("User", email, None);
        let guard = item(&[("pk", "Unique#User.email#a@x"), ("ownerpk", "USER#a")], None);
        for (read, is, goes) in [
            (None, None, true),
            (None, user("a@x"), false),
            (user("b@x"), user("b@x"), true),
            (user("b@x"), user("a@x"), false),
            (user("b@x"), None, false),
            (of_kind("User", "a@x", Some(now - 60)), of_kind("User", "a@x", Some(now - 60)), true),
            (of_kind("User", "a@x", Some(now - 60)), of_kind("User", "a@x", Some(now + 60)), false),
            (of_kind("Robot", "a@x", None), of_kind("Robot", "a@x", None), true),
            (of_kind("Robot", "a@x", None), of_kind("User", "a@x", None), false),
        ] {
            let store = in_memory().unwrap();
            store.create_missing(&model.tables).await.unwrap();
            let deadline = Instant::now() + WRITE_BOUND;
            store.load(table, is.iter().cloned().chain([guard.clone()]).collect(), deadline).await.unwrap();
            let reserved = unique::reservation(&model, table, &guard).unwrap();
            let calls = calls(&model, table, (&guard, &reserved), read.as_ref()).unwrap();
            assert_eq!(transacted(&store, &calls, "delete").await.unwrap(), goes, "{read:?} {is:?}");
        }
        let reserved = unique::reservation(&model, table, &guard).unwrap();
        assert!(calls(&model, table, (&guard, &reserved), user("a@x").as_ref()).is_none());
    }
}
