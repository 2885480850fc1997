//! Observes every run of an operation and every HTTP request, and reports them to the metrics, the traces and the log.

use super::metrics::Metrics;
use super::spans::{self, HttpExchange};
use super::tracer::{RequestSpan, Tracer};
use crate::execute::report::{OperationReport, RunObserver, TraceContext};
use axum::http::HeaderMap;
use std::sync::Arc;
use std::time::Duration;

/// The id of no span (W3C Trace Context, section 3.2.2.4).
const NO_SPAN: [u8; 8] = [0; 8];

/// What an operator asked for. By default nothing, which costs nothing.
#[derive(Debug, Default)]
pub struct Telemetry {
    /// The metrics.
    pub metrics: Option<Arc<Metrics>>,
    /// The traces.
    pub tracer: Option<Tracer>,
    /// Operations that take longer are logged with their plan.
    pub slow: Option<Duration>,
}

impl Telemetry {
    /// Whether anything is to be done for a run.
    pub fn is_on(&self) -> bool {
        self.metrics.is_some() || self.tracer.is_some() || self.slow.is_some()
    }

    /// Whether there are traces.
    pub fn has_traces(&self) -> bool {
        self.tracer.is_some()
    }

    /// Sends what waits. It blocks, for some seconds at most.
    pub fn flush(&self) {
        if let Some(tracer) = &self.tracer {
            tracer.flush();
        }
    }

    /// Sends what waits, and nothing more. It blocks, for some seconds at most.
    pub fn end(&self) {
        if let Some(tracer) = &self.tracer {
            tracer.end();
        }
    }

    /// Begins the span of a request with these headers, if there are traces.
    pub fn begin(&self, headers: &HeaderMap) -> Option<RequestSpan> {
        self.tracer.as_ref().map(|tracer| tracer.begin(headers))
    }

    /// Begins the trace of an operation that no HTTP request contains, if there are traces.
    pub fn begin_root(&self) -> Option<TraceContext> {
        self.tracer.as_ref().map(|tracer| TraceContext { span_id: NO_SPAN, ..tracer.begin(&HeaderMap::new()).own })
    }

    /// A request over HTTP has ended.
    pub fn exchanged(&self, exchange: HttpExchange<'_>, span: Option<RequestSpan>) {
        if let Some(metrics) = &self.metrics {
            metrics.http(exchange.method, exchange.route, exchange.status, exchange.lasted.as_secs_f64());
        }
        if let (Some(tracer), Some(span)) = (&self.tracer, span.filter(|span| span.own.is_sampled)) {
            spans::send_http(tracer, exchange, span);
        }
    }
}

impl RunObserver for Telemetry {
    fn ran(&self, report: &OperationReport) {
        if let Some(metrics) = &self.metrics {
            metrics.operation(report);
        }
        if let (Some(tracer), Some(trace)) = (&self.tracer, report.trace.filter(|trace| trace.is_sampled)) {
            spans::send_run(tracer, report, trace);
        }
        if self.slow.is_some_and(|slow| report.lasted > slow) {
            log_slow(report);
        }
    }
}

fn log_slow(report: &OperationReport) {
    let ms = |time: Duration| (time.as_secs_f64() * 1e5).round() / 100.0;
    let plan = report.plan_json().map(|plan| plan.to_string());
    tracing::warn!(
        operation = report.name.as_deref(),
        kind = report.kind_name(),
        ms = ms(report.lasted),
        wait_ms = ms(report.phases.wait),
        waves = report.waves(),
        calls = report.sent().count(),
        read_units = report.capacity(false),
        write_units = report.capacity(true),
        trace_id = report.trace.map(|trace| hex::encode(trace.trace_id)),
        plan,
        "slow operation"
    );
}
