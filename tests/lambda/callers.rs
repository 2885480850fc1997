//! A key for each caller of the goldens.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;

/// The file with the hashes of the keys.
pub const FILE: &str = "keys.json";

/// Aiko, the first caller of the samples.
pub const AIKO: &str = "11111111-1111-4111-8111-111111111111";
const OTHERS: [&str; 5] = [
    "0e60f12a-7ae6-44d6-b1fc-e6b60aa1c12c",
    "34296a83-d4a8-442a-a7f8-c874e6b9197d",
    "50eb3506-619c-431d-b9a0-3de804a199eb",
    "nobody",
    "noor",
];

/// The key of a caller.
pub fn key(sub: &str) -> String {
    assert!(sub == AIKO || OTHERS.contains(&sub), "{sub} has no key");
    format!("the key of the caller {sub}")
}

/// Writes the file.
pub fn write(directory: &Path) {
    let hash = |sub: &str| Sha256::digest(key(sub)).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let keys =
        OTHERS.iter().chain([&AIKO]).map(|sub| json!({ "name": sub, "sha256": hash(sub), "claims": { "sub": sub } }));
    std::fs::write(directory.join(FILE), Value::Array(keys.collect()).to_string()).unwrap();
}
