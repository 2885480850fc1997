//! The files of `/proc/self` in, the metrics of the process out (Prometheus, "Writing client libraries", "Standard and
//! runtime collectors"). Must not know requests.

use prometheus::core::{Collector, Desc};
use prometheus::proto::MetricFamily;
use prometheus::{Counter, Error, Gauge};
use std::fs::{read_dir, read_to_string};

/// The clock ticks of a second in files of `/proc`, on all platforms of Rust with Linux (time(7), "The software clock,
/// HZ, and jiffies").
const TICKS: f64 = 100.0;

/// One of the figures of a process.
type Figure = fn(&ProcessUse) -> f64;

/// The metrics of this process. Each collection reads them anew.
#[derive(Debug)]
pub struct ProcessMetrics {
    cpu: Counter,
    gauges: [(Gauge, Figure); 6],
}

/// What a process uses.
#[derive(Debug, Default, PartialEq)]
struct ProcessUse {
    /// CPU time of user and system, in seconds.
    cpu: f64,
    /// The start, in seconds since 1970.
    started: f64,
    threads: f64,
    /// Bytes of virtual memory.
    virtual_memory: f64,
    /// Bytes of resident memory.
    resident_memory: f64,
    open_files: f64,
    most_files: f64,
}

impl ProcessMetrics {
    /// The metrics of this process.
    pub fn new() -> Result<Self, Error> {
        Ok(Self {
            cpu: Counter::new("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.")?,
            gauges: [
                (Gauge::new("process_open_fds", "Number of open file descriptors.")?, |used| used.open_files),
                (Gauge::new("process_max_fds", "Maximum number of open file descriptors.")?, |used| used.most_files),
                (Gauge::new("process_virtual_memory_bytes", "Virtual memory size in bytes.")?, |used| {
                    used.virtual_memory
                }),
                (Gauge::new("process_resident_memory_bytes", "Resident memory size in bytes.")?, |used| {
                    used.resident_memory
                }),
                (
                    Gauge::new("process_start_time_seconds", "Start time of the process since unix epoch in seconds.")?,
                    |used| used.started,
                ),
                (Gauge::new("process_threads", "Number of OS threads in the process.")?, |used| used.threads),
            ],
        })
    }
}

impl Collector for ProcessMetrics {
    fn desc(&self) -> Vec<&Desc> {
        self.cpu.desc().into_iter().chain(self.gauges.iter().flat_map(|(gauge, _)| gauge.desc())).collect()
    }

    /// No metrics where `/proc` cannot be read.
    fn collect(&self) -> Vec<MetricFamily> {
        let Some(used) = ProcessUse::current() else { return Vec::new() };
        self.cpu.inc_by((used.cpu - self.cpu.get()).max(0.0));
        let gauges = self.gauges.iter().flat_map(|(gauge, value)| {
            gauge.set(value(&used));
            gauge.collect()
        });
        self.cpu.collect().into_iter().chain(gauges).collect()
    }
}

impl ProcessUse {
    fn current() -> Option<Self> {
        let file = |path: &str| read_to_string(path).ok();
        let used = Self::parse(&file("/proc/self/stat")?, &file("/proc/self/status")?, &file("/proc/stat")?)?;
        let (most, _) = rlimit::getrlimit(rlimit::Resource::NOFILE).ok()?;
        // The directory that is being read is one of them.
        let open = read_dir("/proc/self/fd").ok()?.count().saturating_sub(1);
        Some(Self { open_files: open as f64, most_files: most as f64, ..used })
    }

    /// What `/proc/self/stat`, `/proc/self/status` and `/proc/stat` tell (proc_pid_stat(5), proc_pid_status(5),
    /// proc_stat(5)).
    fn parse(stat: &str, status: &str, system: &str) -> Option<Self> {
        // The second field is the command's name in parentheses. The name itself may contain spaces and parentheses.
        let fields: Vec<&str> = stat[stat.rfind(')')? + 1..].split_whitespace().collect();
        let ticks = |field: usize| fields.get(field - 3)?.parse::<f64>().ok().map(|ticks| ticks / TICKS);
        let value = |text: &str, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_whitespace().next()?.parse::<f64>().ok()
        };
        Some(Self {
            cpu: ticks(14)? + ticks(15)?,
            started: value(system, "btime ")? + ticks(22)?,
            threads: value(status, "Threads:")?,
            virtual_memory: value(status, "VmSize:")? * 1024.0,
            resident_memory: value(status, "VmRSS:")? * 1024.0,
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
    use super::*;
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn the_files_are_read_whatever_the_command_is_called() {
        let stat = "7 (a (b) 1 2) S 1 7 7 0 -1 4194560 900 0 3 0 150 25 0 0 20 0 5 0 3000 61440000 1500 18446744073709551615 1";
        let status = "Name:\ta\nVmPeak:\t 70000 kB\nVmSize:\t 60000 kB\nVmRSS:\t 6000 kB\nThreads:\t5\n";
        let used = ProcessUse::parse(stat, status, "cpu  1 2 3\nbtime 1700000000\nprocesses 9\n").unwrap();
        let expected = ProcessUse {
            cpu: 1.75,
            started: 1_700_000_030.0,
            threads: 5.0,
            virtual_memory: 61_440_000.0,
            resident_memory: 6_144_000.0,
            ..ProcessUse::default()
        };
        assert_eq!(used, expected);
        assert_eq!(ProcessUse::parse("7 (a) S 1", status, "btime 1\n"), None);
        assert_eq!(ProcessUse::parse(stat, "Threads:\t5\n", "btime 1\n"), None);
    }

    #[test]
    fn this_process_is_seen() {
        let before = ProcessUse::current().unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        assert!(before.started <= now + 1.0 && before.started > now - 86_400.0, "{before:?} at {now}");
        assert!(before.resident_memory > 1e6 && before.virtual_memory >= before.resident_memory, "{before:?}");
        assert!(
            before.threads >= 1.0 && before.open_files >= 3.0 && before.most_files >= before.open_files,
            "{before:?}"
        );
        let families = ProcessMetrics::new().unwrap().collect();
        let mut names: Vec<&str> = families.iter().map(MetricFamily::name).collect();
        names.sort_unstable();
        assert_eq!(names, super::super::definitions::OF_PROCESS);
    }
}
