//! The headers of a request, or the first payload of a WebSocket, in; what the client shows to be let in out. Must not
//! check it.

use super::fault::SignInFault;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use serde_json::Value;

/// The header with the key of a machine.
pub const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The scheme of tokens (RFC 6750 section 2.1). Schemes are written in any case (RFC 9110 section 11.1).
const SCHEME: &str = "bearer";

/// What a client shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credentials<'c> {
    /// Nothing.
    None,
    /// A token.
    Token(&'c str),
    /// The key of a machine.
    ApiKey(&'c str),
}

impl<'c> Credentials<'c> {
    /// What the headers of a request show: `Authorization: Bearer <token>`, or `X-Api-Key`, once.
    pub fn from_headers(headers: &'c HeaderMap) -> Result<Self, SignInFault> {
        let (token, key) = (once(headers, &header::AUTHORIZATION)?, once(headers, &API_KEY)?);
        one_of(token.map(bearer).transpose()?, key)
    }

    /// What the payload of `connection_init` shows: `Authorization` as in a header, `token`, or `X-Api-Key`. Names are
    /// written in any case.
    pub fn from_payload(payload: &'c Value) -> Result<Self, SignInFault> {
        let Some(members) = payload.as_object() else { return Ok(Self::None) };
        let (mut token, mut key) = (None, None);
        for (name, value) in members {
            let place = match name.to_ascii_lowercase().as_str() {
                "authorization" | "token" => &mut token,
                "x-api-key" => &mut key,
                _ => continue,
            };
            // A client without a token sends null.
            if value.is_null() {
                continue;
            }
            let text = value.as_str().ok_or(SignInFault::Scheme)?;
            let shown = if name.eq_ignore_ascii_case("authorization") { bearer(text)? } else { text };
            if place.replace(shown).is_some() {
                return Err(SignInFault::Several);
            }
        }
        one_of(token, key)
    }
}

fn one_of<'c>(token: Option<&'c str>, key: Option<&'c str>) -> Result<Credentials<'c>, SignInFault> {
    match (token, key) {
        (None, None) => Ok(Credentials::None),
        (Some(token), None) => Ok(Credentials::Token(token)),
        (None, Some(key)) => Ok(Credentials::ApiKey(key)),
        (Some(_), Some(_)) => Err(SignInFault::Several),
    }
}

/// The only value of a header.
fn once<'c>(headers: &'c HeaderMap, name: &HeaderName) -> Result<Option<&'c str>, SignInFault> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => HeaderValue::to_str(value).map(Some).map_err(|_| SignInFault::Scheme),
        (Some(_), Some(_)) => Err(SignInFault::Several),
    }
}

/// The token after the scheme.
fn bearer(text: &str) -> Result<&str, SignInFault> {
    let (scheme, token) = text.trim().split_once(' ').ok_or(SignInFault::Scheme)?;
    let token = token.trim_start();
    let well = scheme.eq_ignore_ascii_case(SCHEME) && !token.is_empty() && !token.contains([' ', ',']);
    if well { Ok(token) } else { Err(SignInFault::Scheme) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        list.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    #[test]
    fn a_request_shows_one_token_or_one_key() {
        let shown = |list: &[(&'static str, &'static str)]| match Credentials::from_headers(&headers(list)) {
            Ok(Credentials::Token(token)) => format!("token {token}"),
            Ok(Credentials::ApiKey(key)) => format!("key {key}"),
            Ok(Credentials::None) => "nothing".into(),
            Err(fault) => format!("{fault:?}"),
        };
        assert_eq!(shown(&[]), "nothing");
        assert_eq!(shown(&[("authorization", "Bearer a.b.c")]), "token a.b.c");
        assert_eq!(shown(&[("authorization", "bEARER  a.b.c ")]), "token a.b.c");
        assert_eq!(shown(&[("x-api-key", "k")]), "key k");
        for wrong in ["", "Bearer", "Bearer ", "a.b.c", "Basic a.b.c", "Bearer a b", "Bearer a,Bearer b", "Bearer: a"] {
            assert_eq!(shown(&[("authorization", wrong)]), "Scheme", "{wrong:?}");
        }
        for twice in [["authorization", "authorization"], ["x-api-key", "x-api-key"], ["authorization", "x-api-key"]] {
            assert_eq!(shown(&twice.map(|name| (name, "Bearer a"))), "Several", "{twice:?}");
        }
    }

    #[test]
    fn a_web_socket_shows_it_in_its_first_payload() {
        let shown = |payload: Value| match Credentials::from_payload(&payload) {
            Ok(Credentials::Token(token)) => format!("token {token}"),
            Ok(Credentials::ApiKey(key)) => format!("key {key}"),
            Ok(Credentials::None) => "nothing".into(),
            Err(fault) => format!("{fault:?}"),
        };
        for name in ["Authorization", "authorization"] {
            assert_eq!(shown(json!({ name: "Bearer a" })), "token a");
            assert_eq!(shown(json!({ name: "a" })), "Scheme");
        }
        assert_eq!(shown(json!({ "token": "a" })), "token a");
        assert_eq!(shown(json!({ "x-api-key": "k" })), "key k");
        for none in [json!(null), json!({}), json!("a"), json!({ "token": null }), json!({ "lang": "en" })] {
            assert_eq!(shown(none), "nothing");
        }
        assert_eq!(shown(json!({ "token": 1 })), "Scheme");
        for several in [json!({ "token": "a", "authorization": "Bearer a" }), json!({ "token": "a", "X-Api-Key": "k" })]
        {
            assert_eq!(shown(several), "Several");
        }
    }
}
