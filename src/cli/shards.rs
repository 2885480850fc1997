//! `keyfold shards`: the load on one key in, how many shards it needs out, with the arithmetic. Needs no schema and no store.

use super::output;
use crate::schema::scalar::spread;
use crate::table::data::limits::ITEM_BYTES;
use anyhow::Result;
use clap::{Args, ValueEnum, value_parser};
use serde_json::{Value, json};
use std::process::ExitCode;

/// Bytes of a read unit: one strong read a second of up to 4 KB (DynamoDB developer guide, "Read and write operations").
const READ_UNIT: u128 = 4096;
/// Bytes of a write unit.
const WRITE_UNIT: u128 = 1024;
/// Read units a second that one partition serves (DynamoDB developer guide, "Burst and adaptive capacity").
const PARTITION_READS: u128 = 3000;
/// Write units a second that one partition serves.
const PARTITION_WRITES: u128 = 1000;
/// Most shards or replicas that a template takes.
const MOST_SHARDS: u128 = spread::MOST as u128;
/// More items than any table has, and few enough for exact arithmetic.
const MOST_ITEMS: u64 = 1_000_000_000_000;
/// More requests a second than any table serves.
const MOST_REQUESTS: u64 = 1_000_000_000;

/// Compute how many shards a key needs, and show why
///
/// Spread a key with more reads or writes than one partition serves over shards: `{shard:n}` in its template. Every read asks all
/// shards; each write goes to one.
#[derive(Debug, Clone, Args)]
pub struct Shards {
    /// Items under the key; a read returns all of them
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = value_parser!(u64).range(..=MOST_ITEMS))]
    items: u64,

    /// Average size of an item, in bytes
    #[arg(long, value_name = "BYTES", allow_negative_numbers = true, value_parser = value_parser!(u64).range(1..=ITEM_BYTES as u64))]
    item_size: u64,

    /// Reads of the key in each second
    #[arg(long, value_name = "R", allow_negative_numbers = true, value_parser = value_parser!(u64).range(..=MOST_REQUESTS))]
    reads: u64,

    /// Items written under the key in each second
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = value_parser!(u64).range(..=MOST_REQUESTS))]
    writes: u64,

    /// The reads are eventually consistent, the default of @find, and cost half
    #[arg(long)]
    eventually_consistent: bool,

    /// Form of the output
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: AnswerFormat,
}

/// Form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum AnswerFormat {
    Text,
    Json,
}

/// What a load needs. All read units are counted in halves, because an eventually consistent read costs half a unit.
#[derive(Debug, PartialEq, Eq)]
struct Need {
    /// Read units of one strong read: 4 KB each, rounded up.
    units_a_read: u128,
    /// Halves of read units in each second.
    half_units: u128,
    /// The formula for reads.
    by_reads: u128,
    /// Shards at which a partition serves its part of every read, in whole units; `None` if no number is enough.
    served: Option<u128>,
    /// Write units of one write.
    units_a_write: u128,
    /// The formula for writes.
    by_writes: u128,
}

impl Need {
    /// The number of shards; `None` if no number is enough.
    fn shards(&self) -> Option<u128> {
        Some(self.by_reads.max(self.served?).max(self.by_writes).max(1))
    }
}

