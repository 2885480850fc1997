//! Why a caller is not let in. The log has the reason; the client learns only that it is not let in. Must not hold
//! secrets: a reason has names of issuers and keys, never a token or a claim of a person.

use thiserror::Error;

/// Longest text of a client in a reason, in bytes.
const MAX_LENGTH: usize = 200;

/// Why a caller is not let in.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum SignInFault {
    /// The request has two of what it may have once.
    #[error("the request shows more than one token or key")]
    Several,
    /// The header `Authorization`, or the payload of a WebSocket, has another form.
    #[error("the credentials are not of the form \"Bearer <token>\"")]
    Scheme,
    /// The token is longer than the limit.
    #[error("the token is longer than {0} bytes")]
    TooLong(usize),
    /// The token is no signed JSON Web Token. The text says which part.
    #[error("the token cannot be read: {0}")]
    Unreadable(&'static str),
    /// The token has the algorithm `none`, or one that this server does not know.
    #[error("the algorithm {0:?} is not accepted")]
    Algorithm(String),
    /// RFC 7515 section 4.1.11: a header that lists critical extensions is refused by who does not know them.
    #[error("the token has critical extensions")]
    Critical,
    /// The token is for another use: a refresh token, a proof, a logout.
    #[error("the token has the type {0:?}, and only JWT and at+jwt are accepted")]
    Type(String),
    /// No such issuer is configured.
    #[error("the issuer {0:?} is not one of this server's")]
    Issuer(String),
    /// The token is for another audience, or for none.
    #[error("the token is for another audience")]
    Audience,
    /// A claim is missing or has the wrong type.
    #[error("the claim {0} is missing or has the wrong type")]
    Claim(&'static str),
    /// The time of the token is over.
    #[error("the token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("the token is not valid yet")]
    NotYet,
    /// No key of the issuer fits the token: wrong id, wrong algorithm.
    #[error("the issuer {issuer:?} has no key {key:?} for this algorithm")]
    NoKey {
        /// The issuer.
        issuer: String,
        /// The id of the key.
        key: Option<String>,
    },
    /// The signature is not that of the key.
    #[error("the signature is wrong")]
    Signature,
    /// No machine has this key.
    #[error("no machine has this key")]
    ApiKey,
    /// The keys of the issuer have never been read, so that no token of it can be checked.
    #[error("the keys of the issuer {0:?} could not be read")]
    KeysUnavailable(String),
}

impl SignInFault {
    /// Whether the fault is the server's: the same credentials may be right in a moment.
    pub fn passes(&self) -> bool {
        matches!(self, Self::KeysUnavailable(_))
    }
}

/// A caller who is not let in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCaller {
    /// Why. Only the log has it.
    pub fault: SignInFault,
    /// What the client learns of it: nothing, but of `keyfold dev`.
    pub advice: Option<String>,
}

/// A text of a client for a reason: short, and without characters that could forge a log line.
pub fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_LENGTH);
    text[..end].chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_short_and_on_one_line() {
        assert_eq!(quoted("a\nb"), "a\u{fffd}b");
        assert_eq!(quoted(&"é".repeat(300)).len(), MAX_LENGTH);
    }

    #[test]
    fn only_missing_keys_are_the_server_s_fault() {
        assert!(SignInFault::KeysUnavailable("https://a".into()).passes());
        assert!(!SignInFault::Signature.passes() && !SignInFault::NoKey { issuer: "a".into(), key: None }.passes());
    }
}
