//! A JSON Web Key Set or a secret in; whether one of its keys signed a token out (RFC 7517, RFC 7518). ring does the
//! arithmetic. Must not know where keys come from.
//!
//! A key has a type, and the type says which algorithms it may be used with. So the public half of an RSA key can never
//! be taken for the secret of an HMAC, whatever a token says.

use crate::serve::sign_in::token::unchecked::{Algorithm, UncheckedToken};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::error::Unspecified;
use ring::hmac;
use ring::signature::{self, RsaPublicKeyComponents, UnparsedPublicKey};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

/// The most keys of a set that are kept: a token without a key's id is compared with each. Issuers have two to ten.
const MAX_KEYS: usize = 1_000;
/// The bytes of an RSA modulus: 2048 to 8192 bits.
const RSA_BYTES: std::ops::RangeInclusive<usize> = 256..=1024;

/// The keys of an issuer.
#[derive(Debug)]
pub struct KeySet {
    keys: Vec<Key>,
}

/// A set without a key that could be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum KeySetError {
    /// The text is not a JSON Web Key Set.
    #[error("it is not a JSON object with a list \"keys\"")]
    NoSet,
    /// No key has a type, a size and a use that this server knows.
    #[error("it has no key for signatures: RSA from 2048 bits, P-256, P-384 or Ed25519")]
    NoKey,
}

/// Whether a set has the key of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyVerdict {
    /// A key of the set signed the token.
    Signed,
    /// A key of the set fits the token, and did not sign it.
    Wrong,
    /// No key fits.
    NoKey,
}

#[derive(Debug)]
struct Key {
    id: Option<String>,
    /// The only algorithm that the key is for, if it says one.
    only: Option<Algorithm>,
    material: Material,
}

enum Material {
    Secret(hmac::Key),
    Rsa { n: Vec<u8>, e: Vec<u8> },
    P256(Vec<u8>),
    P384(Vec<u8>),
    Ed25519(Vec<u8>),
}

/// A key as its issuer writes it.
#[derive(Deserialize)]
struct Jwk {
    kty: String,
    kid: Option<String>,
    alg: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    key_ops: Option<Vec<String>>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

impl KeySet {
    /// The keys of a JSON Web Key Set. Keys that this server cannot use are left out, and so are secrets: a published
    /// key is none.
    pub fn from_json(text: &[u8]) -> Result<Self, KeySetError> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(text).map_err(|_| KeySetError::NoSet)?;
        let mut keys: Vec<Key> =
            set.keys.into_iter().filter_map(|key| usable(serde_json::from_value(key).ok()?)).collect();
        if let Some(left_out) = keys.len().checked_sub(MAX_KEYS).filter(|more| *more > 0) {
            tracing::warn!(
                kept = MAX_KEYS,
                left_out,
                "a key set has too many keys: tokens of its last ones are refused"
            );
            keys.truncate(MAX_KEYS);
        }
        if keys.is_empty() { Err(KeySetError::NoKey) } else { Ok(Self { keys }) }
    }

    /// The one key of an issuer that shares a secret with this server, for HS256.
    pub fn from_secret(secret: &[u8]) -> Self {
        let material = Material::Secret(hmac::Key::new(hmac::HMAC_SHA256, secret));
        Self { keys: vec![Key { id: None, only: None, material }] }
    }

    /// Looks for the key of a token, and checks the signature with it. A key fits if its type fits the algorithm and
    /// its id the token's; a key without an id fits any, and a token without an id any key.
    pub fn check(&self, token: &UncheckedToken<'_>) -> KeyVerdict {
        let mut verdict = KeyVerdict::NoKey;
        let fits_id = |key: &&Key| key.id.is_none() || token.key.is_none() || key.id == token.key;
        for key in self.keys.iter().filter(fits_id).filter(|key| key.only.is_none_or(|only| only == token.algorithm)) {
            match key.material.verify(token) {
                Some(Ok(())) => return KeyVerdict::Signed,
                Some(Err(Unspecified)) => verdict = KeyVerdict::Wrong,
                None => {}
            }
        }
        verdict
    }
}

impl Material {
    /// Checks a signature. `None` if this type of key is not for the algorithm.
    fn verify(&self, token: &UncheckedToken<'_>) -> Option<Result<(), Unspecified>> {
        let (message, signature) = (token.message.as_bytes(), &*token.signature);
        let rsa = match token.algorithm {
            Algorithm::RS256 => &signature::RSA_PKCS1_2048_8192_SHA256,
            Algorithm::RS384 => &signature::RSA_PKCS1_2048_8192_SHA384,
            Algorithm::RS512 => &signature::RSA_PKCS1_2048_8192_SHA512,
            Algorithm::PS256 => &signature::RSA_PSS_2048_8192_SHA256,
            Algorithm::PS384 => &signature::RSA_PSS_2048_8192_SHA384,
            Algorithm::PS512 => &signature::RSA_PSS_2048_8192_SHA512,
            other => {
                return match (self, other) {
                    (Self::Secret(key), Algorithm::HS256) => Some(hmac::verify(key, message, signature)),
                    (Self::P256(point), Algorithm::ES256) => Some(
                        UnparsedPublicKey::new(&signature::ECDSA_P256_SHA256_FIXED, point).verify(message, signature),
                    ),
                    (Self::P384(point), Algorithm::ES384) => Some(
                        UnparsedPublicKey::new(&signature::ECDSA_P384_SHA384_FIXED, point).verify(message, signature),
                    ),
                    (Self::Ed25519(point), Algorithm::EdDSA) => {
                        Some(UnparsedPublicKey::new(&signature::ED25519, point).verify(message, signature))
                    }
                    _ => None,
                };
            }
        };
        let Self::Rsa { n, e } = self else { return None };
        Some(RsaPublicKeyComponents { n, e }.verify(rsa, message, signature))
    }
}

