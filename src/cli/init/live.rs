//! A table that exists in, its description and a sample of its items out, under a rate.

use crate::cli::items::scan::{ScanPace, scan};
use crate::cli::store_choice::{Remote, explained};
use crate::sources::material::Receiver;
use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};

/// Reads a table: its description, and as many of its items as the pace allows.
pub async fn read(table: &str, remote: &Remote, pace: ScanPace, receiver: &mut dyn Receiver) -> Result<()> {
    let store = remote.store().await?;
    let described =
        store.described(table).await.map_err(|error| explained(error, &format!("cannot describe {table}")))?;
    receiver.table(described);
    let bar = ProgressBar::new(pace.most as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos} of up to {len} items, {per_sec}") {
        bar.set_style(style);
    }
    scan(&store, table, pace, &bar, &mut |item| receiver.item(Some(table), item)).await
}
