//! A file of hashed keys, and the key that a machine shows, in; the machine's claims out. Must not know requests.

use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt::{Debug, Formatter};
use subtle::ConstantTimeEq;
use thiserror::Error;

/// The length of a SHA-256 hash, in bytes.
const HASH: usize = 32;

/// The keys of machines.
#[derive(Default)]
pub struct ApiKeys {
    keys: Vec<ApiKey>,
}

struct ApiKey {
    hash: [u8; HASH],
    claims: Map<String, Value>,
}

/// Why a file has no keys.
#[derive(Debug, Error)]
pub enum ApiKeysError {
    /// It has another form.
    #[error("it is no list of keys, each with a \"name\", a \"sha256\" and \"claims\"")]
    Form(#[from] serde_json::Error),
    /// A hash is not one.
    #[error("the key {0:?} has no hash: \"sha256\" is 64 hexadecimal digits, as `printf %s KEY | sha256sum` prints")]
    Hash(String),
    /// A subject has another type.
    #[error("the claim \"sub\" of the key {0:?} is not a text")]
    Subject(String),
    /// Two machines would be one.
    #[error("the name {0:?} or its hash occurs twice")]
    Twice(String),
}

/// A key as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyEntry {
    name: String,
    sha256: String,
    #[serde(default)]
    claims: Map<String, Value>,
}

impl ApiKeys {
    /// The keys of a file: `[{"name": "importer", "sha256": "…", "claims": {"role": "machine"}}]`. The claim `sub` is
    /// the name unless the file says another.
    pub fn from_json(text: &[u8]) -> Result<Self, ApiKeysError> {
        let written: Vec<KeyEntry> = serde_json::from_slice(text)?;
        let mut keys: Vec<ApiKey> = Vec::with_capacity(written.len());
        let mut names = Vec::with_capacity(written.len());
        for KeyEntry { name, sha256, mut claims } in written {
            let mut hash = [0; HASH];
            hex::decode_to_slice(sha256, &mut hash).map_err(|_| ApiKeysError::Hash(name.clone()))?;
            if names.contains(&name) || keys.iter().any(|key| key.hash == hash) {
                return Err(ApiKeysError::Twice(name));
            }
            if !claims.entry("sub").or_insert_with(|| Value::from(name.clone())).is_string() {
                return Err(ApiKeysError::Subject(name));
            }
            names.push(name);
            keys.push(ApiKey { hash, claims });
        }
        Ok(Self { keys })
    }

    /// The claims of the machine with this key. Every key is compared, and each comparison takes the same time.
    pub fn claims(&self, shown: &str) -> Option<&Map<String, Value>> {
        let hash: [u8; HASH] = Sha256::digest(shown).into();
        self.keys
            .iter()
            .fold(None, |found, key| if bool::from(key.hash.ct_eq(&hash)) { Some(&key.claims) } else { found })
    }
}

/// Shows no hash and no claim.
impl Debug for ApiKeys {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} keys", self.keys.len())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    /// The hashes of "one" and of "two".
    const ONE: &str = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed";
    const TWO: &str = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3";

    fn keys(file: Value) -> Result<ApiKeys, ApiKeysError> {
        ApiKeys::from_json(file.to_string().as_bytes())
    }

    #[test]
    fn a_machine_has_the_claims_of_its_key() {
        let keys = keys(json!([
            {"name": "importer", "sha256": ONE, "claims": {"role": "machine"}},
            {"name": "exporter", "sha256": TWO.to_uppercase(), "claims": {"sub": "machine-2"}},
        ]))
        .unwrap();
        let claims = |shown: &str| keys.claims(shown).cloned().map(Value::Object);
        assert_eq!(claims("one"), Some(json!({"role": "machine", "sub": "importer"})));
        assert_eq!(claims("two"), Some(json!({"sub": "machine-2"})));
        for wrong in ["", "on", "one ", "One", "oneone", ONE, "three"] {
            assert_eq!(claims(wrong), None, "{wrong}");
        }
        assert!(!format!("{keys:?}").contains("importer"));
    }

    #[test]
    fn mistakes_of_the_file_are_found() {
        for form in [json!({}), json!([{"name": "a"}]), json!([{"name": "a", "sha256": ONE, "role": "x"}])] {
            assert!(matches!(keys(form), Err(ApiKeysError::Form(_))));
        }
        for hash in ["", "one", &ONE[1..], &format!("{ONE}0"), &ONE.replace('7', "g"), &ONE.replace('7', "é")] {
            assert!(matches!(keys(json!([{"name": "a", "sha256": hash}])), Err(ApiKeysError::Hash(_))), "{hash}");
        }
        for sub in [json!(null), json!(7), json!(["a"])] {
            let file = json!([{"name": "a", "sha256": ONE, "claims": {"sub": sub}}]);
            assert!(matches!(keys(file), Err(ApiKeysError::Subject(_))));
        }
        for second in [("a", TWO), ("b", ONE)] {
            let file = json!([{"name": "a", "sha256": ONE}, {"name": second.0, "sha256": second.1}]);
            assert!(matches!(keys(file), Err(ApiKeysError::Twice(_))));
        }
    }
}
