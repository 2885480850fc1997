//! What the cost of an operation takes for known, although neither the schema nor the operation tells it.

/// The bytes that an item is taken to have.
pub const ITEM_BYTES: u64 = 4 * 1024;
/// The bytes of a page (DynamoDB API reference, "Query").
pub const PAGE_BYTES: u64 = 1 << 20;
/// Of how many items a filter is taken to let one through.
pub const FILTERED: u64 = 4;
/// The elements that a stored list is taken to have.
pub const ELEMENTS: u64 = 10;
