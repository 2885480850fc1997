//! The record of a request to a mutation with `@idempotent`: written with what the request writes, and read when the
//! request comes again. Must not know how the items of an answer are read.
//!
//! A record holds the fingerprint of the request, and of each item that the field may return its type and key. Of an
//! item that the request deletes, it holds what the answer needs.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::item::conditions::Conditions;
use crate::execute::key::values;
use crate::execute::write::calls::draft::{CallRole, DraftCall, ResultItem, WriteDraft};
use crate::execute::write::dispatch::results::{AnsweredItem, items_of};
use crate::execute::write::idempotency::KnownRequest;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, table_error};
use crate::schema::model::Model;
use crate::schema::model::keys::RECORD_ATTRIBUTES;
use crate::schema::model::write::{ReturnedFrom, ReturnedItems};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::call::Get;
use crate::table::data::write::{ConditionFailure, WriteAction};
use std::sync::Arc;

/// The seconds after which a record counts as missing.
const LASTS: i64 = 24 * 60 * 60;

/// The attributes of a record beside its key and its time.
const FINGERPRINT: &str = RECORD_ATTRIBUTES[0];
const MADE: &str = RECORD_ATTRIBUTES[1];
/// The members of a recorded item: its type and its key, or all of it.
const TYPE: &str = "type";
const KEY: &str = "key";
const IMAGE: &str = "item";

/// Adds the record of the request to its write, if there is none yet.
pub fn add(job: &WriteJob<'_>, request: &KnownRequest, draft: &mut WriteDraft) {
    let now = job.context.now;
    let mut condition = Conditions::default();
    condition.free_guard(&request.key.partition.0, &[], (&request.time, now.passed().bounds()));
    let mut record = key_attributes(&request.key);
    let ends = now.millis().div_euclid(1_000) + LASTS;
    record.insert(request.time.as_str(), Attribute::N(ends.to_string().into()));
    record.insert(FINGERPRINT, Attribute::S(request.fingerprint.as_str().into()));
    let mut made = Item::new();
    for returned in job.write.returned() {
        let items = items_of(job, draft, returned);
        let items = items.iter().filter_map(|(ty, item)| recorded(job, draft, ty, item)).collect();
        made.insert(name_of(returned), Attribute::L(items));
    }
    record.insert(MADE, Attribute::M(made));
    let action = WriteAction::Put(record);
    draft.calls.push(DraftCall::from_text((request.table.clone(), action, condition.build()), CallRole::Record));
}

/// What a record holds of an item; `None` if there is none.
fn recorded(job: &WriteJob<'_>, draft: &WriteDraft, ty: &str, item: &AnsweredItem<'_>) -> Option<Attribute> {
    let table = table_of(job.context.model, ty)?;
    let (key, image) = match item {
        AnsweredItem::Found(item) | AnsweredItem::Written(ResultItem::Known(item)) => {
            (values::key_of(table, item)?, Some(item))
        }
        AnsweredItem::Written(ResultItem::Answer(_, key)) => (key.clone(), None),
        AnsweredItem::Written(ResultItem::Nothing) => return None,
    };
    let is_deleted = |call: &DraftCall| {
        *call.write.table == *table.name && matches!(&call.write.action, WriteAction::Delete(gone) if *gone == key)
    };
    let held = match image.filter(|_| draft.calls.iter().any(is_deleted)) {
        Some(image) => (IMAGE, (**image).clone()),
        None => (KEY, key_attributes(&key)),
    };
    let mut recorded = Item::new();
    recorded.insert(TYPE, Attribute::S(ty.into()));
    recorded.insert(held.0, Attribute::M(held.1));
    Some(Attribute::M(recorded))
}

/// Whether the record is among the calls that failed; the record, if the server gave it back.
pub fn among<'f>(draft: &WriteDraft, failures: &'f [ConditionFailure]) -> Option<Option<&'f Item>> {
    let is_record = |failure: &&ConditionFailure| {
        matches!(draft.calls.get(failure.position), Some(DraftCall { role: CallRole::Record, .. }))
    };
    failures.iter().find(is_record).map(|failure| failure.item.as_ref())
}