/// Shows the type only.
impl std::fmt::Debug for Material {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Secret(_) => "secret",
            Self::Rsa { .. } => "RSA",
            Self::P256(_) => "P-256",
            Self::P384(_) => "P-384",
            Self::Ed25519(_) => "Ed25519",
        })
    }
}

/// A key that this server can use, for signatures.
fn usable(key: Jwk) -> Option<Key> {
    let for_signatures = key.usage.as_deref().is_none_or(|usage| usage == "sig")
        && key.key_ops.as_ref().is_none_or(|operations| operations.iter().any(|operation| operation == "verify"));
    if !for_signatures {
        return None;
    }
    // A key for an algorithm that this server does not know is for nothing else.
    let only = match &key.alg {
        Some(name) => Some(Algorithm::from_name(name)?),
        None => None,
    };
    let bytes = |text: &Option<String>| URL_SAFE_NO_PAD.decode(text.as_ref()?).ok();
    let point = |length: usize| -> Option<Vec<u8>> {
        let (x, y) = (bytes(&key.x)?, bytes(&key.y)?);
        // An uncompressed point (SEC 1 section 2.3.3).
        (x.len() == length && y.len() == length).then(|| [&[4], &*x, &*y].concat())
    };
    let material = match (key.kty.as_str(), key.crv.as_deref()) {
        ("RSA", _) => {
            let (n, e) = (without_zeros(bytes(&key.n)?), without_zeros(bytes(&key.e)?));
            RSA_BYTES.contains(&n.len()).then_some(Material::Rsa { n, e })?
        }
        ("EC", Some("P-256")) => Material::P256(point(32)?),
        ("EC", Some("P-384")) => Material::P384(point(48)?),
        ("OKP", Some("Ed25519")) => Material::Ed25519(bytes(&key.x).filter(|x| x.len() == 32)?),
        _ => return None,
    };
    Some(Key { id: key.kid, only, material })
}

/// A number without leading zeros, which some issuers write.
fn without_zeros(mut number: Vec<u8>) -> Vec<u8> {
    let zeros = number.iter().take_while(|byte| **byte == 0).count();
    number.drain(..zeros);
    number
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::log_for_tests::LogBuffer;
    use serde_json::json;

    fn count(keys: Value) -> usize {
        KeySet::from_json(json!({ "keys": keys }).to_string().as_bytes()).map_or(0, |set| set.keys.len())
    }

    fn ed25519(more: Value) -> Value {
        let mut key = json!({"kty": "OKP", "crv": "Ed25519", "x": URL_SAFE_NO_PAD.encode([7; 32])});
        key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        key
    }

    #[test]
    fn keys_for_something_else_are_left_out() {
        for good in [
            json!({}),
            json!({"use": "sig"}),
            json!({"key_ops": ["verify"]}),
            json!({"alg": "EdDSA", "kid": "a", "nbf": 1.5}),
        ] {
            assert_eq!(count(json!([ed25519(good)])), 1);
        }
        for other in [
            json!({"use": "enc"}),
            json!({"key_ops": ["encrypt"]}),
            json!({"alg": "RSA-OAEP"}),
            json!({"kid": 1}),
            json!({"x": "AA"}),
        ] {
            assert_eq!(count(json!([ed25519(other)])), 0);
        }
        let secret = json!({"kty": "oct", "k": "c2VjcmV0"});
        let weak = json!({"kty": "RSA", "n": URL_SAFE_NO_PAD.encode([255; 128]), "e": "AQAB"});
        let odd = json!({"kty": "EC", "crv": "secp256k1", "x": "AA", "y": "AA"});
        assert_eq!(count(json!([secret, weak, odd, "text", 7, ed25519(json!({}))])), 1);
    }

    #[test]
    fn what_is_left_out_of_a_large_set_is_logged() {
        let logged = |keys: usize| {
            let log = LogBuffer::default();
            let subscriber = log.subscriber();
            let kept = tracing::subscriber::with_default(subscriber, || count(json!(vec![ed25519(json!({})); keys])));
            (kept, log.text())
        };
        assert_eq!(logged(101), (101, String::new()));
        assert_eq!(logged(MAX_KEYS), (MAX_KEYS, String::new()));
        let (kept, log) = logged(MAX_KEYS + 2);
        assert!(kept == MAX_KEYS && log.contains("left_out=2"), "{kept} {log}");
    }

    #[test]
    fn what_is_no_set_of_keys_says_so() {
        for text in ["", "[]", "{}", "{\"keys\":{}}", "<html>"] {
            assert_eq!(KeySet::from_json(text.as_bytes()).unwrap_err(), KeySetError::NoSet, "{text}");
        }
        assert_eq!(KeySet::from_json(b"{\"keys\":[]}").unwrap_err(), KeySetError::NoKey);
    }
}
