//! Who reads a shard: the leases that are seen in, those to take out. Must not know where they are kept.

use crate::table::data::error::TableError;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// How long a lease may stay as it is before another copy takes it.
pub const LAPSE: Duration = Duration::from_secs(3);
/// How often leases are renewed and looked at. A shard whose reader dies has another one after [`LAPSE`] and this
/// twice: within 5 seconds.
pub const RENEW: Duration = Duration::from_secs(1);
/// How long the reader of a shard may be silent on the bus, on which it says every second that it reads.
pub const SILENCE: Duration = Duration::from_secs(5);

/// A shard of a table's stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ShardName {
    /// The table.
    pub table: Arc<str>,
    /// The shard's id.
    pub shard: Arc<str>,
}

/// Who reads a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The copy. `None` if it has left.
    pub owner: Option<Arc<str>>,
    /// How often the lease was taken. Who has a lower number is no longer the reader.
    pub fence: u64,
    /// How often it was renewed. A number that stays says that its owner is gone, whatever the clocks of the copies
    /// say.
    pub beat: u64,
}

impl Lease {
    /// Whether a copy has it.
    pub fn is_of(&self, copy: &str) -> bool {
        self.owner.as_deref() == Some(copy)
    }
}

/// Where leases are kept.
pub trait LeaseTable: Send + Sync {
    /// The leases of shards, strongly consistent; `None` for a shard that never had one.
    fn read<'a>(&'a self, shards: &'a [ShardName]) -> BoxFuture<'a, Result<Vec<Option<Lease>>, TableError>>;

    /// Writes a lease if the present one is as it was seen. False if it is not, and nothing is written.
    fn replace<'a>(
        &'a self,
        shard: &'a ShardName,
        seen: Option<&'a Lease>,
        lease: &'a Lease,
    ) -> BoxFuture<'a, Result<bool, TableError>>;
}

/// A lease as a copy sees it.
#[derive(Debug, Clone)]
pub struct SeenLease {
    /// The shard.
    pub shard: ShardName,
    /// The lease; `None` if there is none.
    pub lease: Option<Lease>,
    /// How long it has been the same.
    pub unchanged: Duration,
    /// How long its owner has said nothing on the bus.
    pub silent: Duration,
}

impl SeenLease {
    /// The copy that reads the shard.
    fn reader(&self) -> Option<&Arc<str>> {
        let owner = self.lease.as_ref()?.owner.as_ref()?;
        (self.unchanged < LAPSE && self.silent < SILENCE).then_some(owner)
    }
}

/// The shards that a copy should take: those that nobody reads, or else one of a copy that has at least two more than
/// it.
pub fn to_take<'a>(me: &str, leases: &'a [SeenLease]) -> Vec<&'a SeenLease> {
    let free: Vec<&SeenLease> = leases.iter().filter(|seen| seen.reader().is_none()).collect();
    if !free.is_empty() {
        return free;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reader in leases.iter().filter_map(SeenLease::reader) {
        *counts.entry(reader).or_default() += 1;
    }
    let mine = counts.get(me).copied().unwrap_or_default();
    let Some((busiest, count)) = counts.into_iter().max_by_key(|(_, count)| *count) else { return Vec::new() };
    let of_busiest = leases.iter().find(|seen| seen.reader().is_some_and(|reader| &**reader == busiest));
    of_busiest.filter(|_| count >= mine + 2).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(shard: &str, owner: Option<&str>, unchanged: u64, silent: u64) -> SeenLease {
        let shard = ShardName { table: "t".into(), shard: shard.into() };
        let lease = Lease { owner: owner.map(Into::into), fence: 1, beat: 1 };
        SeenLease {
            shard,
            lease: Some(lease),
            unchanged: Duration::from_secs(unchanged),
            silent: Duration::from_secs(silent),
        }
    }

    fn taken(me: &str, leases: &[SeenLease]) -> Vec<String> {
        to_take(me, leases).iter().map(|seen| seen.shard.shard.to_string()).collect()
    }

    #[test]
    fn what_nobody_reads_is_taken() {
        let mut never = seen("never", None, 0, 0);
        never.lease = None;
        let leases = [
            never,
            seen("left", None, 0, 0),
            seen("dead", Some("b"), 3, 0),
            seen("mute", Some("b"), 0, 5),
            seen("b", Some("b"), 2, 4),
        ];
        assert_eq!(taken("a", &leases), ["never", "left", "dead", "mute"]);
    }

    #[test]
    fn a_copy_takes_from_the_busiest_until_all_have_about_as_many() {
        let names: Vec<String> = (0..7).map(|shard| shard.to_string()).collect();
        let mut leases: Vec<SeenLease> = names.iter().map(|shard| seen(shard, Some("a"), 0, 0)).collect();
        for _ in 0..10 {
            for me in ["a", "b", "c"] {
                for shard in taken(me, &leases) {
                    leases[shard.parse::<usize>().unwrap_or_default()] = seen(&shard, Some(me), 0, 0);
                }
            }
        }
        let mut counts = ["a", "b", "c"]
            .map(|me| leases.iter().filter(|seen| seen.reader().is_some_and(|owner| &**owner == me)).count());
        counts.sort_unstable();
        assert_eq!(counts, [2, 2, 3]);
    }
}
