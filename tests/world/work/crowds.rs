//! Queries of many calls at once: what a busy table gets from them are retries until the deadline, and no more than all
//! requests of a copy may send together.

use serde_json::{Value, json};

/// How many calls a query makes: one for each of so many partitions.
pub const CALLS: usize = 24;

#[derive(Debug, Clone)]
pub struct CrowdOperation;

impl CrowdOperation {
    pub fn request(&self) -> (String, Value) {
        let fields: Vec<String> =
            (0..CALLS).map(|number| format!("w{number}: pages(albumId: \"crowd {number}\") {{ text }}")).collect();
        (format!("{{ {} }}", fields.join(" ")), json!({}))
    }
}
