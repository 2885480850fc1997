//! An issuer of tokens that this server believes, and one of its tokens in; whether the token is good out. Must not
//! know where the issuer's keys are.

use super::fault::{SignInFault, quoted};
use super::keys::fetched_keys::FetchedKeys;
use super::keys::key_set::{KeySet, KeyVerdict};
use super::token::claims;
use super::token::unchecked::UncheckedToken;
use super::watched_file::WatchedFile;

/// An issuer of tokens.
#[derive(Debug)]
pub struct Issuer {
    /// Its name, as the claim `iss` has it.
    pub name: String,
    /// The audiences whose tokens are for this server.
    pub audiences: Vec<String>,
    /// Its keys.
    pub keys: IssuerKeys,
}

/// The keys of an issuer.
#[derive(Debug)]
pub enum IssuerKeys {
    /// These, until the server ends.
    Fixed(KeySet),
    /// Those of a file, as it is now.
    File(WatchedFile<KeySet>),
    /// Those that the issuer publishes.
    Fetched(FetchedKeys),
}

impl Issuer {
    /// Checks a token of this issuer: for whom, for when, and whose signature. `now` and the result, the time at which
    /// the token stops being valid, are in seconds since 1970.
    pub async fn check(&self, token: &UncheckedToken<'_>, now: i64) -> Result<i64, SignInFault> {
        // Claims are checked first, so that a token for others never makes the server look for a key.
        let ends = claims::check(&token.claims, &self.audiences, now)?;
        match self.verdict(token).await? {
            KeyVerdict::Signed => Ok(ends),
            KeyVerdict::Wrong => Err(SignInFault::Signature),
            KeyVerdict::NoKey => {
                Err(SignInFault::NoKey { issuer: self.name.clone(), key: token.key.as_deref().map(quoted) })
            }
        }
    }

    async fn verdict(&self, token: &UncheckedToken<'_>) -> Result<KeyVerdict, SignInFault> {
        let fetched = match &self.keys {
            IssuerKeys::Fixed(keys) => return Ok(keys.check(token)),
            IssuerKeys::File(file) => return Ok(file.current().check(token)),
            IssuerKeys::Fetched(fetched) => fetched,
        };
        let known = fetched.current().map_or(KeyVerdict::NoKey, |keys| keys.check(token));
        if known != KeyVerdict::NoKey {
            return Ok(known);
        }
        // The issuer may have a new key.
        let keys = fetched.renewed().await.ok_or_else(|| SignInFault::KeysUnavailable(self.name.clone()))?;
        Ok(keys.check(token))
    }
}
