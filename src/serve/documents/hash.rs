//! The text of a document's hash in, the hash out. Must not know documents.

/// The SHA-256 hash of a document.
pub type DocumentHash = [u8; 32];

/// Reads a hash: 64 hexadecimal digits, also after `sha256:`.
pub fn parse_hash(text: &str) -> Option<DocumentHash> {
    let digits = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
    let mut hash = DocumentHash::default();
    if digits.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
        let digit = |at: usize| char::from(pair[at]).to_digit(16);
        *byte = u8::try_from(digit(0)? * 16 + digit(1)?).ok()?;
    }
    Some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf '{ a }' | sha256sum`
    const HASH: &str = "1c7e1e347f726166b5b1c55afd61f278cc9b45e00c108ec33d540a566379811b";

    #[test]
    fn a_hash_has_64_digits() {
        assert!(parse_hash(HASH).is_some() && parse_hash(&format!("sha256:{}", HASH.to_uppercase())).is_some());
        for wrong in ["", &HASH[1..], &format!("{HASH}0"), &format!("md5:{HASH}"), &format!("g{}", &HASH[1..]), &"é".repeat(32)] {
            assert_eq!(parse_hash(wrong), None, "{wrong}");
        }
    }
}
