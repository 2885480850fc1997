//! The JSON object of a request in, what it asks for out (GraphQL over HTTP, "Request parameters"). Must not know the
//! transport.

use serde::Deserialize;
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

/// The members of a request's object that have a meaning. The others are ignored: the specification reserves them.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RequestMembers {
    query: Option<Value>,
    document_id: Option<Value>,
    operation_name: Option<Value>,
    variables: Option<Value>,
    extensions: Option<Value>,
}

impl RequestMembers {
    /// Reads `query` or what names it, and optionally `operationName`, `variables` and `extensions`. The error is a
    /// sentence for the client.
    pub fn into_parameters(self) -> Result<RequestParameters, String> {
        let (query, document_id) = (text("query", self.query)?, text("documentId", self.document_id)?);
        let operation_name = text("operationName", self.operation_name)?;
        let variables = object("variables", self.variables)?.unwrap_or_default();
        let hash = match object("extensions", self.extensions)? {
            Some(mut extensions) => {
                object("persistedQuery", extensions.remove("persistedQuery"))?.map(hash).transpose()?
            }
            None => None,
        };
        match (&query, &document_id) {
            (None, None) if hash.is_none() => Err("\"query\" is missing: it holds the operation to run.".into()),
            (Some(_), Some(_)) => Err("Send either \"query\" or \"documentId\".".into()),
            _ => Ok(RequestParameters { query, document_id, hash, operation_name, variables }),
        }
    }
}

/// Reads the parameters of a request from its object, as [`RequestMembers`] does.
pub fn from_members(mut members: Map<String, Value>) -> Result<RequestParameters, String> {
    let mut member = |name: &str| members.remove(name);
    let (query, document_id, operation_name) = (member("query"), member("documentId"), member("operationName"));
    let (variables, extensions) = (member("variables"), member("extensions"));
    RequestMembers { query, document_id, operation_name, variables, extensions }.into_parameters()
}

/// The hash that the extension `persistedQuery` has.
fn hash(mut extension: Map<String, Value>) -> Result<String, String> {
    if extension.get("version") != Some(&Value::from(1)) {
        return Err("Only version 1 of \"persistedQuery\" is known.".into());
    }
    let hash = text("sha256Hash", extension.remove("sha256Hash"))?;
    hash.ok_or_else(|| "\"persistedQuery\" has no \"sha256Hash\".".into())
}

fn text(name: &str, member: Option<Value>) -> Result<Option<String>, String> {
    match member {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(Value::Object(_)) if name == "query" => {
            Err("\"query\" is an object: send the operation as a text, { \"query\": \"{ team { name } }\" }.".into())
        }
        Some(_) => Err(format!("\"{name}\" must be a string or null.")),
    }
}

fn object(name: &str, member: Option<Value>) -> Result<Option<Map<String, Value>>, String> {
    match member {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(Value::String(_)) => {
            Err(format!("\"{name}\" is a text: send the object itself, as in {{ \"{name}\": {{ \"id\": \"1\" }} }}."))
        }
        Some(_) => Err(format!("\"{name}\" must be an object or null.")),
    }
}
