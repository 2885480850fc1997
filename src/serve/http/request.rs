//! A JSON body or a query string in, what it asks for out (GraphQL over HTTP, "Request"). Must not know documents.

use super::media_type::is_utf8;
use crate::serve::documents::parameters::{RequestMembers, RequestParameters, from_members};
use axum::extract::Query;
use axum::http::{HeaderMap, Uri, header};
use serde_json::{Map, Value};

/// The body of a request.
#[derive(Debug)]
pub enum RequestBody {
    /// One operation.
    One(Box<RequestParameters>),
    /// A list of operations.
    List(Vec<RequestParameters>),
}

/// Reads the body of a POST: the parameters of a request, or a list of them. The error is a sentence for the client.
pub fn from_json(body: &[u8]) -> Result<RequestBody, String> {
    let invalid = |error: serde_json::Error| format!("The body is not valid JSON: {error}.");
    if body.trim_ascii_start().starts_with(b"{") {
        let members: RequestMembers = serde_json::from_slice(body).map_err(invalid)?;
        return Ok(RequestBody::One(Box::new(members.into_parameters()?)));
    }
    match serde_json::from_slice(body).map_err(invalid)? {
        Value::Array(list) if list.is_empty() => Err("The list has no operation.".into()),
        Value::Array(list) => {
            list.into_iter().enumerate().map(list_entry).collect::<Result<_, _>>().map(RequestBody::List)
        }
        _ => Err("The body must be a JSON object with a member \"query\".".into()),
    }
}

/// Reads an operation of a list.
fn list_entry((position, operation): (usize, Value)) -> Result<RequestParameters, String> {
    let read = match operation {
        Value::Object(members) => from_members(members),
        _ => Err("It must be a JSON object.".into()),
    };
    read.map_err(|sentence| format!("Operation {} of the list: {sentence}", position + 1))
}

/// Reads the query string of a GET: the same names; `variables` and `extensions` hold JSON.
pub fn from_query_string(uri: &Uri) -> Result<RequestParameters, String> {
    let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
        .map_err(|error| format!("The query string cannot be read: {error}."))?;
    let mut members = Map::new();
    for (name, text) in pairs {
        let value = match name.as_str() {
            "query" | "documentId" => Value::String(text),
            // "Setting the value of the operationName parameter to the empty string is equivalent to omitting it."
            "operationName" if text.is_empty() => Value::Null,
            "operationName" => Value::String(text),
            "variables" | "extensions" => serde_json::from_str(&text)
                .map_err(|error| format!("The parameter \"{name}\" is not valid JSON: {error}."))?,
            _ => continue,
        };
        if members.insert(name.clone(), value).is_some() {
            return Err(format!("The parameter \"{name}\" occurs twice."));
        }
    }
    from_members(members)
}

