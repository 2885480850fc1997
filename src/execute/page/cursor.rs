//! Cursors, by which a page resumes. A key and the identity of a list in; the cursor of an item, and the position that
//! a cursor names, out. Must not know how a list is read.
//!
//! A cursor is the position of one item, encrypted by AES-256-GCM-SIV (RFC 8452), in base64url. HKDF (RFC 5869) derives
//! the key from the gateway's secret. The associated data is the digest of the list's identity
//! ([`super::list_identity`]), and the nonce is the beginning of that digest. So an item of a list always has the same
//! cursor, in every process that has the secret, and no other list accepts it. The cipher is safe with a repeated
//! nonce: equal cursors reveal only that they name the same item of the same list.
//!
//! In a list that is merged from several ranges, the item determines the position in each of them
//! ([`crate::execute::key::resume`]).

use super::list_identity::List;
use crate::execute::error::{ErrorCode, Failure};
use crate::schema::table::MOST_KEY_ATTRIBUTES;
use crate::table::data::attribute::{Attribute, Item};
use aes_gcm_siv::aead::{Aead, KeyInit, Payload};
use aes_gcm_siv::{Aes256GcmSiv, Nonce};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};
use uuid::Uuid;

/// The purpose of the derived key. A new format of cursors takes a new name, so that cursors of the old format are
/// refused.
const PURPOSE: &[u8] = b"keyfold cursor 2";
const NONCE_LENGTH: usize = 12;
const TAG_LENGTH: usize = 16;
/// The most attributes of a position: the keys of a table and those of an index.
const MAX_ATTRIBUTES: usize = 2 + 2 * MOST_KEY_ATTRIBUTES;
/// The longest encrypted position. Each attribute of a partition key has 2,048 bytes at most, each of a sort key 1,024
/// (DynamoDB developer guide, "Quotas").
const MAX_BYTES: usize = TAG_LENGTH + 2 + MAX_ATTRIBUTES * 3 + (1 + MOST_KEY_ATTRIBUTES) * (2048 + 1024);
/// A longer cursor is refused without being decoded.
const MAX_LENGTH: usize = MAX_BYTES.div_ceil(3) * 4;

/// The key of a gateway's cursors.
#[derive(Clone)]
pub struct CursorKey(Arc<Aes256GcmSiv>);

impl CursorKey {
    /// Derives the key from a secret.
    pub fn from_secret(secret: &[u8]) -> Self {
        let mut key = [0; 32];
        // HKDF-SHA256 gives up to 8,160 bytes, so this cannot fail.
        let _ = Hkdf::<Sha256>::new(None, secret).expand(PURPOSE, &mut key);
        Self(Arc::new(Aes256GcmSiv::new(&key.into())))
    }
}

/// A secret for the cursors of this process. Version 4 UUIDs come from the system's source of randomness; two of them
/// have 244 random bits.
pub fn random_secret() -> Vec<u8> {
    [Uuid::new_v4().into_bytes(), Uuid::new_v4().into_bytes()].concat()
}

/// The position of an item in a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// The range from which the item was read.
    pub range: usize,
    /// The item's key attributes, including those of the index.
    pub key: Item,
}

/// What makes and reads the cursors of one list.
#[derive(Clone)]
pub struct Cursors {
    key: CursorKey,
    /// The list's identity.
    list: Vec<u8>,
    /// Its digest (SHA-256), which only a list whose cursors are asked for needs.
    digest: OnceLock<[u8; 32]>,
    /// The attributes of a position.
    attributes: Arc<[String]>,
    ranges: usize,
}

impl std::fmt::Debug for Cursors {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Cursors").field("attributes", &self.attributes).finish_non_exhaustive()
    }
}

impl Cursors {
    /// The cursors of a list; `attributes` are the key attributes of its table and of its index.
    pub fn new(key: CursorKey, list: &List<'_>, attributes: Arc<[String]>) -> Self {
        Self { key, list: list.encoded(), digest: OnceLock::new(), attributes, ranges: list.ranges.len() }
    }

    /// The cursor of an item that was read from a range.
    pub fn item_cursor(&self, range: usize, item: &Item) -> String {
        let position = self.written(range, item);
        let payload = Payload { msg: &position, aad: self.digest() };
        // Encryption fails only beyond 64 GiB.
        let encrypted = self.key.0.encrypt(&self.nonce(), payload).unwrap_or_default();
        URL_SAFE_NO_PAD.encode(encrypted)
    }

    /// The position that a cursor names. Fails if the cursor is not of this list.
    pub fn decode(&self, cursor: &str) -> Result<Position, Arc<Failure>> {
        self.position(cursor).ok_or_else(|| {
            let message = "This cursor does not belong to this field with these arguments. Begin without a cursor, and \
                           take the next ones from the answers.";
            Failure::new(ErrorCode::BadUserInput, message)
        })
    }

    fn position(&self, cursor: &str) -> Option<Position> {
        if cursor.len() > MAX_LENGTH {
            return None;
        }
        let encrypted = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let payload = Payload { msg: &encrypted, aad: self.digest() };
        self.read(&self.key.0.decrypt(&self.nonce(), payload).ok()?)
    }

    fn digest(&self) -> &[u8; 32] {
        self.digest.get_or_init(|| Sha256::digest(&self.list).into())
    }

    fn nonce(&self) -> Nonce {
        let mut nonce = [0; NONCE_LENGTH];
        nonce.copy_from_slice(&self.digest()[..NONCE_LENGTH]);
        nonce.into()
    }

