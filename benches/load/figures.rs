//! Measured figures in; tables in Markdown out, as docs/measurements.md has them. Keyfold is the first server, and the
//! ratios are to it.

use super::counted::Counts;
use super::peers::Peer;
use keyfold::plan::cost::price::UnitPrice;
use std::fmt::Write;
use std::time::Duration;

/// What one server does under one load.
pub struct Figures {
    /// CPU of a request in milliseconds.
    pub cpu: f64,
    /// p50, p95 and p99 in milliseconds.
    pub latencies: [f64; 3],
    /// Requests a second.
    pub rate: f64,
    /// Calls of a request, those that were made twice included.
    pub calls: f64,
}

/// One load and the figures of each server.
pub struct Row {
    /// The operation, the number of connections, and the delay of each call.
    pub name: String,
    /// The servers in their order.
    pub figures: Vec<Figures>,
}

/// The machine, and what it is busy with.
pub fn conditions() -> String {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or("unknown");
    format!(
        "{processors} processors ({}), load average {}",
        processor.trim_start_matches([' ', '\t', ':']),
        load_average()
    )
}

/// How many threads wanted a processor in the last minute.
pub fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// A row of a table: what it is about, and a cell for each server.
pub struct Line {
    /// What it is about.
    pub name: String,
    /// The cells.
    pub cells: Vec<String>,
}

/// A table in Markdown, if it has lines. Above it stands what its cells hold. The last servers have no cells in lines
/// that are not about them.
pub fn table(cells: &str, first: &str, servers: &[String], lines: impl IntoIterator<Item = Line>) -> Option<String> {
    let mut lines = lines.into_iter().peekable();
    lines.peek()?;
    let head = std::iter::once(first).chain(servers.iter().map(String::as_str)).collect::<Vec<_>>();
    let mut text = format!("{cells}:\n\n| {} |\n|{}\n", head.join(" | "), "---|".repeat(head.len()));
    for Line { name, mut cells } in lines {
        cells.resize(servers.len(), "–".to_owned());
        writeln!(text, "| {name} | {} |", cells.join(" | ")).unwrap();
    }
    Some(text)
}

/// What the cells of [`calls`] hold.
pub const CALLS: &str =
    "Calls (GetItem, BatchGetItem, Query) · read units · dollars a million requests · kB of answers";

/// What the servers read for an operation, and what that costs.
pub fn calls(operation: &str, counts: &[Counts]) -> Line {
    let cell = |counts: &Counts| {
        let Counts { gets, batches, queries, units, bytes } = counts;
        let (calls, dollars, kilobytes) =
            (counts.calls(), UnitPrice::default().dollars_a_million(*units, 0.0).0, bytes / 1e3);
        format!("{calls} ({gets}, {batches}, {queries}) · {units} · **{dollars:.2}** · {kilobytes:.1}")
    };
    Line { name: operation.to_owned(), cells: counts.iter().map(cell).collect() }
}

/// What the cells of [`processes`] hold.
pub const PROCESSES: &str =
    "Lines of code · ms from the start to the first answer · MB after the first answers · MB at most";

/// What somebody writes for a workload, how long each server takes to start, and its memory before and after the loads.
pub fn processes(peers: &[Peer], workload: &str, starts: &[Duration], [at_rest, peaks]: [&[f64]; 2]) -> Line {
    let cell = |(place, peer): (usize, &Peer)| {
        let start = starts[place].as_secs_f64() * 1e3;
        format!("{} · {start:.0} · {:.0} · {:.0}", lines_of_code(peer), at_rest[place], peaks[place])
    };
    Line { name: workload.to_owned(), cells: peers.iter().enumerate().map(cell).collect() }
}

/// The lines of a server's files that are neither empty nor comments.
fn lines_of_code(peer: &Peer) -> usize {
    peer.files.iter().map(|file| lines(file)).sum()
}

/// The lines of a file from the project's folder that are neither empty nor comments.
fn lines(file: &str) -> usize {
    let text = std::fs::read_to_string(format!("{}/{file}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mark = if file.ends_with(".graphql") { "#" } else { "//" };
    text.lines().filter(|line| !line.trim().is_empty() && !line.trim().starts_with(mark)).count()
}

/// What the cells of [`ratios`] hold.
pub const RATIOS: &str = "Ratios to Keyfold: CPU a request · p50 · p99 · requests a second";

/// The ratios of each server to the first one.
pub fn ratios(row: &Row) -> Line {
    let first = &row.figures[0];
    let cell = |figures: &Figures| {
        let [p50, _, p99] = std::array::from_fn(|place| figures.latencies[place] / first.latencies[place]);
        let (cpu, rate) = (figures.cpu / first.cpu, figures.rate / first.rate);
        format!("**{cpu:.2}** · {p50:.2} · {p99:.2} · {rate:.2}")
    };
    Line { name: row.name.clone(), cells: row.figures.iter().skip(1).map(cell).collect() }
}

/// What the cells of [`loads`] hold.
pub const LOADS: &str =
    "CPU ms a request · p50, p95, p99 in ms · requests a second · calls a request, those made twice included";

/// The figures of each server.
pub fn loads(row: &Row) -> Line {
    let cell = |figures: &Figures| {
        let Figures { cpu, latencies: [p50, p95, p99], rate, calls } = figures;
        format!("{cpu:.2} · {p50:.1}, {p95:.1}, {p99:.1} · {rate:.0} · {calls:.1}")
    };
    Line { name: row.name.clone(), cells: row.figures.iter().map(cell).collect() }
}
