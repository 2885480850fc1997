//! An HTTP response in, the answer to an event out: as one JSON object in the form of the event's sender, or as a
//! stream. Must not know what was asked.

use super::event::EventForm;
use crate::serve::http::graphql::refuse;
use crate::serve::http::media_type::MediaType;
use crate::serve::http::status::HttpRefusal;
use axum::body::{BodyDataStream, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use lambda_http::aws_lambda_events::alb::AlbTargetGroupResponse;
use lambda_http::aws_lambda_events::apigw::{ApiGatewayProxyResponse, ApiGatewayV2httpResponse};
use lambda_http::aws_lambda_events::encodings::Body;
use lambda_http::lambda_runtime::{FunctionResponse, MetadataPrelude, StreamResponse};
use serde_json::value::{RawValue, to_raw_value};
use std::io::{Error, ErrorKind, Result};

/// The most bytes of an answer as one object (Lambda developer guide, "Lambda quotas": 6 MB).
const MAX_BYTES: usize = 6 << 20;
/// The same for a load balancer (Application Load Balancer user guide, "Lambda functions as targets": 1 MB).
const MAX_OF_LOAD_BALANCER: usize = 1_000_000;

/// The headers of a response that do not hold for the refusal in its place.
const OF_BODY: [HeaderName; 3] = [header::CONTENT_ENCODING, header::CONTENT_LENGTH, header::ETAG];

/// The answer to an invocation.
pub type LambdaAnswer = FunctionResponse<Box<RawValue>, BodyDataStream>;

/// The response as a stream, whose bytes go to the client as they are made.
pub fn streamed(response: Response) -> LambdaAnswer {
    let (parts, body) = response.into_parts();
    let (headers, cookies) = single(parts.headers);
    let metadata_prelude = MetadataPrelude { status_code: parts.status, headers, cookies };
    FunctionResponse::StreamingResponse(StreamResponse { metadata_prelude, stream: body.into_data_stream() })
}

/// The response as one object. If it is larger than Lambda takes, a refusal takes its place. An error is a header or a
/// body that cannot be written.
pub async fn whole(form: EventForm, response: Response) -> Result<LambdaAnswer> {
    let most = if matches!(form, EventForm::LoadBalancer { .. }) { MAX_OF_LOAD_BALANCER } else { MAX_BYTES };
    let (parts, body) = response.into_parts();
    // All of it is in memory already.
    let body = to_bytes(body, usize::MAX).await.map_err(Error::other)?;
    let bytes = body.len();
    let answer = if bytes <= most { Some(object(form, parts.status, parts.headers.clone(), body)?) } else { None };
    if let Some(answer) = answer.filter(|answer| answer.get().len() <= most) {
        return Ok(FunctionResponse::BufferedResponse(answer));
    }
    tracing::warn!(bytes, most, "a response is larger than Lambda takes");
    let (refused, body) = refuse(MediaType::Json, &HttpRefusal::ResponseTooLarge(most)).into_parts();
    let mut headers = parts.headers;
    OF_BODY.iter().for_each(|name| drop(headers.remove(name)));
    headers.extend(refused.headers);
    let body = to_bytes(body, most).await.map_err(Error::other)?;
    Ok(FunctionResponse::BufferedResponse(object(form, refused.status, headers, body)?))
}

/// The object that a sender of events expects: API Gateway developer guide, "Output format of a Lambda function for
/// proxy integration" and "Lambda function response for format 2.0"; Application Load Balancer user guide, "Respond to
/// the load balancer".
fn object(form: EventForm, status: StatusCode, headers: HeaderMap, bytes: Bytes) -> Result<Box<RawValue>> {
    let (body, is_base64_encoded) = body(&headers, bytes);
    let status_code = i64::from(status.as_u16());
    let object = match form {
        EventForm::Rest => {
            let mut answer = ApiGatewayProxyResponse::default();
            (answer.status_code, answer.body, answer.is_base64_encoded) = (status_code, body, is_base64_encoded);
            answer.multi_value_headers = headers;
            to_raw_value(&answer)
        }
        EventForm::HttpApi | EventForm::FunctionUrl => {
            let mut answer = ApiGatewayV2httpResponse::default();
            (answer.status_code, answer.body, answer.is_base64_encoded) = (status_code, body, is_base64_encoded);
            (answer.headers, answer.cookies) = single(headers);
            to_raw_value(&answer)
        }
        EventForm::LoadBalancer { multi_value } => {
            let mut answer = AlbTargetGroupResponse::default();
            (answer.status_code, answer.body, answer.is_base64_encoded) = (status_code, body, is_base64_encoded);
            answer.status_description = Some(status.to_string());
            if multi_value {
                answer.multi_value_headers = headers;
            } else {
                answer.headers = single(headers).0;
            }
            to_raw_value(&answer)
        }
    };
    object.map_err(|error| Error::new(ErrorKind::InvalidData, error))
}

/// The body as text if it is text, otherwise in base64.
fn body(headers: &HeaderMap, bytes: Bytes) -> (Option<Body>, bool) {
    if bytes.is_empty() {
        return (None, false);
    }
    if headers.contains_key(header::CONTENT_ENCODING) {
        return (Some(Body::Binary(bytes.into())), true);
    }
    match String::from_utf8(bytes.into()) {
        Ok(text) => (Some(Body::Text(text)), false),
        Err(error) => (Some(Body::Binary(error.into_bytes())), true),
    }
}

/// The headers with one value each, and the cookies, which cannot be joined (RFC 9110 section 5.3).
fn single(headers: HeaderMap) -> (HeaderMap, Vec<String>) {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let cookies = headers.get_all(header::SET_COOKIE).iter().map(text).collect();
    let mut joined = HeaderMap::with_capacity(headers.keys_len());
    for name in headers.keys().filter(|name| **name != header::SET_COOKIE) {
        let values: Vec<&[u8]> = headers.get_all(name).iter().map(HeaderValue::as_bytes).collect();
        if let Ok(value) = HeaderValue::from_bytes(&values.join(&b", "[..])) {
            joined.insert(name, value);
        }
    }
    (joined, cookies)
}
