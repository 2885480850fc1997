//! A run of an operation, or an HTTP request, in; its spans out. Attributes follow OpenTelemetry's semantic conventions
//! for GraphQL servers, HTTP and DynamoDB. Must not know where spans go.

use super::tracer::{RequestSpan, Tracer, span_context};
use crate::execute::report::{CallRecord, OperationReport, RunOutcome, TraceContext};
use crate::execute::service::guarded::ServiceCallReport;
use opentelemetry::trace::{SpanId, SpanKind, Status};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

/// The attributes of the span of a call that was made once, on an index, and whose answer has an id.
const ATTRIBUTES_OF_CALL: usize = 8;

/// The part of a request that HTTP sees.
#[derive(Debug, Clone, Copy)]
pub struct HttpExchange<'a> {
    /// The method.
    pub method: &'a str,
    /// The path, with names in place of what varies.
    pub route: &'a str,
    /// The status of the response.
    pub status: u16,
    /// When the request arrived.
    pub began: SystemTime,
    /// The time to its end.
    pub lasted: Duration,
}

/// What distinguishes a span from the others of its trace.
struct Span {
    name: Cow<'static, str>,
    kind: SpanKind,
    /// From the beginning of the run.
    from: Duration,
    until: Duration,
    attributes: Vec<KeyValue>,
    status: Status,
}

/// A call with its begin and its end, from the beginning of the run.
type TimedCall<'r, C> = (&'r C, Duration, Duration);

/// The calls of a wave.
#[derive(Default)]
struct WaveCalls<'r> {
    tables: Vec<TimedCall<'r, CallRecord>>,
    services: Vec<TimedCall<'r, ServiceCallReport>>,
    /// When the first of them began, and the last one ended.
    from: Option<Duration>,
    until: Duration,
}

/// The calls of each wave of a run.
fn waves(report: &OperationReport) -> BTreeMap<usize, WaveCalls<'_>> {
    let mut waves: BTreeMap<usize, WaveCalls<'_>> = BTreeMap::new();
    for call in report.sent() {
        let from = report.prepared_after + milliseconds(call.start);
        let until = from + milliseconds(call.ms);
        waves.entry(call.wave).or_default().reaching(from, until).tables.push((call, from, until));
    }
    for call in &report.services {
        let from = report.prepared_after + call.start;
        let until = from + call.lasted;
        waves.entry(call.wave).or_default().reaching(from, until).services.push((call, from, until));
    }
    waves
}

impl WaveCalls<'_> {
    /// Notes that one of its calls is made then.
    fn reaching(&mut self, from: Duration, until: Duration) -> &mut Self {
        self.from = Some(self.from.map_or(from, |first| first.min(from)));
        self.until = self.until.max(until);
        self
    }
}

/// Sends the spans of a run: the operation, its preparation unless it was known, its waves, and the calls of each wave.
/// Waves and calls are inside what asked for them.
pub fn send_run(tracer: &Tracer, report: &OperationReport, request: TraceContext) {
    let made = RunSpans { tracer, began: report.began, trace: request };
    let phases = &report.phases;
    let operation = made.send(operation_span(report), request.span_id);
    let (has_parsed, has_planned) = report.was_new;
    for (is_there, name, from, length) in
        [(has_parsed, "parse", Duration::ZERO, phases.parse), (has_planned, "plan", phases.parse, phases.plan)]
    {
        if is_there {
            made.send(Span::internal(name, from, from + length), operation);
        }
    }
    for (number, WaveCalls { tables, services, from, until }) in waves(report) {
        let mut attributes =
            vec![KeyValue::new("keyfold.wave", number as i64), KeyValue::new("keyfold.calls", tables.len() as i64)];
        let of_services = (!services.is_empty()).then_some(services.len() as i64);
        attributes.extend(of_services.map(|calls| KeyValue::new("keyfold.service_calls", calls)));
        let wave = made.send(Span { attributes, ..Span::internal("wave", from.unwrap_or_default(), until) }, operation);
        for (call, from, until) in tables {
            made.send(call_span(call, (from, until)), wave);
        }
        for (call, from, until) in services {
            made.send(service_span(call, (from, until)), wave);
        }
    }
    if !phases.write.is_zero() {
        made.send(Span::internal("write", report.lasted.saturating_sub(phases.write), report.lasted), operation);
    }
}

/// Sends the span of a request over HTTP.
pub fn send_http(tracer: &Tracer, exchange: HttpExchange<'_>, span: RequestSpan) {
    let HttpExchange { method, route, status, began, lasted } = exchange;
    let attributes = vec![
        KeyValue::new("http.request.method", method.to_owned()),
        KeyValue::new("http.route", route.to_owned()),
        KeyValue::new("http.response.status_code", i64::from(status)),
        KeyValue::new("url.path", route.to_owned()),
    ];
    let status = if status >= 500 { Status::error("") } else { Status::Unset };
    let name = format!("{method} {route}").into();
    let made = RunSpans { tracer, began, trace: span.own };
    let whole = Span { name, kind: SpanKind::Server, from: Duration::ZERO, until: lasted, attributes, status };
    made.send_as(span.own.span_id, whole, span.parent.unwrap_or_default(), span.parent.is_some());
}

