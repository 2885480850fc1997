//! A database of the embedded engine in; its streams with an index and an end out. The engine itself keeps all records
//! and looks through all of them for each write.

use rusqlite::{Connection, Error};

/// The statements, each of which may have been run before.
///
/// DynamoDB keeps records for 24 hours (developer guide, "Change data capture for DynamoDB Streams"). Here, the oldest
/// leave when there are more than 100,000, too.
const PREPARE: &str = "
CREATE INDEX IF NOT EXISTS keyfold_stream_order ON _stream_records (table_name, CAST(sequence_number AS INTEGER));
CREATE INDEX IF NOT EXISTS keyfold_stream_age ON _stream_records (created_at);
CREATE TRIGGER IF NOT EXISTS keyfold_stream_end AFTER INSERT ON _stream_records BEGIN
  DELETE FROM _stream_records WHERE created_at < new.created_at - 86400;
  DELETE FROM _stream_records WHERE id <= new.id - 100000;
END;
";

/// Prepares the database at a path, which the engine has opened.
pub(super) fn prepare(path: &str) -> Result<(), Error> {
    Connection::open(path)?.execute_batch(PREPARE)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_engine_finds_records_by_the_index() {
        let file = tempfile::tempdir().unwrap();
        let path = file.path().join("data.db").display().to_string();
        let _database = dynoxide::Database::new(&path).unwrap();
        prepare(&path).unwrap();
        prepare(&path).unwrap();
        let connection = Connection::open(&path).unwrap();
        // As the engine asks for the next number, and for the records after one.
        let last =
            "SELECT COALESCE(MAX(CAST(sequence_number AS INTEGER)), 0) + 1 FROM _stream_records WHERE table_name = 'a'";
        let after = "SELECT event_name FROM _stream_records WHERE table_name = 'a' AND shard_id = 's' AND CAST(sequence_number AS INTEGER) > 5 \
                     ORDER BY CAST(sequence_number AS INTEGER) ASC LIMIT 9";
        for query in [last, after] {
            let plan: String =
                connection.query_row(&format!("EXPLAIN QUERY PLAN {query}"), [], |row| row.get(3)).unwrap();
            assert!(plan.contains("INDEX keyfold_stream_order"), "{plan}");
        }
    }
}
