//! What a server holds now in, gauges and counts of the metrics out. It is read when the metrics are asked for.

use super::definitions as of;
use super::metrics::Metrics;
use crate::serve::admission::Quotas;
use crate::serve::backend::Backend;
use crate::serve::quota::Quota;
use crate::serve::sign_in::rate_limit::RateLimit;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

/// Where the gauges are read.
#[derive(Clone)]
pub struct MetricSources {
    /// Runs the operations.
    pub backend: Arc<dyn Backend>,
    /// What all requests share.
    pub quotas: Quotas,
    /// The connections of all clients.
    pub connections: Arc<Quota>,
    /// How often callers may begin operations.
    pub rate_limit: Option<RateLimit>,
}

impl MetricSources {
    /// Reads all gauges.
    pub fn read(&self, metrics: &Metrics) {
        let gauges = metrics.gauges();
        let load = self.backend.load();
        for (cache, counts) in &load.gateway.caches {
            let labels = &[*cache];
            gauges.count(&of::CACHE_HITS, labels, counts.hits);
            gauges.count(&of::CACHE_MISSES, labels, counts.misses);
            gauges.count(&of::CACHE_EVICTIONS, labels, counts.evictions);
            gauges.set(&of::CACHE_BYTES, labels, counts.bytes as f64);
        }
        gauges.set(&of::SUBSCRIPTIONS, &[], load.subscriptions.subscriptions as f64);
        gauges.set(&of::SUBSCRIPTION_GROUPS, &[], load.subscriptions.groups as f64);
        gauges.set(&of::SUBSCRIPTION_QUEUE, &[], load.subscriptions.waiting_bytes as f64);
        // A table of an older schema is no longer followed.
        gauges.clear(&of::STREAM_LAG);
        for (table, seconds) in &load.subscriptions.lags {
            gauges.set(&of::STREAM_LAG, &[table], *seconds as f64);
        }
        gauges.set(&of::CONNECTIONS, &[], self.connections.taken() as f64);
        gauges.set(&of::CONNECTIONS_LIMIT, &[], self.connections.total() as f64);
        gauges.count(&of::REFUSALS, &["connections"], self.connections.refusals());
        let Quotas { operations, requests, responses, subscriptions, .. } = &self.quotas;
        for (bound, quota) in [
            ("operations", operations),
            ("request_memory", requests),
            ("response_memory", responses),
            ("subscription_memory", subscriptions),
        ] {
            gauges.set(&of::BOUND_USED, &[bound], quota.taken() as f64);
            gauges.set(&of::BOUND_LIMIT, &[bound], quota.total() as f64);
            gauges.count(&of::REFUSALS, &[bound], quota.refusals());
        }
        let (read, readable) = load.gateway.reads;
        gauges.set(&of::BOUND_USED, &["read_memory"], read as f64);
        gauges.set(&of::BOUND_LIMIT, &["read_memory"], readable as f64);
        gauges.set(&of::BOUND_USED, &["calls"], load.gateway.calls as f64);
        gauges.set(&of::BOUND_LIMIT, &["calls"], load.gateway.most_calls as f64);
        gauges.count(&of::RELOADS, &["taken"], load.reloads.good);
        gauges.count(&of::RELOADS, &["refused"], load.reloads.failed);
        let since = load.reloads.last.and_then(|last| last.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
        gauges.set(&of::LAST_RELOAD, &[], since.as_secs_f64());
        if let Some(limit) = &self.rate_limit {
            gauges.count(&of::REFUSALS, &["rate"], limit.refusals());
        }
    }
}
