//! A large output of a Scan is read in a process of its own, whose memory stays small. `KEYFOLD_SOURCE_MB` is its size.

use keyfold::schema::table::Table;
use keyfold::sources::material::{PatternHint, Receiver, TypeHint};
use keyfold::sources::read::read;
use keyfold::table::data::attribute::Item;
use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::Command;

/// The variable that makes this program the process that reads: the path of the file.
const FILE: &str = "KEYFOLD_SOURCE_FILE";
/// The most memory, in kilobytes.
const MOST: u64 = 100_000;
/// What one item has, as `aws dynamodb scan` prints it.
const ITEM: usize = 600;

/// Counts items.
#[derive(Default)]
struct Count(u64);

impl Receiver for Count {
    fn table(&mut self, _: Table) {}

    fn item(&mut self, _: Option<&str>, _: Item) -> ControlFlow<()> {
        self.0 += 1;
        ControlFlow::Continue(())
    }

    fn type_hint(&mut self, _: Option<&str>, _: TypeHint) {}

    fn pattern_hint(&mut self, _: PatternHint) {}

    fn note(&mut self, _: String) {}
}

#[test]
fn a_large_scan_output_takes_little_memory() {
    if let Some(file) = std::env::var_os(FILE) {
        let mut count = Count::default();
        read(&[PathBuf::from(file)], &mut count).unwrap();
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB").trim();
        println!("\n{} items, {} kB", count.0, peak.trim_end_matches(" kB"));
        return;
    }
    let megabytes: u64 = std::env::var("KEYFOLD_SOURCE_MB").map_or(20, |size| size.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let (file, items) = (directory.path().join("scan.json"), megabytes * 1_000_000 / ITEM as u64);
    let mut out = BufWriter::new(std::fs::File::create(&file).unwrap());
    write!(out, "{{\n    \"Items\": [").unwrap();
    for number in 0..items {
        let filler = "x".repeat(ITEM - 220);
        let comma = if number == 0 { "" } else { "," };
        write!(
            out,
            "{comma}\n        {{\n            \"PK\": {{\n                \"S\": \"ITEM#{number:010}\"\n            }},"
        )
        .unwrap();
        write!(out, "\n            \"filler\": {{\n                \"S\": \"{filler}\"\n            }}\n        }}")
            .unwrap();
    }
    write!(out, "\n    ],\n    \"Count\": {items}\n}}\n").unwrap();
    out.into_inner().unwrap().sync_all().unwrap();
    let own = std::env::current_exe().unwrap();
    let child = Command::new(own)
        .args(["--exact", "memory::a_large_scan_output_takes_little_memory", "--nocapture"])
        .env(FILE, &file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    let line = said.lines().find(|line| line.ends_with(" kB")).unwrap_or_else(|| panic!("{said}"));
    let (count, peak) = line.trim_end_matches(" kB").split_once(" items, ").unwrap();
    assert_eq!(count.parse::<u64>().unwrap(), items);
    assert!(peak.parse::<u64>().unwrap() < MOST, "{megabytes} MB took {peak} kB");
}
