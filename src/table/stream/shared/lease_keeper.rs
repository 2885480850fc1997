//! The shards that a copy follows in; which of them it reads out. It takes leases, renews them, and gives them back.

use super::bus::Bus;
use super::lease::{LAPSE, Lease, LeaseTable, RENEW, SeenLease, ShardName, to_take};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

/// How long the calls of one round may take.
const ROUND_LIMIT: Duration = Duration::from_secs(2);
/// How long a copy follows a shard of which nobody asks. A reader asks every second, and after 5 seconds if the stream
/// refuses.
const FORGET: Duration = Duration::from_secs(10);
/// How long the table of leases may not answer before every copy reads for itself.
const BLIND: Duration = Duration::from_secs(6);

/// Keeps the leases of one copy.
pub struct LeaseKeeper {
    table: Arc<dyn LeaseTable>,
    me: Arc<str>,
    shards: Mutex<HashMap<ShardName, FollowedShard>>,
    /// When the table of leases last answered.
    answered: Mutex<Instant>,
    /// A shard is followed that was not before.
    begun: Notify,
    /// Notified when this copy begins or ceases to read a shard.
    changed: Arc<Notify>,
}

/// A shard that is followed.
struct FollowedShard {
    asked: Instant,
    /// When its reader was last heard on the bus, or became its reader.
    heard: Instant,
    seen: Option<(Lease, Instant)>,
    /// When this copy's own lease was last known to hold.
    held: Option<Instant>,
}

impl LeaseKeeper {
    /// A keeper that follows no shard yet. It notifies `changed` when this copy begins or ceases to read a shard.
    pub fn new(table: Arc<dyn LeaseTable>, me: Arc<str>, changed: Arc<Notify>) -> Self {
        Self {
            table,
            me,
            shards: Mutex::default(),
            answered: Mutex::new(Instant::now()),
            begun: Notify::new(),
            changed,
        }
    }

    /// Follows a shard. If this copy reads it, gives the lease's number.
    pub fn fence(&self, shard: &ShardName) -> Option<u64> {
        let (mut shards, now) = (self.shards(), Instant::now());
        if let Some(followed) = shards.get_mut(shard) {
            followed.asked = now;
            let holds = followed.held.is_some_and(|held| now < held + LAPSE);
            return followed.seen.as_ref().filter(|_| holds).map(|(lease, _)| lease.fence);
        }
        shards.insert(shard.clone(), FollowedShard { asked: now, heard: now, seen: None, held: None });
        self.begun.notify_one();
        None
    }

