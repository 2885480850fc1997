//! A DynamoDB client, or the embedded store under the same client. To be written.

use super::error::TableError;
use crate::schema::table::Table;
use std::path::Path;

/// A store of tables; cheap to clone.
#[derive(Clone)]
pub struct Store {}

impl Store {
    /// The embedded store in memory.
    pub fn in_memory() -> Result<Self, TableError> {
        todo!()
    }

    /// The embedded store in a directory, made if it is missing; a lock file refuses a second process.
    pub fn in_directory(_directory: &Path) -> Result<Self, TableError> {
        todo!()
    }

    /// DynamoDB, or a compatible server at `endpoint_url`; credentials and region from the environment, as AWS tools take them.
    pub async fn connect(_endpoint_url: Option<&str>, _region: Option<&str>) -> Result<Self, TableError> {
        todo!()
    }

    /// Makes the tables that are not there yet and waits until they can be used.
    pub async fn create_missing(&self, _tables: &[Table]) -> Result<Vec<String>, TableError> {
        todo!()
    }

    /// Compares the tables that are there with those declared: one sentence a difference (missing table, other key, missing index …).
    pub async fn differences(&self, _tables: &[Table]) -> Result<Vec<String>, TableError> {
        todo!()
    }

    /// Asks whether every table answers and is active; the error names the first that does not.
    pub async fn ready(&self, _tables: &[Table]) -> Result<(), TableError> {
        todo!()
    }
}
