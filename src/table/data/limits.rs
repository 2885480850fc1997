//! DynamoDB's limits (DynamoDB developer guide, "Quotas in Amazon DynamoDB"; API reference, the operation named).

/// Longest partition key, in bytes.
pub const PARTITION_KEY_BYTES: usize = 2048;
/// Longest sort key, in bytes.
pub const SORT_KEY_BYTES: usize = 1024;
/// Largest item, in bytes of names and values.
pub const ITEM_BYTES: usize = 400 * 1024;
/// Deepest nesting of lists and maps.
pub const NESTED_LEVELS: usize = 32;
/// Most keys of a BatchGetItem.
pub const KEYS_PER_BATCH: usize = 100;
/// Most writes of a BatchWriteItem.
pub const WRITES_PER_BATCH: usize = 25;
/// Most writes of a TransactWriteItems.
pub const WRITES_PER_TRANSACTION: usize = 100;
/// Most bytes of all items of a TransactWriteItems.
pub const BYTES_PER_TRANSACTION: usize = 4 * 1024 * 1024;
/// Longest token of a TransactWriteItems, in bytes.
pub const TOKEN_BYTES: usize = 36;
