//! What DynamoDB says of a table in; whether the table can be read and written now out.

use crate::schema::table::Table;
use crate::table::data::error::{TableError, TableErrorKind};
use aws_sdk_dynamodb::types::{IndexStatus, TableDescription, TableStatus};

/// Whether a table and those of its indexes that are declared can be read and written now.
pub(in crate::table) fn usable(table: &Table, description: &TableDescription) -> Result<(), TableError> {
    let trouble = |kind, detail| Err(TableError { kind, detail });
    match description.table_status() {
        Some(TableStatus::Active | TableStatus::Updating) => {}
        status => {
            let status = status.map_or("in an unknown state", TableStatus::as_str);
            return trouble(TableErrorKind::Unavailable, format!("table {} is {status}", table.name));
        }
    }
    for index in table.indexes.iter().filter(|index| !index.local) {
        let found = description.global_secondary_indexes().iter().find(|found| found.index_name() == Some(&index.name));
        match found.map(|found| found.index_status()) {
            None => {
                return trouble(
                    TableErrorKind::NoSuchTable,
                    format!("index {} of table {} does not exist", index.name, table.name),
                );
            }
            // Some compatible servers report no status.
            Some(None | Some(IndexStatus::Active | IndexStatus::Updating)) => {}
            Some(Some(status)) => {
                return trouble(
                    TableErrorKind::Unavailable,
                    format!("index {} of table {} is {status}", index.name, table.name),
                );
            }
        }
    }
    Ok(())
}
