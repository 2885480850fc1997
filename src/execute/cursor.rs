//! Cursors: where a page goes on. Opaque, tamper-evident, and good only for the field, the keys and the order they were made for.
//!
//! A cursor is base64url of a 16-byte code followed by the position of one item as JSON. The code is HMAC-SHA256, cut to 128 bits, over
//! the position and everything that the cursor is tied to, which is not in the cursor itself. Of a list that is merged of several ranges
//! the item tells the place in each of them ([`super::cut`]).

use super::error::ErrorCode;
use super::keys::KeyRange;
use super::state::Failure;
use crate::table::attribute::{Attribute, Item};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use std::sync::Arc;

const CODE_LENGTH: usize = 16;
/// The longest cursor that is looked at. The keys of a table and an index have 6,144 bytes at most (DynamoDB developer guide, "Quotas"),
/// each of which JSON may write as six and base64 as a third more.
const MAX_LENGTH: usize = 50 * 1024;

/// A place in a list: that of an item which was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Position {
    /// Which of the ranges it was read from.
    pub range: usize,
    /// Its key attributes, those of the index among them.
    pub key: Item,
}

/// A position as it is written: the key attributes, and the range where it is not the first.
#[derive(Serialize, Deserialize)]
struct Written(Vec<String>, #[serde(default, skip_serializing_if = "is_first")] usize);

fn is_first(range: &usize) -> bool {
    *range == 0
}

/// What makes and reads the cursors of one field's pages.
#[derive(Debug, Clone)]
pub struct Cursors {
    secret: Arc<[u8]>,
    context: String,
    /// The attributes of which a position is made.
    attributes: Vec<String>,
    ranges: usize,
}

impl Cursors {
    /// For a field coordinate, the ranges that it reads and their order.
    pub fn new(secret: Arc<[u8]>, coordinate: &str, ranges: &[KeyRange], attributes: Vec<String>, descending: bool) -> Self {
        // Written out, so that callers' cursors stay good whatever else a range comes to hold.
        let text = |range: &KeyRange| {
            let KeyRange { partition, sort, excluded, prefix, begins_with, .. } = range;
            format!(
                "KeyRange {{ partition: {partition:?}, sort: {sort:?}, excluded: {excluded:?}, prefix: {prefix}, begins_with: {begins_with:?} }}"
            )
        };
        let texts: Vec<String> = ranges.iter().map(text).collect();
        let context = format!("{coordinate}\n{descending}\n[{}]", texts.join(", "));
        Self { secret, context, attributes, ranges: ranges.len() }
    }

    /// The cursor of an item that was read from a range.
    pub fn of_item(&self, range: usize, item: &Item) -> String {
        let typed = |attribute: Option<&Attribute>| match attribute {
            Some(Attribute::S(text)) => format!("S{text}"),
            Some(Attribute::N(text)) => format!("N{text}"),
            Some(Attribute::B(bytes)) => format!("B{}", URL_SAFE_NO_PAD.encode(bytes)),
            _ => String::new(),
        };
        let key = self.attributes.iter().map(|name| typed(item.get(name))).collect();
        let body = serde_json::to_vec(&Written(key, range)).unwrap_or_default();
        let mut bytes = self.code(&body).to_vec();
        bytes.extend_from_slice(&body);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    fn code(&self, body: &[u8]) -> [u8; CODE_LENGTH] {
        let mut code = [0; CODE_LENGTH];
        // HMAC takes keys of any length, so this cannot fail; a failing one would only make cursors that nothing accepts.
        if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.secret) {
            mac.update(self.context.as_bytes());
            mac.update(&[0]);
            mac.update(body);
            code.copy_from_slice(&mac.finalize().into_bytes()[..CODE_LENGTH]);
        }
        code
    }

    /// The position that a cursor names. The failure tells a caller that the cursor is not from here.
    pub fn decode(&self, cursor: &str) -> Result<Position, Arc<Failure>> {
        self.checked(cursor).ok_or_else(|| {
            let message = "This cursor was not made by this field with these arguments.";
            Failure::new(ErrorCode::BadUserInput, message)
        })
    }

    fn checked(&self, cursor: &str) -> Option<Position> {
        if cursor.len() > MAX_LENGTH {
            return None;
        }
        let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
        let (code, body) = bytes.split_at_checked(CODE_LENGTH)?;
        // Compared in constant time: the difference of every byte is looked at.
        let differs = self.code(body).iter().zip(code).fold(0, |all, (ours, theirs)| all | (ours ^ theirs));
        if differs != 0 {
            return None;
        }
        let Written(values, range) = serde_json::from_slice(body).ok()?;
        if range >= self.ranges {
            return None;
        }
        Some(Position { range, key: self.item(values)? })
    }

    fn item(&self, values: Vec<String>) -> Option<Item> {
        let typed = |value: String| {
            let (kind, rest) = value.split_at_checked(1)?;
            Some(match kind {
                "S" => Attribute::S(rest.to_owned()),
                "N" => Attribute::N(rest.to_owned()),
                "B" => Attribute::B(URL_SAFE_NO_PAD.decode(rest).ok()?),
                _ => return None,
            })
        };
        self.attributes.iter().cloned().zip(values).map(|(name, value)| Some((name, typed(value)?))).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn cursors(secret: &[u8], coordinate: &str) -> Cursors {
        let range = KeyRange { partition: None, sort: None, excluded: vec![], prefix: 0, begins_with: None, values: vec![] };
        Cursors::new(secret.into(), coordinate, &[range.clone(), range], vec!["PK".into(), "SK".into()], false)
    }

    fn item(pk: &str, sk: &str) -> Item {
        [("PK".to_owned(), Attribute::S(pk.into())), ("SK".to_owned(), Attribute::N(sk.into()))].into()
    }

    proptest! {
        #[test]
        fn a_cursor_names_the_item_that_it_was_made_of(range in 0usize..2, pk in ".*", sk in "[0-9]{1,38}") {
            let cursors = cursors(b"secret", "User.groups");
            let position = cursors.decode(&cursors.of_item(range, &item(&pk, &sk))).unwrap();
            prop_assert_eq!(position, Position { range, key: item(&pk, &sk) });
        }

        #[test]
        fn a_changed_cursor_is_refused(at in 0usize..40, letter in "[A-Za-z0-9_-]") {
            let cursors = cursors(b"secret", "User.groups");
            let mut changed = cursors.of_item(0, &item("a", "1"));
            let at = at % changed.len();
            let before = changed.clone();
            changed.replace_range(at..=at, &letter);
            prop_assert!(changed == before || cursors.decode(&changed).is_err());
        }

        #[test]
        fn anything_may_come_as_a_cursor(text in ".*") {
            prop_assert!(cursors(b"secret", "User.groups").decode(&text).is_err());
        }
    }

    #[test]
    fn the_longest_keys_have_cursors() {
        let attributes: Vec<String> = ["pk", "sk", "gsiPk", "gsiSk"].map(String::from).into();
        let cursors = Cursors { ranges: 1, attributes: attributes.clone(), secret: [].into(), context: String::new() };
        let key: Item = attributes.into_iter().zip([2048, 1024, 2048, 1024].map(|long| Attribute::S("\u{1}".repeat(long)))).collect();
        assert_eq!(cursors.decode(&cursors.of_item(0, &key)).unwrap().key, key);
    }

    #[test]
    fn a_cursor_is_refused_elsewhere_and_under_another_secret() {
        let cursor = cursors(b"secret", "User.groups").of_item(0, &item("a", "1"));
        assert!(cursors(b"secret", "Group.users").decode(&cursor).is_err());
        assert!(cursors(b"other", "User.groups").decode(&cursor).is_err());
        assert!(cursors(b"secret", "User.groups").decode(&cursor).is_ok());
        assert!(cursors(b"secret", "User.groups").decode(&cursors(b"secret", "User.groups").of_item(2, &item("a", "1"))).is_err());
    }
}
