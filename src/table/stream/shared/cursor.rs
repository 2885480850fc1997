//! The place of a copy in a shard, as the text of an iterator.

use crate::table::change_source::ShardStart;
use crate::table::change_source::StreamPosition;
use std::sync::Arc;

/// A sequence number that precedes the first record of every shard.
pub const BEFORE_ALL: &str = "0";
/// The text of a place that no record says yet.
const LATEST: &str = "latest";

/// The place of a copy in a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The last record's sequence number. `None` if reading began after all records, and there was none since.
    pub after: Option<Arc<str>>,
    /// The iterator of the stream itself at this place, if it is known.
    pub iterator: Option<String>,
}

impl Cursor {
    /// The place at which a shard's reading begins; `None` if only an iterator knows it.
    pub fn at(start: &ShardStart) -> Option<Self> {
        let after = match start {
            ShardStart::Latest => return None,
            ShardStart::TrimHorizon => BEFORE_ALL.into(),
            ShardStart::After(position) => position.sequence.clone(),
        };
        Some(Self { after: Some(after), iterator: None })
    }

    /// The beginning of the stream's own iterator at this place.
    pub fn start(&self, shard: &Arc<str>) -> ShardStart {
        match &self.after {
            None => ShardStart::Latest,
            Some(after) if &**after == BEFORE_ALL => ShardStart::TrimHorizon,
            Some(after) => ShardStart::After(StreamPosition { shard: shard.clone(), sequence: after.clone() }),
        }
    }

    /// The cursor as a text.
    pub fn text(&self) -> String {
        format!("{} {}", self.after.as_deref().unwrap_or(LATEST), self.iterator.as_deref().unwrap_or_default())
    }

    /// The cursor of a text.
    pub fn parse(text: &str) -> Self {
        let (after, iterator) = text.split_once(' ').unwrap_or((text, ""));
        let iterator = Some(iterator).filter(|iterator| !iterator.is_empty()).map(str::to_owned);
        Self { after: Some(after).filter(|after| *after != LATEST).map(Arc::from), iterator }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back() {
        for after in [None, Some("0".into()), Some("0017".into())] {
            for iterator in [None, Some("arn:…|1|a b".to_owned())] {
                let cursor = Cursor { after: after.clone(), iterator };
                assert_eq!(Cursor::parse(&cursor.text()), cursor);
            }
        }
    }

    #[test]
    fn a_start_is_that_of_the_stream() {
        let shard: Arc<str> = "s".into();
        let position = StreamPosition { shard: shard.clone(), sequence: "17".into() };
        for start in [ShardStart::TrimHorizon, ShardStart::After(position)] {
            assert_eq!(Cursor::at(&start).map(|cursor| cursor.start(&shard)), Some(start));
        }
        assert_eq!(Cursor::at(&ShardStart::Latest), None);
        assert_eq!(Cursor { after: None, iterator: None }.start(&shard), ShardStart::Latest);
    }
}
