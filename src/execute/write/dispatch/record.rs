//! The record of a request to a mutation with `@idempotent`: written with what the request writes, and read when the
//! request comes again. Must not know how the items of an answer are read.
//!
//! A record holds the fingerprint of the request, and of each item that the field may return its type and key. Of an
//! item that the request deletes, it holds what the answer needs. Before services are called, it is begun; if the write
//! is then refused, it says so before their calls are undone.

use crate::execute::error::{ErrorCode, FieldError};
use crate::execute::item::conditions::Conditions;
use crate::execute::key::values;
use crate::execute::write::calls::draft::{CallRole, DraftCall, ResultItem, WriteDraft};
use crate::execute::write::dispatch::results::{AnsweredItem, items_of};
use crate::execute::write::idempotency::KnownRequest;
use crate::execute::write::job::WriteJob;
use crate::execute::write::messages::{FieldErrors, field_error, repeatable, table_error};
use crate::schema::model::Model;
use crate::schema::model::keys::RECORD_ATTRIBUTES;
use crate::schema::model::write::{ReturnedFrom, ReturnedItems};
use crate::schema::table::Table;
use crate::table::data::attribute::{Attribute, Item, Key};
use crate::table::data::call::Get;
use crate::table::data::error::TableErrorKind;
use crate::table::data::write::{ConditionFailure, WriteAction, WriteCall, WriteError};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use uuid::Uuid;

/// The seconds after which a record counts as missing.
const LASTS: i64 = 24 * 60 * 60;

/// The attributes of a record beside its key and its time.
const FINGERPRINT: &str = RECORD_ATTRIBUTES[0];
const MADE: &str = RECORD_ATTRIBUTES[1];
const CALLS: &str = RECORD_ATTRIBUTES[2];
const REFUSAL: &str = RECORD_ATTRIBUTES[3];
/// The members of a refusal: its errors as JSON, and whether its calls are undone.
const ERRORS: &str = "errors";
const UNDONE: &str = "undone";
/// The longest text of an error that a record keeps, in characters.
const MAX_TEXT: usize = 400;
/// The details of errors that a record keeps.
const DETAILS: [&str; 6] = ["argument", "calls", "currentVersion", "elements", "field", "serviceCode"];
/// The members of a recorded item: its type and its key, or all of it.
const TYPE: &str = "type";
const KEY: &str = "key";
const IMAGE: &str = "item";

/// Adds the record of the request to its write, if there is none yet. If it was begun before calls of services, it must
/// still be so.
pub fn add(job: &WriteJob<'_>, request: &KnownRequest, draft: &mut WriteDraft) {
    let condition = match job.calls {
        Some(_) => begun(request),
        None => free(job, request),
    };
    let mut made = Item::new();
    for returned in job.write.returned() {
        let items = items_of(job, draft, returned);
        let items = items.iter().filter_map(|(ty, item)| recorded(job, draft, ty, item)).collect();
        made.insert(name_of(returned), Attribute::L(items));
    }
    let mut record = head(job, request);
    record.insert(MADE, Attribute::M(made));
    let action = WriteAction::Put(record);
    draft.calls.push(DraftCall::from_text((request.table.clone(), action, condition.build()), CallRole::Record));
}

/// The key, the time and the fingerprint of a record.
fn head(job: &WriteJob<'_>, request: &KnownRequest) -> Item {
    let mut record = key_attributes(&request.key);
    let ends = job.context.now.millis().div_euclid(1_000) + LASTS;
    record.insert(request.time.as_str(), Attribute::N(ends.to_string().into()));
    record.insert(FINGERPRINT, Attribute::S(request.fingerprint.as_str().into()));
    record
}

/// There is no record, or one that has ended.
fn free(job: &WriteJob<'_>, request: &KnownRequest) -> Conditions {
    let mut condition = Conditions::default();
    condition.free_guard(&request.key.partition.0, &[], (&request.time, job.context.now.passed().bounds()));
    condition
}

/// There is a record of the request that says neither that it is made nor that it is refused.
fn begun(request: &KnownRequest) -> Conditions {
    let mut condition = Conditions::default();
    condition.equals(FINGERPRINT, Attribute::S(request.fingerprint.as_str().into()));
    condition.absent(MADE);
    condition.absent(REFUSAL);
    condition
}

/// What was there when a record was to be begun.
pub enum Beginning {
    /// None. What the new one says of the calls.
    New(String),
    /// A record of this key.
    Again(Arc<Item>),
}

/// Begins the record of a request, before its services are called with what has this fingerprint.
pub async fn begin(job: &WriteJob<'_>, request: &KnownRequest, basis: &str) -> Result<Beginning, FieldErrors> {
    // A later record of the same key has other calls.
    let calls = format!("{basis}#{}", Uuid::new_v4());
    let mut record = head(job, request);
    record.insert(CALLS, Attribute::S(calls.as_str().into()));
    // A record that ends in this moment makes room for another.
    for _ in 0..2 {
        match put(job, request, record.clone(), free(job, request)).await {
            Ok(()) => return Ok(Beginning::New(calls)),
            Err(WriteError::Conditions(_)) => {
                if let Some(record) = read(job, request).await? {
                    return Ok(Beginning::Again(record));
                }
            }
            Err(error) => return Err(vec![unwritten(error)]),
        }
    }
    Err(vec![in_use()])
}

