//! A bound that all clients share, and the part that one client may have, in; shares of it out, which return to it when
//! they are dropped. An amount is a number of bytes, requests or connections: this file does not know which.

use super::client::ClientAddress;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

/// A bound for the whole process.
#[derive(Debug)]
pub struct Quota {
    total: usize,
    part: usize,
    shares: Mutex<Shares>,
    /// Notified when something has returned.
    returned: Notify,
    refusals: AtomicU64,
}

/// What is taken.
#[derive(Debug, Default)]
struct Shares {
    taken: usize,
    by_client: HashMap<ClientAddress, usize>,
}

/// A client's part of a quota, until this is dropped.
#[derive(Debug)]
pub struct Share {
    quota: Arc<Quota>,
    client: ClientAddress,
    amount: usize,
}

/// Why an amount cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaExceeded {
    /// All clients together have too much.
    Total,
    /// This client already has its part.
    Part,
    /// The amount is larger than the whole quota.
    TooLarge,
}

impl Quota {
    /// A quota of this total amount, and the part that one client may have.
    pub fn new(total: usize, part: usize) -> Arc<Self> {
        Arc::new(Self { total, part, shares: Mutex::default(), returned: Notify::new(), refusals: AtomicU64::new(0) })
    }

    /// A quota of which one client may have a quarter, so that no client leaves the others without any.
    pub fn with_quarters(total: usize) -> Arc<Self> {
        Self::new(total, total.div_ceil(4))
    }

    /// The whole.
    pub fn total(&self) -> usize {
        self.total
    }

    /// What is taken of it.
    pub fn taken(&self) -> usize {
        self.shares().taken
    }

    /// How often an amount was refused.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// Takes an amount for a client.
    pub fn take(self: &Arc<Self>, client: ClientAddress, amount: usize) -> Result<Share, QuotaExceeded> {
        let mut share = Share { quota: self.clone(), client, amount: 0 };
        share.resize(amount)?;
        Ok(share)
    }

    /// Takes an amount for a client, as [`Self::take`] does, but without counting a refusal.
    pub fn take_if_free(self: &Arc<Self>, client: ClientAddress, amount: usize) -> Result<Share, QuotaExceeded> {
        self.replace(client, 0, amount)?;
        Ok(Share { quota: self.clone(), client, amount })
    }

    /// Takes an amount for a client, and waits for it for so long while others have too much.
    pub async fn take_within(
        self: &Arc<Self>,
        client: ClientAddress,
        amount: usize,
        patience: Duration,
    ) -> Result<Share, QuotaExceeded> {
        let ends = Instant::now() + patience;
        loop {
            let returned = self.returned.notified();
            match self.take_if_free(client, amount) {
                Err(QuotaExceeded::Total | QuotaExceeded::Part) => {}
                taken => return taken,
            }
            if timeout_at(ends, returned).await.is_err() {
                return self.take(client, amount);
            }
        }
    }

    /// Waits until every share is returned.
    pub async fn all_returned(&self) {
        loop {
            let returned = self.returned.notified();
            if self.shares().taken == 0 {
                return;
            }
            returned.await;
        }
    }

    fn shares(&self) -> MutexGuard<'_, Shares> {
        self.shares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces an amount of a client by another. A client that has nothing else may have more than its part: otherwise
    /// an amount larger than the part could never be taken.
    fn replace(&self, client: ClientAddress, old: usize, new: usize) -> Result<(), QuotaExceeded> {
        let mut shares = self.shares();
        let Shares { taken, by_client } = &mut *shares;
        let entry = by_client.entry(client);
        let others = if let Entry::Occupied(taken) = &entry { taken.get().saturating_sub(old) } else { 0 };
        if new > old {
            if new > self.total {
                return Err(QuotaExceeded::TooLarge);
            }
            if (*taken - old).saturating_add(new) > self.total {
                return Err(QuotaExceeded::Total);
            }
            if others > 0 && others.saturating_add(new) > self.part {
                return Err(QuotaExceeded::Part);
            }
        }
        *taken = *taken - old + new;
        match entry {
            Entry::Occupied(share) if others + new == 0 => drop(share.remove()),
            Entry::Vacant(_) if new == 0 => {}
            entry => drop(entry.insert_entry(others + new)),
        }
        drop(shares);
        if new < old {
            self.returned.notify_waiters();
        }
        Ok(())
    }
}

impl Share {
    /// Makes the share larger or smaller. If it cannot grow, it stays unchanged; it can always shrink.
    pub fn resize(&mut self, amount: usize) -> Result<(), QuotaExceeded> {
        if amount == self.amount {
            return Ok(());
        }
        self.quota.replace(self.client, self.amount, amount).inspect_err(|_| {
            self.quota.refusals.fetch_add(1, Ordering::Relaxed);
        })?;
        self.amount = amount;
        Ok(())
    }

    /// The amount.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Moves the whole amount to a new share, which leaves this one empty.
    pub fn split(&mut self) -> Share {
        Share { quota: self.quota.clone(), client: self.client, amount: std::mem::take(&mut self.amount) }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let _ = self.resize(0);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::FutureExt;

    fn client(last: u8) -> ClientAddress {
        ClientAddress::new([127, 0, 0, last].into())
    }

    #[test]
    fn a_client_has_its_part_at_most_and_others_the_rest() {
        let quota = Quota::new(10, 4);
        let mut mine = quota.take(client(1), 3).unwrap();
        assert_eq!(quota.take(client(1), 2).unwrap_err(), QuotaExceeded::Part);
        assert_eq!(mine.resize(11), Err(QuotaExceeded::TooLarge));
        let yours = (quota.take(client(2), 4).unwrap(), quota.take(client(3), 3).unwrap());
        assert_eq!(quota.take(client(4), 1).unwrap_err(), QuotaExceeded::Total);
        drop(yours);
        assert!(mine.resize(1).is_ok() && quota.take(client(1), 3).is_ok());
    }

    #[test]
    fn what_is_larger_than_a_part_is_taken_by_a_client_that_has_nothing_else() {
        let quota = Quota::new(10, 4);
        let mut large = quota.take(client(1), 2).unwrap();
        large.resize(8).unwrap();
        assert_eq!(quota.take(client(1), 1).unwrap_err(), QuotaExceeded::Part);
    }

    #[test]
    fn what_is_dropped_is_returned_and_forgotten() {
        let quota = Quota::with_quarters(8);
        let shares = [quota.take(client(1), 2).unwrap(), quota.take(client(2), 2).unwrap()];
        assert!(quota.all_returned().now_or_never().is_none());
        drop(shares);
        assert!(quota.all_returned().now_or_never().is_some());
        assert!(quota.shares().by_client.is_empty());
    }
}
