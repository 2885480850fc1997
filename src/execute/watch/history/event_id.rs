//! The id of an event: the position of its change in the stream, as a text that clients give back as `after`.

use crate::table::change_source::{ChangeRecord, StreamPosition};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// The longest id, in bytes. A shard's id has up to 65 characters, a sequence number up to 40.
const MAX_LENGTH: usize = 256;

/// The position that an id names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventPosition {
    /// The second, since 1970: of a change, by the clock of the stream; of a place in a log, by that of its copy of the
    /// gateway.
    pub created: i64,
    /// What comes before it.
    pub place: EventPlace,
}

/// A place between two changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventPlace {
    /// After this change.
    Change(StreamPosition),
    /// After so many changes of the log of one copy. Before a copy has had a change of a shard, it knows no other place
    /// in it.
    Log {
        /// The log.
        log: u32,
        /// The changes.
        count: u64,
    },
}

impl EventPosition {
    /// The position of a change.
    pub fn new(record: &ChangeRecord) -> Self {
        Self { created: record.created, place: EventPlace::Change(record.position.clone()) }
    }

    /// The change that it follows, if one is known.
    pub fn change(&self) -> Option<&StreamPosition> {
        match &self.place {
            EventPlace::Change(position) => Some(position),
            EventPlace::Log { .. } => None,
        }
    }

    /// The id.
    pub fn id(&self) -> String {
        let created = self.created;
        URL_SAFE_NO_PAD.encode(match &self.place {
            EventPlace::Change(StreamPosition { shard, sequence }) => format!("{created} {sequence} {shard}"),
            // A shard has a name.
            EventPlace::Log { log, count } => format!("{created} {count}.{log} "),
        })
    }

    /// The position of an id; `None` if the text is no id.
    pub fn parse(id: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(Some(id).filter(|id| id.len() <= MAX_LENGTH)?).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (created, rest) = text.split_once(' ')?;
        let (sequence, shard) = rest.split_once(' ')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let place = match sequence.split_once('.') {
            Some((count, log)) if shard.is_empty() => {
                EventPlace::Log { log: log.parse().ok()?, count: count.parse().ok()? }
            }
            None if is_number(sequence) && !shard.is_empty() => {
                EventPlace::Change(StreamPosition { shard: shard.into(), sequence: sequence.into() })
            }
            _ => return None,
        };
        Some(Self { created: created.parse().ok()?, place })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_back() {
        let change = EventPlace::Change(StreamPosition { shard: "shardId-1 a.b".into(), sequence: "000123".into() });
        for (created, place) in [(-5, change), (7, EventPlace::Log { log: u32::MAX, count: u64::MAX })] {
            let position = EventPosition { created, place };
            assert_eq!(EventPosition::parse(&position.id()), Some(position));
        }
        let longest = "A".repeat(MAX_LENGTH + 1);
        for wrong in [
            "",
            "?",
            "AAAA",
            &URL_SAFE_NO_PAD.encode("5  "),
            &URL_SAFE_NO_PAD.encode("5 1.2 a"),
            &URL_SAFE_NO_PAD.encode("5 x shard"),
            &URL_SAFE_NO_PAD.encode("5 12 "),
            &longest,
        ] {
            assert_eq!(EventPosition::parse(wrong), None, "{wrong}");
        }
    }
}
