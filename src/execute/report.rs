//! What a run of an operation took, as plain data: its phases, its calls, its errors. Logs, metrics and traces are made
//! of it.

use super::error::ErrorCode;
use crate::execute::service::guarded::ServiceCallReport;
use crate::plan::tree::OperationPlan;
use crate::schema::model::Model;
use crate::table::cache::counts::CacheCounts;
use apollo_compiler::ast::OperationType;
use serde_json::Value;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// A call of a run, as plain data.
pub use crate::table::request::session::CallRecord;

/// Observes every run of every operation, as soon as the run has ended. It must not wait.
pub trait RunObserver: Debug + Send + Sync {
    /// A run has ended.
    fn ran(&self, report: &OperationReport);
}

/// A place in a trace (W3C Trace Context, section 3.2.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceContext {
    /// The id of the trace.
    pub trace_id: [u8; 16],
    /// The id of the span that contains what follows.
    pub span_id: [u8; 8],
    /// Whether the trace is recorded.
    pub is_sampled: bool,
}

impl TraceContext {
    /// The header `traceparent` (W3C Trace Context, section 3.2).
    pub fn to_text(self) -> String {
        let Self { trace_id, span_id, is_sampled } = self;
        format!("00-{}-{}-{:02x}", hex::encode(trace_id), hex::encode(span_id), u8::from(is_sampled))
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// Without errors.
    Complete,
    /// With errors, and with `data` or null for it.
    WithErrors,
    /// Before execution: the response has no `data`.
    Refused,
}

/// How long the parts of a run took. Together they take as long as the run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Phases {
    /// Parsing and validating the document; nothing if it was known.
    pub parse: Duration,
    /// Coercing the variables, and planning; little if the plan was known.
    pub plan: Duration,
    /// Waiting for at least one call.
    pub wait: Duration,
    /// The rest: reading items, and making the calls of the next wave.
    pub decode: Duration,
    /// Writing the response.
    pub write: Duration,
}

/// When an operation arrived, and how long its preparation took.
#[derive(Debug, Clone, Copy)]
pub struct Preparation {
    /// The time of day at which it arrived.
    pub began: SystemTime,
    /// The same moment, to measure from.
    pub clock: Instant,
    /// See [`Phases::parse`].
    pub parse: Duration,
    /// See [`Phases::plan`].
    pub plan: Duration,
    /// Whether the document had to be parsed.
    pub has_parsed: bool,
    /// Whether the operation had to be planned.
    pub has_planned: bool,
}

/// What a run of an operation took. Of a subscription, each event for which its plan is run is a run.
#[derive(Debug)]
pub struct OperationReport {
    /// The name of the operation; `None` if it has none, or if it could not be read.
    pub name: Option<Arc<str>>,
    /// Its kind; `None` if it could not be read.
    pub kind: Option<OperationType>,
    /// How it ended.
    pub outcome: RunOutcome,
    /// When it arrived.
    pub began: SystemTime,
    /// The time from its arrival to its last byte.
    pub lasted: Duration,
    /// The time from its arrival to the beginning of its execution, from which the starts of its calls are counted.
    pub prepared_after: Duration,
    /// How long its parts took.
    pub phases: Phases,
    /// Whether its document had to be parsed, and whether it had to be planned. Otherwise they were known.
    pub was_new: (bool, bool),
    /// Its calls, in the order in which they began.
    pub calls: Vec<CallRecord>,
    /// Its calls of services, in the order in which they ended.
    pub services: Vec<ServiceCallReport>,
    /// How many drafts of a write lost a race.
    pub lost_races: u32,
    /// The codes of its errors, each with how many there are.
    pub errors: Vec<(ErrorCode, usize)>,
    /// Its plan, and the model that it is for; `None` if it has none.
    pub plan: Option<(Arc<Model>, Arc<OperationPlan>)>,
    /// Its place in a trace, if it has one.
    pub trace: Option<TraceContext>,
}

