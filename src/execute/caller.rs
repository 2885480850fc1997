//! Who sends a request: the claims of a checked sign-in, or none for an anonymous caller. A token is only passed on.
//! Must not know headers or rules.
//!
//! A caller whose requests are explained learns more: by which rule they are refused, and the log names the claims
//! that they lack. Only `keyfold dev` explains.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::model::service::Secret;
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::fmt::{Debug, Formatter, Result};
use std::sync::{Arc, Mutex, PoisonError};

/// The most subjects of which a log keeps that it has named them.
const MAX_SUBJECTS: usize = 1_000;
/// How a client shows its token.
pub const SEND_TOKEN: &str = "send it as `Authorization: Bearer <token>`";

/// The caller of a request. Copies share the claims, and the id of the request for the log.
#[derive(Clone, Default)]
pub struct Caller {
    claims: Option<Arc<Map<String, Value>>>,
    request_id: Option<Arc<str>>,
    token: Option<Arc<Secret>>,
    hints: Option<Arc<HintLog>>,
}

/// The subjects that the log has named for the developer of a client. Each is named once while the process runs.
#[derive(Debug, Default)]
pub struct HintLog(Mutex<BTreeSet<String>>);

impl HintLog {
    /// Whether nothing was said of a subject so far. From now on, something is.
    pub fn is_new(&self, subject: &str) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        said.len() < MAX_SUBJECTS && said.insert(subject.to_owned())
    }
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

    /// The same caller, whose requests are explained.
    pub fn explained(self, hints: Arc<HintLog>) -> Self {
        Self { hints: Some(hints), ..self }
    }

    /// Whether the caller's requests are explained.
    pub fn is_explained(&self) -> bool {
        self.hints.is_some()
    }

    /// Whether the caller is signed in.
    pub fn is_signed_in(&self) -> bool {
        self.claims.is_some()
    }

    /// A claim. `None` if the caller has none of this path, or if it is null.
    pub fn claim(&self, path: &ClaimPath) -> Option<&Value> {
        let found = self.found(path);
        if let (None, Some(hints)) = (found, &self.hints) {
            self.hint(path, hints);
        }
        found
    }

    fn found(&self, path: &ClaimPath) -> Option<&Value> {
        let (first, rest) = path.names().split_first()?;
        let outermost = self.claims.as_ref()?.get(first)?;
        rest.iter().try_fold(outermost, |value, name| value.as_object()?.get(name)).filter(|value| !value.is_null())
    }

    /// Names a claim that the schema reads and the caller lacks.
    fn hint(&self, path: &ClaimPath, hints: &HintLog) {
        let (claim, request_id) = (path.to_string(), self.request_id());
        let (who, command) = (if self.is_signed_in() { "signed in" } else { "anonymous" }, command(path));
        if hints.is_new(&format!("{who} {claim}")) {
            let help = format!("`{command}` prints a token with it; {SEND_TOKEN}");
            tracing::info!(claim, who, help, request_id, "the schema reads a claim that the caller lacks");
        }
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

    /// All claims; `None` of an anonymous caller.
    pub fn claims(&self) -> Option<&Map<String, Value>> {
        self.claims.as_deref()
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

/// The command that prints a token with a claim, as a shell takes it.
fn command(path: &ClaimPath) -> String {
    let [name, rest @ ..] = path.names() else { return String::new() };
    if rest.is_empty() && name == "sub" {
        return "keyfold token --sub me".to_owned();
    }
    let value = match rest {
        [] => "VALUE".to_owned(),
        rest => {
            let nest = |value, name: &String| Value::Object(std::iter::once((name.clone(), value)).collect());
            rest.iter().rev().fold(Value::from("VALUE"), nest).to_string()
        }
    };
    let claim = format!("{name}={value}");
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "_-.:/=".contains(letter);
    let claim = if claim.chars().all(is_plain) { claim } else { format!("'{}'", claim.replace('\'', r"'\''")) };
    format!("keyfold token --sub me --claim {claim}")
}

/// Who calls and what is shown count, not whether requests are explained.
impl PartialEq for Caller {
    fn eq(&self, other: &Self) -> bool {
        (&self.claims, &self.request_id, &self.token) == (&other.claims, &other.request_id, &other.token)
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
    use crate::log_for_tests::LogBuffer;
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

    #[test]
    fn a_claim_that_is_lacked_is_named_once_with_the_command_that_adds_it() {
        let log = LogBuffer::default();
        let caller = Caller::signed_in(Map::new()).explained(Arc::default());
        tracing::subscriber::with_default(log.subscriber(), || {
            for path in ["auth.sub", "auth.tenant", "auth.tenant", "auth.app.org"] {
                assert_eq!(claim(&caller, path), None);
                assert_eq!(claim(&Caller::signed_in(Map::new()), path), None);
            }
        });
        let text = log.text();
        assert_eq!(text.lines().count(), 3, "{text}");
        for said in [
            "claim=\"auth.tenant\"",
            "`keyfold token --sub me --claim tenant=VALUE`",
            "`keyfold token --sub me`",
            "--claim 'app={\\\"org\\\":\\\"VALUE\\\"}'`",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
    }

    #[test]
    fn what_a_log_has_said_is_bounded() {
        let hints = HintLog::default();
        let new = (0..2 * MAX_SUBJECTS).filter(|subject| hints.is_new(&subject.to_string())).count();
        assert_eq!(new, MAX_SUBJECTS);
    }
}
