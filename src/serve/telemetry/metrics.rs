//! What happens in; the metrics out, as the classic text of Prometheus (Prometheus, "Exposition formats", "Text-based
//! format").

use super::definitions::{self as of, Definition};
use super::operation_names::{ANONYMOUS, NameUse, OTHER, OperationNames};
use crate::execute::report::{CallRecord, OperationReport, RunOutcome};
use prometheus::core::Collector;
use prometheus::{
    Encoder, Error, GaugeVec, Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGaugeVec, Opts,
    Registry, TextEncoder,
};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bounds of the buckets of durations, in seconds.
const DURATIONS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];
/// Bounds of the buckets of a part's duration, in seconds.
const PHASES: &[f64] = &[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 1.0, 5.0, 30.0];
/// Bounds of the buckets of waves.
const WAVES: &[f64] = &[0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 10.0];
/// Bounds of the buckets of calls.
const CALLS: &[f64] = &[0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// The most names of operations that have metrics of their own.
const NAMES: usize = 200;

/// The metrics of a server.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    names: Mutex<Operations>,
    http: HistogramVec,
    operations: IntCounterVec,
    errors: IntCounterVec,
    durations: HistogramVec,
    waves: HistogramVec,
    calls: HistogramVec,
    capacity: prometheus::CounterVec,
    phases: [Histogram; 5],
    call_durations: HistogramVec,
    call_failures: IntCounterVec,
    throttles: IntCounterVec,
    retries: IntCounterVec,
    hedges: IntCounterVec,
    service_durations: HistogramVec,
    service_failures: IntCounterVec,
    races: IntCounter,
    gauges: Gauges,
}

/// What is read when the metrics are asked for.
#[derive(Debug)]
pub struct Gauges {
    counters: HashMap<&'static str, IntCounterVec>,
    gauges: HashMap<&'static str, GaugeVec>,
}

/// The names that are tracked, and the metrics of each.
#[derive(Debug)]
struct Operations {
    names: OperationNames,
    by_name: HashMap<(Arc<str>, &'static str), Arc<OfOperation>>,
}

/// The metrics of the operations of one name and kind.
#[derive(Debug)]
struct OfOperation {
    name: Arc<str>,
    duration: Histogram,
    waves: Histogram,
    calls: Histogram,
    outcomes: [IntCounter; 3],
}

/// The names of outcomes in metrics.
const OUTCOMES: [(RunOutcome, &str); 3] =
    [(RunOutcome::Complete, "ok"), (RunOutcome::WithErrors, "errors"), (RunOutcome::Refused, "refused")];

impl Metrics {
    /// Metrics of which nothing has happened. `trusted` is the number of documents that operations may come from, if
    /// nothing else runs: then all of their names have metrics of their own.
    pub fn new(trusted: Option<usize>) -> Result<Self, Error> {
        let registry = Registry::new();
        let histogram = |definition: &Definition, buckets: &[f64]| {
            let options = HistogramOpts::new(definition.name, definition.help).buckets(buckets.to_vec());
            registered(&registry, HistogramVec::new(options, definition.labels)?)
        };
        let counter = |definition: &Definition| {
            registered(&registry, IntCounterVec::new(options(definition), definition.labels)?)
        };
        let phases = histogram(&of::PHASE_DURATION, PHASES)?;
        let build = registered(&registry, IntGaugeVec::new(options(&of::BUILD), of::BUILD.labels)?)?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        #[cfg(target_os = "linux")]
        registry.register(Box::new(super::process::ProcessMetrics::new()?))?;
        Ok(Self {
            http: histogram(&of::HTTP_DURATION, DURATIONS)?,
            operations: counter(&of::OPERATIONS)?,
            errors: counter(&of::ERRORS)?,
            durations: histogram(&of::OPERATION_DURATION, DURATIONS)?,
            waves: histogram(&of::WAVES, WAVES)?,
            calls: histogram(&of::CALLS, CALLS)?,
            capacity: registered(&registry, prometheus::CounterVec::new(options(&of::CAPACITY), of::CAPACITY.labels)?)?,
            phases: ["parse", "plan", "wait", "decode", "write"].map(|phase| phases.with_label_values(&[phase])),
            call_durations: histogram(&of::CALL_DURATION, DURATIONS)?,
            call_failures: counter(&of::CALL_FAILURES)?,
            throttles: counter(&of::THROTTLES)?,
            retries: counter(&of::RETRIES)?,
            hedges: counter(&of::HEDGES)?,
            service_durations: histogram(&of::SERVICE_DURATION, DURATIONS)?,
            service_failures: counter(&of::SERVICE_FAILURES)?,
            races: registered(&registry, IntCounter::with_opts(options(&of::RACES))?)?,
            gauges: Gauges::new(&registry)?,
            names: Mutex::new(Operations {
                names: OperationNames::new(trusted.unwrap_or_default().max(NAMES)),
                by_name: HashMap::new(),
            }),
            registry,
        })
    }

