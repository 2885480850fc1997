//! A golden in, with the callers of the samples; the request that it stands for, out.

use super::golden_file::{GoldenFile, Section};
use crate::cli::items::callers::SampleCaller;
use crate::execute::caller::Caller;
use crate::execute::request::Request;
use crate::serve::http::idempotency_key;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value};

/// The one header that is more than transport.
const KEY: &str = "Idempotency-Key";

/// What hand-written sections say, beside the operation.
const WRITTEN: [Section; 3] = [Section::Caller, Section::Headers, Section::Variables];

/// The request of a golden with this operation. Without a caller of its own, it comes from the first of the samples'.
pub fn request(golden: &GoldenFile, operation: &str, callers: &[SampleCaller]) -> Result<Request> {
    let section = |section: Section| -> Result<Option<Value>> {
        let text = golden.get(section);
        let json = text.map(serde_json::from_str).transpose();
        json.with_context(|| format!("its section `{}` is not JSON such as {}", section.name(), example(section)))
    };
    let variables = match section(Section::Variables)? {
        None => Map::new(),
        Some(Value::Object(variables)) => variables,
        Some(_) => bail!("its section `variables` is no object: {{ \"id\": \"1\" }}"),
    };
    let caller = match section(Section::Caller)? {
        None => callers.first().map_or_else(Caller::anonymous, SampleCaller::caller),
        Some(said) => caller(said, callers)?,
    };
    let idempotency_key = section(Section::Headers)?.map(key).transpose()?.flatten();
    Ok(Request { query: operation.to_owned(), variables, caller, idempotency_key, ..Request::default() })
}

/// A text that a section may have.
fn example(section: Section) -> &'static str {
    match section {
        Section::Caller => "{ \"sub\": \"u1\" }",
        Section::Headers => "{ \"Idempotency-Key\": \"1\" }",
        _ => "{ \"id\": \"1\" }",
    }
}

/// The texts of a golden that are written by hand: no value in them is generated.
pub fn written(golden: &GoldenFile, operation: &str) -> String {
    let sections = WRITTEN.map(|section| golden.get(section).unwrap_or_default());
    [operation, &sections.concat()].concat()
}

fn caller(said: Value, callers: &[SampleCaller]) -> Result<Caller> {
    match said {
        Value::Null => Ok(Caller::anonymous()),
        Value::Object(claims) => Ok(Caller::signed_in(claims)),
        Value::String(name) => {
            let named = callers.iter().find(|caller| caller.name == name);
            let known = || callers.iter().map(|caller| caller.name.as_str()).collect::<Vec<_>>().join(", ");
            let named = named.with_context(|| format!("the samples have no caller \"{name}\"; they have: {}", known()));
            Ok(named?.caller())
        }
        _ => bail!("its section `caller` is neither claims, nor the name of a caller of the samples, nor null"),
    }
}

/// What a case has in place of a header that it cannot have.
fn instead(header: &str) -> String {
    match header.to_ascii_lowercase().as_str() {
        "authorization" | "x-api-key" => "its section `caller` says who calls, as in { \"sub\": \"u1\" }".to_owned(),
        _ => format!("leave it out, as only `{KEY}` changes what an operation does"),
    }
}

/// The key that the headers bring.
fn key(headers: Value) -> Result<Option<String>> {
    let Value::Object(headers) = headers else {
        bail!("its section `headers` is no object: {{ \"Idempotency-Key\": \"1\" }}")
    };
    let mut keys = headers.iter().map(|(name, value)| {
        let is_known = name.eq_ignore_ascii_case(KEY);
        ensure!(is_known, "a case has no header \"{name}\": {}", instead(name));
        let key = value.as_str().and_then(idempotency_key::from_value);
        key.with_context(|| format!("the header `{KEY}` is no key: write \"1\""))
    });
    let key = keys.next().transpose()?;
    ensure!(keys.next().is_none(), "the header `{KEY}` is there twice");
    Ok(key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn sub(text: &str) -> Result<Option<String>> {
        let claims = |sub: &str| json!({ "sub": sub }).as_object().cloned().unwrap();
        let callers = [("Ann", "u1"), ("Ben", "u2")]
            .map(|(name, sub)| SampleCaller { name: name.to_owned(), claims: claims(sub) });
        let golden = GoldenFile::parse(text).unwrap();
        Ok(request(&golden, "{ a }", &callers)?.caller.sub().map(str::to_owned))
    }

    #[test]
    fn a_caller_is_the_first_one_of_the_samples_or_named_or_given_by_claims() {
        assert_eq!(sub("==== operation\n{ a }\n").unwrap().as_deref(), Some("u1"));
        assert_eq!(sub("==== caller\n\"Ben\"\n").unwrap().as_deref(), Some("u2"));
        assert_eq!(sub("==== caller\n{ \"sub\": \"u3\" }\n").unwrap().as_deref(), Some("u3"));
        assert_eq!(sub("==== caller\nnull\n").unwrap(), None);
        let said = sub("==== caller\n\"Cid\"\n").unwrap_err().to_string();
        assert_eq!(said, "the samples have no caller \"Cid\"; they have: Ann, Ben");
        assert!(sub("==== caller\n1\n").is_err() && sub("==== caller\nAnn\n").is_err());
    }

    #[test]
    fn headers_bring_a_key_and_nothing_else() {
        let key = |headers: &str| {
            let golden = GoldenFile::parse(&format!("==== headers\n{headers}\n==== variables\n{{}}\n")).unwrap();
            request(&golden, "{ a }", &[]).map(|request| request.idempotency_key)
        };
        assert_eq!(key(r#"{ "Idempotency-Key": "k1" }"#).unwrap().as_deref(), Some("k1"));
        assert_eq!(key(r#"{ "idempotency-key": "\"a b\"" }"#).unwrap().as_deref(), Some("a b"));
        assert_eq!(key("{}").unwrap(), None);
        for wrong in [
            "[]",
            r#"{ "X-Other": "1" }"#,
            r#"{ "Idempotency-Key": 1 }"#,
            r#"{ "Idempotency-Key": "a, b" }"#,
            r#"{ "Idempotency-Key": "a", "idempotency-key": "b" }"#,
        ] {
            assert!(key(wrong).is_err(), "{wrong}");
        }
        let said = |headers: &str| key(headers).unwrap_err().to_string();
        assert!(said(r#"{ "Authorization": "Bearer a" }"#).contains("its section `caller` says who calls"));
        assert!(said(r#"{ "Content-Type": "application/json" }"#).contains("leave it out"));
    }
}
