//! The gateway that serves now in; what its tables hold, for the page of `keyfold dev`, out. Rules hide nothing: the
//! store is the developer's own.

mod keys;
mod range;
pub mod starting;

use crate::cli::docs::recording::records::TypesOfTable;
use crate::cli::docs::recording::uses::{ItemUse, uses};
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::console::data::{DataTrouble, ItemKey, ItemsQuery, TableData};
use crate::table::bulk::export_lines::{item_to_json, parse_line};
use crate::table::data::attribute::{Item, Key};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data_store::ItemRequest;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a page may take.
const BOUND: Duration = Duration::from_secs(20);

/// The tables of the gateway that serves now.
pub struct GatewayTables {
    /// The gateway.
    pub current: Arc<CurrentGateway>,
}

impl TableData for GatewayTables {
    fn tables(&self) -> Value {
        keys::tables(self.current.get().model())
    }

    fn items(&self, wanted: ItemsQuery) -> BoxFuture<'_, Result<Value, DataTrouble>> {
        self.page(wanted).boxed()
    }

    fn uses(&self, wanted: ItemKey) -> BoxFuture<'_, Result<Value, DataTrouble>> {
        self.item(wanted).boxed()
    }
}

impl GatewayTables {
    async fn page(&self, wanted: ItemsQuery) -> Result<Value, DataTrouble> {
        let gateway = self.current.get();
        let model = gateway.model();
        let place = range::place(model, &wanted)?;
        let range = range::range(model, &place, &wanted)?;
        let table = &model.tables[place.table];
        let start = wanted.after.as_deref().map(item_of).transpose()?;
        let query = range.query(table, place.index, start);
        let (page, _) = gateway.store().read_page(&query, (Instant::now() + BOUND).into()).await.map_err(trouble)?;
        let types = TypesOfTable::new(model, place.table, place.index);
        let items: Vec<Value> = page.items.iter().map(|item| keys::item(table, types.item_type(item), item)).collect();
        Ok(json!({ "range": range.shown(), "items": items, "after": page.last_key.as_ref().map(item_to_json) }))
    }

    async fn item(&self, wanted: ItemKey) -> Result<Value, DataTrouble> {
        let gateway = self.current.get();
        let model = gateway.model();
        let position = range::table(model, &wanted.table)?;
        let table = &model.tables[position];
        let key =
            Key::new(&item_of(&wanted.key)?, &table.partition.name, table.sort.as_ref().map(|sort| sort.name.as_str()));
        let key = key.ok_or_else(|| DataTrouble::Wrong(format!("This is no key of the table {}.", table.name)))?;
        let request = [ItemRequest { table: &table.name, key: &key, projection: &[], consistent: true }];
        let (found, _) = gateway.store().get_items(&request, (Instant::now() + BOUND).into()).await;
        let Some(item) = found.into_iter().next().transpose().map_err(trouble)?.flatten() else {
            return Ok(Value::Null);
        };
        let sample = TypesOfTable::new(model, position, None).sample(Item::clone(&item));
        let shown =
            |of: ItemUse| json!({ "field": of.field, "writes": of.writes, "call": of.call, "operation": of.operation });
        Ok(json!({ "type": sample.ty, "uses": uses(model, &sample).into_iter().map(shown).collect::<Vec<_>>() }))
    }
}

/// An item or a key in JSON of DynamoDB.
fn item_of(text: &str) -> Result<Item, DataTrouble> {
    let line = format!("{{\"Item\":{text}}}");
    let item = parse_line(&line).map_err(|error| DataTrouble::Wrong(format!("This is no key: {error}.")))?;
    item.ok_or_else(|| DataTrouble::Wrong("A key is missing.".into()))
}

fn trouble(error: TableError) -> DataTrouble {
    match error.kind {
        TableErrorKind::Invalid => DataTrouble::Wrong(error.detail),
        _ => DataTrouble::Failed(error.detail),
    }
}
