//! Messages about one shard in, in the order in which they came; the message that follows a cursor out. The mailbox is
//! bounded in bytes. If it drops a message, the reader of the shard sees that records are missing.

use super::message::Message;
use crate::table::change_source::compare_sequences;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// The most bytes of the messages that wait for one shard's reader.
const WAITING_BYTES: usize = 4 << 20;

/// Messages about a shard that wait for the shard's reader.
#[derive(Debug, Default)]
pub struct Mailbox {
    waiting: VecDeque<Message>,
    bytes: usize,
    /// The greatest number of a lease that was heard.
    fence: u64,
    /// Whether who reads the shard has had no record of it.
    knows_nothing: bool,
}

/// What waits for a reader.
#[derive(Debug)]
pub enum Heard {
    /// A message with records that follow those it has had.
    Next(Message),
    /// Records are missing, or it cannot be known: the stream itself has to be read.
    Gap,
    /// The shard has ended.
    End,
    /// Nothing.
    Nothing,
}

impl Mailbox {
    /// Keeps a message. One of an earlier lease is dropped: its sender is no longer the reader.
    pub fn put(&mut self, message: Message) {
        if message.head.fence < self.fence {
            return;
        }
        self.fence = message.head.fence;
        self.knows_nothing = message.head.last.is_none();
        if self.bytes + message.size() > WAITING_BYTES {
            self.waiting.clear();
            self.bytes = 0;
        }
        self.bytes += message.size();
        self.waiting.push_back(message);
    }

    /// Whether who reads the shard cannot say that a record is missing: it began after the records that there were, and
    /// there was none since.
    pub fn knows_nothing(&self) -> bool {
        self.knows_nothing
    }

    /// What follows the record with this sequence number; `None` if the reader has had none. Messages that say nothing
    /// new leave.
    pub fn take(&mut self, after: Option<&str>) -> Heard {
        let Some(after) = after else { return self.take_all() };
        while let Some(front) = self.waiting.front() {
            match place(front, after) {
                Place::Before => self.drop_front(),
                Place::End => return Heard::End,
                Place::Gap => return Heard::Gap,
                Place::Next => {
                    let message = front.clone();
                    // The message stays, so that the next call reports the end.
                    if !message.head.is_end {
                        self.drop_front();
                    }
                    return Heard::Next(message);
                }
            }
        }
        Heard::Nothing
    }

    /// What a reader learns who has had no record: only that there are some. They may be from before it began.
    fn take_all(&mut self) -> Heard {
        self.bytes = 0;
        let says_something = |message: Message| !message.is_empty() || message.head.is_end;
        if self.waiting.drain(..).any(says_something) { Heard::Gap } else { Heard::Nothing }
    }

    fn drop_front(&mut self) {
        if let Some(front) = self.waiting.pop_front() {
            self.bytes -= front.size();
        }
    }
}

enum Place {
    Before,
    Next,
    Gap,
    End,
}

