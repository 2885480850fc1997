//! Requests of clients in; their shares of the server's quotas while they arrive, run and are answered out. Must not
//! know how a request is sent, nor what an operation does.

use super::client::ClientAddress;
use super::quota::{Quota, QuotaExceeded, Share};
use super::settings::SharedLimits;
use axum::body::Bytes;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The longest response that counts as taken as soon as it is written, in bytes. It fits into the system's buffers of a
/// connection.
const SMALL_RESPONSE: usize = 16 << 10;

/// The quotas of a server.
#[derive(Debug, Clone)]
pub struct Quotas {
    /// Running operations, even those whose clients have left.
    pub operations: Arc<Quota>,
    /// Bytes of requests, from their first byte until their operations end.
    pub requests: Arc<Quota>,
    /// Bytes of responses that clients have not taken yet.
    pub responses: Arc<Quota>,
    /// Bytes of responses that wait for room among those.
    waiting: Arc<Quota>,
    /// How long a response waits for room.
    patience: Duration,
    /// Bytes of subscriptions, besides their events.
    pub subscriptions: Arc<Quota>,
}

/// What an operation holds until it ends.
#[derive(Debug)]
pub struct Admission {
    client: ClientAddress,
    _operation: Share,
    request: Share,
}

/// The memory of a subscription besides its request, in bytes. Measured: see docs/measurements.md.
const SUBSCRIPTION: usize = 5 << 10;

/// A response that its client has not taken yet.
struct Unsent {
    body: Bytes,
    _share: Share,
}

impl Quotas {
    /// The quotas of these settings. `patience` is how long a response waits until clients have taken others.
    pub fn new(limits: &SharedLimits, patience: Duration) -> Self {
        let part = limits.max_requests_per_client.unwrap_or(limits.max_requests.div_ceil(4));
        Self {
            operations: Quota::new(limits.max_requests, part),
            requests: Quota::with_quarters(limits.request_memory),
            responses: Quota::with_quarters(limits.response_memory),
            // A client that waits takes nothing of what others may send, so it may have all of it.
            waiting: Quota::new(limits.response_memory, limits.response_memory),
            patience,
            subscriptions: Quota::with_quarters(limits.subscription_memory),
        }
    }

    /// Admits an operation whose request has arrived.
    pub fn admit(&self, client: ClientAddress, request: Share) -> Result<Admission, QuotaExceeded> {
        Ok(Admission { client, _operation: self.operations.take(client, 1)?, request })
    }

    /// The share of a response of this length, until its client has taken it.
    pub fn hold_response(&self, client: ClientAddress, length: usize) -> Result<Share, QuotaExceeded> {
        self.responses.take(client, held(length))
    }

    /// The share of a response of this length, until its client has taken it. While clients have too much that they
    /// have not taken yet, it waits.
    pub async fn room_for_response(&self, client: ClientAddress, length: usize) -> Result<Share, QuotaExceeded> {
        let length = held(length);
        match self.responses.take_if_free(client, length) {
            Err(QuotaExceeded::Total | QuotaExceeded::Part) => {}
            taken => return taken,
        }
        let waiting = self.waiting.take(client, length);
        match waiting {
            // Boxed, as hardly any response waits.
            Ok(_waiting) => Box::pin(self.responses.take_within(client, length, self.patience)).await,
            Err(_) => self.responses.take(client, length),
        }
    }
}

impl Admission {
    /// The share of a subscription that has begun. What it held as an operation returns.
    pub fn into_subscription(self, quotas: &Quotas) -> Result<Share, QuotaExceeded> {
        quotas.subscriptions.take(self.client, SUBSCRIPTION + self.request.amount())
    }
}

/// Adapts the share of a response that has become shorter, or a little longer.
pub fn resize_response(share: &mut Share, length: usize) -> Result<(), QuotaExceeded> {
    share.resize(held(length))
}

/// The amount that a response of this length takes.
fn held(length: usize) -> usize {
    if length > SMALL_RESPONSE { length } else { 0 }
}

/// The bytes of a response, which return the share when the last of them is written.
pub fn unsent(body: Bytes, share: Share) -> Bytes {
    Bytes::from_owner(Unsent { body, _share: share })
}

impl AsRef<[u8]> for Unsent {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// The memory of a request while and after its JSON is parsed, in bytes: the text itself, and a value for each
/// character that may begin one.
pub fn parsed_size(json: &[u8]) -> usize {
    // Chunks that a counter of one byte counts, so that the processor looks at many bytes at once.
    let begins = |byte: &u8| u8::from(matches!(byte, b',' | b':' | b'[' | b'{'));
    let values: usize =
        json.chunks(usize::from(u8::MAX)).map(|chunk| usize::from(chunk.iter().map(begins).sum::<u8>())).sum();
    json.len().saturating_add(values.saturating_mul(size_of::<Value>()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_list_of_numbers_is_larger_than_its_text() {
        let text = format!("[{}1]", "1,".repeat(1000));
        assert!(parsed_size(text.as_bytes()) > 1000 * size_of::<Value>());
        assert_eq!(parsed_size(b"\"text\""), 6);
    }

    #[test]
    fn a_response_is_held_until_its_last_byte_is_gone() {
        let quotas =
            Quotas::new(&SharedLimits { response_memory: 100_000, ..SharedLimits::default() }, Duration::from_secs(1));
        let client = ClientAddress::new([127, 0, 0, 1].into());
        let share = quotas.hold_response(client, 90_000).unwrap();
        let mut bytes = unsent(vec![0; 90_000].into(), share);
        let first = bytes.split_to(1);
        drop(bytes);
        assert_eq!(quotas.hold_response(client, 20_000).unwrap_err(), QuotaExceeded::Total);
        assert!(quotas.hold_response(client, 100).is_ok(), "a small one is not counted");
        drop(first);
        assert!(quotas.hold_response(client, 20_000).is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_waits_until_its_client_has_taken_others() {
        let quotas =
            Quotas::new(&SharedLimits { response_memory: 100_000, ..SharedLimits::default() }, Duration::from_secs(1));
        let client = ClientAddress::new([127, 0, 0, 1].into());
        let first = quotas.room_for_response(client, 90_000).await.unwrap();
        let (second, third) = (quotas.room_for_response(client, 50_000), quotas.room_for_response(client, 60_000));
        let mut second = Box::pin(second);
        assert!(second.as_mut().now_or_never().is_none());
        assert_eq!(third.await.unwrap_err(), QuotaExceeded::Total, "what waits has a bound");
        drop(first);
        let second = second.await.unwrap();
        assert_eq!(quotas.waiting.taken(), 0);
        let begun = tokio::time::Instant::now();
        assert_eq!(quotas.room_for_response(client, 70_000).await.unwrap_err(), QuotaExceeded::Total);
        assert_eq!((begun.elapsed(), quotas.waiting.taken()), (Duration::from_secs(1), 0));
        assert_eq!(quotas.room_for_response(client, 100_001).await.unwrap_err(), QuotaExceeded::TooLarge);
        drop(second);
    }

    #[test]
    fn a_response_that_becomes_shorter_leaves_room() {
        let quotas =
            Quotas::new(&SharedLimits { response_memory: 100_000, ..SharedLimits::default() }, Duration::from_secs(1));
        let client = ClientAddress::new([127, 0, 0, 1].into());
        let mut share = quotas.hold_response(client, 90_000).unwrap();
        resize_response(&mut share, 100).unwrap();
        let _other = quotas.hold_response(client, 90_000).unwrap();
        assert_eq!(resize_response(&mut share, 90_000).unwrap_err(), QuotaExceeded::Total);
    }
}
