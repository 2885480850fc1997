//! The file of a secret in; the issuer of `keyfold dev`, and tokens of it, out. Must not be used by a server that
//! others can reach.
//!
//! `keyfold dev` and `keyfold token` share one secret of the user, so that a token works whatever store runs, in memory
//! or in a directory. The secret is made when it is first needed, and nobody else may read it.

use super::issuer::{Issuer, IssuerKeys};
use super::keys::key_set::KeySet;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, Value, json};
use std::fs::{self, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::Path;

/// The name of the issuer.
const NAME: &str = "keyfold-dev";
/// Whom its tokens are for.
const AUDIENCE: &str = "keyfold-dev";
/// The length of its secret, in bytes.
const SECRET: usize = 32;

/// The issuer of `keyfold dev`.
pub struct DevIssuer {
    secret: Vec<u8>,
}

impl DevIssuer {
    /// The issuer with the secret of this file, which is made if it is missing.
    pub fn open(path: &Path) -> Result<Self> {
        let secret = match fs::read(path) {
            Ok(secret) => secret,
            Err(error) if error.kind() == ErrorKind::NotFound => made(path)?,
            Err(error) => return Err(error),
        };
        if secret.len() == SECRET {
            Ok(Self { secret })
        } else {
            Err(Error::other("it has no secret; delete it to get a new one"))
        }
    }

    /// What a server must know to believe it.
    pub fn issuer(&self) -> Issuer {
        Issuer {
            name: NAME.into(),
            audiences: vec![AUDIENCE.into()],
            keys: IssuerKeys::Fixed(KeySet::from_secret(&self.secret)),
        }
    }

    /// A token with these claims, which ends at this time, in seconds since 1970.
    pub fn token(&self, claims: Map<String, Value>, ends: i64) -> String {
        let mut claims = claims;
        claims.extend([("iss".into(), NAME.into()), ("aud".into(), AUDIENCE.into()), ("exp".into(), ends.into())]);
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let message =
            format!("{}.{}", encoded(&json!({"alg": "HS256", "typ": "JWT"})), encoded(&Value::Object(claims)));
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.secret), message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Makes a secret. If two processes do it at once, one of them reads that of the other.
fn made(path: &Path) -> Result<Vec<u8>> {
    let mut secret = vec![0; SECRET];
    SystemRandom::new().fill(&mut secret).map_err(|_| Error::other("this machine gives no random numbers"))?;
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    // A file that is there is whole, because it is written under another name.
    let draft = path.with_extension(format!("{}.new", std::process::id()));
    match fs::remove_file(&draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // A file that is there already may be somebody else's.
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(&draft)?.write_all(&secret)?;
    let linked = fs::hard_link(&draft, path);
    fs::remove_file(&draft)?;
    match linked {
        Ok(()) => Ok(secret),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => fs::read(path),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::serve::sign_in::token::unchecked::UncheckedToken;

    #[tokio::test]
    async fn a_token_of_one_process_is_good_in_another() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state").join("secret");
        let text = DevIssuer::open(&path).unwrap().token(Map::from_iter([("sub".into(), "alice".into())]), 2_000);
        let token = UncheckedToken::read(&text).unwrap();
        assert_eq!(DevIssuer::open(&path).unwrap().issuer().check(&token, 1_000).await, Ok(2_060));
        let other = DevIssuer::open(&directory.path().join("other")).unwrap();
        assert!(other.issuer().check(&token, 1_000).await.is_err());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "no draft is left");
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_the_secret() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("secret");
        DevIssuer::open(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
