//! Where the items of a type live: their table, key templates and constants. Plain data.

use crate::schema::expression::claim::ClaimPath;
use crate::schema::table::Table;
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

impl ItemKeys {
    /// The fields in the templates of the table's own keys, each once.
    pub fn primary_fields(&self, table: &Table) -> Vec<&str> {
        let mut fields: Vec<&str> = Vec::new();
        let templates = table.primary_key().filter_map(|key| self.keys.get(&key.name)).flatten();
        for field in templates.flat_map(|template| template.fields()) {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
        fields
    }

    /// The claims of the caller in the keys, each once. The checker makes sure that the primary key has all of them.
    pub fn claims(&self) -> Vec<ClaimPath> {
        let mut claims: Vec<ClaimPath> = Vec::new();
        for claim in self.keys.values().flatten().flat_map(Template::claims) {
            if !claims.contains(&claim) {
                claims.push(claim);
            }
        }
        claims
    }
}
