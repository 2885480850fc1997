//! The id of an event: the position of its change in the stream, as a text that clients give back as `after`.

use crate::table::stream::record::{ChangeRecord, StreamPosition};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// The longest id, in bytes. A shard's id has up to 65 characters, a sequence number up to 40.
const LONGEST: usize = 256;

/// The position that an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPosition {
    /// The second of the change, since 1970.
    pub created: i64,
    /// The change. `None` if none had been seen yet.
    pub position: Option<StreamPosition>,
}

impl EventPosition {
    /// The position of a change.
    pub fn of(record: &ChangeRecord) -> Self {
        Self { created: record.created, position: Some(record.position.clone()) }
    }

    /// The id.
    pub fn id(&self) -> String {
        let (shard, sequence) = self.position.as_ref().map_or(("", ""), |position| (&*position.shard, &*position.sequence));
        URL_SAFE_NO_PAD.encode(format!("{} {sequence} {shard}", self.created))
    }

    /// The position of an id; `None` if the text is no id.
    pub fn parse(id: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(Some(id).filter(|id| id.len() <= LONGEST)?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (created, rest) = text.split_once(' ')?;
        let (sequence, shard) = rest.split_once(' ')?;
        let is_number = !sequence.is_empty() && sequence.bytes().all(|byte| byte.is_ascii_digit());
        let position = match (is_number, shard.is_empty()) {
            (true, false) => Some(StreamPosition { shard: shard.into(), sequence: sequence.into() }),
            (false, true) if sequence.is_empty() => None,
            _ => return None,
        };
        Some(Self { created: created.parse().ok()?, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back() {
        let position = Some(StreamPosition { shard: "shardId-1 a".into(), sequence: "000123".into() });
        for position in [EventPosition { created: -5, position }, EventPosition { created: 7, position: None }] {
            assert_eq!(EventPosition::parse(&position.id()), Some(position));
        }
        let longest = "A".repeat(LONGEST + 1);
        for wrong in ["", "?", "AAAA", &URL_SAFE_NO_PAD.encode("5 x shard"), &URL_SAFE_NO_PAD.encode("5 12 "), &longest] {
            assert_eq!(EventPosition::parse(wrong), None, "{wrong}");
        }
    }
}