/// Whether the body is JSON in UTF-8. Browsers send other bodies to foreign sites without asking first.
pub fn is_json(headers: &HeaderMap) -> bool {
    let Some(text) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    let utf8 = parts
        .filter_map(|parameter| parameter.split_once('='))
        .all(|(name, value)| !name.trim().eq_ignore_ascii_case("charset") || is_utf8(value));
    json && utf8
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn post(body: Value) -> Result<RequestParameters, String> {
        match from_json(body.to_string().as_bytes())? {
            RequestBody::One(parameters) => Ok(*parameters),
            RequestBody::List(_) => Err("a list".into()),
        }
    }

    fn get(uri: &str) -> Result<RequestParameters, String> {
        from_query_string(&uri.parse().unwrap())
    }

    #[test]
    fn a_whole_body_is_read() {
        let request =
            post(json!({"query": "{a}", "operationName": "A", "variables": {"x": 1}, "extensions": {}, "more": 1}))
                .unwrap();
        assert_eq!((request.query.as_deref(), request.operation_name.as_deref()), (Some("{a}"), Some("A")));
        assert_eq!(Value::Object(request.variables), json!({"x": 1}));
    }

    #[test]
    fn a_member_that_occurs_twice_is_refused() {
        assert!(from_json(br#"{"query": "{a}", "query": "{b}"}"#).unwrap_err().contains("duplicate field `query`"));
    }

    #[test]
    fn null_is_the_same_as_absent() {
        let request =
            post(json!({"query": "{a}", "operationName": null, "variables": null, "extensions": null})).unwrap();
        assert_eq!((request.operation_name, request.variables.len()), (None, 0));
    }

    #[test]
    fn wrong_types_are_named() {
        for wrong in [json!({"o": 1}), json!(0), json!(false), json!(["a"])] {
            let said = if wrong.is_object() { "\"query\" is an object" } else { "\"query\" must be a string or null." };
            assert!(post(json!({"query": wrong})).unwrap_err().starts_with(said), "{wrong}");
            assert!(
                post(json!({"query": "{a}", "operationName": wrong})).unwrap_err().starts_with("\"operationName\"")
            );
        }
        for wrong in [json!("text"), json!(0), json!(false), json!(["a"])] {
            assert!(post(json!({"query": "{a}", "variables": wrong})).unwrap_err().starts_with("\"variables\""));
            assert!(post(json!({"query": "{a}", "extensions": wrong})).unwrap_err().starts_with("\"extensions\""));
        }
    }

    #[test]
    fn a_document_is_named_by_an_id_or_a_hash() {
        let request = post(json!({"documentId": "sha256:1", "operationName": "A"})).unwrap();
        assert_eq!((request.query, request.document_id.as_deref(), request.hash), (None, Some("sha256:1"), None));
        let extensions =
            |version: Value, hash: Value| json!({"persistedQuery": {"version": version, "sha256Hash": hash}});
        let request = post(json!({"extensions": extensions(json!(1), json!("ab"))})).unwrap();
        assert_eq!((request.query, request.document_id, request.hash.as_deref()), (None, None, Some("ab")));
        let request = post(json!({"query": "{a}", "extensions": extensions(json!(1), json!("ab"))})).unwrap();
        assert_eq!((request.query.as_deref(), request.hash.as_deref()), (Some("{a}"), Some("ab")));
        let uri =
            "/graphql?extensions=%7B%22persistedQuery%22%3A%7B%22version%22%3A1%2C%22sha256Hash%22%3A%22ab%22%7D%7D";
        assert_eq!(get(uri).unwrap().hash.as_deref(), Some("ab"));
        assert_eq!(get("/graphql?documentId=ab").unwrap().document_id.as_deref(), Some("ab"));
        for wrong in [
            json!({"query": "{a}", "documentId": "ab"}),
            json!({"documentId": 1}),
            json!({"extensions": extensions(json!(2), json!("ab"))}),
            json!({"extensions": extensions(json!(1), json!(null))}),
            json!({"extensions": extensions(json!(1), json!(7))}),
            json!({"extensions": {"persistedQuery": "ab"}}),
            json!({"extensions": {}}),
        ] {
            assert!(post(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bodies_that_are_no_request_are_refused() {
        assert!(post(json!({"qeury": "{a}"})).unwrap_err().starts_with("\"query\" is missing"));
        assert!(post(json!("{a}")).is_err());
        for text in ["", "{ \"not a JSON", "{} {}", "\u{feff}{\"query\":\"{a}\"}"] {
            assert!(from_json(text.as_bytes()).unwrap_err().contains("not valid JSON"), "{text}");
        }
        assert!(from_json(b"{\"query\":\"\xff\"}").is_err());
        assert!(from_json("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn a_list_of_operations_is_read() {
        let list = |body: Value| match from_json(body.to_string().as_bytes())? {
            RequestBody::List(list) => {
                Ok(list.into_iter().filter_map(|parameters| parameters.query).collect::<Vec<_>>())
            }
            RequestBody::One(_) => Err("no list".to_owned()),
        };
        assert_eq!(list(json!([{"query": "{a}"}, {"query": "{b}"}])).unwrap(), ["{a}", "{b}"]);
        assert_eq!(list(json!([])).unwrap_err(), "The list has no operation.");
        assert!(
            list(json!([{"query": "{a}"}, {}]))
                .unwrap_err()
                .starts_with("Operation 2 of the list: \"query\" is missing")
        );
        assert!(list(json!([[{"query": "{a}"}]])).unwrap_err().starts_with("Operation 1 of the list"));
    }

    #[test]
    fn a_query_string_is_read() {
        let request =
            get("/graphql?query=%7Ba%7D+%23&variables=%7B%22x%22%3A%22%C3%A9%22%7D&operationName=A&other=1").unwrap();
        assert_eq!((request.query.as_deref(), request.operation_name.as_deref()), (Some("{a} #"), Some("A")));
        assert_eq!(Value::Object(request.variables), json!({"x": "é"}));
        assert_eq!(get("/graphql?query=%7Ba%7D&operationName=").unwrap().operation_name, None);
    }

    #[test]
    fn query_strings_that_are_no_request_are_refused() {
        assert!(get("/graphql").unwrap_err().contains("missing"));
        assert!(get("/graphql?query=a&query=b").unwrap_err().contains("twice"));
        assert!(get("/graphql?query=a&variables=").unwrap_err().contains("not valid JSON"));
        assert!(get("/graphql?query=a&variables=[1]").unwrap_err().contains("object"));
    }

    #[test]
    fn only_json_in_utf8_is_a_json_body() {
        let is = |content_type: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::CONTENT_TYPE, content_type.parse().unwrap());
            is_json(&headers)
        };
        assert!(is("application/json") && is("Application/JSON; charset=\"UTF-8\"") && is("application/json;"));
        assert!(
            !is("text/plain") && !is("application/x-www-form-urlencoded") && !is("application/json; charset=utf-16")
        );
        assert!(!is("application/jsonp") && !is_json(&HeaderMap::new()));
    }
}
