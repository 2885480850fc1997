//! A find in; its greatest cost for one object that has it out: for `keyfold check`. Must not know operations.

use super::assumed::{ITEM_BYTES, PAGE_BYTES};
use super::range::{Contents, RangeCost};
use super::reads::{KEYS_PER_BATCH, units};
use super::rows::MAX_KEYS;
use crate::schema::model::find::{Find, Returns};
use crate::schema::model::node::NodeFind;

/// The greatest cost of a find for one object that has the field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FindCost {
    /// The number of items that it finds.
    pub items: u64,
    /// Its calls.
    pub calls: u64,
    /// Its read units.
    pub units: f64,
}

/// The greatest cost of a find for one object, by Gets or by Queries: for `keyfold check`. A find over relations costs
/// the sum of these, and a connection with `totalCount` also what a find of the same key that counts costs.
pub fn cost_of_find(find: &Find, returns: Returns, gets: bool) -> FindCost {
    let max = u64::from(find.max);
    let (found, wanted) = match returns {
        Returns::One | Returns::Exists => (1, 1),
        Returns::List => (max, max + 1),
        Returns::Connection => (max, max + 1),
        Returns::Count => (0, PAGE_BYTES / ITEM_BYTES),
    };
    let contents = if find.filter.is_some() && returns != Returns::Count { Contents::Sparse } else { Contents::Wanted };
    let range = RangeCost::new(wanted, contents);
    let calls = if gets { found.div_ceil(KEYS_PER_BATCH).max(1) } else { range.calls };
    FindCost { items: found, calls, units: units(if gets { found } else { range.items }, find.consistent) }
}

/// The greatest cost of a field that finds items by their ids, whatever their types.
pub fn cost_of_nodes(nodes: &NodeFind) -> FindCost {
    let items = if nodes.many { MAX_KEYS } else { 1 };
    FindCost { items, calls: items.div_ceil(KEYS_PER_BATCH), units: units(items, false) }
}
