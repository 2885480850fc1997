//! Where the items of a type live: their table, key templates and constants. Plain data.

use crate::schema::template::Template;
use indexmap::IndexMap;

/// Where the items of a type live.
#[derive(Debug, Clone)]
pub struct ItemKeys {
    /// Position in [`Model::tables`](crate::schema::model::Model::tables).
    pub table: usize,
    /// Key attribute → the templates that may make its value. A write uses the first whose fields all have a value.
    /// Holds at least the table's own key attributes, and those of each index that the type is in.
    pub keys: IndexMap<String, Vec<Template>>,
    /// Constants that are written with every item and recognised on reading.
    pub constants: Vec<(String, String)>,
    /// Whether an item of another type can have the same primary key, so that only the constants tell which type an item is of.
    pub shares_keys: bool,
}
