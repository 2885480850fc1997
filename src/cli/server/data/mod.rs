//! The gateway that serves now in; what its tables hold, for the page of `keyfold dev`, out. Rules hide nothing: the
//! store is the developer's own.

mod keys;
mod range;
pub mod starting;

use crate::cli::docs::recording::records::TypesOfTable;
use crate::cli::docs::recording::uses::{ItemUse, uses};
use crate::cli::items::survey::Survey;
use crate::schema::table::Projection;
use crate::serve::backend::current_gateway::CurrentGateway;
use crate::serve::console::data::{DataTrouble, ItemKey, ItemsQuery, TableData};
use crate::table::bulk::export_lines::{item_to_json, parse_line};
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data_store::ItemRequest;
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How long a page may take.
const BOUND: Duration = Duration::from_secs(20);

/// How long a page looks for items that hold a text or are of a type, before it shows those that it has found.
const LOOKS_FOR: Duration = Duration::from_secs(2);

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
        let mut query = range.query(table, place.index, start);
        let types = TypesOfTable::new(model, place.table, place.index);
        // An index may have a part of an item only.
        let is_whole = place.index.is_none_or(|at| table.indexes[at].projection == Projection::All);
        let survey = is_whole.then(|| Survey::new(model, table));
        let only = wanted.only.as_deref();
        let text = wanted.contains.as_deref().map(str::to_lowercase).filter(|text| !text.is_empty());
        let (began, mut items, mut read) = (Instant::now(), Vec::new(), 0);
        loop {
            let (page, _) = gateway.store().read_page(&query, (began + BOUND).into()).await.map_err(trouble)?;
            let typed = page.items.iter().map(|item| (types.item_type(item), item));
            let found = typed.filter(|(ty, item)| {
                let name = ty.map_or("", |ty| &ty.name);
                only.is_none_or(|only| only == name)
                    && text.as_ref().is_none_or(|text| item.iter().any(|(_, value)| holds(value, text)))
            });
            items.extend(found.map(|(ty, item)| {
                let remarks = survey.as_ref().map(|survey| survey.remarks(item)).unwrap_or_default();
                keys::item(table, ty, item, &remarks)
            }));
            // The search of a store in memory never waits.
            tokio::task::yield_now().await;
            read += page.items.len();
            query.start = page.last_key;
            if query.start.is_none() || items.len() >= query.limit as usize || began.elapsed() > LOOKS_FOR {
                break;
            }
        }
        let after = query.start.as_ref().map(item_to_json);
        Ok(json!({ "range": range.shown(), "items": items, "read": read, "after": after }))
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
        let remarks = Survey::new(model, table).remarks(&item);
        let sample = TypesOfTable::new(model, position, None).sample(Item::clone(&item));
        let shown = |of: ItemUse| {
            let ItemUse { field, writes, call, operation, arguments } = of;
            json!({ "field": field, "writes": writes, "call": call, "operation": operation, "arguments": arguments })
        };
        let uses: Vec<Value> = uses(model, &sample).into_iter().map(shown).collect();
        Ok(json!({ "type": sample.ty, "remarks": remarks, "uses": uses }))
    }
}

/// Whether a value holds a text that is in lower case.
fn holds(value: &Attribute, text: &str) -> bool {
    let within = |value: &str| value.to_lowercase().contains(text);
    match value {
        Attribute::S(value) | Attribute::N(value) => within(value),
        Attribute::Ss(values) | Attribute::Ns(values) => values.iter().any(|value| within(value)),
        Attribute::L(values) => values.iter().any(|value| holds(value, text)),
        Attribute::M(values) => values.iter().any(|(name, value)| within(name) || holds(value, text)),
        Attribute::Bool(value) => within(&value.to_string()),
        Attribute::B(_) | Attribute::Bs(_) | Attribute::Null => false,
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