    /// Counts an HTTP request, which took so many seconds. `method` and `route` come from small sets.
    pub fn http(&self, method: &str, route: &str, status: u16, seconds: f64) {
        self.http.with_label_values(&[method, route, itoa::Buffer::new().format(status)]).observe(seconds);
    }

    /// Counts a run of an operation.
    pub fn operation(&self, report: &OperationReport) {
        let operation = self.operation_metrics(report);
        let name = &*operation.name;
        operation.duration.observe(report.lasted.as_secs_f64());
        if let Some(place) = OUTCOMES.iter().position(|(outcome, _)| *outcome == report.outcome) {
            operation.outcomes[place].inc();
        }
        for (code, count) in &report.errors {
            self.errors.with_label_values(&[name, code.as_str()]).inc_by(*count as u64);
        }
        let phases = &report.phases;
        for (histogram, time) in
            self.phases.iter().zip([phases.parse, phases.plan, phases.wait, phases.decode, phases.write])
        {
            histogram.observe(time.as_secs_f64());
        }
        if report.outcome != RunOutcome::Refused {
            operation.waves.observe(report.waves() as f64);
            operation.calls.observe(report.sent().count() as f64);
        }
        self.races.inc_by(report.lost_races.into());
        self.count_calls(name, report);
    }

    /// Counts the calls of a run. Calls of one kind follow each other, so that the last metrics that were looked up
    /// often serve the next call.
    fn count_calls(&self, name: &str, report: &OperationReport) {
        let mut last: Option<(&CallRecord, Histogram)> = None;
        let mut consumed: Vec<(&CallRecord, f64)> = Vec::new();
        for call in report.sent() {
            let durations =
                match last.take().filter(|(known, _)| known.table == call.table && known.operation == call.operation) {
                    Some((_, durations)) => durations,
                    None => self.call_durations.with_label_values(&[&*call.table, call.operation]),
                };
            durations.observe(call.ms / 1e3);
            last = Some((call, durations));
            if call.failed {
                self.call_failures.with_label_values(&[&*call.table, call.operation]).inc();
            }
            for (counters, count) in [
                (&self.throttles, call.throttles),
                (&self.retries, call.retries),
                (&self.hedges, u32::from(call.hedged)),
            ] {
                if count > 0 {
                    counters.with_label_values(&[&*call.table]).inc_by(count.into());
                }
            }
            let same = |known: &CallRecord| {
                (known.write, &known.table, &known.index) == (call.write, &call.table, &call.index)
            };
            match consumed.iter_mut().find(|(known, _)| same(known)) {
                Some((_, units)) => *units += call.capacity,
                None => consumed.push((call, call.capacity)),
            }
        }
        for call in &report.services {
            self.service_durations.with_label_values(&[&call.service]).observe(call.lasted.as_secs_f64());
            if let Some(kind) = call.failure {
                self.service_failures.with_label_values(&[&*call.service, kind.as_str()]).inc();
            }
        }
        for (call, units) in consumed.into_iter().filter(|(_, units)| *units > 0.0) {
            let direction = if call.write { "write" } else { "read" };
            let index = call.index.as_deref().unwrap_or_default();
            self.capacity.with_label_values(&[name, &*call.table, index, direction]).inc_by(units);
        }
    }

    fn operation_metrics(&self, report: &OperationReport) -> Arc<OfOperation> {
        let kind = report.kind_name();
        let mut operations = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        let name = match &report.name {
            None if report.kind.is_none() => Arc::from(OTHER),
            None => Arc::from(ANONYMOUS),
            Some(name) => match operations.names.count(name) {
                NameUse::Tracked => name.clone(),
                NameUse::Other => Arc::from(OTHER),
                NameUse::Replaces(old) => {
                    operations.by_name.retain(|(known, _), _| **known != *old);
                    self.forget(&old);
                    name.clone()
                }
            },
        };
        operations
            .by_name
            .entry((name, kind))
            .or_insert_with_key(|(name, kind)| Arc::new(self.make(name, kind)))
            .clone()
    }

