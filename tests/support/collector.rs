//! A collector of traces, over HTTP and over gRPC: batches of spans in, the spans out.

use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::resource::v1::Resource;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type Batches = Vec<(Resource, Vec<Span>)>;

/// What was received.
#[derive(Clone, Default)]
pub struct Collected(Arc<Mutex<Batches>>);

impl Collected {
    fn take(&self, bytes: &[u8]) {
        let request = ExportTraceServiceRequest::decode(bytes).unwrap();
        for of in request.resource_spans {
            let spans = of.scope_spans.into_iter().flat_map(|scope| scope.spans).collect();
            self.0.lock().unwrap().push((of.resource.unwrap_or_default(), spans));
        }
    }

    /// All spans so far.
    pub fn spans(&self) -> Vec<Span> {
        self.0.lock().unwrap().iter().flat_map(|(_, spans)| spans.clone()).collect()
    }

    /// The names of the services that sent spans.
    pub fn services(&self) -> Vec<String> {
        let all = self.0.lock().unwrap();
        let names = all
            .iter()
            .flat_map(|(resource, _)| &resource.attributes)
            .filter(|attribute| attribute.key == "service.name");
        names.map(|attribute| text(attribute.value.as_ref().and_then(|value| value.value.as_ref()))).collect()
    }
}

/// The text of an attribute's value.
fn text(value: Option<&Any>) -> String {
    match value {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::DoubleValue(number)) => number.to_string(),
        Some(Any::ArrayValue(values)) => {
            values.values.iter().map(|value| text(value.value.as_ref())).collect::<Vec<_>>().join(",")
        }
        other => format!("{other:?}"),
    }
}

/// The value of a span's attribute, if it has it.
pub fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    Some(text(found.value.as_ref().and_then(|value| value.value.as_ref())))
}

/// A collector over HTTP: its URL, and what it has received.
pub async fn over_http() -> (String, Collected) {
    let collected = Collected::default();
    let take = |State(collected): State<Collected>, body: Bytes| async move { collected.take(&body) };
    let routes = axum::Router::new().route("/v1/traces", post(take)).with_state(collected.clone());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await });
    (url, collected)
}

/// A collector over gRPC: its URL, and what it has received.
pub async fn over_grpc() -> (String, Collected) {
    let collected = Collected::default();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let all = collected.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let all = all.clone();
            tokio::spawn(async move {
                let mut connection = h2::server::handshake(stream).await.unwrap();
                while let Some(Ok((request, respond))) = connection.accept().await {
                    tokio::spawn(answer(request, respond, all.clone()));
                }
            });
        }
    });
    (url, collected)
}

/// A call of gRPC: a byte that says that nothing is compressed, four of the length, and the message; the status comes
/// in the trailers (gRPC over HTTP2, "Requests" and "Responses").
async fn answer(
    request: axum::http::Request<h2::RecvStream>,
    mut respond: h2::server::SendResponse<bytes::Bytes>,
    all: Collected,
) {
    assert_eq!(request.uri().path(), "/opentelemetry.proto.collector.trace.v1.TraceService/Export");
    let (mut body, mut message) = (request.into_body(), Vec::new());
    while let Some(data) = body.data().await {
        let data = data.unwrap();
        body.flow_control().release_capacity(data.len()).unwrap();
        message.extend_from_slice(&data);
    }
    assert_eq!(message[0], 0);
    all.take(&message[5..]);
    let response = axum::http::Response::builder().header("content-type", "application/grpc").body(()).unwrap();
    let mut stream = respond.send_response(response, false).unwrap();
    stream.send_data(bytes::Bytes::from_static(&[0; 5]), false).unwrap();
    let mut trailers = axum::http::HeaderMap::new();
    trailers.insert("grpc-status", "0".parse().unwrap());
    stream.send_trailers(trailers).unwrap();
}
