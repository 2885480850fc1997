//! A request to a gateway, and a gateway's settings. Plain data. Must not know how either is used.

use super::caller::Caller;
use super::report::{RunObserver, TraceContext};
use super::service::call::ServiceConnector;
use crate::plan::cost::limits::CostLimits;
use crate::plan::operation::budget::OperationBudgets;
use crate::plan::passes::Passes;
use crate::plan::tree::SingleWrites;
use serde_json::{Map, Value};
use std::net::IpAddr;
use std::sync::Arc;

/// The settings of a gateway.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The deepest nesting of fields.
    pub max_depth: usize,
    /// The most fields of an operation, after its fragments are expanded.
    pub max_fields: usize,
    /// The most aliases of an operation.
    pub max_aliases: usize,
    /// The most objects of a response.
    pub max_nodes: usize,
    /// The most bytes of a response.
    pub max_response_bytes: usize,
    /// The most bytes that the reads of a response may read: items that arrive, and items that filters and counts look
    /// at.
    pub max_read_bytes: u64,
    /// The memory for what running operations have read, in bytes, about; who has read much waits beyond it.
    pub read_memory: u64,
    /// The limits on the cost of an operation, by its plan.
    pub cost: CostLimits,
    /// The most calls in flight, of all requests together; `None` is what is usual for the store.
    pub max_calls_in_flight: Option<usize>,
    /// The most bytes of an operation's plan, about.
    pub max_plan_bytes: u64,
    /// The memory for parsed operations and their plans, in bytes, about.
    pub plan_cache_bytes: u64,
    /// The memory for what reads found, in bytes, about; 0 keeps nothing.
    pub cache_bytes: u64,
    /// Whether the first page of a filter, and of items among those of other types, reads as many items as pages before
    /// it needed.
    pub learned_pages: bool,
    /// How a write of one item is sent.
    pub single_writes: SingleWrites,
    /// Whether clients may introspect the schema.
    pub introspection: bool,
    /// The secret that encrypts cursors. All processes of a gateway must share it.
    pub cursor_key: Vec<u8>,
    /// What makes the calls of services; without it, they fail.
    pub services: Option<Arc<dyn ServiceConnector>>,
    /// What plans save. The response is the same either way.
    pub passes: Passes,
    /// Observes every run of an operation.
    pub observer: Option<Arc<dyn RunObserver>>,
}

impl Default for Settings {
    /// The limits of `keyfold serve`, with introspection, and with a cursor key that is no secret.
    fn default() -> Self {
        let budgets = OperationBudgets::default();
        Self {
            max_depth: budgets.depth,
            max_fields: budgets.fields,
            max_aliases: budgets.aliases,
            max_nodes: 100_000,
            max_response_bytes: 10 << 20,
            max_read_bytes: 64 << 20,
            read_memory: 64 << 20,
            cost: CostLimits::default(),
            max_calls_in_flight: None,
            max_plan_bytes: 4 << 20,
            plan_cache_bytes: 64 << 20,
            cache_bytes: 64 << 20,
            learned_pages: true,
            single_writes: SingleWrites::Call,
            introspection: true,
            cursor_key: Vec::new(),
            services: None,
            passes: Passes::default(),
            observer: None,
        }
    }
}

/// An operation to run.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The GraphQL document.
    pub query: String,
    /// The name of the operation to run.
    pub operation_name: Option<String>,
    /// Its variables.
    pub variables: Map<String, Value>,
    /// Who sends it; an anonymous caller by default.
    pub caller: Caller,
    /// Of a subscription: the id of the event after which it goes on, in place of its argument `after`.
    pub after: Option<String>,
    /// The address of the client that it comes from; one client has a part of [`Settings::read_memory`].
    pub client: Option<IpAddr>,
    /// The key that its header `Idempotency-Key` brings, for mutations with `@idempotent`.
    pub idempotency_key: Option<String>,
    /// The span that contains the operation, if it is traced.
    pub trace: Option<TraceContext>,
}

impl Request {
    /// A document with one operation and no variables, of an anonymous caller.
    pub fn new(query: impl Into<String>) -> Self {
        Self { query: query.into(), ..Self::default() }
    }
}