impl Shards {
    /// Runs the command.
    pub fn run(self) -> Result<ExitCode> {
        let text = match self.format {
            AnswerFormat::Text => self.text(),
            AnswerFormat::Json => format!("{:#}\n", self.json()),
        };
        output::print(&text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Halves of units that a read unit costs.
    fn halves(&self) -> u128 {
        if self.eventually_consistent { 1 } else { 2 }
    }

    fn need(&self) -> Need {
        let (items, size, reads, writes): (u128, u128, u128, u128) =
            (self.items.into(), self.item_size.into(), self.reads.into(), self.writes.into());
        // A Query adds up its items before it rounds (DynamoDB developer guide, "Read and write operations", Query).
        let units_a_read = (items * size).div_ceil(READ_UNIT);
        let half_units = units_a_read * self.halves() * reads;
        let units_a_write = size.div_ceil(WRITE_UNIT);
        Need {
            units_a_read,
            half_units,
            by_reads: half_units.div_ceil(2 * PARTITION_READS),
            served: self.served(),
            units_a_write,
            by_writes: (units_a_write * writes).div_ceil(PARTITION_WRITES),
        }
    }

    /// Every read asks every shard and costs each at least a whole unit, however few items it has.
    fn served(&self) -> Option<u128> {
        if self.reads == 0 {
            return Some(1);
        }
        let units = 2 * PARTITION_READS / (u128::from(self.reads) * self.halves());
        let items = units * READ_UNIT / u128::from(self.item_size);
        match (units, items) {
            (0, _) => None,
            _ if self.items == 0 => Some(1),
            (_, 0) => None,
            (_, items) => Some(u128::from(self.items).div_ceil(items)),
        }
    }

    fn text(&self) -> String {
        let need = self.need();
        let (items, size) = (counted(self.items.into(), "item"), counted(self.item_size.into(), "byte"));
        let (reads, writes) = (counted(self.reads.into(), "read"), counted(self.writes.into(), "write"));
        let half = if self.eventually_consistent { " × 1/2, eventually consistent" } else { "" };
        let (units_a_read, units_a_write) = (counted(need.units_a_read, "unit"), counted(need.units_a_write, "unit"));
        let (read, written) = (halved(need.half_units), grouped(need.units_a_write * u128::from(self.writes)));
        let mut lines = vec![
            "Reads: each returns all items, and a partition serves 3,000 read units a second.".to_owned(),
            format!("  {items} × {size} / 4,096 = {units_a_read}, rounded up"),
            format!("  {units_a_read}{half} × {reads}/s = {read} units/s"),
            format!("  {read} units/s / 3,000 = {}, rounded up", counted(need.by_reads, "shard")),
        ];
        if let Some(served) = need.served.filter(|served| *served > need.by_reads.max(1)) {
            let shards = counted(served, "shard");
            lines.push(format!("  each shard's part of a read is rounded up to whole units, which takes {shards}"));
        }
        lines.extend([
            String::new(),
            "Writes: each is one item, and a partition serves 1,000 write units a second.".to_owned(),
            format!("  {size} / 1,024 = {units_a_write}, rounded up"),
            format!("  {units_a_write} × {writes}/s = {written} units/s"),
            format!("  {written} units/s / 1,000 = {}, rounded up", counted(need.by_writes, "shard")),
            String::new(),
        ]);
        lines.extend(self.answer(&need));
        lines.join("\n") + "\n"
    }

    fn answer(&self, need: &Need) -> Vec<String> {
        match need.shards() {
            None => {
                let most = if self.eventually_consistent { "6,000" } else { "3,000" };
                let why = if u128::from(self.reads) * self.halves() > 2 * PARTITION_READS {
                    format!("every read costs every shard a unit, and a partition serves {most} such reads a second")
                } else {
                    "a single item is read more often than a partition serves".to_owned()
                };
                let copies = need.by_reads.max(2);
                let help = if copies > MOST_SHARDS {
                    "100 replicas, the most that {replica:n} takes, are not enough either: answer some reads from a cache, or keep less under one key."
                        .to_owned()
                } else {
                    format!("Use replicas: {{replica:{copies}}} reads one of {copies} and writes all of them.")
                };
                vec![format!("No number of shards is enough: {why}."), help]
            }
            Some(1) => vec!["One partition is enough: the key needs no {shard:n}.".to_owned()],
            Some(count) if count > MOST_SHARDS => {
                vec![format!("That is {}, but {{shard:n}} takes at most {MOST_SHARDS}: keep less under one key.", counted(count, "shard"))]
            }
            Some(count) => {
                let mut lines = vec![format!("Write {{shard:{count}}} in the key's template.")];
                let eventual = Self { eventually_consistent: true, ..self.clone() }.need().shards();
                if let Some(fewer) = eventual.filter(|fewer| !self.eventually_consistent && *fewer < count) {
                    lines.push(format!(
                        "If the reads are eventually consistent (--eventually-consistent), {} {} enough.",
                        counted(fewer, "shard"),
                        if fewer == 1 { "is" } else { "are" }
                    ));
                }
                lines
            }
        }
    }

    fn json(&self) -> Value {
        let need = self.need();
        json!({
            "items": self.items,
            "itemSize": self.item_size,
            "reads": self.reads,
            "writes": self.writes,
            "eventuallyConsistent": self.eventually_consistent,
            "readUnitsPerRead": halved_number(need.units_a_read * self.halves()),
            "readUnitsPerSecond": halved_number(need.half_units),
            "shardsByReads": number(need.by_reads),
            "writeUnitsPerWrite": number(need.units_a_write),
            "writeUnitsPerSecond": number(need.units_a_write * u128::from(self.writes)),
            "shardsByWrites": number(need.by_writes),
            "shards": need.shards().map(number),
            "template": need.shards().filter(|shards| (2..=MOST_SHARDS).contains(shards)).map(|shards| format!("{{shard:{shards}}}")),
        })
    }
}

/// A number of things.
fn counted(count: u128, thing: &str) -> String {
    format!("{} {thing}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// A whole number with commas between thousands.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.char_indices() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of halves.
fn halved(halves: u128) -> String {
    format!("{}{}", grouped(halves / 2), if halves % 2 == 1 { ".5" } else { "" })
}

/// A number of up to 64 bits is exact; the largest load has some 10²³ units, which become a float.
fn number(whole: u128) -> Value {
    u64::try_from(whole).map_or_else(|_| json!(whole as f64), Value::from)
}

fn halved_number(halves: u128) -> Value {
    if halves.is_multiple_of(2) { number(halves / 2) } else { json!(halves as f64 / 2.0) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        shards: Shards,
    }

    fn parse(arguments: &str) -> Result<Shards, clap::Error> {
        Command::try_parse_from(std::iter::once("shards").chain(arguments.split(' '))).map(|command| command.shards)
    }

    /// The load of items, bytes, reads and writes.
    fn load(items: u64, item_size: u64, reads: u64, writes: u64) -> Shards {
        Shards { items, item_size, reads, writes, eventually_consistent: false, format: AnswerFormat::Text }
    }

    fn eventual(items: u64, item_size: u64, reads: u64, writes: u64) -> Shards {
        Shards { eventually_consistent: true, ..load(items, item_size, reads, writes) }
    }

    #[test]
    fn reads_and_writes_each_have_their_formula() {
        // 100,000 × 0.2 KB / 4 KB × 10 / 3,000 = 16.3 and 16.7, with 200 and 205 bytes.
        assert_eq!((load(100_000, 200, 10, 0).need().by_reads, load(100_000, 205, 10, 0).need().by_reads), (17, 17));
        assert_eq!(load(100_000, 205, 10, 0).need().shards(), Some(17));
        // 100,000 × 1 KB / 1,000, though the items have a fifth of that.
        assert_eq!((load(0, 200, 0, 100_000).need().by_writes, load(0, 200, 0, 100_000).need().shards()), (100, Some(100)));
        // 5,005 units × 10 / 2 / 3,000 = 8.3.
        assert_eq!(eventual(100_000, 205, 10, 0).need().shards(), Some(9));
        // The greater of the two counts: 1.5 KB are two units, × 30,000 / 1,000.
        assert_eq!(load(100_000, 1536, 10, 30_000).need().by_writes, 60);
        assert_eq!(load(100_000, 1536, 10, 30_000).need().shards(), Some(125));
        assert_eq!(load(1_000, 1536, 10, 30_000).need().shards(), Some(60));
    }

    #[test]
    fn units_are_whole() {
        assert_eq!((load(1, 4096, 1, 1).need().units_a_read, load(1, 4097, 1, 1).need().units_a_read), (1, 2));
        assert_eq!((load(1, 1024, 1, 1).need().units_a_write, load(1, 1025, 1, 1).need().units_a_write), (1, 2));
        assert_eq!((load(1, 1, 3000, 1000).need().shards(), load(1, 1, 0, 1001).need().shards()), (Some(1), Some(2)));
        // 400 units a read, 15 reads: 6,000, two shards of 200 units; at 14 reads a shard serves 214 units, at 16 only 187.
        assert_eq!((load(400, 4096, 15, 0).need().shards(), load(400, 4096, 16, 0).need().shards()), (Some(2), Some(3)));
        // 401 items of 4 KB are 401 units, × 15 / 3,000 = 2.005.
        assert_eq!(load(401, 4096, 15, 0).need().shards(), Some(3));
        // Ten items in one unit, × 3,000: full. Eleven make two units, and each of two shards has one.
        assert_eq!((load(10, 409, 3000, 0).need().shards(), load(11, 409, 3000, 0).need().shards()), (Some(1), Some(2)));
        // Three items of 3 KB are 3 units, × 2,000 / 3,000 = 2 shards; but one with two items would read two units, 4,000 a second.
        let rounded = load(3, 3072, 2000, 0);
        assert_eq!((rounded.need().by_reads, rounded.need().shards()), (2, Some(3)));
        assert!(rounded.text().contains("which takes 3 shards"), "{}", rounded.text());
    }

    #[test]
    fn nothing_needs_no_shards() {
        let idle = load(0, 1, 0, 0);
        assert_eq!(idle.need().shards(), Some(1));
        assert!(idle.text().ends_with("One partition is enough: the key needs no {shard:n}.\n"));
        assert_eq!((idle.json()["shards"].clone(), idle.json()["template"].clone()), (json!(1), Value::Null));
        assert_eq!(load(0, 400, 3000, 0).need().shards(), Some(1));
    }

    #[test]
    fn what_no_shards_serve_is_told() {
        // Every shard is asked 3,001 times a second, for a unit each time.
        let often = load(1, 100, 3001, 0);
        assert_eq!(often.need().shards(), None);
        assert!(often.text().contains("serves 3,000 such reads") && often.text().contains("{replica:2}"), "{}", often.text());
        assert_eq!(eventual(1, 100, 6000, 0).need().shards(), Some(1));
        assert!(eventual(1, 100, 6001, 0).text().contains("serves 6,000 such reads"));
        // An item of 400 KB is 100 units: a partition serves 30 reads of it.
        assert_eq!((load(5, 409_600, 30, 0).need().shards(), load(5, 409_600, 31, 0).need().shards()), (Some(5), None));
        assert!(load(5, 409_600, 31, 0).text().contains("a single item is read more often"));
        assert_eq!(often.json()["shards"], Value::Null);
    }

    #[test]
    fn more_shards_than_a_template_takes_are_not_written() {
        let wide = load(0, 100, 0, 100_001);
        assert!(wide.text().contains("That is 101 shards, but {shard:n} takes at most 100"), "{}", wide.text());
        assert_eq!((wide.json()["shards"].clone(), wide.json()["template"].clone()), (json!(101), Value::Null));
        assert_eq!(load(0, 100, 0, 100_000).json()["template"], json!("{shard:100}"));
        assert!(load(1, 100, 300_001, 0).text().contains("100 replicas, the most"));
        assert!(load(1, 100, 300_000, 0).text().contains("{replica:100}"));
    }

    #[test]
    fn the_largest_load_is_reckoned_exactly() {
        let huge = load(MOST_ITEMS, ITEM_BYTES as u64, MOST_REQUESTS, MOST_REQUESTS);
        assert_eq!(huge.need().units_a_read, 100_000_000_000_000);
        assert_eq!(huge.need().by_reads, 100_000_000_000_000 * 1_000_000_000 / 3000 + 1);
        assert_eq!((huge.need().by_writes, huge.need().shards()), (400_000_000, None));
        assert!(huge.text().contains("= 100,000,000,000,000 units") && huge.json()["readUnitsPerSecond"].is_f64());
    }

    #[test]
    fn the_arithmetic_is_told() {
        let text = eventual(100_001, 205, 11, 1500).text();
        for line in [
            "  100,001 items × 205 bytes / 4,096 = 5,005 units, rounded up",
            "  5,005 units × 1/2, eventually consistent × 11 reads/s = 27,527.5 units/s",
            "  27,527.5 units/s / 3,000 = 10 shards, rounded up",
            "  205 bytes / 1,024 = 1 unit, rounded up",
            "  1,500 units/s / 1,000 = 2 shards, rounded up",
            "Write {shard:10} in the key's template.",
        ] {
            assert!(text.lines().any(|told| told == line), "{line}\n{text}");
        }
        let strong = load(100_000, 205, 10, 0).text();
        assert!(strong.ends_with("(--eventually-consistent), 9 shards are enough.\n"), "{strong}");
        let json = eventual(100_001, 205, 11, 1500).json();
        assert_eq!((&json["readUnitsPerSecond"], &json["shards"], &json["template"]), (&json!(27527.5), &json!(10), &json!("{shard:10}")));
    }

    #[test]
    fn odd_input_is_a_mistake_of_usage() {
        assert_eq!(parse("--items 1 --item-size 1 --reads 0 --writes 0").unwrap().items, 1);
        for (arguments, said) in [
            ("--items -5 --item-size 1 --reads 0 --writes 0", "-5"),
            ("--items 1 --item-size 0 --reads 0 --writes 0", "0 is not in 1..=409600"),
            ("--items 1 --item-size 409601 --reads 0 --writes 0", "409601 is not in"),
            ("--items 1 --item-size 1 --reads 99999999999999999999999 --writes 0", "number too large"),
            ("--items 1 --item-size 1 --reads 1000000001 --writes 0", "1000000001 is not in"),
            ("--items 1.5 --item-size 1 --reads 1 --writes 0", "invalid digit"),
            ("--items 1 --item-size 1 --reads 1", "--writes"),
        ] {
            let message = parse(arguments).unwrap_err().to_string();
            assert!(message.contains(said), "{arguments}: {message}");
        }
    }
}
