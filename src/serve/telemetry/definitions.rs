//! The metrics: their names, labels and meanings. Names follow OpenTelemetry's semantic conventions where those have
//! one; Prometheus writes their dots as underscores.

/// A metric.
#[derive(Debug)]
pub struct Definition {
    /// Its name.
    pub name: &'static str,
    /// The names of its labels.
    pub labels: &'static [&'static str],
    /// Its meaning, in one sentence.
    pub help: &'static str,
}

macro_rules! metrics {
    ($($constant:ident: $name:literal [$($label:expr),*] $help:literal;)*) => {
        $(
            #[doc = $help]
            pub const $constant: Definition = Definition { name: $name, labels: &[$($label),*], help: $help };
        )*
        /// All metrics, but for those of the process.
        pub const ALL: &[&Definition] = &[$(&$constant),*];
    };
}

/// The label of an operation's name.
pub const OPERATION: &str = "graphql_operation_name";
/// The label of an operation's kind.
const KIND: &str = "graphql_operation_type";
/// The label of a table.
const TABLE: &str = "db_collection_name";

metrics! {
    HTTP_DURATION: "http_server_request_duration_seconds" ["http_request_method", "http_route", "http_response_status_code"]
        "Duration of HTTP requests.";
    OPERATIONS: "graphql_operations_total" [OPERATION, KIND, "outcome"]
        "Operations that have ended: ok, errors (with errors in the response), or refused (before execution).";
    ERRORS: "graphql_errors_total" [OPERATION, "code"]
        "Errors in responses, by their code.";
    OPERATION_DURATION: "graphql_operation_duration_seconds" [OPERATION, KIND]
        "Duration of operations, from their arrival to their last byte.";
    PHASE_DURATION: "keyfold_phase_duration_seconds" ["phase"]
        "Duration of the parts of operations: parse, plan, wait (for calls), decode and write.";
    WAVES: "keyfold_operation_waves" [OPERATION]
        "Rounds of calls of an operation.";
    CALLS: "keyfold_operation_calls" [OPERATION]
        "Calls of an operation.";
    CAPACITY: "keyfold_capacity_units_total" [OPERATION, TABLE, "db_index", "direction"]
        "Capacity units that operations consumed; db_index is empty for the table itself, direction is read or write.";
    CALL_DURATION: "db_client_operation_duration_seconds" [TABLE, "db_operation_name"]
        "Duration of the calls of operations, retries included.";
    CALL_FAILURES: "keyfold_dynamodb_failures_total" [TABLE, "db_operation_name"]
        "Calls of operations that ended without an answer to use.";
    THROTTLES: "keyfold_dynamodb_throttles_total" [TABLE]
        "Answers that refused all or a part of a call because too much was asked for.";
    RETRIES: "keyfold_dynamodb_retries_total" [TABLE]
        "Attempts of calls after their first.";
    HEDGES: "keyfold_dynamodb_hedges_total" [TABLE]
        "Late reads that were sent a second time.";
    SERVICE_DURATION: "keyfold_service_duration_seconds" ["service"]
        "Duration of the calls of services, attempts included.";
    SERVICE_FAILURES: "keyfold_service_failures_total" ["service", "kind"]
        "Calls of services without an answer to use: unavailable, timeout, refused, too_large or unreadable.";
    RACES: "keyfold_write_races_total" []
        "Writes that were drafted again because another writer was faster.";
    CACHE_HITS: "keyfold_cache_hits_total" ["cache"]
        "Look-ups that a cache answered: documents, plans or items.";
    CACHE_MISSES: "keyfold_cache_misses_total" ["cache"]
        "Look-ups that a cache did not answer.";
    CACHE_EVICTIONS: "keyfold_cache_evictions_total" ["cache"]
        "Entries that a cache dropped because it was full.";
    CACHE_BYTES: "keyfold_cache_bytes" ["cache"]
        "Memory of what a cache holds, about.";
    SUBSCRIPTIONS: "keyfold_subscriptions" []
        "Subscriptions that are open.";
    SUBSCRIPTION_GROUPS: "keyfold_subscription_groups" []
        "Groups of equal subscriptions, each of which runs its plan once for an event.";
    SUBSCRIPTION_QUEUE: "keyfold_subscription_queue_bytes" []
        "Memory of the events that subscribers have not taken yet.";
    STREAM_LAG: "keyfold_stream_lag_seconds" [TABLE]
        "Age of the last record that was read from the stream of a table, when it was read; 0 once the stream was read to its end.";
    CONNECTIONS: "keyfold_connections" []
        "Connections that are open.";
    CONNECTIONS_LIMIT: "keyfold_connections_limit" []
        "Most connections that may be open.";
    BOUND_USED: "keyfold_bound_used" ["bound"]
        "What is taken of a bound that all clients share: operations, calls, or bytes of request_memory, read_memory, response_memory, subscription_memory.";
    BOUND_LIMIT: "keyfold_bound_limit" ["bound"]
        "The bound itself.";
    REFUSALS: "keyfold_refusals_total" ["bound"]
        "Requests, operations and connections that were refused because a bound was reached; rate is --rate-limit.";
    RELOADS: "keyfold_reloads_total" ["outcome"]
        "Reloads of the schema: taken, or refused because of mistakes.";
    LAST_RELOAD: "keyfold_last_reload_timestamp_seconds" []
        "Time of the last reload that was taken, in seconds since 1970; 0 before the first.";
    BUILD: "keyfold_build_info" ["version"]
        "1, with the version of Keyfold.";
}

/// The metrics of the process, on Linux only (Prometheus, "Writing client libraries", "Standard and runtime
/// collectors").
pub const OF_PROCESS: &[&str] = &[
    "process_cpu_seconds_total",
    "process_max_fds",
    "process_open_fds",
    "process_resident_memory_bytes",
    "process_start_time_seconds",
    "process_threads",
    "process_virtual_memory_bytes",
];
