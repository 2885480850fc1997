//! The JSON object of a request in, what it asks for out (GraphQL over HTTP, "Request parameters"). Must not know the transport.

use serde_json::{Map, Value};

/// What a request asks for.
#[derive(Debug, Default)]
pub struct RequestParameters {
    /// The document.
    pub query: Option<String>,
    /// The id of the document (GraphQL over HTTP, "Persisted Documents").
    pub document_id: Option<String>,
    /// The hash of the document (Automatic Persisted Queries).
    pub hash: Option<String>,
    /// The name of the operation.
    pub operation_name: Option<String>,
    /// The variables.
    pub variables: Map<String, Value>,
}

/// Reads the members of a request's object: `query` or what names it, and optionally `operationName`, `variables` and `extensions`. It ignores
/// other members, which the specification reserves. The error is a sentence for the client.
pub fn from_members(mut members: Map<String, Value>) -> Result<RequestParameters, String> {
    let (query, document_id) = (optional_text(&mut members, "query")?, optional_text(&mut members, "documentId")?);
    let operation_name = optional_text(&mut members, "operationName")?;
    let variables = optional_map(&mut members, "variables")?.unwrap_or_default();
    let hash = match optional_map(&mut members, "extensions")? {
        Some(mut extensions) => optional_map(&mut extensions, "persistedQuery")?.map(hash).transpose()?,
        None => None,
    };
    match (&query, &document_id) {
        (None, None) if hash.is_none() => Err("\"query\" is missing: it holds the operation to run.".into()),
        (Some(_), Some(_)) => Err("Send either \"query\" or \"documentId\".".into()),
        _ => Ok(RequestParameters { query, document_id, hash, operation_name, variables }),
    }
}

/// The hash that the extension `persistedQuery` has.
fn hash(mut extension: Map<String, Value>) -> Result<String, String> {
    if extension.get("version") != Some(&Value::from(1)) {
        return Err("Only version 1 of \"persistedQuery\" is known.".into());
    }
    optional_text(&mut extension, "sha256Hash")?.ok_or_else(|| "\"persistedQuery\" has no \"sha256Hash\".".into())
}

fn optional_text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("\"{name}\" must be a string or null.")),
    }
}

fn optional_map(members: &mut Map<String, Value>, name: &str) -> Result<Option<Map<String, Value>>, String> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(_) => Err(format!("\"{name}\" must be an object or null.")),
    }
}
