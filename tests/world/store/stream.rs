//! Changes of items in; the records of a table's stream out, in shards (developer guide, "Change data capture for
//! DynamoDB Streams"; Streams API reference).

use crate::store::data::attribute::{Attribute, Item, item_json};
use crate::store::data::definition::KeySchema;
use crate::store::data::key::Key;
use crate::store::data::size::item_bytes;
use crate::store::data::table::Writer;
use serde_json::{Value, json};

/// How long a record is kept.
pub const KEPT: u64 = 24 * 3600 * 1000;

/// The stream of a table. Each record is in the open shard to which the hash of its partition key belongs.
#[derive(Debug, Clone)]
pub struct Stream {
    pub arn: String,
    pub label: String,
    pub shards: Vec<Shard>,
    next: u64,
}

/// A part of a stream.
#[derive(Debug, Clone)]
pub struct Shard {
    pub id: String,
    pub parent: Option<String>,
    /// The hashes of partition keys that belong to it: the first and the last.
    hashes: (u64, u64),
    /// The first sequence number that it may have.
    pub first: u64,
    /// The last one, and when it was closed.
    pub closed: Option<(u64, u64)>,
    /// The last sequence number of a record that is gone, or 0.
    pub trimmed: u64,
    pub records: Vec<Record>,
}

/// A change.
#[derive(Debug, Clone)]
pub struct Record {
    pub sequence: u64,
    /// When it was made, in milliseconds since the epoch.
    pub made: u64,
    keys: Item,
    pub old: Option<Item>,
    pub new: Option<Item>,
    pub writer: Writer,
}

impl Stream {
    pub fn new(table: &str, now: u64) -> Self {
        let label = format!("{now}");
        let arn = format!("arn:aws:dynamodb:local:000000000000:table/{table}/stream/{label}");
        let mut stream = Self { arn, label, shards: Vec::new(), next: 1 };
        stream.open(None, (0, u64::MAX));
        stream
    }

    fn open(&mut self, parent: Option<String>, hashes: (u64, u64)) {
        let id = format!("shardId-{:020}-{:08x}", self.next, self.shards.len());
        let first = self.next;
        self.next += 1;
        self.shards.push(Shard { id, parent, hashes, first, closed: None, trimmed: 0, records: Vec::new() });
    }

    pub fn append(
        &mut self,
        (key, schema): (&Key, &KeySchema),
        (old, new): (Option<&Item>, Option<&Item>),
        now: u64,
        writer: Writer,
    ) {
        let hash = hash(&key.partition);
        let (sequence, keys) = (self.next, key.item(schema));
        self.next += 1;
        let (old, new) = (old.cloned(), new.cloned());
        // The open shards have all hashes together, and none twice.
        let mut open = self.shards.iter_mut().filter(|shard| shard.closed.is_none());
        if let Some(shard) = open.find(|shard| shard.hashes.0 <= hash && hash <= shard.hashes.1) {
            shard.records.push(Record { sequence, made: now, keys, old, new, writer });
        }
    }

    /// Closes the open shard with the most hashes. Two new shards share what belonged to it.
    pub fn split(&mut self, now: u64) {
        let Some((id, (low, high))) = self.close_widest(now) else { return };
        let middle = low + (high - low) / 2;
        self.open(Some(id.clone()), (low, middle));
        if middle < high {
            self.open(Some(id), (middle + 1, high));
        }
    }

    /// Closes the open shard with the most hashes, and opens another for them, as DynamoDB does every few hours.
    pub fn roll(&mut self, now: u64) {
        if let Some((id, hashes)) = self.close_widest(now) {
            self.open(Some(id), hashes);
        }
    }

    fn close_widest(&mut self, now: u64) -> Option<(String, (u64, u64))> {
        let last = self.next;
        self.next += 1;
        let mut widest: Option<&mut Shard> = None;
        for shard in self.shards.iter_mut().filter(|shard| shard.closed.is_none()) {
            if widest.as_ref().is_none_or(|widest| shard.width() > widest.width()) {
                widest = Some(shard);
            }
        }
        let shard = widest?;
        shard.closed = Some((last, now));
        Some((shard.id.clone(), shard.hashes))
    }

    /// Drops the records that are older than a day, and the shards that were closed before. A parent that is gone stays
    /// the name of a parent.
    pub fn trim(&mut self, now: u64) {
        let horizon = now.saturating_sub(KEPT);
        for shard in &mut self.shards {
            let gone = shard.records.iter().rfind(|record| record.made < horizon);
            shard.trimmed = gone.map_or(shard.trimmed, |record| record.sequence);
            shard.records.retain(|record| record.made >= horizon);
        }
        self.shards.retain(|shard| shard.closed.is_none_or(|(_, closed)| closed >= horizon));
    }

    /// The number after that of the last record.
    pub fn next(&self) -> u64 {
        self.next
    }
}

impl Shard {
    fn width(&self) -> u64 {
        self.hashes.1 - self.hashes.0
    }
}

impl Record {
    /// The record as an answer has it. The time is in whole seconds.
    pub fn json(&self, created: u64) -> Value {
        let name = match (&self.old, &self.new) {
            (None, _) => "INSERT",
            (_, None) => "REMOVE",
            _ => "MODIFY",
        };
        let bytes = item_bytes(&self.keys) + self.old.iter().chain(&self.new).map(item_bytes).sum::<usize>();
        let mut change = json!({
            "ApproximateCreationDateTime": created / 1000,
            "Keys": item_json(&self.keys),
            "SequenceNumber": sequence_text(self.sequence),
            "SizeBytes": bytes,
            "StreamViewType": "NEW_AND_OLD_IMAGES",
        });
        for (member, image) in [("OldImage", &self.old), ("NewImage", &self.new)] {
            if let Some(image) = image {
                change[member] = item_json(image);
            }
        }
        let mut record = json!({
            "eventID": format!("{:032x}", self.sequence),
            "eventName": name,
            "eventVersion": "1.1",
            "eventSource": "aws:dynamodb",
            "awsRegion": "local",
            "dynamodb": change,
        });
        if self.writer == Writer::TimeToLive {
            record["userIdentity"] = json!({ "Type": "Service", "PrincipalId": "dynamodb.amazonaws.com" });
        }
        record
    }
}

/// A sequence number with the length that DynamoDB gives them: 21 to 40 digits.
pub fn sequence_text(sequence: u64) -> String {
    format!("1{sequence:020}")
}

pub fn parse_sequence(text: &str) -> Option<u64> {
    text.strip_prefix('1').filter(|digits| digits.len() == 20)?.parse().ok()
}

/// FNV-1a of a partition key, mixed, since it decides by its first bits.
fn hash(partition: &Attribute) -> u64 {
    let text = partition.json().to_string();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}
