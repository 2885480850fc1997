//! One bound for what the running operations of a process have read: the memory that each takes in; whether it may
//! read on, or must wait until others have been answered, out. Must not know calls.
//!
//! A client may have a quarter of the room. One operation that reads may always go on, so that some operation ends. An
//! operation that has read little never waits, nor does one that runs for no client.
//!
//! What is read counts by its memory, about.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// An operation that takes no more than this does not count, in bytes: a few usual pages.
const SMALL: u64 = 256 << 10;

/// The room that all operations share.
#[derive(Debug)]
pub struct ReadRoom {
    most: u64,
    held: Mutex<RoomState>,
    returned: Notify,
}

/// What operations hold.
#[derive(Debug, Default)]
struct RoomState {
    total: u64,
    /// What operations held once, and no longer hold, since the room was made.
    freed: u64,
    next: u64,
    clients: HashMap<IpAddr, u64>,
    /// In the order in which they began to count.
    readers: BTreeMap<u64, Reader>,
}

/// An operation that counts.
#[derive(Debug)]
struct Reader {
    client: Option<IpAddr>,
    bytes: u64,
    /// Whether it may still read. Otherwise its response waits until it is sent.
    reads: bool,
}

/// What one operation holds of the room. It returns when this is dropped.
#[derive(Debug)]
pub struct ReadShare {
    room: Arc<ReadRoom>,
    client: Option<IpAddr>,
    /// Its number in the room, from 1; 0 while it does not count.
    number: AtomicU64,
}

impl ReadRoom {
    /// A room of this many bytes.
    pub fn new(most: u64) -> Arc<Self> {
        Arc::new(Self { most, held: Mutex::default(), returned: Notify::new() })
    }

    /// The bytes that operations hold, and those of the room.
    pub fn load(&self) -> (u64, u64) {
        (self.held().total, self.most)
    }

    /// The bytes that operations have held and freed since the room was made.
    pub fn freed(&self) -> u64 {
        self.held().freed
    }

    /// The share of an operation that has read nothing, and its client.
    pub fn share(self: &Arc<Self>, client: Option<IpAddr>) -> ReadShare {
        ReadShare { room: self.clone(), client, number: AtomicU64::new(0) }
    }

    fn held(&self) -> MutexGuard<'_, RoomState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn may_read(&self, number: u64) -> bool {
        let (held, part) = (self.held(), self.most.div_ceil(4));
        let Some(own) = held.readers.get(&number) else { return true };
        own.client.is_none()
            || held.fits((number, own), part)
                && (held.total <= self.most
                    || held.first(|other| other.1.reads && held.fits(other, part)) == Some(number))
    }
}

impl RoomState {
    /// Whether the client of a reader has no more than its part, or has begun with this one.
    fn fits(&self, (number, reader): (u64, &Reader), part: u64) -> bool {
        let Some(client) = reader.client else { return true };
        let taken = self.clients.get(&client).copied().unwrap_or_default();
        taken <= part || self.first(|(_, other)| other.client == reader.client) == Some(number)
    }

    /// The first reader for which this holds.
    fn first(&self, holds: impl Fn((u64, &Reader)) -> bool) -> Option<u64> {
        self.readers
            .iter()
            .map(|(number, reader)| (*number, reader))
            .find(|other| holds(*other))
            .map(|(number, _)| number)
    }

    /// Replaces what a reader holds.
    fn resize(&mut self, number: u64, bytes: u64) {
        let Some(reader) = self.readers.get_mut(&number) else { return };
        let old = std::mem::replace(&mut reader.bytes, bytes);
        self.total = self.total - old + bytes;
        self.freed += old.saturating_sub(bytes);
        let Some(client) = reader.client else { return };
        let taken = self.clients.entry(client).or_default();
        *taken = *taken - old + bytes;
        if *taken == 0 {
            self.clients.remove(&client);
        }
    }
}

impl ReadShare {
    /// The operation takes this many bytes of memory by now.
    pub(super) fn has_read(&self, bytes: u64) {
        if bytes <= SMALL {
            return;
        }
        let mut held = self.room.held();
        let mut number = self.number.load(Ordering::Relaxed);
        if number == 0 {
            held.next += 1;
            number = held.next;
            held.readers.insert(number, Reader { client: self.client, bytes: 0, reads: true });
            self.number.store(number, Ordering::Relaxed);
        }
        // Calls that ran side by side may come here in another order.
        if held.readers.get(&number).is_some_and(|reader| reader.bytes < bytes) {
            held.resize(number, bytes);
        }
    }

