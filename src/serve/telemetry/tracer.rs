//! Spans in; the same sent to a collector out, as OTLP over HTTP or gRPC (OpenTelemetry specification, "OTLP
//! exporter").
//!
//! The `OTEL_*` variables of OpenTelemetry say whether, where to and which. Spans wait in a queue
//! (`OTEL_BSP_MAX_QUEUE_SIZE`, 2,048 of about a kilobyte unless it is set), and are dropped if the collector does not
//! take them in time: no request waits for it.

use super::collector::CollectorClient;
use super::trace_context::Propagators;
use crate::execute::report::TraceContext;
use axum::http::HeaderMap;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, InstrumentationScope, Key};
use opentelemetry_otlp::tonic_types::transport::ClientTlsConfig;
use opentelemetry_otlp::{ExporterBuildError, SpanExporter, WithHttpConfig, WithTonicConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchSpanProcessor, Config, SamplingDecision, SpanData, SpanProcessor};
use std::time::Duration;
use thiserror::Error;

/// How long the last spans may take to be sent when the server stops.
const LAST_SPANS: Duration = Duration::from_secs(5);

/// Why there can be no traces.
#[derive(Debug, Error)]
pub enum TracerError {
    /// The exporter is none of those that there are.
    #[error("OTEL_TRACES_EXPORTER is \"{0}\": write otlp or none")]
    Exporter(String),
    /// The protocol is none of those that there are.
    #[error("the protocol of OTLP is \"{0}\": write http/protobuf or grpc")]
    Protocol(String),
    /// This machine trusts no certificates.
    #[error("traces cannot be sent")]
    Certificates(#[source] std::io::Error),
    /// A variable cannot be used.
    #[error("traces cannot be sent")]
    Settings(#[source] ExporterBuildError),
}

/// Sends spans to a collector.
#[derive(Debug)]
pub struct Tracer {
    processor: BatchSpanProcessor,
    config: Config,
    propagators: Propagators,
    scope: InstrumentationScope,
}

/// The span of a request that has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestSpan {
    /// The span itself.
    pub own: TraceContext,
    /// The span of the caller that contains it; none if it begins the trace.
    pub parent: Option<[u8; 8]>,
}

impl Tracer {
    /// The tracer that the environment asks for; `None` if it asks for none. Must be called inside a Tokio runtime.
    pub fn from_environment() -> Result<Option<Self>, TracerError> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let of_traces = |suffix: &str| {
            variable(&format!("OTEL_EXPORTER_OTLP_TRACES_{suffix}"))
                .or_else(|| variable(&format!("OTEL_EXPORTER_OTLP_{suffix}")))
        };
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        match variable("OTEL_TRACES_EXPORTER").as_deref() {
            Some("none") => return Ok(None),
            Some("otlp") => {}
            Some(other) => return Err(TracerError::Exporter(other.to_owned())),
            None if of_traces("ENDPOINT").is_none() => return Ok(None),
            None => {}
        }
        let exporter = match of_traces("PROTOCOL").as_deref() {
            None | Some("http/protobuf") => {
                let client = CollectorClient::new().map_err(TracerError::Certificates)?;
                SpanExporter::builder().with_http().with_http_client(client).build()
            }
            Some("grpc") => {
                let builder = SpanExporter::builder().with_tonic();
                let is_encrypted = of_traces("ENDPOINT").is_some_and(|endpoint| endpoint.starts_with("https:"));
                let builder = if is_encrypted {
                    builder.with_tls_config(ClientTlsConfig::new().with_native_roots())
                } else {
                    builder
                };
                builder.build()
            }
            Some(other) => return Err(TracerError::Protocol(other.to_owned())),
        };
        let mut processor = BatchSpanProcessor::builder(exporter.map_err(TracerError::Settings)?).build();
        processor.set_resource(&resource());
        let scope = InstrumentationScope::builder("keyfold").with_version(env!("CARGO_PKG_VERSION")).build();
        let propagators = Propagators::named(variable("OTEL_PROPAGATORS").as_deref());
        Ok(Some(Self { processor, config: Config::default(), propagators, scope }))
    }

    /// Begins the span of a request with these headers: decides whether its trace is recorded.
    pub fn begin(&self, headers: &HeaderMap) -> RequestSpan {
        let parent = self.propagators.parent(headers);
        let trace_id = parent
            .map_or_else(|| self.config.id_generator.new_trace_id(), |parent| TraceId::from_bytes(parent.trace_id));
        let remote = parent.map(|parent| Context::new().with_remote_span_context(span_context(parent)));
        let sampled = self.config.sampler.should_sample(remote.as_ref(), trace_id, "", &SpanKind::Server, &[], &[]);
        let is_sampled = sampled.decision == SamplingDecision::RecordAndSample;
        let own = TraceContext { trace_id: trace_id.to_bytes(), span_id: self.new_id(), is_sampled };
        RequestSpan { own, parent: parent.map(|parent| parent.span_id) }
    }

    /// The id of a further span.
    pub fn new_id(&self) -> [u8; 8] {
        self.config.id_generator.new_span_id().to_bytes()
    }

    /// What makes the spans, as each of them says.
    pub fn scope(&self) -> &InstrumentationScope {
        &self.scope
    }

    /// Sends a span that has ended, later and with others.
    pub fn send(&self, span: SpanData) {
        self.processor.on_end(span);
    }

    /// Sends what waits. It blocks, for some seconds at most.
    pub fn flush(&self) {
        if let Err(error) = self.processor.force_flush() {
            tracing::warn!(%error, "some spans could not be sent");
        }
    }

    /// Sends what waits, and nothing more. It blocks, for some seconds at most.
    pub fn end(&self) {
        if let Err(error) = self.processor.shutdown_with_timeout(LAST_SPANS) {
            tracing::warn!(%error, "the last spans could not be sent");
        }
    }
}

/// The context of a span as OpenTelemetry has it.
pub fn span_context(context: TraceContext) -> SpanContext {
    let flags = if context.is_sampled { TraceFlags::SAMPLED } else { TraceFlags::default() };
    let (trace, span) = (TraceId::from_bytes(context.trace_id), SpanId::from_bytes(context.span_id));
    SpanContext::new(trace, span, flags, true, TraceState::default())
}

/// What the spans are of: the variables of OpenTelemetry, and `keyfold` as the name of the service if they name none.
fn resource() -> Resource {
    let detected = Resource::builder().build();
    let name = detected.get(&Key::from_static_str("service.name")).map(|name| name.as_str().into_owned());
    match name {
        Some(name) if !name.starts_with("unknown_service") => detected,
        _ => Resource::builder().with_service_name("keyfold").build(),
    }
}
