//! Records that a copy has read in, what it reports to the others out, and back. Must not know how it is carried.

use super::cursor::Cursor;
use crate::table::change_source::{ChangeRecord, StreamPosition, compare_sequences};
use crate::table::json::decode::JsonItem;
use crate::table::json::encode::BodyWriter;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::sync::Arc;

/// What one copy reports to the others of a shard: a line of JSON, and the records as JSON of DynamoDB.
#[derive(Debug, Clone)]
pub struct Message {
    /// What it is about.
    pub head: MessageHead,
    /// The whole message.
    bytes: Bytes,
}

/// What a message is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MessageHead {
    /// The shard.
    pub shard: Box<str>,
    /// The number of the lease under which it was read. A later lease has a greater one.
    pub fence: u64,
    /// The sequence number of the record that the message follows; `None` if the sender does not know it.
    pub after: Option<Box<str>>,
    /// The sequence number of its last record, or that of `after` if it has none.
    pub last: Option<Box<str>>,
    /// Whether the shard has no more records.
    pub is_end: bool,
}

#[derive(Deserialize)]
struct Body {
    records: Vec<JsonRecord>,
}

#[derive(Deserialize)]
struct JsonRecord {
    sequence: Box<str>,
    created: Box<str>,
    old: Option<JsonItem>,
    new: Option<JsonItem>,
}

/// What a copy has read of a shard.
pub struct ShardRead<'r> {
    /// The shard.
    pub shard: &'r str,
    /// The number of the lease under which it was read.
    pub fence: u64,
    /// What the records follow.
    pub after: &'r Cursor,
    /// The records.
    pub records: &'r [ChangeRecord],
    /// Whether the shard has no more.
    pub is_end: bool,
}

impl ShardRead<'_> {
    /// Messages of at most about this many bytes. A record with more has a message of its own.
    pub fn messages(&self, bytes: usize) -> Vec<Bytes> {
        let mut messages = Vec::new();
        let (mut rest, mut after) = (self.records, self.after.after.as_deref().map(Box::from));
        loop {
            let mut size = 0;
            let fits = |record: &&ChangeRecord| {
                size += record.bytes();
                size <= bytes
            };
            let count = rest.iter().take_while(fits).count().max(1).min(rest.len());
            let (part, later) = rest.split_at(count);
            let last = part.last().map(|record| Box::from(&*record.position.sequence)).or_else(|| after.clone());
            let is_end = self.is_end && later.is_empty();
            let head = MessageHead { shard: self.shard.into(), fence: self.fence, after, last: last.clone(), is_end };
            messages.push(write(&head, part));
            if later.is_empty() {
                return messages;
            }
            (rest, after) = (later, last);
        }
    }
}

impl Message {
    /// Reads what it is about. `None` if this is no message.
    pub fn parse(bytes: Bytes) -> Option<Self> {
        let line = bytes.iter().position(|byte| *byte == b'\n')?;
        let head = serde_json::from_slice(&bytes[..line]).ok()?;
        Some(Self { head, bytes })
    }

    /// Its size, in bytes.
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// Whether it has no record: its sender has read the shard, and found nothing.
    pub fn is_empty(&self) -> bool {
        self.head.after == self.head.last
    }

    /// Its records, of a table's shard, that come after a sequence number. `None` if they cannot be read.
    pub fn records(&self, (table, shard): (&Arc<str>, &Arc<str>), after: &str) -> Option<Vec<ChangeRecord>> {
        let line = self.bytes.iter().position(|byte| *byte == b'\n')?;
        let body: Body = serde_json::from_slice(&self.bytes[line + 1..]).ok()?;
        let image = |item: Option<JsonItem>| item.map(|JsonItem(item)| Arc::new(item));
        let mut records = Vec::with_capacity(body.records.len());
        for JsonRecord { sequence, created, old, new } in body.records {
            if compare_sequences(&sequence, after) == Ordering::Greater {
                let position = StreamPosition { shard: shard.clone(), sequence: sequence.into() };
                let created = created.parse().ok()?;
                records.push(ChangeRecord {
                    table: table.clone(),
                    position,
                    created,
                    old: image(old),
                    new: image(new),
                });
            }
        }
        Some(records)
    }
}

