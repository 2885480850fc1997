//! Where the keys of an issuer are in, its keys out (OpenID Connect Discovery 1.0 section 4). Must not know when they
//! are read.

use super::download::{Download, DownloadError};
use super::key_set::{KeySet, KeySetError};
use serde::Deserialize;
use std::fmt::{self, Display, Formatter};
use thiserror::Error;
use url::{Host, Url};

/// The path of an issuer's metadata, after its own.
const METADATA: &str = ".well-known/openid-configuration";

/// Where the keys of an issuer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyAddress {
    /// The issuer's metadata says it.
    Discovery {
        /// The name of the issuer, which the metadata must have, too.
        issuer: String,
        /// The address of the metadata.
        metadata: Url,
    },
    /// The key set is here.
    KeySet(Url),
}

/// Why the keys could not be read.
#[derive(Debug, Error)]
pub enum KeyAddressError {
    /// Something could not be read.
    #[error(transparent)]
    Download(#[from] DownloadError),
    /// The metadata is no JSON, or does not say where the keys are.
    #[error("{0} has no metadata of an issuer")]
    Metadata(Url, #[source] serde_json::Error),
    /// The metadata is that of another issuer.
    #[error("{0} has the metadata of the issuer {1:?}")]
    OtherIssuer(Url, String),
    /// The keys are where they cannot be read safely.
    #[error("{0} leads to no keys")]
    Place(Url, #[source] NoKeyAddress),
    /// What is there has no keys.
    #[error("{0} has no keys")]
    Keys(Url, #[source] KeySetError),
}

/// An address that cannot be one of keys.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0:?} is not an address of keys: write https://… (http://… for this machine only)")]
pub struct NoKeyAddress(pub String);

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

/// The address that is read first.
impl Display for KeyAddress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Discovery { metadata: url, .. } | Self::KeySet(url) => write!(f, "{url}"),
        }
    }
}

impl KeyAddress {
    /// The keys that the metadata of this issuer leads to.
    pub fn discovery(issuer: &str) -> Result<Self, NoKeyAddress> {
        // "any terminating / MUST be removed before appending /.well-known/openid-configuration"
        let metadata = address(&format!("{}/{METADATA}", issuer.strip_suffix('/').unwrap_or(issuer)))?;
        Ok(Self::Discovery { issuer: issuer.to_owned(), metadata })
    }

    /// The keys at this address.
    pub fn key_set(text: &str) -> Result<Self, NoKeyAddress> {
        address(text).map(Self::KeySet)
    }

    /// Reads the keys. The caller bounds the time.
    pub async fn read(&self, download: &Download) -> Result<KeySet, KeyAddressError> {
        let url = match self {
            Self::KeySet(url) => url.clone(),
            Self::Discovery { issuer, metadata } => {
                let text = download.get(metadata).await?;
                let found: Metadata = serde_json::from_slice(&text)
                    .map_err(|error| KeyAddressError::Metadata(metadata.clone(), error))?;
                if found.issuer != *issuer {
                    return Err(KeyAddressError::OtherIssuer(metadata.clone(), found.issuer));
                }
                address(&found.jwks_uri).map_err(|error| KeyAddressError::Place(metadata.clone(), error))?
            }
        };
        let text = download.get(&url).await?;
        KeySet::from_json(&text).map_err(|error| KeyAddressError::Keys(url, error))
    }
}

fn address(text: &str) -> Result<Url, NoKeyAddress> {
    // The log would show a user name and a password, and no request would carry them.
    let is_bare = |url: &Url| url.username().is_empty() && url.password().is_none();
    Url::parse(text).ok().filter(|url| is_protected(url) && is_bare(url)).ok_or_else(|| NoKeyAddress(text.to_owned()))
}

/// Whether nobody between can change what is read: over TLS, or on this machine.
fn is_protected(url: &Url) -> bool {
    let local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost",
        None => false,
    };
    url.scheme() == "https" || (url.scheme() == "http" && local)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn metadata_is_below_the_issuer() {
        let metadata = |issuer: &str| match KeyAddress::discovery(issuer) {
            Ok(KeyAddress::Discovery { metadata, .. }) => metadata.to_string(),
            other => format!("{other:?}"),
        };
        let pool = "https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbC";
        assert_eq!(metadata(pool), format!("{pool}/.well-known/openid-configuration"));
        assert_eq!(metadata("https://a.auth0.com/"), "https://a.auth0.com/.well-known/openid-configuration");
        for wrong in ["http://a.example", "a.example", "", "file:///keys", "https://user:word@a.example"] {
            assert!(KeyAddress::discovery(wrong).is_err() && KeyAddress::key_set(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn keys_come_over_tls_or_from_this_machine() {
        let protected = |text: &str| is_protected(&Url::parse(text).unwrap());
        for good in ["https://a.example/x", "http://localhost:1/", "http://127.0.0.1/", "http://[::1]/"] {
            assert!(protected(good), "{good}");
        }
        for bad in [
            "http://a.example/",
            "http://10.0.0.1/",
            "http://localhost.evil.example/",
            "file:///etc/keys",
            "ftp://localhost/",
        ] {
            assert!(!protected(bad), "{bad}");
        }
    }
}