/// Where a message is, as seen from a reader that has had the records up to one.
fn place(message: &Message, had: &str) -> Place {
    let head = &message.head;
    let is_had = |sequence: &Option<Box<str>>| {
        sequence.as_ref().is_some_and(|sequence| compare_sequences(sequence, had) != Ordering::Greater)
    };
    match (is_had(&head.after), is_had(&head.last)) {
        (_, true) if head.is_end => Place::End,
        (_, true) => Place::Before,
        (true, false) => Place::Next,
        // A sender that has had no record yet says nothing.
        (false, false) if head.last.is_none() && !head.is_end => Place::Before,
        (false, false) => Place::Gap,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::message::MessageHead;
    use super::*;
    use bytes::Bytes;

    /// A message with padding behind it.
    fn message(fence: u64, (after, last): (Option<&str>, Option<&str>), is_end: bool, padding: usize) -> Message {
        let head =
            MessageHead { shard: "s".into(), fence, after: after.map(Into::into), last: last.map(Into::into), is_end };
        let mut bytes = serde_json::to_vec(&head).unwrap();
        bytes.push(b'\n');
        bytes.resize(bytes.len() + padding, b' ');
        Message::parse(Bytes::from(bytes)).unwrap()
    }

    fn heard(mailbox: &mut Mailbox, after: Option<&str>) -> String {
        match mailbox.take(after) {
            Heard::Next(message) => message.head.last.unwrap().to_string(),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn what_follows_is_next_and_what_was_had_leaves() {
        let mut mailbox = Mailbox::default();
        for span in [("0", "2"), ("2", "2"), ("2", "5"), ("5", "9")] {
            mailbox.put(message(1, (Some(span.0), Some(span.1)), false, 0));
        }
        assert_eq!(heard(&mut mailbox, Some("2")), "5");
        assert_eq!(heard(&mut mailbox, Some("7")), "9");
        assert_eq!(heard(&mut mailbox, Some("9")), "Nothing");
    }

    #[test]
    fn what_is_missing_is_a_gap_until_it_was_read() {
        let mut mailbox = Mailbox::default();
        mailbox.put(message(1, (Some("5"), Some("9")), false, 0));
        assert_eq!(heard(&mut mailbox, Some("3")), "Gap");
        assert_eq!(heard(&mut mailbox, Some("4")), "Gap");
        assert_eq!(heard(&mut mailbox, Some("6")), "9");
        // An empty message reports a gap, too.
        mailbox.put(message(1, (Some("12"), Some("12")), false, 0));
        assert_eq!(heard(&mut mailbox, Some("9")), "Gap");
    }

    #[test]
    fn who_has_had_no_record_reads_the_stream_when_there_is_one() {
        let mut mailbox = Mailbox::default();
        mailbox.put(message(1, (None, None), false, 0));
        mailbox.put(message(1, (Some("5"), Some("5")), false, 0));
        assert_eq!(heard(&mut mailbox, None), "Nothing");
        mailbox.put(message(1, (Some("5"), Some("6")), false, 0));
        assert_eq!(heard(&mut mailbox, None), "Gap");
        // It learns so once.
        assert_eq!(heard(&mut mailbox, None), "Nothing");
    }

    #[test]
    fn a_sender_without_a_record_tells_nothing_but_its_first_record_is_a_gap() {
        let mut mailbox = Mailbox::default();
        mailbox.put(message(1, (None, None), false, 0));
        assert_eq!(heard(&mut mailbox, Some("3")), "Nothing");
        assert!(mailbox.knows_nothing());
        mailbox.put(message(1, (None, Some("5")), false, 0));
        assert!(!mailbox.knows_nothing());
        assert_eq!(heard(&mut mailbox, Some("3")), "Gap");
        assert_eq!(heard(&mut mailbox, Some("5")), "Nothing");
    }

    #[test]
    fn an_end_is_reported_after_the_records() {
        let mut mailbox = Mailbox::default();
        mailbox.put(message(1, (Some("0"), Some("2")), true, 0));
        assert_eq!(heard(&mut mailbox, Some("0")), "2");
        assert_eq!(heard(&mut mailbox, Some("2")), "End");
        // The end of a sender that has had no record: there may have been some before it began.
        let mut mailbox = Mailbox::default();
        mailbox.put(message(1, (None, None), true, 0));
        assert_eq!(heard(&mut mailbox, Some("2")), "Gap");
        assert_eq!(heard(&mut mailbox, None), "Gap");
    }

    #[test]
    fn who_is_no_longer_the_reader_is_not_heard() {
        let mut mailbox = Mailbox::default();
        mailbox.put(message(2, (Some("0"), Some("2")), false, 0));
        mailbox.put(message(1, (Some("2"), Some("5")), false, 0));
        assert_eq!(heard(&mut mailbox, Some("0")), "2");
        assert_eq!(heard(&mut mailbox, Some("2")), "Nothing");
    }

    #[test]
    fn too_much_is_dropped_and_missed() {
        let mut mailbox = Mailbox::default();
        for after in 0..5 {
            let (after, last) = (after.to_string(), (after + 1).to_string());
            mailbox.put(message(1, (Some(&after), Some(&last)), false, 1 << 20));
            assert!(mailbox.bytes <= WAITING_BYTES);
        }
        assert_eq!(heard(&mut mailbox, Some("0")), "Gap");
    }
}
