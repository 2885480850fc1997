//! Request units of an operation in; dollars out: what a million such operations cost on demand. Storage, streams,
//! backups and data that leave a region are not in it.

use serde_json::{Value, json};
use std::fmt;

/// The prices that are built in: dollars for a million read and write request units of an on-demand table of the class
/// Standard (<https://aws.amazon.com/dynamodb/pricing/on-demand/>). These regions have the same.
const BUILT_IN: [&str; 3] = ["us-east-1", "us-east-2", "us-west-2"];
/// Since when they hold.
const SINCE: &str = "2024-11-01";
const READS: f64 = 0.125;
const WRITES: f64 = 0.625;

/// What request units cost in a region.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitPrice {
    /// The region.
    pub region: String,
    /// The date of the prices.
    pub date: String,
    /// Dollars for a million read request units.
    pub reads: f64,
    /// Dollars for a million write request units.
    pub writes: f64,
}

impl Default for UnitPrice {
    /// That of us-east-1.
    fn default() -> Self {
        Self { region: BUILT_IN[0].to_owned(), date: SINCE.to_owned(), reads: READS, writes: WRITES }
    }
}

impl UnitPrice {
    /// The built-in price of a region; `None` if there is none.
    pub fn built_in(region: &str) -> Option<Self> {
        BUILT_IN.contains(&region).then(|| Self { region: region.to_owned(), ..Self::default() })
    }

    /// The regions with a built-in price.
    pub fn regions() -> String {
        BUILT_IN.join(", ")
    }

    /// Dollars for a million operations that take so many units each.
    pub fn dollars_a_million(&self, read_units: f64, write_units: f64) -> Dollars {
        Dollars(read_units * self.reads + write_units * self.writes)
    }

    /// The price as JSON.
    pub fn to_json(&self) -> Value {
        let Self { region, date, reads, writes } = self;
        json!({ "region": region, "date": date, "millionReadUnits": reads, "millionWriteUnits": writes })
    }

    /// Where and since when the price holds.
    pub fn place(&self) -> String {
        format!("{}, prices of {}", self.region, self.date)
    }
}

/// An amount of dollars. As text, it has cents, or two digits more if it is less than a dollar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dollars(pub f64);

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0.0 || self.0 >= 1.0 { write!(f, "${:.2}", self.0) } else { write!(f, "${:.4}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_their_price() {
        let price = UnitPrice::default();
        for (read, write, text) in [
            (0.0, 0.0, "$0.00"),
            (0.5, 0.0, "$0.0625"),
            (0.0, 1.0, "$0.6250"),
            (7.0, 2.0, "$2.12"),
            (501.0, 0.0, "$62.62"),
        ] {
            assert_eq!(price.dollars_a_million(read, write).to_string(), text, "{read} {write}");
        }
        assert_eq!(UnitPrice::built_in("us-west-2").map(|price| price.reads), Some(READS));
        assert_eq!(UnitPrice::built_in("eu-west-1"), None);
    }
}
