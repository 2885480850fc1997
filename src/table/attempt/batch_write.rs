//! Up to 25 writes of one table in; the cost of their BatchWriteItems out. Unprocessed writes are sent again until the deadline. Writes
//! without conditions may be repeated, so every passing error is retried.

use super::attempts::CallMeans;
use crate::table::data::error::{TableError, TableErrorKind};
use crate::table::data::write::BatchWrite;
use crate::table::data_store::Metered;
use crate::table::retry::backoff::Backoff;
use tokio::time::Instant;

/// Makes up to 25 writes. After an error, some of them may have been made. Gives the capacity units consumed.
pub(in crate::table) async fn write_batch(
    caller: CallMeans<'_>,
    table: &str,
    writes: Vec<BatchWrite>,
    deadline: Instant,
) -> Result<Metered<()>, TableError> {
    let attempts = caller.attempts("BatchWriteItem", table, deadline);
    let mut open = writes;
    let (mut backoff, mut capacity) = (Backoff::new(caller.budget), 0.0);
    loop {
        let (unprocessed, units) = attempts.send(|| caller.maker.write_batch(table, &open)).await?;
        capacity += units;
        let left = unprocessed.len();
        if left == 0 {
            return Ok(((), capacity));
        }
        let progress = left < open.len();
        open = unprocessed;
        if !backoff.wait_for_more(progress, deadline).await {
            let detail = format!("{left} items are still unprocessed");
            return Err(attempts.named(TableError { kind: TableErrorKind::Throttled, detail }));
        }
    }
}
