//! What came of a proof in, text or JSON out.

use super::cost::Cost;
use super::proof::{ProofResult, Size};
use crate::cli::output::counted;
use serde_json::{Value, json};
use std::fmt::Write;

/// What a run is said to have done.
#[derive(Debug)]
pub struct Report<'a> {
    /// How much there was to do.
    pub size: Size,
    /// What random choices followed from.
    pub seed: u64,
    /// From the first table to the last case.
    pub seconds: f64,
    /// What was expected; `None` in memory.
    pub estimate: Option<Cost>,
    /// What it took.
    pub measured: Cost,
    /// What came of it.
    pub result: &'a ProofResult,
}

/// What is said before anything is created.
pub fn announcement(size: Size, estimate: &Cost, seconds: u64) -> String {
    let Size { tables, items, cases } = size;
    format!(
        "{}, {} with {}, deleted at the end.\nAt most about {} read and {} write request units: ${:.4} on demand in \
         us-east-1. About {} minutes.\n",
        counted(cases as u64, "golden operation"),
        counted(tables as u64, "table"),
        counted(items as u64, "item"),
        estimate.read_units,
        estimate.write_units,
        estimate.dollars,
        seconds.div_ceil(60),
    )
}

impl Report<'_> {
    /// The report for people.
    pub fn to_text(&self) -> String {
        let ProofResult { cases, queries, differences, repeated, histories } = self.result;
        let mut text = String::new();
        for difference in differences {
            let _ = writeln!(text, "{} differs in its {}:\n{}", difference.case, difference.section, difference.lines);
        }
        for history in &histories.unexplained {
            let _ = writeln!(text, "No order explains what callers got (--seed {}) of {history}", self.seed);
        }
        for name in repeated {
            let _ = writeln!(text, "{name} agreed when it ran again: an eventually consistent read was behind.");
        }
        let _ = writeln!(
            text,
            "{}, {} of them differ; {} by other plans.",
            counted(*cases as u64, "golden operation"),
            self.result.differing_cases(),
            counted(*queries as u64, "query").replace("querys", "queries"),
        );
        let _ = writeln!(
            text,
            "{} of {}, {} of which were left open: {} not explained, {} undecided. Seed {}.",
            counted(histories.histories as u64, "history").replace("historys", "histories"),
            counted(histories.operations as u64, "operation"),
            histories.open,
            histories.unexplained.len(),
            histories.undecided,
            self.seed,
        );
        let Cost { calls, read_units, write_units, dollars } = self.measured;
        let _ = writeln!(
            text,
            "{} in {:.0} seconds: {read_units} read and {write_units} write units, ${dollars:.4} on demand in us-east-1.",
            counted(calls, "call"),
            self.seconds,
        );
        text
    }

    /// The report for programs.
    pub fn to_json(&self) -> Value {
        json!({
            "agrees": self.result.agrees(),
            "size": self.size,
            "seed": self.seed,
            "seconds": self.seconds,
            "estimate": self.estimate,
            "measured": self.measured,
            "result": self.result,
        })
    }
}
