//! A cursor in: it is refused, or it names a position that has this cursor. Every position of valid keys has a cursor
//! that names it.

use crate::run::run;
use keyfold::execute::key::range::KeyRange;
use keyfold::execute::page::cursor::{CursorKey, Cursors};
use keyfold::execute::page::list_identity::List;
use keyfold::table::data::attribute::{Attribute, Item};
use std::sync::LazyLock;

/// The attributes of a position.
const ATTRIBUTES: [&str; 4] = ["PK", "SK", "GSI1PK", "GSI1SK"];
/// The longest key of DynamoDB, in bytes.
const MAX_KEY_BYTES: usize = 2048;

static CURSORS: LazyLock<Cursors> = LazyLock::new(|| {
    let range = KeyRange {
        partition: None,
        equal: vec![],
        sort: None,
        excluded: vec![],
        prefix: 0,
        begins_with: None,
        values: vec![],
    };
    let list = List {
        coordinate: "User.groups",
        table: "t",
        index: Some("GSI1"),
        ranges: &[range.clone(), range],
        descending: false,
    };
    Cursors::new(CursorKey::from_secret(b"a secret for fuzzing"), &list, ATTRIBUTES.map(str::to_owned).into())
});

/// Keys made from the input: its parts between commas, as texts, numbers or bytes.
fn keys(input: &[u8]) -> Item {
    let mut parts = input.split(|byte| *byte == b',');
    let value = |part: &[u8]| {
        let part = &part[..part.len().min(MAX_KEY_BYTES / 4)];
        match part.first() {
            Some(b'0'..=b'9') => Attribute::N(
                part.iter()
                    .filter(|byte| byte.is_ascii_digit())
                    .map(|byte| char::from(*byte))
                    .collect::<String>()
                    .into(),
            ),
            Some(128..) => Attribute::B(part.to_vec()),
            _ => Attribute::S(String::from_utf8_lossy(part).into_owned().into()),
        }
    };
    ATTRIBUTES.iter().map(|name| ((*name).to_owned(), value(parts.next().unwrap_or_default()))).collect()
}

fn target(input: &[u8]) -> String {
    let text = String::from_utf8_lossy(input);
    let outcome = match CURSORS.decode(&text) {
        Ok(position) => {
            assert_eq!(CURSORS.item_cursor(position.range, &position.key), text, "a position has one cursor");
            "a cursor".to_owned()
        }
        Err(refusal) => {
            assert!(refusal.message.len() < 200, "{}", refusal.message);
            "refused".to_owned()
        }
    };
    let item = keys(input);
    for range in 0..2 {
        let cursor = CURSORS.item_cursor(range, &item);
        let position = CURSORS.decode(&cursor).unwrap_or_else(|_| panic!("{cursor} of {item:?}"));
        assert_eq!((position.range, &position.key), (range, &item));
        let at = input.len() % cursor.len();
        let other = if cursor.as_bytes()[at] == b'A' { "B" } else { "A" };
        let mut changed = cursor;
        changed.replace_range(at..=at, other);
        assert!(CURSORS.decode(&changed).is_err(), "{changed}");
    }
    let kinds = ATTRIBUTES.map(|name| match &item[name] {
        Attribute::S(text) => format!("S{}", text.len().min(1)),
        Attribute::N(_) => "N".to_owned(),
        _ => "B".to_owned(),
    });
    format!("{outcome} {}", kinds.join(""))
}

#[test]
fn any_cursor_is_refused_or_names_its_position() {
    let of = |text: &str| CURSORS.item_cursor(1, &keys(text.as_bytes())).into_bytes();
    run("cursor", target, vec![of("a,1,b,2"), of("Group#g,User#u,,"), of("")]);
}
