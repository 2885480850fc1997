//! HTTP requests as the AWS SDK writes them in, the embedded engine's answers out; no socket between them.

use crate::table::embedded::engine::{EmbeddedEngine, SHORT_BYTES, SHORT_ITEMS};
use crate::table::embedded::observer::{CallObserver, sorted};
use crate::table::embedded::refusal;
use crate::table::embedded::tokens::Tokens;
use crate::table::embedded::turns::Length;
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use dynoxide::actions::transact_write_items::TransactWriteItemsRequest;
use dynoxide::{Database, DynoxideError};
use serde::{Serialize, de::DeserializeOwned};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

/// The embedded engine in place of an HTTP client.
#[derive(Debug, Clone)]
pub(in crate::table) struct Connector {
    /// The engine that answers.
    pub(in crate::table) engine: Arc<EmbeddedEngine>,
    /// Who observes each call.
    pub(in crate::table) observer: Option<Arc<dyn CallObserver>>,
}

impl HttpClient for Connector {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        if let Some(observer) = &self.observer {
            observer.begun(&operation, request.body().bytes().unwrap_or_default());
        }
        let (engine, observer) = (self.engine.clone(), self.observer.clone());
        HttpConnectorFuture::new(async move {
            let noted = engine.clone();
            let length = length(&operation, request.body().bytes().unwrap_or_default());
            let work = move |database: &Database| {
                let sent = request.body().bytes().unwrap_or_default();
                let (status, body) = match answer(database, &noted.tokens, &operation, sent) {
                    None => (400, UNKNOWN.to_vec()),
                    Some(result) => match noted.noted(&operation, result) {
                        Ok(body) => (200, body),
                        Err(refused) => refusal::answer(&refused),
                    },
                };
                if let Some(observer) = &observer {
                    observer.answered(&operation, sent, &body);
                }
                (status, body)
            };
            let answer = engine.run(length, work).await;
            let (status, body) = answer.map_err(|stopped| ConnectorError::other(Box::new(stopped), None))?;
            let status = status.try_into().map_err(|invalid| ConnectorError::other(Box::new(invalid), None))?;
            let mut response = HttpResponse::new(status, SdkBody::from(body));
            response.headers_mut().insert("content-type", "application/x-amz-json-1.0");
            Ok(response)
        })
    }
}

/// How long an operation takes.
fn length(operation: &str, body: &[u8]) -> Length {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Page {
        limit: Option<usize>,
    }
    Length::short_if(match operation {
        "Query" | "Scan" => {
            serde_json::from_slice(body).is_ok_and(|page: Page| page.limit.is_some_and(|limit| limit <= SHORT_ITEMS))
        }
        _ => body.len() <= SHORT_BYTES,
    })
}

/// The answer to an operation that the engine does not have.
const UNKNOWN: &[u8] = br#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#;

/// Runs one operation of the DynamoDB API: its name and JSON body in, the JSON body of the answer out; `None` if the
/// engine does not have the operation.
fn answer(
    database: &Database,
    tokens: &Tokens,
    operation: &str,
    body: &[u8],
) -> Option<Result<Vec<u8>, DynoxideError>> {
    Some(match operation {
        "GetItem" => typed(body, |request| database.get_item(request)),
        "BatchGetItem" => typed(body, |request| database.batch_get_item(request)),
        "Query" => typed(body, |request| database.query(request)),
        "Scan" => typed(body, |request| database.scan(request)),
        "PutItem" => typed(body, |request| database.put_item(request)),
        "UpdateItem" => typed(body, |request| database.update_item(request)),
        "DeleteItem" => typed(body, |request| database.delete_item(request)),
        "BatchWriteItem" => typed(body, |request| database.batch_write_item(request)),
        "TransactGetItems" => typed(body, |request| database.transact_get_items(request)),
        "TransactWriteItems" => transact(database, tokens, body),
        "CreateTable" => typed(body, |request| database.create_table(request)),
        "DescribeTable" => typed(body, |request| database.describe_table(request)),
        "UpdateTable" => typed(body, |request| database.update_table(request)),
        "DeleteTable" => typed(body, |request| database.delete_table(request)),
        "ListTables" => typed(body, |request| database.list_tables(request)),
        "UpdateTimeToLive" => typed(body, |request| database.update_time_to_live(request)),
        "DescribeTimeToLive" => typed(body, |request| database.describe_time_to_live(request)),
        "ListStreams" => typed(body, |request| database.list_streams(request)),
        "DescribeStream" => typed(body, |request| database.describe_stream(request)),
        "GetShardIterator" => typed(body, |request| database.get_shard_iterator(request)),
        "GetRecords" => typed(body, |request| database.get_records(request)),
        _ => return None,
    })
}

/// Makes a transaction once for each token.
fn transact(database: &Database, tokens: &Tokens, body: &[u8]) -> Result<Vec<u8>, DynoxideError> {
    let mut request: TransactWriteItemsRequest = serde_json::from_slice(body).map_err(|error| unread(&error))?;
    let token = request.client_request_token.take();
    let make = || database.transact_write_items(request);
    encoded(&match token {
        Some(token) => tokens.once(&token, hash_of(body), make)?,
        None => make()?,
    })
}

/// A hash of a body, in which the order of names does not count.
fn hash_of(body: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    sorted(body).to_string().hash(&mut hasher);
    hasher.finish()
}

fn typed<Q: DeserializeOwned, R: Serialize>(
    body: &[u8],
    operation: impl FnOnce(Q) -> Result<R, DynoxideError>,
) -> Result<Vec<u8>, DynoxideError> {
    encoded(&operation(serde_json::from_slice(body).map_err(|error| unread(&error))?)?)
}

fn encoded(response: &impl Serialize) -> Result<Vec<u8>, DynoxideError> {
    serde_json::to_vec(response).map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}

/// Turns a request that does not decode into DynamoDB's refusal. The engine writes the class of the refusal before the
/// text.
fn unread(error: &serde_json::Error) -> DynoxideError {
    let full = error.to_string();
    let bare = full.rfind(" at line ").map_or(full.as_str(), |place| &full[..place]);
    if let Some(message) = bare.strip_prefix("VALIDATION_REQUEST:") {
        DynoxideError::EnvelopedValidation(message.to_owned())
    } else if let Some(message) = bare.strip_prefix("VALIDATION:").or(full.strip_prefix("VALIDATION_AS_READ:")) {
        DynoxideError::ValidationException(message.to_owned())
    } else if let Some(message) = bare.strip_prefix("SERIALIZATION:").or(full.strip_prefix("SERIALIZATION_AS_READ:")) {
        DynoxideError::SerializationException(message.to_owned())
    } else if ["missing field", "unknown variant", "invalid type: null", "AttributeValue"]
        .iter()
        .any(|words| bare.contains(words))
    {
        DynoxideError::ValidationException(bare.to_owned())
    } else {
        DynoxideError::SerializationException(bare.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_names_does_not_make_another_transaction() {
        assert_eq!(hash_of(br#"{"a":1,"b":2}"#), hash_of(br#"{"b":2,"a":1}"#));
        assert_ne!(hash_of(br#"{"a":1,"b":2}"#), hash_of(br#"{"a":2,"b":1}"#));
    }
}