    /// Whether it is known who reads: the table of leases answers.
    pub fn knows(&self) -> bool {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner).elapsed() < BLIND
    }

    /// The reader of a shard was heard, under a lease with this number.
    pub fn heard(&self, shard: &ShardName, fence: u64) {
        if let Some(followed) = self.shards().get_mut(shard) {
            followed.heard = Instant::now();
            // Another copy has a later lease.
            if followed.held.is_some() && followed.seen.as_ref().is_some_and(|(lease, _)| lease.fence < fence) {
                followed.held = None;
            }
        }
    }

    /// Forgets a shard that has ended.
    pub fn end(&self, shard: &ShardName) {
        self.shards().remove(shard);
    }

    /// Takes and renews leases for ever.
    pub async fn run(&self, bus: &dyn Bus) {
        loop {
            // A copy that cannot publish what it reads leaves the reading to them.
            let round = async {
                match bus.is_up() {
                    true => self.round().await,
                    false => self.give_back().await,
                }
            };
            if timeout(ROUND_LIMIT, round).await.is_err() {
                tracing::warn!("the table of leases does not answer");
            }
            let _ = timeout(RENEW, self.begun.notified()).await;
        }
    }

    /// Gives all leases back.
    pub async fn give_back(&self) {
        let held: Vec<(ShardName, Lease)> = {
            let mut shards = self.shards();
            let held =
                shards.iter_mut().filter_map(|(shard, followed)| followed.held.take().map(|_| (shard, followed)));
            held.filter_map(|(shard, followed)| Some((shard.clone(), followed.seen.as_ref()?.0.clone()))).collect()
        };
        let given =
            held.iter().map(|(shard, lease)| self.replace(shard, Some(lease), Lease { owner: None, ..lease.clone() }));
        given.collect::<FuturesUnordered<_>>().collect::<Vec<bool>>().await;
    }

    /// Looks at all leases, renews its own, and takes those that it should have.
    async fn round(&self) {
        let (names, began) = (self.names(), Instant::now());
        let leases = match names.is_empty() {
            true => Ok(Vec::new()),
            false => self.table.read(&names).await,
        };
        let leases = match leases {
            Ok(leases) => leases,
            Err(error) => {
                tracing::warn!(%error, "the leases of shards cannot be read");
                return;
            }
        };
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = began;
        let seen = self.note(names, leases, began);
        let is_own = |seen: &&SeenLease| seen.lease.as_ref().is_some_and(|lease| lease.is_of(&self.me));
        let renewed = seen.iter().filter(is_own).map(|seen| self.take(seen, false));
        let taken = to_take(&self.me, &seen).into_iter().map(|seen| self.take(seen, true));
        renewed.collect::<FuturesUnordered<_>>().collect::<()>().await;
        taken.collect::<FuturesUnordered<_>>().collect::<()>().await;
    }

    /// The shards that are followed, in order.
    fn names(&self) -> Vec<ShardName> {
        let mut shards = self.shards();
        shards.retain(|_, followed| followed.asked.elapsed() < FORGET);
        let mut names: Vec<ShardName> = shards.keys().cloned().collect();
        names.sort();
        names
    }

    /// Notes what the leases are now.
    fn note(&self, names: Vec<ShardName>, leases: Vec<Option<Lease>>, began: Instant) -> Vec<SeenLease> {
        let (mut shards, now) = (self.shards(), Instant::now());
        let mut all = Vec::with_capacity(names.len());
        let mut is_changed = false;
        for (shard, lease) in names.into_iter().zip(leases) {
            let Some(followed) = shards.get_mut(&shard) else { continue };
            let before = followed.seen.take();
            let has_begun = before.as_ref().map(|(lease, _)| lease.fence) != lease.as_ref().map(|lease| lease.fence);
            if has_begun {
                followed.heard = now;
            }
            followed.seen = lease.clone().map(|lease| {
                let since = before.filter(|(before, _)| *before == lease).map_or(began, |(_, since)| since);
                (lease, since)
            });
            let is_own = lease.as_ref().is_some_and(|lease| lease.is_of(&self.me));
            is_changed |= is_own != followed.held.is_some();
            followed.held = is_own.then_some(began);
            let unchanged = followed.seen.as_ref().map_or(Duration::ZERO, |(_, since)| now.duration_since(*since));
            // A copy does not hear itself.
            let silent = if is_own { Duration::ZERO } else { now.duration_since(followed.heard) };
            all.push(SeenLease { shard, lease, unchanged: if is_own { Duration::ZERO } else { unchanged }, silent });
        }
        drop(shards);
        if is_changed {
            self.changed.notify_waiters();
        }
        all
    }

    /// Renews a lease, or takes it.
    async fn take(&self, seen: &SeenLease, is_new: bool) {
        let (fence, beat) = seen.lease.as_ref().map_or((0, 0), |lease| (lease.fence, lease.beat));
        let lease = Lease { owner: Some(self.me.clone()), fence: fence + u64::from(is_new), beat: beat + 1 };
        let began = Instant::now();
        let is_ours = self.replace(&seen.shard, seen.lease.as_ref(), lease.clone()).await;
        if let Some(followed) = self.shards().get_mut(&seen.shard) {
            if is_ours {
                followed.seen = Some((lease, began));
                followed.held = Some(began);
            } else if !is_new {
                // The next round sees whose it is.
                followed.held = None;
            }
        }
        if is_ours && is_new {
            tracing::info!(
                table = &*seen.shard.table,
                shard = &*seen.shard.shard,
                fence = fence + 1,
                "this copy reads a shard"
            );
            self.changed.notify_waiters();
        }
    }

    async fn replace(&self, shard: &ShardName, seen: Option<&Lease>, lease: Lease) -> bool {
        self.table.replace(shard, seen, &lease).await.unwrap_or_else(|error| {
            tracing::warn!(table = &*shard.table, shard = &*shard.shard, %error, "the lease of a shard cannot be written");
            false
        })
    }

    fn shards(&self) -> MutexGuard<'_, HashMap<ShardName, FollowedShard>> {
        self.shards.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
