//! The guards that a table lacks in; the guards written, each in a transaction that checks its item, and what could not
//! be written, out.

use crate::cli::items::coverage::Coverage;
use crate::cli::items::guards::NeededGuard;
use crate::cli::items::scan::{PacedScan, ScanPace};
use crate::execute::item::conditions::Conditions;
use crate::execute::item::{assemble, identity, unique};
use crate::schema::model::Model;
use crate::schema::table::Table;
use crate::table::data::attribute::Item;
use crate::table::data::write::{WriteAction, WriteCall, WriteError};
use crate::table::data_store::DataStore;
use crate::table::store::TableStore;
use anyhow::{Result, anyhow};
use futures_util::{StreamExt, TryStreamExt, stream};
use indicatif::ProgressBar;
use std::time::Duration;
use tokio::time::Instant;
use uuid::Uuid;

/// Write capacity units of a guard: a transaction of two items of up to a kilobyte each (DynamoDB developer guide,
/// "Transaction write requests"). A larger item takes two more for each kilobyte.
pub const UNITS_OF_GUARD: u64 = 4;
/// Transactions at once.
pub const AT_ONCE: usize = 8;
/// How long one may take, including waits for a throttled table.
pub const WRITE_BOUND: Duration = Duration::from_secs(120);

/// What became of guards.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct WrittenGuards {
    /// They are there.
    pub written: u64,
    /// Their items changed or went meanwhile, or another item got the value.
    pub overtaken: u64,
    /// Guards of values that no item has are gone.
    pub deleted: u64,
}

/// Writes the missing guards of a table whose items were seen. A second run goes on where an error ended the first.
pub async fn write_guards(
    store: &TableStore,
    seen: &Coverage<'_>,
    pace: ScanPace,
    bar: &ProgressBar,
) -> Result<WrittenGuards> {
    let (model, table) = (seen.survey.model, seen.survey.table);
    let mut found = WrittenGuards::default();
    let mut pages = PacedScan::new(store, &table.name, pace);
    while let Some(items) = pages.page().await? {
        let begun = Instant::now();
        let missing = items.iter().flat_map(|item| {
            let needed = seen.survey.needed_guards(item).into_iter();
            needed.filter(|needed| seen.survey.guards.is_missing(&needed.guard)).map(move |needed| (needed, item))
        });
        let missing: Vec<_> = missing.map(|(needed, item)| calls(model, table, needed, item)).collect();
        let units = missing.len() as u64 * UNITS_OF_GUARD;
        let written: Vec<bool> = stream::iter(&missing)
            .map(|calls| transacted(store, calls, "write"))
            .buffer_unordered(AT_ONCE)
            .inspect(|_| bar.inc(1))
            .try_collect()
            .await?;
        let is_written = written.iter().filter(|is_written| **is_written).count() as u64;
        found.written += is_written;
        found.overtaken += written.len() as u64 - is_written;
        let pause = Duration::from_secs_f64(units as f64 / f64::from(pace.units.max(1)));
        tokio::time::sleep_until(begun + pause).await;
    }
    bar.finish_and_clear();
    Ok(found)
}

/// The check that an item still has the value, and the guard.
fn calls(model: &Model, table: &Table, needed: NeededGuard<'_>, item: &Item) -> [WriteCall; 2] {
    let mut has_value = Conditions::default();
    has_value.exists(&table.partition.name);
    for attribute in assemble::determining_attributes(needed.ty, needed.field, item) {
        has_value.unchanged(attribute, item);
    }
    identity::expires(needed.ty).into_iter().for_each(|time| has_value.unchanged(time, item));
    let of_table = |action, condition| WriteCall { table: table.name.as_str().into(), action, condition };
    let is_owned = unique::is_owned(model, needed.ty, &needed.owner);
    [of_table(WriteAction::Check(needed.owner), has_value.build()), of_table(WriteAction::Put(needed.guard), is_owned)]
}

/// Whether the calls that write or delete a guard are made; not if something came before them.
pub async fn transacted(store: &TableStore, calls: &[WriteCall], what: &str) -> Result<bool> {
    let token = Uuid::new_v4().to_string();
    match store.transact(calls, &token, (Instant::now() + WRITE_BOUND).into()).await {
        Ok(_) => Ok(true),
        Err(WriteError::Conditions(_)) => Ok(false),
        Err(WriteError::Uncertain(error) | WriteError::Failed(error)) => {
            Err(anyhow!("cannot {what} a guard: {error}; run the command again to go on"))
        }
        Err(WriteError::TooLarge(problem)) => Err(anyhow!("cannot {what} a guard: {problem}")),
        Err(WriteError::Unfit(..)) => Err(anyhow!("cannot {what} a guard: its key does not fit the table")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::cli::items::guards;
    use crate::cli::store_choice::in_memory;
    use crate::schema::load;
    use crate::table::data::attribute::Attribute;

    const SCHEMA: &str = r#"
extend schema @table(name: "people", partitionKey: "pk")
type User @item(keys: { pk: "USER#{id}" }) { id: ID! email: String! @unique }
type Query { user(id: ID!): User @find }
"#;

    fn user(email: &str) -> Item {
        Item::from(
            [("pk", "USER#a"), ("email", email)].map(|(name, value)| (name.to_owned(), Attribute::S(value.into()))),
        )
    }

    #[tokio::test]
    async fn an_item_that_changed_meanwhile_gets_no_guard() {
        let (model, _) = load("test.graphql", SCHEMA, &|_| None).ok().unwrap();
        let (store, table) = (in_memory().unwrap(), &model.tables[0]);
        store.create_missing(&model.tables).await.unwrap();
        let writes = |email: &str| {
            let needed = guards::needed(&model, &model.types["User"], &user(email)).remove(0);
            calls(&model, table, needed, &user(email))
        };
        let deadline = Instant::now() + WRITE_BOUND;
        assert!(!transacted(&store, &writes("a@x"), "write").await.unwrap(), "there is no item");
        store.load(table, vec![user("b@x")], deadline).await.unwrap();
        assert!(!transacted(&store, &writes("a@x"), "write").await.unwrap(), "it has another value");
        assert!(transacted(&store, &writes("b@x"), "write").await.unwrap());
        assert!(transacted(&store, &writes("b@x"), "write").await.unwrap(), "a second run writes the same");
    }
}