    /// Whether the operation may read on now.
    #[inline]
    pub(super) fn may_read(&self) -> bool {
        match self.number.load(Ordering::Relaxed) {
            0 => true,
            number => self.room.may_read(number),
        }
    }

    /// Waits until the operation may read on, or until the deadline.
    pub(super) async fn turn(&self, deadline: Instant) {
        loop {
            let returned = self.room.returned.notified();
            if self.may_read() || timeout_at(deadline, returned).await.is_err() {
                return;
            }
        }
    }

    /// The operation has read everything. It holds its response now, of this many bytes.
    pub(super) fn answered(&self, bytes: u64) {
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            let mut held = self.room.held();
            held.resize(number, bytes);
            held.readers.entry(number).and_modify(|reader| reader.reads = false);
            drop(held);
            self.room.returned.notify_waiters();
        }
    }
}

impl Drop for ReadShare {
    fn drop(&mut self) {
        let number = *self.number.get_mut();
        if number != 0 {
            let mut held = self.room.held();
            held.resize(number, 0);
            held.readers.remove(&number);
            drop(held);
            self.room.returned.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const MIB: u64 = 1 << 20;

    fn client(last: u8) -> Option<IpAddr> {
        Some([127, 0, 0, last].into())
    }

    /// Shares of these clients that have read this much each.
    fn shares(room: &Arc<ReadRoom>, of: &[(u8, u64)]) -> Vec<ReadShare> {
        let share = |(last, bytes): &(u8, u64)| {
            let share = room.share(client(*last));
            share.has_read(*bytes);
            share
        };
        of.iter().map(share).collect()
    }

    fn may_read(shares: &[ReadShare]) -> Vec<bool> {
        shares.iter().map(ReadShare::may_read).collect()
    }

    #[test]
    fn a_client_has_a_quarter_and_all_together_the_room() {
        let room = ReadRoom::new(8 * MIB);
        let mut all = shares(&room, &[(1, MIB), (1, MIB)]);
        assert_eq!(may_read(&all), [true, true]);
        all.extend(shares(&room, &[(1, MIB), (2, MIB), (1, SMALL)]));
        assert_eq!(
            may_read(&all),
            [true, false, false, true, true],
            "the first of a client goes on, and what is small"
        );
        all.extend(shares(&room, &[(3, 4 * MIB), (4, 2 * MIB)]));
        assert_eq!(may_read(&all), [true, false, false, false, true, false, false], "the first of all goes on");
        all.remove(0);
        assert_eq!(may_read(&all), [true, false, false, true, false, false], "and then the next");
        assert_eq!(room.load(), (9 * MIB, 8 * MIB), "what is small does not count");
        all[4].answered(MIB);
        assert_eq!(may_read(&all), [true; 6]);
        drop(all);
        assert!(room.load().0 == 0 && room.held().clients.is_empty() && room.held().readers.is_empty());
    }

    #[test]
    fn a_response_that_waits_stops_its_client_and_no_other() {
        let room = ReadRoom::new(4 * MIB);
        let all = shares(&room, &[(1, 8 * MIB), (1, MIB), (2, MIB), (2, MIB)]);
        all[0].answered(3 * MIB);
        assert_eq!(may_read(&all[1..]), [false, true, false], "the first that reads goes on");
        all[0].answered(0);
        assert_eq!(may_read(&all[1..]), [true, true, false], "2 MiB of one client are more than its part");
    }

    #[tokio::test]
    async fn who_waits_goes_on_when_another_has_ended_and_at_the_deadline() {
        let room = ReadRoom::new(MIB);
        let mut all = shares(&room, &[(1, MIB), (1, MIB)]);
        let second = all.pop().unwrap_or_else(|| unreachable!());
        let far = Instant::now() + std::time::Duration::from_secs(3600);
        let mut turn = Box::pin(second.turn(far));
        assert!(turn.as_mut().now_or_never().is_none());
        drop(all);
        turn.await;
        let _first = shares(&room, &[(2, MIB)]);
        let third = room.share(client(2));
        third.has_read(MIB);
        third.turn(Instant::now()).await;
        assert!(!third.may_read());
    }

    #[test]
    fn what_runs_for_no_client_never_waits() {
        let room = ReadRoom::new(MIB);
        let _other = shares(&room, &[(1, 9 * MIB)]);
        let share = room.share(None);
        share.has_read(9 * MIB);
        assert!(share.may_read());
    }
}
