//! Who begins an operation in; whether that is too soon after the last ones out. Must not know what the operation does.
//!
//! Each caller has a bucket of operations, which is full at first and fills at an even pace. A caller who is not signed
//! in shares the bucket of the address.

use super::authenticator::Identity;
use crate::serve::client::ClientAddress;
use quick_cache::sync::Cache;
use sha2::{Digest, Sha256};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The most buckets that are kept, with about 150 bytes each. Beyond that, the least used ones are forgotten, and so
/// are full again.
const MAX_BUCKETS: usize = 100_000;

/// How many operations a caller may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many.
    operations: u32,
    /// In this time.
    period: Duration,
}

/// The buckets of all callers. Copies share them.
#[derive(Debug, Clone)]
pub struct RateLimit {
    rate: Rate,
    buckets: Arc<Cache<Holder, Arc<Mutex<Instant>>>>,
    refusals: Arc<AtomicU64>,
}

/// A caller has begun too many operations. There may be another after this time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooFast(pub Duration);

/// Whose bucket it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Holder {
    Address(ClientAddress),
    /// The hash of an issuer and a subject, which may be long.
    Caller([u8; 32]),
}

impl RateLimit {
    /// Buckets of this rate.
    pub fn new(rate: Rate) -> Self {
        Self { rate, buckets: Arc::new(Cache::new(MAX_BUCKETS)), refusals: Arc::default() }
    }

    /// How many operations were refused so far.
    pub fn refusals(&self) -> u64 {
        self.refusals.load(Ordering::Relaxed)
    }

    /// Takes an operation from the bucket of a caller. The error is the time until there is one.
    pub fn take(&self, identity: &Identity, client: ClientAddress) -> Result<(), Duration> {
        let now = Instant::now();
        let new = || Ok::<_, std::convert::Infallible>(Arc::new(Mutex::new(now)));
        let Ok(bucket) = self.buckets.get_or_insert_with(&holder(identity, client), new);
        // The time at which the bucket is full.
        let mut full = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        let next = (*full).max(now) + self.rate.period / self.rate.operations;
        match next.checked_duration_since(now + self.rate.period) {
            Some(wait) if !wait.is_zero() => {
                self.refusals.fetch_add(1, Ordering::Relaxed);
                Err(wait)
            }
            _ => {
                *full = next;
                Ok(())
            }
        }
    }
}

fn holder(identity: &Identity, client: ClientAddress) -> Holder {
    let Some(sub) = identity.caller.sub() else { return Holder::Address(client) };
    let issuer = identity.issuer.as_deref().unwrap_or_default();
    Holder::Caller(Sha256::new().chain_update(Sha256::digest(issuer)).chain_update(sub).finalize().into())
}

/// Reads a rate: `50/s`, `1000/m`, `10000/h`.
pub fn rate(text: &str) -> Result<Rate, String> {
    let wrong = || "write a number of operations and a time: 50/s, 1000/m, 10000/h".to_owned();
    let (number, unit) = text.split_once('/').ok_or_else(wrong)?;
    let period = match unit {
        "s" => Duration::from_secs(1),
        "m" => Duration::from_secs(60),
        "h" => Duration::from_secs(3_600),
        _ => return Err(wrong()),
    };
    match number.parse() {
        Ok(operations @ 1..=1_000_000) => Ok(Rate { operations, period }),
        _ => Err("write a number from 1 to 1000000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::execute::caller::Caller;
    use serde_json::{Map, Value};
    use tokio::time::advance;

    fn caller(issuer: Option<&str>, sub: &str) -> Identity {
        let claims = Map::from_iter([("sub".to_owned(), Value::from(sub))]);
        Identity { caller: Caller::signed_in(claims), issuer: issuer.map(Into::into), ends: None }
    }

    #[tokio::test(start_paused = true)]
    async fn a_bucket_is_emptied_at_once_and_fills_at_an_even_pace() {
        let limit = RateLimit::new(rate("4/s").unwrap());
        let (ann, here) = (caller(None, "ann"), ClientAddress::new([127, 0, 0, 1].into()));
        for _ in 0..4 {
            assert_eq!(limit.take(&ann, here), Ok(()));
        }
        assert_eq!(limit.take(&ann, here), Err(Duration::from_millis(250)));
        advance(Duration::from_millis(250)).await;
        assert_eq!((limit.take(&ann, here), limit.take(&ann, here)), (Ok(()), Err(Duration::from_millis(250))));
        advance(Duration::from_secs(60)).await;
        assert!((0..4).all(|_| limit.take(&ann, here).is_ok()) && limit.take(&ann, here).is_err(), "no more than full");
    }

    #[tokio::test(start_paused = true)]
    async fn everybody_has_a_bucket() {
        let limit = RateLimit::new(rate("1/m").unwrap());
        let (here, there) = (ClientAddress::new([127, 0, 0, 1].into()), ClientAddress::new([127, 0, 0, 2].into()));
        let anonymous = Identity::default();
        assert!(limit.take(&anonymous, here).is_ok() && limit.take(&anonymous, there).is_ok());
        for identity in [caller(None, "ann"), caller(None, "bob"), caller(Some("a"), "ann"), caller(Some("b"), "ann")] {
            assert!(limit.take(&identity, here).is_ok() && limit.take(&identity, there).is_err());
        }
        assert!(limit.take(&anonymous, here).is_err());
    }

    #[test]
    fn a_rate_has_a_time() {
        assert_eq!(rate("50/s"), Ok(Rate { operations: 50, period: Duration::from_secs(1) }));
        assert_eq!(rate("1000/m"), Ok(Rate { operations: 1000, period: Duration::from_secs(60) }));
        for wrong in ["", "50", "/s", "50/", "50/d", "0/s", "1.5/s", "-1/s", "1000001/s"] {
            assert!(rate(wrong).is_err(), "{wrong}");
        }
    }
}
