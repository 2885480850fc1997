//! What a client shows in, the caller or a fault out. Each fault is one line of the log. Must not know what a caller
//! may do.

use super::advice::advice;
use super::api_keys::ApiKeys;
use super::credentials::Credentials;
use super::fault::{RefusedCaller, SignInFault, quoted};
use super::issuer::Issuer;
use super::origin::RequestOrigin;
use super::token::claims::{self, times_in_milliseconds};
use super::token::unchecked::UncheckedToken;
use super::watched_file::WatchedFile;
use crate::execute::caller::{Caller, HintLog, SEND_TOKEN};
use axum::http::request::Parts;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::time::Instant;

/// The names that parameters with a token have elsewhere.
const TOKENS: [&str; 5] = ["token", "access_token", "id_token", "jwt", "authorization"];

/// Checks who calls. Copies share the keys.
#[derive(Debug, Clone, Default)]
pub struct Authenticator {
    /// `None` if nobody can sign in.
    known: Option<Arc<TrustedSources>>,
    /// What the log has said, if clients learn why they are refused.
    hints: Option<Arc<HintLog>>,
}

/// Whom the server believes.
#[derive(Debug)]
struct TrustedSources {
    issuers: Vec<Issuer>,
    api_keys: WatchedFile<ApiKeys>,
}

/// A caller, and until when the server may take the caller for this one.
#[derive(Debug, Clone, Default)]
pub struct Identity {
    /// The caller.
    pub caller: Caller,
    /// Who says so: the issuer of the token. `None` for machines with a key, and for anonymous callers.
    pub issuer: Option<Arc<str>>,
    /// When the token ends. What ends later than the next century has no end.
    pub ends: Option<Instant>,
}

impl Authenticator {
    /// Believes these issuers, and machines with these keys.
    pub fn new(issuers: Vec<Issuer>, api_keys: WatchedFile<ApiKeys>) -> Self {
        Self { known: Some(Arc::new(TrustedSources { issuers, api_keys })), hints: None }
    }

    /// Lets everybody in as an anonymous caller, and looks at no credentials: a proxy in front may have its own.
    pub fn off() -> Self {
        Self::default()
    }

    /// The same, which tells clients why they are not let in, or refused. For development only: the reason names
    /// issuers, audiences and rules.
    #[must_use]
    pub fn explaining(self) -> Self {
        Self { hints: Some(Arc::default()), ..self }
    }

    /// Whether callers can sign in.
    pub fn is_on(&self) -> bool {
        self.known.is_some()
    }

    /// What a request shows. A token in its address is not read: logs and histories keep addresses. `keyfold dev` logs
    /// one warning about it.
    pub fn credentials<'r>(&self, request: &'r Parts) -> Result<Credentials<'r>, SignInFault> {
        let query = request.uri.query().unwrap_or_default();
        let names = || query.split('&').filter_map(|pair| pair.split('=').next());
        if let Some(hints) = &self.hints
            && let Some(name) = names().find(|name| TOKENS.iter().any(|token| token.eq_ignore_ascii_case(name)))
            && hints.is_new("token in an address")
        {
            tracing::warn!(parameter = name, help = SEND_TOKEN, "a token in the address of a request is not read");
        }
        Credentials::from_headers(&request.headers)
    }

    /// The caller who shows these credentials. Who shows nothing is anonymous; who shows something wrong is not let in,
    /// and the log says why. Whom the program around the gateway knows already is not asked.
    pub async fn identify(
        &self,
        shown: Result<Credentials<'_>, SignInFault>,
        origin: &RequestOrigin,
    ) -> Result<Identity, RefusedCaller> {
        if let Some(caller) = &origin.caller {
            let caller = caller.clone().in_request(origin.id().cloned());
            return Ok(Identity { caller, ..Identity::default() });
        }
        let Some(known) = &self.known else { return Ok(self.explained(Identity::default())) };
        let text = match &shown {
            Ok(Credentials::Token(text)) => Some(*text),
            _ => None,
        };
        let checked = match shown {
            Ok(Credentials::None) => Ok(Identity::default()),
            // Boxed: it may have to fetch keys.
            Ok(Credentials::Token(text)) => Box::pin(check_token(&known.issuers, text)).await,
            Ok(Credentials::ApiKey(key)) => check_api_key(&known.api_keys.current(), key),
            Err(fault) => Err(fault),
        };
        match checked {
            Ok(identity) => {
                let identity = self.explained(identity);
                Ok(Identity { caller: identity.caller.in_request(origin.id().cloned()), ..identity })
            }
            Err(fault) => {
                tracing::warn!(reason = %fault, client = %origin.client, request_id = origin.id().map(|id| &**id), "a sign-in was refused");
                let advice = self.hints.as_ref().map(|_| advice(&fault, text, &known.issuers, now()));
                Err(RefusedCaller { fault, advice })
            }
        }
    }

    /// The same identity, whose requests are explained if those of this server are.
    fn explained(&self, identity: Identity) -> Identity {
        let Some(hints) = &self.hints else { return identity };
        for name in identity.caller.claims().into_iter().flat_map(times_in_milliseconds) {
            if hints.is_new(&format!("milliseconds {name}")) {
                let help = "divide it by 1000: the times of a token are in seconds since 1970";
                tracing::warn!(claim = name, help, "a time of a token is in milliseconds");
            }
        }
        Identity { caller: identity.caller.explained(hints.clone()), ..identity }
    }
}

fn check_api_key(api_keys: &ApiKeys, shown: &str) -> Result<Identity, SignInFault> {
    let claims = api_keys.claims(shown).ok_or(SignInFault::ApiKey)?;
    Ok(Identity { caller: Caller::signed_in(claims.clone()), issuer: None, ends: None })
}

/// The time, in seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}

async fn check_token(issuers: &[Issuer], text: &str) -> Result<Identity, SignInFault> {
    let token = UncheckedToken::read(text)?;
    let named = claims::issuer(&token.claims)?;
    let issuer =
        issuers.iter().find(|issuer| issuer.name == named).ok_or_else(|| SignInFault::Issuer(quoted(named)))?;
    let now = now();
    let ends = issuer.check(&token, now).await?;
    let left = Duration::from_secs(u64::try_from(ends - now).unwrap_or_default());
    let issuer = Some(issuer.name.as_str().into());
    let caller = Caller::signed_in(token.claims).with_token(text);
    Ok(Identity { caller, issuer, ends: Instant::now().checked_add(left) })
}