    fn make(&self, name: &Arc<str>, kind: &str) -> OfOperation {
        OfOperation {
            duration: self.durations.with_label_values(&[name, kind]),
            waves: self.waves.with_label_values(&[name]),
            calls: self.calls.with_label_values(&[name]),
            outcomes: OUTCOMES.map(|(_, outcome)| self.operations.with_label_values(&[name, kind, outcome])),
            name: name.clone(),
        }
    }

    /// Forgets all metrics of a name that is no longer tracked.
    fn forget(&self, name: &str) {
        /// The values of the labels of each series that has this name.
        fn with_name(collector: &impl Collector, name: &str) -> Vec<HashMap<String, String>> {
            let families = collector.collect();
            let labels = families.iter().flat_map(|family| family.get_metric()).map(|metric| metric.get_label());
            let named = labels
                .filter(|labels| labels.iter().any(|label| label.name() == of::OPERATION && label.value() == name));
            named
                .map(|labels| labels.iter().map(|label| (label.name().to_owned(), label.value().to_owned())).collect())
                .collect()
        }
        macro_rules! forget {
            ($($collector:expr),*) => {$(
                for labels in with_name($collector, name) {
                    let labels: HashMap<&str, &str> =
                        labels.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
                    // What is gone already needs not be removed.
                    let _ = $collector.remove(&labels);
                }
            )*};
        }
        forget!(&self.operations, &self.errors, &self.durations, &self.waves, &self.calls, &self.capacity);
    }

    /// What is read when the metrics are asked for.
    pub fn gauges(&self) -> &Gauges {
        &self.gauges
    }

    /// All metrics as text.
    pub fn text(&self) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text)?;
        Ok(text)
    }
}

impl Gauges {
    fn new(registry: &Registry) -> Result<Self, Error> {
        let counters = [&of::CACHE_HITS, &of::CACHE_MISSES, &of::CACHE_EVICTIONS, &of::REFUSALS, &of::RELOADS];
        let gauges = [
            &of::CACHE_BYTES,
            &of::SUBSCRIPTIONS,
            &of::SUBSCRIPTION_GROUPS,
            &of::SUBSCRIPTION_QUEUE,
            &of::STREAM_LAG,
            &of::CONNECTIONS,
            &of::CONNECTIONS_LIMIT,
            &of::BOUND_USED,
            &of::BOUND_LIMIT,
            &of::LAST_RELOAD,
        ];
        let counter =
            |of: &Definition| Ok((of.name, registered(registry, IntCounterVec::new(options(of), of.labels)?)?));
        let gauge = |of: &Definition| Ok((of.name, registered(registry, GaugeVec::new(options(of), of.labels)?)?));
        Ok(Self {
            counters: counters.into_iter().map(counter).collect::<Result<_, Error>>()?,
            gauges: gauges.into_iter().map(gauge).collect::<Result<_, Error>>()?,
        })
    }

    /// Sets a count. Counts only grow; one that is smaller begins anew, as after a restart.
    pub fn count(&self, metric: &Definition, labels: &[&str], count: u64) {
        if let Some(counter) = self.counters.get(metric.name).map(|counters| counters.with_label_values(labels)) {
            let known = counter.get();
            if known > count {
                counter.reset();
            }
            counter.inc_by(count.saturating_sub(counter.get()));
        }
    }

    /// Sets a value.
    pub fn set(&self, metric: &Definition, labels: &[&str], value: f64) {
        if let Some(gauges) = self.gauges.get(metric.name) {
            gauges.with_label_values(labels).set(value);
        }
    }

    /// Forgets every value of a metric.
    pub fn clear(&self, metric: &Definition) {
        if let Some(gauges) = self.gauges.get(metric.name) {
            gauges.reset();
        }
    }
}

fn options(definition: &Definition) -> Opts {
    Opts::new(definition.name, definition.help)
}

/// The same collector, which the registry asks, too.
fn registered<C: Collector + Clone + 'static>(registry: &Registry, collector: C) -> Result<C, Error> {
    registry.register(Box::new(collector.clone()))?;
    Ok(collector)
}
