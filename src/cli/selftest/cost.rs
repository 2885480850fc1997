//! What a run took on the embedded store in; what it takes on DynamoDB, in units, dollars and time, out.

use super::tap::Usage;
use crate::plan::cost::price::UnitPrice;
use serde::Serialize;

/// How much more a run may take than its rehearsal: repeated calls and cases, and looks at indexes that are behind.
const MARGIN: f64 = 2.0;
/// Seconds of a call over the network to a region that is not far away, with the waits for indexes.
const CALL_SECONDS: f64 = 0.06;
/// Seconds until a table with its indexes can be used, and until it is asked to go.
const TABLE_SECONDS: f64 = 15.0;

/// What a run takes, or took.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Cost {
    /// Calls of tables' items.
    pub calls: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units.
    pub write_units: f64,
    /// Dollars.
    pub dollars: f64,
}

impl Cost {
    /// What this much costs.
    pub fn measured(usage: Usage) -> Self {
        let Usage { calls, read_units, write_units } = usage;
        let dollars = UnitPrice::default().dollars_a_million(read_units, write_units).0 / 1e6;
        Self { calls, read_units, write_units, dollars }
    }

    /// What it costs at most where this much is rehearsed.
    pub fn estimated(rehearsed: Usage) -> Self {
        let Usage { calls, read_units, write_units } = rehearsed;
        let calls = (calls as f64 * MARGIN).ceil() as u64;
        let units = |units: f64| (units * MARGIN).ceil();
        Self::measured(Usage { calls, read_units: units(read_units), write_units: units(write_units) })
    }
}

/// The seconds that a run takes, about: tables of up to so many grounds are created at once, and their calls made.
pub fn seconds(rehearsed: Usage, tables: usize, at_once: usize) -> u64 {
    let at_once = at_once.max(1) as f64;
    ((rehearsed.calls as f64 * CALL_SECONDS + tables as f64 * TABLE_SECONDS) / at_once).ceil() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_their_price() {
        let usage = Usage { calls: 3, read_units: 1_000_000.0, write_units: 2_000_000.0 };
        assert_eq!(Cost::measured(usage).dollars, 0.125 + 1.25);
        let estimate = Cost::estimated(Usage { calls: 3, read_units: 0.5, write_units: 0.75 });
        assert_eq!((estimate.calls, estimate.read_units, estimate.write_units), (6, 1.0, 2.0));
        assert_eq!(seconds(Usage { calls: 1_000, ..usage }, 2, 4), 23);
    }
}