/// Reads the record of a request, unless it has ended.
pub async fn read(job: &WriteJob<'_>, request: &KnownRequest) -> Result<Option<Arc<Item>>, FieldErrors> {
    // What the request has read before may be older than the record.
    job.context.loaders.forget();
    let (table, key) = (request.table.clone(), request.key.clone());
    let get = Get { table, key, projection: [].into(), consistent: true, max_age: None };
    let found = job.context.loaders.get(vec![get]).await.into_iter().next().transpose();
    let record = found.map_err(|error| vec![table_error(&error)])?.flatten();
    Ok(record.filter(|record| !job.context.now.passed().have(record.get(&request.time))))
}

/// An item of a repeated answer.
pub enum RecordedItem {
    /// It is read again, by its type and its key.
    Stored(String, Key),
    /// The request deleted it.
    Deleted(Arc<Item>),
}

/// Fails if the request of a record had other arguments.
pub fn check(request: &KnownRequest, record: &Item) -> Result<(), FieldErrors> {
    match record.get(FINGERPRINT) {
        Some(Attribute::S(text)) if text.as_str() == request.fingerprint => Ok(()),
        _ => Err(vec![reused()]),
    }
}

/// The items that a field returned, or a field of its payload, when the request of a record was made.
pub fn items(job: &WriteJob<'_>, record: &Item, returned: ReturnedItems) -> Vec<RecordedItem> {
    let Some(Attribute::M(made)) = record.get(MADE) else { return Vec::new() };
    let Some(Attribute::L(items)) = made.get(&name_of(returned)) else { return Vec::new() };
    let item = |item: &Attribute| {
        let Attribute::M(members) = item else { return None };
        let Some(Attribute::S(ty)) = members.get(TYPE) else { return None };
        // A schema that has changed since may return other types.
        let ty = job.write.types_returned(returned).into_iter().find(|name| *name == ty.as_str())?.to_owned();
        match (members.get(KEY), members.get(IMAGE)) {
            (Some(Attribute::M(key)), _) => {
                let key = values::key_of(table_of(job.context.model, &ty)?, key)?;
                Some(RecordedItem::Stored(ty, key))
            }
            (_, Some(Attribute::M(image))) => Some(RecordedItem::Deleted(Arc::new(image.clone()))),
            _ => None,
        }
    };
    items.iter().filter_map(item).collect()
}

/// The error of a key that another request had.
fn reused() -> FieldError {
    let message = "This key was used for a request with other arguments. Use a new key.";
    FieldError::new(ErrorCode::IdempotencyKeyReused, message)
}

/// The error of a request whose key, or whose items, others are at work on until the deadline.
pub fn in_use() -> FieldError {
    let message =
        "Another request with this key, or another writer of its items, is at work. Repeat it with the same key.";
    FieldError::new(ErrorCode::IdempotencyKeyInUse, message)
}

/// Whether these errors say that the key is in use.
pub fn are_in_use(field_errors: &FieldErrors) -> bool {
    field_errors.iter().any(|error| error.code == ErrorCode::IdempotencyKeyInUse)
}

/// The name of what a field returns, in its records.
fn name_of(returned: ReturnedItems) -> String {
    match returned.from {
        ReturnedFrom::Action(position) => format!("action{position}"),
        ReturnedFrom::Find(position) => format!("find{position}"),
    }
}

fn key_attributes(key: &Key) -> Item {
    let parts = std::iter::once(&key.partition).chain(&key.sort);
    Item::from_members(parts.map(|(name, value)| (name.clone(), value.clone().into())).collect())
}

fn table_of<'m>(model: &'m Model, ty: &str) -> Option<&'m Table> {
    model.item(ty).and_then(|(_, keys)| model.tables.get(keys.table))
}
