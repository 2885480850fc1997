//! The text of a JSON Web Token in, its parts out (RFC 7515 section 5.2, RFC 7519 section 7.2). Nothing of it is true
//! before its signature is checked. Must not know keys or issuers.

use crate::serve::sign_in::fault::{SignInFault, quoted};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value};

/// Longest token, in bytes. The header of a request may have 32 KiB.
pub const MAX_LENGTH: usize = 16 << 10;

/// The algorithms of signatures (RFC 7518 section 3.1, RFC 8037 section 3.1). `none` is not one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Algorithm {
    HS256,
    RS256,
    RS384,
    RS512,
    PS256,
    PS384,
    PS512,
    ES256,
    ES384,
    EdDSA,
}

/// A token that nobody has checked.
#[derive(Debug)]
pub struct UncheckedToken<'t> {
    /// The signed text.
    pub message: &'t str,
    /// The signature.
    pub signature: Vec<u8>,
    /// The algorithm that the token names.
    pub algorithm: Algorithm,
    /// The id of the key that the token names.
    pub key: Option<String>,
    /// What the token says.
    pub claims: Map<String, Value>,
}

/// The members of a header that this server reads. It never uses a key that a token brings along or names by an
/// address: `jwk`, `jku`, `x5c`, `x5u`.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    crit: Option<Value>,
}

impl Algorithm {
    /// The algorithm of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "HS256" => Self::HS256,
            "RS256" => Self::RS256,
            "RS384" => Self::RS384,
            "RS512" => Self::RS512,
            "PS256" => Self::PS256,
            "PS384" => Self::PS384,
            "PS512" => Self::PS512,
            "ES256" => Self::ES256,
            "ES384" => Self::ES384,
            "EdDSA" => Self::EdDSA,
            _ => return None,
        })
    }
}

impl<'t> UncheckedToken<'t> {
    /// Reads a token. The text is refused if it is too long, if it is no signed token, or if its header wants what this
    /// server does not do.
    pub fn read(text: &'t str) -> Result<Self, SignInFault> {
        if text.len() > MAX_LENGTH {
            return Err(SignInFault::TooLong(MAX_LENGTH));
        }
        let parts =
            text.rsplit_once('.').and_then(|(message, signature)| Some((message, message.split_once('.')?, signature)));
        let (message, (header, claims), signature) =
            parts.ok_or(SignInFault::Unreadable("it has fewer than three parts"))?;
        let header: Header = serde_json::from_slice(&decoded(header, "its header is not in base64url")?)
            .map_err(|_| SignInFault::Unreadable("its header is not a JSON object with \"alg\""))?;
        if header.crit.is_some() {
            return Err(SignInFault::Critical);
        }
        if let Some(typ) = header.typ.filter(|typ| !is_accepted(typ)) {
            return Err(SignInFault::Type(quoted(&typ)));
        }
        let algorithm = Algorithm::from_name(&header.alg).ok_or_else(|| SignInFault::Algorithm(quoted(&header.alg)))?;
        let claims = decoded(claims, "its claims are not in base64url")?;
        let claims =
            serde_json::from_slice(&claims).map_err(|_| SignInFault::Unreadable("its claims are not a JSON object"))?;
        let signature = decoded(signature, "its signature is not in base64url")?;
        Ok(Self { message, signature, algorithm, key: header.kid, claims })
    }
}

fn decoded(text: &str, trouble: &'static str) -> Result<Vec<u8>, SignInFault> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| SignInFault::Unreadable(trouble))
}

/// Whether a type is that of an access token or an unspecified one (RFC 7519 section 5.1, RFC 9068 section 2.1). Case
/// and the prefix `application/` do not count (RFC 7515 section 4.1.9).
fn is_accepted(typ: &str) -> bool {
    let typ = typ.to_ascii_lowercase();
    matches!(typ.strip_prefix("application/").unwrap_or(&typ), "jwt" | "at+jwt")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    fn token(header: &Value, claims: &str) -> String {
        format!("{}.{}.c2ln", URL_SAFE_NO_PAD.encode(header.to_string()), URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn the_parts_of_a_token_are_read() {
        let text = token(
            &json!({"alg": "ES256", "kid": "k", "typ": "at+JWT", "x5t": "a"}),
            r#"{"sub":"ann","exp":12345678901}"#,
        );
        let token = UncheckedToken::read(&text).unwrap();
        assert_eq!(
            (token.algorithm, token.key.as_deref(), &*token.signature),
            (Algorithm::ES256, Some("k"), &b"sig"[..])
        );
        assert_eq!(Value::Object(token.claims), json!({"sub": "ann", "exp": 12_345_678_901_u64}));
        assert!(text.starts_with(token.message) && text.len() == token.message.len() + 5);
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let good = token(&json!({"alg": "RS256"}), "{}");
        assert!(UncheckedToken::read(&good).is_ok());
        for text in [
            "",
            ".",
            "..",
            "...",
            "a.b.c",
            "a.b",
            &format!("{good}.a"),
            &format!("a.{good}"),
            &format!("{good}="),
            &format!("{good} "),
        ] {
            assert!(matches!(UncheckedToken::read(text), Err(SignInFault::Unreadable(_))), "{text}");
        }
        for claims in ["", "[]", "1", "{", "{} {}"] {
            assert!(
                matches!(
                    UncheckedToken::read(&token(&json!({"alg": "RS256"}), claims)),
                    Err(SignInFault::Unreadable(_))
                ),
                "{claims}"
            );
        }
        assert_eq!(UncheckedToken::read(&"a".repeat(MAX_LENGTH + 1)).unwrap_err(), SignInFault::TooLong(MAX_LENGTH));
    }

    #[test]
    fn a_header_that_wants_something_else_is_refused() {
        let fault = |header: Value| UncheckedToken::read(&token(&header, "{}")).unwrap_err();
        for name in ["none", "None", "HS512", "ES256K", "rs256", ""] {
            assert_eq!(fault(json!({"alg": name})), SignInFault::Algorithm(name.into()));
        }
        for crit in [json!(["b64"]), json!([]), json!("exp")] {
            assert_eq!(fault(json!({"alg": "RS256", "crit": crit})), SignInFault::Critical);
        }
        for typ in ["dpop+jwt", "logout+jwt", "JOSE", "application/application/jwt", ""] {
            assert_eq!(fault(json!({"alg": "RS256", "typ": typ})), SignInFault::Type(typ.into()));
        }
        for unreadable in
            [json!({}), json!([]), json!({"alg": 1}), json!({"alg": "RS256", "kid": 1}), json!({"alg": null})]
        {
            assert!(matches!(fault(unreadable), SignInFault::Unreadable(_)));
        }
    }
}
