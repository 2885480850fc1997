//! The assumptions about cost that neither the schema nor the operation determines.

/// The assumed size of an item, in bytes.
pub const ITEM_BYTES: u64 = 4 * 1024;
/// The bytes of a page (DynamoDB API reference, "Query").
pub const PAGE_BYTES: u64 = 1 << 20;
/// One item of this many is assumed to match a filter, or to be of the type among others in its range.
pub const OWN: u64 = 4;
/// How often a page of links is filled up, if one link of [`OWN`] leads to an item: each time it asks for twice as many
/// as led nowhere.
pub const FILLING_ROUNDS: u64 = 3;
/// How many links it reads then, for each that it wants.
pub const FILLING_LINKS: u64 = 5;
/// The assumed number of elements in a stored list.
pub const ELEMENTS: u64 = 10;
/// A global id that counts as one of any type, where nothing is known of what a caller gives.
pub const ANY_ID: &str = "*";
