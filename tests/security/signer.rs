//! A private key in; key sets and tokens out, right ones and forged ones.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{self, EcdsaKeyPair, Ed25519KeyPair, KeyPair, RsaKeyPair};
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The issuer of good tokens.
pub const ISSUER: &str = "https://issuer.example";
/// The audience of good tokens.
pub const AUDIENCE: &str = "api";

/// A private key.
pub enum Signer {
    Rsa(RsaKeyPair),
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Secret(Vec<u8>),
}

/// A token that may be forged.
#[derive(Clone)]
pub struct Token {
    pub header: Value,
    pub claims: Value,
}

impl Signer {
    pub fn rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(include_bytes!("keys/rsa.pk8")).unwrap())
    }

    pub fn other_rsa() -> Self {
        Self::Rsa(RsaKeyPair::from_pkcs8(include_bytes!("keys/other_rsa.pk8")).unwrap())
    }

    pub fn p256() -> Self {
        let (algorithm, random) = (&signature::ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::P256(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    pub fn p384() -> Self {
        let (algorithm, random) = (&signature::ECDSA_P384_SHA384_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self::P384(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    pub fn ed25519() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self::Ed25519(Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap())
    }

    /// The public half as a member of a key set.
    pub fn jwk(&self, id: &str) -> Value {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        let point = |curve: &str, key: &EcdsaKeyPair| {
            let (x, y) = key.public_key().as_ref()[1..].split_at(key.public_key().as_ref().len() / 2);
            json!({"kty": "EC", "crv": curve, "x": text(x), "y": text(y), "kid": id, "use": "sig"})
        };
        match self {
            Self::Rsa(key) => {
                let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(key.public());
                json!({"kty": "RSA", "n": text(&n), "e": text(&e), "kid": id, "use": "sig"})
            }
            Self::P256(key) => point("P-256", key),
            Self::P384(key) => point("P-384", key),
            Self::Ed25519(key) => {
                json!({"kty": "OKP", "crv": "Ed25519", "x": text(key.public_key().as_ref()), "kid": id, "use": "sig"})
            }
            Self::Secret(secret) => json!({"kty": "oct", "k": text(secret), "kid": id}),
        }
    }

    /// Signs by an algorithm. One that is not for the key gives the signature that comes nearest.
    pub fn sign(&self, algorithm: &str, message: &[u8]) -> Vec<u8> {
        let random = SystemRandom::new();
        match self {
            Self::Rsa(key) => {
                let padding: &dyn signature::RsaEncoding = match algorithm {
                    "RS384" => &signature::RSA_PKCS1_SHA384,
                    "RS512" => &signature::RSA_PKCS1_SHA512,
                    "PS256" => &signature::RSA_PSS_SHA256,
                    "PS384" => &signature::RSA_PSS_SHA384,
                    "PS512" => &signature::RSA_PSS_SHA512,
                    _ => &signature::RSA_PKCS1_SHA256,
                };
                let mut signed = vec![0; key.public().modulus_len()];
                key.sign(padding, &random, message, &mut signed).unwrap();
                signed
            }
            Self::P256(key) | Self::P384(key) => key.sign(&random, message).unwrap().as_ref().to_vec(),
            Self::Ed25519(key) => key.sign(message).as_ref().to_vec(),
            Self::Secret(secret) => {
                ring::hmac::sign(&ring::hmac::Key::new(ring::hmac::HMAC_SHA256, secret), message).as_ref().to_vec()
            }
        }
    }
}

impl Token {
    /// A good one of Ann, by the key of this id.
    pub fn good(algorithm: &str, key: &str) -> Self {
        let (header, claims) = (
            json!({"alg": algorithm, "kid": key, "typ": "JWT"}),
            json!({"sub": "ann", "iss": ISSUER, "aud": AUDIENCE, "exp": now() + 600}),
        );
        Self { header, claims }
    }

    /// With another member of the header.
    pub fn header(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.header[name] = value.into();
        self
    }

    /// With another claim.
    pub fn claim(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.claims[name] = value.into();
        self
    }

    /// Without this claim.
    pub fn without(mut self, name: &str) -> Self {
        self.claims.as_object_mut().unwrap().remove(name);
        self
    }

    /// What is signed.
    pub fn message(&self) -> String {
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(self.header.to_string()),
            URL_SAFE_NO_PAD.encode(self.claims.to_string())
        )
    }

    /// The whole token, signed as its header says.
    pub fn signed(&self, signer: &Signer) -> String {
        let signature = signer.sign(self.header["alg"].as_str().unwrap_or_default(), self.message().as_bytes());
        self.with_signature(&signature)
    }

    /// The whole token with these bytes as its signature.
    pub fn with_signature(&self, signature: &[u8]) -> String {
        format!("{}.{}", self.message(), URL_SAFE_NO_PAD.encode(signature))
    }
}

/// Seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}