    /// The bytes of a position: the range in two; for each attribute its type in one, its length in two, and its value.
    fn written(&self, range: usize, item: &Item) -> Vec<u8> {
        let length = |value: usize| u16::try_from(value).unwrap_or(u16::MAX).to_be_bytes();
        let mut bytes = length(range).to_vec();
        for name in self.attributes.iter() {
            let (kind, value): (u8, &[u8]) = match item.get(name) {
                Some(Attribute::S(text)) => (b'S', text.as_bytes()),
                Some(Attribute::N(text)) => (b'N', text.as_bytes()),
                Some(Attribute::B(bytes)) => (b'B', bytes),
                _ => (0, &[]),
            };
            bytes.push(kind);
            bytes.extend_from_slice(&length(value.len()));
            bytes.extend_from_slice(value);
        }
        bytes
    }

    fn read(&self, mut bytes: &[u8]) -> Option<Position> {
        let range = length(&mut bytes)?;
        let mut key = Item::new();
        for name in self.attributes.iter() {
            let kind = *bytes.split_off_first()?;
            let long = length(&mut bytes)?;
            let value = bytes.split_off(..long)?;
            let text = |value: &[u8]| String::from_utf8(value.to_vec()).ok();
            let value = match kind {
                b'S' => Attribute::S(text(value)?.into()),
                b'N' => Attribute::N(text(value)?.into()),
                b'B' => Attribute::B(value.to_vec()),
                _ => return None,
            };
            key.insert(name.clone(), value);
        }
        (bytes.is_empty() && range < self.ranges).then_some(Position { range, key })
    }
}

/// Takes a length from the front.
fn length(bytes: &mut &[u8]) -> Option<usize> {
    bytes.split_off(..2)?.try_into().ok().map(u16::from_be_bytes).map(usize::from)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use crate::execute::key::range::KeyRange;
    use proptest::prelude::*;

    fn cursors(secret: &[u8], coordinate: &str) -> Cursors {
        let range = KeyRange {
            partition: None,
            equal: vec![],
            sort: None,
            excluded: vec![],
            prefix: 0,
            begins_with: None,
            values: vec![],
        };
        let list = List { coordinate, table: "t", index: None, ranges: &[range.clone(), range], descending: false };
        Cursors::new(CursorKey::from_secret(secret), &list, ["PK".into(), "SK".into()].into())
    }

    fn item(pk: &str, sk: &str) -> Item {
        [("PK".to_owned(), Attribute::S(pk.into())), ("SK".to_owned(), Attribute::N(sk.into()))].into()
    }

    proptest! {
        #[test]
        fn a_cursor_names_the_item_that_it_was_made_of(range in 0usize..2, pk in ".*", sk in "[0-9]{1,38}") {
            let cursors = cursors(b"secret", "User.groups");
            let position = cursors.decode(&cursors.item_cursor(range, &item(&pk, &sk))).unwrap();
            prop_assert_eq!(position, Position { range, key: item(&pk, &sk) });
        }

        #[test]
        fn a_changed_cursor_is_refused(at in 0usize..40, letter in "[A-Za-z0-9_-]") {
            let cursors = cursors(b"secret", "User.groups");
            let mut changed = cursors.item_cursor(0, &item("a", "1"));
            let at = at % changed.len();
            let before = changed.clone();
            changed.replace_range(at..=at, &letter);
            prop_assert!(changed == before || cursors.decode(&changed).is_err());
        }

        #[test]
        fn anything_may_come_as_a_cursor(text in ".*") {
            prop_assert!(cursors(b"secret", "User.groups").decode(&text).is_err());
        }

        #[test]
        fn a_position_is_read_from_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let cursors = cursors(b"secret", "User.groups");
            if let Some(position) = cursors.read(&bytes) {
                prop_assert_eq!(cursors.written(position.range, &position.key), bytes);
            }
        }
    }

    #[test]
    fn the_longest_keys_have_cursors() {
        let attributes: Vec<String> = ["pk", "sk", "gsiPk", "gsiSk"].map(String::from).into();
        let cursors = Cursors { attributes: attributes.clone().into(), ..cursors(b"", "") };
        let key: Item = attributes
            .into_iter()
            .zip([2048, 1024, 2048, 1024].map(|long| Attribute::S("\u{1}".repeat(long).into())))
            .collect();
        let cursor = cursors.item_cursor(0, &key);
        assert!(cursor.len() <= MAX_LENGTH);
        assert_eq!(cursors.decode(&cursor).unwrap().key, key);
        assert!(cursors.decode(&format!("{cursor}AAAA")).is_err());
    }

    #[test]
    fn a_cursor_is_refused_elsewhere_and_under_another_secret() {
        let cursor = cursors(b"secret", "User.groups").item_cursor(0, &item("a", "1"));
        assert!(cursors(b"secret", "Group.users").decode(&cursor).is_err());
        assert!(cursors(b"other", "User.groups").decode(&cursor).is_err());
        assert!(cursors(b"secret", "User.groups").decode(&cursor).is_ok());
        assert!(
            cursors(b"secret", "User.groups")
                .decode(&cursors(b"secret", "User.groups").item_cursor(2, &item("a", "1")))
                .is_err()
        );
    }

    /// Clients keep cursors, and the copies of a gateway of two versions serve them side by side.
    #[test]
    fn the_form_of_a_cursor_stays() {
        assert_eq!(
            cursors(b"secret", "User.groups").item_cursor(1, &item("a", "1")),
            "gk9Hc4zUYkdzwtSP-mzM0C9-7nn5CkmhEeY"
        );
    }
}
