//! How many items a find wants of a range in; out: the calls that find them, and how many items these read.

use super::assumed::{ITEM_BYTES, OWN, PAGE_BYTES};

/// Most items that a Query reads by one call.
const ITEMS_PER_PAGE: u64 = 1_000;
/// The least that a Query reads if few of the items of its range may be wanted, as the executor has it.
const LEAST_OF_SPARSE: u64 = 50;
/// The least that a Query reads if its range may hold items of other types, as the executor has it.
const LEAST_OF_MIXED: u64 = 10;

/// What is in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contents {
    /// What is wanted alone.
    Wanted,
    /// Perhaps items of other types, or items that rules hide. A first Query finds out whether there are any.
    Mixed,
    /// Items that a filter leaves out, or items of several types.
    Sparse,
}

/// What the items of a range cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RangeCost {
    /// The calls.
    pub calls: u64,
    /// The items that they read.
    pub items: u64,
}

impl RangeCost {
    /// The cost of this many items of one range.
    pub fn new(wanted: u64, contents: Contents) -> Self {
        let sparse = wanted.saturating_mul(OWN).max(LEAST_OF_SPARSE);
        match contents {
            // A page without items is not read.
            _ if wanted == 0 => Self { calls: 1, items: 1 },
            Contents::Wanted => Self { calls: pages(wanted), items: wanted },
            Contents::Sparse => Self { calls: pages(sparse), items: sparse },
            Contents::Mixed => {
                let first = wanted.max(LEAST_OF_MIXED);
                Self { calls: pages(first).saturating_add(pages(sparse)), items: first.saturating_add(sparse) }
            }
        }
    }
}

/// The number of calls that read this many items of one range.
fn pages(items: u64) -> u64 {
    let per_page = ITEMS_PER_PAGE.min(PAGE_BYTES / ITEM_BYTES);
    items.div_ceil(per_page).max(1)
}