/// Whose word a record is that was to say that its request is refused.
pub enum Recorded {
    /// It says so now.
    Now,
    /// Another request has decided before.
    Otherwise(Arc<Item>),
}

/// Says in the record of a request that it is refused with these errors, and that its calls are to be undone.
pub async fn refuse(
    job: &WriteJob<'_>,
    request: &KnownRequest,
    (field_errors, calls): (&FieldErrors, &str),
) -> Result<Recorded, FieldErrors> {
    match put(job, request, refused(job, request, (field_errors, calls, false)), begun(request)).await {
        Ok(()) => Ok(Recorded::Now),
        Err(WriteError::Conditions(_)) => match read(job, request).await? {
            Some(record) => Ok(Recorded::Otherwise(record)),
            None => Err(vec![in_use()]),
        },
        Err(error) => Err(vec![unwritten(error)]),
    }
}

/// Says in the record of a refused request that its calls are undone. If it cannot be said, they are undone again.
pub async fn undone(job: &WriteJob<'_>, request: &KnownRequest, (field_errors, calls): (&FieldErrors, &str)) {
    let mut condition = Conditions::default();
    condition.equals(FINGERPRINT, Attribute::S(request.fingerprint.as_str().into()));
    condition.exists(REFUSAL);
    let _ = put(job, request, refused(job, request, (field_errors, calls, true)), condition).await;
}

/// The record of a request that is refused with these errors, and whether its calls are undone.
fn refused(
    job: &WriteJob<'_>,
    request: &KnownRequest,
    (field_errors, calls, is_undone): (&FieldErrors, &str, bool),
) -> Item {
    let mut refusal = Item::new();
    let errors: Vec<Value> = field_errors.iter().map(error_json).collect();
    refusal.insert(ERRORS, Attribute::S(Value::Array(errors).to_string().into()));
    refusal.insert(UNDONE, Attribute::Bool(is_undone));
    let mut record = head(job, request);
    record.insert(CALLS, Attribute::S(calls.into()));
    record.insert(REFUSAL, Attribute::M(refusal));
    record
}

async fn put(
    job: &WriteJob<'_>,
    request: &KnownRequest,
    record: Item,
    condition: Conditions,
) -> Result<(), WriteError> {
    let (table, condition) = (request.table.clone(), condition.build());
    let call = WriteCall { table, action: WriteAction::Put(record), condition };
    job.context.loaders.write(&call).await.map(|_| ())
}

/// The error of a record that could not be written.
fn unwritten(error: WriteError) -> FieldError {
    match error {
        WriteError::Uncertain(error) => repeatable(&error),
        WriteError::Failed(error) if error.kind == TableErrorKind::Condition => in_use(),
        error => field_error(error),
    }
}

/// What a record says of its request.
pub enum RecordState {
    /// Its services are called; it is not decided.
    Begun,
    /// It is made.
    Made,
    /// It is refused with these errors.
    Refused {
        /// The errors.
        field_errors: FieldErrors,
        /// Whether its calls are undone.
        is_undone: bool,
    },
}

/// What a record says.
pub fn state(record: &Item) -> RecordState {
    match (record.get(MADE), record.get(REFUSAL)) {
        (Some(_), _) => RecordState::Made,
        (None, Some(Attribute::M(refusal))) => {
            let errors = match refusal.get(ERRORS) {
                Some(Attribute::S(text)) => serde_json::from_str::<Vec<Value>>(text.as_str()).unwrap_or_default(),
                _ => Vec::new(),
            };
            let is_undone = matches!(refusal.get(UNDONE), Some(Attribute::Bool(true)));
            RecordState::Refused { field_errors: errors.iter().map(error_of).collect(), is_undone }
        }
        (None, _) => RecordState::Begun,
    }
}

/// Whether a record was begun for calls with what has this fingerprint.
pub fn has_basis(record: &Item, basis: &str) -> bool {
    calls(record).split('#').next() == Some(basis)
}

/// What a record says of its calls: a fingerprint of what they depend on, and a random part.
pub fn calls(record: &Item) -> &str {
    match record.get(CALLS) {
        Some(Attribute::S(text)) => text.as_str(),
        _ => "",
    }
}

/// An error as a record keeps it. A service may have said more of it than fits an item.
fn error_json(error: &FieldError) -> Value {
    let short = |text: &str| text.chars().take(MAX_TEXT).collect::<String>();
    let detail = |(name, value): &(&'static str, Value)| {
        ((*name).to_owned(), value.as_str().map_or_else(|| value.clone(), |text| short(text).into()))
    };
    let details: Map<String, Value> = error.details.iter().map(detail).collect();
    json!({ "code": error.code.as_str(), "message": short(&error.message), "details": details })
}

/// An error as a record has it, with the details that repeat.
fn error_of(value: &Value) -> FieldError {
    let code = value["code"].as_str().and_then(ErrorCode::from_text).unwrap_or(ErrorCode::Conflict);
    let details = DETAILS.into_iter().filter_map(|name| Some((name, value["details"].get(name)?.clone())));
    let message = value["message"].as_str().unwrap_or_default().to_owned();
    FieldError { code, message, details: details.collect() }
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
