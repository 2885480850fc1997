//! A request in, its response with an id out. Logs one line for each request when it is answered, a stream of events
//! when it ends, and answers a panic with 500.

use super::graphql::{RefusalCode, refuse};
use super::media_type::MediaType;
use super::status::HttpRefusal;
use crate::execute::auth::log_text::shortened;
use crate::execute::report::TraceContext;
use crate::serve::backend::request_summary::RequestSummary;
use crate::serve::sign_in::origin::RequestId;
use crate::serve::telemetry::observer::Telemetry;
use crate::serve::telemetry::spans::HttpExchange;
use crate::serve::telemetry::tracer::RequestSpan;
use axum::body::{Body, BodyDataStream};
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::Response;
use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use uuid::{Builder, Uuid};

/// The header that carries the id of a request, in both directions.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The status in the log if the client left before the answer, as in nginx.
const CLIENT_LEFT: u16 = 499;

/// How the paths of probes begin.
const PROBES: &str = "/health/";
/// The stream to which the pages of `keyfold dev` listen.
const NEWS: &str = "/dev/schema";

/// The log line of a request. Dropping it writes it, so that a request whose client left is logged too.
pub struct RequestLine {
    id: Arc<str>,
    method: Method,
    path: String,
    /// The path with names in place of what varies; none if there is no such path.
    route: Option<MatchedPath>,
    status: u16,
    began: Instant,
    /// The same moment, as a time of day.
    arrived: SystemTime,
    summary: RequestSummary,
    span: Option<RequestSpan>,
    telemetry: Arc<Telemetry>,
}

impl RequestLine {
    /// A request has arrived. Its handlers find its id, its summary and its span among its extensions.
    pub fn begin(telemetry: Arc<Telemetry>, request: &mut Request) -> Self {
        let id = request_id(request.headers());
        let route = request.extensions().get::<MatchedPath>().cloned();
        let is_silent = comes_by_itself(request.uri().path(), route.as_ref());
        let span = telemetry.begin(request.headers()).filter(|_| !is_silent);
        let summary = RequestSummary::default();
        let line = Self {
            id: id.clone(),
            method: request.method().clone(),
            path: shortened(request.uri().path()),
            route,
            status: CLIENT_LEFT,
            began: Instant::now(),
            arrived: SystemTime::now(),
            summary: summary.clone(),
            span,
            telemetry,
        };
        request.extensions_mut().insert(RequestId(id));
        request.extensions_mut().insert(summary);
        if let Some(span) = span {
            request.extensions_mut().insert(span);
        }
        line
    }

    /// The response of the handlers with the id of the request. If they panic, it is 500.
    pub fn finish(self, answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
        AssertUnwindSafe(answer).catch_unwind().map(|answered| self.finished(answered))
    }

    fn finished(mut self, answered: std::thread::Result<Response>) -> Response {
        let mut response = answered.unwrap_or_else(|panic| {
            tracing::error!(request_id = %self.id, panic = panic_text(&*panic), "a request handler panicked");
            refuse(MediaType::Json, &HttpRefusal::Failed)
        });
        self.status = response.status().as_u16();
        if let Some(RefusalCode(code)) = response.extensions_mut().remove() {
            self.summary.refused(code);
        }
        if let Ok(value) = HeaderValue::from_str(&self.id) {
            response.headers_mut().insert(REQUEST_ID, value);
        }
        let is_stream = response.headers().get(header::CONTENT_TYPE) == Some(&MediaType::EventStream.content_type());
        if is_stream { response.map(|body| until_its_end(body, self)) } else { response }
    }
}

/// Whether a request comes by itself and says nothing.
fn comes_by_itself(path: &str, route: Option<&MatchedPath>) -> bool {
    path.starts_with(PROBES) || route.is_some_and(|route| route.as_str() == NEWS)
}

/// A body whose log line is written when its last byte is taken, or when the client leaves.
fn until_its_end(body: Body, mut line: RequestLine) -> Body {
    let status = std::mem::replace(&mut line.status, CLIENT_LEFT);
    let next = move |(mut body, mut line): (BodyDataStream, RequestLine)| async move {
        match body.next().await {
            Some(bytes) => Some((bytes, (body, line))),
            None => {
                line.status = status;
                drop(line);
                None
            }
        }
    };
    Body::from_stream(stream::unfold((body.into_data_stream(), line), next))
}