/// What a gateway holds at a moment.
#[derive(Debug, Clone, Default)]
pub struct GatewayLoad {
    /// Its caches: documents, plans and, if anything is kept, items.
    pub caches: Vec<(&'static str, CacheCounts)>,
    /// The calls in flight.
    pub calls: usize,
    /// How many may be in flight.
    pub most_calls: usize,
    /// The memory of what running operations have read, where each has read much, and the bound of all.
    pub reads: (u64, u64),
}

/// What the subscriptions of a gateway hold at a moment.
#[derive(Debug, Clone, Default)]
pub struct SubscriptionLoad {
    /// How many there are.
    pub subscriptions: usize,
    /// How many groups they form.
    pub groups: usize,
    /// The bytes that wait for subscribers.
    pub waiting_bytes: usize,
    /// How many seconds the reading of each table's stream is behind the changes.
    pub lags: Vec<(String, i64)>,
}

impl Preparation {
    /// An operation arrives now.
    pub fn begin() -> Self {
        Self {
            began: SystemTime::now(),
            clock: Instant::now(),
            parse: Duration::ZERO,
            plan: Duration::ZERO,
            has_parsed: false,
            has_planned: false,
        }
    }
}

impl OperationReport {
    /// The report of an operation that was refused before its execution.
    pub fn refused(
        preparation: &Preparation,
        codes: impl IntoIterator<Item = ErrorCode>,
        trace: Option<TraceContext>,
    ) -> Self {
        let lasted = preparation.clock.elapsed();
        Self {
            name: None,
            kind: None,
            outcome: RunOutcome::Refused,
            began: preparation.began,
            lasted,
            prepared_after: lasted,
            was_new: (preparation.has_parsed, preparation.has_planned),
            phases: Phases {
                parse: preparation.parse,
                plan: lasted.saturating_sub(preparation.parse),
                ..Phases::default()
            },
            calls: Vec::new(),
            services: Vec::new(),
            lost_races: 0,
            errors: counted(codes),
            plan: None,
            trace,
        }
    }

    /// The kind as GraphQL spells it: `query`, `mutation` or `subscription`; `unknown` if it could not be read.
    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("unknown", |kind| kind.name())
    }

    /// Its plan as `extensions.keyfold.plan` shows it.
    pub fn plan_json(&self) -> Option<Value> {
        self.plan.as_ref().map(|(model, plan)| plan.to_json(model))
    }

    /// The calls that were made: those that the cache answered are not among them.
    pub fn sent(&self) -> impl Iterator<Item = &CallRecord> {
        self.calls.iter().filter(|call| !call.cached)
    }

    /// How many rounds of calls it made.
    pub fn waves(&self) -> usize {
        self.sent().map(|call| call.wave).max().unwrap_or_default()
    }

    /// The capacity units that its reads or its writes consumed.
    pub fn capacity(&self, write: bool) -> f64 {
        self.sent().filter(|call| call.write == write).map(|call| call.capacity).fold(0.0, |sum, units| sum + units)
    }
}

/// Each code once, with how often it occurs, in the order of their first occurrences.
pub fn counted(codes: impl IntoIterator<Item = ErrorCode>) -> Vec<(ErrorCode, usize)> {
    let mut counts: Vec<(ErrorCode, usize)> = Vec::new();
    for code in codes {
        match counts.iter_mut().find(|(known, _)| *known == code) {
            Some((_, count)) => *count += 1,
            None => counts.push((code, 1)),
        }
    }
    counts
}

/// The time during which at least one of the calls was under way, of tables or of services.
pub fn waited(calls: &[CallRecord], services: &[ServiceCallReport]) -> Duration {
    let of_service = |call: &ServiceCallReport| {
        let [start, lasted] = [call.start, call.lasted].map(|time| time.as_secs_f64() * 1e3);
        (start, start + lasted)
    };
    let of_tables = calls.iter().map(|call| (call.start, call.start + call.ms));
    let mut spans: Vec<(f64, f64)> = of_tables.chain(services.iter().map(of_service)).collect();
    spans.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut waited, mut until) = (0.0_f64, 0.0_f64);
    for (start, end) in spans {
        waited += (end - start.max(until)).max(0.0);
        until = until.max(end);
    }
    Duration::try_from_secs_f64(waited / 1e3).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(start: f64, ms: f64) -> CallRecord {
        CallRecord { start, ms, ..CallRecord::default() }
    }

    #[test]
    fn calls_side_by_side_wait_once() {
        let millis = |calls: &[CallRecord]| waited(calls, &[]).as_secs_f64() * 1e3;
        assert_eq!(millis(&[]), 0.0);
        assert_eq!(millis(&[call(0.0, 10.0), call(2.0, 4.0), call(8.0, 4.0), call(20.0, 5.0)]), 17.0);
        assert_eq!(millis(&[call(20.0, 5.0), call(0.0, 10.0)]), 15.0);
    }

    #[test]
    fn codes_are_counted() {
        let codes = [ErrorCode::Timeout, ErrorCode::Internal, ErrorCode::Timeout];
        assert_eq!(counted(codes), [(ErrorCode::Timeout, 2), (ErrorCode::Internal, 1)]);
    }
}
