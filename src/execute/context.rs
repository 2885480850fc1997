//! The context of a request, which all its steps share: the model and the store's loaders, the time and the deadline,
//! limits and secrets. The gateway makes it; reads and writes borrow it. Must not know plans, nor what a step has
//! found.

use super::caller::Caller;
use super::expression::request_time::RequestTime;
use super::heavy_work::WorkDone;
use super::item::strays::Strays;
use super::keyed_locks::KeyedLocks;
use super::page::cursor::CursorKey;
use super::page::yields::PageYields;
use super::report::TraceContext;
use super::service::call::ServiceRequest;
use super::service::session::ServiceSession;
use super::values::expiry::SecondsLeft;
use crate::plan::tree::SingleWrites;
use crate::schema::model::Model;
use crate::table::request::loaders::Loaders;
use serde_json::{Map, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::time::Duration;
use tokio::time::Instant;

/// How long after its deadline a request may still give its own response. The calls end at the deadline, and each
/// reports that at its own path; to write that takes a moment. What waits for the response, at whatever layer, waits
/// this much longer.
pub const GRACE: Duration = Duration::from_millis(500);

/// The context of one request.
pub struct ExecutionContext<'a> {
    /// The model.
    pub model: &'a Model,
    /// The request's access to the store.
    pub loaders: &'a Loaders,
    /// The request's coerced variables.
    pub variables: &'a Map<String, Value>,
    /// Who sent the request.
    pub caller: &'a Caller,
    /// The span that contains the operation, if it is traced.
    pub trace: Option<TraceContext>,
    /// The request's calls of services; `None` if the schema has no services.
    pub services: Option<&'a ServiceSession>,
    /// The time of the request.
    pub now: &'a RequestTime,
    /// When the request ends.
    pub deadline: Instant,
    /// The most objects of a response.
    pub max_nodes: usize,
    /// The most bytes that the reads of a response may read.
    pub max_read_bytes: u64,
    /// How much work the request has done.
    pub work: &'a WorkDone,
    /// Whether a key of its reads has no item.
    pub misses: &'a AtomicBool,
    /// How long the items of its reads are there.
    pub left: &'a Arc<SecondsLeft>,
    /// How many drafts of its writes lost a race.
    pub lost_races: &'a AtomicU32,
    /// The key that encrypts cursors.
    pub cursor_key: &'a CursorKey,
    /// How a write of one item is sent.
    pub single_writes: SingleWrites,
    /// The key that the request's header brings for mutations with `@idempotent`.
    pub idempotency_key: Option<&'a str>,
    /// Where the writers of this process wait for each other.
    pub keyed_locks: &'a KeyedLocks,
    /// What the process knows of the pages of its reads.
    pub yields: &'a PageYields,
    /// What its reads meet that is of no type.
    pub strays: &'a Strays,
}

impl ExecutionContext<'_> {
    /// What a service, by position in the model, gets of the request for a field beside its arguments and its items:
    /// the claims and the token that it declares, and the trace.
    pub fn service_request(&self, service: usize, field: String) -> ServiceRequest {
        let declared = &self.model.services[service];
        ServiceRequest {
            field,
            caller: self.caller.claims_named(&declared.claims),
            arguments: None,
            key: None,
            undo: None,
            items: Vec::new(),
            trace: self.trace.map(TraceContext::to_text),
            token: self.caller.token().filter(|_| declared.forwards_token).cloned(),
        }
    }
}
