//! Automatic Persisted Queries: a document and its hash in, the document for its hash out, until the memory for them is
//! needed by others (<https://www.apollographql.com/docs/apollo-server/performance/apq>). Must not know requests.

use super::hash::DocumentHash;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The size of a usual document, in bytes.
const USUAL_BYTES: u64 = 2 << 10;
/// The approximate overhead of an entry, in bytes.
const ENTRY_BYTES: u64 = 128;

/// Documents that clients have sent.
pub struct PersistedDocuments {
    by_hash: Cache<DocumentHash, Arc<str>, Bytes>,
}

/// Weighs documents by their bytes.
#[derive(Clone)]
struct Bytes;

impl Weighter<DocumentHash, Arc<str>> for Bytes {
    fn weight(&self, _: &DocumentHash, text: &Arc<str>) -> u64 {
        ENTRY_BYTES + text.len() as u64
    }
}

impl std::fmt::Debug for PersistedDocuments {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PersistedDocuments")
    }
}

impl PersistedDocuments {
    /// Room for documents of this many bytes.
    pub fn new(bytes: u64) -> Self {
        let entries = usize::try_from(bytes / USUAL_BYTES).unwrap_or(usize::MAX).max(1);
        Self { by_hash: Cache::with_weighter(entries, bytes, Bytes) }
    }

    /// Keeps a document. One that is too large for its part of the memory is not kept.
    pub fn keep(&self, hash: DocumentHash, text: &str) {
        if self.by_hash.get(&hash).is_none() {
            self.by_hash.insert(hash, text.into());
        }
    }

    /// The document with this hash.
    pub fn get(&self, hash: &DocumentHash) -> Option<Arc<str>> {
        self.by_hash.get(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_share_their_memory() {
        let documents = PersistedDocuments::new(100_000);
        for number in 0..=255_u8 {
            documents.keep([number; 32], &"x".repeat(4_000));
        }
        let kept = (0..=255_u8).filter(|number| documents.get(&[*number; 32]).is_some()).count();
        assert!((1..=24).contains(&kept), "{kept}");
        documents.keep([0; 32], &"x".repeat(200_000));
        assert!(documents.by_hash.weight() <= 100_000);
    }
}
