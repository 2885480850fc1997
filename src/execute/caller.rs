//! Who sends a request: the claims of a checked sign-in, or none for an anonymous caller. A token is only passed on.
//! Must not know headers or rules.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::service::Secret;
use serde_json::{Map, Value};
use std::fmt::{Debug, Formatter, Result};
use std::sync::Arc;

/// The caller of a request. Copies share the claims, and the id of the request for the log.
#[derive(Clone, Default, PartialEq)]
pub struct Caller {
    claims: Option<Arc<Map<String, Value>>>,
    request_id: Option<Arc<str>>,
    token: Option<Arc<Secret>>,
}

impl Caller {
    /// An anonymous caller: one who is not signed in. All claims are null.
    pub fn anonymous() -> Self {
        Self::default()
    }

    /// A caller with the claims of a sign-in that was checked.
    pub fn signed_in(claims: Map<String, Value>) -> Self {
        Self { claims: Some(Arc::new(claims)), ..Self::default() }
    }

    /// The same caller, with the token that was checked. Only services with `forwardToken: true` get it.
    pub fn with_token(self, token: impl Into<String>) -> Self {
        Self { token: Some(Arc::new(Secret(token.into()))), ..self }
    }

    /// The same caller, without a token.
    pub fn without_token(self) -> Self {
        Self { token: None, ..self }
    }

    /// The token that was checked.
    pub fn token(&self) -> Option<&Arc<Secret>> {
        self.token.as_ref()
    }

    /// The same caller, in the request of this id.
    pub fn in_request(self, request_id: Option<Arc<str>>) -> Self {
        Self { request_id, ..self }
    }

    /// The id of the request, which its log lines share.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// Whether the caller is signed in.
    pub fn is_signed_in(&self) -> bool {
        self.claims.is_some()
    }

    /// A claim. `None` if the caller has none of this path, or if it is null.
    pub fn claim(&self, path: &ClaimPath) -> Option<&Value> {
        let (first, rest) = path.names().split_first()?;
        let outermost = self.claims.as_ref()?.get(first)?;
        rest.iter().try_fold(outermost, |value, name| value.as_object()?.get(name)).filter(|value| !value.is_null())
    }

    /// A claim as text: a text, a number or a Boolean. `None` if the caller has none, or if it is a list or an object.
    pub fn text(&self, path: &ClaimPath) -> Option<String> {
        match self.claim(path)? {
            Value::String(text) => Some(text.clone()),
            value @ (Value::Number(_) | Value::Bool(_)) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The claims as JSON text; empty for an anonymous caller. Callers with the same text are treated alike.
    pub fn identity(&self) -> String {
        self.claims.as_ref().and_then(|claims| serde_json::to_string(&**claims).ok()).unwrap_or_default()
    }

    /// The outermost claims of these names, as far as the caller has them; `None` for an anonymous caller, and without
    /// names.
    pub fn claims_named(&self, names: &[String]) -> Option<Map<String, Value>> {
        let claims = self.claims.as_ref().filter(|_| !names.is_empty())?;
        Some(names.iter().filter_map(|name| Some((name.clone(), claims.get(name)?.clone()))).collect())
    }

    /// An outermost claim, if it is a text.
    pub fn claim_named(&self, name: &str) -> Option<&str> {
        self.claims.as_ref()?.get(name)?.as_str()
    }

    /// The subject of the sign-in: the claim `sub`, if it is a text.
    pub fn sub(&self) -> Option<&str> {
        self.claim_named("sub")
    }
}

/// Shows only whether the caller is signed in: claims are personal and belong into no log.
impl Debug for Caller {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(if self.is_signed_in() { "Caller(signed in)" } else { "Caller(anonymous)" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use serde_json::json;

    fn claim(caller: &Caller, path: &str) -> Option<Value> {
        caller.claim(&ClaimPath::parse(path).unwrap()).cloned()
    }

    #[test]
    fn an_anonymous_caller_has_no_claims() {
        let anonymous = Caller::anonymous();
        assert!(!anonymous.is_signed_in());
        assert_eq!((anonymous.sub(), claim(&anonymous, "auth.sub")), (None, None));
    }

    #[test]
    fn claims_are_found_by_their_paths() {
        let Value::Object(claims) =
            json!({ "sub": "ann", "address": { "country": "FR" }, "cognito:groups": ["a"], "team": null })
        else {
            panic!("an object")
        };
        let caller = Caller::signed_in(claims);
        assert!(caller.is_signed_in());
        assert_eq!(caller.sub(), Some("ann"));
        assert_eq!(claim(&caller, "auth.address.country"), Some(json!("FR")));
        assert_eq!(claim(&caller, "auth[\"cognito:groups\"]"), Some(json!(["a"])));
        for missing in ["auth.team", "auth.tenant", "auth.sub.first", "auth.address.street"] {
            assert_eq!(claim(&caller, missing), None, "{missing}");
        }
        assert!(!format!("{caller:?}").contains("ann"));
    }
}