fn write(head: &MessageHead, records: &[ChangeRecord]) -> Bytes {
    // Texts, numbers and Booleans are always written.
    let mut bytes = serde_json::to_vec(head).unwrap_or_default();
    bytes.push(b'\n');
    let mut body = BodyWriter::begin();
    body.list("records", records, |body, record| {
        body.text("sequence", &record.position.sequence);
        body.text("created", &record.created.to_string());
        for (name, image) in [("old", &record.old), ("new", &record.new)] {
            if let Some(item) = image {
                body.item(name, item);
            }
        }
    });
    bytes.extend_from_slice(&body.end());
    bytes.into()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::table::data::attribute::{Attribute, Item};

    fn record(sequence: u32, text: &str) -> ChangeRecord {
        let item: Item =
            [("id", Attribute::S(text.into())), ("bytes", Attribute::B(vec![0, 255]))].into_iter().collect();
        let position = StreamPosition { shard: "s 1".into(), sequence: format!("{sequence:05}").into() };
        let old = sequence.is_multiple_of(2).then(|| Arc::new(item.clone()));
        ChangeRecord { table: "t".into(), position, created: -5, old, new: Some(Arc::new(item)) }
    }

    fn read(message: &Message, after: &str) -> Vec<ChangeRecord> {
        message.records((&"t".into(), &"s 1".into()), after).unwrap()
    }

    #[test]
    fn records_are_read_back_whatever_the_size_of_a_message() {
        let records: Vec<ChangeRecord> = (1..20).map(|sequence| record(sequence, "line\n\"quote\" ü")).collect();
        let cursor = Cursor { after: Some("00000".into()), iterator: None };
        for bytes in [1, 1_000, 3_000, 1 << 20] {
            let messages =
                ShardRead { shard: "s 1", fence: 7, after: &cursor, records: &records, is_end: true }.messages(bytes);
            let messages: Vec<Message> = messages.into_iter().map(|bytes| Message::parse(bytes).unwrap()).collect();
            let mut after: Box<str> = "00000".into();
            let mut all = Vec::new();
            for (place, message) in messages.iter().enumerate() {
                assert_eq!(message.head.after.as_ref(), Some(&after));
                assert_eq!((message.head.is_end, message.head.fence), (place + 1 == messages.len(), 7));
                all.extend(read(message, &after));
                after = message.head.last.clone().unwrap();
            }
            assert_eq!(all, records);
        }
    }

    #[test]
    fn what_a_reader_has_had_is_left_out() {
        let records: Vec<ChangeRecord> = (1..6).map(|sequence| record(sequence, "a")).collect();
        let cursor = Cursor { after: None, iterator: None };
        let messages =
            ShardRead { shard: "s 1", fence: 7, after: &cursor, records: &records, is_end: false }.messages(1 << 20);
        let message = Message::parse(messages[0].clone()).unwrap();
        assert_eq!(read(&message, "00003"), records[3..]);
        assert!(!message.is_empty() && message.head.after.is_none());
    }

    #[test]
    fn a_message_may_have_no_record() {
        let cursor = Cursor { after: Some("3".into()), iterator: None };
        let messages = ShardRead { shard: "s", fence: 1, after: &cursor, records: &[], is_end: true }.messages(1);
        let message = Message::parse(messages[0].clone()).unwrap();
        assert!(message.is_empty() && message.head.is_end && messages.len() == 1);
        assert!(read(&message, "3").is_empty());
    }

    #[test]
    fn what_is_no_message_is_none() {
        for bytes in [&b""[..], b"\n", b"{}\n{}", b"{\"shard\":\"a\"}"] {
            assert!(Message::parse(Bytes::copy_from_slice(bytes)).is_none());
        }
        let cut =
            b"{\"shard\":\"a\",\"fence\":1,\"after\":null,\"last\":null,\"is_end\":false}\n{\"records\":[{\"sequence";
        assert!(Message::parse(Bytes::from_static(cut)).unwrap().records((&"t".into(), &"a".into()), "0").is_none());
    }
}