impl Drop for RequestLine {
    fn drop(&mut self) {
        let lasted = self.began.elapsed();
        let ms = milliseconds(lasted);
        let Self { id, method, path, route, status, span, .. } = self;
        let is_silent = comes_by_itself(path, route.as_ref());
        let route = route.as_ref().map_or("(none)", |route| route.as_str());
        let method = method.as_str();
        let known = ["GET", "POST", "OPTIONS", "HEAD"].contains(&method);
        let exchange = HttpExchange {
            method: if known { method } else { "_OTHER" },
            route,
            status: *status,
            began: self.arrived,
            lasted,
        };
        self.telemetry.exchanged(exchange, *span);
        if is_silent {
            tracing::debug!(method, path, status, ms, request_id = &**id, "request");
            return;
        }
        let operations = self.summary.taken();
        // A macro, as each level is a constant of its call site. The values are made only if the line is.
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    method,
                    path,
                    status,
                    ms,
                    operation = operations.names(),
                    kind = operations.kinds(),
                    codes = operations.codes(),
                    waves = operations.figure(operations.waves),
                    calls = operations.figure(operations.calls),
                    read_units = operations.figure(operations.read_units),
                    write_units = operations.figure(operations.write_units),
                    trace_id = span.map(|span| hex::encode(span.own.trace_id)),
                    request_id = &**id,
                    "request"
                )
            };
        }
        if *status >= 500 { log!(warn) } else { log!(info) }
    }
}

/// The log line of an operation over a WebSocket. Dropping it writes it.
#[derive(Debug)]
pub struct OperationLine {
    began: Instant,
    summary: RequestSummary,
    trace: Option<TraceContext>,
}

impl OperationLine {
    /// An operation begins now.
    pub fn begin(trace: Option<TraceContext>) -> Self {
        Self { began: Instant::now(), summary: RequestSummary::default(), trace }
    }

    /// What the line says of the operation.
    pub fn summary(&self) -> RequestSummary {
        self.summary.clone()
    }
}

impl Drop for OperationLine {
    fn drop(&mut self) {
        let operations = self.summary.taken();
        let (operation, kind, codes) = (operations.names(), operations.kinds(), operations.codes());
        let (waves, calls) = (operations.figure(operations.waves), operations.figure(operations.calls));
        let (read_units, write_units) =
            (operations.figure(operations.read_units), operations.figure(operations.write_units));
        let trace_id = self.trace.map(|trace| hex::encode(trace.trace_id));
        let ms = milliseconds(self.began.elapsed());
        tracing::info!(
            ms,
            operation,
            kind,
            codes,
            waves,
            calls,
            read_units,
            write_units,
            trace_id,
            "operation over a WebSocket"
        );
    }
}

/// A time for the log: milliseconds, to a hundredth.
fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e5).round() / 100.0
}

/// The client's id if it is short and plain, otherwise a new one: a UUID v7, so that ids sort by time.
fn request_id(headers: &HeaderMap) -> Arc<str> {
    headers
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok())
        .filter(|id| (1..=128).contains(&id.len()))
        .filter(|id| id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte)))
        .map_or_else(new_id, Arc::from)
}

/// A UUID v7 (RFC 9562 section 5.7). It is no secret, so its random part does not come from the system, which would
/// take a call each time.
fn new_id() -> Arc<str> {
    let mut random = [0; 10];
    fastrand::fill(&mut random);
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let id = Builder::from_unix_timestamp_millis(u64::try_from(since_1970.as_millis()).unwrap_or_default(), &random)
        .into_uuid();
    (&*id.hyphenated().encode_lower(&mut Uuid::encode_buffer())).into()
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::log_for_tests::LogBuffer;
    use std::convert::Infallible;

    fn id_for(sent: &str) -> Arc<str> {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(sent.as_bytes()).unwrap());
        request_id(&headers)
    }

    #[test]
    fn a_plain_id_is_kept_and_any_other_replaced() {
        assert_eq!(&*id_for("1-67891233-abcdef012345678912345678"), "1-67891233-abcdef012345678912345678");
        for odd in ["", "a b", "{\"a\":1}", "é", &"x".repeat(129)] {
            assert_eq!(Uuid::parse_str(&id_for(odd)).unwrap().get_version_num(), 7, "{odd}");
        }
    }

    #[tokio::test]
    async fn a_stream_is_logged_when_it_ends() {
        for (is_read, status) in [(true, "status=200"), (false, "status=499")] {
            let log = LogBuffer::default();
            let subscriber = log.subscriber();
            let _guard = tracing::subscriber::set_default(subscriber);
            let (id, method, path) = ("1".into(), Method::POST, "/graphql".to_owned());
            let (summary, telemetry) = (RequestSummary::default(), Arc::default());
            let (began, arrived) = (Instant::now(), SystemTime::now());
            let line = RequestLine {
                id,
                method,
                path,
                route: None,
                status: 200,
                began,
                arrived,
                summary,
                span: None,
                telemetry,
            };
            let events = stream::iter([Ok::<_, Infallible>("event: next"), Ok("event: complete")]);
            let mut events = until_its_end(Body::from_stream(events), line).into_data_stream();
            assert!(events.next().await.is_some() && events.next().await.is_some());
            assert!(log.text().is_empty());
            assert!(!is_read || events.next().await.is_none());
            drop(events);
            let written = log.text();
            assert!(written.contains(status), "{written}");
        }
    }
}
