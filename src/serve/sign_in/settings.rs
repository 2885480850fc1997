//! Options, environment variables and the files that they name in; what checks callers out.

use super::api_keys::{ApiKeys, ApiKeysError};
use super::authenticator::Authenticator;
use super::issuer::{Issuer, IssuerKeys};
use super::keys::download::Download;
use super::keys::fetched_keys::{FetchedKeys, RefreshPace};
use super::keys::key_address::{KeyAddress, NoKeyAddress};
use super::keys::key_set::{KeySet, KeySetError};
use super::watched_file::{MAX_BYTES, WatchedFile};
use clap::Args;
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Shortest secret of HS256, in bytes (RFC 7518 section 3.2).
const SHORTEST_SECRET: usize = 32;

/// Who may sign in. Without an issuer and without keys of machines, nobody can.
#[derive(Debug, Clone, Default, Args)]
pub struct SignInSettings {
    /// Accept tokens of this issuer, exactly as their claim `iss` has it, such as `https://login.example.com/`; repeat
    /// it for several
    #[arg(long = "issuer", env = "KEYFOLD_ISSUER", value_name = "URL", value_delimiter = ',', requires = "audiences")]
    pub issuers: Vec<String>,

    /// Accept tokens for this audience: the claim `aud`, or the client id of a Cognito access token; repeat it for
    /// several
    #[arg(
        long = "audience",
        env = "KEYFOLD_AUDIENCE",
        value_name = "NAME",
        value_delimiter = ',',
        requires = "issuers"
    )]
    pub audiences: Vec<String>,

    /// Address or file of the issuer's public keys, a JSON Web Key Set [default: where the issuer's metadata says]
    #[arg(
        long,
        env = "KEYFOLD_JWKS",
        value_name = "URL|FILE",
        requires = "issuers",
        conflicts_with = "jwt_secret_file"
    )]
    pub jwks: Option<String>,

    /// File with a secret of at least 32 bytes by which the issuer signs tokens (HS256)
    #[arg(long, env = "KEYFOLD_JWT_SECRET_FILE", value_name = "FILE", requires = "issuers")]
    pub jwt_secret_file: Option<PathBuf>,

    /// JSON file of issuers that differ in their audiences or in where their keys are; see docs/security.md
    #[arg(long, env = "KEYFOLD_ISSUERS_FILE", value_name = "FILE", conflicts_with_all = ["issuers", "audiences", "jwks", "jwt_secret_file"])]
    pub issuers_file: Option<PathBuf>,

    /// JSON file of the keys that machines send as X-Api-Key: their hashes and their claims; see docs/security.md
    #[arg(long, env = "KEYFOLD_API_KEYS_FILE", value_name = "FILE")]
    pub api_keys_file: Option<PathBuf>,
}

/// An issuer in the file of issuers.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct IssuerSettings {
    issuer: String,
    audiences: Vec<String>,
    jwks: Option<String>,
    secret_file: Option<PathBuf>,
}