/// What all spans of a run have in common.
struct RunSpans<'a> {
    tracer: &'a Tracer,
    began: SystemTime,
    trace: TraceContext,
}

impl RunSpans<'_> {
    /// Sends a span inside another. Gives its id.
    fn send(&self, span: Span, parent: [u8; 8]) -> [u8; 8] {
        let id = self.tracer.new_id();
        self.send_as(id, span, parent, false);
        id
    }

    fn send_as(&self, id: [u8; 8], span: Span, parent: [u8; 8], parent_span_is_remote: bool) {
        let Span { name, kind, from, until, attributes, status } = span;
        self.tracer.send(SpanData {
            span_context: span_context(TraceContext { span_id: id, ..self.trace }),
            parent_span_id: SpanId::from_bytes(parent),
            parent_span_is_remote,
            span_kind: kind,
            name,
            start_time: self.began + from,
            end_time: self.began + until.max(from),
            attributes,
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status,
            instrumentation_scope: self.tracer.scope().clone(),
        });
    }
}

impl Span {
    fn internal(name: &'static str, from: Duration, until: Duration) -> Self {
        Self { name: name.into(), kind: SpanKind::Internal, from, until, attributes: Vec::new(), status: Status::Unset }
    }
}

/// OpenTelemetry semantic conventions, "Semantic conventions for GraphQL server": `query findBookById`.
fn operation_span(report: &OperationReport) -> Span {
    let kind = report.kind_name();
    let mut attributes = vec![
        KeyValue::new("graphql.operation.type", kind),
        KeyValue::new("keyfold.waves", report.waves() as i64),
        KeyValue::new("keyfold.calls", report.sent().count() as i64),
        KeyValue::new("keyfold.capacity.read", report.capacity(false)),
        KeyValue::new("keyfold.capacity.write", report.capacity(true)),
    ];
    attributes.extend(report.name.clone().map(|name| KeyValue::new("graphql.operation.name", name)));
    if report.outcome != RunOutcome::Complete {
        let codes = report.errors.iter().map(|(code, _)| StringValue::from(code.as_str())).collect();
        attributes.push(KeyValue::new("keyfold.error.codes", Value::Array(Array::String(codes))));
    }
    let status = if report.outcome == RunOutcome::Complete { Status::Unset } else { Status::error("") };
    let name = match &report.name {
        Some(name) => format!("{kind} {name}").into(),
        None if report.kind.is_some() => kind.into(),
        None => "GraphQL operation".into(),
    };
    Span { name, attributes, status, ..Span::internal("", Duration::ZERO, report.lasted) }
}

/// OpenTelemetry semantic conventions, "Semantic conventions for AWS DynamoDB".
fn call_span(call: &CallRecord, (from, until): (Duration, Duration)) -> Span {
    let tables: Vec<StringValue> = match call.table.contains(',') {
        true => call.table.split(',').map(|table| StringValue::from(table.to_owned())).collect(),
        false => vec![call.table.clone().into()],
    };
    let name: Cow<'static, str> = match &call.index {
        None if tables.len() == 1 => [call.operation, " ", &call.table].concat().into(),
        _ => call.operation.into(),
    };
    let mut attributes = Vec::with_capacity(ATTRIBUTES_OF_CALL);
    attributes.extend([
        KeyValue::new("db.system.name", "aws.dynamodb"),
        KeyValue::new("db.operation.name", call.operation),
        KeyValue::new("aws.dynamodb.table_names", Value::Array(Array::String(tables))),
        KeyValue::new("aws.dynamodb.count", call.items as i64),
        KeyValue::new("keyfold.keys", call.keys as i64),
        KeyValue::new("keyfold.capacity", call.capacity),
    ]);
    attributes.extend(call.index.clone().map(|index| KeyValue::new("aws.dynamodb.index_name", index)));
    attributes.extend(call.request_id.clone().map(|id| KeyValue::new("aws.request_id", id)));
    for (name, count) in [
        ("keyfold.retries", call.retries),
        ("keyfold.throttles", call.throttles),
        ("keyfold.hedges", u32::from(call.hedged)),
    ] {
        attributes.extend((count > 0).then(|| KeyValue::new(name, i64::from(count))));
    }
    let status = if call.failed { Status::error("") } else { Status::Unset };
    Span { name, kind: SpanKind::Client, from, until, attributes, status }
}

/// A call of a service: its name, not its address, which may hold a secret.
fn service_span(call: &ServiceCallReport, (from, until): (Duration, Duration)) -> Span {
    let ServiceCallReport { service, field, items, attempts, failure, .. } = call;
    let mut attributes = vec![
        KeyValue::new("keyfold.service", service.clone()),
        KeyValue::new("keyfold.field", field.clone()),
        KeyValue::new("keyfold.objects", *items as i64),
        KeyValue::new("keyfold.attempts", i64::from(*attempts)),
    ];
    attributes.extend(failure.map(|kind| KeyValue::new("error.type", kind.as_str())));
    let status = if failure.is_some() { Status::error("") } else { Status::Unset };
    let name = format!("service {service}").into();
    Span { name, kind: SpanKind::Client, from, until, attributes, status }
}

fn milliseconds(ms: f64) -> Duration {
    Duration::try_from_secs_f64(ms / 1e3).unwrap_or_default()
}
