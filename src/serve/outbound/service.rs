//! The calls of services over HTTP: a call as plain data in, one POST, and its answer as plain data out. Must not know
//! fields or plans.
//!
//! The body is JSON, and so is the answer: `{"results": [{"data": …}, {"error": {"code": …, "message": …}}]}`, in the
//! order of the items.

use super::client::{OutboundClient, outbound_client};
use crate::execute::service::call::{
    RefusedItem, ServiceAnswer, ServiceCaller, ServiceConnector, ServiceError, ServiceErrorKind, ServiceRequest,
    ServiceResult,
};
use crate::schema::model::service::{Secret, Service};
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Request, StatusCode, Uri};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use ring::hmac;
use serde::Deserialize;
use serde_json::Value;
use std::sync::{Arc, OnceLock};
use std::time::{SystemTime, UNIX_EPOCH};

/// The header with the signature: `t=<epoch seconds>,v1=<hexadecimal HMAC-SHA-256 of "<epoch seconds>.<body>">`.
pub const SIGNATURE: HeaderName = HeaderName::from_static("keyfold-signature");
/// The header with the span of the request (W3C Trace Context).
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// A service that answers over HTTP.
struct HttpService {
    client: OutboundClient,
    address: Uri,
    secret: Option<Secret>,
    max_bytes: usize,
}

/// Reaches services by their addresses. A schema without services needs no client.
#[derive(Default)]
pub struct HttpServices(OnceLock<Option<OutboundClient>>);

impl ServiceConnector for HttpServices {
    fn connect(&self, service: &Service) -> Option<Arc<dyn ServiceCaller>> {
        let address: Uri = service.url.as_ref()?.parse().ok()?;
        let client = self.0.get_or_init(|| {
            let trouble =
                |error| tracing::error!(%error, "services cannot be called: there are no certificates to trust");
            outbound_client().map_err(trouble).ok()
        });
        let (client, secret, max_bytes) = (client.clone()?, service.secret.clone(), service.max_bytes);
        Some(Arc::new(HttpService { client, address, secret, max_bytes }))
    }
}

impl ServiceCaller for HttpService {
    fn call<'c>(&'c self, request: &'c ServiceRequest) -> BoxFuture<'c, Result<ServiceAnswer, ServiceError>> {
        self.post(request).boxed()
    }
}

impl HttpService {
    async fn post(&self, call: &ServiceRequest) -> Result<ServiceAnswer, ServiceError> {
        let unsendable = |error: &dyn std::fmt::Display| error_of(ServiceErrorKind::Refused, error);
        let body = call.to_json().map_err(|error| unsendable(&error))?.into_bytes();
        let mut request = Request::post(self.address.clone()).header(CONTENT_TYPE, "application/json");
        if let Some(trace) = &call.trace {
            request = request.header(TRACEPARENT, trace);
        }
        if let Some(token) = &call.token {
            let mut bearer =
                HeaderValue::try_from(format!("Bearer {}", token.0)).map_err(|error| unsendable(&error))?;
            bearer.set_sensitive(true);
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(secret) = &self.secret {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
            request = request.header(SIGNATURE, signature(secret, now, &body));
        }
        let request = request.body(Body::from(body)).map_err(|error| unsendable(&error))?;
        let answer = self.client.request(request).await.map_err(|error| {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}")).unwrap_or_default();
            error_of(ServiceErrorKind::Unavailable, &format!("{error}{cause}"))
        })?;
        let status = answer.status();
        let bytes =
            Limited::new(answer.into_body(), self.max_bytes).collect().await.map_err(|error| match error
                .downcast_ref::<LengthLimitError>(
            ) {
                Some(_) => {
                    let detail = format!("the answer has more than {} bytes", self.max_bytes);
                    ServiceError::new(ServiceErrorKind::TooLarge, detail)
                }
                None => error_of(ServiceErrorKind::Unavailable, &error),
            })?;
        let bytes = bytes.to_bytes();
        match status {
            StatusCode::OK => read(&bytes),
            _ if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
                Err(error_of(ServiceErrorKind::Unavailable, &format!("the answer is {status}")))
            }
            _ => Err(error_of(ServiceErrorKind::Refused, &format!("the answer is {status}"))),
        }
    }
}

fn error_of(kind: ServiceErrorKind, cause: &dyn std::fmt::Display) -> ServiceError {
    ServiceError::new(kind, cause.to_string())
}

/// The signature of a body that is sent at a time, in epoch seconds.
fn signature(secret: &Secret, now: u64, body: &[u8]) -> String {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.0.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    context.update(format!("{now}.").as_bytes());
    context.update(body);
    format!("t={now},v1={}", hex::encode(context.sign()))
}

/// An answer as JSON.
#[derive(Deserialize)]
struct Answer {
    results: Vec<Value>,
}

/// Reads an answer. A result of another form fails its own item.
fn read(bytes: &[u8]) -> Result<ServiceAnswer, ServiceError> {
    let answer: Answer = serde_json::from_slice(bytes).map_err(|error| unreadable(&error))?;
    Ok(ServiceAnswer { results: answer.results.into_iter().map(result).collect(), bytes: bytes.len() })
}

/// Where an answer is not what it should be. The error's own text may hold some of the answer, which no log shows.
fn unreadable(error: &serde_json::Error) -> ServiceError {
    let what = if error.is_data() { "has not the form {\"results\": […]}" } else { "is not JSON" };
    let detail = format!("the answer {what}, at line {} column {}", error.line(), error.column());
    ServiceError::new(ServiceErrorKind::Unreadable, detail)
}

fn result(result: Value) -> ServiceResult {
    let unreadable = || RefusedItem {
        code: "UNREADABLE".to_owned(),
        message: "A service that computes the field gave a result that cannot be used.".to_owned(),
    };
    let Value::Object(mut result) = result else { return Err(unreadable()) };
    match (result.remove("data"), result.get("error").filter(|error| !error.is_null())) {
        (Some(data), None) => Ok(data),
        (None | Some(Value::Null), Some(error)) => {
            let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
            let refused = || Some(RefusedItem { code: text("code")?, message: text("message")? });
            Err(refused().unwrap_or_else(unreadable))
        }
        _ => Err(unreadable()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_that_of_the_time_and_the_body() {
        // From `printf '1700000000.{"a":1}' | openssl dgst -sha256 -hmac secret`.
        let signed = signature(&Secret("secret".to_owned()), 1_700_000_000, br#"{"a":1}"#);
        let own = "49f24e537407743fa4a0242bb63b94b9a47ee99cbbe071ccd8a22550ae411686";
        assert_eq!(signed, format!("t=1700000000,v1={own}"));
    }

    #[test]
    fn a_result_of_another_form_fails_alone() {
        let body =
            br#"{"results":[{"data":1},{"data":null},{"error":{"code":"X","message":"No."}},7,{},{"error":"x"},{"data":1,"error":null}]}"#;
        let ServiceAnswer { results, bytes } = read(body).unwrap();
        assert_eq!(bytes, body.len());
        let codes: Vec<Option<&str>> =
            results.iter().map(|result| result.as_ref().err().map(|refused| refused.code.as_str())).collect();
        let unreadable = Some("UNREADABLE");
        assert_eq!(codes, [None, None, Some("X"), unreadable, unreadable, unreadable, None]);
        for garbage in ["", "[]", "{}", r#"{"results":{}}"#, r#"{"results":[]"#] {
            assert_eq!(read(garbage.as_bytes()).unwrap_err().kind, ServiceErrorKind::Unreadable, "{garbage}");
        }
    }
}
