//! A JSON body or a query string in, an operation to run out (GraphQL over HTTP, "Request"). Must not know the schema.

use super::media_type::is_utf8;
use crate::execute::request::Request;
use axum::extract::Query;
use axum::http::{HeaderMap, Uri, header};
use serde_json::{Map, Value};

/// Reads the body of a POST: a map with `query`, and optionally `variables`, `operationName` and `extensions`. It ignores other members,
/// which the specification reserves. The error is a sentence for the client.
pub fn from_json(body: &[u8]) -> Result<Request, String> {
    let body: Value = serde_json::from_slice(body).map_err(|error| format!("The body is not valid JSON: {error}."))?;
    match body {
        Value::Object(members) => from_members(members),
        Value::Array(_) => Err("The body is a list. Send one operation in each request.".into()),
        _ => Err("The body must be a JSON object with a member \"query\".".into()),
    }
}

/// Reads the query string of a GET: the same names; `variables` and `extensions` hold JSON.
pub fn from_query_string(uri: &Uri) -> Result<Request, String> {
    let Query(pairs) =
        Query::<Vec<(String, String)>>::try_from_uri(uri).map_err(|error| format!("The query string cannot be read: {error}."))?;
    let mut members = Map::new();
    for (name, text) in pairs {
        let value = match name.as_str() {
            "query" => Value::String(text),
            // "Setting the value of the operationName parameter to the empty string is equivalent to omitting it."
            "operationName" if text.is_empty() => Value::Null,
            "operationName" => Value::String(text),
            "variables" | "extensions" => {
                serde_json::from_str(&text).map_err(|error| format!("The parameter \"{name}\" is not valid JSON: {error}."))?
            }
            _ => continue,
        };
        if members.insert(name.clone(), value).is_some() {
            return Err(format!("The parameter \"{name}\" occurs twice."));
        }
    }
    from_members(members)
}

/// Whether the body is JSON in UTF-8 without an encoding. Browsers send other bodies to foreign sites without asking first.
pub fn is_json(headers: &HeaderMap) -> bool {
    let plain = headers.get(header::CONTENT_ENCODING).is_none_or(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity"));
    let Some(text) = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()) else { return false };
    let mut parts = text.split(';').map(str::trim);
    let json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    let utf8 = parts
        .filter_map(|parameter| parameter.split_once('='))
        .all(|(name, value)| !name.trim().eq_ignore_ascii_case("charset") || is_utf8(value));
    plain && json && utf8
}

/// Reads the members of a request's map. The error is a sentence for the client.
pub fn from_members(mut members: Map<String, Value>) -> Result<Request, String> {
    let query = match members.remove("query") {
        Some(Value::String(query)) => query,
        None | Some(Value::Null) => return Err("\"query\" is missing: it holds the operation to run.".into()),
        Some(_) => return Err("\"query\" must be a string.".into()),
    };
    let operation_name = match members.remove("operationName") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) => Some(name),
        Some(_) => return Err("\"operationName\" must be a string or null.".into()),
    };
    let variables = optional_map(&mut members, "variables")?.unwrap_or_default();
    optional_map(&mut members, "extensions")?;
    Ok(Request { query, operation_name, variables, ..Request::default() })
}

fn optional_map(members: &mut Map<String, Value>, name: &str) -> Result<Option<Map<String, Value>>, String> {
    match members.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(map)) => Ok(Some(map)),
        Some(_) => Err(format!("\"{name}\" must be an object or null.")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn post(body: Value) -> Result<Request, String> {
        from_json(body.to_string().as_bytes())
    }

    fn get(uri: &str) -> Result<Request, String> {
        from_query_string(&uri.parse().unwrap())
    }

    #[test]
    fn a_whole_body_is_read() {
        let request = post(json!({"query": "{a}", "operationName": "A", "variables": {"x": 1}, "extensions": {}, "more": 1})).unwrap();
        assert_eq!((request.query.as_str(), request.operation_name.as_deref()), ("{a}", Some("A")));
        assert_eq!(Value::Object(request.variables), json!({"x": 1}));
    }

    #[test]
    fn null_is_the_same_as_absent() {
        let request = post(json!({"query": "{a}", "operationName": null, "variables": null, "extensions": null})).unwrap();
        assert_eq!((request.operation_name, request.variables.len()), (None, 0));
    }

    #[test]
    fn wrong_types_are_named() {
        for wrong in [json!({"o": 1}), json!(0), json!(false), json!(["a"])] {
            assert_eq!(post(json!({"query": wrong})).unwrap_err(), "\"query\" must be a string.");
            assert!(post(json!({"query": "{a}", "operationName": wrong})).unwrap_err().starts_with("\"operationName\""));
        }
        for wrong in [json!("text"), json!(0), json!(false), json!(["a"])] {
            assert!(post(json!({"query": "{a}", "variables": wrong})).unwrap_err().starts_with("\"variables\""));
            assert!(post(json!({"query": "{a}", "extensions": wrong})).unwrap_err().starts_with("\"extensions\""));
        }
    }

    #[test]
    fn bodies_that_are_no_request_are_refused() {
        assert!(post(json!({"qeury": "{a}"})).unwrap_err().starts_with("\"query\" is missing"));
        assert!(post(json!([{"query": "{a}"}])).unwrap_err().contains("list"));
        assert!(post(json!("{a}")).is_err());
        for text in ["", "{ \"not a JSON", "{} {}", "\u{feff}{\"query\":\"{a}\"}"] {
            assert!(from_json(text.as_bytes()).unwrap_err().contains("not valid JSON"), "{text}");
        }
        assert!(from_json(b"{\"query\":\"\xff\"}").is_err());
        assert!(from_json("[".repeat(100_000).as_bytes()).is_err());
    }

    #[test]
    fn a_query_string_is_read() {
        let request = get("/graphql?query=%7Ba%7D+%23&variables=%7B%22x%22%3A%22%C3%A9%22%7D&operationName=A&other=1").unwrap();
        assert_eq!((request.query.as_str(), request.operation_name.as_deref()), ("{a} #", Some("A")));
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
        assert!(!is("text/plain") && !is("application/x-www-form-urlencoded") && !is("application/json; charset=utf-16"));
        assert!(!is("application/jsonp") && !is_json(&HeaderMap::new()));
        let mut zipped = HeaderMap::new();
        zipped.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        zipped.insert(header::CONTENT_ENCODING, "gzip".parse().unwrap());
        assert!(!is_json(&zipped));
    }
}
