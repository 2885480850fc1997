//! The text of a document's hash in, the hash out. Must not know documents.

/// The SHA-256 hash of a document.
pub type DocumentHash = [u8; 32];

/// Reads a hash: 64 hexadecimal digits, also after `sha256:`.
pub fn parse_hash(text: &str) -> Option<DocumentHash> {
    let mut hash = DocumentHash::default();
    hex::decode_to_slice(text.strip_prefix("sha256:").unwrap_or(text), &mut hash).ok().map(|()| hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '{ a }' | sha256sum`
    const HASH: &str = "1c7e1e347f726166b5b1c55afd61f278cc9b45e00c108ec33d540a566379811b";

    #[test]
    fn a_hash_has_64_digits() {
        assert!(parse_hash(HASH).is_some() && parse_hash(&format!("sha256:{}", HASH.to_uppercase())).is_some());
        for wrong in
            ["", &HASH[1..], &format!("{HASH}0"), &format!("md5:{HASH}"), &format!("g{}", &HASH[1..]), &"é".repeat(32)]
        {
            assert_eq!(parse_hash(wrong), None, "{wrong}");
        }
    }
}