/// Why callers cannot be checked by these settings.
#[derive(Debug, Error)]
pub enum SignInSettingsError {
    /// A file cannot be read.
    #[error("cannot read {0}")]
    File(PathBuf, #[source] std::io::Error),
    /// A file is longer than any file of keys.
    #[error("{0} is longer than 1 MiB")]
    TooLong(PathBuf),
    /// The file of issuers has another form.
    #[error("{0} is no list of issuers, each with an \"issuer\" and \"audiences\"")]
    Issuers(PathBuf, #[source] serde_json::Error),
    /// A file of keys has no key.
    #[error("{0} has no keys")]
    Keys(PathBuf, #[source] KeySetError),
    /// The file of the keys of machines has mistakes.
    #[error("{0} has no keys of machines")]
    ApiKeys(PathBuf, #[source] ApiKeysError),
    /// A secret can be guessed.
    #[error("the secret in {0} is too short: write at least {SHORTEST_SECRET} bytes, as `openssl rand -hex 32` prints")]
    Secret(PathBuf),
    /// Two issuers have one name.
    #[error("the issuer {0} occurs twice")]
    Twice(String),
    /// An issuer has an empty name, as a comma too many makes it.
    #[error("an issuer has no name")]
    NoName,
    /// An issuer without an audience, or with an empty one, would accept tokens for other servers.
    #[error("the issuer {0} has no audience, or an empty one")]
    NoAudience(String),
    /// An issuer has a secret and public keys.
    #[error("the issuer {0} has a secret and public keys: choose one")]
    Both(String),
    /// Keys cannot be read from there.
    #[error(transparent)]
    Address(#[from] NoKeyAddress),
    /// This machine trusts no certificates, so that no server of keys can be trusted.
    #[error("the certificates of this machine cannot be read, which are needed to read keys over https")]
    Certificates(#[source] std::io::Error),
}

impl SignInSettings {
    /// What checks callers by these settings, and who else is believed. Reads the files. Must be called within a
    /// runtime, which then reads the keys of the issuers.
    pub fn authenticator(&self, also: Option<Issuer>) -> Result<Authenticator, SignInSettingsError> {
        let listed: Vec<IssuerSettings> = match &self.issuers_file {
            Some(path) => serde_json::from_slice(&read(path)?)
                .map_err(|error| SignInSettingsError::Issuers(path.clone(), error))?,
            None => self.issuers.iter().map(|issuer| self.named(issuer)).collect(),
        };
        let api_keys = match &self.api_keys_file {
            Some(path) => watched(path, |path, text| {
                ApiKeys::from_json(text).map_err(|error| SignInSettingsError::ApiKeys(path, error))
            })?,
            None => WatchedFile::fixed(ApiKeys::default()),
        };
        let mut issuers: Vec<Issuer> = also.into_iter().collect();
        for settings in listed {
            if issuers.iter().any(|issuer| issuer.name == settings.issuer) {
                return Err(SignInSettingsError::Twice(settings.issuer));
            }
            issuers.push(settings.open()?);
        }
        let nobody = issuers.is_empty() && self.api_keys_file.is_none();
        Ok(if nobody { Authenticator::off() } else { Authenticator::new(issuers, api_keys) })
    }

    fn named(&self, issuer: &str) -> IssuerSettings {
        IssuerSettings {
            issuer: issuer.to_owned(),
            audiences: self.audiences.clone(),
            jwks: self.jwks.clone(),
            secret_file: self.jwt_secret_file.clone(),
        }
    }
}

impl IssuerSettings {
    fn open(self) -> Result<Issuer, SignInSettingsError> {
        if self.issuer.is_empty() {
            return Err(SignInSettingsError::NoName);
        }
        if self.audiences.is_empty() || self.audiences.iter().any(String::is_empty) {
            return Err(SignInSettingsError::NoAudience(self.issuer));
        }
        let keys = match (&self.jwks, &self.secret_file) {
            (None, None) => fetched(KeyAddress::discovery(&self.issuer)?)?,
            (Some(url), None) if url.contains("://") => fetched(KeyAddress::key_set(url)?)?,
            (Some(path), None) => {
                let keys =
                    |path, text: &[u8]| KeySet::from_json(text).map_err(|error| SignInSettingsError::Keys(path, error));
                IssuerKeys::File(watched(Path::new(path), keys)?)
            }
            (None, Some(path)) => {
                IssuerKeys::File(watched(path, |path, text| Ok(KeySet::from_secret(secret(path, text)?)))?)
            }
            (Some(_), Some(_)) => return Err(SignInSettingsError::Both(self.issuer)),
        };
        Ok(Issuer { name: self.issuer, audiences: self.audiences, keys })
    }
}

fn fetched(address: KeyAddress) -> Result<IssuerKeys, SignInSettingsError> {
    let download = Download::new().map_err(SignInSettingsError::Certificates)?;
    Ok(IssuerKeys::Fetched(FetchedKeys::start(address, download, RefreshPace::default())))
}

/// The secret in the text of a file, without the line's end that editors add.
fn secret(path: PathBuf, text: &[u8]) -> Result<&[u8], SignInSettingsError> {
    let secret = text.trim_ascii_end();
    if secret.len() < SHORTEST_SECRET { Err(SignInSettingsError::Secret(path)) } else { Ok(secret) }
}

/// What is made of a file, now and whenever it changes.
fn watched<T: Send + Sync + 'static>(
    path: &Path,
    make: fn(PathBuf, &[u8]) -> Result<T, SignInSettingsError>,
) -> Result<WatchedFile<T>, SignInSettingsError> {
    let text = read(path)?;
    let value = make(path.to_owned(), &text)?;
    let named = path.to_owned();
    Ok(WatchedFile::start(
        path,
        (text, value),
        Box::new(move |text| make(named.clone(), text).map_err(|error| error.to_string())),
    ))
}

fn read(path: &Path) -> Result<Vec<u8>, SignInSettingsError> {
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut text));
    match read.map(u64::try_from) {
        Ok(Ok(0..=MAX_BYTES)) => Ok(text),
        Ok(_) => Err(SignInSettingsError::TooLong(path.to_owned())),
        Err(error) => Err(SignInSettingsError::File(path.to_owned(), error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn file(directory: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn one(issuer: &str) -> SignInSettings {
        SignInSettings { issuers: vec![issuer.into()], audiences: vec!["api".into()], ..SignInSettings::default() }
    }

    #[tokio::test]
    async fn without_settings_nobody_can_sign_in() {
        assert!(!SignInSettings::default().authenticator(None).unwrap().is_on());
        assert!(one("http://localhost:1").authenticator(None).unwrap().is_on());
    }

    #[tokio::test]
    async fn mistakes_are_found_before_the_server_starts() {
        let directory = tempfile::tempdir().unwrap();
        let trouble = |settings: SignInSettings| settings.authenticator(None).unwrap_err().to_string();
        let short = file(&directory, "short", "only twenty bytes ok\n");
        assert!(trouble(SignInSettings { jwt_secret_file: Some(short.clone()), ..one("a") }).contains("is too short"));
        let (empty, keys) =
            (file(&directory, "empty", "{\"keys\":[]}"), |path: &Path| Some(path.display().to_string()));
        assert!(trouble(SignInSettings { jwks: keys(&empty), ..one("a") }).contains("has no keys"));
        assert!(
            trouble(SignInSettings { jwks: keys(&directory.path().join("none")), ..one("a") }).contains("cannot read")
        );
        for insecure in ["http://login.example.com", "login.example.com"] {
            assert!(trouble(one(insecure)).contains("is not an address of keys"), "{insecure}");
        }
        assert!(
            trouble(SignInSettings { jwks: Some("http://a.example/keys".into()), ..one("a") })
                .contains("is not an address of keys")
        );
        let twice = "https://localhost:1";
        assert!(
            trouble(SignInSettings { issuers: vec![twice.into(), twice.into()], ..one(twice) })
                .contains("occurs twice")
        );
        for audiences in [vec![String::new()], vec!["api".into(), String::new()]] {
            assert!(trouble(SignInSettings { audiences, ..one(twice) }).contains("has no audience"));
        }
        assert!(trouble(SignInSettings { jwt_secret_file: Some(short.clone()), ..one("") }).contains("has no name"));
        let listed =
            file(&directory, "issuers", r#"[{"issuer": "a", "audiences": ["b"], "jwks": "c", "secretFile": "d"}]"#);
        assert!(
            trouble(SignInSettings { issuers_file: Some(listed), ..SignInSettings::default() }).contains("choose one")
        );
        let long = file(&directory, "long", &" ".repeat((1 << 20) + 1));
        assert!(
            trouble(SignInSettings { api_keys_file: Some(long), ..SignInSettings::default() })
                .contains("is longer than 1 MiB")
        );
        assert!(
            trouble(SignInSettings { api_keys_file: Some(short), ..SignInSettings::default() })
                .contains("has no keys of machines")
        );
    }
}
