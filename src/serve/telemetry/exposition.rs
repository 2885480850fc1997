//! A bound socket in; `/metrics` answered there, as the classic text of Prometheus.

use super::metrics::Metrics;
use super::sources::MetricSources;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The type of the text (Prometheus, "Exposition formats", "Basic info").
const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What answers.
#[derive(Clone)]
struct Exposition {
    metrics: Arc<Metrics>,
    sources: MetricSources,
}

/// Answers who asks for the metrics, until the task is dropped.
pub async fn serve(listener: TcpListener, metrics: Arc<Metrics>, sources: MetricSources) {
    let router = Router::new().route("/metrics", get(text)).with_state(Exposition { metrics, sources });
    if let Err(error) = axum::serve(listener, router).await {
        tracing::error!(%error, "the metrics are no longer served");
    }
}

async fn text(State(Exposition { metrics, sources }): State<Exposition>) -> Response {
    sources.read(&metrics);
    match metrics.text() {
        Ok(text) => ([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
